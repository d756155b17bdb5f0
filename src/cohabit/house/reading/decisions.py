"""The command `decisions`: why players acted, for those who may read it."""

from functools import partial
from typing import Annotated

from msgspec import Meta, Struct, structs

from cohabit.errors import Unauthorized
from cohabit.house.agents.decision_rights import hides
from cohabit.house.agents.decisions import DecisionLog, Kept, RoomLog, in_full, reader_for
from cohabit.house.calls.context import HouseContext
from cohabit.house.streams.cursors import seal, secret_for, unseal
from cohabit.house.threads import run_in_thread
from cohabit.model.film import FilmDecision
from cohabit.room.commands import command
from cohabit.room.seeing.looking import CAN_VIEW


class DecisionLine(FilmDecision, omit_defaults=True):
    id: str = ""


class Decisions(Struct):
    """``items``: oldest first. ``hands_over``: the number of hands that are over and have decisions which the caller
    may read. It falls when the oldest decisions are dropped."""

    items: list[DecisionLine]
    cursor: str
    more: bool
    hands_over: int


@command(category="read", where="house", needs=CAN_VIEW, for_model=False, sends="events")
async def decisions(
    ctx: HouseContext,
    member: Annotated[str | None, Meta(description="only those of this member")] = None,
    after: Annotated[str, Meta(description="the cursor of the last reply; empty: the newest")] = "",
    max: Annotated[int, Meta(ge=1, le=200)] = 50,  # noqa: A002 - the wire's name
    full: Annotated[bool, Meta(description="also what each agent saw, was asked and answered")] = False,
    id: Annotated[str, Meta(description="only the decision with this id")] = "",  # noqa: A002 - the wire's name
) -> Decisions:
    """List the decisions of players: the action, its reason, time, tokens and cost, as far as you may read them.

    Players read their own decisions at once; members who see everything read all decisions at once. In a world that
    hides nothing, so do members who only watch. Everybody else reads them after the game, or after the hand in a world
    with hands. When `hands_over` has changed, call again without a cursor: more of the earlier ones may be readable.
    """
    room = ctx.room
    wanted = room.state.require_member(member, ctx.member).id if member is not None else None
    saves = await run_in_thread("the saves", partial(ctx.house.store.saves, room.id)) if hides(room) else ()
    kept, over, end = await ctx.house.need(DecisionLog).read(room.id, _newest)
    me = room.state.members.get(ctx.member.id)
    if me is None:
        raise Unauthorized("you are no longer a member of this room")
    reader = reader_for(ctx, me, over, has_saves=bool(saves))
    secret = secret_for(room.state.secret, "decisions")
    known, only = unseal(secret, after, end), unseal(secret, id, end)
    mine = [
        one
        for one in kept
        if one.number > known
        and only in (-1, one.number)
        and wanted in (None, one.short.member)
        and reader.may_read(one.short)
    ]
    chosen = mine[:max] if after else mine[-max:]
    last = chosen[-1].number if chosen else known
    has_numbers = reader.sees_all or not hides(room)  # those of entries say how many others there are
    found = [(one, reader.shown(in_full(one) if full else one.short)) for one in chosen]
    shown = [_line(made, has_numbers, seal(secret, one.number)) for one, made in found]
    # The number of all would tell that somebody gave reasons, and so which brains are scripts where that is hidden.
    hands_over = {one.short.hand for one in kept if reader.may_read(one.short)}.intersection(reader.over)
    return Decisions(shown, seal(secret, last) if last >= 0 else "", len(chosen) < len(mine), len(hands_over))


def _line(made: FilmDecision, has_numbers: bool, name: str) -> DecisionLine:
    fields = structs.asdict(made)
    return DecisionLine(**{**fields, "seq": fields["seq"] if has_numbers else 0}, id=name)


def _newest(log: RoomLog) -> tuple[list[Kept], list[str], int]:
    return log.kept(), list(log.over), log.next
