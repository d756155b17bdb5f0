"""The house clock, the only source of time."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any, Protocol, TypeVar

T = TypeVar("T")
DAY_MS = 86_400_000


class Timer(Protocol):
    def cancel(self) -> None: ...


class Clock(Protocol):
    """Milliseconds since 1970, and timers."""

    def now(self) -> int:
        """It never goes backwards, and only by this clock do things of the house happen and end."""

    def time_of_day(self) -> int:
        """The time of day, for times that others have set. It may jump."""

    def call_at(self, at: int, then: Callable[[], None]) -> Timer: ...


class SystemClock:
    """The system clock. It never goes backwards within a run, even if the system time is changed. It stands still while
    the machine is suspended."""

    def __init__(self) -> None:
        self._offset = time.time_ns() // 1_000_000 - time.monotonic_ns() // 1_000_000

    def now(self) -> int:
        return self._offset + time.monotonic_ns() // 1_000_000

    def time_of_day(self) -> int:
        return time.time_ns() // 1_000_000

    def call_at(self, at: int, then: Callable[[], None]) -> Timer:
        return asyncio.get_running_loop().call_later(max(0, at - self.now()) / 1000, then)


async def pause(clock: Clock, ms: int) -> None:
    """Wait so long, by this clock."""
    over = asyncio.Event()
    timer = clock.call_at(clock.now() + ms, over.set)
    try:
        await over.wait()
    finally:
        timer.cancel()


async def in_time(clock: Clock, limit_ms: int, work: Coroutine[Any, Any, T]) -> T:
    """Await ``work`` with a timeout on the house clock. Raises TimeoutError."""
    late = False
    task = asyncio.ensure_future(work)

    def give_up() -> None:
        nonlocal late
        late = True
        task.cancel()

    timer = clock.call_at(clock.now() + limit_ms, give_up)
    try:
        return await task
    except asyncio.CancelledError:
        if late:
            raise TimeoutError from None
        raise
    finally:
        timer.cancel()
