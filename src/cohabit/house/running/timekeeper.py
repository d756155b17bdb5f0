"""Time in a room: deadlines, ticks and presence, all written to the record."""

from collections.abc import Callable
from typing import Any

from cohabit.house.clock import Clock, Timer
from cohabit.house.running.calls import Call, SettleCall, SystemCall
from cohabit.house.settings import Settings
from cohabit.model.seat import SeatId
from cohabit.room.room import Room

ARRIVALS_MS = 250
"""Arrivals are batched for this long."""
RETRY_MS = 1_000
"""Delay of the retry after a failed write."""
MAX_TICKS = 200
"""Maximum ticks per batch. Halved while the world cannot keep up."""


class Timekeeper:
    """One timer per room, set for the next due event."""

    def __init__(
        self,
        room: Room,
        clock: Clock,
        settings: Settings,
        connected: Callable[[], set[str]],
        post: Callable[[Call], None],
    ) -> None:
        self._room = room
        self._clock = clock
        self._settings = settings
        self._connected = connected
        self._post = post
        self.seen: dict[str, int] = {}  # when each member last called
        # Members who have called, and are not on record as present yet, and whether they only watch:
        self.arriving: dict[str, bool] = {}
        self._arrivals_due = 0  # when they are recorded: not earlier, or others would notice what was done meanwhile
        # Players of a sealed room who may have seen their seats, before that is on record; and the game and the seat of
        # those of whom it is, before they are on record as present:
        self.looking: dict[str, None] = {}
        self._looked: dict[str, tuple[str, SeatId | None]] = {}
        # Calls that may still be in the queue, so that none is made twice while the room is busy:
        self._returning: dict[str, Call] = {}
        self._leaving: Call | None = None
        self._settling: Call | None = None
        self._timer: Timer | None = None
        self._timer_at = 0
        self._ticked_at = clock.now()
        self._tick_remainder = 0
        self._ticking: Call | None = None  # the ticks being run
        self._max_ticks = MAX_TICKS  # per batch; fewer for a slow world
        self._not_before = 0
        self._stopped = False

    def _record(self, do: str, args: Any) -> Call:
        call = SystemCall(do, args)
        self._post(call)
        return call

    def stop(self) -> None:
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()

    def back_off(self) -> None:
        """Delay the retry after a failed write."""
        self._not_before = self._clock.now() + RETRY_MS

    # -- presence ------------------------------------------------------------------------------
    def mark_seen(self, who: str, at: int | None = None, *, watching: bool = False) -> None:
        """Note that a member has called. A member with a stand-in or a pause counts as present immediately.
        ``watching``: it has only looked, on a page, so its stand-in plays on."""
        self.seen[who] = self._clock.now() if at is None else at
        member = self._room.state.members.get(who)
        if member is None or (member.here and (watching or not member.is_replaced)):
            return
        archived = self._room.state.archived
        if not archived and not watching and (member.is_replaced or self._room.state.paused_by == who):
            if not _is_queued(self._returning.get(who)):
                self.arriving.pop(who, None)
                self._returning[who] = self._record("presence", {"members": [who], "here": True})
            return
        seen = self._room.state.game, member.seat
        if member.seat is not None and self._looked.get(who) != seen and self._room.is_sealed:
            self.looking[who] = None
        if not archived:
            if not self.arriving:
                self._arrivals_due = self._clock.now() + ARRIVALS_MS
            self.arriving[who] = watching and self.arriving.get(who, True)
            self.reschedule()

    def _record_arrivals(self, came: dict[str, bool]) -> None:
        """Record that members are present: first those who play, then those who only watch."""
        for watching in (False, True):
            if members := [who for who, watches in came.items() if watches is watching]:
                self._record("presence", {"members": members, "here": True} | ({"watching": True} if watching else {}))

    def record_players(self, but: str) -> None:
        """Somebody may be about to get or lose a seat, by a call of the member ``but``. Players who have called, and
        so may have seen what is hidden in their seats, are put on record before that, also in the archive. Nobody is
        told, or others would notice the call."""
        state = self._room.state
        looked = [m for who in self.looking if who != but and (m := state.members.get(who)) is not None and not m.here]
        self.looking = {who: None for who in self.looking if who == but}
        self._looked |= {member.id: (state.game, member.seat) for member in looked}
        if looked:
            self._record("looked", {"members": [member.id for member in looked]})

    def last_seen(self, who: str) -> int | None:
        """The time at which a member last called; None if it has not since this house was opened."""
        return self.seen.get(who)

    def _presence(self, now: int) -> None:
        """Record arrivals, and members who have not called for a while as away."""
        if self._room.state.archived:
            self.arriving.clear()
            return
        members = self._room.state.members
        came: dict[str, bool] = {}
        if now >= self._arrivals_due or (self._is_ticking and now - self._ticked_at >= self._settings.beat_ms):
            came = {who: watches for who, watches in self.arriving.items() if who in members and not members[who].here}
            self.arriving.clear()
            self.looking.clear()
            self._looked.clear()
        connected = self._connected()
        late = now - self._settings.away_ms
        gone = [
            m.id
            for m in members.values()
            if m.here and m.id not in connected and self.seen.setdefault(m.id, now) <= late
        ]
        self._record_arrivals(came)
        if gone and not _is_queued(self._leaving):
            self._leaving = self._record("presence", {"members": gone, "here": False})

    # -- the timer --------------------------------------------------------------------------------
    @property
    def _is_ticking(self) -> bool:
        state = self._room.state
        if self._room.pace != "clock" or state.paused or state.archived or state.over_since is not None:
            return False
        return not state.step_ticks and not (state.turn_based and state.ticks_per_turn)

    def reschedule(self) -> None:
        """Set the timer for the next deadline, tick, arrival or departure."""
        if self._stopped:
            return
        now = self._clock.now()
        when = now + self._settings.away_ms
        deadline = self._room.next_deadline()
        if deadline is not None and not _is_queued(self._settling):
            when = min(when, deadline)
        if self._is_ticking:
            when = min(when, self._ticked_at + self._settings.beat_ms)
        else:
            self._ticked_at = now
        if self.arriving:
            when = min(when, self._arrivals_due if self._arrivals_due > now else now + ARRIVALS_MS)
        when = max(when, self._not_before)
        if self._timer is not None:
            if self._timer_at <= when:
                return  # the current timer fires early enough
            self._timer.cancel()
        self._timer_at = when
        self._timer = self._clock.call_at(when, self._fire)

    def _fire(self) -> None:
        self._timer = None
        now = self._clock.now()
        self._presence(now)
        deadline = self._room.next_deadline()
        if deadline is not None and deadline <= now and not _is_queued(self._settling):
            self._settling = SettleCall()
            self._post(self._settling)
        if self._is_ticking and now - self._ticked_at >= self._settings.beat_ms:
            self._run_ticks(now)
        self.reschedule()

    def _run_ticks(self, now: int) -> None:
        """Run the ticks for the time since the last batch, at the room's speed, if the world keeps up."""
        if self._ticking is not None and not self._ticking.ran:
            self._max_ticks = max(1, self._max_ticks // 2)
            self._ticked_at = now
            return
        # Lost time, such as system sleep, is not caught up.
        speed = self._room.features.speeds[self._room.state.speed]
        passed = min(now - self._ticked_at, 10 * self._settings.beat_ms) * speed
        ticks, self._tick_remainder = divmod(passed + self._tick_remainder, 1000 * self._room.world.spec.tick_ms)
        self._ticked_at = now
        if ticks:
            self._ticking = self._record("ticks", {"n": min(ticks, self._max_ticks)})
            self._max_ticks = min(MAX_TICKS, self._max_ticks + 1)


def _is_queued(call: Call | None) -> bool:
    """True if a call has not been run yet. Calls that never run are those of a room that has stopped."""
    return call is not None and not call.ran
