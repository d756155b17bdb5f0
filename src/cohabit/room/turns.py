"""Order and time in a room: whose turn it is, what is due when, and what follows an entry.

The room has no clock of its own. ``Clocks.due`` says what should have happened by a given moment; the room
then lets it happen, as an entry of the record.
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
    """Does the world say what happens to a seat that runs out of time?"""
    return overrides(world, "skip")


class Clocks:
    """What is due in a room without anybody's call, and when.

    Which members have a timer (a grant that expires, a stand-in that waits) changes seldom, so they are looked up
    only after ``changed``; most calls compare two numbers.
    """

    def __init__(self) -> None:
        self.idle = False  # nothing will happen by itself, as in most rooms
        self._stale = True
        self._of_members: Due | None = None

    def changed(self) -> None:
        """Something other than the world and the bus changed."""
        self.idle = False
        self._stale = True

    def _first(self, state: RoomState) -> Due | None:
        if self._stale:
            self._of_members = min(_of_members(state), key=_when, default=None)
            self._stale = False
        first = self._of_members
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
        self.idle = self._of_members is None and state.turn_ms is None and state.rematch_ms is None
        return first[1:] if first is not None and first[0] <= at else None

    def next_deadline(self, state: RoomState) -> int | None:
        first = self._first(state)
        return first[0] if first is not None else None


def _when(due: Due) -> int:
    return due[0]


def _of_members(state: RoomState) -> Iterator[Due]:
    if state.pause_until is not None and not state.archived:
        yield state.pause_until, "pause_expired", {}
    for member in state.members.values():
        for layer in member.layers:
            if layer.expires_at is not None:
                yield layer.expires_at, "grant_expired", {"member": member.id}
        plays = member.seat is not None or member.claim is None  # a claim without its seat has nothing to play
        if (
            not state.archived
            and member.away_since is not None
            and member.stand_in
            and not member.played_by_bot
            and plays
        ):
            yield member.away_since + state.stand_in_ms, "stand_in", {"member": member.id}


def next_turn(room: "Room", at: int, told: list[Told]) -> str:
    """Give the turn to the next member in the order; its handle."""
    state = room.state
    state.turn_index = (state.turn_index + 1) % len(state.turn_order)
    state.turn_started = at
    if state.ticks_per_turn and room.pace == "clock":
        advance(room, state.ticks_per_turn, told)
    return handle_of(state.turn_order[state.turn_index])


def advance(room: "Room", ticks: int, told: list[Told]) -> None:
    """Let time pass in a world with a clock."""
    room.state.tick += ticks
    told.extend(room.obliged(room.world.advance, ticks))


def resume(room: "Room", at: int) -> None:
    """End a pause: the time of the turn, which was stopped, continues from where it was."""
    state = room.state
    if state.paused:
        state.turn_started += at - max(state.paused_at, state.turn_started)
    state.paused, state.paused_by, state.pause_until = False, None, None
    clock_changed(room)


def clock_changed(room: "Room") -> None:
    """Tell a world with a clock whether it is paused, and how fast it runs."""
    if room.pace == "clock":
        room.obliged(room.world.clock, room.state.paused, room.state.speed)


def resolve(room: "Room", told: list[Told]) -> None:
    """Let a world of rounds resolve the round."""
    told.extend(room.obliged(room.world.resolve))
    room.roster_changed()


def follow_seats(room: "Room") -> None:
    """Take over the seats of a world in which they open and close."""
    seats = room.obliged(room.world.seats_now)
    if seats is not None and list(seats) != room.state.seats:
        bind(room, seats)


def bind(room: "Room", seats: Sequence[Seat]) -> None:
    """Take over the seats there are, and give each claim the seat it was waiting for.

    A claim binds once: ``auto:N`` is the N-th seat this world ever opened, so the end of one seat
    moves nobody into another.
    """
    state = room.state
    room.set_seats(seats)
    ids = [s.id for s in seats]
    known = set(state.seats_ever)
    state.seats_ever.extend(i for i in ids if i not in known)
    taken = {m.seat for m in state.members.values() if m.seat is not None}
    for member in state.members.values():
        if member.claim is not None and member.seat is None:
            seat = claimed(state.seats_ever, member.claim)
            if seat is not None and seat in ids and seat not in taken:
                member.seat = seat
                taken.add(seat)


def claimed(seats_ever: Sequence[SeatId], claim: str) -> SeatId | None:
    """The seat that a claim (``auto:N`` or ``id:X``) means, once it has been opened."""
    how, _, what = claim.partition(":")
    if how == "id":
        return what if what in seats_ever else None
    number = int(what)
    return seats_ever[number] if number < len(seats_ever) else None


def leave_seat(room: "Room", member: Member, mode: Literal["left", "removed"]) -> None:
    """A member gives up its seat; other claims may then bind to it."""
    seat = room.seat_of(member)
    if seat is not None and overrides(room.world, "depart"):
        room.obliged(room.world.depart, seat, mode)
    member.seat = None
    bind(room, (room.obliged(room.world.seats_now) if room.has_moving_seats else None) or room.state.seats)
