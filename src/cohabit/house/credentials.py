"""Commands for getting into a house and its rooms: invites, joining, tokens.

Issuing, rotating and revoking a credential is an entry of a record, told to the member concerned: of the room's record
where the credential is for one room, else of the house's own.
"""

from collections.abc import Sequence
from secrets import token_hex
from typing import Annotated

from msgspec import Meta, Struct, structs

from cohabit.errors import BadArgs, Conflict, PermissionDenied, Unauthorized, UnknownAsset
from cohabit.house.bots import check_brain
from cohabit.house.calls import Check
from cohabit.house.context import HouseContext
from cohabit.house.identities import hashed, make_token, new_identity
from cohabit.house.store.contract import Write
from cohabit.model.grant import ROLES, Capability
from cohabit.model.identity import Credential, Identity, Invite, Kind
from cohabit.model.suggest import nearest
from cohabit.room.commands import command
from cohabit.room.context import Context
from cohabit.room.hosting import check_grantable, check_invitation
from cohabit.room.room import Room
from cohabit.room.state import KIND_ROLE, Member
from cohabit.scenario import check_handle

C = Capability
ExpiresIn = Annotated[
    Annotated[int, Meta(ge=1, le=10**9)] | None, Meta(description="the token expires after this many seconds")
]


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
    role: Annotated[str | None, Meta(description="left out: watch-only for agents, full for people")] = None,
    claim: Annotated[str | None, Meta(description="auto:N or id:X")] = None,
    team: str | None = None,
    stand_in: Annotated[str | None, Meta(description="the brain that plays while this player is away")] = None,
    name: Annotated[Annotated[str, Meta(max_length=64)] | None, Meta(description="the name to show")] = None,
    uses: Annotated[int, Meta(ge=1, le=1000, description="how many people may accept it")] = 1,
    expires_in_s: Annotated[
        Annotated[int, Meta(ge=1, le=10**9)] | None, Meta(description="can be accepted for this many seconds")
    ] = None,
) -> Invitation:
    """Create an invite to this room: kind, role and seat are bound to it. Its token is shown once; pass it on.

    Whoever connects with the token and calls `join` becomes a member.
    """
    check_brain(stand_in)
    if uses > 1 and claim is not None:
        raise BadArgs("an invite with a claim is for one member; leave out uses, or claim")
    host, me, house = ctx.room, ctx.member, ctx.house
    now = house.clock.now()
    named = await host.peek(lambda room: check_invitation(_in_room(room, me.id, now), id, kind, role, claim, team))
    token = make_token()
    made = Invite(
        token_hex(6), hashed(token), host.room.id, me.id, id, name or "", kind, named, claim, team, stand_in, now,
        now + expires_in_s * 1000 if expires_in_s else None, uses, shared=uses > 1,
    )  # fmt: skip
    await _record_invite(ctx, made, "created")
    return Invitation(host.room.id, id, named or KIND_ROLE[kind], token, made.id, uses)


def _in_room(room: Room, member: str, at: int) -> Context:
    return Context(room, room.state.members[member], at)


async def _record_invite(ctx: HouseContext, invite: Invite, change: str) -> None:
    inviter = ctx.room.room.state.members.get(invite.by)
    args = {
        "invite": invite.id, "room": invite.room, "by": inviter.handle if inviter else invite.by,
        "handle": invite.handle, "change": change, "role": invite.role,
    }  # fmt: skip
    await ctx.house.ledger.record("invited", args, Write(invites=[invite]))
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
            InviteLine(i.id, i.handle, i.kind, i.role or KIND_ROLE[i.kind], i.uses, i.claim, i.expires_at)
            for i in ctx.house.identities.invites_to(ctx.room.room.id, ctx.house.clock.now())
        ]
    )


class InviteRevoked(Struct):
    invite: str


@command(category="host", where="house", needs=C.MANAGE_MEMBERS, records=True, when_archived=True)
async def revoke_invite(
    ctx: HouseContext, invite: Annotated[str, Meta(description="the id of the invite (see `invites`)")]
) -> InviteRevoked:
    """Make an invite worthless. Members who have accepted it stay."""
    house = ctx.house
    open_invites = {i.id: i for i in house.identities.invites_to(ctx.room.room.id, house.clock.now())}
    found = open_invites.get(invite)
    if found is None:
        raise UnknownAsset(f"there is no open invite {invite[:40]!r}", did_you_mean=nearest(invite, open_invites, 2))
    await _record_invite(ctx, structs.replace(found, revoked=True), "revoked")
    return InviteRevoked(found.id)


# -- joining ------------------------------------------------------------------------------------
class JoinedRoom(Struct, omit_defaults=True):
    room: str
    member: str
    role: str
    seat: str | None = None
    token: str | None = None  # where the invite is good for several: keep this one


@command(
    category="meta", where="house", records=True, joins=True,
    hint="enters the room: it accepts your invite, or you enter as a guest.",
)  # fmt: skip
async def join(ctx: HouseContext) -> JoinedRoom:
    """Enter a room: accept your invite, or enter as a guest where the room takes guests.

    Guests who are people may take a free seat, guests who are agents watch.
    """
    host, token = ctx.room, None
    if ctx.maybe_member is None:
        if len(host.room.state.members) >= ctx.house.settings.members_limit:
            raise PermissionDenied("this room is full")
        pending = ctx.house.identities.invite_of(ctx.credential)
        if pending is not None:
            token = await _accept(ctx, pending)
        else:
            await _enter(ctx)
    member = host.room.member_of(ctx.credential.identity) if token is None else None
    if member is None and token is not None:
        member = host.room.member_of(ctx.house.identify(token).identity)
    assert member is not None
    return JoinedRoom(host.room.id, member.handle, member.role_name, member.seat, token)


async def _enter(ctx: HouseContext) -> None:
    """A guest, or a host of the house."""
    me = ctx.identity
    assert me is not None
    args = {"handle": me.name, "kind": me.kind, "identity": me.id, "name": me.name}
    await ctx.record("admitted", {**args, "role": "host" if ctx.is_host else None})


async def _accept(ctx: HouseContext, invite: Invite) -> str | None:
    """Become a member by an invite; the new token, where the invite stays good for others."""
    house = ctx.house
    if invite.uses < 1:
        raise Unauthorized("this invite has been used; ask your host for a new one")
    inviter = ctx.room.room.state.members.get(invite.by)
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
    if token is None:  # the invite's token becomes the member's own, also on connections that are open
        ctx.credential.identity, ctx.credential.expires_at = me.id, None
    else:
        house.identities.put_credential(made)
    left = house.identities.take_use(invite, 0)  # it may have been revoked meanwhile
    await _record_invite(ctx, left, "accepted")
    return token


def _check_inviter(room: Room, invite: Invite) -> None:
    """An invite gives what its author could give now."""
    inviter = room.state.members.get(invite.by)
    if inviter is None or C.MANAGE_MEMBERS not in inviter.held:
        raise PermissionDenied("the member who invited you can no longer invite; ask a host for a new invite")
    check_grantable(inviter, ROLES[invite.role or KIND_ROLE[invite.kind]], invite.handle)


# -- tokens -------------------------------------------------------------------------------------
class TokenMade(Struct):
    member: str
    token: str


@command(category="meta", where="house", about="either", records=True, when_archived=True)
async def rotate_token(
    ctx: HouseContext, member: Annotated[str | None, Meta(description="another member's; hosts only")] = None
) -> TokenMade:
    """Replace your token by a new one, or, as a host, that of a member. Shown once; the old one stops working."""
    if member is not None and (ctx.host is None or ctx.member.handle != member):
        return await _rotate_for(ctx, member)
    me = ctx.identity
    if me is None:
        raise Unauthorized("an invite has no token to replace; call join first")
    token = await _replace(ctx, me, ctx.credential.room)
    return TokenMade(ctx.maybe_member.handle if ctx.maybe_member is not None else me.name, token)


async def _rotate_for(ctx: HouseContext, handle: str) -> TokenMade:
    """A host gets a new token for a member: told to that member, and only for what the host could give anyhow."""
    other, me = _member(ctx, handle), ctx.member

    def check(room: Room, at: int) -> None:
        author, member = room.state.members[me.id], room.state.members.get(other.id)
        if C.MANAGE_MEMBERS not in author.held:
            raise PermissionDenied("you can replace your own token; for others you need manage_members")
        if member is not None:
            check_grantable(author, member.held | member.role_grant, member.handle)

    check(ctx.room.room, 0)
    if not other.identity:
        raise BadArgs(f"{other.handle} is a built-in player and has no token")
    identity = ctx.house.identities.get(other.identity)
    assert identity is not None
    if ctx.house.identities.is_of_house(identity.id):
        raise PermissionDenied(
            f"{other.handle} has a token for the whole house, which only it or the house can replace"
        )
    return TokenMade(other.handle, await _replace(ctx, identity, ctx.room.room.id, check))


class TokensRevoked(Struct):
    member: str
    revoked: int


@command(category="host", where="house", needs=C.MANAGE_MEMBERS, records=True, when_archived=True)
async def revoke_token(ctx: HouseContext, member: str) -> TokensRevoked:
    """Make every token of a member for this room worthless; its open connections end."""
    other = _member(ctx, member)
    old = ctx.house.identities.of(other.identity, ctx.room.room.id) if other.identity else []
    return TokensRevoked(other.handle, await _change(ctx, other.identity, ctx.room.room.id, old, (), "revoked"))


def _member(ctx: HouseContext, handle: str) -> Member:
    found = ctx.room.room.state.with_handle(handle)
    if found is None:
        known = [m.handle for m in ctx.room.room.state.members.values()]
        raise UnknownAsset(f"no member is called {handle[:80]!r}", did_you_mean=nearest(handle[:80], known, 3))
    return found


async def _replace(ctx: HouseContext, identity: Identity, room: str | None, check: Check | None = None) -> str:
    """A new token in place of all old ones, for as long as the newest of them would have been good."""
    house, now = ctx.house, ctx.house.clock.now()
    old = house.identities.of(identity.id, room)
    last = old[-1] if old else None
    ends = last.expires_at if last is not None else None
    token = make_token()
    made = Credential(
        hashed(token), identity.id, room, last.label if last else "", now, ends if ends and ends > now else None
    )
    await _change(ctx, identity.id, room, old, [made], "replaced" if old else "issued", check)
    return token


async def _change(
    ctx: HouseContext,
    identity: str,
    room: str | None,
    old: Sequence[Credential],
    new: Sequence[Credential],
    change: str,
    check: Check | None = None,
) -> int:
    """Put a change of credentials on record and store it; how many old ones were revoked."""
    house = ctx.house
    for credential in new:  # known at once, so that another change at the same time replaces it too; its token is not
        house.identities.put_credential(credential)
    try:
        await _record_change(ctx, identity, room, old, new, change, check)
    except BaseException:
        for credential in new:
            house.identities.drop_credential(credential)
        raise
    return len(house.identities.revoke(old))


async def _record_change(
    ctx: HouseContext,
    identity: str,
    room: str | None,
    old: Sequence[Credential],
    new: Sequence[Credential],
    change: str,
    check: Check | None,
) -> None:
    house, author = ctx.house, ctx.identity
    also = Write(credentials=[*(structs.replace(c, revoked=True) for c in old), *new])
    if room is None:
        known = house.identities.get(identity)
        assert known is not None
        who = await house.ledger.admit(known)
        writer = await house.ledger.admit(author) if author is not None else None
        await house.ledger.record("credential", {"member": who, "change": change, "by": writer}, also)
        return
    host = house.rooms[room]
    member = host.room.member_of(identity)
    me = host.room.member_of(author.id) if author is not None else None
    args = {"member": member.id if member else "", "change": change, "by": me.id if me is not None else None}
    if host is ctx.host:
        await ctx.record("credential", args, also, check)
    else:
        await host.put_system("credential", args, also)


# -- for hosts of the house -----------------------------------------------------------------------
RoomName = Annotated[str | None, Meta(description="only for this room; left out: for the whole house")]


class CredentialLine(Struct, omit_defaults=True):
    identity: str
    name: str
    kind: str
    state: str
    created_at: int
    room: str | None = None
    member: str | None = None
    host: bool = False
    label: str = ""
    expires_at: int | None = None


class Credentials(Struct):
    credentials: list[CredentialLine]


@command(category="host", where="house", about="house", host_only=True)
async def list_credentials(ctx: HouseContext) -> Credentials:
    """Every credential of this house: whose it is, and what it is good for. Tokens are not kept, so none is shown."""
    house, now = ctx.house, ctx.house.clock.now()
    lines = []
    for credential in house.identities.all_credentials():
        identity = house.identities.get(credential.identity)
        if identity is None:
            continue
        host = house.rooms.get(credential.room or "")
        member = host.room.member_of(identity.id) if host is not None else None
        lines.append(
            CredentialLine(
                identity.id, identity.name, identity.kind, _state(credential, now), credential.created_at,
                credential.room, member.handle if member is not None else None, identity.host, credential.label,
                credential.expires_at,
            )
        )  # fmt: skip
    return Credentials(lines)


def _state(credential: Credential, now: int) -> str:
    if credential.revoked:
        return "revoked"
    return "expired" if credential.expires_at is not None and credential.expires_at <= now else "good"


@command(category="host", where="house", about="house", host_only=True, records=True, when_archived=True)
async def issue_credential(
    ctx: HouseContext,
    name: Annotated[str, Meta(description="whose it is; with `room`, the handle of a member")],
    kind: Kind | None = None,
    host: Annotated[bool, Meta(description="may create rooms and enter all of them")] = False,
    room: RoomName = None,
    label: Annotated[str, Meta(max_length=80)] = "",
    expires_in_s: ExpiresIn = None,
) -> TokenMade:
    """Make a new identity with a token for the whole house, or one more token for a member of a room. Shown once."""
    house, now = ctx.house, ctx.house.clock.now()
    check_handle(name)
    if room is not None:
        if host:
            raise BadArgs("a host is a host of the whole house; leave out room")
        identity = _identity_in(ctx, name, room)
        if kind not in (None, identity.kind):
            raise BadArgs(f"{name} is of kind {identity.kind} in room {room}")
    else:
        identity = new_identity(name, kind or ("human" if host else "agent"), host=host)
        house.identities.put(identity)
        await house.ledger.admit(identity)
    token = make_token()
    expires = now + expires_in_s * 1000 if expires_in_s else None
    made = Credential(hashed(token), identity.id, room, label, now, expires)
    await _change(ctx, identity.id, room, (), [made], "issued")
    return TokenMade(name, token)


@command(category="host", where="house", about="house", host_only=True, records=True, when_archived=True)
async def rotate_credential(ctx: HouseContext, name: str, room: RoomName = None) -> TokenMade:
    """A new token in place of all old ones, for somebody of the house or for a member of a room. Shown once."""
    identity = _identity_in(ctx, name, room) if room is not None else _identity(ctx, name)
    if not ctx.house.identities.of(identity.id, room):
        raise UnknownAsset(f"{name!r} has no token {_where(room)}; list_credentials shows who has")
    return TokenMade(name, await _replace(ctx, identity, room))


@command(category="host", where="house", about="house", host_only=True, records=True, when_archived=True)
async def revoke_credential(ctx: HouseContext, name: str, room: RoomName = None) -> TokensRevoked:
    """Make every token of somebody worthless: of the house, or of a member of a room."""
    identity = _identity_in(ctx, name, room) if room is not None else _identity(ctx, name)
    old = ctx.house.identities.of(identity.id, room)
    if not old:
        raise UnknownAsset(f"{name!r} has no token {_where(room)}; list_credentials shows who has")
    return TokensRevoked(name, await _change(ctx, identity.id, room, old, (), "revoked"))


def _where(room: str | None) -> str:
    return f"for room {room}" if room is not None else "for the whole house"


def _identity_in(ctx: HouseContext, handle: str, room: str) -> Identity:
    host = ctx.house.rooms.get(room)
    if host is None:
        raise UnknownAsset(f"there is no room {room[:64]!r}", did_you_mean=nearest(room[:64], ctx.house.rooms, 2))
    member = host.room.state.with_handle(handle)
    if member is None:
        known = [m.handle for m in host.room.state.members.values()]
        raise UnknownAsset(
            f"no member of room {room} is called {handle!r}; there are {', '.join(known)}",
            did_you_mean=nearest(handle, known, 2),
        )
    identity = ctx.house.identities.get(member.identity)
    if identity is None:
        raise BadArgs(f"{handle} is a built-in player and has no token")
    return identity


def _identity(ctx: HouseContext, name: str) -> Identity:
    """Somebody of the house, by id or by name."""
    identities = ctx.house.identities
    known = identities.get(name)
    if known is not None:
        return known
    found = [i for i in identities.everybody() if i.name == name and identities.of(i.id, None)]
    if len(found) > 1:
        raise Conflict(f"{len(found)} identities are called {name!r}; give an id: {', '.join(i.id for i in found)}")
    if not found:
        rooms = sorted({c.room for i in identities.everybody() if i.name == name
                        for c in identities.all_credentials() if c.identity == i.id and c.room})  # fmt: skip
        hint = f" (there is one in {', '.join(rooms)}: say which room)" if rooms else ""
        raise UnknownAsset(f"{name!r} has no token for the whole house{hint}; list_credentials shows who has")
    return found[0]
