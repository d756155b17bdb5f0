"""Commands for room hosts: members, grants, the audit log.

Hosts can grant only capabilities they have, plus the seat-bound ``read_own`` and ``act``, which reveal nothing to the
host.
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
Names = Annotated[list[str], Meta(description="capability names (Cohabit's or an extension's)")]
ExpiresIn = Annotated[Annotated[int, Meta(ge=1, le=10**9)] | None, Meta(description="expires after this many seconds")]


class Granted(Struct):
    member: str
    grant: dict[str, Any]


def check_grantable(giver: Member, given: Iterable[Capability], to: str) -> None:
    """Refuse a permanent grant of capabilities that the giver does not have permanently."""
    permanently = held_at(giver.role_grant, giver.layers, FOREVER) & giver.held
    _refuse_beyond(frozenset(given) - permanently - SEAT_BOUND, to)


def _refuse_beyond(beyond: frozenset[Capability], to: str) -> None:
    if beyond:
        names = in_order(beyond)
        raise PermissionDenied(
            f"you cannot grant {to} capabilities that you do not have, or not for as long: {', '.join(names)}",
            needs=list(names),
        )


def other(ctx: Context, handle: str) -> Member:
    """The member with this handle."""
    member = ctx.state.with_handle(handle)
    if member is None:
        known = [m.handle for m in ctx.state.members.values()]
        raise UnknownAsset(f"unknown member {handle[:80]!r}", did_you_mean=nearest(handle[:80], known, 3))
    return member


def _change(ctx: Context, member: Member, layers: list[Layer], words: str, *, keep_through: bool = False) -> Granted:
    """Replace a member's layers, unless that would grant something the caller does not have."""
    old_layers = member.layers
    member.set_layers(layers)
    try:
        _check_change(ctx, member, old_layers)
    except CohabitError:
        member.set_layers(old_layers)
        raise
    if not keep_through:
        member.through = member.through_player = None
    ctx.tell(f"{ctx.member.handle} {words}", "roster")
    return Granted(member.handle, grant_wire(member))


def _check_change(ctx: Context, member: Member, old_layers: list[Layer]) -> None:
    """Refuse a change that grants capabilities the giver does not have, or for longer than the giver has them.

    Capabilities change only when a layer expires, so both members' are compared now and at each expiry.
    """
    me, own = ctx.member, member.id == ctx.member.id
    if own and C.MANAGE_MEMBERS not in member.held:
        raise Conflict("you cannot remove your own manage_members; ask another host")
    giver_layers = old_layers if own else me.layers
    for at in _times(ctx.at, *old_layers, *member.layers, *giver_layers):
        gained = held_at(member.role_grant, member.layers, at) - held_at(member.role_grant, old_layers, at)
        may_give = held_at(me.role_grant, giver_layers, at) | (frozenset() if own else SEAT_BOUND)
        _refuse_beyond(gained - may_give, "yourself" if own else member.handle)


def _times(now: int, *layers: Layer) -> list[int]:
    """Now, and the expiry times of these layers."""
    return sorted({now, *(layer.expires_at for layer in layers if layer.expires_at is not None)})


def _player_on(ctx: Context, seat: str, kibitzer: Member) -> Member:
    """The player of the seat that another member will look through. Required, because the player is notified."""
    if kibitzer.id == ctx.member.id:
        raise PermissionDenied("you cannot give yourself another member's view; ask another host")
    if seat not in ctx.room.seats:
        known = list(ctx.room.seats)
        raise UnknownAsset(f"unknown seat {seat[:40]!r}", did_you_mean=nearest(seat[:40], known, 3))
    player = next((m for m in ctx.state.members.values() if m.seat == seat), None)
    if player is None:
        raise GameRejected(f"seat {seat} has no player to notify, so {kibitzer.handle} cannot look through it")
    return player


def _for(expires_in_s: int | None) -> str:
    """How long a grant lasts, as the end of an event."""
    return "" if expires_in_s is None else f" for {expires_in_s} second{'' if expires_in_s == 1 else 's'}"


def _expiry(ctx: Context, expires_in_s: int | None) -> int | None:
    return None if expires_in_s is None else ctx.at + expires_in_s * 1000


@command(category="host", needs=C.MANAGE_MEMBERS, records=True)
def grant(
    ctx: Context,
    member: Handle,
    may: Names,
    through: Annotated[
        str | None, Meta(description="let the member see what this seat sees; its player is notified")
    ] = None,
    expires_in_s: ExpiresIn = None,
) -> Granted:
    """Set a member's exact permissions, replacing its role. After expiry it has none."""
    who, given, ends = other(ctx, member), in_order(capabilities(may)), _expiry(ctx, expires_in_s)
    player = _player_on(ctx, through, who) if through is not None else None
    granted = _change(
        ctx,
        who,
        [Layer("addition", given), Layer("limit", given, ends)],
        f"set {who.handle}'s permissions to {', '.join(given) or 'none'}{_for(expires_in_s)}",
    )
    if player is None:
        return granted
    who.through, who.through_player = through, player.id
    ctx.tell(f"{ctx.member.handle} lets {who.handle} see what your seat sees", ACCOUNT, members=(player.id,))
    return Granted(who.handle, grant_wire(who))


@command(category="host", needs=C.MANAGE_MEMBERS, records=True)
def widen(ctx: Context, member: Handle, may: Names, expires_in_s: ExpiresIn = None) -> Granted:
    """Grant a member additional capabilities, permanently or until `expires_in_s` has passed."""
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
    words = f"granted {', '.join(in_order(given))} to {who.handle}{_for(expires_in_s)}"
    return _change(ctx, who, _merged(layers), words, keep_through=True)


@command(category="host", needs=C.MANAGE_MEMBERS, records=True)
def narrow(ctx: Context, member: Handle, may: Names) -> Granted:
    """Remove capabilities from a member, including temporary ones."""
    who, taken = other(ctx, member), capabilities(may)
    layers = [layer.without(taken) for layer in who.layers]
    if all(layer.kind != "limit" for layer in layers):
        layers.append(Layer("limit", in_order(EVERYTHING - taken)))
    return _change(
        ctx, who, _merged(layers), f"removed {', '.join(in_order(taken))} from {who.handle}", keep_through=True
    )


@command(category="host", needs=C.MANAGE_MEMBERS, records=True)
def revoke(ctx: Context, member: Handle) -> Granted:
    """Revoke all of a member's capabilities. It can still call whoami."""
    who = other(ctx, member)
    return _change(ctx, who, [Layer("limit")], f"revoked all of {who.handle}'s permissions")


@command(category="host", needs=C.MANAGE_MEMBERS, records=True)
def clear_grant(ctx: Context, member: Handle) -> Granted:
    """Reset a member's permissions to those of its role."""
    who = other(ctx, member)
    return _change(ctx, who, [], f"reset {who.handle}'s permissions to those of its role")


def _merged(layers: list[Layer]) -> list[Layer]:
    """Without empty additions, and with permanent ones merged, so the list stays short."""
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
    """Check that the caller may add such a member. Returns the resolved role."""
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
    role: Annotated[str | None, Meta(description="default: agents watch only, people get full access")] = None,
    claim: Annotated[str | None, Meta(description="auto:N or id:X")] = None,
    team: str | None = None,
    stand_in: Annotated[str | None, Meta(description="the brain that plays while this player is away")] = None,
    backend: Annotated[Annotated[str, Meta(max_length=80)] | None, Meta(description="the model it uses")] = None,
) -> Joined:
    """Add a member without a credential, such as a built-in player. For everyone else use `invite`."""
    named = check_invitation(ctx, id, kind, role, claim, team)
    made = membership.add_member(ctx, id, kind, role=named, claim=claim, team=team, stand_in=stand_in, backend=backend)
    return Joined(made.handle, made.role_name, made.seat)


class Removed(Struct):
    removed: str


@command(category="host", needs=C.MANAGE_MEMBERS, records=True)
def remove_member(ctx: Context, member: Handle) -> Removed:
    """Remove a member from the room. Its seat is freed and its tokens for this room are revoked."""
    who = other(ctx, member)
    if who.id == ctx.member.id:
        raise Conflict("you cannot remove yourself; another host can do it")
    membership.remove_member(ctx, who)
    ctx.tell(f"{ctx.member.handle} removed {who.handle}", "roster")
    return Removed(who.handle)


WORLD_REFUSALS = ("GAME_REJECTED", "UNKNOWN_ASSET", "OUT_OF_BOUNDS", "SCOPE_VIOLATION")
"""Refusals whose reason comes from the world and may reveal hidden information."""


def _shown(refusal: Refusal, reader: Member) -> Refusal:
    if refusal.code in WORLD_REFUSALS and C.READ_ALL not in reader.held:
        return structs.replace(refusal, reason="(shown to members with read_all)")
    return refusal


class AuditReply(Struct):
    refusals: list[Refusal]
    grants: list[Granted]


@command(
    category="host",
    needs=C.MANAGE_MEMBERS,
    resource=Resource("audit", "Audit", "Refused calls, for hosts"),
)
def audit(
    ctx: Context,
    member: Annotated[str | None, Meta(description="only the refusals of this member")] = None,
    max: Annotated[int, Meta(ge=1, le=500)] = 50,  # noqa: A002 - the wire's name
) -> AuditReply:
    """Refused calls, newest first, and all grants that differ from the member's role.

    Grant changes are listed in `events`.
    """
    wanted = other(ctx, member).id if member is not None else None
    lines = [_shown(r, ctx.member) for r in reversed(ctx.room.audit.kept) if wanted in (None, r.member)]
    changed = [Granted(m.handle, grant_wire(m)) for m in ctx.state.members.values() if m.layers]
    return AuditReply(lines[:max], changed)
