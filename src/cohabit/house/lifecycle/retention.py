"""How long a house keeps rooms whose game is over, refused calls and transcripts: the settings ``keep_…_days``.

Every hour the house deletes what is older. A room that is active, watched or visited is never deleted.
"""

import asyncio
import logging
from functools import partial

from cohabit.errors import CohabitError
from cohabit.house.agents.transcripts import Transcripts
from cohabit.house.calls.context import Services
from cohabit.house.clock import DAY_MS, Timer
from cohabit.house.lifecycle.own_data import Forgetting
from cohabit.house.running.runner import RoomRunner
from cohabit.house.store.contract import Write
from cohabit.house.threads import run_in_thread

log = logging.getLogger("cohabit")
EVERY_MS = 3_600_000


class Retention:
    """See the module."""

    def __init__(self, house: Services, forgetting: Forgetting) -> None:
        self._house = house
        self._forgetting = forgetting
        self._timer: Timer | None = None
        self._lock = asyncio.Lock()
        self._sweeping: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Sweep now, and every hour."""
        if self._sweeping is None or self._sweeping.done():
            self._sweeping = asyncio.get_running_loop().create_task(self._sweep_safely())
        clock = self._house.clock
        self._timer = clock.call_at(clock.now() + EVERY_MS, self.start)

    async def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._sweeping is not None:
            await asyncio.gather(self._sweeping, return_exceptions=True)

    async def _sweep_safely(self) -> None:
        try:
            await self.sweep()
        except Exception:
            log.exception("the hourly deletion failed; it is tried again in an hour")

    async def sweep(self) -> None:
        """Delete what is older than the settings allow, and what identities have asked for."""
        async with self._lock:
            await self._forgetting.clean_waiting()
            deleted = [room for room in list(self._house.rooms) if await self._delete_if_old(room)]
            audits = await self._forget_refusals()
            await self._delete_transcripts()
            if deleted or audits:
                await self._forgetting.scrub()

    async def _delete_if_old(self, room: str) -> bool:
        runner, days = self._house.rooms.get(room), self._house.settings.keep_rooms_days
        if runner is None or not days or not self._is_over(runner):
            return False
        age = self._house.clock.now() - runner.room.record.at
        if age < days * DAY_MS:
            return False
        try:
            await self._house.rooms.delete(room)
        except CohabitError as failed:
            log.error("room %s could not be deleted: %s", room, failed.as_text())
            return False
        log.info("room %s was deleted: nothing has happened in it for %.1f days", room, age / DAY_MS)
        return True

    def _is_over(self, runner: RoomRunner) -> bool:
        """Whether a room is archived or its game is over, nobody is in it or watches it, and no new game is due."""
        state = runner.room.state
        over = state.archived or (state.over_since is not None and state.rematch_ms is None)
        nobody = not runner.fanout.subscriptions and not any(m.here for m in state.members.values())
        return over and nobody and runner.failure is None

    async def _forget_refusals(self) -> bool:
        days, found = self._house.settings.keep_audit_days, False
        if not days:
            return False
        before = int(self._house.clock.now() - days * DAY_MS)
        for room, runner in list(self._house.rooms.items()):
            kept, recorded = runner.room.audit.kept, runner.room.state.audited
            old = [line.id for line in kept[:-1] if line.at < before and line.id <= recorded]  # ids go on from the last
            if old:
                runner.room.audit.forget(old)
                await self._house.writer.submit(Write(room, forget_refusals=old))
                log.info("room %s: %d refused calls were deleted from its audit", room, len(old))
                found = True
        return found

    async def _delete_transcripts(self) -> None:
        days = self._house.settings.keep_transcripts_days
        if days:
            before_s = (self._house.clock.now() - days * DAY_MS) / 1000
            transcripts = self._house.need(Transcripts)
            for room in await run_in_thread("the transcripts", partial(transcripts.delete_older, before_s)):
                log.info("the transcripts and memories of room %s were deleted", room)
