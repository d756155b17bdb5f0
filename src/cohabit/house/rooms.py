"""One room in a house: its queue, its place in the store, its subscribers and its clock.

Calls run one after another. What a batch of calls put on record goes to the writer; replies and pushes
leave only when the writer says it is on disk. While a batch is being written, new calls gather for the
next one: under load the disk is asked once for many calls. If the write fails, the room goes back to its
last durable state and the whole batch is refused.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import msgspec

from cohabit.errors import Busy, CohabitError, Disabled, Internal, Quarantined, StorageFailed, WorldTimeout
from cohabit.house.clock import Clock, Timer
from cohabit.house.settings import Settings
from cohabit.house.store import Write
from cohabit.house.worldthread import Watchdog, WorldHung, WorldThread
from cohabit.house.writer import Writer
from cohabit.model.seat import Eye
from cohabit.room.control import SPEEDS
from cohabit.room.record import Line
from cohabit.room.room import Room
from cohabit.room.state import Member
from cohabit.room.views import FeedItem, audience_key, feed, seal

log = logging.getLogger("cohabit")


def encode(frame: dict[str, Any]) -> str:
    """A push frame as text: encoded once, sent to everybody whose eye sees the same."""
    return msgspec.json.encode(frame).decode()


SLOW_S = 0.05
"""A quick world whose call takes longer than this is moved to a thread."""
ARRIVALS_MS = 250
"""Comings and goings are put on record together, this often at most."""


class Sink(Protocol):
    """Where pushes go: one connection."""

    def events(self, frame: str) -> None: ...

    def view(self, frame: str) -> None: ...

    def end(self, reason: CohabitError) -> None: ...


class Subscription:
    """One connection that is told what happens, and optionally gets every new view."""

    def __init__(self, member: str, sink: Sink, views: bool) -> None:
        self.member = member
        self.sink = sink
        self.views = views
        self.held: list[str] | None = []  # event frames that wait until the backlog is out


class Call:
    """A call on its way through the queue."""

    __slots__ = ("args", "error", "future", "key", "name", "result", "via", "who")

    def __init__(self, who: str, name: str, args: Any, key: str | None, via: str | None) -> None:
        self.who = who
        self.name = name
        self.args = args
        self.key = key
        self.via = via
        self.result: Any = None
        self.error: BaseException | None = None
        self.future: asyncio.Future[Any] | None = None

    def run(self, room: Room, at: int) -> None:
        try:
            self.result = room.call(self.who, self.name, self.args, at=at, key=self.key, via=self.via)
        except CohabitError as refusal:
            self.error = refusal
        except Exception as bug:
            log.exception("a bug of ours in %s", self.name)
            self.error = Internal(f"a bug of ours ({type(bug).__name__}); it was logged")

    def answer(self) -> Any:
        if self.error is not None:
            raise self.error
        return self.result

    def settle(self, failure: CohabitError | None = None) -> None:
        if self.future is None or self.future.done():
            return
        error = failure or self.error
        if error is not None:
            self.future.set_exception(error)
        else:
            self.future.set_result(self.result)


class Frames:
    """What one batch will push once it is durable, made while the world is at hand."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.events: list[tuple[Subscription, str]] = []
        self.views: list[tuple[Subscription, str]] = []


class RoomHost:
    """See the module."""

    def __init__(self, room: Room, writer: Writer, clock: Clock, watchdog: Watchdog, settings: Settings) -> None:
        self.room = room
        self.settings = settings
        self.failure: CohabitError | None = None
        self.recent: deque[Line] = deque(room.record.tail[-settings.recent_entries :], settings.recent_entries)
        self.calls = 0
        self._writer = writer
        self._clock = clock
        self._watchdog = watchdog
        self._quick = room.world.spec.quick
        self._thread: WorldThread | None = None
        self._queue: list[Call] = []
        self._ran: list[Call] = []
        self._busy = False
        self._flushing = False
        self._since_snapshot = len(room.record.tail)
        self._subscriptions: dict[Sink, Subscription] = {}
        self._last_views: dict[Eye, str] = {}
        self.version = 0
        self._waiters: list[asyncio.Future[bool]] = []
        self._seen: dict[str, int] = {}
        self._coming: dict[str, bool] = {}
        self._timer: Timer | None = None
        self._timer_at: int | None = None
        self._ticked_at = clock.now()
        self._tick_rest = 0
        self._closed = False
        self.on_change: Callable[[RoomHost], None] = lambda host: None
        self.on_lines: Callable[[RoomHost, Sequence[Line]], None] = lambda host, lines: None

    # -- calls ------------------------------------------------------------------------------------
    async def call(self, who: str, name: str, args: Any = None, key: str | None = None, via: str | None = None) -> Any:
        """Put a call through the room; returns when the answer may leave."""
        if self.failure is not None:
            raise self.failure
        if len(self._queue) >= self.settings.queue_limit:
            raise Busy(f"{len(self._queue)} calls are waiting for this room; try again in a moment")
        if via is None:
            self.touch(who)
        self.calls += 1
        call = Call(who, name, args, key, via)
        if self._quick and not self._busy:
            self._run_here([call])
            if not self.room.record.pending:
                return call.answer()
            self._ran.append(call)
            self._flush_soon()
        else:
            self._queue.append(call)
            self._pump()
        if call.future is None:
            call.future = asyncio.get_running_loop().create_future()
        return await call.future

    async def call_waiting(self, who: str, name: str, args: Any, key: str | None, wait_ms: int) -> Any:
        """A call that may answer "nothing yet": ask again whenever something happened, until time is up."""
        command = self.room.commands.named(name)
        assert command.waits is not None
        ends = self._clock.now() + wait_ms
        while True:
            version = self.version
            result = await self.call(who, name, args, key)
            if not command.waits(result) or not await self.changed_since(version, ends):
                return result

    async def changed_since(self, version: int, ends: int) -> bool:
        """Wait until something happens after ``version`` of this room, but not past ``ends``; did it?"""
        if version != self.version:
            return True
        if ends <= self._clock.now() or self.failure is not None:
            return False
        waiter: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        over = self._clock.call_at(ends, lambda: None if waiter.done() else waiter.set_result(False))
        try:
            return await waiter
        finally:
            over.cancel()
            if waiter in self._waiters:
                self._waiters.remove(waiter)

    def _something_happened(self) -> None:
        self.version += 1
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(True)

    def _run_here(self, batch: Sequence[Call]) -> None:
        """World code on the event loop, under the watchdog's eye."""
        try:
            with self._watchdog as watch:
                at = self._clock.now()
                for call in batch:
                    call.run(self.room, at)
        except WorldHung:
            self._quarantine(batch)
            return
        if watch.took > SLOW_S:
            log.warning("room %s: a call took %.0f ms; its world moves to a thread", self.room.id, watch.took * 1000)
            self._quick = False

    def _pump(self) -> None:
        """Run what has gathered, unless a batch is under way."""
        if self._busy or not self._queue or self.failure is not None:
            return
        batch, self._queue = self._queue, []
        if self._quick:
            self._run_here(batch)
            self._ran.extend(batch)
            self._flush()
            return
        self._busy = True
        self._on_thread(batch)

    def _on_thread(self, batch: list[Call]) -> None:
        loop = asyncio.get_running_loop()
        if self._thread is None:
            self._thread = WorldThread(self.room.id)
        at = self._clock.now()
        deadline = loop.call_later(self.settings.world_deadline_s, self._quarantine, batch)

        def job() -> None:
            for call in batch:
                call.run(self.room, at)
            frames = self._prepare()
            loop.call_soon_threadsafe(ran, frames)

        def ran(frames: Frames) -> None:
            deadline.cancel()
            if self.failure is None:
                self._busy = False
                self._ran.extend(batch)
                self._commit(frames)

        self._thread.submit(job)

    # -- making it durable ------------------------------------------------------------------------
    def _flush_soon(self) -> None:
        if not self._flushing:
            self._flushing = True
            asyncio.get_running_loop().call_soon(self._flush)

    def _flush(self) -> None:
        self._flushing = False
        if self._busy or self.failure is not None:
            return
        try:
            with self._watchdog:
                frames = self._prepare()
        except WorldHung:
            self._quarantine(self._ran)
            return
        self._commit(frames)

    def _prepare(self) -> Frames:
        """Take what is to be written, and make the frames for whoever may see it."""
        frames = Frames()
        frames.lines = self.room.record.take_pending()
        if frames.lines and self._subscriptions:
            try:
                self._frame_events(frames)
                self._frame_views(frames)
            except CohabitError as failed:  # the world cannot be looked at; what happened still happened
                log.warning("room %s: no view: %s", self.room.id, failed.as_text())
        return frames

    def _frame_events(self, frames: Frames) -> None:
        entries = [line.entry for line in frames.lines]
        if not any(entry.told for entry in entries):
            return
        shared: dict[Any, str] = {}
        for sub in list(self._subscriptions.values()):
            member = self.room.state.members.get(sub.member)
            if member is None:
                continue
            looks = self.room.eye(member)
            key = audience_key(entries, member, looks)
            frame = shared.get(key)
            if frame is None:
                frame = shared[key] = self._event_frame(frames.lines, member, looks)
            if frame:
                frames.events.append((sub, frame))

    def _event_frame(self, lines: Sequence[Line], member: Member, looks: Eye | None) -> str:
        items: list[FeedItem] = []
        last = -1
        for line in lines:
            told = feed(line.entry, member, looks)
            if told:
                items.extend(told)
                last = line.seq
        if not items:
            return ""
        state = self.room.state
        return encode({"push": "events", "room": state.id, "cursor": seal(state.secret, last), "items": items})

    def _frame_views(self, frames: Frames) -> None:
        made: dict[Eye, str] = {}
        for sub in list(self._subscriptions.values()):
            member = self.room.state.members.get(sub.member)
            looks = self.room.eye(member) if member is not None and sub.views else None
            if looks is None:
                continue
            if looks not in made:
                frame = self._view_frame(looks)
                made[looks] = "" if frame == self._last_views.get(looks) else frame
                if made[looks]:
                    self._last_views[looks] = frame
            if made[looks]:
                frames.views.append((sub, made[looks]))

    def _view_frame(self, looks: Eye) -> str:
        return encode({"push": "view", "room": self.room.id, "view": self.room.view_through(looks)})

    def _commit(self, frames: Frames) -> None:
        batch, self._ran = self._ran, []
        refusals = self.room.audit.drain()
        if not frames.lines and not refusals:
            for call in batch:
                call.settle()
            self._next()
            return
        if not frames.lines:  # only refusals: nobody waits for those
            self._writer.submit(Write(self.room.id, (), None, refusals)).add_done_callback(_ignore)
            for call in batch:
                call.settle()
            self._next()
            return
        self._busy = True
        snapshot = None
        self._since_snapshot += len(frames.lines)
        if self._since_snapshot >= self.settings.snapshot_every:
            try:
                snapshot = self.room.snapshot()
                self._since_snapshot = 0
            except Exception:
                log.exception("room %s: no snapshot could be made", self.room.id)
        body = (snapshot.seq, snapshot.encode()) if snapshot is not None else None
        keep = self.settings.keep_entries
        forget = frames.lines[-1].seq + 1 - keep if keep and snapshot is not None else None
        done = self._writer.submit(Write(self.room.id, frames.lines, body, refusals, forget))

        def durable(written: "asyncio.Future[None]") -> None:
            self._busy = False
            failure = written.exception()
            if failure is not None:
                self._undo(batch, frames, failure)
            else:
                if snapshot is not None:
                    self.room.stored(snapshot)
                self.recent.extend(frames.lines)
                self._push(frames)
                self.on_lines(self, frames.lines)
                for call in batch:
                    call.settle()
            self._next()

        done.add_done_callback(durable)

    def _undo(self, batch: Sequence[Call], frames: Frames, failure: BaseException) -> None:
        """The disk said no: nothing of this batch happened."""
        log.error("room %s: %s", self.room.id, failure)
        refusal = failure if isinstance(failure, CohabitError) else StorageFailed(str(failure))
        try:
            self.room.go_back(len(frames.lines))
        except CohabitError as broken:
            self.failure = Quarantined(f"this room could not go back to its last durable state: {broken.message}")
        self._last_views.clear()
        for call in batch:
            call.settle(refusal)

    def _push(self, frames: Frames) -> None:
        for sub, frame in frames.events:
            if sub.held is None:
                sub.sink.events(frame)
            else:
                sub.held.append(frame)
        for sub, frame in frames.views:
            sub.sink.view(frame)
        self._something_happened()

    def _next(self) -> None:
        self._pump()
        self.reschedule()
        self.on_change(self)

    def _quarantine(self, batch: Sequence[Call]) -> None:
        """The world hangs: nothing more is asked of it, and nothing it half did is kept."""
        log.error("room %s: its world did not come back in time; the room is quarantined", self.room.id)
        late = WorldTimeout(
            f"the world did not come back within {self.settings.world_deadline_s:g} s; the room is quarantined, "
            "and nothing of this call was kept"
        )
        self.failure = Quarantined(
            "this room is quarantined: its world hung. Somebody with control_world can reopen it (reopen_room)"
        )
        for call in batch:
            call.error = late
            call.settle(late)
        for call in [*self._ran, *self._queue]:
            call.settle(self.failure)
        self._ran, self._queue = [], []
        for sub in list(self._subscriptions.values()):
            sub.sink.end(self.failure)
        if self._thread is not None:
            self._thread.abandon()
            self._thread = None
        self._something_happened()

    # -- presence ---------------------------------------------------------------------------------
    def touch(self, who: str) -> None:
        """Somebody was heard of. Who comes back to its seat, or to its pause, counts at once."""
        self._seen[who] = self._clock.now()
        member = self.room.state.members.get(who)
        if member is None or (member.here and who not in self._coming):
            return
        if member.here:
            del self._coming[who]
        elif member.played_by_bot or self.room.state.paused_by == who:
            self._coming.pop(who, None)
            self._system("presence", {"members": [who], "here": True})
        elif not self._coming.get(who, False):
            self._coming[who] = True
            self.reschedule()

    def _presence(self, now: int) -> None:
        """Put comings on record; notice who has not been heard of for a while."""
        connected = {sub.member for sub in self._subscriptions.values()}
        members = self.room.state.members
        came = [who for who in self._coming if who in members and not members[who].here]
        self._coming.clear()
        late = now - self.settings.away_ms
        gone = [m.id for m in members.values()
                if m.here and m.id not in connected and self._seen.setdefault(m.id, now) <= late]  # fmt: skip
        if came:
            self._system("presence", {"members": came, "here": True})
        if gone:
            self._system("presence", {"members": gone, "here": False})

    # -- time -------------------------------------------------------------------------------------
    @property
    def runs_by_itself(self) -> bool:
        state = self.room.state
        return (
            self.room.world.spec.pace == "clock" and not state.paused and not state.archived
            and not (state.turn_based and state.ticks_per_turn)
        )  # fmt: skip

    def reschedule(self) -> None:
        """Set the timer for whatever comes first: a deadline of the room, a tick, an arrival, a leaving."""
        if self._closed or self.failure is not None:
            return
        now = self._clock.now()
        when = self.room.next_deadline()
        if self.runs_by_itself:
            beat = self._ticked_at + self.settings.beat_ms
            when = beat if when is None else min(when, beat)
        else:
            self._ticked_at = now
        if self._coming:
            when = min(when, now + ARRIVALS_MS) if when is not None else now + ARRIVALS_MS
        away_check = now + self.settings.away_ms
        when = away_check if when is None else min(when, away_check)
        if self._timer is not None and self._timer_at is not None and now <= self._timer_at <= when:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = when
        self._timer = self._clock.call_at(when, self._due)

    def _due(self) -> None:
        self._timer = None
        self._timer_at = None
        if self._closed or self.failure is not None:
            return
        now = self._clock.now()
        self._presence(now)
        deadline = self.room.next_deadline()
        if deadline is not None and deadline <= now:
            self._system("settle", None)
        if self.runs_by_itself and now - self._ticked_at >= self.settings.beat_ms:
            pace = SPEEDS[self.room.state.speed]
            # Time the house could not give (a long pause of the machine) is not made up for.
            passed = min(now - self._ticked_at, 10 * self.settings.beat_ms) * pace + self._tick_rest
            ticks, self._tick_rest = divmod(passed, 1000 * self.room.world.spec.tick_ms)
            self._ticked_at = now
            if ticks:
                self._system("ticks", {"n": ticks})
        self.reschedule()

    def _system(self, do: str, args: Any) -> "SystemCall":
        """Something the house itself does, through the same queue."""
        call = SystemCall(do, args)
        if self.failure is None:
            self._queue.append(call)
            self._pump()
        return call

    async def admit(self, guest: dict[str, Any]) -> None:
        """Let somebody in whom nobody invited."""
        if self.failure is not None:
            raise self.failure
        call = SystemCall("admitted", guest)
        call.future = asyncio.get_running_loop().create_future()
        self._queue.append(call)
        self._pump()
        await call.future

    # -- subscribers ------------------------------------------------------------------------------
    def subscribe(self, member: str, sink: Sink, views: bool) -> tuple[Subscription, int]:
        """Tell this connection what happens from here on; also the number of the last entry before."""
        sub = Subscription(member, sink, views)
        self._subscriptions[sink] = sub
        self.touch(member)
        return sub, self.recent[-1].seq if self.recent else self.durable_seq

    @property
    def durable_seq(self) -> int:
        record = self.room.record
        return record.seq - len(record.pending)

    async def first_view(self, sub: Subscription) -> None:
        """The view as it is now, to start from."""
        frame = await self.peek(lambda room: self._first_frame(room, sub.member))
        if frame:
            sub.sink.view(frame)

    def _first_frame(self, room: Room, who: str) -> str:
        member = room.state.members.get(who)
        looks = room.eye(member) if member is not None else None
        if looks is None:
            return ""
        frame = self._last_views[looks] = self._view_frame(looks)
        return frame

    def release(self, sub: Subscription) -> None:
        """The backlog is out: let live frames through."""
        held, sub.held = sub.held, None
        for frame in held or ():
            sub.sink.events(frame)

    def unsubscribe(self, sink: Sink) -> None:
        sub = self._subscriptions.pop(sink, None)
        if sub is not None:
            self._seen[sub.member] = self._clock.now()
            if not any(True for other in self._subscriptions.values() if other.views):
                self._last_views.clear()
            self.reschedule()

    @property
    def watchers(self) -> int:
        return len(self._subscriptions)

    async def peek(self, look: Callable[[Room], Any]) -> Any:
        """Look at the room between calls, through the queue like everybody else."""
        if self.failure is not None:
            raise self.failure
        call = PeekCall(look)
        if self._quick and not self._busy and not self.room.record.pending:
            self._run_here([call])
            return call.answer()
        self._queue.append(call)
        call.future = asyncio.get_running_loop().create_future()
        self._pump()
        return await call.future

    async def drained(self) -> None:
        """Wait until nothing is under way."""
        await self.peek(lambda room: None) if self.failure is None else None

    def close(self) -> None:
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        if self.failure is None:
            self.failure = Disabled("the house is closing; connect again when it is back")
        for call in self._queue:
            call.settle(self.failure)
        self._queue.clear()
        for sub in list(self._subscriptions.values()):
            sub.sink.end(self.failure)
        if self._thread is not None:
            self._thread.close()
        self._something_happened()


class SystemCall(Call):
    """What the house does of itself: ticks, presence, whatever is due."""

    __slots__ = ()

    def __init__(self, do: str, args: Any) -> None:
        super().__init__("", do, args, None, None)

    def run(self, room: Room, at: int) -> None:
        try:
            if self.name == "settle":
                room.settle(at)
            else:
                room.system(self.name, self.args, at)
        except CohabitError as refusal:
            self.error = refusal
            log.warning("room %s: %s: %s", room.id, self.name, refusal.as_text())


class PeekCall(Call):
    """A look at the room that waits its turn."""

    __slots__ = ("look",)

    def __init__(self, look: Callable[[Room], Any]) -> None:
        super().__init__("", "peek", None, None, None)
        self.look = look

    def run(self, room: Room, at: int) -> None:
        try:
            self.result = self.look(room)
        except CohabitError as refusal:
            self.error = refusal


def _ignore(done: "asyncio.Future[None]") -> None:
    done.exception()
