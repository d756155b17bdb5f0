"""Owners of their data: what a house keeps of an identity, and deleting it."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct, structs

from cohabit.errors import BadArgs, CohabitError, Conflict, PermissionDenied, Unauthorized, UnknownAsset
from cohabit.house.access.codes import Attempts
from cohabit.house.access.limited_keys import barred_after_deletion
from cohabit.house.agents.decisions import DecisionLog
from cohabit.house.agents.transcripts import Transcripts
from cohabit.house.calls.across import Args, Ask, ask_others, is_elsewhere, question
from cohabit.house.calls.context import HouseContext, Services
from cohabit.house.directory import HOUSE_RECORD
from cohabit.house.lifecycle.rewriting import NotRewritable, Person, had_in, mentions, rewritten, words_of
from cohabit.house.running.calls import SystemCall
from cohabit.house.store.contract import Write
from cohabit.house.store.identities import OPERATOR
from cohabit.house.store.keyframes import Keyframes
from cohabit.house.threads import run_in_thread
from cohabit.model.identity import Identity, Invite, Kind
from cohabit.model.record import decode_entry
from cohabit.model.timestamps import utc
from cohabit.model.words import texts_in
from cohabit.room.commands import command
from cohabit.room.room import Room
from cohabit.room.state import handle_of

log = logging.getLogger("cohabit")
MESSAGES_SHOWN = 500
REWRITINGS, REWRITINGS_MS = 12, 3_600_000
"""The number of times that a record is rewritten in this time. Each time its room is closed for a moment, and
replayed."""
STAYS = (
    "In records your moves stay, under a pseudonym. What others wrote about you, backups, exports and saves of worlds "
    "are not changed."
)


class OwnMessage(Struct):
    at: str
    command: str
    texts: list[str]


class InRoom(Struct, omit_defaults=True):
    room: str
    handle: str | None = None  # None: you have left, or wait
    name: str = ""
    role: str = ""
    messages: list[OwnMessage] = []  # the newest that you wrote
    waiting: bool = False  # in the lobby


class MyData(Struct, omit_defaults=True):
    identity: str
    name: str
    kind: Kind
    tokens: int
    rooms: list[InRoom]
    profile: Any = None  # what the Nexus knows of you
    note: str = ""


async def _all_rooms(ask: Ask, args: Args) -> MyData:
    """Each node knows what somebody wrote in its rooms. ``args`` may name an identity by a handle; parts get its id."""
    mine: MyData = await ask.here(args)
    parts = await ask.others({"identity": mine.identity} if args else {})
    mine.rooms += [room for part in parts for room in part.rooms]
    return mine


@command(category="meta", where="house", about="house", for_model=False, when_used_up=True, across=_all_rooms)
async def my_data(ctx: HouseContext) -> MyData:
    """Show what this house keeps of you: identity, profile, rooms and messages. `forget_me` deletes it."""
    return await _kept(ctx.house, _me(ctx))


@command(category="meta", where="house", about="house", records=True, for_model=False, when_used_up=True)
async def forget_me(
    ctx: HouseContext, confirm: Annotated[str, Meta(max_length=200, description="your name, to confirm")]
) -> "Forgotten":
    """Delete what this house keeps of you. You leave all rooms, and your tokens end. This cannot be undone.

    Records keep your moves under a pseudonym. A room that is in use is cleaned when it is quiet.
    """
    me = _me(ctx)
    if confirm != me.name:
        raise BadArgs(f"confirm must be your name, {me.name!r}: this deletes everything, and cannot be undone")
    return await ctx.house.need(Forgetting).forget(me)


@command(category="host", where="house", about="house", host_only=True, records=True)
async def forget_identity(
    ctx: HouseContext,
    identity: Annotated[str, Meta(max_length=200, description="its id, or the name or handle that only it has")],
    confirm: Annotated[str, Meta(max_length=200, description="the same again, to confirm")],
) -> "Forgotten":
    """Delete what this house keeps of an identity, at its request. This cannot be undone."""
    if confirm != identity:
        raise BadArgs("confirm must be the same as identity: this deletes everything, and cannot be undone")
    who = await find_identity(ctx.house, identity)
    await _check_may_forget(ctx, who)
    return await ctx.house.need(Forgetting).forget(who)


async def _check_may_forget(ctx: HouseContext, who: Identity) -> None:
    """Leaving frees a seat. In a sealed room nobody but its player frees it while the game runs."""
    if who.id == OPERATOR.id:
        raise PermissionDenied("the operator is the owner of the data folder, and cannot be deleted")
    if ctx.credential.identity == OPERATOR.id:
        return
    for why in (await why_seat_stays(ctx.house, who.id), *await ask_others(ctx.house, why_seat_stays, identity=who.id)):
        if why:
            raise Conflict(why)


@question
async def why_seat_stays(house: Services, identity: str) -> str:
    """The reason why the seat of an identity must not be freed now; empty if it may be."""
    for runner in house.rooms.values():
        member = runner.room.member_of(identity)
        if member is not None and (why := runner.room.kept_private(member, "token")):
            return f"{member.handle} plays in room {runner.id}; wait until the game is over: {why}"
    return ""


@command(category="host", where="house", about="house", host_only=True, across=_all_rooms)
async def data_of(
    ctx: HouseContext, identity: Annotated[str, Meta(max_length=200, description="its id, name or handle")]
) -> MyData:
    """Show what this house keeps of an identity: what it can see itself with `my_data`."""
    return await _kept(
        ctx.house, await find_identity(ctx.house, identity), private=ctx.credential.identity != OPERATOR.id
    )


def _me(ctx: HouseContext) -> Identity:
    me = ctx.identity
    if me is None:
        raise Unauthorized("accept your invite first (`join`)")
    return me


@question
async def with_handle(house: Services, handle: str) -> list[str]:
    """The ids of the identities that have this handle in a room."""
    members = [runner.room.state.with_handle(handle) for runner in house.rooms.values()]
    return [member.identity for member in members if member is not None]


async def find_identity(house: Services, name: str) -> Identity:
    """By id; else by name, or by the handle that it has in a room."""
    known, ids = house.identities.get(name), set[str]()
    if known is None:
        ids.update(await with_handle(house, name), *await ask_others(house, with_handle, handle=name))
    everybody = house.identities.everybody() if known is None else [known]
    found = [i for i in everybody if (i is known or i.name == name or i.id in ids) and i.forgotten is None]
    if len(found) > 1:
        raise BadArgs(
            f"{len(found)} identities have this name; pass one of these ids: {', '.join(one.id for one in found)}"
        )
    if not found:
        raise UnknownAsset(
            f"no identity has the name, handle or id {name[:80]!r}; see `list_credentials`, or run `cohabit token list`"
        )
    return found[0]


async def _kept(house: Services, me: Identity, *, private: bool = False) -> MyData:
    """``private``: without what was written in a sealed room, until its game is over."""
    stored = await run_in_thread("a profile", partial(house.store.profile, me.id))
    tokens = [c for c in house.identities.all_credentials() if c.identity == me.id and not c.revoked]
    rooms = await run_in_thread("your rooms", partial(_rooms_of, house, me, private))
    profile = msgspec.msgpack.decode(stored) if stored is not None else None
    return MyData(me.id, me.name, me.kind, len(tokens), rooms, profile, STAYS)


def _rooms_of(house: Services, me: Identity, private: bool) -> list[InRoom]:
    """Runs on a thread: it reads the records."""
    found: list[InRoom] = []
    for room_id in house.store.rooms_naming(me.id):
        runner = house.rooms.get(room_id)
        if runner is None:
            continue
        room, member = runner.room, runner.room.member_of(me.id)
        is_closed = private and room.state.over_since is None and room.is_sealed
        said = () if is_closed else _said(house, room, me.id)
        mine = InRoom(room_id) if member is None else InRoom(room_id, member.handle, member.name, member.role_name)
        mine.messages, mine.waiting = [*said], room.state.knock_of(me.id) is not None
        found.append(mine)
    return found


def _said(house: Services, room: Room, identity: str) -> Iterable[OwnMessage]:
    """The newest texts of an identity in a room, also from before it left."""
    said = deque[OwnMessage](maxlen=MESSAGES_SHOWN)
    ids = house.need(Forgetting).members_of(room, identity)
    for _, body, _ in house.store.lines(room.id, -1):
        entry = decode_entry(body)
        made = room.commands.get(entry.do) if entry.by in ids else None
        if made is not None and isinstance(entry.args, dict):
            words = [text for word in words_of(made) for text in texts_in(entry.args.get(word))]
            texts = [text for text in (*words, entry.why) if text]
            if texts:
                said.append(OwnMessage(utc(entry.at), entry.do, texts))
    return said


# -- deleting -------------------------------------------------------------------------------------
class Forgotten(Struct):
    """``cleaned``: rooms whose records have nothing of the identity any more. ``later``: rooms in use, cleaned when
    they are quiet, and the house record, cleaned a little later. ``kept``: rooms whose records cannot be written
    again, with the reason; delete them to be rid of the data."""

    cleaned: list[str]
    later: list[str]
    kept: dict[str, str]
    note: str


class Forgetting:
    """Deletes the data of identities, one after another. One write notes what is to be deleted; everything after it can
    be done twice, so the house goes on with it after a crash."""

    def __init__(self, house: Services) -> None:
        self._house = house
        self.on_waiting: Callable[[], None] = lambda: None  # something is to be cleaned a little later
        self._lock = asyncio.Lock()
        self._impossible: set[tuple[str, str]] = set()  # identity and room
        self._rewritings = Attempts(house.clock, REWRITINGS, REWRITINGS_MS)
        self._members: dict[tuple[str, str], tuple[tuple[str, int], frozenset[str]]] = {}  # by room and identity

    def members_of(self, room: Room, identity: str) -> frozenset[str]:
        """The ids that an identity has and had in a room. They are known from a replay, which is repeated only after
        somebody has joined the room. Runs on a thread."""
        now, made = room.member_of(identity), (room.state.secret, sum(room.state.handles_used.values()))
        known = self._members.get((room.id, identity), (("", -1), frozenset()))
        if known[0] != made:
            found: frozenset[str] = frozenset()
            try:
                found = had_in(self._house.store, room.id, identity, is_here=now is not None)
            except CohabitError as wrong:  # an older version of its world, or its beginning was deleted
                log.info("room %s: former members are not known: %s", room.id, wrong.as_text())
            known = made, found | ({now.id} if now is not None else set())  # it may leave before the next replay
            self._members[room.id, identity] = known
        return known[1]

    def tidy(self) -> None:
        """Drop what is known of rooms and identities that are gone."""
        house, waiting = self._house, {who.id for who in self._waiting()}
        for room, identity in list(self._members):  # a copy: threads add to it
            if room not in house.rooms or house.identities.get(identity) is None:
                self._members.pop((room, identity), None)
        for who, room in list(self._impossible):
            exists = room in house.rooms or room in house.rooms.broken or is_elsewhere(house, room)
            if who not in waiting or not exists:
                self._impossible.discard((who, room))

    async def forget(self, who: Identity) -> Forgotten:
        house = self._house
        async with house.exclusive:  # it cannot join a room meanwhile
            handles = await handles_of(house, who.id)
            for others in await ask_others(house, handles_of, identity=who.id):
                handles += others
            barred = await barred_from(house, who.id)
            for others in await ask_others(house, barred_from, identity=who.id):
                barred |= others
            # Permanent, if it was so before: a later deletion does not lift it.
            barred |= {room: game for room, game in who.barred.items() if game == "" or room not in barred}
            gone = Identity(who.id, who.name, who.kind, forgotten=tuple(dict.fromkeys(handles)), barred=barred)
            await house.writer.submit(_gone(gone))
            self._end_access(gone)
        done = await self.forget_here(gone)
        for told in await ask_others(house, forget_in_rooms, identity=gone):
            part = msgspec.convert(told, Forgotten)
            done.cleaned += part.cleaned
            done.kept |= part.kept
            done.later += [room for room in part.later if room not in done.later]
        done.later = [room for room in done.later if room not in (*done.cleaned, *done.kept)]
        if done.later:
            self.on_waiting()
        return done

    async def forget_here(self, gone: Identity) -> Forgotten:
        """Delete the data of an identity in this process."""
        async with self._house.exclusive:  # a call with which it joins a room here ends before
            self._end_access(gone)
        for forgotten in self._house.rooms.on_forgotten:
            forgotten([gone.id])
        async with self._lock:
            return await self._clean(gone)

    def _end_access(self, gone: Identity) -> None:
        known = self._house.identities.get(gone.id)
        self._house.identities.forget(gone.id)
        self._house.identities.put(gone if known is None or known.forgotten is None else known)

    async def _leave(self, who: Identity) -> dict[str, str]:
        """Leave every room and every lobby. Returns the id that it had in each room."""
        found: dict[str, str] = {}
        for room_id, runner in list(self._house.rooms.items()):
            member = runner.room.member_of(who.id)
            if member is not None:
                found[room_id] = member.id
            if member is not None or runner.room.state.knock_of(who.id) is not None:
                try:
                    await runner.submit(SystemCall("withdrawn", {"identity": who.id}))
                except CohabitError as refused:  # of a quarantined room it stays a member, without a token
                    log.info("room %s: a deleted identity could not leave: %s", room_id, refused.as_text())
        return found

    def _waiting(self) -> list[Identity]:
        return [one for one in self._house.identities.everybody() if one.forgotten is not None]

    async def clean_waiting(self) -> None:
        """Try again to clean the records of identities whose rooms were in use, and the house record."""
        self.tidy()
        if await self._clean_all() and self._house.ledger.is_here and not self._rewritings.is_exhausted(HOUSE_RECORD):
            self._rewritings.add(HOUSE_RECORD)
            async with self._lock:
                await self._house.ledger.rewrite(self.clean_house_record)
            await self._clean_all()

    async def _clean_all(self) -> bool:
        """True if of some identity only the house record is left."""
        found = False
        for who in self._waiting():
            async with self._lock:
                if self._house.identities.get(who.id) is not None:
                    found |= (await self._clean(who)).later == [HOUSE_RECORD]
        return found

    async def _clean(self, who: Identity) -> Forgotten:
        house, done = self._house, Forgotten([], [], {}, STAYS)
        members = await self._leave(who)
        await house.writer.submit(_gone(who))  # again: something may have been under way
        named = await run_in_thread("the records", partial(house.store.rooms_naming, who.id))
        for room in named:
            await self._forget_transcripts(room, [members[room]] if room in members else [])
            await run_in_thread("keyframes", partial(house.need(Keyframes).forget, room))
            if (who.id, room) in self._impossible:
                continue
            if is_elsewhere(house, room):  # that node cleans it
                done.later.append(room)
                continue
            if room == HOUSE_RECORD or not house.rooms.is_quiet(room) or self._rewritings.is_exhausted(room):
                done.later.append(room)
                continue
            self._rewritings.add(room)
            try:
                who = await self._rewrite(room, who)
                done.cleaned.append(room)
                log.info("room %s: the data of an identity was deleted", room)
            except CohabitError as wrong:
                log.error("room %s: the data of an identity could not be deleted: %s", room, wrong.as_text())
                self._impossible.add((who.id, room))
                done.kept[room] = wrong.message
        if HOUSE_RECORD not in named and await self._in_house_record(who):
            done.later.append(HOUSE_RECORD)
        if not done.later:
            left = [Identity(who.id, "", who.kind, barred=who.barred)] if who.barred else []
            await house.writer.submit(Write(forget=[who.id], forget_egress=[who.id], identities=left))
            house.identities.forget(who.id)
            for key in left:
                house.identities.put(key)
            self.tidy()
        await self.scrub()
        return done

    async def _forget_transcripts(self, room: str, members: Sequence[str]) -> None:
        forget = partial(self._house.need(Transcripts).forget, room, members)
        await run_in_thread("the transcripts", forget)
        self._house.need(DecisionLog).forget(room)

    async def _rewrite(self, room: str, who: Identity) -> Identity:
        """Replace a record, together with the invites that the identity joined with. The handles that it had there are
        kept with it until the house record is cleaned too."""
        house, person = self._house, Person.of(who.id, who.name)
        invites: list[Invite] = []

        async def complete(write: Write) -> None:
            nonlocal who
            await self._forget_transcripts(room, person.members)
            handles = dict.fromkeys((*(who.forgotten or ()), *map(handle_of, person.members)))
            who = structs.replace(who, forgotten=tuple(handles))
            known = [one for one in house.identities.all_invites(room) if one.id in person.invites]
            invites.extend(structs.replace(one, handle=person.pseudonym, name="") for one in known)
            write.identities, write.invites = [who], invites

        await house.rooms.rewrite(room, partial(rewritten, house.store, room, person, house.clock.now()), complete)
        house.identities.put(who)
        for one in invites:
            house.identities.put_invite(one)
        return who

    async def _in_house_record(self, who: Identity) -> bool:
        look = partial(mentions, self._house.store, HOUSE_RECORD, who.id, who.forgotten or ())
        return await run_in_thread("the house record", look)

    async def clean_house_record(self) -> None:
        """Clean the house record, while it is not open."""
        house = self._house
        for who in self._waiting():
            person = Person.of(who.id, who.name)
            person.handles = who.forgotten or ()
            try:
                work: Callable[[], Write | None] = partial(
                    rewritten, house.store, HOUSE_RECORD, person, house.clock.now()
                )
                write = await run_in_thread("the house record", work)
            except (NotRewritable, CohabitError) as wrong:
                log.error("the house record: the data of an identity could not be deleted: %s", wrong.as_text())
                continue
            if write is not None:
                if house.rooms.heads is not None:
                    await house.rooms.heads.deleted(HOUSE_RECORD)
                await house.writer.submit(write)
                await self.scrub()

    async def scrub(self) -> None:
        """Make sure that what was deleted cannot be found in the files."""
        try:
            await run_in_thread("the store", self._house.store.scrub)
        except CohabitError as busy:  # the next one does it
            log.warning("%s", busy.message)


@question
async def handles_of(house: Services, identity: str) -> list[str]:
    """The handles that an identity has in rooms."""
    members = [runner.room.member_of(identity) for runner in house.rooms.values()]
    return [member.handle for member in members if member is not None]


@question
async def barred_from(house: Services, identity: str) -> dict[str, str]:
    """The rooms that an agent key may not join again when its data is deleted."""
    return barred_after_deletion(house.rooms, identity)


@question
async def forget_in_rooms(house: Services, identity: Any) -> Forgotten:
    """Delete the data of an identity in the rooms of this process."""
    return await house.need(Forgetting).forget_here(msgspec.convert(identity, Identity))


def _gone(who: Identity) -> Write:
    """Delete what is kept of an identity outside of records. Its name stays until the records are cleaned."""
    return Write(forget=[who.id], forget_egress=[who.id], identities=[who])
