"""Reopens a room without a host if its world was only slow."""

import asyncio
import logging
from collections import deque

from cohabit.errors import CohabitError, Quarantined
from cohabit.house.clock import Clock
from cohabit.house.running.calls import Call, settle_all
from cohabit.house.running.rooms import Rooms
from cohabit.house.running.runner import RoomRunner
from cohabit.house.running.world_thread import WHO_REOPENS

log = logging.getLogger("cohabit")
REOPENINGS, WITHIN_MS = 3, 600_000
"""A room is reopened at most this often in this time. One that is slow more often stays quarantined."""


class Reopening:
    """Reopens rooms in the background. One per house."""

    def __init__(self, rooms: Rooms, clock: Clock) -> None:
        self._rooms = rooms
        self._clock = clock
        self._times: dict[str, deque[int]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, runner: RoomRunner, calls: list[Call]) -> None:
        """Reopen a room that has stopped, and run the calls that it could not finish."""
        task = asyncio.get_running_loop().create_task(self._reopen(runner, calls))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _reopen(self, runner: RoomRunner, calls: list[Call]) -> None:
        room = runner.id
        left = calls
        try:
            if self._rooms.closing or self._rooms.get(room) is not runner:  # it was reopened or deleted meanwhile
                return
            if self._too_often(room):
                runner.failure = Quarantined(
                    f"this room is quarantined: its world was too slow {REOPENINGS + 1} times in "
                    f"{WITHIN_MS // 60_000} minutes. {WHO_REOPENS}"
                )
                log.error("room %s stays quarantined: its world is too slow", room)
                return
            again = await self._rooms.reopen(room)
            again.run_on_thread_for_a_while()
            log.warning("room %s was reopened", room)
            left = []
            for call in calls:
                if call.future is not None or call.then is not None:  # else nobody waits for it, such as for a tick
                    _run_again(call, again)
        except CohabitError as failed:
            log.error("room %s could not be reopened: %s", room, failed.as_text())
            runner.failure = Quarantined(f"this room could not be reopened: {failed.message}. {WHO_REOPENS}")
        finally:
            settle_all(left, runner.failure)

    def _too_often(self, room: str) -> bool:
        now = self._clock.now()
        times = self._times.setdefault(room, deque(maxlen=REOPENINGS + 1))
        times.append(now)
        return len(times) > REOPENINGS and now - times[0] < WITHIN_MS

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


def _run_again(call: Call, runner: RoomRunner) -> None:
    call.result, call.error, call.ran = None, None, False
    try:
        if runner.put(call):
            call.settle()
    except CohabitError as refused:
        call.settle(refused)
