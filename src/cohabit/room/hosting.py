"""Commands for the hosts of a room: members, grants, the audit.

Nobody can give what they do not hold. A host may also give what is bound to a seat (``read_own`` and ``act``): that
says who plays, and shows the host nothing.
"""

from collections.abc import Iterable
from typing import Annotated, Any

from msgspec import Meta, Struct, structs

from cohabit.errors import CohabitError, Conflict, GameRejected, PermissionDenied, UnknownAsset
from cohabit.model.grant import (
    EVERYTHING,
    FOREVER,
    ROLES,
    SEAT_BOUND,
    Capability,
    Layer,
    capabilities,
    held_at,
    in_order,
    role_named,
)
from cohabit.model.identity import Kind
from cohabit.model.suggest import nearest
from cohabit.room import membership
from cohabit.room.audit import Refusal
from cohabit.room.commands import Resource, command
from cohabit.room.common import grant_wire
from cohabit.room.context import Context
from cohabit.room.state import KIND_ROLE, Member
from cohabit.room.views import ACCOUNT
from cohabit.scenario import check_handle

C = Capability
Handle = Annotated[str, Meta(description="the member's handle")]
Names = Annotated[list[str], Meta(description="capabilities, by our names or by those of a protocol")]
ExpiresIn = Annotated[Annotated[int, Meta(ge=1, le=10**9)] | None, Meta(description="expires after this many seconds")]


class Granted(Struct):
    member: str
    grant: dict[str, Any]


def check_grantable(giver: Member, given: Iterable[Capability], to: str) -> None:
    """Refuse to give, without an end, what the giver does not hold, or holds only for a time."""
    permanently = held_at(giver.role_grant, giver.layers, FOREVER) & giver.held
    _refuse_beyond(frozenset(given) - permanently - SEAT_BOUND, to)


def _refuse_beyond(beyond: frozenset[Capability], to: str) -> None:
    if beyond:
        names = in_order(beyond)
        raise PermissionDenied(
            f"you cannot give {to} what you do not hold, or not for as long: {', '.join(names)}", needs=list(names)
        )


def other(ctx: Context, handle: str) -> Member:
    """The member with this handle."""
    member = ctx.state.with_handle(handle)
    if member is None:
        known = [m.handle for m in ctx.state.members.values()]
        raise UnknownAsset(f"no member is called {handle[:80]!r}", did_you_mean=nearest(handle[:80], known, 3))
    return member


def _change(ctx: Context, member: Member, layers: list[Layer], words: str, *, keep_through: bool = False) -> Granted:
    """Give a member these layers in place of its own, if that gives nothing the caller does not hold."""
    old_layers = member.layers
    member.set_layers(layers)
    try:
        _check_change(ctx, member, old_layers)
    except CohabitError:
        member.set_layers(old_layers)
        raise
    if not keep_through:
        member.through = member.through_player = None
    ctx.tell(f"{ctx.member.handle} {words} for {member.handle}", "roster")
    return Granted(member.handle, grant_wire(member))


def _check_change(ctx: Context, member: Member, old_layers: list[Layer]) -> None:
    """A change must not give what the giver does not hold, nor for longer than the giver holds it.

    What each of them holds changes only when a layer expires, so it is compared now and at each of these times.
    """
    me, own = ctx.member, member.id == ctx.member.id
    if own and C.MANAGE_MEMBERS not in member.held:
        raise Conflict("that would take the right to manage members from yourself; another host can do it")
    giver_layers = old_layers if own else me.layers
    for at in _times(ctx.at, *old_layers, *member.layers, *giver_layers):
        gained = held_at(member.role_grant, member.layers, at) - held_at(member.role_grant, old_layers, at)
        may_give = held_at(me.role_grant, giver_layers, at) | (frozenset() if own else SEAT_BOUND)
        _refuse_beyond(gained - may_give, "yourself" if own else member.handle)


def _times(now: int, *layers: Layer) -> list[int]:
    """Now, and whenever one of these layers expires."""
    return sorted({now, *(layer.expires_at for layer in layers if layer.expires_at is not None)})


def _player_on(ctx: Context, seat: str, kibitzer: Member) -> Member:
    """The player of a seat through which another member is to look: it must be there, to be told of it."""
    if kibitzer.id == ctx.member.id:
        raise PermissionDenied("you cannot look through another member's seat by your own decision")
    if seat not in ctx.room.seats:
        known = list(ctx.room.seats)
        raise UnknownAsset(f"there is no seat {seat[:40]!r}", did_you_mean=nearest(seat[:40], known, 3))
    player = next((m for m in ctx.state.members.values() if m.seat == seat), None)
    if player is None:
        raise GameRejected(f"nobody plays seat {seat}, so nobody can be told that {kibitzer.handle} looks through it")
    return player


def _expiry(ctx: Context, expires_in_s: int | None) -> int | None:
    return None if expires_in_s is None else ctx.at + expires_in_s * 1000


@command(category="host", needs=C.MANAGE_MEMBERS, records=True)
def grant(
    ctx: Context,
    member: Handle,
    may: Names,
    through: Annotated[str | None, Meta(description="look through this seat (a kibitzer); its player is told")] = None,
    expires_in_s: ExpiresIn = None,
) -> Granted:
    """Set exactly what a member may perceive and do, in place of its role. When that expires, it holds nothing."""
    who, given, ends = other(ctx, member), in_order(capabilities(may)), _expiry(ctx, expires_in_s)
    player = _player_on(ctx, through, who) if through is not None else None
    granted = _change(ctx, who, [Layer("addition", given), Layer("limit", given, ends)], "set the grant")
    if player is None:
        return granted
    who.through, who.through_player = through, player.id
    ctx.tell(f"{ctx.member.handle} lets {who.handle} see what your seat sees", ACCOUNT, members=(player.id,))
    return Granted(who.handle, grant_wire(who))


@command(category="host", needs=C.MANAGE_MEMBERS, records=True)
def widen(ctx: Context, member: Handle, may: Names, expires_in_s: ExpiresIn = None) -> Granted:
    """Give a member more than it holds; with `expires_in_s` as a loan, after which it holds what it held before."""
    who, given = other(ctx, member), capabilities(may)
    layers = list(who.layers)
    if expires_in_s is not None:
        layers.append(Layer("addition", in_order(given), _expiry(ctx, expires_in_s), lifts=True))
    else:
        layers = [
            Layer("limit", in_order({*layer.may, *given}), layer.expires_at) if layer.kind == "limit" else layer
            for layer in layers
        ]
        layers.append(Layer("addition", in_order(given)))
    return _change(ctx, who, _merged(layers), f"allowed {', '.join(may)}", keep_through=True)


@command(category="host", needs=C.MANAGE_MEMBERS, records=True)
def narrow(ctx: Context, member: Handle, may: Names) -> Granted:
    """Take something away from what a member holds, also from what was lent to it."""
    who, taken = other(ctx, member), capabilities(may)
    layers = [layer.without(taken) for layer in who.layers]
    if all(layer.kind != "limit" for layer in layers):
        layers.append(Layer("limit", in_order(EVERYTHING - taken)))
    return _change(ctx, who, _merged(layers), f"took away {', '.join(may)}", keep_through=True)


@command(category="host", needs=C.MANAGE_MEMBERS, records=True)
def revoke(ctx: Context, member: Handle) -> Granted:
    """Take everything from a member: it may ask who it is, and nothing else."""
    return _change(ctx, other(ctx, member), [Layer("limit")], "revoked everything")


@command(category="host", needs=C.MANAGE_MEMBERS, records=True)
def clear_grant(ctx: Context, member: Handle) -> Granted:
    """Drop every layer: the member holds what its role gives again."""
    return _change(ctx, other(ctx, member), [], "cleared the grant")


def _merged(layers: list[Layer]) -> list[Layer]:
    """Without additions that give nothing, and with the permanent ones as one, so that the list stays short."""
    lasting = [layer for layer in layers if layer.kind == "addition" and layer.expires_at is None]
    rest = [layer for layer in layers if layer not in lasting and (layer.kind == "limit" or layer.may)]
    given = in_order(c for layer in lasting for c in layer.may)
    return [Layer("addition", given), *rest] if given else rest


class Joined(Struct):
    member: str
    role: str
    seat: str | None


def check_invitation(
    ctx: Context, handle: str, kind: Kind, role: str | None, claim: str | None, team: str | None
) -> str | None:
    """Can the caller admit somebody like this? The role, aliases resolved."""
    check_handle(handle)
    membership.check_admission(ctx, claim, team)
    named = role_named(role) if role is not None else None
    check_grantable(ctx.member, ROLES[named or KIND_ROLE[kind]], handle)
    return named


@command(category="host", needs=C.MANAGE_MEMBERS, records=True)
def add_member(
    ctx: Context,
    id: Annotated[str, Meta(description="a handle that no member here has")],  # noqa: A002 - the wire's name
    kind: Kind = "agent",
    role: Annotated[str | None, Meta(description="left out: watch-only for agents, full for people")] = None,
    claim: Annotated[str | None, Meta(description="auto:N or id:X")] = None,
    team: str | None = None,
    stand_in: Annotated[str | None, Meta(description="the brain that plays while this player is away")] = None,
    backend: Annotated[Annotated[str, Meta(max_length=80)] | None, Meta(description="the model it uses")] = None,
) -> Joined:
    """Add a member without a credential, such as a built-in player. `invite` is for everybody else."""
    named = check_invitation(ctx, id, kind, role, claim, team)
    made = membership.add_member(ctx, id, kind, role=named, claim=claim, team=team, stand_in=stand_in, backend=backend)
    return Joined(made.handle, made.role_name, made.seat)


class Removed(Struct):
    removed: str


@command(category="host", needs=C.MANAGE_MEMBERS, records=True)
def remove_member(ctx: Context, member: Handle) -> Removed:
    """Remove a member: its membership and its seat are gone, and its tokens for this room stop working."""
    who = other(ctx, member)
    if who.id == ctx.member.id:
        raise Conflict("you cannot remove yourself; another host can do it")
    membership.remove_member(ctx, who)
    ctx.tell(f"{ctx.member.handle} removed {who.handle}", "roster")
    return Removed(who.handle)


OF_THE_WORLD = ("GAME_REJECTED", "UNKNOWN_ASSET", "OUT_OF_BOUNDS", "SCOPE_VIOLATION")
"""Refusals whose reason comes from the world, and may tell what is hidden there."""


def _shown(refusal: Refusal, reader: Member) -> Refusal:
    if refusal.code in OF_THE_WORLD and C.READ_ALL not in reader.held:
        return structs.replace(refusal, reason="(shown to members with read_all)")
    return refusal


class AuditReply(Struct):
    refusals: list[Refusal]
    grants: list[Granted]


@command(
    category="host",
    needs=C.MANAGE_MEMBERS,
    resource=Resource("audit", "Audit", "What was refused to whom, for hosts"),
)
def audit(
    ctx: Context,
    member: Annotated[str | None, Meta(description="only the refusals of this member")] = None,
    max: Annotated[int, Meta(ge=1, le=500)] = 50,  # noqa: A002 - the wire's name
) -> AuditReply:
    """What was refused, newest first, and the grants that differ from the role. Changes of grants are in `events`."""
    wanted = other(ctx, member).id if member is not None else None
    lines = [_shown(r, ctx.member) for r in reversed(ctx.room.audit.kept) if wanted in (None, r.member)]
    changed = [Granted(m.handle, grant_wire(m)) for m in ctx.state.members.values() if m.layers]
    return AuditReply(lines[:max], changed)
