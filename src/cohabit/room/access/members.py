"""Members: adding and removing them, add_member, remove_member and leave."""

from collections.abc import Iterable
from typing import Annotated, Any

from msgspec import Meta, Struct

from cohabit.errors import BadArgs, Conflict
from cohabit.model.grant import ROLES, Capability, role_named, role_or_default
from cohabit.model.identity import Kind
from cohabit.model.suggest import nearest
from cohabit.room.access.former_members import keep_limits
from cohabit.room.access.grants import check_for_newcomer
from cohabit.room.base import BaseRoom, Context
from cohabit.room.commands import Backend, Handle, command
from cohabit.room.play import seats
from cohabit.room.play.claims import check_new_claim
from cohabit.room.state import Member, RoomState
from cohabit.scenario import check_claim, check_handle

C = Capability
FORMER_KEPT = 1_000
"""The number of identities that a room remembers after they left by themselves."""
BLOCKED_KEPT = 1_000


class Joined(Struct):
    member: str
    role: str
    seat: str | None


def check_invitation(
    ctx: Context,
    handle: str,
    kind: Kind,
    role: str | None,
    claim: str | None,
    team: str | None,
    may: Iterable[Capability] | None = None,
) -> str | None:
    """Check that the caller may add such a member. Returns the resolved role. ``may``: a grant instead of a role."""
    check_handle(handle)
    check_admission(ctx, claim, team)
    named = role_named(role) if role is not None else None
    check_for_newcomer(ctx.room, ctx.member, ROLES[role_or_default(named, kind)] if may is None else may, handle)
    return named


def _may_add(room: BaseRoom, by: Member, args: dict[str, Any], via: str | None) -> None:
    if args.get("claim") is not None:
        check_new_claim(room, args["claim"])
    if args.get("stand_in") is not None:
        args["stand_in"] = room.check_brain(args["stand_in"])


@command(category="host", needs=C.MANAGE_MEMBERS, records=True, check_here=_may_add, audit="joined")
def add_member(
    ctx: Context,
    id: Annotated[str, Meta(description="a handle that no member here has")],  # noqa: A002 - the wire's name
    kind: Kind = "agent",
    role: Annotated[str | None, Meta(description="default: agents watch only, people get full access")] = None,
    claim: Annotated[str | None, Meta(description="auto:N or id:X")] = None,
    team: str | None = None,
    stand_in: Annotated[str | None, Meta(description="the brain that plays while this player is away")] = None,
    backend: Annotated[Backend | None, Meta(description="the model it uses")] = None,
) -> Joined:
    """Add a member without a credential, such as a built-in player. For who comes by a link, call `invite` instead."""
    named = check_invitation(ctx, id, kind, role, claim, team)
    added = new_member(
        ctx, id, kind, role=named, claim=claim, team=team, stand_in=stand_in, backend=backend, egress=bool(backend)
    )
    return Joined(added.handle, added.role_name, added.seat)


class Removed(Struct):
    removed: str


@command(category="host", needs=C.MANAGE_MEMBERS, records=True, audit="removed")
def remove_member(
    ctx: Context,
    member: Handle,
    block: Annotated[bool, Meta(description="it cannot join again by itself; `unblock` ends that")] = False,
) -> Removed:
    """Remove a member from the room. Its seat is freed and its tokens for this room are revoked."""
    who = ctx.state.require_member(member, ctx.member)
    if who.id == ctx.member.id:
        raise Conflict("you cannot remove yourself; use `leave`, or ask another host")
    drop_member(ctx, who)
    forget_former(ctx.state, who)
    if block and who.identity:
        block_identity(ctx.state, who)
    ctx.tell(f"{ctx.member.handle} removed {'and blocked ' if block else ''}{who.handle}", "roster")
    return Removed(who.handle)


class Left(Struct):
    left: str


@command(category="meta", records=True, audit="removed", when_used_up=True, when_archived=True)
def leave(ctx: Context) -> Left:
    """Leave this room. Your seat is freed, and your token for this room is revoked.

    With a token for the whole house, or with an agent key, you can join again without waiting in the lobby.
    """
    who = ctx.member
    drop_member(ctx, who)
    if who.identity:
        former = [identity for identity in ctx.state.former if identity != who.identity]
        ctx.state.former = [*former, who.identity][-FORMER_KEPT:]
    ctx.tell(f"{who.handle} left", "roster")
    return Left(who.handle)


def forget_former(state: RoomState, who: Member) -> None:
    """A member that was removed has to pass the gate like anybody else."""
    state.former = [identity for identity in state.former if identity != who.identity]


def block_identity(state: RoomState, who: Member) -> None:
    """Refuse to let this identity in again. The oldest blocks are forgotten."""
    state.blocked.pop(who.identity, None)
    state.blocked[who.identity] = who.id
    while len(state.blocked) > BLOCKED_KEPT:
        del state.blocked[next(iter(state.blocked))]


def check_admission(ctx: Context, claim: str | None, team: str | None) -> None:
    """Check that a member with this claim and team can be added."""
    if claim is not None:
        check_claim(claim)
        if any(m.claim == claim for m in ctx.state.members.values()):
            raise Conflict(f"another member already claims {claim}")
    if team is not None and team not in ctx.state.teams:
        known = list(ctx.state.teams)
        raise BadArgs(f"unknown team {team[:80]!r}", did_you_mean=nearest(team, known, 3) or known[:3])


def new_member(ctx: Context, handle: str, kind: Kind, **details: Any) -> Member:
    """Add a member. The caller's right to do so has been checked."""
    state = ctx.state
    if state.with_handle(handle) is not None:
        raise Conflict(f"a member named {handle!r} already exists")
    check_admission(ctx, details.get("claim"), details.get("team"))
    member = Member(state.new_member_id(handle), kind, away_since=ctx.at, **details)
    state.members[member.id] = member
    if member.team is not None:
        state.teams[member.team].append(member.id)
    seats.adopt_seats(ctx.room, state.seats)
    ctx.tell(f"{member.handle} joined as {member.role_name}", "roster")
    return member


def drop_member(ctx: Context, member: Member) -> None:
    """Remove a member, with its seat and its place in teams and in the turn order. Features notice that
    it is gone (``Feature.follow``)."""
    state = ctx.state
    if ctx.room.pace == "turns" and member.seat in state.waiting_for:
        state.turn_started = ctx.at  # the next player of this seat has its whole time
    member.claim = None
    seats.leave_seat(ctx.room, member, "removed")
    keep_limits(state, member)
    del state.members[member.id]
    state.replies.pop(member.id, None)
    for team in state.teams.values():
        if member.id in team:
            team.remove(member.id)
    if member.id in state.turn_order:
        _leave_turn_order(ctx, member.id)


def _leave_turn_order(ctx: Context, who: str) -> None:
    """Remove a member from the turn order. The next member stays the next."""
    state = ctx.state
    current = state.turn_order[state.turn_index]
    before = sum(1 for name in state.turn_order[: state.turn_index] if name == who)
    state.turn_order = [name for name in state.turn_order if name != who]
    state.turn_index = (state.turn_index - before) % len(state.turn_order) if state.turn_order else 0
    if current == who:
        state.turn_started = ctx.at
