"""The members whose turn it is: in the order of the world, in the order of the room, or in the steps of a clock."""

from collections.abc import Container, Sequence

from cohabit.model.grant import Capability
from cohabit.model.seat import SeatId
from cohabit.room.state import Member, RoomState, handle_of


def ends_turns(state: RoomState) -> bool:
    """True if members end their turns with turn_advance."""
    return state.turn_based or state.step_ticks > 0


def awaited(state: RoomState, to_move: Container[SeatId | None], over: bool) -> list[Member]:
    """The members that a step waits for: the players, or without players everybody who acts in the whole world."""
    members = state.members.values()
    return [m for m in members if m.seat in to_move] or [
        m for m in members if Capability.ACT_GLOBAL in m.held and not over
    ]


def movers(state: RoomState, to_move: Sequence[SeatId], over: bool) -> list[str]:
    """The handles of the members (or the names of empty seats) whose turn it is; empty when the game is over."""
    if over:
        return []
    if state.turn_based and (holder := state.turn_holder) is not None:
        return [handle_of(holder)]
    if state.step_ticks:
        return [m.handle for m in awaited(state, to_move, over) if m.id not in state.passed]
    names = {s.id: s.name or s.id for s in state.seats} | state.players
    return [names.get(seat, seat) for seat in to_move]
