"""A store that another process has keeps the contract of every store."""

import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from cohabit.errors import OutcomeUnknown, StorageFailed
from cohabit.house.store.contract import Store, Write
from cohabit.house.store.group_commit import GroupCommit
from cohabit.house.store.memory import MemoryStore
from cohabit.house.store.shared_store import SharedStore
from cohabit.house.store.sqlite import SQLiteStore
from cohabit.house.store.store_server import StoreServer
from cohabit.model.identity import Identity
from cohabit.model.record import Entry
from cohabit.room.record import Record
from cohabit.testing.store import check_store


class Served(SharedStore):
    """A shared store that takes its server and the store behind it along when it is closed."""

    def __init__(self, store: Store, folder: Path) -> None:
        self.behind = store
        self.group = GroupCommit(store, "front")
        self.server = StoreServer(self.group, tempfile.mktemp(dir=folder))
        super().__init__(self.server.path, "w1")

    def close(self) -> None:
        super().close()
        self.server.close()
        self.behind.close()


@pytest.fixture
def short() -> Iterator[Path]:
    """The path of a Unix socket has at most 107 bytes."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def lines(room: str, count: int, start: int = 0) -> Write:
    record = Record(start - 1)
    return Write(room, [record.append(Entry(start + i, i, "noted", "m1", {"n": i})) for i in range(count)])


def test_a_shared_store_keeps_the_contract(short: Path) -> None:
    def open_backup(path: str) -> Store:
        folder = Path(tempfile.mkdtemp(dir=short))
        (folder / "cohabit.db").write_bytes(Path(path).read_bytes())
        return SQLiteStore(folder)

    check_store(lambda: Served(SQLiteStore(Path(tempfile.mkdtemp(dir=short))), short), open_backup=open_backup)


def test_commits_that_come_together_are_one_and_a_refused_one_fails_alone(short: Path) -> None:
    class Slow(MemoryStore):
        """Its first commit waits until others have come."""

        def __init__(self) -> None:
            super().__init__()
            self.sizes: list[int] = []
            self.began, self.others_came = threading.Event(), threading.Event()

        def commit(self, writes: Sequence[Write]) -> None:
            self.sizes.append(len(writes))
            if len(self.sizes) == 1:
                self.began.set()
                assert self.others_came.wait(60)
            super().commit(writes)

    store = Slow()
    served = Served(store, short)
    told: list[tuple[str, str]] = []
    served.group.committed = lambda node, writes: told.extend((node, write.room) for write in writes)
    failed: list[str] = []

    def commit(write: Write) -> None:
        try:
            served.commit([write])
        except StorageFailed:
            failed.append(write.room)

    first = threading.Thread(target=commit, args=(lines("first", 1),))
    first.start()
    assert store.began.wait(60)
    others = [threading.Thread(target=commit, args=(lines(room, 1),)) for room in ("a", "b", "first")]
    for other in others:
        other.start()
    while len(served.group._waiting) < len(others):
        pass
    store.others_came.set()
    for thread in (first, *others):
        thread.join(60)
    assert store.sizes == [1, 3, 1, 1, 1], "three commits at once, then each alone, because one of them was refused"
    assert failed == ["first"]
    assert store.head("a") == store.head("b") == store.head("first") == 0
    assert sorted(told) == [("w1", "a"), ("w1", "b"), ("w1", "first")]
    served.close()


def test_a_process_whose_store_is_gone_is_told_so_and_guesses_nothing(short: Path) -> None:
    served = Served(MemoryStore(), short)
    served.commit([lines("den", 3)])
    assert served.head("den") == 2
    served.server.close()
    with pytest.raises(OutcomeUnknown, match="may have been written"):
        served.commit([lines("den", 1, start=3)])
    with pytest.raises(StorageFailed, match="has ended"):
        served.head("den")
    served.close()


def test_what_a_store_refuses_has_the_same_code_and_words_in_another_process(short: Path) -> None:
    store = MemoryStore()
    store.commit([lines("den", 3)])
    served = Served(store, short)
    with pytest.raises(StorageFailed) as direct:
        store.commit([lines("den", 1)])
    with pytest.raises(StorageFailed) as shared:
        served.commit([lines("den", 1)])
    assert shared.value.as_wire() == direct.value.as_wire()
    served.commit([Write(identities=[Identity("i-1", "Ann")])])
    assert store.identities() == [Identity("i-1", "Ann")]
    served.close()
