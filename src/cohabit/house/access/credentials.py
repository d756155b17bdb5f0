"""Commands for tokens: replace your own, manage those of members, and, for house hosts, manage all.

Issuing, replacing or revoking a credential is recorded, and the member is notified. The entry is in the room's record
if the credential is for one room, else in the house record.
"""

import asyncio
import logging
from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct, structs

from cohabit.errors import BadArgs, Conflict, PermissionDenied, Unauthorized, UnknownAsset
from cohabit.house.calls.across import Args, Ask, ask_others, question, where_room_is
from cohabit.house.calls.context import HouseContext, Services
from cohabit.house.running.calls import Check, SystemCall
from cohabit.house.running.runner import RoomRunner
from cohabit.house.store.contract import Write
from cohabit.house.store.identities import FOR_A_PERSON, OPERATOR, TEMPORARY, hashed, make_token, new_identity
from cohabit.model.grant import Capability
from cohabit.model.identity import Credential, Ended, Identity, Kind
from cohabit.model.suggest import nearest
from cohabit.room.access.grants import check_grantable
from cohabit.room.commands import command
from cohabit.room.decide import by_credential
from cohabit.room.room import Room
from cohabit.room.state import Member
from cohabit.scenario import check_handle

log = logging.getLogger("cohabit")
C = Capability
ExpiresIn = Annotated[
    Annotated[int, Meta(ge=1, le=10**9)] | None, Meta(description="the token expires after this many seconds")
]


# -- tokens -------------------------------------------------------------------------------------
class TokenMade(Struct):
    member: str
    token: str


@command(exclusive=True, category="meta", where="house", about="either", records=True, when_archived=True)
async def rotate_token(
    ctx: HouseContext, member: Annotated[str | None, Meta(description="whose token; hosts only, default: yours")] = None
) -> TokenMade:
    """Replace your token, or, as a host, another member's. The new token is shown once; the old one is revoked."""
    if member is not None and (ctx.maybe_runner is None or ctx.member.handle != member):
        return await _rotate_for(ctx, member)
    me = ctx.identity
    if me is None:
        raise Unauthorized("accept your invite first (`join`)")
    if ctx.credential.oauth:
        raise BadArgs("you sign in with OAuth: your client refreshes its token by itself")
    if ctx.credential.label == TEMPORARY:
        raise BadArgs("this token is valid only while this house runs, and cannot be replaced")
    # A host may have made another token of this identity for a room. After this one nobody else knows any.
    bound = [] if ctx.credential.room is not None else _bound_to_rooms(ctx, me)
    token = await _replace(ctx, me, ctx.credential.room, ctx.credential.expires_at, others=bound)
    return TokenMade(ctx.maybe_member.handle if ctx.maybe_member is not None else me.name, token)


def _bound_to_rooms(ctx: HouseContext, me: Identity) -> list[Credential]:
    held = ctx.house.identities.all_credentials()
    return [each for each in held if each.identity == me.id and each.room is not None and not each.revoked]


async def _rotate_for(ctx: HouseContext, handle: str) -> TokenMade:
    """Replace a member's token and notify the member. The host must be able to grant everything the member has."""
    me = ctx.member
    if C.MANAGE_MEMBERS not in me.held:
        raise PermissionDenied("replacing another member's token requires manage_members")
    other = ctx.room.state.require_member(handle, me)

    def check(room: Room, at: int) -> None:
        author, member = room.state.members[me.id], room.state.members.get(other.id)
        if C.MANAGE_MEMBERS not in author.held:
            raise PermissionDenied("replacing another member's token requires manage_members")
        if member is not None:
            _check_private(ctx, other.identity, room.id)
            check_grantable(author, member.held | member.role_grant, member.handle)

    check(ctx.room, 0)
    if not other.identity:
        raise BadArgs(f"{other.handle} is a built-in player and has no token")
    await _check_private_elsewhere(ctx, other.identity)
    identity = ctx.house.identities.get(other.identity)
    assert identity is not None
    if ctx.house.identities.is_of_house(identity.id):
        raise PermissionDenied(
            f"{other.handle} has a house-wide token, which only {other.handle} or a house host can replace"
        )
    ends = _longest(ctx, identity, ctx.room.id)
    return TokenMade(other.handle, await _replace(ctx, identity, ctx.room.id, ends, check))


def _check_private(ctx: HouseContext, identity: str, here: str | None) -> None:
    """Refuse a token of somebody who sees what a room keeps for its player, in whatever room: a token for one room can
    lead to another one (`resume_game` of the Nexus, `join` of a guest)."""
    if why := _private(ctx.house, identity, here):
        raise PermissionDenied(why)


def _private(house: Services, identity: str, here: str | None) -> str:
    known = house.identities.get(identity)
    if known is None:
        return ""
    removed = Member(known.name, known.kind, identity=identity)  # where it is no member, but may come back to its seat
    for runner in list(house.rooms.values()):
        member = runner.room.member_of(identity) or removed
        if why := runner.room.kept_private(member, "token"):
            return why if runner.id == here else f"{member.handle} plays in another room: {why}"
    return ""


@question
async def private_in_a_room(house: Services, identity: str) -> str:
    """The reason why nobody else may get a token of an identity; empty if there is no reason."""
    return _private(house, identity, None)


async def _check_private_elsewhere(ctx: HouseContext, identity: str) -> None:
    for why in await ask_others(ctx.house, private_in_a_room, identity=identity):
        if why:
            raise PermissionDenied(why)


@question
async def close_earlier_games(house: Services, identity: str) -> None:
    """Somebody else gets a token of this identity: the games that it has played must not come back from saves."""
    for runner in list(house.rooms.values()):
        state = runner.room.state
        played = any(identity in seats for seats in (state.played, *state.played_before.values()))
        if played and runner.room.is_sealed:
            await runner.submit(SystemCall("token_known", {"identity": identity}))


class TokensRevoked(Struct):
    member: str
    revoked: int


@command(exclusive=True, category="host", where="house", needs=C.MANAGE_MEMBERS, records=True, when_archived=True)
async def revoke_token(ctx: HouseContext, member: str) -> TokensRevoked:
    """Revoke all of a member's tokens for this room and close its connections."""
    other = ctx.room.state.require_member(member, ctx.member)
    old = ctx.house.identities.of(other.identity, ctx.room.id) if other.identity else []
    return TokensRevoked(other.handle, await _change(ctx, other.identity, ctx.room.id, old, (), "revoked"))


def _longest(ctx: HouseContext, identity: Identity, room: str | None) -> int | None:
    """The time at which the last of an identity's tokens expires; None if never, or if none is valid."""
    now = ctx.house.clock.now()
    ends = [
        c.expires_at for c in ctx.house.identities.of(identity.id, room) if c.expires_at is None or c.expires_at > now
    ]
    return None if None in ends else max((end for end in ends if end is not None), default=None)


async def own_token(ctx: HouseContext) -> str | None:
    """A token that nobody else knows, for a person who came with a link that the creator of the room has seen."""
    me = ctx.identity
    if me is None or ctx.credential.label != FOR_A_PERSON:
        return None
    return await _replace(ctx, me, ctx.credential.room, ctx.credential.expires_at, link=ctx.credential)


async def _replace(
    ctx: HouseContext, identity: Identity, room: str | None, ends: int | None, check: Check | None = None,
    others: Sequence[Credential] = (), link: Credential | None = None,
) -> str:  # fmt: skip
    """Replace all old tokens, and these others, with a new one, valid until ``ends``. ``link``: one of the old ones,
    which works until the new one is used, because the reply may be lost."""
    house, now = ctx.house, ctx.house.clock.now()
    old = house.identities.of(identity.id, room)
    token = make_token()
    label = old[-1].label if old and old[-1].label != FOR_A_PERSON else ""
    made = Credential(
        hashed(token), identity.id, room, label, now, ends, instead_of=link.hash if link is not None else b""
    )
    await _change(ctx, identity.id, room, [*old, *others], [made], "replaced" if old else "issued", check, link)
    return token


async def _change(
    ctx: HouseContext, identity: str, room: str | None, old: Sequence[Credential], new: Sequence[Credential],
    change: str, check: Check | None = None, link: Credential | None = None,
) -> int:  # fmt: skip
    """Record and store a change of credentials. Returns how many old ones were revoked."""
    house = ctx.house
    if new and ctx.credential.identity not in (OPERATOR.id, identity):
        await close_earlier_games(house, identity)
        await ask_others(house, close_earlier_games, identity=identity)
    old = [credential for credential in old if credential is not link]
    also = Write(credentials=[*(structs.replace(c, revoked=True) for c in old), *new])
    for credential in new:  # registered now, so a concurrent change replaces it too; the token is not sent yet
        house.identities.put_credential(credential)
    try:
        await _record_change(ctx, identity, room, change, also, check)
    except BaseException:
        for credential in new:
            house.identities.drop_credential(credential)
        raise
    if link is not None:
        house.identities.put_unused(new[0])
    house.identities.revoke(old)  # perhaps they are already: where this is written, it is applied at once
    return len(old)


async def _record_change(
    ctx: HouseContext, identity: str, room: str | None, change: str, also: Write, check: Check | None
) -> None:
    house, author = ctx.house, ctx.identity
    if room is None:
        known = house.identities.get(identity)
        assert known is not None
        who = await house.ledger.admit(known)
        writer = await house.ledger.admit(author) if author is not None else None
        args = {"member": who, "change": change, "by": writer}
        await house.ledger.record("credential", args, also, ctx.credential.hash)
        return
    runner = house.rooms[room]
    member = runner.room.member_of(identity)
    me = runner.room.member_of(author.id) if author is not None else None
    by = me.id if me is not None else f"{author.name} (a host of this house)" if author is not None else None
    args = {"member": member.id if member else "", "change": change, "by": by}
    if runner is ctx.maybe_runner:
        await ctx.record("credential", args, also, check)
    else:
        await runner.submit(SystemCall("credential", args, also, check))


async def revoke_and_store(house: Services, credentials: Sequence[Credential]) -> None:
    """Revoke credentials without notifying a member."""
    await house.writer.submit(Write(credentials=house.identities.revoke(credentials)))


def members_removed(house: Services, runner: RoomRunner, members: Sequence[Member]) -> "asyncio.Future[None] | None":
    """Revoke the credentials of removed members for this room. Returns a future for when that is stored."""
    state, now = runner.room.state, house.clock.now()
    gone: list[Credential] = []
    for member in members:
        who = member.identity
        why: Ended = "blocked" if who in state.blocked else "left" if who in state.former else "removed"
        gone += house.identities.end(who, runner.id, why, now) if who else []
    if not gone:
        return None
    stored = house.writer.submit(Write(credentials=gone))
    stored.add_done_callback(_log_failure)
    return stored


def store_used(house: Services, changed: Sequence[Credential]) -> None:
    """Store that a token is used for the first time; in other processes, the one that it replaces ends too."""
    stored = house.writer.submit(Write(credentials=[structs.replace(each) for each in changed]))
    stored.add_done_callback(_log_failure)


def _log_failure(done: "asyncio.Future[None]") -> None:
    if not done.cancelled() and done.exception() is not None:
        log.error("credentials could not be stored: %s", done.exception())


# -- for house hosts -----------------------------------------------------------------------
RoomName = Annotated[str | None, Meta(description="limit to this room; default: house-wide")]


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


async def _credentials_across(ask: Ask, args: Args) -> Credentials:
    """Each node knows the members of its rooms."""
    mine, *others = await ask.everywhere(args)
    known = {(line.identity, line.room): line.member for part in others for line in part.credentials if line.member}
    for line in mine.credentials:
        line.member = line.member or known.get((line.identity, line.room))
    return Credentials(mine.credentials)


@command(category="host", where="house", about="house", host_only=True, across=_credentials_across)
async def list_credentials(ctx: HouseContext) -> Credentials:
    """All credentials of this house, with owner and scope. Tokens are not stored, so they are not shown."""
    house, now = ctx.house, ctx.house.clock.now()
    lines = []
    for credential in house.identities.all_credentials():
        identity = house.identities.get(credential.identity)
        if identity is None:
            continue
        runner = house.rooms.get(credential.room or "")
        member = runner.room.member_of(identity.id) if runner is not None else None
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
        return credential.ended or "revoked"
    return "good" if by_credential(credential, now) else "expired"


_of_hosts = command(
    exclusive=True, category="host", where="house", about="house", host_only=True, records=True, across=where_room_is
)


@_of_hosts
async def issue_credential(
    ctx: HouseContext,
    name: Annotated[str, Meta(description="the owner; with `room`, the handle of a member")],
    kind: Kind | None = None,
    host: Annotated[bool, Meta(description="a house host, who may create rooms and enter all of them")] = False,
    room: RoomName = None,
    label: Annotated[str, Meta(max_length=80)] = "",
    expires_in_s: ExpiresIn = None,
) -> TokenMade:
    """Create an identity with a house-wide token, or another token for a member of a room. It is shown once."""
    house, now, check = ctx.house, ctx.house.clock.now(), None
    check_handle(name)
    if room is not None:
        if host:
            raise BadArgs("host cannot be combined with room: hosts are house-wide")
        identity = _identity_in(ctx, name, room)
        check = await _check_for_others(ctx, identity, room)
        if kind not in (None, identity.kind):
            raise BadArgs(f"{name} is of kind {identity.kind} in room {room}")
    else:
        identity = new_identity(name, kind or ("human" if host else "agent"), host=host)
        house.identities.put(identity)
        await house.ledger.admit(identity)
    token = make_token()
    expires = now + expires_in_s * 1000 if expires_in_s else None
    made = Credential(hashed(token), identity.id, room, label=label, created_at=now, expires_at=expires)
    await _change(ctx, identity.id, room, (), [made], "issued", check)
    return TokenMade(name, token)


@_of_hosts
async def rotate_credential(ctx: HouseContext, name: str, room: RoomName = None) -> TokenMade:
    """Replace all tokens of an identity, house-wide or for one room, with a new one. It is shown once."""
    identity, old = _owner(ctx, name, room)
    if any(credential.oauth for credential in old):
        raise BadArgs(f"{name} signs in with OAuth and has no token to replace; `revoke_credential` ends its access")
    check = await _check_for_others(ctx, identity, room)
    return TokenMade(name, await _replace(ctx, identity, room, _longest(ctx, identity, room), check))


@_of_hosts
async def revoke_credential(ctx: HouseContext, name: str, room: RoomName = None) -> TokensRevoked:
    """Revoke all tokens of an identity, house-wide or for one room."""
    identity, old = _owner(ctx, name, room)
    return TokensRevoked(name, await _change(ctx, identity.id, room, old, (), "revoked"))


async def _check_for_others(ctx: HouseContext, identity: Identity, room: str | None) -> Check | None:
    """Refuse a token with which the caller would see what a room keeps for its player. Returns a check of the same when
    the token is recorded. The owner of the data folder sees everything in any case; there the player is told."""
    if ctx.credential.identity in (OPERATOR.id, identity.id):
        return None
    if identity.id == OPERATOR.id:
        raise PermissionDenied("the operator's token is only in the data folder of this house")

    _check_private(ctx, identity.id, room)
    await _check_private_elsewhere(ctx, identity.id)
    return lambda _, at: _check_private(ctx, identity.id, room)


def _owner(ctx: HouseContext, name: str, room: str | None) -> tuple[Identity, list[Credential]]:
    """The identity that is called this, house-wide or in a room, and its tokens."""
    identity = _identity_in(ctx, name, room) if room is not None else _identity(ctx, name)
    held = ctx.house.identities.of(identity.id, room)
    if not held:
        where = f"for room {room}" if room is not None else "for the house"
        raise UnknownAsset(f"{name!r} has no token {where}; see `list_credentials`, or run `cohabit token list`")
    return identity, held


def _identity_in(ctx: HouseContext, handle: str, room: str) -> Identity:
    runner = ctx.house.rooms.get(room)
    if runner is None:
        raise UnknownAsset(f"unknown room {room[:64]!r}", did_you_mean=nearest(room[:64], ctx.house.rooms, 2))
    member = runner.room.state.require_member(handle)
    identity = ctx.house.identities.get(member.identity)
    if identity is None:
        raise BadArgs(f"{handle} is a built-in player and has no token")
    return identity


def _identity(ctx: HouseContext, name: str) -> Identity:
    """An identity with a house-wide token, by id or by name."""
    identities = ctx.house.identities
    known = identities.get(name)
    if known is not None:
        return known
    found = [i for i in identities.everybody() if i.name == name and identities.of(i.id, None)]
    if len(found) > 1:
        raise Conflict(
            f"{len(found)} identities have the name {name!r}; pass an id instead: {', '.join(i.id for i in found)}"
        )
    if not found:
        rooms = sorted({c.room for i in identities.everybody() if i.name == name
                        for c in identities.all_credentials() if c.identity == i.id and c.room})  # fmt: skip
        hint = f"; it has one for room {', '.join(rooms)}, so pass room" if rooms else ""
        raise UnknownAsset(
            f"{name!r} has no house-wide token{hint}; see `list_credentials`, or run `cohabit token list`", rooms=rooms
        )
    return found[0]
