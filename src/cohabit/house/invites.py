"""Commands for access to a room: invites and joining.

An invite is a pending admission. Its token can only call `join`.
"""

from secrets import token_hex
from typing import Annotated

from msgspec import Meta, Struct, structs

from cohabit.errors import BadArgs, PermissionDenied, Unauthorized, UnknownAsset, UnknownRoom
from cohabit.house.brains import check_allowed, check_makeable
from cohabit.house.calls import PeekCall
from cohabit.house.door import HouseContext
from cohabit.house.identities import hashed, make_token, new_identity
from cohabit.house.store.contract import Write
from cohabit.model.grant import ROLES, Capability, role_or_default
from cohabit.model.identity import Credential, Invite, Kind
from cohabit.model.suggest import nearest
from cohabit.room.commands import command
from cohabit.room.context import Context
from cohabit.room.grants import ExpiresIn, check_grantable
from cohabit.room.members import check_invitation
from cohabit.room.room import Room
from cohabit.scenario import check_name

C = Capability


# -- invites ------------------------------------------------------------------------------------
class Invitation(Struct, omit_defaults=True):
    room: str
    member: str
    role: str
    token: str
    invite: str
    uses: int = 1


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
    expires_in_s: ExpiresIn = None,
) -> Invitation:
    """Create an invite to this room with a fixed kind, role and seat.

    Send its token to the invitee, who connects with it and calls `join`. The token is shown only once.
    """
    stand_in = check_allowed(stand_in, ctx.house.settings)
    if stand_in is not None:
        await check_makeable(stand_in, ctx.house.settings.agents_dollars or None)
    if name is not None:
        check_name(name)
    if uses > 1 and claim is not None:
        raise BadArgs("uses and claim cannot be combined: a claim is for one member")
    room, me, house = ctx.room, ctx.member, ctx.house
    now = house.clock.now()
    check = PeekCall(lambda room: check_invitation(_in_room(room, me.id, now), id, kind, role, claim, team))
    named = await ctx.runner.submit(check)
    token = make_token()
    made = Invite(
        id=token_hex(6),
        hash=hashed(token),
        room=room.id,
        by=me.id,
        handle=id,
        name=name or "",
        kind=kind,
        role=named,
        claim=claim,
        team=team,
        stand_in=stand_in,
        created_at=now,
        expires_at=now + expires_in_s * 1000 if expires_in_s else None,
        uses=uses,
        shared=uses > 1,
    )
    await _record_invite(ctx, made, "created")
    return Invitation(
        room=room.id, member=id, role=role_or_default(named, kind), token=token, invite=made.id, uses=uses
    )


def _in_room(room: Room, member: str, at: int) -> Context:
    found = room.state.members.get(member)
    if found is None:
        raise Unauthorized("you are no longer a member of this room")
    return Context(room, found, at)


async def _record_invite(ctx: HouseContext, invite: Invite, change: str) -> None:
    inviter = ctx.room.state.members.get(invite.by)
    args = {
        "invite": invite.id, "room": invite.room, "by": inviter.handle if inviter else invite.by,
        "handle": invite.handle, "change": change, "role": invite.role,
    }  # fmt: skip
    await ctx.house.ledger.record("invited", args, Write(invites=[invite]))
    now = ctx.house.rooms.get(invite.room)
    if now is None or now.room.state.secret != ctx.room.state.secret:  # another room may get its id
        await ctx.house.writer.submit(Write(invites=[structs.replace(invite, revoked=True)]))
        raise UnknownRoom("this room was deleted")
    ctx.house.identities.put_invite(invite)


class InviteLine(Struct, omit_defaults=True):
    invite: str
    member: str
    kind: str
    role: str
    uses: int
    claim: str | None = None
    expires_at: int | None = None


class Invites(Struct):
    invites: list[InviteLine]


@command(category="host", where="house", needs=C.MANAGE_MEMBERS)
async def invites(ctx: HouseContext) -> Invites:
    """The invites to this room that can still be accepted."""
    return Invites(
        [
            InviteLine(
                invite=i.id,
                member=i.handle,
                kind=i.kind,
                role=role_or_default(i.role, i.kind),
                uses=i.uses,
                claim=i.claim,
                expires_at=i.expires_at,
            )
            for i in ctx.house.identities.invites_to(ctx.room.id, ctx.house.clock.now())
        ]
    )


class InviteRevoked(Struct):
    invite: str


@command(exclusive=True, category="host", where="house", needs=C.MANAGE_MEMBERS, records=True, when_archived=True)
async def revoke_invite(
    ctx: HouseContext, invite: Annotated[str, Meta(description="the id of the invite (see `invites`)")]
) -> InviteRevoked:
    """Revoke an invite. Members who have accepted it stay."""
    house = ctx.house
    open_invites = {i.id: i for i in house.identities.invites_to(ctx.room.id, house.clock.now())}
    found = open_invites.get(invite)
    if found is None:
        raise UnknownAsset(
            f"unknown invite {invite[:40]!r}; see `invites`", did_you_mean=nearest(invite, open_invites, 2)
        )
    await _record_invite(ctx, structs.replace(found, revoked=True), "revoked")
    return InviteRevoked(found.id)


# -- joining ------------------------------------------------------------------------------------
SHARED = "This invite is shared with others. Connect with this token from now on; joining again adds another member."


class JoinedRoom(Struct, omit_defaults=True):
    room: str
    member: str
    role: str
    seat: str | None = None
    token: str | None = None  # set for shared invites: the member's own token
    note: str | None = None


@command(
    category="meta", where="house", records=True, joins=True, exclusive=True,
    hint="joins the room, with your invite or as a guest.", listed=True,
)  # fmt: skip
async def join(ctx: HouseContext) -> JoinedRoom:
    """Join a room with your invite, or as a guest if the room allows guests.

    Human guests may take a free seat; agent guests watch.
    """
    room, token = ctx.room, None
    if ctx.maybe_member is None:
        if len(room.state.members) >= ctx.house.settings.members_limit:
            raise PermissionDenied("this room is full")
        pending = ctx.house.identities.invite_of(ctx.credential)
        if pending is not None:
            token = await _accept(ctx, pending)
        else:
            await _enter(ctx)
    credential = ctx.credential if token is None else ctx.house.identify(token)
    member = room.member_of(credential.identity)
    if member is None:  # a host removed the member before the reply
        if credential.room is not None:
            await ctx.house.revoke_credentials([credential])
        raise Unauthorized("you were removed from this room")
    note = SHARED if token is not None else None
    return JoinedRoom(
        room=room.id, member=member.handle, role=member.role_name, seat=member.seat, token=token, note=note
    )


async def _enter(ctx: HouseContext) -> None:
    """Join as a guest or as a house host."""
    me = ctx.identity
    assert me is not None
    args = {"handle": me.name, "kind": me.kind, "identity": me.id, "name": me.name}
    await ctx.record("admitted", {**args, "role": "host" if ctx.is_host else None})


async def _accept(ctx: HouseContext, invite: Invite) -> str | None:
    """Accept an invite. Returns the new token if the invite is shared."""
    house = ctx.house
    if invite.uses < 1:
        raise Unauthorized("this invite has been used; ask your host for a new one")
    inviter = ctx.room.state.members.get(invite.by)
    me = new_identity(invite.name or invite.handle, invite.kind, inviter.identity or None if inviter else None)
    token = make_token() if invite.shared else None
    now = house.clock.now()
    made = Credential(invite.hash if token is None else hashed(token), me.id, invite.room, created_at=now)
    args = {
        "handle": invite.handle, "kind": me.kind, "identity": me.id, "name": me.name, "role": invite.role,
        "claim": invite.claim, "team": invite.team, "stand_in": invite.stand_in, "invite": invite.id,
    }  # fmt: skip
    left = house.identities.take_use(invite)
    try:
        also = Write(identities=[me], credentials=[made], invites=[left])
        await ctx.record("admitted", args, also, lambda room, at: _check_inviter(room, invite))
    except BaseException:
        house.identities.take_use(invite, -1)
        raise
    house.identities.put(me)
    if token is None:  # the invite's token becomes the member's own, also on open connections
        ctx.credential.identity, ctx.credential.expires_at = me.id, None
    else:
        house.identities.put_credential(made)
    left = house.identities.take_use(invite, 0)  # it may have been revoked in the meantime
    await _record_invite(ctx, left, "accepted")
    return token


def _check_inviter(room: Room, invite: Invite) -> None:
    """Raise if the inviter could no longer grant what the invite gives."""
    inviter = room.state.members.get(invite.by)
    if inviter is None or C.MANAGE_MEMBERS not in inviter.held:
        raise PermissionDenied("the member who invited you can no longer invite; ask a host for a new invite")
    check_grantable(inviter, ROLES[role_or_default(invite.role, invite.kind)], invite.handle)
