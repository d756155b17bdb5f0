"""The single writer of a house: commits the writes of all rooms in batches, off the event loop."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from queue import SimpleQueue

from cohabit.errors import CohabitError, OutcomeUnknown, StorageFailed
from cohabit.house.store.contract import Holder, Store, Write

Job = tuple[Write, "asyncio.Future[None]"]
Outcome = tuple["asyncio.Future[None]", CohabitError | None, Write]


class Writer:
    """Commits queued writes in batches and notifies each caller when its write is durable.

    If a commit fails, its writes are retried one by one, so only the writes that the store refuses fail. A commit whose
    outcome is unknown is not retried.
    """

    def __init__(self, store: Store, loop: asyncio.AbstractEventLoop) -> None:
        self._store = store
        self.size_of = store.size
        self.lines_of = store.lines
        self.holder_of: Callable[[str], Holder] | None = None  # of a room, or of none; set by a house that has leases
        self.known_by_all: Callable[[], Awaitable[None]] | None = None
        """With several processes: returns when every other one knows what was committed before."""
        self._loop = loop
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._closed = False
        self._telling: set[asyncio.Task[None]] = set()
        self.commits = 0
        self._thread = threading.Thread(target=self._run, name="cohabit-writer", daemon=True)
        self._thread.start()

    def submit(self, write: Write) -> "asyncio.Future[None]":
        """A future that resolves when the write is durable or fails with STORAGE_FAILED. Call it on the event loop."""
        done: asyncio.Future[None] = self._loop.create_future()
        if self.holder_of is not None:
            write.holder = self.holder_of(write.room)
        with self._lock:  # so nothing is queued after the stop marker
            if self._closed:
                done.set_exception(StorageFailed("the house is closed; nothing was written"))
            else:
                self._jobs.put((write, done))
        return done

    def close(self) -> None:
        """Commit the queued writes, then stop. It blocks, so call it on another thread."""
        with self._lock:
            self._closed = True
            self._jobs.put(None)
        self._store.give_up()
        self._thread.join()

    def _run(self) -> None:
        open_ = True
        while open_:
            jobs = [self._jobs.get()]
            while not self._jobs.empty():
                jobs.append(self._jobs.get())
            open_ = None not in jobs
            outcomes = self._write([job for job in jobs if job is not None])
            with suppress(RuntimeError):  # the loop is closed, so the result is no longer needed
                self._loop.call_soon_threadsafe(self._resolve, outcomes)

    def _write(self, jobs: list[Job]) -> list[Outcome]:
        failure = self._commit([write for write, _ in jobs]) if jobs else None
        if failure is None or len(jobs) == 1 or isinstance(failure, OutcomeUnknown):
            return [(done, failure, write) for write, done in jobs]
        return self._write_singly(jobs)

    def _write_singly(self, jobs: list[Job]) -> list[Outcome]:
        outcomes: list[Outcome] = []
        missing: dict[str, CohabitError] = {}
        for write, done in jobs:
            # Entries and snapshots depend on the entries before them: a record must not have gaps.
            failure = missing.get(write.room) if write.lines or write.snapshot else None
            failure = failure or self._commit([write])
            if failure is not None and write.lines:
                missing[write.room] = failure
            outcomes.append((done, failure, write))
        return outcomes

    def _commit(self, writes: list[Write]) -> CohabitError | None:
        """The reason why the commit failed; None if it succeeded. The writer survives any exception of the store."""
        self.commits += 1
        try:
            self._store.commit(writes)
        except CohabitError as wrong:
            return wrong
        except BaseException as wrong:
            return StorageFailed(f"the store failed: {type(wrong).__name__}: {wrong}; nothing was written")
        return None

    def _resolve(self, outcomes: list[Outcome]) -> None:
        for done, failure, write in outcomes:
            if failure is None and self.known_by_all is not None and write.concerns_all:
                task = self._loop.create_task(self._tell(self.known_by_all, done))
                self._telling.add(task)
                task.add_done_callback(self._telling.discard)
            else:
                _settle(done, failure)

    async def _tell(self, known_by_all: Callable[[], Awaitable[None]], done: "asyncio.Future[None]") -> None:
        """Only this write waits for the other processes; what is committed after it does not."""
        try:
            await known_by_all()
        except CohabitError as gone:
            _settle(done, OutcomeUnknown(f"this was written, but {gone.message}"))
        else:
            _settle(done, None)


def _settle(done: "asyncio.Future[None]", failure: CohabitError | None) -> None:
    if done.cancelled():
        return
    if failure is None:
        done.set_result(None)
    else:
        done.set_exception(failure)
