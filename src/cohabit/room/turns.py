"""Order and time in a room: whose turn it is, what is due when, and what follows an entry.

The room has no clock of its own. ``Clocks.due`` says what should have happened by a given moment; the room
then lets it happen, as an entry of the record.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from cohabit.model.seat import Seat, SeatId
from cohabit.room.context import Context
from cohabit.room.state import RoomState
from cohabit.world import World, overrides

if TYPE_CHECKING:
    from cohabit.room.room import Room

Due = tuple[int, str, dict[str, Any]]


def can_skip(world: World) -> bool:
    """Does the world say what happens to a seat that lets its time run out?"""
    return overrides(world, "skip")


class Clocks:
    """What will happen in a room by itself, and when.

    Who has a clock running (a grant that ends, a stand-in that waits) changes seldom, so those members are
    looked up anew only after ``changed``; most calls compare two numbers.
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
        """The first thing that should have happened by ``at``."""
        first = self._first(state)
        self.idle = self._of_members is None and state.turn_ms is None and state.rematch_ms is None
        return first[1:] if first is not None and first[0] <= at else None

    def next_deadline(self, state: RoomState) -> int | None:
        first = self._first(state)
        return first[0] if first is not None else None


def _when(due: Due) -> int:
    return due[0]


def _of_members(state: RoomState) -> Iterator[Due]:
    if state.pause_until is not None:
        yield state.pause_until, "pause_expired", {}
    for member in state.members.values():
        grant = member.override
        if grant is not None and grant.expires_at is not None and grant.may:
            yield grant.expires_at, "grant_expired", {"member": member.id}
        plays = member.seat is not None or member.claim is None  # a claim that waits for its seat has nothing to play
        if member.away_since is not None and member.stand_in and not member.played_by_bot and plays:
            yield member.away_since + state.stand_in_ms, "stand_in", {"member": member.id}


def next_turn(context: Context) -> str:
    """Hand the turn to the next in the order; who that is."""
    state = context.state
    state.turn_index = (state.turn_index + 1) % len(state.turn_order)
    state.turn_started = context.at
    if state.ticks_per_turn and context.room.world.spec.pace == "clock":
        advance(context, state.ticks_per_turn)
    return state.turn_order[state.turn_index]


def advance(context: Context, ticks: int) -> None:
    """Let a clock world move."""
    context.state.tick += ticks
    context.told.extend(context.room.obliged(context.room.world.advance, ticks))


def go_on(context: Context) -> None:
    """End a pause: the clock of the turn, which stood still meanwhile, runs on from where it was."""
    state = context.state
    if state.paused:
        state.turn_started += context.at - max(state.paused_at, state.turn_started)
    state.paused, state.paused_by, state.pause_until = False, None, None
    clock_changed(context)


def clock_changed(context: Context) -> None:
    """Let a clock world know whether its time runs, and how fast."""
    room = context.room
    if room.world.spec.pace == "clock":
        room.obliged(room.world.clock, context.state.paused, context.state.speed)


def resolve(context: Context) -> None:
    """Let a world of rounds work out the round."""
    context.told.extend(context.room.obliged(context.room.world.resolve))
    context.room.moved()


def after(room: "Room", context: Context) -> None:
    """What follows any entry: a round that is complete resolves, claims bind, the turn clock restarts."""
    world, state = room.world, room.state
    pace = world.spec.pace
    if pace == "rounds" and state.waiting_for and not room.to_move():
        resolve(context)
    if room.has_moving_seats:
        seats = room.obliged(world.seats_now)
        if seats is not None and list(seats) != state.seats:
            bind(room, seats)
    if not room.is_over():
        state.over_since = None
    elif state.over_since is None:
        state.over_since = context.at
    if pace in ("turns", "rounds"):
        waiting = list(room.to_move())
        if waiting != state.waiting_for:
            # Rounds: others handing in is no reason to begin anew; more seats than before are a new round.
            if pace == "turns" or len(waiting) > len(state.waiting_for):
                state.turn_started = context.at
            state.waiting_for = waiting


def bind(room: "Room", seats: Sequence[Seat]) -> None:
    """Take over the seats there are, and give each claim the seat it was waiting for.

    A claim binds once: ``auto:N`` is the N-th seat this world ever opened, so the death of one kingdom
    moves nobody into another.
    """
    state = room.state
    state.seats = list(seats)
    room.seats = {s.id: s for s in seats}
    room.roster_version += 1
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
    """The seat that a claim (``auto:N`` or ``id:X``) means, where it has been opened."""
    how, _, what = claim.partition(":")
    if how == "id":
        return what if what in seats_ever else None
    number = int(what)
    return seats_ever[number] if number < len(seats_ever) else None
