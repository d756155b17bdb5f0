"""Turns: whose turn it is, turn_advance, and the rounds of a world."""

from typing import TYPE_CHECKING

from msgspec import Struct

from cohabit.errors import BadArgs, TurnNotYours
from cohabit.model.grant import Capability
from cohabit.model.record import Told
from cohabit.room.commands import command
from cohabit.room.context import Context
from cohabit.room.game_time import advance
from cohabit.room.state import Member, RoomState, handle_of

if TYPE_CHECKING:
    from cohabit.room.room import Room

C = Capability


def is_turn_of(room: "Room", member: Member) -> bool:
    """Whether this member holds the turn, or the world waits for its seat."""
    holder = room.state.turn_holder
    if holder is not None:
        return holder == member.id
    return member.seat is not None and member.seat in room.to_move()


class TurnAdvanced(Struct):
    previous: str
    next: str
    forced_by_god: bool


def _takes_turns(state: RoomState, member: Member) -> bool:
    return state.turn_based and (member.id in state.turn_order or C.ACT_GLOBAL in member.held)


@command(category="meta", records=True, offered_if=_takes_turns, hint="ends your turn.", listed=True)
def turn_advance(ctx: Context) -> TurnAdvanced:
    """End your turn in a turn-based room. The next member's turn begins."""
    state, me = ctx.state, ctx.member
    current = state.turn_holder
    if current is None:
        raise BadArgs("this room is not turn-based; act whenever the world allows it")
    previous, forced = handle_of(current), current != me.id
    if forced and C.ACT_GLOBAL not in me.held:
        raise TurnNotYours(f"it is {previous}'s turn; only {previous} or a member with act_global can end it")
    following = next_turn(ctx.room, ctx.at, ctx.told)
    by = f" (ended by {me.handle})" if forced else ""
    ctx.tell(f"{previous}'s turn is over{by}; it is {following}'s turn", "turn")
    return TurnAdvanced(previous, following, forced)


def next_turn(room: "Room", at: int, told: list[Told]) -> str:
    """Give the turn to the next member in the order. Returns its handle."""
    state = room.state
    state.turn_index = (state.turn_index + 1) % len(state.turn_order)
    state.turn_started = at
    if state.ticks_per_turn and room.pace == "clock":
        advance(room, state.ticks_per_turn, told)
    return handle_of(state.turn_order[state.turn_index])


def resolve(room: "Room", told: list[Told]) -> None:
    """Resolve a round."""
    told.extend(room.crash_on_error(room.world.resolve))
    room.roster_changed()
