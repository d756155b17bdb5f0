"""Grants: grant, widen, narrow, revoke, clear_grant.

A member can grant only capabilities that it has, plus the seat-bound ``read_own`` and ``act``, which reveal nothing to
the giver.
"""

from collections.abc import Iterable
from typing import Annotated, Any

from msgspec import Meta, Struct

from cohabit.errors import CohabitError, Conflict, GameRejected, PermissionDenied
from cohabit.model.grant import (
    ACT,
    FOREVER,
    PERCEIVE,
    SEAT_BOUND,
    Capability,
    Layer,
    capabilities,
    held_at,
    in_order,
    names_held,
)
from cohabit.protocols import kibitz
from cohabit.room.access.former_members import identity_of, limited_members
from cohabit.room.base import BaseRoom, Context
from cohabit.room.commands import Handle, command
from cohabit.room.play.seats import remember_seat, require_seat, seat_in_game
from cohabit.room.seeing.visibility import ACCOUNT
from cohabit.room.state import Member

C = Capability
Names = Annotated[list[str], Meta(description="capability names (Cohabit's or another protocol's)")]
ExpiresIn = Annotated[Annotated[int, Meta(ge=1, le=10**9)] | None, Meta(description="expires after this many seconds")]


class Granted(Struct):
    member: str
    grant: dict[str, Any]


@command(category="host", needs=C.MANAGE_MEMBERS, records=True, audit="granted")
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
    who, given = ctx.state.require_member(member, ctx.member), in_order(capabilities(may))
    if through is not None and who.id == ctx.member.id:
        raise PermissionDenied("you cannot give yourself another member's view; ask its player (`ask`)")
    player = player_on(ctx, through, who) if through is not None else None
    if player is not None and (why := ctx.room.kept_private(player, "view")):
        raise PermissionDenied(why)
    layers = [Layer("addition", given), Layer("limit", given, _expiry(ctx, expires_in_s))]
    words = f"set {who.handle}'s permissions to {', '.join(given) or 'none'}{_for(expires_in_s)}"
    granted = change_layers(ctx, who, layers, words)
    if player is None:
        return granted
    who.through, who.through_player = through, player.id
    remember_seat(ctx.room, who)
    ctx.tell(f"{ctx.member.handle} lets {who.handle} see what your seat sees", ACCOUNT, members=(player.id,))
    return Granted(who.handle, grant_wire(who))


@command(category="host", needs=C.MANAGE_MEMBERS, records=True, audit="granted")
def widen(ctx: Context, member: Handle, may: Names, expires_in_s: ExpiresIn = None) -> Granted:
    """Grant a member additional capabilities, permanently or until `expires_in_s` has passed."""
    who, given = ctx.state.require_member(member, ctx.member), capabilities(may)
    layers = list(who.layers)
    if expires_in_s is not None:
        layers.append(Layer("addition", in_order(given), _expiry(ctx, expires_in_s), lifts=True))
    else:
        layers = [layer.including(given) if layer.kind == "limit" else layer for layer in layers]
        layers.append(Layer("addition", in_order(given)))
    words = f"granted {', '.join(in_order(given))} to {who.handle}{_for(expires_in_s)}"
    return change_layers(ctx, who, _merged(layers), words, keep_through=True)


@command(category="host", needs=C.MANAGE_MEMBERS, records=True, audit="revoked")
def narrow(ctx: Context, member: Handle, may: Names) -> Granted:
    """Remove capabilities from a member, including temporary ones."""
    who, taken = ctx.state.require_member(member, ctx.member), capabilities(may)
    layers = [layer.without(taken) for layer in who.layers]
    if all(layer.kind != "limit" for layer in layers):
        layers.append(Layer("limit", but=in_order(taken)))
    words = f"removed {', '.join(in_order(taken))} from {who.handle}"
    return change_layers(ctx, who, _merged(layers), words, keep_through=True)


@command(category="host", needs=C.MANAGE_MEMBERS, records=True, audit="revoked")
def revoke(ctx: Context, member: Handle) -> Granted:
    """Revoke all of a member's capabilities. It can still call `whoami`."""
    who = ctx.state.require_member(member, ctx.member)
    return change_layers(ctx, who, [Layer("limit")], f"revoked all of {who.handle}'s permissions")


@command(category="host", needs=C.MANAGE_MEMBERS, records=True, audit="granted")
def clear_grant(ctx: Context, member: Handle) -> Granted:
    """Reset a member's permissions to those that it joined with, by its role or its invite.

    The limits of a member that has left apply again when it comes back. This lifts them too; pass the handle that it
    had (see `entry`).
    """
    current = ctx.state.with_handle(member)
    identity = identity_of(limited_members(ctx.state), member) if current is None else None
    if identity is not None:
        check_grantable(ctx.member, ctx.state.limited[identity].lost, member)
        del ctx.state.limited[identity]
        ctx.tell(f"{ctx.member.handle} lifted the limits of {member}, who has left", "roster")
        return Granted(member, {})
    who = ctx.state.require_member(member, ctx.member)
    if any(layer.has_expired(ctx.at) for layer in who.given):
        raise Conflict(f"the permissions that {who.handle} joined with have expired; grant new ones (`grant`)")
    return change_layers(ctx, who, list(who.given), f"reset {who.handle}'s permissions to those that it joined with")


def change_layers(
    ctx: Context, member: Member, layers: list[Layer], words: str, *, keep_through: bool = False
) -> Granted:
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
        _check_may_hold(ctx.room, member, gained)
        _refuse_beyond(gained - may_give, "yourself" if own else member.handle)


def _times(now: int, *layers: Layer) -> list[int]:
    """Now, the expiry times of these layers, and the end of all that ends with the game."""
    ends = {layer.expires_at for layer in layers if layer.expires_at is not None}
    return sorted({now, *ends, *([FOREVER] if any(layer.this_game for layer in layers) else [])})


def player_on(ctx: Context, seat: str, kibitzer: Member) -> Member:
    """The player of the seat that another member will look through. Required, because the player is notified."""
    require_seat(ctx.room, seat, [m.seat for m in ctx.state.members.values() if m.seat is not None])
    player = next((m for m in ctx.state.members.values() if m.seat == seat), None)
    if player is None:
        raise GameRejected(f"seat {seat} has no player to notify, so {kibitzer.handle} cannot look through it")
    known = seat_in_game(ctx.state, kibitzer)
    if not ctx.room.world.spec.open_information and known not in (None, seat):
        raise GameRejected(
            f"{kibitzer.handle} has seen the hidden information of seat {known} in this game, so it cannot look "
            f"through seat {seat} before the next game"
        )
    return player


def _for(expires_in_s: int | None) -> str:
    """The duration of a grant, as the end of the text of an event."""
    return "" if expires_in_s is None else f" for {expires_in_s} second{'' if expires_in_s == 1 else 's'}"


def _expiry(ctx: Context, expires_in_s: int | None) -> int | None:
    return None if expires_in_s is None else ctx.at + expires_in_s * 1000


def _merged(layers: list[Layer]) -> list[Layer]:
    """Without empty additions, and with permanent ones merged, so the list stays short."""
    lasting = [x for x in layers if x.kind == "addition" and x.expires_at is None and not x.this_game]
    rest = [layer for layer in layers if layer not in lasting and (layer.kind == "limit" or layer.may)]
    given = in_order(c for layer in lasting for c in layer.may)
    return [Layer("addition", given), *rest] if given else rest


def check_grantable(giver: Member, given: Iterable[Capability], to: str) -> None:
    """Refuse a permanent grant of capabilities that the giver does not have permanently."""
    _refuse_beyond(frozenset(given) - grantable(giver), to)


def check_for_newcomer(room: BaseRoom, giver: Member, given: Iterable[Capability], to: str) -> None:
    """The same for somebody who is no member yet."""
    given = frozenset(given)
    _check_may_hold(room, None, given)
    check_grantable(giver, given, to)


def _check_may_hold(room: BaseRoom, member: Member | None, given: frozenset[Capability]) -> None:
    for feature in room.hooks["keeps_from"]:
        if why := feature.keeps_from(room, member, given):
            raise PermissionDenied(why)


def grantable(giver: Member) -> frozenset[Capability]:
    """The capabilities that a member who manages others may grant without an end."""
    return held_at(giver.role_grant, giver.layers, FOREVER) & giver.held | SEAT_BOUND


def _refuse_beyond(beyond: frozenset[Capability], to: str) -> None:
    if beyond:
        names = in_order(beyond)
        raise PermissionDenied(
            f"you cannot grant {to} capabilities that you do not have, or not for as long: {', '.join(names)}",
            needs=list(names),
        )


def grant_wire(member: Member) -> dict[str, Any]:
    """A grant as shown to clients: capabilities in two lists, their Kibitz names, and the layers."""
    held = member.held
    wire: dict[str, Any] = {
        "perceive": [c.value for c in PERCEIVE if c in held],
        "act": [c.value for c in ACT if c in held],
        "kibitz": {"perceive": names_held(held, kibitz.PERCEIVE), "act": names_held(held, kibitz.ACT)},
    }
    if member.layers:
        wire["layers"] = [layer_wire(layer) for layer in member.layers]
        ends = [layer.expires_at for layer in member.layers if layer.expires_at is not None]
        if ends:
            wire["expiresAt"] = min(ends) // 1000
    if member.through is not None:
        wire["through"] = member.through
    if member.backend:
        wire["backend"] = member.backend
    if member.egress:
        wire["egress"] = True
    return wire


def layer_wire(layer: Layer) -> dict[str, Any]:
    ends = {"expiresAt": layer.expires_at // 1000} if layer.expires_at is not None else {}
    game = {"thisGame": True} if layer.this_game else {}
    return {"kind": layer.kind, "may": list(in_order(layer.capabilities)), **ends, **game}
