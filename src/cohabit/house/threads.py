"""Threads for code that may block or hang, such as worlds and git.

All of them are daemon threads, so a hanging one does not keep a house from closing.
"""

import asyncio
import ctypes
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, TypeVar

from cohabit.errors import Busy, WorldTimeout
from cohabit.house.deadlines import Measurement, measure_thread, step_time
from cohabit.room.base import WorldInterrupted

T = TypeVar("T")
MAX_STUCK_THREADS = 32
"""While this many threads ignore their interruption, no world is loaded: its code could hang, too."""
_interrupted: "list[Worker]" = []  # those that may still run


def interrupt(thread: int) -> None:
    """Raise WorldInterrupted in another thread, at its next bytecode instruction."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(WorldInterrupted))


class Worker:
    """One daemon thread that runs jobs one after another."""

    def __init__(self, name: str) -> None:
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=f"cohabit-{name}", daemon=True)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def measure(self) -> Measurement:
        """The time that the thread has used so far."""
        return measure_thread(self._thread.native_id)

    def submit(self, job: Callable[[], None]) -> None:
        """Run a job when the earlier ones are done. It must not raise."""
        self._jobs.put(job)

    def run(self, work: Callable[[], T]) -> "asyncio.Future[T]":
        """Run ``work`` on the thread. Returns a future for its result or exception."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()

        def finish(settle: Callable[[Any], None], value: Any) -> None:
            if not done.done():
                settle(value)

        def job() -> None:
            settle: Callable[[Any], None]
            value: Any
            try:
                settle, value = done.set_result, work()
            except WorldInterrupted:
                raise
            except (SystemExit, KeyboardInterrupt, StopIteration, asyncio.CancelledError) as wrong:
                # Raised on the event loop, these would end the loop or the wrong task.
                raised = RuntimeError(f"{type(wrong).__name__} was raised on a thread")
                raised.__cause__ = wrong
                settle, value = done.set_exception, raised
            except BaseException as wrong:
                settle, value = done.set_exception, wrong
            with suppress(RuntimeError):  # the loop is closed, so the result is no longer needed
                loop.call_soon_threadsafe(finish, settle, value)

        self.submit(job)
        return done

    def close(self) -> None:
        """Stop after the submitted jobs."""
        self._jobs.put(None)

    def abandon(self) -> None:
        """Interrupt the running job if possible, and stop."""
        self.close()
        if self._thread.ident is not None and self.is_alive:
            interrupt(self._thread.ident)
            _interrupted.append(self)

    def _run(self) -> None:
        with suppress(WorldInterrupted):
            while (job := self._jobs.get()) is not None:
                job()


def stuck_threads() -> int:
    """The number of threads that still run although they were interrupted: they wait in native code, or ignore it."""
    _interrupted[:] = [worker for worker in _interrupted if worker.is_alive]
    return len(_interrupted)


async def run_in_thread(name: str, work: Callable[[], T], timeout_s: float | None = None) -> T:
    """Run ``work`` once off the event loop. With ``timeout_s`` it may be code of a world: raises WORLD_TIMEOUT if it
    computes or blocks for longer."""
    if timeout_s is not None and stuck_threads() >= MAX_STUCK_THREADS:
        raise Busy(f"{MAX_STUCK_THREADS} threads of worlds that hang cannot be stopped; restart the house")
    worker = Worker(name)
    running = worker.run(work)
    try:
        if timeout_s is not None and not await _returns(worker, running, timeout_s):
            worker.abandon()
            raise WorldTimeout(f"{name} did not open within {timeout_s:g} s")
        return await running
    finally:
        running.cancel()  # nobody waits for it any more
        worker.close()


async def _returns(worker: Worker, running: "asyncio.Future[Any]", timeout_s: float) -> bool:
    """True if a worker's job ends in time."""
    loop, time = asyncio.get_running_loop(), step_time(timeout_s)
    while True:
        await asyncio.wait([running], timeout=time.every_s)
        if running.done():
            return True
        if time.is_due(running, loop.time()):
            took = time.count(running, await loop.run_in_executor(None, worker.measure))
            if took >= timeout_s:
                return running.done()


class Pool:
    """Runs at most ``limit`` jobs at a time, each on a thread; more wait.

    A slot is held until the work ends, even if its caller was cancelled.
    """

    def __init__(self, name: str, limit: int) -> None:
        self._name = name
        self._slots = asyncio.Semaphore(limit)
        self._running: set[asyncio.Future[Any]] = set()

    async def run(self, work: Callable[[], T]) -> T:
        """Run ``work`` on a thread of the pool and return its result."""
        await self._slots.acquire()
        try:
            worker = Worker(self._name)
        except BaseException:  # no more threads available
            self._slots.release()
            raise
        done = worker.run(work)
        worker.close()
        self._running.add(done)
        done.add_done_callback(self._ended)
        return await asyncio.shield(done)

    def _ended(self, done: "asyncio.Future[Any]") -> None:
        self._running.discard(done)
        self._slots.release()
        if not done.cancelled():
            done.exception()  # its caller may be gone

    async def drain(self, timeout_s: float) -> bool:
        """Wait up to ``timeout_s`` for all jobs. Returns whether none is left."""
        if self._running:
            await asyncio.wait(self._running, timeout=timeout_s)
        return not self._running
