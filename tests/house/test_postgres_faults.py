"""Houses on PostgreSQL that are paused, and connections and servers that are lost. Nothing is written by a house that
is out, and nothing is written twice or lost."""

import asyncio
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.postgres import LONG_MS, Server, lines, writing

from cohabit.errors import OutcomeUnknown, StorageFailed
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.house.store import leases, postgres_connections
from cohabit.house.store.contract import NO_ROOM, Write
from cohabit.house.store.postgres import _APPEND, PostgresStore
from cohabit.house.store.postgres_connections import name_of
from cohabit.model.identity import Identity
from cohabit.model.record import Entry
from cohabit.room.record import Line, Record
from cohabit.testing.clock import FakeClock

from .making import make_room

ROOT = str(Path(__file__).parent.parent.parent)


@contextmanager
def paused(program: str, *args: str) -> "Iterator[subprocess.Popen[str]]":
    """A process that has said "ready" and is stopped."""
    words = [sys.executable, "-c", program, *args]
    with subprocess.Popen(words, stdin=-1, stdout=-1, text=True, cwd=ROOT) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            process.send_signal(signal.SIGSTOP)
            yield process
        finally:
            process.kill()


def resumed(process: "subprocess.Popen[str]") -> list[str]:
    """What it says after it goes on."""
    process.send_signal(signal.SIGCONT)
    return process.communicate("go on\n")[0].split()


# -- houses that are paused -------------------------------------------------------------------------
STORE = """
import sys
from pathlib import Path
from cohabit.house.store.contract import Write
from cohabit.house.store.postgres import PostgresStore
from cohabit.errors import CohabitError
from tests.postgres import lines
store = PostgresStore(sys.argv[1], Path(sys.argv[2]))
holder = "first", store.lease(["den"], "first", 400)["den"]
store.commit([Write("den", lines(3), holder=holder)])
print("ready", flush=True)
sys.stdin.readline()
for write in (Write("den", lines(1, start=5)), Write("den", saves=[("late", b"x")]), Write("den", delete=True)):
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
    with paused(STORE, url, str(tmp_path / "first")) as first:
        epoch = None
        while epoch is None:  # until its lease has ended
            epoch = store.lease(["den"], "second", LONG_MS).get("den")
        store.commit([Write("den", lines(2, start=3), holder=("second", epoch))])
        said = resumed(first)
    assert said == ["STORAGE_FAILED"] * 3
    assert [row[0] for row in store.lines("den", -1)] == [0, 1, 2, 3, 4]
    assert store.saves("den") == []


HOUSE = """
import asyncio
import sys
from cohabit.errors import CohabitError
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.house.store import leases
from cohabit.house.store.contract import Write
from cohabit.model.identity import Identity
from tests.house.making import make_room
leases.LEASE_MS = 2_000

async def attempt(what):
    try:
        await what
        print("wrote", flush=True)
    except CohabitError as refused:
        print(refused.code, flush=True)

async def main():
    async with House.open(Settings(store=sys.argv[1], data=sys.argv[2])) as house:
        who = await make_room(house)
        await who["ann"]("hide", {"n": 1})
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        for _ in range(2):
            await attempt(who["ann"]("hide", {"n": 2}))
            await attempt(who["hostess"]("invite", {"id": "late"}))
            await attempt(house.writer.submit(Write(identities=[Identity("i-late", "Late")])))
            await attempt(make_room(house, room="late"))
            await attempt(house.reopen_room("den"))
            house.rooms.leases._renew_soon()
            await asyncio.wait([house.rooms.leases.renewing])

asyncio.run(main())
"""


async def test_a_house_that_was_stopped_while_another_took_over_writes_nothing_ever_again(
    url: str, tmp_path: Path
) -> None:
    """Also not to tables of no room, and not after it has tried to renew its leases."""
    with paused(HOUSE, url, str(tmp_path / "first")) as first:
        await asyncio.to_thread(_wait_for_the_end_of_leases, url)
        async with House.open(Settings(store=url, data=str(tmp_path / "second")), clock=FakeClock()) as house:
            assert "den" in house.rooms
            before = await asyncio.to_thread(_dump, url)
            said = await asyncio.to_thread(resumed, first)
            assert len(said) == 10
            assert "wrote" not in said
            assert await asyncio.to_thread(_dump, url) == before


async def test_a_house_alone_whose_leases_ended_in_an_outage_sends_nobody_to_another_house_and_goes_on(
    url: str, tmp_path: Path
) -> None:
    async with House.open(Settings(store=url, data=str(tmp_path)), clock=FakeClock()) as house:
        who = await make_room(house)
        with psycopg.connect(url) as db:
            assert db.execute("update houses set until = clock_timestamp() - interval '1 second'").rowcount == 1
        with pytest.raises(StorageFailed, match=r"the lease of room den has ended.*Try again in a few seconds"):
            await who["ann"]("hide", {"n": 1})
        house.rooms.leases._renew_soon()
        await asyncio.wait([house.rooms.leases.renewing])
        assert (await who["ann"]("hide", {"n": 2})).success


def _wait_for_the_end_of_leases(url: str) -> None:
    with psycopg.connect(url) as db:
        db.execute("select pg_sleep(greatest(0, extract(epoch from max(until) - clock_timestamp()))) from houses")


def _dump(url: str) -> dict[str, Any]:
    """All rows that a house can write, except when leases end."""
    with psycopg.connect(url) as db:
        names = [row[0] for row in db.execute("select tablename from pg_tables where schemaname = current_schema()")]
        kept = {name for name in names if name not in ("houses", "commits")}
        rows = {name: db.execute(f"select {name}::text from {name} order by 1").fetchall() for name in kept}
        return {**rows, "houses": db.execute("select house, epoch from houses").fetchall()}


def test_a_transaction_that_was_paused_does_not_keep_its_room(open_store: Callable[[], PostgresStore]) -> None:
    first, second = open_store(), open_store()
    holder = "first", first.lease(["den"], "first", LONG_MS)["den"]
    first.commit([Write("den", lines(1), holder=holder)])
    epochs: list[int] = []

    class Pausing(list[Line]):
        """Entries that are sent only after another house has the room."""

        def __iter__(self) -> Iterator[Line]:
            if not epochs:
                second.lease([], "first", 0)  # its lease ends
                epochs.append(second.lease(["den"], "second", LONG_MS)["den"])  # ends the connection of the first
            return super().__iter__()

    with pytest.raises(StorageFailed, match="lease of room den"):
        first.commit([Write("den", Pausing(lines(1, start=1)), (1, b"s"), holder=holder)])
    assert second.snapshots("den") == []
    second.commit([Write("den", lines(1, start=1), holder=("second", epochs[0]))])
    assert second.head("den") == 1


def test_a_process_that_is_paused_in_the_middle_of_a_statement_does_not_keep_its_room(
    open_store: Callable[[], PostgresStore], url: str
) -> None:
    """The server waits for the rest of such a statement without a limit."""
    first, second = open_store(), open_store()
    epoch = first.lease(["den"], "first", LONG_MS)["den"]
    with closing(psycopg.connect(url, application_name=name_of(first._id), autocommit=True)) as db:
        db.execute("begin")
        first._check_holders(db, [Write("den", lines(1), holder=("first", epoch))])
        db.pgconn.nonblocking = 1
        db.pgconn.send_query_params(b"insert into saves values ('den', 'x', $1)", [b"x" * 32 * 1024**2])
        assert db.pgconn.flush() == 1, "a part of it has not been sent"
        first.lease([], "first", 0)
        assert "den" in second.lease(["den"], "second", LONG_MS)
    assert second.saves("den") == []


def test_a_house_is_out_only_when_its_transactions_are_over(
    open_store: Callable[[], PostgresStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = open_store(), open_store()
    own = first.lease(["den"], "first", LONG_MS)
    begun, go = threading.Event(), threading.Event()
    write_rest = PostgresStore._write_rest

    def slowly(self: PostgresStore, db: Any, write: Write) -> None:
        begun.set()
        assert go.wait(60)
        write_rest(self, db, write)

    monkeypatch.setattr(PostgresStore, "_write_rest", slowly)
    # As if its connections could not be ended: the house that takes over has to wait.
    monkeypatch.setattr("cohabit.house.store.postgres._DISCONNECT", "select %s, %s, %s::text[], %s")
    with ThreadPoolExecutor(2) as pool:
        late = Write(identities=[Identity("i1", "Ann")], holder=("first", own[NO_ROOM]))
        writes = pool.submit(first.commit, [late])
        assert begun.wait(60)
        second.lease([], "first", 0)
        taking = pool.submit(second.lease, ["den"], "second", LONG_MS)
        with closing(psycopg.connect(second._connections._info, autocommit=True)) as db:
            waits = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and application_name = %s"
            while db.execute(waits, (name_of(second._id),)).fetchone() != (1,):
                assert not taking.done()
        go.set()
        writes.result()
        assert "den" in taking.result()
    assert second.identities() == [Identity("i1", "Ann")]


def test_all_leases_of_a_house_are_renewed_by_one_row(store: PostgresStore, url: str) -> None:
    rooms = [f"r{i}" for i in range(300)]
    own = store.lease(rooms, "house 1", LONG_MS)
    with psycopg.connect(url) as db:
        before = db.execute("select room, xmin::text from leases order by room").fetchall()
        db.commit()
        assert store.lease(rooms, "house 1", LONG_MS, own[NO_ROOM]) == own
        assert db.execute("select room, xmin::text from leases order by room").fetchall() == before


# -- lost connections -------------------------------------------------------------------------------
class Breaking:
    """A connection that is lost at the commit, before or after it."""

    def __init__(self, db: Any, commits: bool) -> None:
        self._db, self._commits = db, commits

    def __getattr__(self, name: str) -> Any:
        return getattr(self._db, name)

    def execute(self, sql: str, *args: Any, **more: Any) -> Any:
        if sql in ("commit", _APPEND):
            if self._commits:
                self._db.execute(sql, *args, **more)
            self._db.close()
            raise psycopg.OperationalError("server closed the connection unexpectedly")
        return self._db.execute(sql, *args, **more)


def break_next_commit(store: Any, commits: bool, unreachable: float = 0) -> None:
    """The next commit loses its connection, and this many attempts to connect again fail."""
    connections = store._connections
    connections._writer = Breaking(connections._writing_connection(), commits)
    connect, left = connections.connect, unreachable

    def reconnect() -> Any:
        nonlocal left
        left -= 1
        if left >= 0:
            raise psycopg.OperationalError("connection refused")
        return connect()

    connections.connect = reconnect


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


def test_a_refused_write_that_loses_its_connection_is_not_taken_for_one_that_was_made(
    open_store: Callable[[], PostgresStore],
) -> None:
    first, second = open_store(), open_store()
    write = writing(first, "den", "first")
    write(lines(2))
    first.lease([], "first", 0)
    assert "den" in second.lease(["den"], "second", LONG_MS)
    first._connections._drop_writer()  # the server has ended it
    break_next_commit(first, commits=True)
    with pytest.raises(StorageFailed, match="lease of room den"):
        write(lines(1, start=2))
    assert second.head("den") == 1


@pytest.mark.parametrize("landed", [True, False])
def test_a_commit_waits_for_its_outcome_longer_than_for_a_connection(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch, landed: bool
) -> None:
    monkeypatch.setattr(postgres_connections, "RECONNECT_S", 0.0)
    monkeypatch.setattr(postgres_connections, "PAUSE_S", 0.001)
    write = writing(store, "den")
    write(lines(2))
    break_next_commit(store, landed, unreachable=20)
    write(lines(1, start=2))
    assert [row[0] for row in store.lines("den", -1)] == [0, 1, 2]


def test_a_store_that_is_away_before_the_commit_has_written_nothing(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_connections, "RECONNECT_S", 0.0)
    write = writing(store, "den")
    write(lines(2))
    break_next_commit(store, commits=True, unreachable=1)
    store._connections._drop_writer()
    with pytest.raises(StorageFailed, match="connection refused; nothing was changed"):
        write(lines(1, start=2))
    write(lines(1, start=2))
    assert store.head("den") == 2


def test_a_house_that_closes_does_not_wait_for_the_outcome_and_says_so(store: PostgresStore) -> None:
    write = writing(store, "den")
    write(lines(2))
    break_next_commit(store, commits=True, unreachable=1000)
    store.give_up()
    with pytest.raises(OutcomeUnknown, match="not known whether"):
        write(lines(1, start=2))
    assert store.head("den") == 2


def test_a_commit_that_is_still_under_way_is_waited_for(store: PostgresStore, url: str) -> None:
    """The server did not notice that the connection is gone, and goes on."""
    connections = store._connections
    write = writing(store, "den")
    write(lines(1))
    with closing(psycopg.connect(url, autocommit=True)) as db, ThreadPoolExecutor(1) as pool:
        db.execute(f"begin; update commits set token = 'mine' where session = '{connections.session}'")
        found = pool.submit(connections._was_committed, "mine", 0)
        with closing(psycopg.connect(url, autocommit=True)) as other:
            waits = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and application_name = %s"
            while other.execute(waits, (name_of(store._id),)).fetchone() != (1,):
                assert not found.done()
        db.execute("commit")
        assert found.result()


def test_connections_that_are_ended_by_the_server_are_made_again(store: PostgresStore, postgres: Server) -> None:
    write = writing(store, "den")
    for start in (0, 2):
        write(lines(2, start=start))
        with psycopg.connect(postgres.url(), autocommit=True) as db:
            db.execute(
                "select pg_terminate_backend(pid, 10000) from pg_stat_activity where application_name like 'cohabit%'"
            )
        assert store.lease(["den"], "house 1", LONG_MS).keys() == {NO_ROOM, "den"}
        assert store.head("den") == start + 1
    write(lines(1, start=4))
    assert store.head("den") == 4


def test_a_database_that_is_killed_and_starts_again_costs_a_wait(store: PostgresStore, postgres: Server) -> None:
    write = writing(store, "den")
    write(lines(2))
    postgres.kill()
    with ThreadPoolExecutor(1) as pool:
        try:
            later = pool.submit(write, lines(2, start=2))
        finally:
            postgres.start()
        later.result()
    assert store.head("den") == 3


async def test_a_call_whose_commit_loses_its_connection_is_answered_when_its_outcome_is_known(
    url: str, tmp_path: Path
) -> None:
    async with House.open(Settings(store=url, data=str(tmp_path)), clock=FakeClock()) as house:
        who = await make_room(house)
        await asyncio.gather(*(runner.drained() for runner in house.rooms.running()))
        for n, landed in enumerate((True, False)):
            break_next_commit(house.store, landed, unreachable=3)
            assert (await who["ann"]("hide", {"n": n}, key=f"k{n}")).success
            assert (await who["ann"]("hide", {"n": n}, key=f"k{n}")).success
        assert (await who["ann"]("numbers"))["red"] == [0, 1]


async def test_calls_are_done_once_although_the_database_is_killed_meanwhile(
    url: str, tmp_path: Path, postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_connections, "RECONNECT_S", 120.0)
    monkeypatch.setattr(leases, "LEASE_MS", LONG_MS)
    async with House.open(Settings(store=url, data=str(tmp_path)), clock=FakeClock()) as house:
        who = await make_room(house)
        calls = [asyncio.ensure_future(who["ann"]("hide", {"n": n}, key=f"k{n}")) for n in range(20)]
        await asyncio.to_thread(postgres.kill)
        await asyncio.to_thread(postgres.start)
        for n, call in enumerate(calls):
            assert (await call).success
            assert (await who["ann"]("hide", {"n": n}, key=f"k{n}")).success, "the same call again"
        assert (await who["ann"]("numbers"))["red"] == [*range(20)]


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_no_answered_write_is_lost_or_doubled_while_connections_and_the_server_are_killed(
    store: PostgresStore, postgres: Server
) -> None:
    done = threading.Event()

    def disturb() -> None:
        dice = random.Random(1)
        while not done.is_set():
            if dice.random() < 0.1:
                postgres.kill()
                postgres.start()
            else:
                with suppress(psycopg.Error), psycopg.connect(postgres.url(), autocommit=True) as db:
                    db.execute(
                        "select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'cohabit%'"
                    )
            done.wait(dice.random() / 10)

    record = Record()
    answered: list[bytes] = []
    own = store.lease(["den"], "house 1", LONG_MS)
    with ThreadPoolExecutor(1) as pool:
        disturbing = pool.submit(disturb)
        try:
            for number in range(1000):
                line = record.append(Entry(number, number, "noted", "m1", {"n": number}))
                store.commit([Write("den", [line], holder=("house 1", own["den"]))])
                answered.append(line.digest)
                person = Identity(f"i-{number}", "Ann")
                store.commit([Write(identities=[person], holder=("house 1", own[NO_ROOM]))])
        finally:
            done.set()
        disturbing.result()
    assert [row[2] for row in store.lines("den", -1)] == answered
    assert len(store.identities()) == len(answered)


def test_nothing_is_left_of_a_house_that_was_killed_when_it_is_taken_over_from(
    open_store: Callable[[], PostgresStore], url: str
) -> None:
    killed, other = open_store(), open_store()
    writing(killed, "den", "first")(lines(2))
    killed.lease([], "first", 0)
    killed._connections.close()  # as the system does for a process that ends
    with psycopg.connect(url, autocommit=True) as db:
        of_killed = "select count(*) from pg_stat_activity where application_name = %s"
        while db.execute(of_killed, (name_of(killed._id),)).fetchone() != (0,):
            pass
    assert "den" in other.lease(["den"], "second", LONG_MS)
    with psycopg.connect(url) as db:
        assert db.execute("select session from commits").fetchall() == [(other._connections.session,)]


def test_a_house_that_was_taken_over_from_does_not_know_the_outcome_of_its_last_commit(
    open_store: Callable[[], PostgresStore], url: str
) -> None:
    cut_off, other = open_store(), open_store()
    write = writing(cut_off, "den", "first")
    write(lines(2))
    connections = cut_off._connections
    connections._writer = Breaking(connections._writing_connection(), commits=True)  # and the reply is lost
    connect = connections.connect

    def taken_over_meanwhile() -> Any:
        with psycopg.connect(url, autocommit=True) as db:
            db.execute("delete from houses where house = 'first'")
            db.execute("delete from commits where session = %s", (connections.session,))
        return connect()

    connections.connect = taken_over_meanwhile  # type: ignore[method-assign]
    with pytest.raises(OutcomeUnknown, match="another house has taken over; it is not known whether"):
        write(lines(1, start=2))
    assert other.head("den") == 2, "it was written"
