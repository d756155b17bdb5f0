"""The rooms of a house: opens, runs, reopens and deletes them."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext, suppress
from functools import partial
from typing import Any

from cohabit.errors import BadArgs, Busy, CohabitError, Conflict, Disabled, StorageFailed, UnknownRoom
from cohabit.house.directory import HOUSE_RECORD
from cohabit.house.running.egress import read_stored
from cohabit.house.running.remote import Connector, RemoteRunner
from cohabit.house.running.runner import RoomEvents, RoomRunner
from cohabit.house.running.shared import Shared
from cohabit.house.store.contract import Store, Write
from cohabit.house.store.heads import HeadsFile
from cohabit.house.store.leases import Leases
from cohabit.house.store.loading import load_room
from cohabit.house.threads import run_in_thread
from cohabit.model.suggest import nearest
from cohabit.registry import lasting_source
from cohabit.remote import RemoteWorld
from cohabit.room.room import Room

log = logging.getLogger("cohabit")
REOPENED_S = 5
MOVED_S = 1
MOVES = "this room moves to another process of this house; reconnect in a moment"
MakeConnector = Callable[[str, str, Mapping[str, Any]], Connector]
"""Makes a connector from its name, the id of the room, and the config of its world."""


class Rooms(dict[str, RoomRunner]):
    """The open rooms by id, without the house record. What others do about rooms: ``events`` and ``on_…``.

    In a ``dormant`` house time does not pass, and nothing is done by itself.
    """

    def __init__(self, shared: Shared, store: Store, house_id: str, dormant: bool = False) -> None:
        super().__init__()
        self.shared = shared
        self.dormant = dormant
        self.closing = False
        self.house_record: RoomRunner | None = None
        self.has_house_record = False  # else another process has it, and that one here is not stored
        self.broken: dict[str, CohabitError] = {}  # rooms that could not be opened, and why
        self.connectors: dict[str, Connector] = {}  # to remote worlds, by room; never stored
        self.leases = Leases(store, house_id, shared.clock, self.leased)
        shared.writer.holder_of = self.leases.holder_of
        self.heads: HeadsFile | None = None
        self.all_open = asyncio.Event()  # every stored room was opened, or could not be
        self.events = RoomEvents()
        self.make_connector: MakeConnector | None = None
        self.on_closed: Callable[[RoomRunner], None] = lambda runner: None  # it was closed; its room still exists
        self.on_not_stored: Callable[[], None] = lambda: None  # a room is closed only because the store has failed
        self.on_forgotten: list[Callable[[Collection[str]], None]] = []  # identities were deleted
        self.identities_only_in: Callable[[str], AbstractAsyncContextManager[Sequence[str]]] = lambda room: nullcontext(
            ()
        )
        self.on_deleted: list[Callable[[str], Awaitable[object] | None]] = []  # after the record, before the lease
        self._store = store
        self.is_elsewhere: Callable[[str], bool] = lambda room_id: False  # another process of this house has it
        self.open_elsewhere: Callable[[str], Awaitable[object]] | None = None  # opens a room in another process
        self.others: Callable[[], int] = lambda: 0  # how many rooms other processes have
        self._reserved: set[str] = {HOUSE_RECORD}  # and rooms being created, reopened or deleted
        self._loading = asyncio.Lock()  # held while a room that is being opened is loaded
        self._to_lease: dict[str, None] = {}  # rooms that wait for it …
        self._leased: set[str] = set()  # … and those of them that are leased already

    # -- questions --------------------------------------------------------------------------------
    def running(self) -> list[RoomRunner]:
        """The open rooms, and the house record."""
        return [*self.values(), *([self.house_record] if self.house_record is not None else [])]

    def leased(self) -> list[RoomRunner]:
        """Those whose leases this process renews."""
        return self.running() if self.has_house_record else [*self.values()]

    def runner_of(self, room_id: str) -> RoomRunner | None:
        """The room with this id, or the house record; None if there is none."""
        return self.house_record if room_id == HOUSE_RECORD else self.get(room_id)

    def heads_now(self) -> list[tuple[str, int, bytes]]:
        """The last durable entry of each room. Not of a house record that is not stored here, and not of a record that
        may just be replaced by another one (``rewrite``): a head that is in no record would close the room."""
        return [
            (runner.id, runner.history.seq, runner.history.digest)
            for runner in self.leased()
            if not isinstance(runner.failure, Busy)
        ]

    @property
    def left(self) -> int:
        """The number of rooms that the house may still add; those that are being created count as rooms."""
        return self.shared.settings.rooms_limit - len(self) - self.others() - len(self._reserved - {HOUSE_RECORD})

    @property
    def problems(self) -> dict[str, CohabitError]:
        """The rooms that are quarantined or could not be opened, and why."""
        stopped = {
            name: runner.failure
            for name, runner in self.items()
            if runner.failure is not None and not isinstance(runner.failure, Busy)  # see `rewrite`
        }
        return {**self.broken, **stopped}

    def is_free(self, name: str) -> bool:
        """True if no room has this id."""
        here = name in self or name in self.broken or name in self._reserved
        return not here and not self.is_elsewhere(name)

    @property
    def loading_s(self) -> float:
        """Creating or replaying a world takes longer than a call."""
        return 10 * self.shared.settings.world_deadline_s

    @contextmanager
    def reserve(self, room_id: str) -> Iterator[None]:
        """Nobody else creates, reopens or deletes the room meanwhile."""
        if room_id in self._reserved:
            raise Conflict(f"room {room_id} is being reopened or deleted by another call")
        self._reserved.add(room_id)
        try:
            yield
        finally:
            self._reserved.discard(room_id)

    # -- loading ----------------------------------------------------------------------------------
    async def open_all(self, stored: Iterable[str]) -> None:
        await asyncio.gather(*(self.open(room_id) for room_id in stored if room_id != HOUSE_RECORD))
        if self.heads is not None and not self.dormant:
            self.heads.start()
        self.all_open.set()

    async def open(self, room_id: str) -> None:
        """Open a stored room. If that is not possible, it is in ``broken``.

        Of many at the same time, one is loaded while those before it are written, in few commits, and their leases are
        acquired together: a sync of the disk for each of 10,000 rooms would take most of the time.
        """
        self._to_lease[room_id] = None
        try:
            async with self._loading:
                if room_id in self._to_lease:
                    waiting, self._to_lease = [*self._to_lease], {}
                    self._leased |= await run_in_thread("the leases", partial(self.leases.acquire_free, waiting))
                room = await self._load(room_id, leased=room_id in self._leased)
            await self._start(room)
        except CohabitError as wrong:
            log.error("room %s could not be opened: %s", room_id, wrong.as_text(), exc_info=wrong.__cause__)
            self._stays_closed(room_id, wrong)

    def _stays_closed(self, room_id: str, why: CohabitError) -> None:
        self.broken[room_id] = why
        if isinstance(why, StorageFailed) and not self.dormant:
            self.on_not_stored()

    async def let_go(self, room_id: str, place: str = "") -> None:
        """Close a room, with everything written, so that another process can open it. ``place``: the house of a cluster
        that should."""
        with self.reserve(room_id):
            self.broken.pop(room_id, None)
            runner = self.get(room_id)
            if runner is not None:
                await runner.save_before_closing()
                runner.fanout.end(Disabled(MOVES))
                runner.stop(Busy(MOVES, retry_after_s=MOVED_S))
                runner.close()
                self.on_closed(runner)
                if runner.remote is not None:
                    await runner.remote.closed()
                if room_id in self.connectors:
                    await self.connectors.pop(room_id).close()
                with suppress(CohabitError):
                    await self.shared.writer.submit(Write(room_id))  # after all queued writes
                del self[room_id]
            await run_in_thread("the leases", partial(self.leases.release, [room_id], place))

    async def _load(self, room_id: str, source: str | None = None, leased: bool = False) -> Room:
        """Load a room from the store, leased by this house. ``source``: where its world is now."""
        self._leased.discard(room_id)
        work = self.shared.marked(room_id, partial(self._load_leased, room_id, source, leased))
        return await run_in_thread(f"room {room_id}", work, self.loading_s)

    def _load_leased(self, room_id: str, source: str | None, leased: bool) -> Room:
        if not leased:
            self.leases.acquire(room_id)
        try:
            room = self.load_stored(room_id, source)
            if not self.dormant:
                self._record_opening(room)
        except BaseException:
            self.leases.release([room_id])
            raise
        return room

    def load_stored(self, room_id: str, source: str | None = None) -> Room:
        """A room as it was stored. Call it off the event loop."""
        if self.heads is not None:
            self.heads.check(self._store, room_id)
        room = load_room(self._store, room_id, source)
        self.shared.egress.load(room_id, read_stored(self._store.egress(room_id)))
        return room

    def _record_opening(self, room: Room) -> None:
        """Record that nobody has been in a room since its last entry, and how long it was closed. In an archived room
        no time passes anyway."""
        now, last = self.shared.clock.now(), room.record.at
        here = [m.id for m in room.state.members.values() if m.here]
        if here:
            room.system("presence", {"members": here, "here": False}, last)
        if not room.state.archived:
            room.system("opened", {"gap": max(0, now - last)}, max(now, last))

    # -- running ----------------------------------------------------------------------------------
    async def _start(self, room: Room) -> RoomRunner:
        if room.record.pending:
            await self.shared.writer.submit(Write(room.id, room.record.take_pending()))
        return self.run(room)

    def runner_for(self, room: Room) -> RoomRunner:
        """Not running yet. Raises if the commands of the world clash with those of the house."""
        return RoomRunner(room, self.shared, self.events)

    def run(self, room: Room) -> RoomRunner:
        """Start running a room that is stored."""
        runner = self.runner_for(room)
        if isinstance(room.world, RemoteWorld):
            connector = self.connectors.get(room.id)
            if connector is None and room.world.connector and self.make_connector is not None and not self.dormant:
                connector = self.make_connector(room.world.connector, room.id, room.state.config)
                self.connectors[room.id] = connector
            runner.remote = RemoteRunner(runner, room.world, self.shared.clock, connector)
        self[room.id] = runner
        if self.dormant:
            runner.time.stop()
        else:
            runner.time.reschedule()
            self.events.on_roster(runner)
        return runner

    async def connect(self, room_id: str, connector: Connector) -> None:
        """Set the connector of a room with a remote world. The house closes it at shutdown."""
        runner = self[room_id]
        if runner.remote is None:
            raise BadArgs(f"room {room_id} runs {runner.room.state.world}, which is not a remote world")
        previous = self.connectors.get(room_id)
        self.connectors[room_id] = connector
        await runner.remote.connect(connector)
        if previous is not None and previous is not connector:
            await previous.close()

    async def delete(self, room_id: str) -> None:
        """Delete a room, with its record, its credentials, and the identities that exist only for it."""
        with self.reserve(room_id):
            runner = self.pop(room_id)
            runner.close("this room was deleted")
            self.on_closed(runner)
            try:
                if runner.remote is not None:
                    await runner.remote.closed()
                if room_id in self.connectors:
                    await self.connectors.pop(room_id).close(delete=True)
                if self.heads is not None:
                    await self.heads.deleted(room_id)
                async with self.identities_only_in(room_id) as gone:
                    write = Write(room_id, delete=True, forget=gone, forget_egress=self._counted_outside(gone))
                    await self.shared.writer.submit(write)  # after all queued writes
                for forget in self.on_deleted:
                    if (rest := forget(room_id)) is not None:
                        await rest
                await run_in_thread("the leases", partial(self.leases.release, [room_id]))
            except CohabitError as failed:
                self._stays_closed(room_id, failed)
                raise

    def _counted_outside(self, identities: Iterable[str]) -> list[str]:
        """Those to whom something was sent outside of rooms. What was sent to them in the room is deleted with it."""
        accounts = self.house_record.egress.accounts if self.house_record is not None else {}
        return [identity for identity in identities if identity in accounts]

    async def reopen_anywhere(self, room_id: str) -> None:
        """The same as ``reopen``, in another process if this one runs no rooms."""
        await (self.reopen if self.open_elsewhere is None else self.open_elsewhere)(room_id)

    async def reopen(self, room_id: str) -> RoomRunner:
        """Reopen a quarantined room from its last durable state."""
        old = self.get(room_id)
        if old is not None and old.failure is None:
            raise Conflict(f"room {room_id} is already open and healthy")
        with self.reserve(room_id):
            await self.shared.writer.submit(Write(room_id))  # after all queued writes
            fresh = await self._load(room_id)
            if old is not None:
                old.close("this room is being reopened; reconnect")
                self.on_closed(old)
            runner = await self._start(fresh)
            self.broken.pop(room_id, None)
            return runner

    def is_quiet(self, room_id: str) -> bool:
        """True if nobody would be disturbed if the room were closed for a moment: it is archived or its game is over,
        and nobody watches it; or nobody is in it."""
        runner = self.get(room_id)
        if runner is None:
            return not self.is_elsewhere(room_id)
        state, watched = runner.room.state, bool(runner.fanout.subscriptions)
        if watched or runner.failure is not None:
            return False
        return state.archived or state.over_since is not None or not any(m.here for m in state.members.values())

    async def rewrite(
        self, room_id: str, work: Callable[[], Write | None], complete: Callable[[Write], Awaitable[None]]
    ) -> None:
        """Close a room, replace its record by what ``work`` returns (on a thread), and open it again. ``complete`` adds
        to what is written. Meanwhile calls are refused, and say when to try again."""
        with self.reserve(room_id):
            old = self.get(room_id)
            if old is not None:
                await old.save_before_closing()
                old.stop(
                    Busy(f"this room is being reopened; try again in {REOPENED_S} seconds", retry_after_s=REOPENED_S)
                )
                old.close()
                self.on_closed(old)
                if old.remote is not None:
                    await old.remote.closed()
            try:
                await self.shared.writer.submit(Write(room_id))  # after all queued writes
                if old is None:
                    await run_in_thread("the leases", partial(self.leases.acquire, room_id))
                write = await run_in_thread(f"room {room_id}", work)
                if write is not None:
                    await complete(write)
                    await run_in_thread("keyframes", partial(self.shared.keyframes.forget, room_id))
                    if self.heads is not None:
                        await self.heads.deleted(room_id)
                    await self.shared.writer.submit(write)
            finally:
                if old is None:
                    await run_in_thread("the leases", partial(self.leases.release, [room_id]))
                else:
                    try:
                        await self._start(await self._load(room_id))
                    except CohabitError as failed:
                        del self[room_id]
                        self._stays_closed(room_id, failed)
                        raise

    async def rebind(self, room_id: str, source: str) -> Room:
        """Record that the world of a room is in another file now. It must continue the record, else nothing changes.

        For the owner of the data folder, in a dormant house: a file is code that the house runs.
        """
        assert self.dormant
        if room_id not in self and room_id not in self.broken:
            raise UnknownRoom(f"no room {room_id!r}", did_you_mean=nearest(room_id, [*self, *self.broken], 2))
        moved = lasting_source(source)
        room = await self._load(room_id, moved)
        if room.world.spec.name != room.state.world:
            raise BadArgs(
                f"{source} is the world {room.world.spec.name!r}, but room {room_id} runs {room.state.world!r}"
            )
        room.system("rebound", {"source": moved}, self.shared.clock.now())
        snapshot = room.snapshot()
        write = Write(room_id, room.record.take_pending(), (snapshot.seq, snapshot.encode()))
        await self.shared.writer.submit(write)
        old = self.pop(room_id, None)
        if old is not None:
            old.close()
        self.broken.pop(room_id, None)
        self.run(room)
        return room

    async def close(self) -> None:
        """Close every room and its connector, and the house record. Leases are released later, after the last write."""
        runners = list(self.values())
        await asyncio.gather(*(runner.save_before_closing() for runner in runners))
        for runner in runners:
            runner.close()
        await asyncio.gather(*(runner.remote.closed() for runner in runners if runner.remote is not None))
        await asyncio.gather(*(connector.close() for connector in self.connectors.values()))
        if self.house_record is not None:
            self.house_record.close()
