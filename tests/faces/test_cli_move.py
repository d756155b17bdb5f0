"""A house moves to PostgreSQL and back, complete and verified, or not at all."""

import asyncio
import sqlite3
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.house.making import GOD, make_room, player
from tests.postgres import Server

from cohabit.errors import Conflict, PermissionDenied
from cohabit.faces.cli import main
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.house.store.contract import Write
from cohabit.house.store.postgres import PostgresStore
from cohabit.house.store.sqlite import SQLiteStore
from cohabit.house.store.tables import TABLES
from cohabit.model.record import Entry
from cohabit.model.refusals import Refusal
from cohabit.room.record import Record
from cohabit.testing.clock import FakeClock


@pytest.fixture
def url(postgres: Server) -> str:
    return postgres.new_schema()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder with a house in which something of every kind is stored."""
    folder = tmp_path / "house"
    with ThreadPoolExecutor(1) as other:  # the test may have an event loop of its own
        other.submit(asyncio.run, fill(folder)).result()
    return folder


async def fill(folder: Path) -> None:
    async with House.open(Settings(data=str(folder)), clock=FakeClock()) as house:
        who = await make_room(house, player("ann", 0), GOD)
        await who["ann"]("hide", {"n": 1})
        await who["zeus"]("save_world", {"name": "noon"})
        with pytest.raises(PermissionDenied):
            await who["ann"]("save_world", {"name": "hers"})
        await who["zeus"]("invite", {"id": "cat"})
        await house.writer.submit(Write(profiles=[("i-1", b"profile")]))
        (folder / "tokens").write_text("\n".join(who[name].token for name in ("ann", "zeus")))


def tables_of(folder: Path, file: str = "cohabit.db") -> dict[str, list[Any]]:
    with closing(sqlite3.connect(folder / file)) as db:
        return {name: db.execute(f"select * from {name} order by 1, 2").fetchall() for name in TABLES}


def counts(found: dict[str, list[Any]]) -> dict[str, int]:
    return {name: len(rows) for name, rows in found.items()}


async def test_a_house_moves_to_postgresql_and_back_with_every_byte(
    folder: Path, url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = tables_of(folder)
    assert all(before[name] for name in TABLES), f"each table has something in it: {counts(before)}"
    assert main(["move", "--data", str(folder), "--to", url]) == 0
    said = capsys.readouterr().out
    assert f"entries: {len(before['entries'])}, sha256" in said
    with pytest.raises(Conflict, match="was moved elsewhere"):
        async with House.open(Settings(data=str(folder))):
            pass
    assert not (folder / "cohabit.db").exists(), "no empty house takes the place of the one that was moved"
    assert tables_of(folder, "cohabit.db.moved") == before
    assert main(["verify", "--data", str(folder)]) == 1
    assert "keeps its data in PostgreSQL; give the address with --store" in capsys.readouterr().err

    assert main(["verify", "--data", str(folder), "--store", url]) == 0
    assert "den: ok" in capsys.readouterr().out

    assert main(["move", "--store", url, "--data", str(folder), "--to", str(folder)]) == 0
    assert tables_of(folder) == before
    async with House.open(Settings(data=str(folder)), clock=FakeClock()) as house:
        token = (folder / "tokens").read_text().split()[0]
        assert (await house.call(house.identify(token), "den", "numbers"))["red"] == [1]
    with pytest.raises(Conflict, match="was moved elsewhere"):
        async with House.open(Settings(data=str(tmp_path / "other"), store=url)):
            pass


async def test_the_moved_house_goes_on_in_postgresql(folder: Path, url: str) -> None:
    assert main(["move", "--data", str(folder), "--to", url]) == 0
    settings = Settings(data=str(folder), store=url)
    async with House.open(settings, clock=FakeClock()) as house:
        token = (folder / "tokens").read_text().split()[0]
        ann = house.identify(token)
        assert (await house.call(ann, "den", "hide", {"n": 2})).success
    async with House.open(settings, clock=FakeClock()) as house:
        assert (await house.call(house.identify(token), "den", "numbers"))["red"] == [1, 2]


def test_a_dump_of_the_database_is_a_backup_of_the_house(
    folder: Path, postgres: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here, restored, dump = postgres.new_database(), postgres.new_database(), str(tmp_path / "monday.dump")
    assert main(["move", "--data", str(folder), "--to", here]) == 0
    subprocess.run([postgres.bin / "pg_dump", "--format=custom", f"--file={dump}", here], check=True)
    subprocess.run([postgres.bin / "pg_restore", "--no-owner", f"--dbname={restored}", dump], check=True)
    capsys.readouterr()
    assert main(["verify", "--data", str(folder), "--store", restored]) == 0
    assert "den: ok" in capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["move", *words]) != 0
    return capsys.readouterr().err


def test_a_target_that_is_not_empty_is_refused_and_stays_as_it_is(
    folder: Path, url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(SQLiteStore(tmp_path / "used")) as store:
        store.commit([Write("den", [Record().append(Entry(0, 0, "noted"))], (0, b"s"))])
    before = tables_of(folder), tables_of(tmp_path / "used")
    assert "is not empty" in refused(capsys, "--data", str(folder), "--to", str(tmp_path / "used"))
    assert "is in use" in refused(capsys, "--data", str(folder), "--to", str(folder))
    assert (tables_of(folder), tables_of(tmp_path / "used")) == before
    with psycopg.connect(url, autocommit=True) as db:
        assert main(["move", "--data", str(folder), "--to", url]) == 0
        found = db.execute("select count(*) from entries").fetchone()
        assert "is not empty" in refused(capsys, "--data", str(tmp_path / "used"), "--to", url)
        assert db.execute("select count(*) from entries").fetchone() == found
    assert (tmp_path / "used" / "cohabit.db").exists()


def test_a_house_that_is_running_is_not_moved(
    folder: Path, url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(SQLiteStore(folder)):
        assert "is in use" in refused(capsys, "--data", str(folder), "--to", url)
    assert main(["move", "--data", str(folder), "--to", url]) == 0
    with psycopg.connect(url) as db:
        db.execute("insert into houses values ('h', 'elsewhere', now() + interval '1 hour', 1)")
    assert "is running" in refused(capsys, "--store", url, "--to", str(tmp_path / "new"))


@pytest.mark.parametrize("is_reading", [True, False])
def test_a_house_is_moved_whole_or_not_at_all_while_another_process_reads_it(
    is_reading: bool, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = sqlite3.connect
    monkeypatch.setattr(
        "cohabit.house.store.sqlite_opening.sqlite3.connect",
        lambda *given, **named: connect(*given, **{**named, "timeout": 0}),  # nobody waits for the reader
    )
    target, moved = tmp_path / "new", folder / "cohabit.db.moved"
    with closing(connect(folder / "cohabit.db")) as reader:
        reading = reader.execute("select * from entries")
        reading.fetchone()
        if not is_reading:
            reading.close()
        with closing(SQLiteStore(folder)) as store:
            store.commit([Write("den", [], refusals=[Refusal(9, "newest", "act", "BUSY", "no", 1, 9)])])
        if is_reading:
            assert "is being read" in refused(capsys, "--data", str(folder), "--to", str(target))
            assert not target.exists()
            assert not moved.exists()
            reading.close()
        assert main(["move", "--data", str(folder), "--to", str(target)]) == 0
        assert not [path for path in folder.iterdir() if path.name.startswith("cohabit.db") and path != moved]
    newest = "select count(*) from refusals where id = 9"
    for database in (moved, target / "cohabit.db"):
        with closing(connect(database)) as db:
            assert db.execute(newest).fetchone() == (1,)


@pytest.mark.parametrize(
    "damage", ["update entries set body = cast(body || ' ' as blob) where seq = 1", "delete from entries where seq = 1"]
)
def test_a_damaged_record_is_not_moved(folder: Path, url: str, damage: str, capsys: pytest.CaptureFixture[str]) -> None:
    with closing(sqlite3.connect(folder / "cohabit.db")) as db:
        db.execute(f"{damage} and room = 'den'")
        db.commit()
    assert "the record is damaged" in refused(capsys, "--data", str(folder), "--to", url)
    assert (folder / "cohabit.db").exists()
    with psycopg.connect(url) as check:
        assert check.execute("select count(*) from entries").fetchone() == (0,)


def test_a_copy_that_differs_is_not_kept(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    filling: Callable[..., Any] = SQLiteStore.filling

    def lossy(store: SQLiteStore) -> Any:
        store._db.execute("create temp trigger lossy before insert on saves begin select raise(ignore); end")
        return filling(store)

    monkeypatch.setattr(SQLiteStore, "filling", lossy)
    target = tmp_path / "new"
    assert "the copy of saves" in refused(capsys, "--data", str(folder), "--to", str(target))
    assert not target.exists(), "no house starts from an empty database"
    assert (folder / "cohabit.db").exists()


def test_a_move_that_is_refused_leaves_a_folder_as_it_was(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "new"
    target.mkdir()
    (target / "notes.txt").write_text("mine")
    with closing(PostgresStore(url)):
        pass
    with psycopg.connect(url) as db:
        db.execute("insert into houses values ('h', 'elsewhere', now() + interval '1 hour', 1)")
    assert "is running" in refused(capsys, "--store", url, "--to", str(target))
    assert sorted(path.name for path in target.iterdir()) == ["lock", "notes.txt"]


def test_a_folder_without_a_house_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no house in" in refused(capsys, "--data", str(tmp_path / "nothing"), "--to", str(tmp_path / "new"))
    assert not (tmp_path / "nothing").exists()
