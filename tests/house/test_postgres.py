"""The store on a real PostgreSQL: the contract, two houses on one database, and lost connections."""

import asyncio
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.postgres import Server

from cohabit.errors import BadArgs, Conflict, Quarantined, RecordCorrupt, StorageFailed
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.house.store import postgres_connections
from cohabit.house.store.contract import Write
from cohabit.house.store.leases import LEASE_MS
from cohabit.house.store.postgres import PostgresStore
from cohabit.house.store.postgres_schema import SCHEMA
from cohabit.model.identity import Identity
from cohabit.model.record import Entry
from cohabit.room.record import Line, Record
from cohabit.testing.clock import FakeClock
from cohabit.testing.store import CLAIMS, Claim

from .making import back_again, make_room

LONG_MS = 600_000


def lines(count: int, start: int = 0) -> list[Line]:
    record = Record(start - 1)
    return [record.append(Entry(start + i, i, "noted", "m1", {"n": i})) for i in range(count)]


@pytest.fixture
def url(postgres: Server) -> str:
    return postgres.new_schema()


@pytest.fixture
def open_store(url: str, tmp_path: Path) -> Iterator[Callable[[], PostgresStore]]:
    """Opens stores on one database, each as the house of another folder."""
    opened: list[PostgresStore] = []

    def make() -> PostgresStore:
        opened.append(PostgresStore(url, tmp_path / f"house{len(opened)}"))
        return opened[-1]

    yield make
    for store in opened:
        store.close()


@pytest.fixture
def store(open_store: Callable[[], PostgresStore]) -> PostgresStore:
    return open_store()


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is waited for long."""
    monkeypatch.setattr(postgres_connections, "RECONNECT_S", 0.0)


def writing(store: PostgresStore, room: str, house: str = "house 1") -> Callable[[Sequence[Line]], None]:
    """Writes entries to a room as the house that has it."""
    holder = house, store.lease([room], house, LONG_MS)[room]
    return lambda added: store.commit([Write(room, added, holder=holder)])


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
        "from cohabit.house.house import _open_store; from cohabit.house.settings import Settings\n"
        "try: _open_store(Settings(store='postgresql://x'))\n"
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


# -- two houses -------------------------------------------------------------------------------------
PAUSED = """
import sys
import threading
from pathlib import Path
from cohabit.house.store.contract import Write
from cohabit.house.store.postgres import PostgresStore
from cohabit.errors import CohabitError
from tests.house.test_postgres import lines
store = PostgresStore(sys.argv[1], Path(sys.argv[2]))
holder = "first", store.lease(["den"], "first", 400)["den"]
store.commit([Write("den", lines(3), holder=holder)])
print("written", flush=True)
sys.stdin.readline()
for write in (Write("den", lines(1, start=3)), Write("den", saves=[("late", b"x")]), Write("den", delete=True)):
    write.holder = holder
    try:
        store.commit([write])
        print("wrote", flush=True)
    except CohabitError as refused:
        print(refused.code, flush=True)
"""


def test_a_process_that_was_stopped_beyond_its_lease_writes_nothing(
    store: PostgresStore, url: str, tmp_path: Path
) -> None:
    root = str(Path(__file__).parent.parent.parent)
    words = [sys.executable, "-c", PAUSED, url, str(tmp_path / "first")]
    with subprocess.Popen(words, stdin=-1, stdout=-1, text=True, cwd=root) as paused:
        assert paused.stdin is not None
        assert paused.stdout is not None
        assert paused.stdout.readline() == "written\n"
        paused.send_signal(signal.SIGSTOP)
        epoch = None
        while epoch is None:  # until its lease has ended
            epoch = store.lease(["den"], "second", LONG_MS).get("den")
        store.commit([Write("den", lines(2, start=3), holder=("second", epoch))])
        paused.send_signal(signal.SIGCONT)
        said = paused.communicate("go on\n")[0]
    assert said.split() == ["STORAGE_FAILED"] * 3
    assert [row[0] for row in store.lines("den", -1)] == [0, 1, 2, 3, 4]
    assert store.saves("den") == []


def test_a_transaction_that_was_paused_does_not_keep_its_room(
    open_store: Callable[[], PostgresStore], url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(postgres_connections._SERVER_OPTIONS, "idle_in_transaction_session_timeout", 200)
    first, second = open_store(), open_store()
    write = writing(first, "den", "first")
    write(lines(1))
    epochs: list[int] = []

    class Pausing(list[Line]):
        """Entries that are sent only after another house has the room."""

        def __iter__(self) -> Iterator[Line]:
            if not epochs:
                second.lease([], "first", 0)  # its lease ends
                epochs.append(second.lease(["den"], "second", LONG_MS)["den"])  # waits until the server ends the first
            return super().__iter__()

    with pytest.raises(StorageFailed, match="lease of room den"):
        write(Pausing(lines(1, start=1)))
    second.commit([Write("den", lines(1, start=1), holder=("second", epochs[0]))])
    assert second.head("den") == 1


def test_all_leases_of_a_house_are_renewed_by_one_row(store: PostgresStore, url: str) -> None:
    store.lease([f"r{i}" for i in range(300)], "house 1", LONG_MS)
    with psycopg.connect(url) as db:
        before = db.execute("select room, xmin::text from leases order by room").fetchall()
        db.commit()
        assert len(store.lease([f"r{i}" for i in range(300)], "house 1", LONG_MS)) == 300
        assert db.execute("select room, xmin::text from leases order by room").fetchall() == before


# -- lost connections -------------------------------------------------------------------------------
class Breaking:
    """A connection that is lost at the commit, before or after it."""

    def __init__(self, db: Any, commits: bool) -> None:
        self._db, self._commits = db, commits

    def __getattr__(self, name: str) -> Any:
        return getattr(self._db, name)

    def execute(self, sql: str, *args: Any) -> Any:
        if sql == "commit":
            if self._commits:
                self._db.execute(sql)
            self._db.close()
            raise psycopg.OperationalError("server closed the connection unexpectedly")
        return self._db.execute(sql, *args)


def break_next_commit(store: PostgresStore, commits: bool) -> None:
    connections = store._connections
    connections._writer = Breaking(connections._writing_connection(), commits)  # type: ignore[assignment]


@pytest.mark.parametrize("landed", [True, False])
def test_a_connection_lost_during_a_commit_costs_nothing_and_writes_nothing_twice(
    store: PostgresStore, landed: bool
) -> None:
    write = writing(store, "den")
    write(lines(2))
    break_next_commit(store, landed)
    write(lines(3, start=2))
    break_next_commit(store, landed)
    store.commit([Write(identities=[Identity("i1", "Ann")])])
    write(lines(1, start=5))
    assert [row[0] for row in store.lines("den", -1)] == [0, 1, 2, 3, 4, 5]
    assert store.identities() == [Identity("i1", "Ann")]


def test_connections_that_are_ended_by_the_server_are_made_again(store: PostgresStore, postgres: Server) -> None:
    write = writing(store, "den")
    for start in (0, 2):
        write(lines(2, start=start))
        with psycopg.connect(postgres.url(), autocommit=True) as db:
            db.execute(
                "select pg_terminate_backend(pid, 10000) from pg_stat_activity "
                "where application_name = 'cohabit' and pid <> pg_backend_pid()"
            )
        assert store.lease(["den"], "house 1", LONG_MS).keys() == {"den"}
        assert store.head("den") == start + 1
    write(lines(1, start=4))
    assert store.head("den") == 4


def test_a_database_that_restarts_costs_a_wait(store: PostgresStore, postgres: Server) -> None:
    write = writing(store, "den")
    write(lines(2))
    postgres.stop()
    with ThreadPoolExecutor(1) as pool:
        try:
            later = pool.submit(write, lines(2, start=2))
        finally:
            postgres.start()
        later.result()
    assert store.head("den") == 3


def test_a_house_that_cannot_learn_the_outcome_of_a_commit_gives_the_room_up(
    store: PostgresStore, postgres: Server, soon: None
) -> None:
    write = writing(store, "den")
    write(lines(2))
    epoch = store.lease(["den"], "house 1", LONG_MS)["den"]
    break_next_commit(store, commits=True)
    stop = store._connections._connect

    def unreachable() -> Any:
        raise psycopg.OperationalError("connection refused")

    store._connections._connect = unreachable  # type: ignore[method-assign]
    with pytest.raises(StorageFailed, match="not known whether"):
        write(lines(1, start=2))
    with pytest.raises(StorageFailed, match="refused"):  # at once, and this one surely wrote nothing
        write(lines(1, start=2))
    store._connections._connect = stop  # type: ignore[method-assign]
    again = store.lease(["den"], "house 1", LONG_MS)["den"]
    assert again > epoch, "so the house sees that it has lost the room, and loads it again"
    with pytest.raises(StorageFailed, match="lease of room den"):
        write(lines(1, start=3))
    assert store.head("den") == 2


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
        with pytest.raises(Conflict, match="open in another house"):
            async with opened(url, tmp_path / "there"):
                pass
        with psycopg.connect(url) as db:
            leases = db.execute("select * from leases").fetchall()
            houses = db.execute("select * from houses").fetchall()
    with psycopg.connect(url) as db, db.cursor() as cursor:  # as if it had released nothing
        cursor.execute("delete from houses")
        cursor.executemany("insert into houses values (%s, %s, %s + interval '1 hour')", houses)
        cursor.executemany("insert into leases values (%s, %s, %s)", leases)
    with pytest.raises(Conflict, match="open in another house"):
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


async def test_a_room_with_a_write_of_unknown_outcome_stops_and_opens_again_with_what_was_stored(
    url: str, tmp_path: Path, soon: None
) -> None:
    clock = FakeClock()
    async with House.open(Settings(store=url, data=str(tmp_path)), clock=clock) as house:
        who = await make_room(house)
        await asyncio.gather(*(runner.drained() for runner in house.rooms.running()))
        store: Any = house.store
        break_next_commit(store, commits=True)
        connect = store._connections._connect

        def unreachable() -> Any:
            raise psycopg.OperationalError("connection refused")

        store._connections._connect = unreachable
        with pytest.raises(StorageFailed, match="not known whether"):
            await who["ann"]("hide", {"n": 1})
        store._connections._connect = connect
        await clock.advance(LEASE_MS)
        await asyncio.wait([house.rooms.leases.renewing])
        with pytest.raises(Quarantined, match="lost its lease"):
            await who["ann"]("hide", {"n": 2})
        await house.reopen_room("den")
        assert (await who["ann"]("numbers"))["red"] == [1], "it was stored, and nobody had been told"


@pytest.mark.soak
def test_no_answered_write_is_lost_or_doubled_while_connections_and_the_server_are_killed(
    store: PostgresStore, postgres: Server
) -> None:
    done = threading.Event()

    def disturb() -> None:
        dice = random.Random(1)
        while not done.is_set():
            if dice.random() < 0.1:
                postgres.stop()
                postgres.start()
            else:
                with psycopg.connect(postgres.url(), autocommit=True) as db:
                    db.execute(
                        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'cohabit'"
                    )
            done.wait(dice.random() / 10)

    record = Record()
    answered: list[bytes] = []
    holder = "house 1", store.lease(["den"], "house 1", LONG_MS)["den"]
    with ThreadPoolExecutor(1) as pool:
        disturbing = pool.submit(disturb)
        try:
            for number in range(1000):
                line = record.append(Entry(number, number, "noted", "m1", {"n": number}))
                store.commit([Write("den", [line], holder=holder)])
                answered.append(line.digest)
        finally:
            done.set()
        disturbing.result()
    assert [row[2] for row in store.lines("den", -1)] == answered
