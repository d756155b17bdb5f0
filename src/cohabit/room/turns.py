"""Turn order, timers and seat assignment.

The room has no clock of its own. ``Clocks.due`` returns what is due by a given time; the room then applies it as a
record entry.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

from cohabit.model.record import Told
from cohabit.model.seat import Seat, SeatId
from cohabit.room.state import Member, RoomState, handle_of
from cohabit.world import World, overrides

if TYPE_CHECKING:
    from cohabit.room.room import Room

Due = tuple[int, str, dict[str, Any]]


def can_skip(world: World) -> bool:
    """Whether the world supports turn timeouts."""
    return overrides(world, "skip")


class Clocks:
    """The timers of a room.

    Member timers (an expiring grant, a waiting stand-in) rarely change, so they are recomputed only after ``changed``.
    """

    def __init__(self) -> None:
        self.idle = False  # no timer is set
        self._stale = True
        self._member_timers: Due | None = None

    def changed(self) -> None:
        """Recompute the member timers: something other than the world and the bus changed."""
        self.idle = False
        self._stale = True

    def _first(self, state: RoomState) -> Due | None:
        if self._stale:
            self._member_timers = min(_member_timers(state), key=_when, default=None)
            self._stale = False
        first = self._member_timers
        if state.turn_ms is not None and not state.archived and not state.paused:
            running = bool(state.turn_order) if state.turn_based else bool(state.waiting_for)
            ends = state.turn_started + state.turn_ms
            if running and (first is None or ends < first[0]):
                first = ends, "turn_timeout", {}
        if state.rematch_ms is not None and state.over_since is not None and not state.archived:
            again = state.over_since + state.rematch_ms
            if first is None or again < first[0]:
                first = again, "rematch_due", {}
        return first

    def due(self, state: RoomState, at: int) -> tuple[str, dict[str, Any]] | None:
        """The first thing that is due by ``at``."""
        first = self._first(state)
        self.idle = self._member_timers is None and state.turn_ms is None and state.rematch_ms is None
        return first[1:] if first is not None and first[0] <= at else None

    def next_deadline(self, state: RoomState) -> int | None:
        first = self._first(state)
        return first[0] if first is not None else None


def _when(due: Due) -> int:
    return due[0]


def _member_timers(state: RoomState) -> Iterator[Due]:
    if state.pause_until is not None and not state.archived:
        yield state.pause_until, "pause_expired", {}
    for member in state.members.values():
        for layer in member.layers:
            if layer.expires_at is not None:
                yield layer.expires_at, "grant_expired", {"member": member.id}
        # If the claimed seat does not exist, there is nothing to play.
        plays = member.seat is not None or member.claim is None
        if (
            not state.archived
            and member.away_since is not None
            and member.stand_in
            and not member.played_by_bot
            and plays
        ):
            yield member.away_since + state.stand_in_ms, "stand_in", {"member": member.id}


def next_turn(room: "Room", at: int, told: list[Told]) -> str:
    """Give the turn to the next member in the order. Returns its handle."""
    state = room.state
    state.turn_index = (state.turn_index + 1) % len(state.turn_order)
    state.turn_started = at
    if state.ticks_per_turn and room.pace == "clock":
        advance(room, state.ticks_per_turn, told)
    return handle_of(state.turn_order[state.turn_index])


def advance(room: "Room", ticks: int, told: list[Told]) -> None:
    """Advance the time of a real-time world."""
    room.state.tick += ticks
    told.extend(room.obliged(room.world.advance, ticks))


def resume(room: "Room", at: int) -> None:
    """End a pause. The turn timer resumes with its remaining time."""
    state = room.state
    if state.paused:
        state.turn_started += at - max(state.paused_at, state.turn_started)
    state.paused, state.paused_by, state.pause_until = False, None, None
    clock_changed(room)


def clock_changed(room: "Room") -> None:
    """Tell a real-time world whether it is paused and how fast it runs."""
    if room.pace == "clock":
        room.obliged(room.world.clock, room.state.paused, room.state.speed)


def resolve(room: "Room", told: list[Told]) -> None:
    """Resolve a round."""
    told.extend(room.obliged(room.world.resolve))
    room.roster_changed()


def follow_seats(room: "Room") -> None:
    """Adopt the world's current seats if they changed."""
    seats = room.obliged(room.world.seats_now)
    if seats is not None and list(seats) != room.state.seats:
        bind(room, seats)


def bind(room: "Room", seats: Sequence[Seat]) -> None:
    """Adopt these seats and assign claimed ones.

    A claim binds once: ``auto:N`` is the N-th seat this world ever opened, so closing a seat never moves a member to
    another one.
    """
    state, members = room.state, room.state.members.values()
    room.set_seats(seats)
    known = set(state.seats_ever)
    state.seats_ever.extend([s.id for s in seats if s.id not in known])
    taken = {m.seat for m in members}
    for member in members:
        if member.claim is not None and member.seat is None:
            seat = claimed(state.seats_ever, member.claim)
            if seat in room.seats and seat not in taken:
                member.seat = seat
                taken.add(seat)


def claimed(seats_ever: Sequence[SeatId], claim: str) -> SeatId | None:
    """The seat for a claim (``auto:N`` or ``id:X``); None if it has not been opened yet."""
    how, _, what = claim.partition(":")
    if how == "id":
        return what if what in seats_ever else None
    number = int(what)
    return seats_ever[number] if number < len(seats_ever) else None


def leave_seat(room: "Room", member: Member, mode: Literal["left", "removed"]) -> None:
    """Free a member's seat. Other claims may then bind to it."""
    seat = room.seat_of(member)
    if seat is not None and overrides(room.world, "depart"):
        room.obliged(room.world.depart, seat, mode)
    member.seat = None
    bind(room, (room.obliged(room.world.seats_now) if room.has_moving_seats else None) or room.state.seats)
