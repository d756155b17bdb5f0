"""A person and an agent on one seat: take_over and hand_back.

A member whose seat an agent plays takes it over by connecting, or by its first action if it connects with the page, and
the agent returns when the member has been away for a while. With `hand_back` it returns at once, and the member can
stay and watch; coming again later takes the seat over.
"""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from cohabit.agents.brain import label_of
from cohabit.errors import Busy, GameRejected, PermissionDenied
from cohabit.room.base import BaseRoom, Context
from cohabit.room.commands import command, system_entry
from cohabit.room.feature import Feature
from cohabit.room.seeing.info import brain_shown
from cohabit.room.slices import Slice
from cohabit.room.state import HIDDEN_BRAIN, Member
from cohabit.room.timers import Due

HAND_BACK_MS = 5_000
"""The least time between two calls: each time the agent starts over, and a model is paid for that."""
STAND_IN_STEP_MS = 10_000
"""The least time per move of a stand-in in a world with rounds where nobody waits for it, so that it does not play many
of them before its player is back."""


class HandedOver(Struct, omit_defaults=True):
    at: int = 0  # the last time


STAND_INS = Slice("stand_ins", HandedOver)


class Playing(Struct, omit_defaults=True):
    you_play: bool
    played_by: str | None = None


def _is_played(room: BaseRoom, member: Member) -> bool:
    return member.played_by_bot


def _can_be_played(room: BaseRoom, member: Member) -> bool:
    return member.stand_in is not None and not member.played_by_bot


def _not_by_an_agent(room: object, by: Member, args: dict[str, Any], via: str | None) -> None:
    if via is not None:
        raise PermissionDenied("only the member itself can take over or hand back its seat")


def _has_a_seat(room: object, by: Member, args: dict[str, Any], via: str | None) -> None:
    _not_by_an_agent(room, by, args, via)
    if by.seat is None:
        raise GameRejected("you have no seat that you could play")


@command(category="meta", records=True, offered_if=_is_played, listed_if=_is_played, check_here=_has_a_seat)
def take_over(ctx: Context) -> Playing:
    """Play your seat yourself. The agent that plays it stops at once."""
    me = ctx.member
    if me.played_by_bot:
        me.end_stand_in()
        ctx.tell(f"{me.handle} takes over", "roster")
    return Playing(True)


@command(category="meta", records=True, offered_if=_can_be_played, check_here=_not_by_an_agent)
def hand_back(ctx: Context) -> Playing:
    """Let your agent play your seat until you call `take_over`, or leave and come again. You can stay and watch."""
    me = ctx.member
    if me.stand_in is None:
        raise GameRejected("no agent can play for you: you were added to this room without a stand-in")
    if not me.handed_over:
        if STAND_INS.is_kept(me) and ctx.at - STAND_INS.read(me).at < HAND_BACK_MS:
            raise Busy(f"you handed your seat over less than {HAND_BACK_MS // 1000} s ago; wait a moment")
        me.played_by_bot, me.handed_over, STAND_INS.change(me).at = True, True, ctx.at
        me.stand_in_since = ctx.at if me.stand_in_since is None else me.stand_in_since
        ctx.tell(f"{me.handle} hands the seat to {_shown(ctx, me)}", "roster")
    return Playing(False, brain_shown(ctx.state, me, me))


def _shown(ctx: Context, me: Member) -> str:
    """As every member may know it."""
    return HIDDEN_BRAIN if ctx.state.hide_brains else brain_shown(ctx.state, me, me) or HIDDEN_BRAIN


@system_entry()
def stand_in(ctx: Context, member: str) -> None:
    """The stand-in takes over the seat of a player who has been away too long."""
    who = ctx.state.members[member]
    who.played_by_bot, who.stand_in_since = True, ctx.at
    brain = HIDDEN_BRAIN if ctx.state.hide_brains or not who.stand_in else label_of(who.stand_in)
    ctx.tell(f"{brain} stands in for {who.handle}", "roster")


def _missed_text(player: Member, pace: str) -> str:
    """The moves of a stand-in and the timeouts since a player's own last move; empty if there were none."""
    lines = []
    if n := player.moves_by_bot:
        moves = f"{n} {'turn' if pace == 'rounds' else 'move'}{'' if n == 1 else 's'}"
        lines.append(f"Since your last move, a stand-in played {moves} for you.")
    if n := player.timeouts:
        lines.append(f"Since your last move, your time ran out {'once' if n == 1 else f'{n} times'}.")
    if lines and pace == "clock" and player.moves_by_bot:
        lines[0] += " Its orders stand until you change them."
    return "\n".join(lines)


class StandInsFeature(Feature):
    name = "stand_ins"
    member_slice = STAND_INS

    def due(self, room: BaseRoom) -> Iterator[Due]:
        """Players who are away too long."""
        state = room.state
        for member in () if state.archived else state.members.values():
            if member.away_since is None or not member.stand_in or member.played_by_bot:
                continue
            if member.seat is not None or member.claim is None:  # without its claimed seat there is nothing to play
                yield member.away_since + state.stand_in_ms, "stand_in", {"member": member.id}

    def pauses(self, room: BaseRoom, member: Member) -> int | None:
        """A stand-in leaves an absent player half of the time limit to return, unless it was given the seat or another
        player is there, who would wait for it."""
        if member.stand_in_since is None or member.handed_over or room.pace != "rounds":
            return None
        if any(one.here and one.seat is not None and not one.played_by_bot for one in room.state.members.values()):
            return None
        return min(STAND_IN_STEP_MS, (room.state.turn_ms or 2 * STAND_IN_STEP_MS) // 2)

    def view_lines(self, room: BaseRoom, member: Member) -> str:
        """The text about an agent that plays for the member now, and about the turns that the member missed."""
        playing = "An agent plays your seat now; `take_over` to play it yourself." if member.handed_over else ""
        return "\n".join(filter(None, (playing, _missed_text(member, room.pace))))

    def missed(self, room: BaseRoom, member: Member) -> str:
        return _missed_text(member, room.pace)
