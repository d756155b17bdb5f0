"""Where world code runs: quick worlds on the event loop, all others on a thread of their room.

Either way a call that does not come back is ended: an exception is raised inside the world's own
frame, which stops any loop written in Python. If even that fails, the thread is abandoned.
"""

import asyncio
import ctypes
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from types import TracebackType
from typing import Any, TypeVar

from cohabit.errors import WorldTimeout

T = TypeVar("T")


class WorldHung(BaseException):
    """Raised inside world code that took too long. Not an Exception: a world must not swallow it."""


def interrupt(thread: int) -> None:
    """Raise WorldHung in another thread, at its next step."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(WorldHung))


class WorldThread:
    """One daemon thread that runs a room's world code, job by job."""

    def __init__(self, name: str) -> None:
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=f"cohabit-world-{name}", daemon=True)
        self._thread.start()

    def submit(self, job: Callable[[], None]) -> None:
        self._jobs.put(job)

    def abandon(self) -> None:
        """Stop it if that is possible; let go of it in any case."""
        self._jobs.put(None)
        if self._thread.ident is not None:
            interrupt(self._thread.ident)

    def close(self) -> None:
        self._jobs.put(None)

    def _run(self) -> None:
        try:
            while (job := self._jobs.get()) is not None:
                job()
        except WorldHung:
            return


async def apart(name: str, work: Callable[[], T], limit_s: float) -> T:
    """Let world code run once off the event loop; WORLD_TIMEOUT where it does not come back in time."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def job() -> None:
        try:
            made = work()
        except Exception as wrong:
            loop.call_soon_threadsafe(_unless_done, done, done.set_exception, wrong)
        else:
            loop.call_soon_threadsafe(_unless_done, done, done.set_result, made)

    thread = WorldThread(name)
    thread.submit(job)
    try:
        return await asyncio.wait_for(done, limit_s)
    except TimeoutError:
        thread.abandon()
        raise WorldTimeout(f"the world of room {name} did not get ready within {limit_s:g} s") from None
    finally:
        thread.close()


def _unless_done(done: "asyncio.Future[Any]", then: Callable[[Any], None], value: Any) -> None:
    if not done.done():
        then(value)


SAMPLE_EVERY = 64
"""How often the watchdog reads how long its thread has worked: reading it costs more than most calls are worth."""


class Watchdog:
    """Guards what runs on the event loop's own thread: ``with watchdog:`` around world code.

    A second thread looks every now and then whether the guarded code is still in the same section as
    before, and if that has gone on past the deadline, ends it.
    """

    def __init__(self, deadline_s: float) -> None:
        self._deadline = deadline_s
        self._lock = threading.Lock()
        self._since = 0.0
        self._worked = time.thread_time()
        self._entered = 0
        self._fired = False
        self._target = threading.get_ident()
        self._closed = threading.Event()
        self.took = 0.0
        threading.Thread(target=self._watch, name="cohabit-watchdog", daemon=True).start()

    def __enter__(self) -> "Watchdog":
        self._entered += 1
        if not self._entered % SAMPLE_EVERY:
            self._worked = time.thread_time()
        self._since = time.perf_counter()
        return self

    def slow(self, limit_s: float) -> bool:
        """Did the section just left take longer than this? Time in which the machine did something else does not
        count, unless it was very long: then the world was waiting for something."""
        if self.took <= limit_s:
            return False
        return time.thread_time() - self._worked > limit_s or self.took > 10 * limit_s

    def __exit__(self, kind: type[BaseException] | None, value: Any, trace: TracebackType | None) -> None:
        with self._lock:
            self.took = time.perf_counter() - self._since
            self._since = 0.0
            fired, self._fired = self._fired, False
        if fired and kind is not WorldHung:
            # The interruption is on its way but has not arrived: wait for it here, inside the section.
            while True:
                time.sleep(0.001)

    def close(self) -> None:
        self._closed.set()

    def _watch(self) -> None:
        while not self._closed.wait(self._deadline / 4):
            with self._lock:
                late = self._since and time.perf_counter() - self._since > self._deadline
                if late and not self._fired:
                    self._fired = True
                    interrupt(self._target)
