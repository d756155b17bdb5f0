"""The clock of a house: the only place where time comes from."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Timer(Protocol):
    def cancel(self) -> None: ...


class Clock(Protocol):
    """Milliseconds since 1970, and a way to be called later."""

    def now(self) -> int: ...

    def call_at(self, at: int, then: Callable[[], None]) -> Timer: ...


class SystemClock:
    """The machine's clock. Never goes backwards within a run, whatever is done to the machine's time."""

    def __init__(self) -> None:
        self._offset = time.time_ns() // 1_000_000 - time.monotonic_ns() // 1_000_000

    def now(self) -> int:
        return self._offset + time.monotonic_ns() // 1_000_000

    def call_at(self, at: int, then: Callable[[], None]) -> Timer:
        return asyncio.get_running_loop().call_later(max(0, at - self.now()) / 1000, then)


async def in_time(clock: Clock, limit_ms: int, work: Coroutine[Any, Any, T]) -> T:
    """What the work brings; TimeoutError where it takes longer than this by the clock of the house."""
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
