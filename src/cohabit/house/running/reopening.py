"""Reopens a room without a host if its world was only slow, or only the store has failed."""

import asyncio
import logging
from collections import deque
from collections.abc import Coroutine
from typing import Any

from cohabit.errors import CohabitError, Conflict, Quarantined, StorageFailed
from cohabit.house.clock import Clock, pause
from cohabit.house.running.calls import Call, settle_all
from cohabit.house.running.rooms import Rooms
from cohabit.house.running.runner import RoomRunner
from cohabit.house.running.world_thread import WHO_REOPENS

log = logging.getLogger("cohabit")
REOPENINGS, WITHIN_MS = 3, 600_000
"""A room is reopened at most this often in this time. One that is slow more often stays quarantined."""
PAUSE_MS, LONGEST_PAUSE_MS = 5_000, 60_000
"""Before the rooms are tried again that the store keeps closed: the first pause, and the longest; each is twice the one
before."""


class Reopening:
    """Reopens rooms in the background. One per house."""

    def __init__(self, rooms: Rooms, clock: Clock) -> None:
        self._rooms = rooms
        self._clock = clock
        self._times: dict[str, deque[int]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._waits_for_store = False

    def start(self, runner: RoomRunner, calls: list[Call]) -> None:
        """Reopen a room that has stopped, and run the calls that it could not finish."""
        self._begin(self._reopen(runner, calls))

    def when_store_works(self) -> None:
        """Open the rooms that are closed only because the store has failed, when it works again."""
        if not self._waits_for_store and not self._rooms.closing:
            self._waits_for_store = True
            self._begin(self._open_when_store_works())

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _open_when_store_works(self) -> None:
        pause_ms = PAUSE_MS
        while waiting := [room for room in self._rooms.broken if self._is_not_stored(room)]:
            await pause(self._clock, pause_ms)
            pause_ms = min(2 * pause_ms, LONGEST_PAUSE_MS)
            for room in waiting:
                if self._is_not_stored(room):  # else it was opened, moved or deleted meanwhile
                    await self._open(room)
        self._waits_for_store = False

    def _is_not_stored(self, room: str) -> bool:
        return isinstance(self._rooms.broken.get(room), StorageFailed)

    async def _open(self, room: str) -> None:
        try:
            await self._rooms.reopen(room)
            log.warning("room %s is open again", room)
        except (StorageFailed, Conflict):  # the same again, or somebody else opens it
            pass
        except CohabitError as failed:
            log.error("room %s could not be opened: %s", room, failed.as_text())
            self._rooms.broken[room] = failed

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
