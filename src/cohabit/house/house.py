"""A house: its rooms, its identities and its store. Interfaces call it through `Door`."""

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from cohabit.errors import BadArgs, CohabitError, Conflict, Unauthorized, UnknownRoom
from cohabit.house import (
    agent_status,
    audit_log,
    credentials,
    entry_policy,
    feed,
    front_ends,
    gate,
    introduction,
    invites,
    observing,
    saves,
)
from cohabit.house import commands as house_commands
from cohabit.house.bots import Bots
from cohabit.house.brains import check_allowed
from cohabit.house.clock import Clock, SystemClock
from cohabit.house.creating import create_room
from cohabit.house.door import Door
from cohabit.house.heads import HeadsFile, read_key
from cohabit.house.identities import Identities
from cohabit.house.leases import Leases
from cohabit.house.ledger import HOUSE_ROOM, Ledger
from cohabit.house.loading import load_room
from cohabit.house.overload import OverloadLog
from cohabit.house.reopening import Reopening
from cohabit.house.runner import RoomRunner
from cohabit.house.running.remote import Connector, RemoteRunner
from cohabit.house.running.threads import run_in_thread
from cohabit.house.running.watchdog import LOOP_LIMIT_S, Watchdog
from cohabit.house.settings import Settings, split_names
from cohabit.house.signing import SigningKey, house_key
from cohabit.house.store.contract import Store, Write
from cohabit.house.store.memory import MemoryStore
from cohabit.house.store.sqlite import SQLiteStore
from cohabit.house.subscriptions import Deliver, Outboxes, Subscription
from cohabit.house.writer import Writer
from cohabit.model.identity import Credential, Identity
from cohabit.model.suggest import nearest
from cohabit.registry import lasting_source, load_extensions, load_features, make_connector
from cohabit.remote import RemoteWorld
from cohabit.room.commands import CommandTable, declared_in
from cohabit.room.record import Line
from cohabit.room.room import Room
from cohabit.room.state import Member
from cohabit.scenario import Scenario

log = logging.getLogger("cohabit")
HOUSE_COMMANDS = CommandTable(
    chain.from_iterable(
        map(
            declared_in,
            (
                house_commands,
                introduction,
                invites,
                gate,
                entry_policy,
                credentials,
                feed,
                observing,
                front_ends,
                audit_log,
                saves,
                agent_status,
            ),
        )
    )
)
OnLines = Callable[[RoomRunner, Sequence[Line]], None]
OPERATOR = Identity("i-operator", "operator", "human", host=True)


class House:
    """Open one with ``async with House.open(settings) as house``."""

    def __init__(
        self, store: Store, settings: Settings, clock: Clock, identities: Identities, dormant: bool = False
    ) -> None:
        self.store = store
        self.settings = settings
        self.clock = clock
        self.identities = identities
        self.commands = HOUSE_COMMANDS
        self.id = secrets.token_hex(8)  # identifies this process in the store
        self.rooms: dict[str, RoomRunner] = {}
        self.broken: dict[str, CohabitError] = {}  # rooms that could not be opened, and why
        self.connectors: dict[str, Connector] = {}  # to remote worlds, by room; never stored
        self.started_at = clock.now()
        self.closing = False
        self.dormant = dormant
        self.overload = OverloadLog(clock)
        self.outboxes = Outboxes(settings.outboxes_bytes)
        self.writer = Writer(store, asyncio.get_running_loop())
        self.door = Door(self)
        self.gate = gate.Gate(self)
        self.ledger = Ledger(self)
        self.bots = Bots(self)
        self.reopening = Reopening(self)
        self.heads: HeadsFile | None = None
        self._signing_key: SigningKey | None = None  # loaded when it is first needed
        self._signing_lock = asyncio.Lock()
        self._on_lines: OnLines | None = None
        self.listeners: dict[str, Callable[[RoomRunner], None]] = {}  # by feature: it announces something in a room
        self.all_open = asyncio.Event()  # every stored room was opened, or could not be
        self._watchdog = Watchdog(min(LOOP_LIMIT_S, settings.world_deadline_s))
        self._reserved: set[str] = {HOUSE_ROOM}  # the house record, and rooms being created, reopened or deleted
        self.leases = Leases(store, self.id, clock, lambda: [*self.rooms.values(), self.ledger.runner])

    # -- opening and closing ----------------------------------------------------------------------
    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        settings: Settings | None = None,
        *,
        store: Store | None = None,
        clock: Clock | None = None,
        dormant: bool = False,
    ) -> "AsyncIterator[House]":
        """A running house with every room of its store. Without a data folder, data is kept in memory only.

        In a ``dormant`` house time does not pass and no built-in player acts: use it to change credentials.
        """
        settings = settings or Settings()
        load_extensions()
        load_features(split_names(settings.features))  # stored rooms may need them
        chosen = settings
        kept: Store = store if store is not None else await run_in_thread("the store", lambda: _open_store(chosen))
        try:
            known = await run_in_thread("the store", lambda: _known(kept))
            house = cls(kept, settings, clock or SystemClock(), known, dormant)
        except BaseException:
            kept.close()
            raise
        try:
            await house._open_rooms()
            yield house
        finally:
            await house._close()

    async def _open_rooms(self) -> None:
        if self.settings.heads_file:
            self.heads = await run_in_thread("the heads", self._open_heads)
        await self.ledger.open()
        stored = await run_in_thread("the store", self.store.rooms)
        for room_id in self.heads.missing(stored) if self.heads is not None else ():
            log.error("room %s is in %s, but not in the store", room_id, self.settings.heads_file)
        for room_id in stored:
            if room_id == HOUSE_ROOM:
                continue
            try:
                await self._start_running(await self._load(room_id))
            except CohabitError as wrong:
                log.error("room %s could not be opened: %s", room_id, wrong.as_text(), exc_info=wrong.__cause__)
                self.broken[room_id] = wrong
        if self.heads is not None and not self.dormant:
            self.heads.start()
        self.all_open.set()

    def _open_heads(self) -> HeadsFile:
        settings = self.settings
        path = Path(settings.heads_file).expanduser()
        every_ms = int(settings.heads_every_s * 1000)
        return HeadsFile(path, read_key(settings.heads_key), every_ms, self.clock, self._heads_now)

    def _heads_now(self) -> list[tuple[str, int, bytes]]:
        """The last durable entry of each open room, and of the house record."""
        runners = [*self.rooms.values(), *([self.ledger.runner] if self.ledger.is_open else [])]
        return [(runner.id, runner.durable_seq, runner.durable_digest) for runner in runners]

    async def _load(self, room_id: str, source: str | None = None) -> Room:
        """Load a room from the store, leased by this house. ``source``: where its world is now."""
        return await run_in_thread(f"room {room_id}", partial(self._load_leased, room_id, source), self.loading_s)

    def _load_leased(self, room_id: str, source: str | None) -> Room:
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
            self.heads.check(self.store, room_id)
        return load_room(self.store, room_id, source)

    def _record_opening(self, room: Room) -> None:
        """Record how long a room was closed, and that nobody is in it."""
        now = self.clock.now()
        room.system("opened", {"gap": max(0, now - room.record.at)}, now)
        here = [m.id for m in room.state.members.values() if m.here]
        if here:
            room.system("presence", {"members": here, "here": False}, now)

    async def _start_running(self, room: Room) -> RoomRunner:
        if room.record.pending:
            await self.writer.submit(Write(room.id, room.record.take_pending()))
        return self.run_room(room)

    def run_room(self, room: Room) -> RoomRunner:
        """Start running a room that is stored."""
        runner = self.make_runner(room)
        if isinstance(room.world, RemoteWorld):
            connector = self.connectors.get(room.id)
            if connector is None and room.world.connector and not self.dormant:
                connector = make_connector(room.world.connector, self, room.id, room.state.config)
                self.connectors[room.id] = connector
            runner.remote = RemoteRunner(runner, room.world, self.clock, connector)
        runner.on_roster = self.bots.start_bots
        runner.on_removed = self._members_removed
        runner.on_lines = self._on_lines
        runner.on_announced = self._announced
        runner.on_slow = self.reopening.start
        self.rooms[room.id] = runner
        if self.dormant:
            runner.time.stop()
        else:
            runner.time.reschedule()
            self.bots.start_bots(runner)
        return runner

    def make_runner(self, room: Room) -> RoomRunner:
        room.budget.per_second = self.settings.calls_per_second
        room.members_limit = self.settings.members_limit
        room.check_brain = partial(check_allowed, settings=self.settings)
        room.ahead_ms = max(0, room.record.at - self.clock.now())
        return RoomRunner(
            room, self.writer, self.clock, self._watchdog, self.settings, self.overload, self.outboxes,
            list(self.commands),
        )  # fmt: skip

    def watch_records(self, callback: OnLines) -> None:
        """Call ``callback`` with durable lines, in every room."""
        self._on_lines = callback
        for runner in self.rooms.values():
            runner.on_lines = callback

    async def revoke_credentials(self, credentials: Sequence[Credential]) -> None:
        """Revoke and store credentials without notifying a member."""
        gone = self.identities.revoke(credentials)
        await self.writer.submit(Write(credentials=gone))

    def _announced(self, runner: RoomRunner, feature: str) -> None:
        if feature in self.listeners:
            self.listeners[feature](runner)

    def _members_removed(self, runner: RoomRunner, members: Sequence[Member]) -> None:
        """Revoke the credentials of removed members for this room."""
        for member in members:
            held = self.identities.of(member.identity, runner.room.id) if member.identity else []
            gone = self.identities.revoke(held)
            if gone:
                self.writer.submit(Write(credentials=gone)).add_done_callback(_log_failure)
            if runner.remote is not None:
                runner.remote.member_removed(member.id)

    async def _close(self) -> None:
        self.closing = True
        await self.leases.close()
        await self.reopening.close()
        await self.bots.close()
        await self.door.close()
        runners = list(self.rooms.values())
        await asyncio.gather(*(runner.save_before_closing() for runner in runners))
        for runner in runners:
            runner.close()
        await asyncio.gather(*(runner.remote.closed() for runner in runners if runner.remote is not None))
        await asyncio.gather(*(connector.close() for connector in self.connectors.values()))
        self.ledger.close()
        await run_in_thread("the writer", self.writer.close)
        if self.heads is not None:
            await self.heads.close()
        await run_in_thread("the leases", partial(self.leases.release, [*self.rooms, HOUSE_ROOM]))
        self._watchdog.close()
        await run_in_thread("the store", self.store.close)

    # -- callers ----------------------------------------------------------------------------------
    def identify(self, token: str | None) -> Credential:
        """The credential that a token belongs to."""
        try:
            return self.identities.identify(token, self.clock.now())
        except Unauthorized:
            self.overload.add("login")
            raise

    async def signing_key(self) -> SigningKey:
        """The key that signs invites. It is in the data folder; a house in memory has a new one every time."""
        async with self._signing_lock:
            if self._signing_key is None:
                folder = self.settings.folder if self.settings.data else None
                self._signing_key = await run_in_thread("the signing key", partial(house_key, folder))
            return self._signing_key

    def operator_token(self) -> str:
        """A token with the rights of a house host, for the owner of the data folder; valid while this house runs."""
        return self.identities.temporary(OPERATOR, None, self.clock.now())

    async def call(
        self, credential: Credential, room: str | None, command: str, args: Any = None, *, key: str | None = None
    ) -> Any:
        """Run one command for a credential. Returns the result or raises the error."""
        return await self.door.call(credential, room, command, args, key)

    async def subscribe(
        self,
        credential: Credential,
        room: str | None,
        cursor: str | None = None,
        *,
        views: bool = True,
        deliver: Deliver | None = None,
    ) -> Subscription:
        """Subscribe to a room's events from a cursor (None: from now on; empty: from the beginning)."""
        target = self.door.resolve(credential, room, feed.EVENTS.name)
        try:
            self.door.decide(target, self.clock.now())
        except CohabitError as wrong:
            if target.maybe_runner is not None and target.maybe_member is not None:
                target.runner.refused(target.member.id, feed.EVENTS.name, wrong)
            raise
        return feed.subscribe(target, cursor, views, deliver)

    def until_invalid(self, credential: Credential, callback: Callable[[], None]) -> Callable[[], None]:
        """Call ``callback`` when a credential is revoked or expires. Returns an unsubscribe function."""
        stop = self.identities.watch(credential, callback)
        if credential.expires_at is None:
            return stop

        def expired() -> None:
            if credential.expires_at is not None:  # an accepted invite no longer expires
                callback()

        timer = self.clock.call_at(credential.expires_at, expired)

        def stop_both() -> None:
            stop()
            timer.cancel()

        return stop_both

    # -- rooms ------------------------------------------------------------------------------------
    def runner_of(self, room_id: str) -> RoomRunner | None:
        """The room with this id, or the house record; None if there is none."""
        return self.ledger.runner if room_id == HOUSE_ROOM else self.rooms.get(room_id)

    @property
    def rooms_left(self) -> int:
        """How many more rooms the house may have; those that are being created count."""
        return self.settings.rooms_limit - len(self.rooms) - len(self._reserved - {HOUSE_ROOM})

    @property
    def problems(self) -> dict[str, CohabitError]:
        """The rooms that are quarantined or could not be opened, and why."""
        stopped = {name: runner.failure for name, runner in self.rooms.items() if runner.failure is not None}
        return {**self.broken, **stopped}

    async def create_room(
        self,
        scenario: Scenario,
        room_id: str | None = None,
        seed: int | str | None = None,
        owner: Identity | None = None,
    ) -> tuple[str, dict[str, str]]:
        """Create a room. Returns its id and a token for each member. The tokens cannot be retrieved later."""
        return await create_room(self, scenario, room_id, seed, owner)

    def is_free(self, name: str) -> bool:
        """Whether no room has this id."""
        return name not in self.rooms and name not in self.broken and name not in self._reserved

    @property
    def loading_s(self) -> float:
        """Creating or replaying a world takes longer than a call."""
        return 10 * self.settings.world_deadline_s

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

    async def delete_room(self, room_id: str) -> None:
        """Delete a room, with its record and its credentials."""
        with self.reserve(room_id):
            runner = self.rooms.pop(room_id)
            runner.close("this room was deleted")
            self.bots.stop_room(runner)
            try:
                if runner.remote is not None:
                    await runner.remote.closed()
                if room_id in self.connectors:
                    await self.connectors.pop(room_id).close(delete=True)
                if self.heads is not None:
                    await self.heads.deleted(room_id)
                await self.writer.submit(Write(room_id, delete=True))  # after all queued writes
                self.identities.forget_room(room_id)
                self.gate.forget_room(room_id)
                if self.settings.data:
                    await run_in_thread("the saves", partial(saves.delete, self.settings.folder, room_id))
                await self.bots.delete_room(room_id)
                await run_in_thread("the leases", partial(self.leases.release, [room_id]))
            except CohabitError as failed:
                self.broken[room_id] = failed
                raise

    async def reopen_room(self, room_id: str) -> RoomRunner:
        """Reopen a quarantined room from its last durable state."""
        old = self.rooms.get(room_id)
        if old is not None and old.failure is None:
            raise Conflict(f"room {room_id} is already open and healthy")
        with self.reserve(room_id):
            await self.writer.submit(Write(room_id))  # after all queued writes
            fresh = await self._load(room_id)
            if old is not None:
                old.close("this room is being reopened; reconnect")
                self.bots.stop_room(old)
            runner = await self._start_running(fresh)
            self.broken.pop(room_id, None)
            return runner

    async def rebind_room(self, room_id: str, source: str) -> Room:
        """Record that the world of a room is in another file now. It must continue the record, else nothing changes.

        For the owner of the data folder, in a dormant house: a file is code that the house runs.
        """
        assert self.dormant
        if room_id not in self.rooms and room_id not in self.broken:
            raise UnknownRoom(f"no room {room_id!r}", did_you_mean=nearest(room_id, [*self.rooms, *self.broken], 2))
        moved = lasting_source(source)
        room = await self._load(room_id, moved)
        if room.world.spec.name != room.state.world:
            raise BadArgs(
                f"{source} is the world {room.world.spec.name!r}, but room {room_id} runs {room.state.world!r}"
            )
        room.system("rebound", {"source": moved}, self.clock.now())
        snapshot = room.snapshot()
        await self.writer.submit(Write(room_id, room.record.take_pending(), (snapshot.seq, snapshot.encode())))
        old = self.rooms.pop(room_id, None)
        if old is not None:
            old.close()
        self.broken.pop(room_id, None)
        self.run_room(room)
        return room

    async def connect_room(self, room_id: str, connector: Connector) -> None:
        """Set the connector of a room with a remote world. The house closes it at shutdown."""
        runner = self.rooms[room_id]
        if runner.remote is None:
            raise BadArgs(f"room {room_id} runs {runner.room.state.world}, which is not a remote world")
        previous = self.connectors.get(room_id)
        self.connectors[room_id] = connector
        await runner.remote.connect(connector)
        if previous is not None and previous is not connector:
            await previous.close()


def _open_store(settings: Settings) -> Store:
    return SQLiteStore(settings.folder) if settings.data else MemoryStore()


def _known(store: Store) -> Identities:
    return Identities(store.identities(), store.credentials(), store.invites())


def _log_failure(done: "asyncio.Future[Any]") -> None:
    if not done.cancelled() and done.exception() is not None:
        log.error("credentials could not be stored: %s", done.exception())
