"""The version of a room: a number that grows when the room has changed, and that callers can wait for."""

import asyncio

from cohabit.house.clock import Clock


class Version:
    def __init__(self, clock: Clock) -> None:
        self.number = 0
        self._clock = clock
        self._waiters: dict[asyncio.Future[bool], None] = {}

    async def changed_since(self, number: int, ends: int) -> bool:
        """Wait until the version is another one or ``ends`` has passed. Returns whether it is another one."""
        if number != self.number:
            return True
        if ends <= self._clock.now():
            return False
        waiter: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiters[waiter] = None
        over = self._clock.call_at(ends, lambda: None if waiter.done() else waiter.set_result(False))
        try:
            return await waiter
        finally:
            over.cancel()
            self._waiters.pop(waiter, None)

    def increment(self) -> None:
        self.number += 1
        waiters, self._waiters = self._waiters, {}
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(True)
