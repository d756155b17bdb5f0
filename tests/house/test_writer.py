"""The writer: one thread, many writes to a commit, and a bad write fails alone."""

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from cohabit.errors import StorageFailed
from cohabit.house.store.contract import Write
from cohabit.house.store.memory import MemoryStore
from cohabit.house.store.writer import Writer
from cohabit.model.identity import Credential
from cohabit.model.record import Entry
from cohabit.model.refusals import Refusal
from cohabit.room.record import Line, Record


class WatchedStore(MemoryStore):
    """Its commits wait until they are let go. It keeps which rooms were committed together, and on which threads."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()
        self.begun = threading.Event()
        self.tried: list[list[str]] = []
        self.threads: set[str] = set()
        self.error: BaseException | None = None

    def commit(self, writes: Sequence[Write]) -> None:
        self.begun.set()
        self.go.wait()
        self.threads.add(threading.current_thread().name)
        self.tried.append([write.room for write in writes])
        if self.error is not None:
            raise self.error
        super().commit(writes)


def lines(count: int, start: int = 0) -> list[Line]:
    record = Record()
    return [record.append(Entry(start + i, 0, "x")) for i in range(count)]


@pytest.fixture
def store() -> WatchedStore:
    return WatchedStore()


@pytest.fixture
async def writer(store: WatchedStore) -> AsyncIterator[Writer]:
    """A writer that is held up in a first commit, so that writes gather until ``store.go`` is set."""
    made = Writer(store, asyncio.get_running_loop())
    first = made.submit(Write())
    store.begun.wait(10)
    yield made
    store.go.set()
    await asyncio.to_thread(made.close)
    await settled(first)


async def settled(*submitted: "asyncio.Future[None]") -> list[type | None]:
    """The kind of error that each write ended with."""
    results = await asyncio.gather(*submitted, return_exceptions=True)
    return [None if result is None else type(result) for result in results]


async def test_writes_that_gather_are_one_commit_off_the_event_loop(store: WatchedStore, writer: Writer) -> None:
    submitted = [writer.submit(Write(f"r{i}", lines(2))) for i in range(5)]
    await asyncio.sleep(0)
    assert not any(done.done() for done in submitted), "nothing is durable before it is committed"
    store.go.set()
    assert await settled(*submitted) == [None] * 5
    assert store.tried == [[""], ["r0", "r1", "r2", "r3", "r4"]]
    assert store.threads == {"cohabit-writer"}
    assert [store.head(f"r{i}") for i in range(5)] == [1] * 5


async def test_a_bad_write_fails_alone(store: WatchedStore, writer: Writer) -> None:
    bad = writer.submit(Write("bad", [*lines(1), *lines(1)], credentials=[Credential(b"bad", "i1")]))
    good = [writer.submit(Write(room, lines(2), credentials=[Credential(room.encode(), "i2")])) for room in "abc"]
    last = writer.submit(Write("bad2", lines(3) + lines(1, start=2)))
    store.go.set()
    assert await settled(bad, *good, last) == [StorageFailed, None, None, None, StorageFailed]
    assert [store.head(room) for room in ("a", "b", "c", "bad", "bad2")] == [1, 1, 1, -1, -1]
    assert [c.hash for c in store.credentials()] == [b"a", b"b", b"c"], "each write is all or nothing by itself"
    assert store.tried[1:] == [["bad", "a", "b", "c", "bad2"], ["bad"], ["a"], ["b"], ["c"], ["bad2"]]


async def test_the_record_of_a_room_gets_no_gap_when_a_write_fails(store: WatchedStore, writer: Writer) -> None:
    bad = writer.submit(Write("den", [*lines(2), *lines(1)]))
    following = [writer.submit(Write("den", lines(1, start=2))), writer.submit(Write("den", (), (2, b"snapshot")))]
    refusals = writer.submit(Write("den", refusals=[Refusal(1, "m1", "act", "BUSY", "busy", 1, 1)]))
    other = writer.submit(Write("other", lines(1)))
    store.go.set()
    assert await settled(bad, *following, refusals, other) == [StorageFailed] * 3 + [None, None]
    assert (store.head("den"), store.snapshots("den"), store.head("other")) == (-1, [], 0)
    assert len(store.refusals("den")) == 1, "refusals do not build on the entries"
    assert await settled(writer.submit(Write("den", lines(3)))) == [None]


async def test_a_room_can_be_deleted_although_its_write_failed(store: WatchedStore, writer: Writer) -> None:
    bad = writer.submit(Write("den", [*lines(2), *lines(1)]))
    gone = writer.submit(Write("den", delete=True))
    store.go.set()
    assert await settled(bad, gone) == [StorageFailed, None]


@pytest.mark.parametrize("error", [StorageFailed("the disk is full"), OSError("no disk"), SystemExit(3)], ids=repr)
async def test_every_write_is_answered_if_the_store_raises_and_later_ones_work(
    store: WatchedStore, writer: Writer, error: BaseException
) -> None:
    store.error = error
    submitted = [writer.submit(Write(f"r{i}", lines(1))) for i in range(3)]
    store.go.set()
    assert await settled(*submitted) == [StorageFailed] * 3
    store.error = None
    assert await settled(writer.submit(Write("r0", lines(1)))) == [None]


async def test_a_caller_that_no_longer_waits_does_not_disturb_the_others(store: WatchedStore, writer: Writer) -> None:
    cancelled, other = writer.submit(Write("a", lines(1))), writer.submit(Write("b", lines(1)))
    cancelled.cancel()
    store.go.set()
    assert await settled(other) == [None]
    assert store.head("a") == 0, "it was submitted, so it is written"


# -- closing ----------------------------------------------------------------------------------------
async def test_closing_commits_the_submitted_writes(store: WatchedStore, writer: Writer) -> None:
    submitted = [writer.submit(Write(f"r{i}", lines(1))) for i in range(20)]
    closing = asyncio.create_task(asyncio.to_thread(writer.close))
    store.go.set()
    await asyncio.wait_for(closing, 120)
    assert await asyncio.wait_for(settled(*submitted), 120) == [None] * 20
    assert [store.head(f"r{i}") for i in range(20)] == [0] * 20


async def test_a_write_submitted_after_closing_fails_instead_of_waiting(store: WatchedStore, writer: Writer) -> None:
    store.go.set()
    await asyncio.to_thread(writer.close)
    assert await asyncio.wait_for(settled(writer.submit(Write("late", lines(1)))), 120) == [StorageFailed]
    assert store.head("late") == -1


async def test_nothing_waits_forever_while_threads_close_the_writer(store: WatchedStore) -> None:
    store.go.set()
    for _ in range(50):
        writer = Writer(store, asyncio.get_running_loop())
        closing = [asyncio.create_task(asyncio.to_thread(writer.close)) for _ in range(2)]
        submitted = []
        while not all(task.done() for task in closing):
            submitted.append(writer.submit(Write()))
            await asyncio.sleep(0)
        assert set(await asyncio.wait_for(settled(*submitted), 120)) <= {None, StorageFailed}


async def test_closing_on_the_event_loop_ends_too(store: WatchedStore) -> None:
    store.go.set()
    writer = Writer(store, asyncio.get_running_loop())
    submitted = writer.submit(Write("a", lines(1)))
    writer.close()
    writer.close()
    assert await settled(submitted) == [None]


def test_a_loop_that_is_closed_keeps_no_write_from_the_disk(store: WatchedStore) -> None:
    async def submit() -> Writer:
        writer = Writer(store, asyncio.get_running_loop())
        writer.submit(Write("a", lines(1)))
        store.begun.wait(10)
        writer.submit(Write("b", lines(1)))
        return writer

    writer = asyncio.run(submit())
    store.go.set()
    writer.close()
    assert (store.head("a"), store.head("b")) == (0, 0)


async def test_commits_are_counted(store: WatchedStore, writer: Writer) -> None:
    store.go.set()
    before = writer.commits
    await writer.submit(Write("a", lines(1)))
    await writer.submit(Write("a", lines(1, start=1)))
    assert writer.commits == before + 2


def test_a_write_that_another_one_is_merged_into_changes_everything_that_both_change() -> None:
    def write(name: Any, forget_before: int | None, delete: bool) -> Write:
        return Write(
            "den",
            [name],
            (1, name),
            [name],
            forget_before,
            delete,
            identities=[name],
            credentials=[name],
            invites=[name],
        )

    one = write("one", None, False)
    one.merge(write("other", 7, True))
    assert (one.snapshot, one.forget_before, one.delete) == ((1, "other"), 7, True)
    for kept in (one.lines, one.refusals, one.identities, one.credentials, one.invites):
        assert list(kept) == ["one", "other"]
    one.merge(Write("den"))
    assert (one.snapshot, one.forget_before, one.delete) == ((1, "other"), 7, True)
