"""One room in a house: its queue, and the rule that nothing leaves before it is on disk.

Calls run one after another. What they put on record goes to the writer, one batch at a time; while a batch
is being written, further calls run and gather for the next one, so under load the disk is asked once for
many calls. Every answer waits until all that it could have seen is durable. If a write fails, the room goes back to
its last durable state, and every call since then is refused.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from cohabit.errors import (
    Busy,
    CohabitError,
    Disabled,
    Quarantined,
    RecordCorrupt,
    StorageFailed,
    WorldError,
    WorldTimeout,
)  # fmt: skip
from cohabit.house.calls import Call, PeekCall, SystemCall
from cohabit.house.clock import Clock
from cohabit.house.fanout import Fanout, Frames, Sink, Subscription, push
from cohabit.house.settings import Settings
from cohabit.house.store import Credential, Write
from cohabit.house.timekeeper import Timekeeper
from cohabit.house.worldthread import Watchdog, WorldHung, WorldThread
from cohabit.house.writer import Writer
from cohabit.room.record import Line, Snapshot
from cohabit.room.room import Room

log = logging.getLogger("cohabit")
SLOW_S = 0.05
"""A call of a quick world that takes longer than this is slow …"""
SLOW_RUNS, SLOW_WITHIN_MS = 3, 10_000
"""… and if there are so many within so long, the world runs on a thread for a while. It may be the machine's doing."""
SLOW_FOR_MS = 60_000
AUDIT_MS = 1_000
"""How long a refusal may wait before it is written."""
WORK_S = 2.0
"""A world that has worked so long since its last snapshot gets one: at a start all of it would be run again."""
WORTH_KEEPING_S = 0.2
"""What a house that closes saves the next start."""


class RoomHost:
    """See the module."""

    def __init__(self, room: Room, writer: Writer, clock: Clock, watchdog: Watchdog, settings: Settings) -> None:
        self.room = room
        self.settings = settings
        self.failure: CohabitError | None = None
        self.recent: deque[Line] = deque(room.record.tail[-settings.recent_entries :], settings.recent_entries)
        self.durable_seq = room.record.seq
        self.version = 0  # goes up whenever something became durable
        self.fanout = Fanout(room)
        self.time = Timekeeper(room, clock, settings, self.fanout.members, self.system)
        self.on_change: Callable[[RoomHost], None] = lambda host: None
        self.on_lines: Callable[[RoomHost, Sequence[Line]], None] = lambda host, lines: None
        self._writer = writer
        self._clock = clock
        self._watchdog = watchdog
        self._quick = room.world.spec.quick
        self._thread: WorldThread | None = None
        self._queue: list[Call] = []  # not run yet
        self._ran: list[Call] = []  # run, and waiting for the next batch
        self._running = False  # a thread is at it
        self._at_work: list[Call] = []  # what the thread is at
        self._begun = 0.0  # when the call that it is at began
        self._deadline: asyncio.TimerHandle | None = None
        self._writing = False  # a batch is on its way to the disk
        self._slow: deque[int] = deque(maxlen=SLOW_RUNS)
        self._slow_until = 0
        self._flush_planned = False
        self._audit_planned = False
        self._since_snapshot = len(room.record.tail)
        self._bytes_since = self._snapshot_bytes = 0
        self._work_since = 0.0  # seconds of world code on the thread
        self._snapshot: Snapshot | None = None  # goes to disk with the next batch
        self._waiters: list[asyncio.Future[bool]] = []

    # -- asking -----------------------------------------------------------------------------------
    async def call(self, who: str, name: str, args: Any = None, key: str | None = None, via: str | None = None) -> Any:
        """Put a call through the room; returns when the answer may leave."""
        if via is None:
            self.time.heard_of(who)
        call = Call(who, name, args, key, via)
        return call.answer() if self.put(call) else await call.wait()

    async def peek(self, look: Callable[[Room], Any]) -> Any:
        """Look at the room between calls, through the queue like everybody else."""
        call = PeekCall(look)
        return call.answer() if self.put(call) else await call.wait()

    async def put_system(self, do: str, args: Any) -> None:
        """Something the house does for somebody who waits until it is durable, or for the refusal."""
        call = SystemCall(do, args)
        call.answer() if self.put(call) else await call.wait()

    def system(self, do: str, args: Any) -> Call:
        """Something the house itself does; nobody has to wait for it."""
        call = SystemCall(do, args)
        if self.failure is None:
            self._queue.append(call)
            self._pump()
        return call

    async def drained(self) -> None:
        """Wait until all that has been asked so far is durable."""
        await self.peek(lambda room: None)

    def put(self, call: Call, at: int | None = None) -> bool:
        """Take a call up; may its answer leave at once? Otherwise wait for it: something is not durable yet."""
        if self.failure is not None:
            raise self.failure
        if len(self._queue) + len(self._ran) >= self.settings.queue_limit:
            raise Busy(f"{self.settings.queue_limit} calls are waiting for this room; try again in a moment")
        if self._quick and not self._running:
            self._run_here((call,), self._clock.now() if at is None else at)
            if not self._writing and not self.room.record.pending and self.failure is None:
                if call.error is not None:
                    self._audit_soon()
                return True
            self._ran.append(call)
            self._flush_soon()
        else:
            self._queue.append(call)
            self._pump()
        if self.failure is not None:
            raise call.error or self.failure
        return False

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

    # -- running ----------------------------------------------------------------------------------
    def _pump(self) -> None:
        """Run what has gathered."""
        if self._running or not self._queue or self.failure is not None:
            return
        if self._quick:
            batch, self._queue = self._queue, []
            self._run_here(batch, self._clock.now())
            self._ran.extend(batch)
            self._flush_soon()
        elif not self._writing:
            self._quick = self.room.world.spec.quick and self._clock.now() >= self._slow_until
            batch, self._queue = self._queue, []
            self._running = True
            self._run_on_thread(batch)

    def _run_here(self, batch: Sequence[Call], at: int) -> None:
        """World code on the event loop, under the watchdog's eye."""
        try:
            with self._watchdog as watch:
                for call in batch:
                    call.run(self.room, at)
        except WorldHung:
            self._quarantine(batch)
            return
        if watch.took > SLOW_S:
            self._was_slow(at)
        if call.error is not None or len(batch) > 1:
            self._stop_if_broken(batch)

    def _was_slow(self, at: int) -> None:
        if not self._watchdog.slow(SLOW_S):  # the machine was busy with something else
            return
        self._slow.append(at)
        if len(self._slow) == SLOW_RUNS and at - self._slow[0] < SLOW_WITHIN_MS:
            log.warning("room %s: its world is slow; for a minute it runs on a thread", self.room.id)
            self._quick, self._slow_until = False, at + SLOW_FOR_MS

    def _run_on_thread(self, batch: list[Call]) -> None:
        loop = asyncio.get_running_loop()
        if self._thread is None:
            self._thread = WorldThread(self.room.id)
        at = self._clock.now()
        self._at_work = batch
        self._begun = loop.time()

        def job() -> None:
            worked = time.thread_time()
            for call in batch:
                self._begun = loop.time()  # each call has the whole time that a call may take
                call.run(self.room, at)
            self._work_since += time.thread_time() - worked
            self._begun = loop.time()
            frames = self._prepare()
            with suppress(RuntimeError):  # the loop is closed, and nobody waits any more
                loop.call_soon_threadsafe(self._ran_on_thread, batch, frames)

        self._deadline = loop.call_later(self.settings.world_deadline_s, self._look_at_thread, batch)
        self._thread.submit(job)

    def _look_at_thread(self, batch: Sequence[Call]) -> None:
        """Has the call that the thread is at taken too long?"""
        loop = asyncio.get_running_loop()
        left = self._begun + self.settings.world_deadline_s - loop.time()
        if left <= 0:
            self._quarantine(batch)
        else:
            self._deadline = loop.call_later(left, self._look_at_thread, batch)

    def _ran_on_thread(self, batch: Sequence[Call], frames: Frames) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._running = False
        self._at_work = []
        self._stop_if_broken(batch)
        if self.failure is None:
            self._ran.extend(batch)
            self._commit(frames)

    def _stop_if_broken(self, batch: Sequence[Call]) -> None:
        """A room that could not go back, or whose world fails at what the house must do, cannot go on."""
        for call in batch:
            wrong = call.error
            if isinstance(wrong, RecordCorrupt) or (isinstance(call, SystemCall) and isinstance(wrong, WorldError)):
                log.error("room %s is quarantined: %s", self.room.id, wrong.as_text())
                self._stop(
                    Quarantined(
                        f"this room is quarantined: {wrong.message}. Somebody with control_world can reopen it "
                        "(reopen_room)"
                    )
                )
                for other in batch:
                    other.settle(self.failure)
                return

    # -- making it durable ------------------------------------------------------------------------
    def _flush_soon(self) -> None:
        """Close the batch at the end of this turn of the event loop, so that calls that came together go together."""
        if not self._flush_planned:
            self._flush_planned = True
            asyncio.get_running_loop().call_soon(self._flush)

    def _flush(self) -> None:
        self._flush_planned = False
        if self._writing or self._running or self.failure is not None:
            return
        try:
            with self._watchdog:
                frames = self._prepare()
        except WorldHung:
            self._quarantine(self._ran)
            return
        self._commit(frames)

    def _audit_soon(self) -> None:
        """Refusals reach the disk within a second; nobody waits for them, and a flood of them is one write."""
        if not self._audit_planned:
            self._audit_planned = True
            self._clock.call_at(self._clock.now() + AUDIT_MS, self._flush_audit)

    def _flush_audit(self) -> None:
        self._audit_planned = False
        if self.failure is None:
            self._flush_soon()

    def _prepare(self) -> Frames:
        """Take what is to be written, and make the frames for whoever may see it."""
        lines = self.room.record.take_pending()
        self._snapshot = self._snapshot_if_due(lines) if lines else None
        try:
            return self.fanout.frames(lines)
        except CohabitError as failed:  # the world cannot be looked at; what happened still happened
            log.warning("room %s: no view: %s", self.room.id, failed.as_text())
            return Frames(lines)

    def _commit(self, frames: Frames) -> None:
        batch, self._ran = self._ran, []
        refusals = self.room.audit.drain()
        if not frames.lines:
            if refusals:  # nobody waits for those
                self._writer.submit(Write(self.room.id, (), None, refusals)).add_done_callback(_ignore)
            self._settle(batch)
            return
        snapshot, self._snapshot = self._snapshot, None
        body = (snapshot.seq, snapshot.encode()) if snapshot is not None else None
        keep = self.settings.keep_entries
        forget = frames.lines[-1].seq + 1 - keep if keep and snapshot is not None else None
        self._writing = True

        def written(done: "asyncio.Future[None]") -> None:
            self._writing = False
            failure = done.exception()
            if failure is None:
                self._durable(frames, snapshot)
                self._settle(batch)
            else:
                self._undo(batch, len(frames.lines), failure)

        write = Write(self.room.id, frames.lines, body, refusals, forget_before=forget)
        self._writer.submit(write).add_done_callback(written)

    def _snapshot_if_due(self, lines: Sequence[Line]) -> Snapshot | None:
        """A snapshot after so many entries, and not before as much was written as a snapshot weighs: a large room
        is not copied all the time, and what has to be run again at a start stays in proportion to it."""
        self._since_snapshot += len(lines)
        self._bytes_since += sum(len(line.body) for line in lines)
        many = self._since_snapshot >= self.settings.snapshot_every and self._bytes_since >= self._snapshot_bytes
        if not many and self._work_since < WORK_S:
            return None
        try:
            snapshot = self.room.snapshot()
        except Exception:
            log.exception("room %s: no snapshot could be made", self.room.id)
            return None
        self._since_snapshot = self._bytes_since = 0
        self._work_since = 0.0
        self._snapshot_bytes = len(snapshot.room) + len(snapshot.world)
        return snapshot

    def _durable(self, frames: Frames, snapshot: Snapshot | None) -> None:
        if snapshot is not None:
            self.room.stored(snapshot)
        self.durable_seq = frames.lines[-1].seq
        self.recent.extend(frames.lines)
        push(frames)
        self.fanout.catch_up(frames)
        self.on_lines(self, frames.lines)
        self._something_happened()

    def _settle(self, batch: Sequence[Call]) -> None:
        for call in batch:
            call.settle()
        if self._ran or self.room.record.pending:
            self._flush_soon()
        self._pump()
        self.time.reschedule()
        self.on_change(self)

    def _undo(self, batch: list[Call], lines: int, failure: BaseException) -> None:
        """The disk said no: nothing since the last durable entry happened."""
        log.error("room %s: %s", self.room.id, failure)
        refusal = failure if isinstance(failure, CohabitError) else StorageFailed(str(failure))
        batch, self._ran = batch + self._ran, []
        try:
            self.room.go_back(lines + len(self.room.record.pending))
        except CohabitError as broken:
            self.failure = Quarantined(f"this room could not go back to its last durable state: {broken.message}")
        self.fanout.forget_views()
        self.time.hold_off()
        for call in batch:
            call.settle(refusal)
        self._settle(())

    def _quarantine(self, batch: Sequence[Call]) -> None:
        """The world hangs: nothing more is asked of it, and nothing it half did is kept."""
        log.error("room %s: its world did not come back in time; the room is quarantined", self.room.id)
        late = WorldTimeout(
            f"the world did not come back within {self.settings.world_deadline_s:g} s; the room is quarantined, "
            "and nothing of this call was kept"
        )
        for call in batch:
            call.error = late
            call.settle(late)
        self._stop(
            Quarantined(
                "this room is quarantined: its world hung. Somebody with control_world can reopen it (reopen_room)"
            )
        )
        if self._thread is not None:
            self._thread.abandon()
            self._thread = None

    def _stop(self, reason: CohabitError) -> None:
        """Nothing goes in or out any more."""
        if self.failure is None:
            self.failure = reason
        for call in [*self._at_work, *self._ran, *self._queue]:
            call.settle(self.failure)
        self._at_work, self._ran, self._queue = [], [], []
        self.time.stop()
        self.fanout.end(self.failure)
        self._something_happened()

    async def put_away(self) -> None:
        """Before a house closes: a snapshot of what it took long to work out, so that the next start is quick."""
        self.time.stop()
        if self.failure is not None or self._work_since < WORTH_KEEPING_S:
            return
        try:
            snapshot = await self.peek(lambda room: room.snapshot())
            await self._writer.submit(Write(self.room.id, (), (snapshot.seq, snapshot.encode())))
        except CohabitError as failed:  # the record has everything; only the next start takes longer
            log.warning("room %s: no snapshot at the end: %s", self.room.id, failed.as_text())

    def close(self, why: str = "the house is closing; connect again when it is back") -> None:
        refusals = self.room.audit.drain()
        if refusals:
            self._writer.submit(Write(self.room.id, (), None, refusals)).add_done_callback(_ignore)
        self._stop(Disabled(why))
        if self._thread is not None:
            self._thread.close()

    # -- subscribers ------------------------------------------------------------------------------
    def subscribe(
        self, member: str, sink: Sink, views: bool, credential: Credential | None = None
    ) -> tuple[Subscription, int]:
        """Tell this connection what happens from here on; also the number of the last durable entry before.

        Frames are held back until ``release``, so that a backlog can go out first.
        """
        sub = self.fanout.add(member, sink, views, credential)
        self.time.heard_of(member)
        return sub, self.durable_seq

    async def first_view(self, sub: Subscription) -> None:
        """The view as it is now, to start from."""
        frame = await self.peek(lambda room: self.fanout.first_view(sub.member))
        if frame:
            sub.sink.view(frame)

    def release(self, sub: Subscription) -> None:
        """The backlog is out: let live frames through."""
        held, sub.held = sub.held, None
        for frame in held or ():
            sub.sink.events(frame)

    def unsubscribe(self, sink: Sink) -> None:
        sub = self.fanout.remove(sink)
        if sub is not None and self.failure is None:
            self.time.heard_of(sub.member)
            self.time.reschedule()


def _ignore(done: "asyncio.Future[None]") -> None:
    done.exception()
