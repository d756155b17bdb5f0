"""The store on a real PostgreSQL: the contract, opening, damage, and houses on it."""

import asyncio
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.postgres import LONG_MS, lines

from cohabit.errors import BadArgs, Conflict, RecordCorrupt, StorageFailed
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.house.store.contract import Write
from cohabit.house.store.postgres import PostgresStore
from cohabit.house.store.postgres_schema import SCHEMA, prepare
from cohabit.model.identity import Identity
from cohabit.testing.clock import FakeClock
from cohabit.testing.store import CLAIMS, Claim

from .making import back_again, make_room


# -- the contract -----------------------------------------------------------------------------------
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.__name__)
def test_each_claim_of_the_contract_holds(store: PostgresStore, claim: Claim) -> None:
    claim(store)


def test_a_backup_is_made_with_the_tools_of_the_database(store: PostgresStore) -> None:
    with pytest.raises(BadArgs, match="pg_dump"):
        store.backup("anywhere")


# -- opening ----------------------------------------------------------------------------------------
def test_a_database_of_a_newer_version_is_refused_and_left_alone(url: str, tmp_path: Path) -> None:
    PostgresStore(url, tmp_path).close()
    with psycopg.connect(url) as db:
        db.execute("update meta set value = %s where key = 'schema'", (SCHEMA + 1,))
    for read_only in (False, True):
        with pytest.raises(RecordCorrupt, match=f"schema {SCHEMA + 1}, this version has {SCHEMA}.*update"):
            PostgresStore(url, tmp_path, read_only)


def test_a_database_with_tables_of_something_else_is_refused(url: str, tmp_path: Path) -> None:
    with psycopg.connect(url) as db:
        db.execute("create table entries (title text)")
    with pytest.raises(RecordCorrupt, match=r"tables named entries.*a database of its own"):
        PostgresStore(url, tmp_path)


def test_two_houses_that_start_at_once_create_the_tables_once(url: str, tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        stores = list(pool.map(lambda i: PostgresStore(url, tmp_path / str(i)), range(4)))
    for store in stores:
        assert store.rooms() == []
        store.close()


def test_a_house_starts_while_another_ends_the_connections_of_the_one_before(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[str] = []

    def prepare_and_end(db: "psycopg.Connection[Any]", place: str, create: bool) -> None:
        prepare(db, place, create)
        if not ended:
            ended.append(place)
            db.execute("select pg_terminate_backend(pg_backend_pid())")

    monkeypatch.setattr("cohabit.house.store.postgres.prepare", prepare_and_end)
    with closing(PostgresStore(url, tmp_path)) as store:
        assert ended
        assert store.rooms() == []


def test_a_reader_changes_nothing_and_needs_a_house(url: str, tmp_path: Path) -> None:
    with pytest.raises(BadArgs, match="no house in"):
        PostgresStore(url, read_only=True)
    with closing(PostgresStore(url, tmp_path)) as store:
        store.commit([Write("den", lines(3), (2, b"s"))])
        with closing(PostgresStore(url, read_only=True)) as reader:
            assert (reader.rooms(), reader.head("den")) == (["den"], 2)
            for attempt in (
                lambda: reader.commit([Write("den", lines(1, start=3))]),
                lambda: reader.lease(["den"], "house 2", 100),
            ):
                with pytest.raises(StorageFailed, match="read-only"):
                    attempt()


def test_a_store_that_is_closed_leaves_no_row_of_its_session(url: str, tmp_path: Path) -> None:
    PostgresStore(url, tmp_path).close()  # without a lease, as `cohabit move` does
    with psycopg.connect(url) as db:
        assert db.execute("select session from commits").fetchall() == []


def test_a_folder_is_used_by_one_house_at_a_time(url: str, tmp_path: Path) -> None:
    with closing(PostgresStore(url, tmp_path)), pytest.raises(Conflict, match="in use by another house"):
        PostgresStore(url, tmp_path)


def test_an_address_that_leads_nowhere_is_said_without_its_password(tmp_path: Path) -> None:
    for address in (
        f"postgresql://ann:sesame@{tmp_path.as_posix().replace('/', '%2F')}/x",
        "postgresql://[",
        "nothing",
    ):
        with pytest.raises((StorageFailed, BadArgs)) as refused:
            PostgresStore(address, tmp_path)
        assert "sesame" not in refused.value.message


def test_without_the_driver_the_message_says_what_to_install(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from cohabit.house.house import open_store; from cohabit.house.settings import Settings\n"
        "try: open_store(Settings(store='postgresql://x'))\n"
        "except Exception as e: print(type(e).__name__, e)"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert "BadArgs" in said
    assert "cohabit[postgres]" in said


# -- damage -----------------------------------------------------------------------------------------
def test_what_cannot_be_decoded_and_what_is_missing_is_damage(store: PostgresStore, url: str) -> None:
    store.commit([Write("den", identities=[Identity("i1", "Ann")])])
    with psycopg.connect(url) as db:
        db.execute("update identities set body = 'x'")
        db.execute("drop table invites")
    with pytest.raises(RecordCorrupt, match="a stored Identity"):
        store.identities()
    with pytest.raises(RecordCorrupt, match="invites"):
        store.invites()
    store.close()
    with pytest.raises(StorageFailed, match="closed"):
        store.rooms()


# -- houses -----------------------------------------------------------------------------------------
def opened(url: str, folder: Path) -> Any:
    return House.open(Settings(store=url, data=str(folder)), clock=FakeClock())


async def test_a_house_goes_on_after_a_restart(url: str, tmp_path: Path) -> None:
    async with opened(url, tmp_path) as house:
        who = await make_room(house)
        assert (await who["ann"]("hide", {"n": 1})).success
        assert not (tmp_path / "cohabit.db").exists()
    async with opened(url, tmp_path) as house:
        assert not house.broken
        assert (await back_again(house, who)["ann"]("numbers"))["red"] == [1]


async def test_a_house_that_was_killed_starts_again_at_once_and_another_one_has_to_wait(
    url: str, tmp_path: Path
) -> None:
    async with opened(url, tmp_path / "here") as house:
        await make_room(house)
        with pytest.raises(Conflict, match="another house runs"):
            async with opened(url, tmp_path / "there"):
                pass
        with psycopg.connect(url) as db:
            leases = db.execute("select room, house, epoch from leases").fetchall()
            houses = db.execute("select house, place, until, epoch from houses").fetchall()
    with psycopg.connect(url) as db, db.cursor() as cursor:  # as if it had released nothing
        cursor.execute("delete from houses")
        cursor.executemany("insert into houses values (%s, %s, %s + interval '1 hour', %s)", houses)
        cursor.executemany("insert into leases values (%s, %s, %s)", leases)
    with pytest.raises(Conflict, match="another house runs"):
        async with opened(url, tmp_path / "there"):
            pass
    async with opened(url, tmp_path / "here") as house:
        assert not house.broken


async def test_a_house_that_lost_a_room_to_another_writes_nothing_to_it(url: str, tmp_path: Path) -> None:
    async with opened(url, tmp_path) as house:
        who = await make_room(house)
        store = house.store
        await asyncio.to_thread(store.release, ["den"], house.id)
        await asyncio.to_thread(store.lease, ["den"], "another house", LONG_MS)
        head = await asyncio.to_thread(store.head, "den")
        with pytest.raises(StorageFailed, match="lease of room den"):
            await who["ann"]("hide", {"n": 1})
        assert await asyncio.to_thread(store.head, "den") == head
