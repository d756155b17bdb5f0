"""The store on SQLite: on disk, for one house at a time, and it tells damage from a full disk.

The claims about every store are in ``test_store.py``.
"""

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from cohabit.errors import BadArgs, CohabitError, Conflict, RecordCorrupt, StorageFailed
from cohabit.faces.cli.say import in_one_line
from cohabit.house.store.contract import Write
from cohabit.house.store.sqlite import SQLiteStore
from cohabit.house.store.sqlite_opening import ROWS_PER_INSERT, SCHEMA
from cohabit.model.identity import Credential, Identity, Invite
from cohabit.model.record import Entry
from cohabit.model.refusals import Refusal
from cohabit.room.record import Line, Record

from .making import make_room, open_house

ORDINARY_USER = 65534


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SQLiteStore]:
    with closing(SQLiteStore(tmp_path)) as made:
        yield made


def connections(store: SQLiteStore) -> list[sqlite3.Connection]:
    return [value for value in vars(store).values() if isinstance(value, sqlite3.Connection)]


def writer_of(store: SQLiteStore) -> sqlite3.Connection:
    db: sqlite3.Connection = vars(store)["_db"]
    return db


def lines(count: int, size: int = 10, start: int = 0) -> list[Line]:
    record = Record()
    return [record.append(Entry(start + i, 0, "x" * size)) for i in range(count)]


def change(path: Path, sql: str, *args: object) -> None:
    """Change a database behind the back of the store."""
    with closing(sqlite3.connect(path)) as db:
        db.execute(sql, args)
        db.commit()


# -- all or nothing -------------------------------------------------------------------------------
class FailingConnection:
    """A connection whose n-th statement fails, as on a full disk. It counts the others."""

    def __init__(self, db: sqlite3.Connection, fails_at: int) -> None:
        self._db = db
        self._fails_at = fails_at
        self.statements = 0

    def __enter__(self) -> None:
        self._db.__enter__()

    def __exit__(self, *wrong: Any) -> Any:
        return self._db.__exit__(*wrong)

    def execute(self, sql: str, args: Any = ()) -> Any:
        return self._run(self._db.execute, sql, args)

    def executemany(self, sql: str, args: Any) -> Any:
        return self._run(self._db.executemany, sql, args)

    def _run(self, run: Callable[[str, Any], Any], sql: str, args: Any) -> Any:
        self.statements += 1
        if self.statements == self._fails_at:
            raise sqlite3.OperationalError("database or disk is full")
        return run(sql, args)


def everything_in(path: Path) -> list[list[Any]]:
    with closing(sqlite3.connect(path)) as db:
        tables = [row[0] for row in db.execute("select name from sqlite_master where type = 'table' order by name")]
        return [db.execute(f"select * from {table} order by 1, 2").fetchall() for table in tables if table != "meta"]


def whole_room(room: str, start: int = 0) -> Write:
    """A write of every kind."""
    return Write(
        room, lines(3, start=start), (start + 2, b"snapshot"), [Refusal(1, "m", "act", "BUSY", "no", 1, start)],
        forget_before=start, identities=[Identity(f"{room}-{start}", "Ann", "human")],
        credentials=[Credential(f"{room}-{start}".encode(), "i", room)],
        invites=[Invite(f"{room}-{start}", b"x" * 8, room, "m", "ann")],
    )  # fmt: skip


COMMITS: dict[str, tuple[int, list[Write]]] = {
    "many entries": (3, [Write("a", lines(150, start=3)), Write("b", lines(100, start=3))]),
    "everything": (20, [whole_room("a", 3), Write("b", delete=True), whole_room("c")]),
    "a deletion": (6, [Write("a", lines(1, start=3)), Write("a", delete=True), whole_room("a", 7)]),
}


@pytest.mark.parametrize("commit", COMMITS)
def test_a_commit_that_fails_in_any_statement_changes_nothing(tmp_path: Path, commit: str) -> None:
    fewest, writes = COMMITS[commit]
    with closing(SQLiteStore(tmp_path)) as store:
        store.commit([whole_room("a"), whole_room("b")])
        db, before, failures = writer_of(store), everything_in(store.path), 0
        while True:
            failing = FailingConnection(db, failures + 1)
            vars(store)["_db"] = failing
            try:
                store.commit(writes)
                break
            except StorageFailed:
                failures += 1
                assert everything_in(store.path) == before, f"statement {failures}"
        vars(store)["_db"] = db
        assert failures == failing.statements >= fewest
        assert everything_in(store.path) != before


# -- on disk ------------------------------------------------------------------------------------


def test_every_connection_of_a_store_writes_ahead_and_syncs_fully(store: SQLiteStore) -> None:
    found = connections(store)
    assert len(found) == 2
    for db in found:
        assert db.execute("pragma journal_mode").fetchone() == ("wal",)
        assert db.execute("pragma synchronous").fetchone() == (2,), "less than FULL loses calls that were answered"


async def test_the_store_of_a_running_house_syncs_fully(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        await make_room(house)
        assert isinstance(house.store, SQLiteStore)
        for db in connections(house.store):
            assert db.execute("pragma synchronous").fetchone() == (2,)
            assert db.execute("pragma journal_mode").fetchone() == ("wal",)


def test_a_second_house_on_the_same_folder_is_refused_and_the_folder_is_named(
    tmp_path: Path, store: SQLiteStore
) -> None:
    with pytest.raises(Conflict) as refused:
        SQLiteStore(tmp_path)
    assert str(tmp_path) in refused.value.message
    assert "--data" in refused.value.message
    store.close()
    SQLiteStore(tmp_path).close()


def test_a_house_that_is_refused_leaves_no_file_open(tmp_path: Path, store: SQLiteStore) -> None:
    before = os.listdir("/dev/fd")
    for _ in range(3):
        with pytest.raises(Conflict):
            SQLiteStore(tmp_path)
    assert len(os.listdir("/dev/fd")) == len(before)


def test_a_second_house_in_another_process_is_refused_too(tmp_path: Path, store: SQLiteStore) -> None:
    script = (
        "import sys; from pathlib import Path; from cohabit.house.store.sqlite import SQLiteStore\n"
        "try: SQLiteStore(Path(sys.argv[1]))\nexcept Exception as e: print(type(e).__name__, e)"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Conflict")
    assert str(tmp_path) in done.stdout


def test_a_folder_and_its_files_are_kept_to_their_owner(tmp_path: Path) -> None:
    folder = tmp_path / "some" / "new"
    with closing(SQLiteStore(folder)) as store:
        store.commit([Write("a", lines(3))])
        assert folder.stat().st_mode & 0o077 == 0
        names = sorted(path.name for path in folder.iterdir())
        assert names == ["cohabit.db", "cohabit.db-shm", "cohabit.db-wal", "lock"]
        assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
        store.backup(str(tmp_path / "copy.db"))
        assert (tmp_path / "copy.db").stat().st_mode & 0o777 == 0o600


def test_everything_is_there_after_the_store_is_opened_again(tmp_path: Path) -> None:
    identity, invite = Identity("i1", "Ann", "human"), Invite("v1", b"h", "a", "m1", "bob")
    refusal, credential = Refusal(5, "m1", "act", "BUSY", "busy", 3, 1), Credential(b"\xff", "i1", "a", revoked=True)
    write = Write(
        "a", lines(3), (2, b"snapshot"), [refusal], identities=[identity], credentials=[credential], invites=[invite]
    )
    with closing(SQLiteStore(tmp_path)) as store:
        store.commit([write])
    with closing(SQLiteStore(tmp_path)) as store:
        assert list(store.lines("a", -1)) == [(line.seq, line.body, line.digest) for line in write.lines]
        assert (store.rooms(), store.snapshots("a")) == (["a"], [b"snapshot"])
        assert (store.refusals("a"), store.identities()) == ([refusal], [identity])
        assert (store.credentials(), store.invites()) == ([credential], [invite])


def test_a_house_that_starts_again_gets_the_rooms_of_the_one_that_was_killed(tmp_path: Path) -> None:
    with closing(SQLiteStore(tmp_path)) as store:
        assert "a" in store.lease(["a"], "house 1", 10_000)
    with closing(SQLiteStore(tmp_path)) as store:
        assert "a" in store.lease(["a"], "house 2", 10_000), "nobody but this house can be in the folder"


def test_closing_twice_gives_the_folder_back_once(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path)
    store.close()
    store.close()
    with closing(SQLiteStore(tmp_path)) as other:
        store.close()
        with pytest.raises(Conflict):
            SQLiteStore(tmp_path)
        other.commit([Write("a", lines(1))])


# -- commits --------------------------------------------------------------------------------------
@contextmanager
def statements(store: SQLiteStore) -> Iterator[list[str]]:
    """The first word of each statement that the store runs meanwhile."""
    found: list[str] = []
    writer_of(store).set_trace_callback(lambda sql: found.append(sql.split()[0].lower()))
    yield found
    writer_of(store).set_trace_callback(None)


def test_entries_of_many_rooms_are_written_by_one_statement_that_is_a_transaction(store: SQLiteStore) -> None:
    with statements(store) as run:
        store.commit([Write(f"r{i}", lines(2)) for i in range(ROWS_PER_INSERT // 2)])
    assert run == ["insert"]
    with statements(store) as run:
        store.commit([Write("many", lines(2 * ROWS_PER_INSERT + 1))])
    assert run == ["begin", "insert", "insert", "insert", "commit"]
    with statements(store) as run:
        store.commit([Write("r0")])
    assert run == []


def test_a_read_does_not_wait_for_a_commit(store: SQLiteStore) -> None:
    store.commit([Write("a", lines(3), (2, b"snapshot"))])
    with vars(store)["_writing"]:  # as while the disk syncs
        db = writer_of(store)
        db.execute("begin immediate")
        db.execute("delete from entries")
        assert (store.head("a"), store.rooms(), len(list(store.lines("a", -1)))) == (2, ["a"], 3)
        db.execute("rollback")


@pytest.mark.parametrize("begun", [b"", "header"])
def test_a_house_that_a_full_disk_kept_from_being_made_is_not_called_damaged(tmp_path: Path, begun: object) -> None:
    path = tmp_path / "cohabit.db"
    path.write_bytes(b"")
    if begun:
        with closing(sqlite3.connect(path)) as db:
            db.execute("pragma journal_mode = wal")
    with pytest.raises(StorageFailed, match="did not finish"):
        SQLiteStore(tmp_path, lock=False)
    SQLiteStore(tmp_path).close()
    SQLiteStore(tmp_path, lock=False).close()


def test_a_full_disk_fails_the_commit_and_later_ones_work_again(store: SQLiteStore) -> None:
    store.commit([Write("old", lines(3), (2, b"snapshot"))])
    db = writer_of(store)
    pages = db.execute("pragma page_count").fetchone()[0]
    db.execute(f"pragma max_page_count = {pages}")
    large = b"x" * 100_000
    for write in (
        Write("a", lines(50, size=5000)),
        Write("a", lines(500, size=5000)),
        Write("a", (), (0, large)),
        Write(credentials=[Credential(bytes([i]) * 32, "ann", label="x" * 5000) for i in range(200)]),
    ):
        with pytest.raises(StorageFailed) as full:
            store.commit([write])
        assert "full; nothing was changed; free some space" in full.value.message
    assert (store.head("a"), store.snapshots("a"), store.credentials()) == (-1, [], [])
    assert (store.head("old"), store.snapshots("old")) == (2, [b"snapshot"]), "reading still works"
    db.execute("pragma max_page_count = 1000000")
    store.commit([Write("a", lines(500, size=500))])
    assert store.head("a") == 499


def test_only_the_newest_snapshots_take_space(store: SQLiteStore) -> None:
    for seq in range(5):
        store.commit([Write("a", (), (seq, b"%d" % seq))])
    assert writer_of(store).execute("select count(*) from snapshots").fetchone() == (2,)


def test_a_deleted_room_leaves_no_row(store: SQLiteStore) -> None:
    refusal, invite = Refusal(5, "m1", "act", "BUSY", "busy", 3, 1), Invite("v1", b"h", "a", "m1", "bob")
    here = Credential(b"k", "i1", "a")
    store.commit([Write("a", lines(3), (2, b"s"), [refusal], credentials=[here], invites=[invite])])
    store.lease(["a"], "house 1", 100)
    store.commit([Write("a", delete=True)])
    tables = [row[0] for row in writer_of(store).execute("select name from sqlite_master where type = 'table'")]
    assert len(tables) == 11
    counts = {name: writer_of(store).execute(f"select count(*) from {name}").fetchone()[0] for name in tables}
    assert counts == {**dict.fromkeys(tables, 0), "meta": 2}


# -- reading only ---------------------------------------------------------------------------------
@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other users may read: those of pytest are closed to them."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@contextmanager
def only_reading(folder: Path) -> Iterator[None]:
    """Nothing in the folder can be written, whichever user runs the tests."""
    for path in folder.iterdir():
        path.chmod(0o444)
    folder.chmod(0o555)
    root = os.geteuid() == 0
    if root:
        os.seteuid(ORDINARY_USER)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
        folder.chmod(0o755)


def test_a_reader_of_a_folder_without_a_house_is_refused_and_makes_nothing(tmp_path: Path) -> None:
    for folder in (tmp_path / "nowhere", tmp_path):
        with pytest.raises(BadArgs) as refused:
            SQLiteStore(folder, lock=False)
        assert str(folder) in refused.value.message
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_is_only_read_can_be_read_on_any_thread(tmp_path: Path) -> None:
    with closing(SQLiteStore(tmp_path)) as store:
        store.commit([Write("den", lines(3))])
    with closing(SQLiteStore(tmp_path, lock=False)) as reader, ThreadPoolExecutor(1) as other:
        assert other.submit(lambda: list(reader.lines("den", -1))).result() == list(reader.lines("den", -1))
        assert other.submit(reader.rooms).result() == reader.rooms()


def test_a_reader_sees_what_a_running_house_writes_and_changes_nothing(tmp_path: Path, store: SQLiteStore) -> None:
    store.commit([Write("a", lines(3), (2, b"snapshot"))])
    with closing(SQLiteStore(tmp_path, lock=False)) as reader:
        assert (reader.head("a"), reader.rooms()) == (2, ["a"])
        store.commit([Write("a", lines(1, start=3))])
        assert reader.head("a") == 3
        attempts: list[Callable[[], object]] = [
            lambda: reader.commit([Write("a", lines(1, start=4))]),
            lambda: reader.commit([Write("a", delete=True)]),
            lambda: reader.lease(["a"], "house 2", 100),
            lambda: reader.commit([Write("a", forget_before=2)]),
        ]
        for attempt in attempts:
            with pytest.raises(StorageFailed, match=r"readonly|for reading"):
                attempt()
    assert (store.head("a"), len(list(store.lines("a", -1)))) == (3, 4)
    store.commit([Write("a", lines(1, start=4))])


def test_a_folder_that_cannot_be_written_can_be_read_and_backed_up(open_folder: Path) -> None:
    folder = open_folder / "data"
    with closing(SQLiteStore(folder)) as store:
        store.commit([Write("a", lines(3), (2, b"snapshot"))])
    before = {path.name for path in folder.iterdir()}
    with only_reading(folder), closing(SQLiteStore(folder, lock=False)) as reader:
        assert (reader.head("a"), reader.snapshots("a")) == (2, [b"snapshot"])
        with pytest.raises(StorageFailed):
            reader.commit([Write("a", lines(1, start=3))])
    with only_reading(folder), tempfile.TemporaryDirectory() as other:
        with closing(SQLiteStore(folder, lock=False)) as reader:
            reader.backup(f"{other}/cohabit.db")
        with closing(SQLiteStore(Path(other))) as copy:
            assert copy.head("a") == 2
    assert {path.name for path in folder.iterdir()} == before


def test_a_folder_that_cannot_be_written_can_be_read_while_its_house_runs(open_folder: Path) -> None:
    folder = open_folder / "data"
    with closing(SQLiteStore(folder)) as store:
        store.commit([Write("a", lines(3))])
        with only_reading(folder), closing(SQLiteStore(folder, lock=False)) as reader:
            assert reader.head("a") == 2
            store.commit([Write("a", lines(1, start=3))])
            assert reader.head("a") == 3


def test_commits_in_a_log_that_cannot_be_read_are_not_passed_over(open_folder: Path) -> None:
    folder = open_folder / "copy"
    folder.mkdir()
    with closing(SQLiteStore(open_folder / "data")) as store:
        store.commit([Write("a", lines(3))])
        for name in ("cohabit.db", "cohabit.db-wal"):
            shutil.copy(open_folder / "data" / name, folder / name)
    with only_reading(folder):
        with pytest.raises(StorageFailed) as refused:
            SQLiteStore(folder, lock=False)
        assert "cohabit.db-wal" in refused.value.message
        assert "copy" in refused.value.message
    with closing(SQLiteStore(folder, lock=False)) as reader:
        assert reader.head("a") == 2


def test_a_house_in_a_folder_that_cannot_be_written_is_told_so(open_folder: Path) -> None:
    folder = open_folder / "data"
    folder.mkdir()
    with only_reading(folder), pytest.raises(StorageFailed) as refused:
        SQLiteStore(folder)
    assert str(folder) in refused.value.message
    assert "--data" in refused.value.message
    (open_folder / "file").write_text("")
    with pytest.raises(StorageFailed, match="--data"):
        SQLiteStore(open_folder / "file")
    SQLiteStore(folder).close()
    with only_reading(folder), pytest.raises(StorageFailed):
        SQLiteStore(folder)


# -- damage, and errors that are not damage -------------------------------------------------------
@pytest.mark.parametrize(
    "content",
    [b"this is no database at all, but it is long enough to look like one" * 20, b"SQLite format 3\0" + b"\0" * 84],
)
def test_a_file_that_is_no_database_is_named_and_left_alone(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "cohabit.db").write_bytes(content)
    with pytest.raises(RecordCorrupt) as refused:
        SQLiteStore(tmp_path)
    assert "cohabit.db" in refused.value.message
    assert "cohabit verify" not in in_one_line(refused.value), "it can read no more"
    assert (tmp_path / "cohabit.db").read_bytes() == content
    with pytest.raises(RecordCorrupt):  # and the lock was given back
        SQLiteStore(tmp_path)


@pytest.mark.parametrize("lock", [True, False])
def test_a_database_of_an_earlier_version_is_refused_and_left_alone(tmp_path: Path, lock: bool) -> None:
    path = tmp_path / "cohabit.db"
    with closing(sqlite3.connect(path)) as db:
        db.executescript(
            "create table meta (key text primary key, value integer not null) without rowid;"
            "create table credentials (hash blob primary key, body blob not null) without rowid;"
            "insert into meta values ('schema', 1), ('credentials', 0);"
        )
    before = path.read_bytes()
    with pytest.raises(RecordCorrupt) as refused:
        SQLiteStore(tmp_path, lock=lock)
    assert "schema 1" in refused.value.message
    assert "new data folder" in refused.value.message
    assert path.read_bytes() == before


@pytest.mark.parametrize("lock", [True, False])
def test_a_database_of_a_newer_version_is_refused(tmp_path: Path, lock: bool) -> None:
    SQLiteStore(tmp_path).close()
    change(tmp_path / "cohabit.db", "update meta set value = 99 where key = 'schema' and value = ?", SCHEMA)
    with pytest.raises(RecordCorrupt) as refused:
        SQLiteStore(tmp_path, lock=lock)
    assert "99" in refused.value.message
    assert "update Cohabit" in refused.value.message


@pytest.mark.parametrize("lock", [True, False])
def test_a_schema_that_is_no_number_is_damage(tmp_path: Path, lock: bool) -> None:
    SQLiteStore(tmp_path).close()
    change(tmp_path / "cohabit.db", "update meta set value = ? where key = 'schema'", "six")
    with pytest.raises(RecordCorrupt, match="its schema is 'six'"):
        SQLiteStore(tmp_path, lock=lock)


@pytest.mark.parametrize("lock", [True, False])
def test_a_database_of_something_else_is_refused_and_left_alone(tmp_path: Path, lock: bool) -> None:
    path = tmp_path / "cohabit.db"
    change(path, "create table songs (title text)")
    before = path.read_bytes()
    with pytest.raises(RecordCorrupt, match="not a Cohabit database"):
        SQLiteStore(tmp_path, lock=lock)
    assert path.read_bytes() == before


def test_a_file_that_was_made_but_not_filled_is_used_by_a_house_only(tmp_path: Path) -> None:
    (tmp_path / "cohabit.db").touch()
    with pytest.raises(StorageFailed):
        SQLiteStore(tmp_path, lock=False)
    with closing(SQLiteStore(tmp_path)) as store:
        store.commit([Write("a", lines(1))])


def test_damaged_pages_are_found_when_they_are_read(tmp_path: Path) -> None:
    with closing(SQLiteStore(tmp_path)) as store:
        store.commit([Write("a", lines(500, size=500), (499, b"snapshot"))])
    path = tmp_path / "cohabit.db"
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(size // 2)
        file.write(b"\xff" * (size // 4))
    with closing(SQLiteStore(tmp_path, lock=False)) as store, pytest.raises(RecordCorrupt) as damaged:
        list(store.lines("a", -1))
    assert str(path) in damaged.value.message


READS: dict[str, Callable[[SQLiteStore], object]] = {
    "refusals": lambda store: store.refusals("a"),
    "identities": SQLiteStore.identities,
    "credentials": SQLiteStore.credentials,
    "invites": SQLiteStore.invites,
    "entries": lambda store: list(store.lines("a", -1)),
}


@pytest.mark.parametrize("table", READS)
@pytest.mark.parametrize(
    "body", [b"\x81\xa2id\xa2\xff\xfe", b"\xc1", "text", 5], ids=["utf-8", "bytes", "text", "number"]
)
def test_a_stored_value_that_is_damaged_is_found_when_it_is_read(tmp_path: Path, table: str, body: Any) -> None:
    refusal, invite = Refusal(5, "m1", "act", "BUSY", "busy", 3, 1), Invite("v1", b"h", "a", "m1", "bob")
    with closing(SQLiteStore(tmp_path)) as store:
        whole = Write("a", lines(1), None, [refusal], invites=[invite])
        store.commit([whole, Write(identities=[Identity("i1", "Ann")], credentials=[Credential(b"k", "i1")])])
        READS[table](store)
        if table == "entries" and isinstance(body, bytes):
            return  # the chain of digests finds it
        change(store.path, f"update {table} set body = ?", body)
        with pytest.raises(RecordCorrupt) as damaged:
            READS[table](store)
        assert str(store.path) in damaged.value.message


def test_a_text_that_is_not_utf_8_is_damage(store: SQLiteStore) -> None:
    change(store.path, "insert into snapshots values (cast(x'ff' as text), 1, x'00')")
    with pytest.raises(RecordCorrupt):
        store.rooms()


class Failing:
    """A connection that fails with one code of SQLite."""

    def __init__(self, code: int) -> None:
        self.code = code

    def execute(self, *_: object) -> None:
        wrong = sqlite3.OperationalError("it failed")
        wrong.sqlite_errorcode = self.code
        raise wrong

    def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (sqlite3.SQLITE_FULL, StorageFailed),
        (sqlite3.SQLITE_READONLY, StorageFailed),
        (sqlite3.SQLITE_READONLY_DIRECTORY, StorageFailed),
        (sqlite3.SQLITE_IOERR, StorageFailed),
        (sqlite3.SQLITE_IOERR_READ, StorageFailed),
        (sqlite3.SQLITE_CANTOPEN, StorageFailed),
        (sqlite3.SQLITE_BUSY, StorageFailed),
        (sqlite3.SQLITE_CORRUPT, RecordCorrupt),
        (sqlite3.SQLITE_CORRUPT_INDEX, RecordCorrupt),
        (sqlite3.SQLITE_NOTADB, RecordCorrupt),
    ],
)
def test_a_read_that_fails_is_damage_only_where_sqlite_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, error: type[CohabitError]
) -> None:
    with closing(SQLiteStore(tmp_path)) as store:
        with monkeypatch.context() as patch:
            patch.setattr(store, "_reader", Failing(code))
            with pytest.raises(error) as failed:
                store.head("a")
            assert type(failed.value) is error
        assert store.head("a") == -1


def test_a_closed_store_is_not_damaged(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path)
    store.close()
    with pytest.raises(StorageFailed):
        store.rooms()
    with pytest.raises(StorageFailed):
        store.commit([Write("a", lines(1))])


# -- backup ---------------------------------------------------------------------------------------
def test_a_backup_is_a_whole_store(store: SQLiteStore, tmp_path: Path) -> None:
    store.commit([Write("a", lines(50), (49, b"snapshot"))])
    copy = tmp_path / "copy"
    copy.mkdir()
    store.backup(str(copy / "cohabit.db"))
    store.commit([Write("b", lines(5))])
    with closing(SQLiteStore(copy)) as other:
        assert (other.rooms(), other.head("a"), other.head("b")) == (["a"], 49, -1)


def test_a_backup_that_cannot_be_written_says_so(store: SQLiteStore, tmp_path: Path) -> None:
    with pytest.raises(StorageFailed, match="nowhere"):
        store.backup(str(tmp_path / "nowhere" / "copy.db"))


def test_a_backup_comes_to_an_end_however_much_is_written_meanwhile(
    store: SQLiteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.commit([Write("big", lines(4000, size=1000))])
    steps: list[int] = []

    def write_meanwhile(*_: object) -> None:
        steps.append(1)
        assert len(steps) < 100, "the backup starts over with every commit"
        store.commit([Write(f"r{len(steps)}", lines(1))])

    class Busy(sqlite3.Connection):
        def backup(self, target: sqlite3.Connection, **how: Any) -> None:
            super().backup(target, **how, progress=write_meanwhile, sleep=0.001)

    connect = sqlite3.connect
    monkeypatch.setattr("cohabit.house.store.sqlite.sqlite3.connect", lambda *a, **k: connect(*a, factory=Busy, **k))
    store.backup(str(tmp_path / "copy.db"))
    with closing(connect(tmp_path / "copy.db")) as copy:
        assert copy.execute("pragma integrity_check").fetchone() == ("ok",)
        assert copy.execute("select count(*) from entries where room = 'big'").fetchone() == (4000,)
