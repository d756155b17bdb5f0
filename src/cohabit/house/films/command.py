"""The command ``film``: the past of a room, as a member may see it, in pages."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from functools import partial
from typing import Annotated, NamedTuple, TypeVar

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from cohabit.errors import BadArgs, Busy, PermissionDenied, Unauthorized
from cohabit.house.agents.decision_rights import visible
from cohabit.house.agents.decisions import DecisionLog, reader_for
from cohabit.house.calls.context import HouseContext
from cohabit.house.films import moments
from cohabit.house.films.filming import Row, Watch, evenly
from cohabit.house.films.maker import FilmMaker, error_of
from cohabit.house.films.rights import full_view_until, steps_until, watch_for
from cohabit.house.films.wire import Begin, Play, Played
from cohabit.house.running.calls import PeekCall
from cohabit.house.settings import split_names
from cohabit.house.store.keyframes import Keyframe, Keyframes, digest_at
from cohabit.house.streams.cursors import seal, secret_for, unseal
from cohabit.house.threads import run_in_thread
from cohabit.model.film import Film, FilmDecision, FilmEvent, FilmFrame
from cohabit.model.grant import Capability
from cohabit.model.record import Entry, decode_entry
from cohabit.model.seat import Eye
from cohabit.room.commands import command
from cohabit.room.record import Snapshot
from cohabit.room.room import Room
from cohabit.room.seeing.looking import CAN_VIEW
from cohabit.room.seeing.visibility import feed
from cohabit.room.state import Member, handle_of
from cohabit.version import __version__

MAX_FRAMES = 200
MAX_MS = 10**15
"""A time far away, so that times fit into messages to the process."""
PAGE_BYTES = 512 * 1024
"""A page ends when it has more."""
PART = 25
"""Entries that are replayed at once."""
PAGE_PARTS = 800
"""A page needs at most this many; if keyframes have to be made first, the caller is told to try again."""
ORDINAL_BITS = 24
T = TypeVar("T")
_decode_frame = msgspec.json.Decoder(FilmFrame).decode


class FilmPage(Struct):
    film: Film
    next: str = ""  # pass it as `cursor` to get the rest; empty: this is all
    to: int = 0  # in a world with a clock, the time until which this page goes
    end: int = 0  # and until which all pages together go


@command(category="read", where="house", needs=CAN_VIEW, for_model=False, sends="views")
async def film(
    ctx: HouseContext,
    first: Annotated[int, Meta(ge=0, le=MAX_MS, description="from this time of the room on, in ms")] = 0,
    last: Annotated[
        Annotated[int, Meta(ge=0, le=MAX_MS)] | None, Meta(description="until this time; default: now")
    ] = None,
    frames: Annotated[int, Meta(ge=1, le=MAX_FRAMES, description="at most this many")] = 60,
    seat: Annotated[
        str, Meta(max_length=100, description="of this seat, `all` or `public`; empty: what you see yourself")
    ] = "",
    cursor: Annotated[str, Meta(max_length=40, description="`next` of the page before, with the same arguments")] = "",
    within_ms: Annotated[
        int,
        Meta(
            ge=0,
            le=60_000,
            description="for worlds with a clock: time to make frames after the first; 0: no limit",
        ),
    ] = 0,
) -> FilmPage:
    """Replay what you could have seen of this room: views in order, events, and the reasons of players.

    In a world with a clock the frames are evenly spaced in time; in others there is one for each change. The view of
    another seat, or `all`, requires read_all, or that the game is over and its secrets can no longer be used; to a
    spectator (`spectate`) it is shown some steps later.
    """
    if ctx.runner.failure is not None:
        raise ctx.runner.failure
    has_saves = bool(await run_in_thread("the saves", partial(ctx.house.store.saves, ctx.room.id)))
    watch = watch_for(ctx.room, ctx.member, seat, has_saves=has_saves)
    until = (await shown_to(ctx)).until if watch.delayed else None
    maker = ctx.house.need(FilmMaker)
    async with maker.turn(ctx.credential.identity or ctx.credential.counted_as.hex()):
        secret = secret_for(ctx.room.state.secret, "film", ctx.member.id, seat, first, last, frames)
        making = Page(ctx, watch, maker, secret, until)
        page = await making.make(first, last, frames, cursor, within_ms)
        made, over = await ctx.house.need(DecisionLog).all(ctx.room.id)
    # Making a film takes a while. Discard one that was made under an earlier grant, or of a game that was not over.
    member = ctx.room.state.members.get(ctx.member.id)
    if member is None:
        raise Unauthorized("you are no longer a member of this room")
    if ctx.house.rooms.get(ctx.room.id) is not ctx.runner:
        raise Busy("this room was reopened; try again", retry_after_s=1)
    if watch_for(ctx.room, member, seat, has_saves=has_saves) != watch:
        raise Busy("what you may see has changed; try again")
    if watch.ended and not page.film.frames:
        raise PermissionDenied("this is shown when the game is over", needs=[Capability.READ_ALL])
    page.film.decisions = making.placed(
        visible(made, reader_for(ctx, member, over, has_saves=has_saves), *making.entries)
    )
    return page


class Shown(NamedTuple):
    """How far a spectator sees."""

    until: int  # the last entry
    step: int  # the number of steps until there
    now: int  # the number of steps until now


async def shown_to(ctx: HouseContext) -> Shown:
    """How far a spectator sees, in a room that is at rest."""
    me = ctx.member.id

    def ask(room: Room) -> Shown | None:
        member = room.state.members.get(me)
        until = full_view_until(room, member) if member is not None else None
        return Shown(until, steps_until(room, until), steps_until(room, room.record.seq)) if until is not None else None

    shown: Shown | None = await ctx.runner.submit(PeekCall(ask))
    if shown is None:
        raise PermissionDenied("only spectators see this; `spectate` makes you one, in a room that is open to them")
    return shown


class Page:
    """One page that is being made."""

    def __init__(
        self, ctx: HouseContext, watch: Watch, maker: FilmMaker, secret: str, until: int | None = None
    ) -> None:
        """``secret``: of its cursors. ``until``: the last entry that is shown; None: all are."""
        room = ctx.room
        self._secret = secret
        self._room, self._member, self._watch, self._maker = room, ctx.member, watch, maker
        self._eye = room.eye(ctx.member)
        self._store, self._keyframes = ctx.house.store, ctx.house.need(Keyframes)
        self._forgotten = self._keyframes.forgotten(room.id)
        self._features = split_names(ctx.house.settings.features)
        self._head = ctx.runner.history.seq
        if until is not None:  # nothing later reaches the process
            self._head = min(self._head, until)
        self._clock, self._within_ms = ctx.house.clock, math.inf
        self._to = self._end = 0
        self._numbers = Capability.READ_ALL in ctx.member.held
        self._position = -1  # of the process
        self._read_from = self._read_to = -1  # the entries whose events are in the page
        self._parts = 0
        self._ordinal = 0
        self._frames_at: list[int] = []  # the entries of the frames
        self._steps: list[int] = []  # the entries at which there may be frames; empty: at all of them
        self._bytes = 0
        self.film = empty_film(room, watch.eye)

    async def make(self, first: int, last: int | None, frames: int, cursor: str, within_ms: int = 0) -> FilmPage:
        self._within_ms = within_ms or math.inf
        if not await self._begin():
            return FilmPage(self.film)
        packed = unseal(self._secret, cursor, max(self._head, MAX_FRAMES) + 1 << ORDINAL_BITS)
        at, self._ordinal = (packed >> ORDINAL_BITS, packed & (1 << ORDINAL_BITS) - 1) if packed >= 0 else (-1, 0)
        runs_by_itself = self._room.pace == "clock"
        left = await (self._over_time if runs_by_itself else self._each_change)(first, last, frames, at)
        if self.film.frames:
            self.film.first, self.film.last = self.film.frames[0].seq, self.film.frames[-1].seq
        more = seal(self._secret, left << ORDINAL_BITS | self._ordinal) if left is not None else ""
        return FilmPage(self.film, more, self._to, self._end)

    async def newest(self) -> bytes:
        """The frame at the last entry that is shown, encoded; empty: nothing is shown yet."""
        if not await self._begin():
            return b""
        await self._go_to(self._head)
        return next((encoded for _, encoded in (await self._play(Play([], at=0))).frames), b"")

    async def _begin(self) -> bool:
        """Returns whether there is anything to be shown: older entries may have been deleted."""
        if self._head < 0 or await self._ask(moments.oldest) > self._head:
            return False
        keep = self._keyframes.are_kept
        await self._maker.begin(Begin(self._watch, self._room.state.source, self._features, keep))
        return True

    # -- which frames -----------------------------------------------------------------------------
    async def _over_time(self, first: int, last: int | None, frames: int, step: int) -> int | None:
        """Frames at times that are evenly spread. Returns the first step that did not fit."""
        begin, end = await self._ask(moments.span, self._head)
        begin, end = max(first, begin), end if last is None else min(last, end)
        times = evenly(begin, max(begin, end), frames)
        step = min(step, len(times))  # less of the record may be left than when the cursor was given
        self._read_to = await self._seq_at(times[step - 1] if step > 0 else begin - 1)
        self._read_from = self._read_to + 1
        start, self._to, self._end = max(step, 0), times[step - 1] if step > 0 else begin, times[-1]
        ends_at = math.inf
        for number in range(start, len(times)):
            if self._bytes > PAGE_BYTES or self._clock.now() >= ends_at:
                return number
            seq = await self._seq_at(times[number])
            await self._go_to(seq)
            self._steps.append(seq)
            self._add_frames((await self._play(Play([], at=times[number]))).frames)
            await self._add_events(seq)
            self._to = times[number]
            if number == start:  # going there may have taken longer already
                ends_at = self._clock.now() + self._within_ms
        return None

    async def _each_change(self, first: int, last: int | None, frames: int, seq: int) -> int | None:
        """A frame after each entry that changes the view. Returns the entry after which the next page begins."""
        end = self._head if last is None else await self._seq_at(last)
        is_first, seq = seq < 0, min(seq, self._head) if seq >= 0 else await self._seq_at(first)
        await self._go_to(seq)
        shown = await self._play(Play([], at=max(first, 0), prime=not is_first))
        self._add_frames(shown.frames)
        self._read_from, self._read_to = seq + (not is_first), seq
        while seq < end:
            left = frames - len(self.film.frames)
            if left <= 0:
                return seq if await self._shows_more(seq, end) else None
            played = await self._play(Play(await self._rows(seq, min(PART, end - seq)), each=left))
            full_at = await self._add_until_full(played)
            if full_at is not None:
                more = any(at > full_at for at, _ in played.frames) or await self._shows_more(played.seq, end)
                return full_at if more else None
            seq = played.seq
        return None

    async def _add_until_full(self, played: Played) -> int | None:
        """Add the frames and events of a part, one entry after another. Returns the entry with which the page is full:
        one that is shown, because where a part ends depends on what is hidden, too."""
        events: dict[int, list[FilmEvent]] = {}
        for event in await self._events_until(played.seq):
            events.setdefault(event.seq, []).append(event)
        frames = dict(played.frames)
        for at in sorted(frames.keys() | events.keys()):
            self._add_frames([(at, frames[at])] if at in frames else ())
            self._add(events.get(at, ()))
            if self._bytes > PAGE_BYTES:
                self._read_to = at
                return at
        return None

    async def _shows_more(self, seq: int, end: int) -> bool:
        """True if there is another frame. If not, the page has the events until the end: another page without frames
        would tell that something hidden has happened."""
        while seq < end:
            played = await self._play(Play(await self._rows(seq, min(PART, end - seq)), each=1))
            if played.frames:
                return True
            seq = played.seq
        await self._add_events(end)
        return False

    # -- what is in the page ----------------------------------------------------------------------
    def _add_frames(self, frames: Iterable[tuple[int, bytes]]) -> None:
        for seq, encoded in frames:
            frame = _decode_frame(encoded)
            self._ordinal += 1
            frame.seq = seq if self._numbers else self._ordinal
            self._frames_at.append(seq)
            self.film.frames.append(frame)
            self._bytes += len(encoded)

    async def _add_events(self, seq: int) -> None:
        """Add the events until an entry."""
        self._add(await self._events_until(seq))

    async def _events_until(self, seq: int) -> list[FilmEvent]:
        """The next events until an entry, as `events` would give them."""
        after, self._read_to = self._read_to, max(seq, self._read_to)
        return await run_in_thread("a film", partial(self._events, after, self._read_to)) if seq > after else []

    def _add(self, events: Iterable[FilmEvent]) -> None:
        for event in events:
            event.seq = self._number_of(event.seq)
            self.film.events.append(event)
            self._bytes += len(event.text) + 60

    def _events(self, after: int, upto: int) -> list[FilmEvent]:
        """Runs on a thread."""
        rows = self._store.lines(self._room.id, after, upto - after)
        return [event for seq, body, _ in rows for event in events_of(decode_entry(body), self._member, self._eye)]

    @property
    def entries(self) -> tuple[int, int]:
        """The first and the last entry whose events are in the page."""
        return self._read_from, self._read_to

    def placed(self, decisions: Iterable[FilmDecision]) -> list[FilmDecision]:
        """With the numbers of this film. They are copied, since the log keeps them."""
        return [replace(made, seq=self._number_of(made.seq)) for made in decisions]

    def _number_of(self, seq: int) -> int:
        """The number that an entry has in this film: its own, or that of the frame which is shown then."""
        if self._numbers:
            return seq
        step = bisect_left(self._steps, seq)
        shown_at = self._steps[step] if step < len(self._steps) else seq
        return self._ordinal - len(self._frames_at) + bisect_right(self._frames_at, shown_at)

    # -- going there ------------------------------------------------------------------------------
    async def _go_to(self, seq: int) -> None:
        """Let the process replay up to an entry, from the nearest keyframe."""
        start = await run_in_thread("a keyframe", partial(self._start, seq)) if seq > self._position else None
        if start is None and self._position < 0 and await self._ask(moments.oldest) > 0:
            raise BadArgs("this part of the record was deleted; ask for a later time")
        while self._position < seq:
            at = start.seq if start is not None else self._position
            played = await self._play(Play(await self._rows(at, min(PART, seq - at)), start))
            if played.bad_start and start is not None:
                await run_in_thread("a keyframe", partial(self._keyframes.drop, self._room.id, start.seq))
                await self._go_to(seq)
            start = None

    def _start(self, seq: int) -> Keyframe | None:
        """The last keyframe up to an entry, if it saves something. Where older entries were deleted, also a snapshot of
        the store. Runs on a thread."""
        room, store = self._room.id, self._store
        if any(self._position < place.seq <= seq for place in self._keyframes.places(room)):
            found = self._keyframes.before(room, seq, partial(digest_at, store, room))
            if found is not None and found.seq > self._position:
                return found
        if self._position < 0 and moments.oldest(store, room) > 0:
            kept = map(Snapshot.decode, store.snapshots(room))
            return next((Keyframe.of(one, 0) for one in kept if one.seq <= seq), None)
        return None

    async def _play(self, step: Play) -> Played:
        self._parts += 1
        if self._parts > PAGE_PARTS:
            raise Busy("this part of the record is being prepared; try again in a moment", retry_after_s=1)
        played = await self._maker.play(step)
        for made in played.keyframes:
            await run_in_thread("a keyframe", partial(self._keyframes.add, self._room.id, made, self._forgotten))
        if played.code:
            raise error_of(played)
        if not played.bad_start:
            self._position = played.seq
        return played

    # -- reading the record -----------------------------------------------------------------------
    async def _rows(self, after: int, count: int) -> list[Row]:
        return await run_in_thread("a film", lambda: list(self._store.lines(self._room.id, after, count)))

    async def _seq_at(self, at: int) -> int:
        return await self._ask(moments.seq_at, self._head, at)

    async def _ask(self, question: Callable[..., T], *args: int) -> T:
        return await run_in_thread("a film", partial(question, self._store, self._room.id, *args))


def empty_film(room: Room, eye: Eye) -> Film:
    """A film of a room without its frames. ``room``: as it is now."""
    state, spec = room.state, room.world.spec
    keys = [{"key": key, "action": one.name, "params": dict(one.parameters)} for key, one in room.world.keys.items()]
    return Film(
        room.id, state.world, spec.title or spec.name, name_of(eye), [], version=state.version, scenario=state.scenario,
        cohabit=__version__, seats=state.players, live=state.over_since is None and not state.archived, keys=keys,
    )  # fmt: skip


def events_of(entry: Entry, member: Member, eye: Eye | None) -> list[FilmEvent]:
    """The events of an entry, as this member may see them."""
    by = handle_of(entry.by) if entry.by is not None else ""
    return [
        FilmEvent(entry.seq, item.at, item.kind, item.text, by if item.by is not None else "")
        for item in feed(entry, member, eye)
    ]


def name_of(eye: Eye) -> str:
    return "all" if eye.sees == "all" and eye.seat is None else eye.seat or "public"
