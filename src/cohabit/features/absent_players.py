"""Seats that a game does not wait for: their players have left it or may no longer act, or they are away and have
missed a turn.

Such a seat gets the move of a player whose time is up, at once. It is played again as soon as a member takes it, or its
player calls. A game that has not begun waits for players, and so does one that everybody has left. In worlds with
bodies, see ``features/bodies/sleep.py``.
"""

from collections.abc import Collection, Sequence

from cohabit.features.departures import LEFT, can_play_on, game_now
from cohabit.features.round_results import RESULTS
from cohabit.model.grant import Capability
from cohabit.model.seat import PUBLIC, Seat, SeatId
from cohabit.room.base import BaseRoom, Context
from cohabit.room.commands import system_entry
from cohabit.room.feature import Feature
from cohabit.room.play import turns
from cohabit.room.play.turn_order import ends_turns
from cohabit.room.state import Member, RoomState
from cohabit.room.timers import Due


def _is_away(state: RoomState, member: Member) -> bool:
    """True if a player may no longer act, or has missed a turn and has not called since, while others are here. Nobody
    is where no house notes who calls."""
    if member.played_by_bot or member.stand_in or not state.turn_ms:
        return False
    may_act = not member.held.isdisjoint((Capability.ACT, Capability.ACT_GLOBAL))
    if may_act and (member.here or not member.timeouts):
        return False
    return any(other.here for other in state.members.values() if other is not member)


def _absent(room: BaseRoom) -> set[SeatId]:
    """Empty if there is nobody else to play."""
    state, left = room.state, LEFT.read(room.state)
    players = {m.seat: m for m in state.members.values() if m.seat is not None}
    absent = {seat for seat, member in players.items() if _is_away(state, member)}
    if left.game == game_now(state):
        absent.update(seat for seat in left.seats if seat in room.seats and seat not in players)
    return absent if players.keys() - absent else set()


def _plays_on(room: BaseRoom, absent: Collection[SeatId]) -> bool:
    """True if the game has begun, and only those who are absent are to move."""
    waiting = room.state.waiting_for
    if room.pace == "rounds":
        return bool(RESULTS.read(room.state).chosen) and all(seat in absent for seat in waiting)
    return any(seat in absent for seat in waiting) and room.world.observe(PUBLIC).step > 0


def _is_late(state: RoomState, late: list[Member]) -> bool:
    """True if only members who are away are to end their turn or step, and others wait for that."""
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
        """Once a player has left, or if there is a time limit that one can miss."""
        return (room.state.turn_ms is not None or LEFT.is_kept(room.state)) and can_play_on(room)

    def acted(self, room: BaseRoom, member: Member) -> None:
        room.timers.changed()  # the next to move may be absent

    def absent(self, room: BaseRoom) -> Collection[SeatId]:
        return _absent(room)

    def due(self, room: BaseRoom) -> Sequence[Due]:
        state = room.state
        if state.archived or state.paused:
            return ()
        if ends_turns(state):
            return [(state.turn_started, "turn_timeout", {})] if _is_late(state, turns.late(room)) else ()
        absent = _absent(room) if state.waiting_for else ()
        if not absent or not _plays_on(room, absent):
            return ()
        seats = [seat for seat in state.waiting_for if seat in absent]
        return [(state.turn_started, "moved_without", {"seats": seats})]
