"""Runs one room: queues calls and releases replies only when they are durable.

Calls run one after another. Their entries go to the writer, one batch at a time; while a batch is being written,
further calls run and form the next batch, so under load one disk sync serves many calls.
Every reply waits until all entries that it may depend on are durable. If a write fails, the room is rolled back to
its last durable state, and every call since then is refused.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from cohabit import errors
from cohabit.house.running import world_thread
from cohabit.house.running.calls import Call, PeekCall, SystemCall, draws, may_move_seats, settle_after, settle_all
from cohabit.house.running.egress import Recording, RoomEgress
from cohabit.house.running.history import History
from cohabit.house.running.quotas import FAIR_BYTES, RoomQuotas, WriteShares
from cohabit.house.running.remote import RemoteRunner
from cohabit.house.running.reports import AuditChain
from cohabit.house.running.shared import Shared
from cohabit.house.running.snapshots import KeyframeSchedule, SnapshotSchedule
from cohabit.house.running.timekeeper import Timekeeper
from cohabit.house.running.watchdog import LOOP_LIMIT_S, SLOW_FOR_MS, SLOW_S, SlowSections, may_run_on_loop
from cohabit.house.running.world_thread import WorldThread
from cohabit.house.store.contract import Write
from cohabit.house.streams.fanout import Fanout, Frames
from cohabit.house.streams.media import MediaRelay
from cohabit.house.streams.subscriptions import NO_GRANT, Grant, Subscription
from cohabit.model.refusals import Refusal
from cohabit.room.base import WorldInterrupted
from cohabit.room.feature import answer
from cohabit.room.record import Line, Snapshot
from cohabit.room.room import Room
from cohabit.room.state import Member

log = logging.getLogger("cohabit")
MAX_QUEUED_CALLS_OF_MEMBER = 128
"""Calls of one member that may wait for a world on a thread, so the calls of others do not wait behind thousands."""
CLOSING = "the server is shutting down; reconnect later"


OnRemoved = Callable[["RoomRunner", Sequence[Member]], "asyncio.Future[None] | None"]


class Roster(NamedTuple):
    """The members of a room at one moment."""

    version: int
    members: dict[str, Member]


class RoomEvents:
    """Callbacks of other parts of the house about rooms. The rooms of a house share one; by default nothing is done."""

    def __init__(self) -> None:
        self.on_roster: Callable[[RoomRunner], None] = lambda runner: None
        self.on_removed: OnRemoved = lambda runner, members: None
        self.removals_wait = False  # a removal is answered when what ``on_removed`` stores is
        self.on_durable: list[Callable[[RoomRunner, Sequence[Line]], None]] = []
        self.on_slow: Callable[[RoomRunner, list[Call]], None] = lambda runner, calls: settle_all(calls, runner.failure)
        self.elsewhere: Callable[[RoomRunner, Member], str] = lambda runner, member: ""  # where it plays instead
        self.listeners: dict[str, Callable[[RoomRunner], None]] = {}  # by feature: it announces something in a room


class RoomRunner:
    """One room and everything that runs it. See the module."""

    # In Python the attributes of an object with more than 30 are slow, and take 1.7 KiB. So most are slots.
    __slots__ = (
        "__dict__", "__weakref__", "_clock", "_events", "_fair_bytes", "_flush_planned", "_keyframes", "_may_run_here",
        "_members", "_on_thread", "_queue", "_queued_by", "_quotas", "_ran", "_roster_version", "_shares", "_snapshot",
        "_snapshots", "_thread", "_writer", "_writing", "_writing_bytes", "audit_chain", "calls", "commands", "egress",
        "failure", "fanout", "history", "id", "media", "now", "outboxes", "overload", "remote", "room", "settings",
        "time",
    )  # fmt: skip

    def __init__(self, room: Room, shared: Shared, events: RoomEvents) -> None:
        writer, clock, settings, overload = shared.writer, shared.clock, shared.settings, shared.overload
        shared.prepare(room)
        self.room = room
        self.id = room.id
        self.settings = settings
        self.overload = overload
        self.outboxes = shared.outboxes
        self.commands = room.callable_here = shared.commands_in(room)
        room.house_offers = lambda command, member: command.offered_in is None or command.offered_in(self, member)
        room.elsewhere = lambda member: events.elsewhere(self, member)
        self.remote: RemoteRunner | None = None  # runs the commands of a remote world
        self.failure: errors.CohabitError | None = None
        self.history = History(room.id, room.record, settings.recent_entries, writer.lines_of, clock)
        self.now = clock.now
        self.calls = 0  # since it was opened
        self.fanout = Fanout(room)
        self.media = MediaRelay()
        self.time = Timekeeper(room, clock, settings, self.fanout.members, self.post)
        self._events = events
        self._writer = writer
        self._clock = clock
        self._watchdog = shared.watch(room.id)
        self._may_run_here = self._quick = may_run_on_loop(room, settings)
        self._marked = partial(shared.marked, room.id)
        self._slow = SlowSections()
        self._thread = WorldThread(f"world-{room.id}", settings.world_deadline_s, self._was_slow, self._hangs)
        self._queue: list[Call] = []  # not run yet
        self._queued_by: dict[str, int] = {}  # how many of those, by member
        self._ran: list[Call] = []  # run, and waiting for the next batch
        self._on_thread: list[Call] = []  # running on the thread now
        self._writing = False  # a batch is being written
        self._flush_planned = False
        self.audit_chain = AuditChain(self.room, self._clock, self.put, self._flush_refusals)
        recording = Recording(self.put, self.refused, writer, clock, settings)
        self.egress = RoomEgress(room, shared.egress, recording)
        self._snapshots = SnapshotSchedule(room, settings.snapshot_every)
        self._keyframes = KeyframeSchedule(room, shared.keyframes)
        self._snapshot: Snapshot | None = None  # written with the next batch
        self._quotas = RoomQuotas(room, settings, writer.size_of, clock.now, overload)
        self._writing_bytes = 0  # of the batch that is being written
        self._fair_bytes = min(FAIR_BYTES, settings.queue_bytes)
        self._shares = WriteShares()
        self._roster_version = -1
        self._members: dict[str, Member] = dict(room.state.members)

    # -- calls -----------------------------------------------------------------------------------
    async def submit(self, call: Call) -> Any:
        """Run a call. Returns its result when that may be sent, or raises its error."""
        return call.answer() if self.put(call) else await call.wait()

    def put(self, call: Call, at: int | None = None) -> bool:
        """Run or queue a call. Returns True if the reply can be sent now, False if it must wait for the disk."""
        if self.failure is not None:
            raise self.failure
        self.calls += 1
        if self.remote is not None and self.remote.accepts(call):
            return False
        if len(self._queue) + len(self._ran) >= self.settings.queue_limit:
            self.overload.add("queue", self.id)
            raise errors.Busy(
                f"{self.settings.queue_limit} calls are already waiting for this room; try again in a moment"
            )
        if self.room.record.pending_bytes + self._writing_bytes > self._fair_bytes:
            self._check_waiting_bytes(call)
        if self.time.looking and may_move_seats(call, self.commands):
            self.time.record_players(call.who)
        drawing = draws(call, self.commands)
        if self._quick and not drawing and not self._thread.is_running:
            if not self._run_here((call,), self._clock.now() if at is None else at):
                return False
            if not self._writing and not self.room.record.pending and self.failure is None:
                if call.error is not None:
                    self.audit_chain.plan()
                return True
            self._ran.append(call)
            self._flush_soon()
        else:
            self._count_queued(call.who)
            self._queue.append(call)
            self._quick = self._quick and not drawing  # until the thread has begun with it
            self._pump()
        if self.failure is not None:
            raise call.error or self.failure
        return False

    def _check_waiting_bytes(self, call: Call) -> None:
        """Refuse a call if too much waits for the disk: every reply waits for it, also those to other members."""
        if self.room.record.pending_bytes + self._writing_bytes > self.settings.queue_bytes:
            self.overload.add("queue", self.id)
            raise errors.Busy("too much is waiting to be written for this room; try again in a moment")
        command = self.commands.get(call.name) or self.room.command_now(call.name)
        if command is not None and command.records and self._shares.is_used_up(call.who, self.room.record.pending):
            self.overload.add("queue", self.id)
            raise errors.Busy("what you wrote last is still being stored; wait for the replies, then try again")

    def _count_queued(self, who: str) -> None:
        waiting = self._queued_by.get(who, 0)
        if who and waiting >= MAX_QUEUED_CALLS_OF_MEMBER:
            self.overload.add("queue", self.id)
            raise errors.Busy(f"{waiting} calls of yours are already waiting for this room; wait for a reply")
        self._queued_by[who] = waiting + 1

    def post(self, call: Call) -> None:
        """Queue a call of the house itself. Nobody waits for it, and it is dropped if the room has stopped."""
        if self.failure is None:
            self._queue.append(call)
            self._pump()

    async def drained(self) -> None:
        """Wait until all earlier calls are durable."""
        await self.submit(PeekCall(lambda room: None))

    @property
    def version(self) -> int:
        """It is incremented when entries become durable."""
        return self.history.version

    async def changed_since(self, version: int, ends: int) -> bool:
        """Wait until the room has changed since ``version`` or ``ends`` has passed. Returns whether it changed."""
        if version == self.version and self.failure is not None:
            return False
        return await self.history.changed_since(version, ends)

    # -- running ----------------------------------------------------------------------------------
    def _pump(self) -> None:
        """Run the queued calls."""
        if self._thread.is_running or not self._queue or self.failure is not None:
            return
        if self._quick:
            batch = self._take_queue()
            if self._run_here(batch, self._clock.now()):
                self._ran.extend(batch)
                self._flush_soon()
        elif not self._writing:
            self._quick = self._may_run_here and self._clock.now() >= self._slow.until
            self._run_on_thread(self._take_queue())

    def _take_queue(self) -> list[Call]:
        batch, self._queue, self._queued_by = self._queue, [], {}
        return batch

    def run_on_thread_for_a_while(self) -> None:
        self._quick, self._slow.until = False, self._clock.now() + SLOW_FOR_MS

    def _run_here(self, batch: Sequence[Call], at: int) -> bool:
        """World code on the event loop, guarded by the watchdog. Returns whether it returned."""
        before = self._slow.usage() if at < self._slow.suspect_until else None
        try:
            with self._watchdog as watch:
                for call in batch:
                    call.run(self.room, at)
        except WorldInterrupted:
            self._was_interrupted(batch)
            return False
        if watch.took > SLOW_S and self._slow.add(at, watch.took, before):
            log.warning("room %s: its world is slow and runs on a thread for a minute", self.id)
            self._quick = False
        if call.error is not None or len(batch) > 1:
            self._stop_if_broken(batch)
        return True

    def _run_on_thread(self, batch: list[Call]) -> None:
        at = self._clock.now()
        self._on_thread = batch
        self.room.replay_is_quick = self._snapshots.replay_is_quick

        def work(begin_step: Callable[[], None]) -> Frames:
            worked = time.thread_time()
            for call in batch:
                begin_step()  # the deadline applies to each call
                call.run(self.room, at)
            used = time.thread_time() - worked
            self._snapshots.add_cpu(used)
            self._keyframes.add_cpu(used)
            begin_step()
            return self._prepare()

        self._thread.run(self._marked(work), partial(self._ran_on_thread, batch), partial(self._is_late, batch))

    def _ran_on_thread(self, batch: Sequence[Call], frames: Frames) -> None:
        self._on_thread = []
        self._stop_if_broken(batch)
        if self.failure is None:
            self._ran.extend(batch)
            self._commit(frames)

    def _stop_if_broken(self, batch: Sequence[Call]) -> None:
        """A room that could not be rolled back, or whose world fails in a system entry, cannot continue."""
        for call in batch:
            wrong = call.error
            broken = isinstance(wrong, errors.RecordCorrupt | errors.Quarantined)
            if broken or (isinstance(call, SystemCall) and isinstance(wrong, errors.WorldError)):
                assert isinstance(wrong, errors.CohabitError)
                log.error("room %s is quarantined: %s", self.id, wrong.as_text())
                self.stop(world_thread.failed_world(wrong.message))
                settle_all(batch, self.failure)
                return

    # -- making it durable ------------------------------------------------------------------------
    def _flush_soon(self) -> None:
        """Close the batch at the end of this iteration of the event loop: calls that arrive together share a batch."""
        if not self._flush_planned:
            self._flush_planned = True
            asyncio.get_running_loop().call_soon(self._flush)

    def _flush(self) -> None:
        self._flush_planned = False
        if self._writing or self._thread.is_running or self.failure is not None:
            return
        asks_world = self.fanout.asks_world or self.room.record.seq >= self._snapshots.next_seq
        if not (asks_world and self.room.record.pending):  # no world code to guard
            self._commit(self._prepare())
            return
        if not self._quick:
            self._run_on_thread([])
            return
        try:
            with self._watchdog:
                frames = self._prepare()
        except WorldInterrupted:
            self._was_interrupted(())
            return
        self._commit(frames)

    def refused(self, who: str, name: str, error: errors.CohabitError, caller: str = "") -> None:
        """Write a refusal from outside the queue to the audit. ``caller``: tells newcomers apart."""
        self.room.audit.refused(self._clock.now(), who, name, error.code, error.message, caller)
        self.audit_chain.plan()

    def _flush_refusals(self) -> None:
        if self.failure is None:
            self._flush_soon()

    def _prepare(self) -> Frames:
        """Take the pending lines, and build the frames for the subscriptions that may see them."""
        size = self.room.record.pending_bytes
        lines = self.room.record.take_pending()
        self._snapshots.add_bytes(size)
        due = lines and self.room.record.seq >= self._snapshots.next_seq
        self._snapshot = self._snapshots.take_if_due(size) if due else None
        return self.fanout.frames(lines) if self.fanout.subscriptions else Frames(lines)

    def _commit(self, frames: Frames) -> None:
        batch, self._ran = self._ran, []
        refusals: list[Refusal] = []
        if self.room.audit.changed:
            refusals = self.room.audit.drain()
            self._quotas.refused(refusals)
        if not frames.lines:
            if refusals:  # no reply waits for those
                self._writer.submit(Write(self.id, refusals=refusals)).add_done_callback(_ignore)
            self._settle(batch, self._roster())
            return
        snapshot, self._snapshot = self._snapshot, None
        body = (snapshot.seq, snapshot.encode()) if snapshot is not None else None
        keep = self.settings.keep_entries if snapshot is not None else 0
        forget = frames.lines[-1].seq + 1 - keep if keep else None
        self._writing = True
        self._shares.writing, self._shares.by_member = frames.lines, None
        self._writing_bytes = self._quotas.count(frames.lines)

        roster = self._roster()  # calls may run while this is written

        def written(done: "asyncio.Future[None]") -> None:
            self._writing, self._writing_bytes = False, 0
            self._shares.writing, self._shares.by_member = (), None
            failure = done.exception()
            if failure is None:
                self._durable(frames, snapshot)
                self._settle(batch, roster)
            else:
                self._undo(batch, len(frames.lines), failure)

        write = Write(self.id, frames.lines, body, refusals=refusals, forget_before=forget)
        for call in batch:
            if type(call) is SystemCall and call.also is not None:
                write.merge(call.also)
        self._writer.submit(write).add_done_callback(written)

    def _durable(self, frames: Frames, snapshot: Snapshot | None) -> None:
        if snapshot is not None:
            self.room.stored(snapshot)
        self.history.add(frames.lines)
        if self.fanout.subscriptions:
            self.fanout.deliver(frames)
        for on_durable in self._events.on_durable:
            on_durable(self, frames.lines)
        for feature in self.room.features.that_answer["announces"]:
            listener = self._events.listeners.get(feature.name)
            if listener is not None and feature.active(self.room) and answer(feature.announces, False, self.room):
                listener(self)
        self.history.wake()

    def _roster(self) -> Roster | None:
        """The members now, if anything about them has changed."""
        version = self.room.roster_version
        return Roster(version, dict(self.room.state.members)) if version != self._roster_version else None

    def _settle(self, batch: Sequence[Call], roster: Roster | None) -> None:
        """``roster``: what is durable of it, if it has changed."""
        if roster is not None and self._events.removals_wait:
            gone = self._members.keys() - roster.members.keys()
            settle_after(batch, gone, partial(self._roster_changed, roster))
        else:
            settle_all(batch)
            if roster is not None:
                self._roster_changed(roster)
        if self._ran or self.room.record.pending:
            self._flush_soon()
        self._pump()
        if not self.room.timers.idle or self.room.pace == "clock":
            self.time.reschedule()

    def _roster_changed(self, roster: Roster) -> "asyncio.Future[None] | None":
        before, now = self._members, roster.members
        removed = [member for name, member in before.items() if name not in now]
        self._roster_version, self._members = roster.version, now
        stored: asyncio.Future[None] | None = None
        if removed:
            self.fanout.end_removed({member.id for member in removed})
            stored = self._events.on_removed(self, removed)
        self._events.on_roster(self)
        if self.remote is not None:
            for member in removed:
                self.remote.member_removed(member.id)
            self.remote.roster_changed()
        return stored

    def _undo(self, batch: list[Call], lines: int, failure: BaseException) -> None:
        """The write failed: roll back to the last durable entry, on the thread, because that runs world code."""
        log.error("room %s: %s", self.id, failure)
        refusal = failure if isinstance(failure, errors.CohabitError) else errors.StorageFailed(str(failure))
        batch, self._ran = batch + self._ran, []
        lines += len(self.room.record.pending)

        def work(begin_step: Callable[[], None]) -> None:
            begin_step()
            try:
                self.room.roll_back(lines)
            except Exception as broken:  # whatever the world raises: the calls must be answered
                told = (
                    broken if isinstance(broken, errors.CohabitError) else errors.internal_error(broken, "rolling back")
                )
                self.failure = errors.Quarantined(f"this room could not be rolled back: {told.message}")

        def undone(_: None) -> None:
            self.fanout.forget_views()
            self.time.back_off()
            settle_all(batch, refusal)
            self._on_thread = []
            self._settle((), self._roster())

        self._on_thread = batch
        self._thread.run(self._marked(work), undone, partial(self._is_late, batch))

    # -- worlds that do not return ------------------------------------------------------------------
    def _was_interrupted(self, batch: Sequence[Call]) -> None:
        """World code took too long on the event loop: the house reopens the room and runs the calls on a thread."""
        log.warning("room %s: its world was interrupted after %g s on the event loop", self.id, LOOP_LIMIT_S)
        calls = [*self._ran, *batch, *self._queue]
        self._ran, self._queue = [], []
        self.stop(world_thread.moving_to_thread())
        self._events.on_slow(self, calls)

    def _is_late(self, batch: Sequence[Call]) -> None:
        """A call exceeds its deadline on the thread: it has no effect."""
        limit_s = self.settings.world_deadline_s
        log.error("room %s: its world did not return within %g s; the room is quarantined", self.id, limit_s)
        settle_all(batch, world_thread.late_call(limit_s))
        self.stop(world_thread.late_world(limit_s))

    def _was_slow(self) -> None:
        """A late call has returned by itself."""
        log.warning("room %s: its world was slow, and has returned", self.id)
        self._thread.close()
        self._events.on_slow(self, [])

    def _hangs(self) -> None:
        self.failure = world_thread.failed_world("its world hung")
        log.error("room %s: %s", self.id, self.failure.message)

    def stop(self, reason: errors.CohabitError) -> None:
        """Stop accepting calls and sending replies."""
        self.failure = self.failure or reason
        settle_all([*self._on_thread, *self._ran, *self._queue], self.failure)
        self._on_thread, self._ran, self._queue = [], [], []
        self.time.stop()
        self.fanout.end(self.failure)
        self.history.wake()

    async def save_before_closing(self) -> None:
        """At shutdown: save a snapshot if the world took long to compute, so the next start is quick."""
        self.time.stop()
        if self.failure is not None:
            return
        try:
            if self.room.state.archived and self.time.looking:
                self.time.record_players("")
                await self.drained()
            refusals = self.audit_chain.rest()
            for entry in (*self.egress.entries(), *([refusals] if refusals is not None else [])):
                await self.submit(entry)
            if not self._snapshots.due_at_close:
                return
            snapshot = await self.submit(PeekCall(Room.snapshot))
            await self._writer.submit(Write(self.id, snapshot=(snapshot.seq, snapshot.encode())))
        except errors.CohabitError as failed:  # the record is complete; only the next start takes longer
            log.warning("room %s: snapshot at shutdown failed: %s", self.id, failed.as_text())

    def close(self, why: str = CLOSING) -> None:
        refusals = self.room.audit.drain()
        if refusals:
            self._writer.submit(Write(self.id, refusals=refusals)).add_done_callback(_ignore)
        self.egress.close()
        self.stop(errors.Disabled(why))
        if self.remote is not None:
            self.remote.close()
        self._thread.close()

    # -- subscribers ------------------------------------------------------------------------------
    def subscribe(self, sub: Subscription) -> None:
        """Start delivering to a subscription."""
        self.fanout.add(sub)
        self.time.mark_seen(sub.member, watching=sub.watching)

    async def first_view(self, member: str) -> tuple[bytes, Grant]:
        """The current view, sent before any change, and the grant under which it was made."""
        try:
            made: tuple[bytes, Grant] = await self.submit(PeekCall(lambda room: self.fanout.first_view(room, member)))
        except errors.CohabitError as failed:
            log.warning("room %s: no view: %s", self.id, failed.as_text())
            return b"", NO_GRANT
        return made

    def unsubscribe(self, sub: Subscription) -> None:
        if self.fanout.remove(sub) and self.failure is None:
            self.time.mark_seen(sub.member, watching=sub.watching)


def _ignore(done: "asyncio.Future[None]") -> None:
    done.exception()
