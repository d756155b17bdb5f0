"""Retention of rooms whose game is over, refused calls and transcripts: the settings ``keep_…_days``.

Every hour the house deletes what is older. A room that is active, watched or visited is never deleted.
"""

import asyncio
import logging
from contextlib import suppress
from functools import partial

from cohabit.errors import CohabitError
from cohabit.house.agents.decisions import DecisionLog
from cohabit.house.agents.transcripts import Transcripts
from cohabit.house.calls.context import Services
from cohabit.house.clock import DAY_MS, Timer
from cohabit.house.lifecycle.own_data import Forgetting
from cohabit.house.running.calls import SystemCall
from cohabit.house.running.runner import RoomRunner
from cohabit.house.store.contract import Store, Write
from cohabit.house.store.keyframes import Keyframes
from cohabit.house.threads import run_in_thread
from cohabit.model.record import decode_entry

log = logging.getLogger("cohabit")
EVERY_MS = 3_600_000
SOON_MS = 10_000
"""The wait before a deletion that was asked for, so that the reply is sent first."""
PAGE = 200
OF_A_GAME = frozenset((
    "open", "presence", "admitted", "knocked", "transit_in", "credential", "entry_set", "invite_revoked", "loaded",
    "ticks", "turn_timeout", "rematch_due",
))  # fmt: skip
"""The system entries of something that somebody did, or that happened in a game. The house makes the others by itself:
when it starts, when a grant expires, when refused calls are recorded."""


class Retention:
    """See the module."""

    def __init__(self, house: Services, forgetting: Forgetting) -> None:
        self._house = house
        self._forgetting = forgetting
        self._timer: Timer | None = None
        self._lock = asyncio.Lock()
        self._sweeping: asyncio.Task[None] | None = None
        self._swept = False
        self._used: dict[str, tuple[int, int]] = {}  # by room: its last entry, and when it was last used

    def start(self) -> None:
        """Sweep now, and every hour."""
        if self._sweeping is None or self._sweeping.done():
            self._sweeping = asyncio.get_running_loop().create_task(self._sweep_safely())
        clock = self._house.clock
        self._timer = clock.call_at(clock.now() + EVERY_MS, self.start)

    def start_soon(self) -> None:
        """Sweep a little later, because something waits for it. Not in a house that has not started to sweep."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = self._house.clock.call_at(self._house.clock.now() + SOON_MS, self.start)

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
            self._used = {room: used for room, used in self._used.items() if room in self._house.rooms}
            audits = await self._forget_refusals()
            await self._delete_transcripts()
            await run_in_thread("keyframes", partial(self._house.need(Keyframes).sweep, self._house.store))
            if deleted or audits or not self._swept:  # the first time: a crash may have come before it
                await self._forgetting.scrub()
            self._swept = True

    async def _delete_if_old(self, room: str) -> bool:
        runner, days = self._house.rooms.get(room), self._house.settings.keep_rooms_days
        if runner is None or not days or not self._is_over(runner):
            return False
        age = self._house.clock.now() - await self._last_used(runner)
        if age < days * DAY_MS or not self._is_over(runner):
            return False
        try:
            await self._house.rooms.delete(room)
        except CohabitError as failed:
            log.error("room %s could not be deleted: %s", room, failed.as_text())
            return False
        log.info("room %s was deleted: nothing has happened in it for %.1f days", room, age / DAY_MS)
        return True

    async def _last_used(self, runner: RoomRunner) -> int:
        """The time at which somebody last did something in a room, or its game went on."""
        seq, used = self._used.get(runner.id, (-1, 0))
        if seq != runner.room.record.seq:
            seq = runner.room.record.seq
            look = partial(_last_used, self._house.store, runner.id, seq, runner.room.record.at)
            used = await run_in_thread("a record", look)
            self._used[runner.id] = seq, used
        return used

    def _is_over(self, runner: RoomRunner) -> bool:
        """True if a room is archived or its game is over, nobody is in it or watches it, and no new game is due."""
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
                with suppress(CohabitError):  # a quarantined room records nothing
                    await runner.submit(SystemCall("refusals_deleted", {"before": before}))
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
                self._house.need(DecisionLog).forget(room)
                log.info("the transcripts and memories of room %s were deleted", room)


def _last_used(store: Store, room: str, seq: int, at: int) -> int:
    """Reads a record backwards from its last entry, ``seq``, at ``at``. If older entries were deleted, the time of the
    oldest."""
    for end in range(seq, -1, -PAGE):
        for _, body, _ in reversed([*store.lines(room, end - PAGE, min(PAGE, end + 1))]):
            entry = decode_entry(body)
            at = entry.at
            if entry.by is not None or entry.do in OF_A_GAME:
                return at
    return at
