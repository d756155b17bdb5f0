"""Seats that a game does not wait for: their players have left it, or are away and have missed a turn.

Such a seat gets the move of a player whose time is up, at once. It is played again as soon as a member takes it, or its
player calls. A game that has not begun waits for players, and so does one that everybody has left. In worlds with
bodies, see ``features/bodies/sleep.py``.
"""

from collections.abc import Collection, Iterator

from msgspec import Struct

from cohabit.bodies import DepartMode, EmbodiedWorld
from cohabit.features.round_results import RESULTS
from cohabit.model.seat import PUBLIC, Seat, SeatId
from cohabit.room.base import BaseRoom, Context
from cohabit.room.commands import system_entry
from cohabit.room.feature import Feature
from cohabit.room.play import turns
from cohabit.room.play.turn_order import ends_turns
from cohabit.room.slices import Slice
from cohabit.room.state import Member, RoomState
from cohabit.room.timers import Due, can_skip


class Left(Struct, omit_defaults=True):
    game: str = ""  # the game that ``seats`` are of
    seats: list[SeatId] = []  # players have left them; other members may have taken them since


LEFT = Slice("absent_players", Left)


def _game(state: RoomState) -> str:
    return f"{state.games} {state.game}"


def _is_away(state: RoomState, member: Member) -> bool:
    """Whether a player has missed a turn and has not called since, while others are here. Nobody is where no house
    notes who calls."""
    if not member.timeouts or member.here or member.played_by_bot or member.stand_in or not state.turn_ms:
        return False
    return any(other.here for other in state.members.values())


def _absent(room: BaseRoom) -> set[SeatId]:
    """Empty if there is nobody else to play."""
    state, left = room.state, LEFT.read(room.state)
    players = {m.seat: m for m in state.members.values() if m.seat is not None}
    absent = {seat for seat, member in players.items() if _is_away(state, member)}
    if left.game == _game(state):
        absent.update(seat for seat in left.seats if seat in room.seats and seat not in players)
    return absent if players.keys() - absent else set()


def _plays_on(room: BaseRoom, absent: Collection[SeatId]) -> bool:
    """Whether the game has begun, and only those who are absent are to move."""
    waiting = room.state.waiting_for
    if room.pace == "rounds":
        return bool(RESULTS.read(room.state).chosen) and all(seat in absent for seat in waiting)
    return any(seat in absent for seat in waiting) and room.world.observe(PUBLIC).step > 0


def _is_late(state: RoomState, late: list[Member]) -> bool:
    """Whether only members who are away are to end their turn or step, and others wait for that."""
    waits = bool(state.passed) or any(not _is_away(state, state.members[name]) for name in state.turn_order)
    return waits and bool(late) and all(_is_away(state, member) for member in late)


@system_entry()
def moved_without(ctx: Context, seats: list[str]) -> None:
    """The game continues without those who are absent."""
    room, state = ctx.room, ctx.state
    state.turn_started = ctx.at
    if room.pace == "rounds":
        state.waiting_for = []  # this resolves the round
        turns.resolve(room, ctx.told)
        return
    for name in seats:
        seat = room.seats.get(name, Seat(name))
        outcome = room.crash_on_error(room.world.skip, seat)
        ctx.tell(f"{(seat.name or seat.id).capitalize()} is not there. {outcome.public}".rstrip(), "turn")
        ctx.told.extend(outcome.told)


class AbsentPlayersFeature(Feature):
    name = "absent_players"
    room_slice = LEFT

    def active(self, room: BaseRoom) -> bool:
        if ends_turns(room.state):
            return True
        if isinstance(room.world, EmbodiedWorld):
            return False
        return room.pace == "rounds" or (room.pace == "turns" and can_skip(room.world))

    def departure_mode(self, room: BaseRoom, member: Member, seat: Seat, mode: DepartMode) -> DepartMode:
        kept, game = LEFT.change(room.state), _game(room.state)
        before = [left for left in kept.seats if left != seat.id] if kept.game == game else []
        kept.game, kept.seats = game, [*before, seat.id]
        return mode

    def acted(self, room: BaseRoom, member: Member) -> None:
        if LEFT.is_kept(room.state) or room.state.turn_ms is not None:
            room.timers.changed()  # the next to move may be absent

    def absent(self, room: BaseRoom) -> Collection[SeatId]:
        return _absent(room)

    def due(self, room: BaseRoom) -> Iterator[Due]:
        state = room.state
        if state.archived or state.paused:
            return
        if ends_turns(state):
            if _is_late(state, turns.late(room)):
                yield state.turn_started, "turn_timeout", {}
            return
        absent = _absent(room) if state.waiting_for else ()
        if absent and _plays_on(room, absent):
            seats = [seat for seat in state.waiting_for if seat in absent]
            yield state.turn_started, "moved_without", {"seats": seats}
