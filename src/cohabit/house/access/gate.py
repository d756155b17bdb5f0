"""The gate of a room: `join`, for everyone who is not a member yet.

There is one gate for people and agents. A newcomer joins with an invite, as an identity of the house, with an agent
key, with a code, by name, or because the room is open. It becomes a member at once, or waits in the lobby. A waiting
newcomer has a token that can only call `join`; when a host admits it, the same token becomes the member's.
"""

import asyncio
from secrets import token_hex
from typing import Annotated, Literal

from msgspec import Meta, Struct, structs, to_builtins

from cohabit.errors import BadArgs, Busy, Conflict, PermissionDenied, Unauthorized
from cohabit.house.access import signing
from cohabit.house.access.credentials import own_token, revoke_and_store
from cohabit.house.access.entry_limits import Gate, caller_of, count_arrival, matched_code, space_in_lobby
from cohabit.house.access.invites import check_inviter, record_invite
from cohabit.house.access.limited_keys import KEY, check_not_barred
from cohabit.house.calls.context import HouseContext
from cohabit.house.calls.resolve import resolve
from cohabit.house.store.contract import Write
from cohabit.house.store.identities import USED_UP, WATCH_LINK, hashed, make_token, new_identity
from cohabit.model.admission import Admission, EntryPolicy, Knock, same_name
from cohabit.model.grant import Capability
from cohabit.model.identity import Credential, Identity, Invite
from cohabit.model.words import Words
from cohabit.room.commands import Backend, WaitMs, command
from cohabit.room.room import Room
from cohabit.room.seeing.looking import seat_text
from cohabit.room.state import Member, handle_of
from cohabit.scenario import check_name, handle_for

C = Capability
INVITED, AS_GUEST, WITH_KEY, BY_CODE, BY_NAME, OPEN_LINK = "invite", "guest", "agent key", "code", "name", "open link"
BY_CLAIM = "claim"
"""The ways to join."""
PROVEN = (INVITED, AS_GUEST, WITH_KEY, BY_CODE, BY_CLAIM)
"""Ways to join that not everybody has. They have precedence in a full lobby."""
SHARED = "This invite is shared with others. Connect with this token from now on; joining again adds another member."
OWN = "Connect with this token from now on."
YOURS = f"{OWN} If your client cannot change it, call `join` again with keep_token."
WELCOME = "You are in this room. If you have just joined, you have other commands now: over MCP, list your tools again."
WAITING = "A host must admit you. Call `join` with wait_ms, with this token, until the status changes."


# -- joining --------------------------------------------------------------------------------------
Status = Literal["joined", "waiting", "denied", "locked"]
"""A newcomer waits, was denied, or waits while the room is locked; then it has joined."""


class JoinedRoom(Struct, omit_defaults=True):
    """``token``: a new token, to connect with from now on."""

    room: str
    status: Status
    member: str = ""
    role: str = ""
    seat: str | None = None
    token: str | None = None
    note: str | None = None


class Newcomer(Struct):
    """A caller that is not a member yet, and the membership it would get."""

    how: str
    identity: Identity
    admission: Admission
    token: str | None = None  # a new one; None: it has one
    credential: Credential | None = None  # for a token that is made, or that an invite becomes
    invite: Invite | None = None


Name = Annotated[
    Annotated[str, Meta(max_length=64)] | None,
    Meta(description="the name to join under, if you have no invite or share one"),
]


@command(
    category="meta", where="house", records=True, joins=True,
    hint="joins the room, with your invite or by another way that the room allows. Then list your tools again: there "
    "are others.",
    listed=True,
)  # fmt: skip
async def join(
    ctx: HouseContext,
    name: Name = None,
    code: Annotated[Annotated[str, Meta(max_length=64)] | None, Meta(description="the code of the room")] = None,
    assertion: Annotated[
        Annotated[str, Meta(max_length=signing.MAX_TOKEN)] | None,
        Meta(description="a signed proof that you hold an agent key"),
    ] = None,
    backend: Annotated[Backend | None, Meta(description="the model that you use")] = None,
    egress: Annotated[bool, Meta(description="true if you send what you see outside this house")] = False,
    keep_token: Annotated[
        bool,
        Meta(description="stay with the token of your invite, which others know; if you cannot connect with a new one"),
    ] = False,
    wait_ms: WaitMs = 0,
) -> JoinedRoom:
    """Join a room with your invite, or by another way that the room allows.

    A room may allow its code, listed names, agent keys, or guests: people may take a free seat, agents watch unless the
    room lets them play. If it has a lobby, the status is `waiting` until a host admits you: call `join` again with
    `wait_ms`.
    """
    house = ctx.house
    ends = house.clock.now() + wait_ms
    asked = Asked(name, code, assertion, backend, egress, keep_token)
    identity, token = await _try_to_enter(ctx, asked)
    reply = _reply(ctx, identity, token)
    if token is not None:  # it is shown once, so it must not be lost with a call that waits
        return reply
    while reply.status in ("waiting", "locked") and house.clock.now() < ends:
        await _change_or_end_of_token(ctx, ends)
        house.identities.check(ctx.credential, house.clock.now())
        policy = ctx.room.state.entry_policy
        if not (policy.lobby or policy.locked):  # the host has closed the lobby
            await _try_to_enter(ctx, asked)
        reply = _reply(ctx, identity, token)
    return reply


async def _change_or_end_of_token(ctx: HouseContext, ends: int) -> None:
    """Wait until something changes in the room, its time has passed, or the token of the caller has ended."""
    runner, identities, clock = ctx.runner, ctx.house.identities, ctx.house.clock
    change = asyncio.ensure_future(runner.changed_since(runner.version, ends))

    def ended() -> None:
        change.cancel()

    stop = identities.until_invalid(clock, ctx.credential, ended)
    try:
        await asyncio.wait([change])
    finally:
        stop()
        change.cancel()
    if not change.cancelled() and not change.result() and runner.failure is not None:
        raise runner.failure


async def _try_to_enter(ctx: HouseContext, asked: "Asked") -> tuple[str, str | None]:
    """Admit the caller, or put it into the lobby. A caller in the lobby is admitted if its way to join is open now.
    Returns its identity, and its token if it is a new one."""
    house = ctx.house
    if _needs_code(ctx, asked):  # before the lock: a check is slow, and others must not wait for it
        asked.matched = await matched_code(ctx, asked.code or "")
    async with house.exclusive:  # the caller may have lost its token in the meantime
        ctx = resolve(house, ctx.credential, ctx.room.id, ctx.command.name)
        house.identities.check(ctx.credential, house.clock.now())
        identity, token = await _enter(ctx, asked)
        await _revoke_if_removed(ctx, identity)
    return identity, token


class Asked(Struct):
    """The arguments of `join`."""

    name: str | None = None
    code: str | None = None
    assertion: str | None = None
    backend: str | None = None
    egress: bool = False
    keep_token: bool = False
    matched: str = ""  # the stored code that the given one is the same as


async def _enter(ctx: HouseContext, asked: Asked) -> tuple[str, str | None]:
    """Make the caller a member, or put it into the lobby. Returns its identity, and its token if it is a new one."""
    if ctx.maybe_member is not None:
        return ctx.member.identity, None if asked.keep_token else await own_token(ctx)
    state = ctx.room.state
    knock = state.knock_of(ctx.credential.identity) if ctx.credential.identity else None
    if knock is not None:
        _check_budget(ctx, knock.identity)
        if not knock.denied and _may_pass(ctx, knock):
            await ctx.record("admitted", to_builtins(knock.admission))
        return knock.identity, None
    newcomer = _newcomer(ctx, asked)
    _check_budget(ctx, newcomer.identity.id)
    newcomer.admission.how = _in_words(ctx, newcomer)
    if await _came_back(ctx, newcomer):
        return newcomer.identity.id, newcomer.token
    lobby = _check_may_enter(ctx, newcomer)
    await _record_entry(ctx, newcomer, lobby)
    return newcomer.identity.id, newcomer.token


def _check_budget(ctx: HouseContext, identity: str) -> None:
    """Leaving and joining again gives nobody more than its budget. A host of the house can raise its own."""
    account = ctx.runner.egress.accounts.get(identity)
    if account is not None and not ctx.is_host:
        account.check()


def _may_pass(ctx: HouseContext, knock: Knock) -> bool:
    """True if a waiting newcomer needs no host any more: the lobby was turned off, and its way to join still exists."""
    state, policy = ctx.room.state, ctx.room.state.entry_policy
    if policy.locked or policy.lobby or len(state.members) >= ctx.house.settings.members_limit:
        return False
    if knock.how == INVITED:
        known = {invite.id: invite for invite in ctx.house.identities.all_invites(ctx.room.id)}
        invite = known.get(knock.admission.invite or "")
        if invite is None or invite.revoked:
            return False
        try:
            check_inviter(ctx.room, invite)
        except PermissionDenied:
            return False
        return True
    if knock.how == WITH_KEY:
        return any(f"{KEY}{signing.thumbprint(known.key)}" == knock.identity for known in policy.agent_keys)
    if knock.how == BY_NAME:
        return same_name(knock.name) in map(same_name, policy.names)
    by_claim = ctx.credential.role_in(ctx.room.id) is not None
    return {BY_CODE: bool(policy.code), OPEN_LINK: policy.open, AS_GUEST: state.guests, BY_CLAIM: by_claim}[knock.how]


async def _revoke_if_removed(ctx: HouseContext, identity: str) -> None:
    """A host may have removed the newcomer before its token was registered; then the reply says so."""
    room, house = ctx.room, ctx.house
    if room.member_of(identity) is None and room.state.knock_of(identity) is None:
        await revoke_and_store(house, house.identities.of(identity, room.id))


def _reply(ctx: HouseContext, identity: str, token: str | None) -> JoinedRoom:
    room = ctx.room
    member, knock = room.member_of(identity), room.state.knock_of(identity)
    invite = ctx.house.identities.invite_of(ctx.credential)
    if member is not None:
        had_token = invite is not None or bool(ctx.credential.identity)
        note = YOURS if had_token else OWN
        if token is None:
            note = _welcome(room, member)
        elif invite is not None and invite.shared:
            note = SHARED
        return JoinedRoom(room.id, "joined", member.handle, member.role_name, member.seat, token, note)
    if knock is None:  # a host removed the member before the reply
        raise Unauthorized("you were removed from this room")
    if knock.denied:
        return JoinedRoom(room.id, "denied", token=token, note="A host denied you entry.")
    if room.state.entry_policy.locked:
        return JoinedRoom(room.id, "locked", token=token, note="This room is locked. A host can unlock it.")
    return JoinedRoom(room.id, "waiting", token=token, note=WAITING)


def _welcome(room: Room, member: Member) -> str:
    return f"{WELCOME} {seat_text(room, member)}".rstrip()


def _check_may_enter(ctx: HouseContext, newcomer: Newcomer) -> bool:
    """True if the newcomer has to wait in the lobby. Raises if it may not join at all."""
    state, who = ctx.room.state, newcomer.identity.id
    if len(state.members) >= ctx.house.settings.members_limit:
        raise PermissionDenied("this room is full")
    if ctx.is_host:
        return False
    if who in state.blocked:
        raise PermissionDenied("you were blocked from this room; a host can unblock you")
    _check_words(ctx.room, newcomer)
    if who in state.former:
        return False
    if state.entry_policy.locked:
        raise PermissionDenied("this room is locked; ask a host to unlock it")
    return state.entry_policy.lobby


def _check_words(room: Room, newcomer: Newcomer) -> None:
    """Refuse a name or a backend that others may not read. Somebody who is muted joins under the name that it had."""
    shown, who, invite = newcomer.admission, newcomer.identity.id, newcomer.admission.invite or ""
    chosen = newcomer.token is not None if newcomer.invite is None else newcomer.invite.shared
    instead = "choose another name" if chosen else "ask a host for an invite or a token with another name"
    handle = shown.handle if chosen else ""
    room.check_words(None, Words((handle, shown.name), chosen, identity=who, handle=handle, instead=instead))
    if shown.backend:
        instead = "join without `backend`"
        room.check_words(None, Words((shown.backend,), True, identity=who, invite=invite, instead=instead))


async def _record_entry(ctx: HouseContext, newcomer: Newcomer, lobby: bool) -> None:
    """Record that the newcomer joined or waits, with its identity, its credential and the use of its invite."""
    house, me, invite = ctx.house, newcomer.identity, newcomer.invite
    do, args, dropped = "admitted", to_builtins(newcomer.admission), list[Credential]()
    if lobby:
        gone = space_in_lobby(ctx.room.state, house.clock.now(), newcomer.how, PROVEN)
        dropped = [c for knock in gone for c in house.identities.of(knock.identity, ctx.room.id)]
        args = {"knock": token_hex(4), "how": newcomer.how, "admission": args, "drop": [knock.id for knock in gone]}
        do = "knocked"
    made = [] if newcomer.credential is None else [newcomer.credential]
    also = Write(credentials=[*(structs.replace(c, revoked=True) for c in dropped), *made])
    if house.identities.get(me.id) != me:
        also.identities = [me]
    if invite is not None:
        also.invites = [house.identities.take_use(invite)]
    try:
        await ctx.record(do, args, also, None if invite is None else lambda room, at: check_inviter(room, invite))
    except BaseException:
        if invite is not None:
            house.identities.take_use(invite, -1)
        raise
    for one in dropped:
        house.identities.end(one.identity, ctx.room.id, "removed", house.clock.now())
    if dropped:
        await house.writer.submit(Write(credentials=dropped))
    house.identities.put(me)
    house.rooms.shared.egress.is_back(me.id)
    _put_token(ctx, newcomer)
    if invite is not None:  # it may have been revoked in the meantime
        await record_invite(ctx, house.identities.take_use(invite, 0), "accepted")


async def _came_back(ctx: HouseContext, newcomer: Newcomer) -> bool:
    """True if an agent with a key, or an invitee whose reply was lost, is a member or waits already. Then another token
    replaces its old ones: a new one, or that of the invite."""
    identities, state = ctx.house.identities, ctx.room.state
    member, knock = ctx.room.member_of(newcomer.identity.id), state.knock_of(newcomer.identity.id)
    if newcomer.credential is None or (member is None and knock is None):
        return False
    old = identities.of(newcomer.identity.id, ctx.room.id)
    also = Write(credentials=[*(structs.replace(c, revoked=True) for c in old), newcomer.credential])
    if member is not None:
        await ctx.record("credential", {"member": member.id, "change": "replaced", "by": member.id}, also)
    else:
        await ctx.house.writer.submit(also)
    _put_token(ctx, newcomer)
    identities.revoke(old)
    return True


def _put_token(ctx: HouseContext, newcomer: Newcomer) -> None:
    """Register the token that was made for a newcomer, or that of its invite."""
    identities, made, invite = ctx.house.identities, newcomer.credential, newcomer.invite
    if made is None:
        return
    if newcomer.token is None and invite is not None:  # it becomes the member's own, also on open connections
        identities.drop_unused(invite.hash)
        identities.drop_credential(ctx.credential)  # it is found by its identity
        ctx.credential.identity, ctx.credential.expires_at = newcomer.identity.id, None
        identities.put_credential(ctx.credential)
    elif invite is None or invite.shared:
        identities.put_credential(made)
    else:
        identities.put_unused(made)


def _in_words(ctx: HouseContext, newcomer: Newcomer) -> str:
    """The way in which a newcomer joins, for the audit."""
    if newcomer.invite is not None:
        return f"with an invite of {handle_of(newcomer.invite.by)}"
    if ctx.is_host:
        return "as a host of this house"
    return {
        AS_GUEST: "as a guest of this house", WITH_KEY: "with an agent key", BY_CODE: "with the code of the room",
        BY_NAME: "by a name on the list", OPEN_LINK: "by the open link", BY_CLAIM: "by a claim of its access token",
    }[newcomer.how]  # fmt: skip


# -- newcomers ------------------------------------------------------------------------------------
def _newcomer(ctx: HouseContext, asked: Asked) -> Newcomer:
    """The caller, identified by its credential or its arguments. Raises if they do not allow it to join."""
    pending = ctx.house.identities.invite_of(ctx.credential)
    if pending is not None:
        return _invited(ctx, pending, asked)
    me, state = ctx.identity, ctx.room.state
    if me is not None:
        check_not_barred(ctx.room, me)
    if me is not None and ctx.credential.role_in(ctx.room.id) is not None:
        return _known(ctx, me, BY_CLAIM, asked)
    if me is not None and (ctx.is_host or state.guests):
        return _known(ctx, me, AS_GUEST, asked)
    policy = state.entry_policy
    if asked.assertion is not None:
        return _with_key(ctx, policy, asked)
    how = _way_in(policy, me.name if me is not None else asked.name or "", asked)
    if me is not None:
        return _known(ctx, me, how, asked)
    count_arrival(ctx)
    name = (asked.name or "").strip()
    return _stranger(ctx, new_identity(name, policy.kind), name, how, asked)


def _invited(ctx: HouseContext, invite: Invite, asked: Asked) -> Newcomer:
    house = ctx.house
    again = None
    if invite.uses < 1:
        unused = house.identities.unused_of(invite.hash)
        again = house.identities.get(unused.identity) if unused is not None else None
        if again is None or not (ctx.room.member_of(again.id) or ctx.room.state.knock_of(again.id)):
            raise Unauthorized(USED_UP)
    inviter = ctx.room.state.members.get(invite.by)
    chosen = (asked.name or "").strip() if invite.shared else ""  # several may accept it, each under its own name
    if chosen:
        check_name(chosen)
    name = chosen or invite.name or invite.handle
    me = again or new_identity(name, invite.kind, inviter.identity or None if inviter else None)
    # Others know the token of an invite.
    token = make_token() if invite.shared or not asked.keep_token else None
    made = Credential(
        invite.hash if token is None else hashed(token), me.id, invite.room, WATCH_LINK if invite.watches else "",
        house.clock.now(), instead_of=b"" if token is None or invite.shared else invite.hash,
    )  # fmt: skip
    admission = Admission(
        handle_for(chosen) if chosen else invite.handle, me.kind, me.id, me.name, invite.role, invite.claim,
        invite.team, invite.stand_in, invite.id, None if invite.may is None else list(invite.may),
        invite.member_expires_in_s, asked.backend, asked.egress,
    )  # fmt: skip
    return Newcomer(INVITED, me, admission, token, made, invite)


def _known(ctx: HouseContext, me: Identity, how: str, asked: Asked) -> Newcomer:
    """An identity of the house: a guest, a house host, or one that joins by code, by name or by a claim."""
    by_policy = "host" if ctx.is_host else ctx.room.state.entry_policy.role_of(me.kind)
    role = ctx.credential.role_in(ctx.room.id) or by_policy
    return Newcomer(
        how, me, Admission(me.name, me.kind, me.id, me.name, role, backend=asked.backend, egress=asked.egress)
    )


def _stranger(
    ctx: HouseContext, me: Identity, name: str, how: str, asked: Asked, may: tuple[Capability, ...] | None = None
) -> Newcomer:
    token = make_token()
    made = Credential(hashed(token), me.id, ctx.room.id, created_at=ctx.house.clock.now())
    role = ctx.room.state.entry_policy.role_of(me.kind) if how != WITH_KEY else None
    admission = Admission(
        handle_for(name), me.kind, me.id, name, role, may=None if may is None else list(may), backend=asked.backend,
        egress=asked.egress,
    )  # fmt: skip
    return Newcomer(how, me, admission, token, made)


def _way_in(policy: EntryPolicy, name: str, asked: Asked) -> str:
    """The way by which a caller without an invite may join; raises if there is none."""
    if not name.strip():
        raise BadArgs("name: give your name")
    check_name(name.strip())
    if asked.code is not None:
        if not policy.code:
            raise PermissionDenied("this room has no code; ask a host how to join")
        if asked.matched != policy.code:
            raise PermissionDenied("wrong code; check it, or ask a host for the code of this room")
        return BY_CODE
    if same_name(name) in map(same_name, policy.names):
        return BY_NAME
    if policy.open:
        return OPEN_LINK
    if policy.code:
        raise PermissionDenied("this room needs a code; ask a host for it")
    if policy.names:
        raise PermissionDenied("your name is not on the list of this room; ask a host to add it")
    raise PermissionDenied("this room needs an invite or an agent key; ask a host for one")


def _needs_code(ctx: HouseContext, asked: Asked) -> bool:
    """True if this caller joins with the code of the room."""
    if asked.code is None or asked.assertion is not None or not ctx.room.state.entry_policy.code:
        return False
    identity, state = ctx.credential.identity, ctx.room.state
    if ctx.maybe_member is not None or (identity and state.knock_of(identity) is not None):
        return False
    knows_house = bool(identity) and (ctx.is_host or state.guests)
    return not knows_house and ctx.house.identities.invite_of(ctx.credential) is None


def _with_key(ctx: HouseContext, policy: EntryPolicy, asked: Asked) -> Newcomer:
    gate, room = ctx.house.need(Gate), ctx.room.id
    challenges, forgeries, caller = gate.challenges, gate.forgeries, caller_of(ctx)
    if forgeries.is_exhausted(room, caller):
        raise Busy("too many assertions without a valid signature from your network; try again in a minute")
    found = signing.verify_assertion(
        asked.assertion, policy.agent_keys, lambda known: known.key, room,
        lambda challenge: challenges.is_fresh(challenge, room), ctx.house.clock.now() / 1000,
    )  # fmt: skip
    if isinstance(found, str):
        if found == signing.NO_MATCHING_KEY:
            forgeries.add(room, caller)
        raise PermissionDenied(f"the assertion is not accepted: {found}", reason=found)
    body = signing.read(asked.assertion, signing.AssertionBody)
    assert body is not None
    challenges.use(signing.canonical(body.fp))
    count_arrival(ctx)
    name = (asked.name or found.label or "agent").strip()
    check_name(name)
    known = f"{KEY}{signing.thumbprint(found.key)}"  # the same key is the same identity, in every room
    me = ctx.house.identities.get(known) or Identity(known, name, "agent")
    if me.forgotten is not None:
        raise Conflict("the data of this key is being deleted; join again when the rooms that it was in are cleaned")
    check_not_barred(ctx.room, me)
    return _stranger(ctx, me if me.name else structs.replace(me, name=name), name, WITH_KEY, asked, found.may)
