"""The commands of the house itself: rooms, joining, invitations, tokens, the feed of events."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Annotated

from msgspec import Meta, Struct, structs

from cohabit.errors import BadArgs, Conflict, PermissionDenied
from cohabit.house.bots import check_brain
from cohabit.house.context import HouseContext
from cohabit.house.offers import Offer, offers_for
from cohabit.model.grant import Capability
from cohabit.model.record import decode_entry
from cohabit.registry import find_world, known_worlds
from cohabit.room.commands import command
from cohabit.room.common import WaitMs
from cohabit.room.record import Line
from cohabit.scenario import AgentSpec, Scenario, check_handle, presets, read_scenario
from cohabit.room.state import Kind
from cohabit.room.views import FeedItem, feed, seal, unseal
from cohabit.room.worldbox import versions

C = Capability
BACKLOG_PAGE, BACKLOG_LETTERS = 200, 200_000
"""A page of a backlog ends after so many items, or so much text: clients take frames of a megabyte at most."""


# -- rooms --------------------------------------------------------------------------------------
class RoomLine(Struct, omit_defaults=True):
    id: str
    world: str
    scenario: str
    members: int
    here: int
    game: int
    archived: bool = False
    you: str | None = None
    problem: str | None = None


class Rooms(Struct):
    rooms: list[RoomLine]


@command(category="meta", where="house")
async def rooms(ctx: HouseContext) -> Rooms:
    """The rooms of this house that you are in or may enter."""
    found: list[RoomLine] = []
    me = ctx.credential
    for host in ctx.house.rooms.values():
        state = host.room.state
        if me.room not in (None, state.id):
            continue
        member = state.members.get(me.who)
        if member is None and not (me.host or state.guests):
            continue
        here = sum(m.here or m.played_by_bot for m in state.members.values())
        found.append(
            RoomLine(
                state.id, state.world, state.scenario, len(state.members), here, state.games, state.archived,
                member.role_name if member else None, host.failure.message if host.failure else None,
            )
        )  # fmt: skip
    if me.host:
        found += [RoomLine(i, "?", "?", 0, 0, 0, problem=e.message) for i, e in ctx.house.broken.items()]
    return Rooms(found)


class WorldLine(Struct):
    name: str
    title: str
    description: str


class Worlds(Struct):
    worlds: list[WorldLine]
    scenarios: list[str]


@command(category="discovery", where="house")
async def worlds(ctx: HouseContext) -> Worlds:
    """The worlds this house can open, and its ready-made scenarios."""
    lines = []
    for name in known_worlds():
        cls = find_world(name)
        lines.append(WorldLine(name, cls.spec.title or name, (cls.__doc__ or "").strip().split("\n")[0]))
    return Worlds(lines, list(presets()))


class RoomMade(Struct):
    room: str
    tokens: dict[str, str]


@command(category="host", where="house", records=True)
async def create_room(
    ctx: HouseContext,
    scenario: Annotated[str | None, Meta(description="the name of a ready-made scenario")] = None,
    world: Annotated[str | None, Meta(description="the name of a world, with a seat for each of `players`")] = None,
    players: Annotated[list[str], Meta(max_length=64, description="names of the players")] = [],  # noqa: B006 - never changed
    room: Annotated[str | None, Meta(description="an id for the room; left out: one is made")] = None,
    seed: int | None = None,
) -> RoomMade:
    """Open a room, with you as its host. Answers with a token for each member: shown once, pass them on."""
    if not ctx.credential.host:
        raise PermissionDenied("only a host of this house can open rooms; ask for a host token")
    if (scenario is None) == (world is None):
        raise BadArgs("give either a scenario or a world")
    if scenario is not None:
        if scenario not in presets():
            raise BadArgs(f"there is no scenario {scenario[:40]!r}", did_you_mean=list(presets()))
        plan = read_scenario(scenario)
    else:
        assert world is not None
        if world not in known_worlds():
            raise BadArgs(f"there is no world {world[:40]!r}", did_you_mean=list(known_worlds()))
        plan = Scenario(
            scenario=world,
            world=world,
            agents=[
                AgentSpec(id=name, role="player", claim=f"auto:{i}", stand_in="random")
                for i, name in enumerate(players)
            ],
        )
        for name in players:
            check_handle(name)
    if any(a.id == ctx.credential.who for a in plan.agents):
        raise Conflict(f"somebody in it is called {ctx.credential.who!r}, as you are; that would be two of one name")
    plan.agents.append(AgentSpec(id=ctx.credential.who, role="host", kind="human", house=True))
    return RoomMade(*await ctx.house.create_room(plan, room, seed))


class RoomGone(Struct):
    deleted: str


@command(category="control", where="house", needs=C.CONTROL_WORLD, records=True, ungated=True)
async def delete_room(
    ctx: HouseContext, confirm: Annotated[str, Meta(description="the room's id once more, to be sure")]
) -> RoomGone:
    """Delete this room with its whole record. There is no way back; `archive` keeps it."""
    if confirm != ctx.room.room.id:
        raise BadArgs(f"confirm must be the room's id, {ctx.room.room.id!r}")
    await ctx.house.delete_room(ctx.room.room.id)
    return RoomGone(confirm)


class Reopened(Struct):
    room: str


@command(category="control", where="house", needs=C.CONTROL_WORLD, records=True, ungated=True)
async def reopen_room(ctx: HouseContext) -> Reopened:
    """Take a quarantined room up again from what is on disk."""
    await ctx.house.reopen_room(ctx.room.room.id)
    return Reopened(ctx.room.room.id)


class Capabilities(Struct, omit_defaults=True):
    commands: list[Offer]
    mod_version: str | None = None  # this and the following in rooms that clients of the WorldBox bridge come to
    worldbox_version: str | None = None
    unity_version: str | None = None
    assembly_csharp_sha256: str | None = None


@command(category="meta", where="house")
async def capabilities(ctx: HouseContext) -> Capabilities:
    """Every command that you may use here, with the schemas of its arguments and of its answer."""
    room = ctx.host.room if ctx.host is not None else None
    offers = offers_for(ctx.house, ctx.credential, room.id if room is not None else None)
    if room is None or not room.world.spec.bridge:
        return Capabilities(offers)
    return Capabilities(offers, **structs.asdict(versions(room.world)))


# -- joining ------------------------------------------------------------------------------------
class JoinedRoom(Struct):
    room: str
    member: str
    role: str


@command(category="meta", where="house", records=True)
async def join(ctx: HouseContext) -> JoinedRoom:
    """Enter a room that is open to guests: people full in a seat they take, agents watch-only."""
    me, host = ctx.credential, ctx.room
    state = host.room.state
    if me.room is None and me.who in state.members and not state.members[me.who].house:
        raise Conflict(f"somebody else in this room is called {me.who!r}")
    if me.who not in state.members:
        if not (state.guests or me.host):
            raise PermissionDenied("this room takes no guests; ask its host for an invitation")
        if len(state.members) >= ctx.house.settings.members_limit:
            raise PermissionDenied("this room is full")
        role = "host" if me.host else None
        await host.put_system("admitted", {"id": me.who, "kind": me.kind, "role": role})
    member = state.members[me.who]
    return JoinedRoom(state.id, member.id, member.role_name)


class Invitation(Struct, omit_defaults=True):
    room: str
    member: str
    role: str
    token: str
    seat: str | None = None


@command(category="host", where="house", needs=C.MANAGE_MEMBERS, records=True)
async def invite(
    ctx: HouseContext,
    id: Annotated[str, Meta(description="a name nobody in the room has")],  # noqa: A002 - the wire's name
    kind: Kind = "agent",
    role: Annotated[str | None, Meta(description="left out: watch-only for agents, full for people")] = None,
    claim: Annotated[str | None, Meta(description="auto:N or id:X")] = None,
    team: str | None = None,
    stand_in: str | None = None,
    expires_in_s: Annotated[Annotated[int, Meta(ge=1, le=10**9)] | None, Meta(description="for the token")] = None,
) -> Invitation:
    """Add a member and make its credential: kind, role and seat are bound to it. The token is shown once."""
    house, host = ctx.house, ctx.room
    check_brain(stand_in)
    if len(host.room.state.members) >= house.settings.members_limit:
        raise PermissionDenied(f"this room has its {house.settings.members_limit} members already")
    args = {"id": id, "kind": kind, "role": role, "claim": claim, "team": team, "stand_in": stand_in}
    made = await host.call(ctx.member.id, "add_member", args)
    now = house.clock.now()
    expires = now + expires_in_s * 1000 if expires_in_s else None
    token = house.identities.add(id, at=now, kind=kind, room=host.room.id, expires_at=expires)
    return Invitation(host.room.id, id, made.role, token, made.seat)


class TokenMade(Struct):
    member: str
    token: str


@command(category="meta", where="house", records=True)
async def rotate_token(
    ctx: HouseContext, member: Annotated[str | None, Meta(description="somebody else's; hosts only")] = None
) -> TokenMade:
    """A new token in place of the old one, for yourself or, as a host, for a member. Shown once."""
    who = member or ctx.credential.who
    if who != ctx.credential.who and C.MANAGE_MEMBERS not in ctx.member.held:
        raise PermissionDenied("you can renew your own token; for others it takes manage_members")
    bound = ctx.credential.room if who == ctx.credential.who else ctx.room.room.id
    now, identities = ctx.house.clock.now(), ctx.house.identities
    other = ctx.room.room.state.members.get(who) if who != ctx.credential.who else None
    if other is not None and not other.house and not identities.of(who, bound):  # it never had one, or lost all
        return TokenMade(who, identities.add(who, at=now, kind=other.kind, room=bound))
    return TokenMade(who, identities.rotate(who, bound, now))


class TokensRevoked(Struct):
    member: str
    revoked: int


@command(category="host", where="house", needs=C.MANAGE_MEMBERS, records=True)
async def revoke_token(ctx: HouseContext, member: str) -> TokensRevoked:
    """Make every token of a member of this room worthless; its open connections end."""
    return TokensRevoked(member, ctx.house.identities.revoke(member, ctx.room.room.id))


# -- the feed -----------------------------------------------------------------------------------
class Events(Struct):
    items: list[FeedItem]
    cursor: str
    more: bool


@command(category="read", where="house", needs=(C.WATCH, C.READ_OWN, C.READ_ALL, C.READ_CHAT))
async def events(
    ctx: HouseContext,
    cursor: Annotated[str, Meta(description="as the last answer gave it; empty: from the beginning")] = "",
    max: Annotated[int, Meta(ge=1, le=500)] = 100,  # noqa: A002 - the wire's name
    last: Annotated[Annotated[int, Meta(ge=1, le=500)] | None, Meta(description="only the newest so many")] = None,
    wait_ms: WaitMs = 0,
) -> Events:
    """What happened in this room, as far as you may know of it, in order. Pass `cursor` back next time."""
    host = ctx.room
    ends = ctx.house.clock.now() + wait_ms
    while True:
        version = host.version
        host.time.heard_of(ctx.member.id)
        found = await _newest(ctx, last) if last is not None else await _events_after(ctx, cursor, max)
        if found.items or not await host.changed_since(version, ends):
            return found


async def _events_after(ctx: HouseContext, cursor: str, most: int) -> Events:
    host, state = ctx.room, ctx.room.room.state
    seq = unseal(state.secret, cursor, host.room.record.seq)
    looks = host.room.eye(ctx.member)
    items: list[FeedItem] = []
    last = seq
    async for line in history(ctx, seq):
        told = feed(line.entry, ctx.member, looks)
        if told:
            if len(items) + len(told) > most and items:
                return Events(items, seal(state.secret, last), True)
            items.extend(told)
            last = line.seq
    return Events(items, seal(state.secret, last) if last >= 0 else "", False)


async def _newest(ctx: HouseContext, most: int) -> Events:
    host, state = ctx.room, ctx.room.room.state
    looks = host.room.eye(ctx.member)
    told = [(line.seq, item) for line in host.recent for item in feed(line.entry, ctx.member, looks)]
    items = [item for _, item in told[-most:]]
    return Events(items, seal(state.secret, told[-1][0]) if told else "", False)


async def backlog(ctx: HouseContext, after: int, head: int) -> AsyncIterator[tuple[str, list[FeedItem]]]:
    """What this member is told of the entries after ``after`` up to ``head``: pages, each with its cursor."""
    state = ctx.room.room.state
    looks = ctx.room.room.eye(ctx.member)
    items: list[FeedItem] = []
    last = after
    letters = 0
    async for line in history(ctx, after):
        if line.seq > head:
            break
        told = feed(line.entry, ctx.member, looks)
        if told:
            items.extend(told)
            last = line.seq
            letters += sum(len(item.text) for item in told)
        if len(items) >= BACKLOG_PAGE or letters >= BACKLOG_LETTERS:
            yield seal(state.secret, last), items
            items, letters = [], 0
    if items:
        yield seal(state.secret, last), items


async def history(ctx: HouseContext, after: int) -> AsyncIterator[Line]:
    """The durable lines after a number: from memory where they are there, else from the store."""
    host = ctx.room
    recent = list(host.recent)
    oldest = recent[0].seq if recent else host.durable_seq + 1
    while after + 1 < oldest:
        page = await asyncio.to_thread(_page, ctx, after, min(1000, oldest - after - 1))
        for line in page:
            yield line
        if not page:
            break
        after = page[-1].seq
    for line in recent:
        if line.seq > after:
            yield line


def _page(ctx: HouseContext, after: int, most: int) -> list[Line]:
    rows = list(ctx.house.store.lines(ctx.room.room.id, after, most))
    if not rows:
        return []
    if rows[0][0] != after + 1 and after >= 0:
        raise BadArgs("what came after that cursor is not kept any more; leave it out to start from what is")
    return list(_unchecked(rows))


def _unchecked(rows: list[tuple[int, bytes, bytes]]) -> Iterator[Line]:
    for seq, body, digest in rows:
        yield Line(seq, body, digest, decode_entry(body))
