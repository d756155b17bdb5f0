"""A clock that stands still until it is advanced."""

import asyncio
import heapq
import itertools
from collections.abc import Awaitable, Callable

START = 1_750_000_000_000
"""A realistic start time, in ms."""


class FakeTimer:
    def __init__(self, then: Callable[[], None]) -> None:
        self._then: Callable[[], None] | None = then

    def cancel(self) -> None:
        self._then = None

    def fire(self) -> bool:
        """Call the callback, at most once. Returns whether it was called."""
        then, self._then = self._then, None
        if then is None:
            return False
        then()
        return True


class FakeClock:
    """See ``house.clock.Clock``. Timers run only inside ``advance``, in order, each at its own time.

    ``between`` is awaited after every timer, so that what it started is done before the next one runs:
    give it a function that waits until your house is at rest.
    """

    def __init__(self, at: int = START, between: Callable[[], Awaitable[None]] | None = None) -> None:
        self.between = between
        self._now = at
        self.behind_ms = 0  # the time of day, as after the machine was suspended
        self._order = itertools.count()
        self._timers: list[tuple[int, int, FakeTimer]] = []

    def now(self) -> int:
        return self._now

    def time_of_day(self) -> int:
        return self._now + self.behind_ms

    def call_at(self, at: int, then: Callable[[], None]) -> FakeTimer:
        timer = FakeTimer(then)
        heapq.heappush(self._timers, (at, next(self._order), timer))
        return timer

    async def advance(self, ms: int) -> None:
        """Let this much time pass. Timers that are set on the way run too, if they are due."""
        if ms < 0:
            raise ValueError("ms must not be negative")
        end = self._now + ms
        await self._settle()
        while self._timers and self._timers[0][0] <= end:
            at, _, timer = heapq.heappop(self._timers)
            self._now = max(self._now, at)
            if timer.fire():
                await self._settle()
        self._now = end
        await self._settle()

    async def _settle(self) -> None:
        for _ in range(5):  # a timer wakes a task, which wakes another …
            await asyncio.sleep(0)
        if self.between is not None:
            await self.between()
