"""Entry: the policy, the lobby, and blocked members.

The house checks the credentials of newcomers (`house.access.gate`) and records the result: ``admitted`` makes a
newcomer a member, ``knocked`` puts it into the lobby, where a host admits or denies it.
"""

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct, structs

from cohabit.errors import Conflict, PermissionDenied, UnknownAsset
from cohabit.model.admission import Admission, AgentKey, EntryPolicy, Knock
from cohabit.model.grant import ROLES, Capability, Layer, capabilities, in_order, role_or_default
from cohabit.model.identity import Kind
from cohabit.model.observation import one_line
from cohabit.model.suggest import nearest
from cohabit.room.access.former_members import identity_of, limited_members, names_of, take_limits
from cohabit.room.access.grants import check_for_newcomer
from cohabit.room.access.members import Joined, new_member
from cohabit.room.base import BaseRoom, Context
from cohabit.room.commands import MAX_BACKEND, command
from cohabit.room.seeing.visibility import ACCOUNT
from cohabit.room.state import Member, RoomState
from cohabit.scenario import free_handle

C = Capability
KnockId = Annotated[str, Meta(description="the id of the knock (see `lobby`)")]


# -- the policy -----------------------------------------------------------------------------------
class EntryShown(Struct):
    """The entry policy, as hosts see it. ``code`` is true if there is one; the code itself is not stored. ``limited``:
    former members whose limits apply again when they come back (see `clear_grant`)."""

    locked: bool
    lobby: bool
    open: bool
    code: bool
    names: list[str]
    agent_keys: list[AgentKey]
    kind: Kind
    blocked: list[str]
    agents_play: bool = False
    limited: list[str] = []


@command(category="host", needs=C.MANAGE_MEMBERS)
def entry(ctx: Context) -> EntryShown:
    """The entry policy of this room: who may join without an invite, and whether newcomers wait. See `set_entry`."""
    return entry_shown(ctx.state, ctx.state.entry_policy, ctx.member)


def entry_shown(state: RoomState, policy: EntryPolicy, reader: Member) -> EntryShown:
    may_know = C.READ_ROSTER in reader.held
    shown = {
        **structs.asdict(policy),
        "code": bool(policy.code),
        "blocked": names_of(state, state.blocked) if may_know else [],
        "limited": names_of(state, limited_members(state)) if may_know else [],
    }
    return msgspec.convert(shown, EntryShown)


# -- the lobby ------------------------------------------------------------------------------------
class KnockLine(Struct, omit_defaults=True):
    knock: str
    name: str
    kind: Kind
    how: str
    since: int
    denied: bool = False


class Lobby(Struct):
    waiting: list[KnockLine]


@command(category="host", needs=C.MANAGE_MEMBERS)
def lobby(ctx: Context) -> Lobby:
    """The people and agents who wait in the lobby. Denied newcomers are listed too: you can still admit them."""
    return Lobby([KnockLine(k.id, k.name, k.kind, k.how, k.since, k.denied) for k in ctx.state.knocks.values()])


def _has_space(room: BaseRoom, by: Member, args: dict[str, Any], via: str | None) -> None:
    if room.members_limit is not None and len(room.state.members) >= room.members_limit:
        raise PermissionDenied("this room is full")


@command(category="host", needs=C.MANAGE_MEMBERS, records=True, check_here=_has_space, audit="joined")
def admit(ctx: Context, knock: KnockId) -> Joined:
    """Admit a newcomer who waits in the lobby."""
    found = _find(ctx, knock)
    if ctx.state.entry_policy.locked:
        raise Conflict("this room is locked; set_entry with locked=false unlocks it")
    new = found.admission
    given = ROLES[role_or_default(new.role, new.kind)] if new.may is None else capabilities(new.may)
    check_for_newcomer(ctx.room, ctx.member, given, found.name)
    member = let_in(ctx, new)
    ctx.tell(f"{ctx.member.handle} admitted {member.handle}", "roster")
    return Joined(member.handle, member.role_name, member.seat)


class Denied(Struct):
    denied: str


@command(category="host", needs=C.MANAGE_MEMBERS, records=True, audit="denied")
def deny(ctx: Context, knock: KnockId) -> Denied:
    """Deny entry to a newcomer who waits in the lobby. You can still admit them later."""
    found = _find(ctx, knock)
    found.denied = True
    ctx.tell(f"{ctx.member.handle} denied {found.name} entry", "roster", members=managers(ctx.state))
    return Denied(found.name)


def _find(ctx: Context, knock: str) -> Knock:
    found = ctx.state.knocks.get(knock)
    if found is None:
        near = nearest(knock[:40], list(ctx.state.knocks), 2)
        raise UnknownAsset(f"nobody waits with the id {knock[:40]!r}; see `lobby`", did_you_mean=near)
    return found


class Unblocked(Struct):
    unblocked: str


@command(category="host", needs=C.MANAGE_MEMBERS, records=True, audit="unblocked")
def unblock(ctx: Context, member: Annotated[str, Meta(description="the handle it had (see `entry`)")]) -> Unblocked:
    """Allow a member who was removed and blocked to join again."""
    blocked = ctx.state.blocked
    identity = identity_of(blocked, member)
    if identity is None:
        near = nearest(member[:80], names_of(ctx.state, blocked) if C.READ_ROSTER in ctx.member.held else [], 3)
        raise UnknownAsset(f"{member[:80]!r} is not blocked; see `entry`", did_you_mean=near)
    del blocked[identity]
    ctx.tell(f"{ctx.member.handle} unblocked {member}", "roster", members=managers(ctx.state))
    return Unblocked(member)


# -- joining --------------------------------------------------------------------------------------
def let_in(ctx: Context, new: Admission) -> Member:
    """Add a member. An identity that is a member already is not added again."""
    known, knock = ctx.room.member_of(new.identity), ctx.state.knock_of(new.identity)
    if known is not None:
        return known
    backend = one_line(new.backend)[:MAX_BACKEND] or None if new.backend else None
    egress = new.egress or backend is not None
    ends = None if new.expires_in_s is None else ctx.at + new.expires_in_s * 1000
    layers: list[Layer] = []
    if new.may is not None:
        given = in_order(capabilities(new.may))
        layers = [Layer("addition", given), Layer("limit", given, ends)]
    elif ends is not None:
        layers = [Layer("limit", expires_at=ends, but=())]
    limits = take_limits(ctx.state, new.identity, ctx.at) if new.role != "host" else []  # a host of the house
    handle = free_handle(new.handle, lambda name: ctx.state.with_handle(name) is not None)
    member = new_member(
        ctx, handle, new.kind, identity=new.identity, name=new.name, role=new.role, claim=new.claim, team=new.team,
        stand_in=new.stand_in, invite=new.invite, layers=[*layers, *limits], given=list(layers), backend=backend,
        egress=egress,
    )  # fmt: skip
    if new.how:
        ctx.tell(f"{member.handle} joined as {member.role_name}, {new.how}", ACCOUNT, members=())  # for the audit
    if limits:
        ctx.tell(f"{member.handle} is limited as before it left; `clear_grant` lifts that", "roster")
    if knock is not None:
        del ctx.state.knocks[knock.id]
    return member


def managers(state: RoomState) -> tuple[str, ...]:
    """The members who may admit newcomers."""
    return tuple(member.id for member in state.members.values() if C.MANAGE_MEMBERS in member.held)
