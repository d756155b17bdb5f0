"""The one writer of a house: commits of many rooms go to disk together, off the event loop."""

import asyncio
import threading
from queue import SimpleQueue

from cohabit.errors import CohabitError, StorageFailed
from cohabit.house.store.contract import Store, Write

Job = tuple[Write, "asyncio.Future[None]"]


class Writer:
    """Takes writes, commits whatever has gathered in one go, and tells each asker when it is on disk."""

    def __init__(self, store: Store, loop: asyncio.AbstractEventLoop) -> None:
        self._store = store
        self._loop = loop
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self.commits = 0
        self._thread = threading.Thread(target=self._run, name="cohabit-writer", daemon=True)
        self._thread.start()

    def submit(self, write: Write) -> "asyncio.Future[None]":
        """Resolves when the write is durable, fails with STORAGE_FAILED when it is not."""
        done: asyncio.Future[None] = self._loop.create_future()
        self._jobs.put((write, done))
        return done

    def close(self) -> None:
        """Write what is waiting, then end."""
        self._jobs.put(None)
        self._thread.join()

    def _run(self) -> None:
        open_ = True
        while open_:
            jobs = [self._jobs.get()]
            while not self._jobs.empty():
                jobs.append(self._jobs.get())
            open_ = None not in jobs
            real = [job for job in jobs if job is not None]
            if not real:
                continue
            failure: CohabitError | None = None
            try:
                self._store.commit([write for write, _ in real])
            except CohabitError as wrong:
                failure = wrong
            except Exception as wrong:
                failure = StorageFailed(f"the record could not be written: {type(wrong).__name__}: {wrong}")
            self.commits += 1
            self._loop.call_soon_threadsafe(_resolve, [done for _, done in real], failure)


def _resolve(waiting: "list[asyncio.Future[None]]", failure: CohabitError | None) -> None:
    for done in waiting:
        if done.cancelled():
            continue
        if failure is None:
            done.set_result(None)
        else:
            done.set_exception(failure)
