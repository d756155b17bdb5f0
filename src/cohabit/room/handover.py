"""A person and an agent on one seat: take_over and hand_back.

A member whose seat an agent plays takes it over by connecting, and the agent returns when the member has been away for
a while. With `hand_back` it returns at once, and the member can stay and watch; coming
again later takes the seat over.
"""

from typing import Any

from msgspec import Struct

from cohabit.errors import Busy, GameRejected, PermissionDenied
from cohabit.room.commands import command
from cohabit.room.context import Context
from cohabit.room.info import brain_shown
from cohabit.room.state import HIDDEN_BRAIN, Member, RoomState

HAND_BACK_MS = 5_000
"""Least time between two: each time the agent begins to think anew, which a model is paid for."""


class Playing(Struct, omit_defaults=True):
    you_play: bool
    played_by: str | None = None


def _is_played(state: RoomState, member: Member) -> bool:
    return member.played_by_bot


def _can_be_played(state: RoomState, member: Member) -> bool:
    return member.stand_in is not None and not member.played_by_bot


def _not_by_an_agent(room: object, args: dict[str, Any], via: str | None) -> None:
    if via is not None:
        raise PermissionDenied("only the member itself can take over or hand back its seat")


@command(category="meta", records=True, offered_if=_is_played, admits=_not_by_an_agent)
def take_over(ctx: Context) -> Playing:
    """Play your seat yourself. The agent that plays it stops at once."""
    me = ctx.member
    if me.played_by_bot:
        me.end_stand_in()
        ctx.tell(f"{me.handle} takes over", "roster")
    return Playing(True)


@command(category="meta", records=True, offered_if=_can_be_played, admits=_not_by_an_agent)
def hand_back(ctx: Context) -> Playing:
    """Let your agent play your seat until you call take_over, or leave and come again. You can stay and watch."""
    me = ctx.member
    if me.stand_in is None:
        raise GameRejected("no agent can play for you: you were added to this room without a stand-in")
    if not me.handed_over:
        if me.handed_over_at is not None and ctx.at - me.handed_over_at < HAND_BACK_MS:
            raise Busy(f"you handed your seat over less than {HAND_BACK_MS // 1000} s ago; wait a moment")
        me.played_by_bot, me.handed_over, me.handed_over_at = True, True, ctx.at
        me.stand_in_since = ctx.at if me.stand_in_since is None else me.stand_in_since
        ctx.tell(f"{me.handle} hands the seat to {_shown(ctx, me)}", "roster")
    return Playing(False, brain_shown(ctx.state, me, me))


def _shown(ctx: Context, me: Member) -> str:
    """As every member may know it."""
    return HIDDEN_BRAIN if ctx.state.hide_brains else brain_shown(ctx.state, me, me) or HIDDEN_BRAIN
