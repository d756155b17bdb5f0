"""Commands for invites to a room. An invite is a pending admission; its token can only call `join`.

The token is signed, so that others can check what it says. The house itself looks up its hash, so that each invite can
be revoked.
"""

from secrets import token_hex
from typing import Annotated

from msgspec import Meta, Struct, structs

from cohabit.errors import BadArgs, Conflict, PermissionDenied, Unauthorized, UnknownAsset, UnknownRoom
from cohabit.house.access.entry_limits import Gate
from cohabit.house.access.signing import FAR_AWAY_S, HouseKey, InviteBody
from cohabit.house.agents.brains import check_allowed, check_makeable
from cohabit.house.calls.context import HouseContext
from cohabit.house.running.calls import PeekCall
from cohabit.house.store.contract import Write
from cohabit.house.store.identities import CODE_LENGTH, hashed, make_token
from cohabit.model.grant import ROLES, Capability, capabilities, in_order, role_or_default
from cohabit.model.identity import Invite, Kind
from cohabit.model.suggest import nearest
from cohabit.room.access.grants import ExpiresIn, check_for_newcomer
from cohabit.room.access.members import check_invitation
from cohabit.room.base import Context
from cohabit.room.commands import command
from cohabit.room.play.claims import check_new_claim
from cohabit.room.room import Room
from cohabit.scenario import check_name

C = Capability


# -- invites ------------------------------------------------------------------------------------
class Invitation(Struct, omit_defaults=True):
    room: str
    member: str
    role: str
    token: str  # signed, so that others can verify what it says
    invite: str
    link: str  # opens the page, with the code
    uses: int = 1
    expires_at: int | None = None
    note: str = ""  # how to complete the link
    code: str = ""  # short, and as good as the token


@command(category="host", where="house", needs=C.MANAGE_MEMBERS, records=True)
async def invite(
    ctx: HouseContext,
    id: Annotated[str, Meta(description="the handle for the new member")],  # noqa: A002 - the wire's name
    kind: Kind = "agent",
    role: Annotated[str | None, Meta(description="default: watch-only for agents, full for people")] = None,
    claim: Annotated[str | None, Meta(description="auto:N or id:X")] = None,
    team: str | None = None,
    stand_in: Annotated[str | None, Meta(description="the brain that plays while this player is away")] = None,
    name: Annotated[Annotated[str, Meta(max_length=64)] | None, Meta(description="the name to show")] = None,
    uses: Annotated[int, Meta(ge=1, le=1000, description="how many people may accept it")] = 1,
    may: Annotated[list[str] | None, Meta(description="exactly these capabilities, instead of a role")] = None,
    expires_in_s: ExpiresIn = None,
    member_expires_in_s: Annotated[
        Annotated[int, Meta(ge=1, le=10**9)] | None,
        Meta(description="the member's permissions end this many seconds after joining"),
    ] = None,
) -> Invitation:
    """Create an invite to this room with a fixed kind, role and seat.

    Send its link or its code to the invitee, who opens the link, or connects with the code as its token and calls
    `join`. The signed `token` does the same, and says what it gives. They are shown only once.
    """
    return await create_invite(
        ctx, id, kind, role, claim, team, stand_in, name, uses, may, expires_in_s, member_expires_in_s
    )


async def create_invite(
    ctx: HouseContext, handle: str, kind: Kind, role: str | None = None, claim: str | None = None,
    team: str | None = None, stand_in: str | None = None, name: str | None = None, uses: int = 1,
    may: list[str] | None = None, expires_in_s: int | None = None, member_expires_in_s: int | None = None,
    *, watches: bool = False,
) -> Invitation:  # fmt: skip
    """``watches``: it is the link with which anybody watches."""
    if may is not None and role is not None:
        raise BadArgs("may and role cannot be combined: may gives exactly these capabilities")
    given = None if may is None else in_order(capabilities(may))
    stand_in = check_allowed(stand_in, ctx.house.settings)
    if stand_in is not None:
        await check_makeable(stand_in, ctx.house.settings.agents_dollars or None)
    if name is not None:
        check_name(name)
    if uses > 1 and claim is not None:
        raise BadArgs("uses and claim cannot be combined: a claim is for one member")
    room, me, house = ctx.room, ctx.member, ctx.house
    now = house.clock.now()

    def checked(room: Room) -> str | None:
        if claim is not None:
            check_new_claim(room, claim)
        return check_invitation(_in_room(room, me.id, now), handle, kind, role, claim, team, given)

    named = await ctx.runner.submit(PeekCall(checked))
    number, expires = token_hex(6), now + expires_in_s * 1000 if expires_in_s else None
    body = InviteBody(
        name=name or handle, room=room.id, exp=-(-expires // 1000) if expires else now // 1000 + FAR_AWAY_S, kind=kind,
        role=None if given is not None else role_or_default(named, kind), may=None if given is None else list(given),
        seat=claim, uses=uses, jti=number,
    )  # fmt: skip
    code = make_token()[:CODE_LENGTH]
    token = (await house.need(HouseKey).load()).sign(body)
    made = Invite(
        id=number, hash=hashed(token), room=room.id, by=me.id, handle=handle, name=name or "", kind=kind, role=named,
        may=given, member_expires_in_s=member_expires_in_s, claim=claim, team=team, stand_in=stand_in, created_at=now,
        expires_at=expires, uses=uses, shared=uses > 1, code=hashed(code),
        watches=watches,
    )  # fmt: skip
    await record_invite(ctx, made, "created")
    link, note = house.need(Gate).link(f"/?room={room.id}#{code}")
    return Invitation(room.id, handle, role_or_default(named, kind), token, made.id, link, uses, expires, note, code)


def _in_room(room: Room, member: str, at: int) -> Context:
    found = room.state.members.get(member)
    if found is None:
        raise Unauthorized("you are no longer a member of this room")
    return Context(room, room.state, found, at)


async def record_invite(ctx: HouseContext, invite: Invite, change: str) -> None:
    inviter = ctx.room.state.members.get(invite.by)
    args = {
        "invite": invite.id, "room": invite.room, "by": inviter.handle if inviter else invite.by,
        "handle": invite.handle, "change": change, "role": invite.role,
    }  # fmt: skip
    if change == "created":  # what becomes of it are other entries of the room
        await ctx.record("invited", args)
    await ctx.house.ledger.record("invited", args, Write(invites=[invite]))
    now = ctx.house.rooms.get(invite.room)
    if now is None or now.room.state.secret != ctx.room.state.secret:  # another room may get its id
        await ctx.house.writer.submit(Write(invites=[structs.replace(invite, revoked=True)]))
        raise UnknownRoom("this room was deleted")
    ctx.house.identities.put_invite(invite)


class InviteLine(Struct, omit_defaults=True):
    """``uses``: how many may still accept it. ``members``: the handles of those who have."""

    invite: str
    member: str
    kind: str
    role: str
    uses: int
    may: list[str] | None = None
    claim: str | None = None
    expires_at: int | None = None
    members: list[str] = []
    watches: bool = False  # it is the link with which anybody watches


class Invites(Struct):
    invites: list[InviteLine]


@command(category="host", where="house", needs=C.MANAGE_MEMBERS)
async def invites(ctx: HouseContext) -> Invites:
    """The invites to this room that can still be accepted, and those with which a member joined."""
    lines = []
    for i, came in _revocable(ctx):
        role, may = role_or_default(i.role, i.kind), None if i.may is None else list(i.may)
        lines.append(InviteLine(i.id, i.handle, i.kind, role, i.uses, may, i.claim, i.expires_at, came, i.watches))
    return Invites(lines)


def _revocable(ctx: HouseContext) -> list[tuple[Invite, list[str]]]:
    """The invites that can be accepted, or were accepted by a member or by a newcomer in the lobby; with the handles of
    these, if the caller may read the roster."""
    state, identities, now = ctx.room.state, ctx.house.identities, ctx.house.clock.now()
    sees_roster = C.READ_ROSTER in ctx.member.held
    came: dict[str, list[str]] = {}
    for member in state.members.values():
        if member.invite is not None:
            came.setdefault(member.invite, []).extend([member.handle] if sees_roster else [])
    waiting = {knock.admission.invite for knock in state.knocks.values()}
    can_be_accepted = {i.id for i in identities.invites_to(ctx.room.id, now)}
    return [
        (i, came.get(i.id, []))
        for i in identities.all_invites(ctx.room.id)
        if not i.revoked and (i.id in can_be_accepted or i.id in came or i.id in waiting)
    ]


class InviteRevoked(Struct):
    invite: str
    removed: list[str]


@command(exclusive=True, category="host", where="house", needs=C.MANAGE_MEMBERS, records=True, when_archived=True)
async def revoke_invite(
    ctx: HouseContext, invite: Annotated[str, Meta(description="the id of the invite (see `invites`)")]
) -> InviteRevoked:
    """Revoke an invite, and remove everyone who joined with it."""
    house, state = ctx.house, ctx.room.state
    known = {i.id: (i, came) for i, came in _revocable(ctx)}
    if invite not in known:
        raise UnknownAsset(f"unknown invite {invite[:40]!r}; see `invites`", did_you_mean=nearest(invite, known, 2))
    found, came = known[invite]
    if ctx.member.invite == invite:
        raise Conflict("you joined with this invite yourself; another host can revoke it")
    identities = [m.identity for m in state.members.values() if m.invite == invite]
    identities += [k.identity for k in state.knocks.values() if k.admission.invite == invite]
    ended = [credential for identity in identities for credential in house.identities.of(identity, ctx.room.id)]
    revoked = structs.replace(found, revoked=True)
    args = {"invite": invite, "handle": found.handle, "by": ctx.member.id}
    also = Write(credentials=[structs.replace(c, revoked=True) for c in ended], invites=[revoked])
    await ctx.record("invite_revoked", args, also)
    for identity in identities:
        house.identities.end(identity, ctx.room.id, "removed", house.clock.now())
    await house.writer.submit(Write(credentials=ended))
    await record_invite(ctx, revoked, "revoked")
    return InviteRevoked(found.id, came)


# -- accepting ------------------------------------------------------------------------------------
def check_inviter(room: Room, invite: Invite) -> None:
    """Raise if the inviter could no longer grant what the invite gives."""
    inviter = room.state.members.get(invite.by)
    if inviter is None or C.MANAGE_MEMBERS not in inviter.held:
        raise PermissionDenied("the member who invited you can no longer invite; ask a host for a new invite")
    given = ROLES[role_or_default(invite.role, invite.kind)] if invite.may is None else capabilities(invite.may)
    check_for_newcomer(room, inviter, given, invite.handle)
