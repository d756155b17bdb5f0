"""What the store promises: all or nothing, on disk, one house at a time."""

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from cohabit.errors import Conflict, RecordCorrupt, StorageFailed
from cohabit.house.sqlite import SQLiteStore
from cohabit.house.store import Credential, Write
from cohabit.model.record import Entry
from cohabit.room.record import Line, Record

from .making import make_room, open_house


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SQLiteStore]:
    with closing(SQLiteStore(tmp_path)) as made:
        yield made


def connections(store: SQLiteStore) -> list[sqlite3.Connection]:
    return [value for value in vars(store).values() if isinstance(value, sqlite3.Connection)]


def lines(count: int, size: int = 10) -> list[Line]:
    record = Record()
    return [record.append(Entry(i, 0, "x" * size)) for i in range(count)]


def test_every_connection_of_a_store_writes_ahead_and_syncs_fully(store: SQLiteStore) -> None:
    found = connections(store)
    assert len(found) == 2
    for db in found:
        assert db.execute("pragma journal_mode").fetchone() == ("wal",)
        assert db.execute("pragma synchronous").fetchone() == (2,), "less than FULL loses what was answered ok"


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


def test_a_second_house_in_another_process_is_refused_too(tmp_path: Path, store: SQLiteStore) -> None:
    script = (
        "import sys; from pathlib import Path; from cohabit.house.sqlite import SQLiteStore\n"
        "try: SQLiteStore(Path(sys.argv[1]))\nexcept Exception as e: print(type(e).__name__, e)"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Conflict")
    assert str(tmp_path) in done.stdout


def test_a_folder_is_kept_to_its_owner(tmp_path: Path) -> None:
    SQLiteStore(tmp_path / "new").close()
    assert (tmp_path / "new").stat().st_mode & 0o077 == 0


def test_a_commit_is_all_or_nothing(store: SQLiteStore) -> None:
    first, second = lines(3), lines(3)
    store.commit([Write("a", first)])
    with pytest.raises(StorageFailed):
        store.commit([Write("b", second), Write("a", first)])
    assert store.head("a") == 2
    assert store.head("b") == -1
    store.commit([Write("b", second)])
    assert store.head("b") == 2


def test_a_full_disk_fails_the_commit_and_later_ones_work_again(store: SQLiteStore) -> None:
    db = connections(store)[0]
    writer = next(c for c in connections(store) if c is vars(store)["_db"])
    pages = db.execute("pragma page_count").fetchone()[0]
    writer.execute(f"pragma max_page_count = {pages + 2}")
    with pytest.raises(StorageFailed) as full:
        store.commit([Write("a", lines(500, size=500))])
    assert "full" in full.value.message
    assert store.head("a") == -1
    with pytest.raises(StorageFailed):
        for i in range(200):
            store.put_credential(Credential(bytes([i]) * 32, "ann", label="x" * 500))
    writer.execute("pragma max_page_count = 1000000")
    store.commit([Write("a", lines(500, size=500))])
    assert store.head("a") == 499


def test_a_deleted_room_is_gone_wholly(store: SQLiteStore) -> None:
    store.commit([Write("a", lines(3), (2, b"snapshot")), Write("b", lines(3), (2, b"snapshot"))])
    store.delete_room("a")
    assert (store.rooms(), store.head("a"), store.snapshots("a")) == (["b"], -1, [])
    assert list(store.lines("a", -1)) == []
    assert store.head("b") == 2


def test_lines_come_in_order_from_where_one_asks_and_as_many_as_one_asks(store: SQLiteStore) -> None:
    store.commit([Write("a", lines(2500)), Write("b", lines(5))])
    assert [row[0] for row in store.lines("a", -1)] == list(range(2500))
    assert [row[0] for row in store.lines("a", 2497)] == [2498, 2499]
    assert [row[0] for row in store.lines("a", 9, 1500)] == list(range(10, 1510))
    assert list(store.lines("nowhere", -1)) == []


def test_pruning_never_goes_past_a_snapshot(store: SQLiteStore) -> None:
    store.commit([Write("a", lines(10))])
    assert store.prune("a", 100) == 0
    store.commit([Write("a", (), (4, b"snapshot"))])
    assert store.prune("a", 3) == 3
    assert store.prune("a", 100) == 2
    assert [row[0] for row in store.lines("a", -1)] == [5, 6, 7, 8, 9]


def test_only_the_newest_snapshots_are_kept(store: SQLiteStore) -> None:
    for seq in range(5):
        store.commit([Write("a", (), (seq, b"%d" % seq))])
    assert store.snapshots("a") == [b"4", b"3"]
    kept = connections(store)[0].execute("select count(*) from snapshots").fetchone()[0]
    assert kept == 2


@pytest.mark.parametrize(
    "content",
    [b"this is no database at all, but it is long enough to look like one" * 20, b"SQLite format 3\0" + b"\0" * 84],
)
def test_a_file_that_is_no_database_is_named_and_left_alone(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "cohabit.db").write_bytes(content)
    with pytest.raises(RecordCorrupt) as refused:
        SQLiteStore(tmp_path)
    assert "cohabit.db" in refused.value.message
    assert (tmp_path / "cohabit.db").read_bytes() == content
    with pytest.raises(RecordCorrupt):  # and the lock was given back
        SQLiteStore(tmp_path)


def test_a_database_of_another_schema_is_refused(tmp_path: Path) -> None:
    SQLiteStore(tmp_path).close()
    with closing(sqlite3.connect(tmp_path / "cohabit.db")) as db:
        db.execute("update meta set value = 99 where key = 'schema'")
        db.commit()
    with pytest.raises(RecordCorrupt) as refused:
        SQLiteStore(tmp_path)
    assert "99" in refused.value.message


def test_a_backup_is_a_whole_store(store: SQLiteStore, tmp_path: Path) -> None:
    store.commit([Write("a", lines(50), (49, b"snapshot"))])
    copy = tmp_path / "copy"
    copy.mkdir()
    store.backup(str(copy / "cohabit.db"))
    store.commit([Write("b", lines(5))])
    with closing(SQLiteStore(copy)) as other:
        assert (other.rooms(), other.head("a"), other.head("b")) == (["a"], 49, -1)


def test_a_backup_comes_to_an_end_however_much_is_written_meanwhile(
    store: SQLiteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.commit([Write("big", lines(4000, size=1000))])
    steps: list[int] = []

    def write_meanwhile(*_: object) -> None:
        steps.append(1)
        assert len(steps) < 100, "the backup begins anew with every commit"
        store.commit([Write(f"r{len(steps)}", lines(1))])

    class Busy(sqlite3.Connection):
        def backup(self, target: sqlite3.Connection, **how: Any) -> None:
            super().backup(target, **how, progress=write_meanwhile, sleep=0.001)

    connect = sqlite3.connect
    monkeypatch.setattr("cohabit.house.sqlite.sqlite3.connect", lambda *a, **how: connect(*a, factory=Busy, **how))
    store.backup(str(tmp_path / "copy.db"))
    with closing(connect(tmp_path / "copy.db")) as copy:
        assert copy.execute("pragma integrity_check").fetchone() == ("ok",)
        assert copy.execute("select count(*) from entries where room = 'big'").fetchone() == (4000,)
