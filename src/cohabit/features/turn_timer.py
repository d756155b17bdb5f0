"""The command with which a host changes the time limit of a turn, a round or a step while the room runs."""

from typing import Annotated

from msgspec import Meta, Struct

from cohabit.errors import GameRejected
from cohabit.model.grant import Capability
from cohabit.room.base import BaseRoom, Context
from cohabit.room.commands import command
from cohabit.room.feature import Feature
from cohabit.room.state import Member
from cohabit.room.timers import why_untimed
from cohabit.scenario import MAX_DURATION


class TurnTimer(Struct):
    seconds: int | None


def _has_turns(room: BaseRoom, member: Member) -> bool:
    return not why_untimed(room.world, room.state.turn_based, room.state.step_ticks)


@command(category="control", needs=Capability.CONTROL_WORLD, records=True, any_turn=True, offered_if=_has_turns)
def set_turn_timer(
    ctx: Context,
    seconds: Annotated[
        Annotated[int, Meta(ge=1, le=MAX_DURATION)] | None, Meta(description="of a turn; default: no limit")
    ] = None,
) -> TurnTimer:
    """Set the time limit of turns, rounds or steps. It applies at once, and the running turn starts again."""
    state = ctx.state
    if why := why_untimed(ctx.room.world, state.turn_based, state.step_ticks):
        raise GameRejected(why)
    if seconds is None and state.step_ticks:
        raise GameRejected("a step always has a time limit, so that nobody can stop time")
    state.turn_ms = seconds * 1000 if seconds is not None else None
    state.turn_started = ctx.at
    limit = f"{seconds} s" if seconds is not None else "none"
    ctx.tell(f"{ctx.member.handle} sets the time limit of a turn: {limit}", "turn")
    return TurnTimer(seconds)


class TurnTimerFeature(Feature):
    name = "turn_timer"

    def active(self, room: BaseRoom) -> bool:
        return False  # a command is all that it has
