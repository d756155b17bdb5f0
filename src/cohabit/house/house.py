"""A house: many rooms, the people and agents it knows, and the store. ``call`` is the way in for all faces."""

import asyncio
import logging
import re
import secrets
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from itertools import chain
from typing import Any

from cohabit.errors import BadArgs, Busy, CohabitError, Conflict, PermissionDenied, Quarantined, UnknownRoom
from cohabit.house import commands as house_commands
from cohabit.house import saves
from cohabit.house.bots import Bots, check_brain
from cohabit.house.calls import Call
from cohabit.house.clock import Clock, SystemClock
from cohabit.house.context import HouseContext
from cohabit.house.identities import Identities, hashed, make_token
from cohabit.house.loading import load_room
from cohabit.house.memory import MemoryStore
from cohabit.house.remote import RemoteHost, Way
from cohabit.house.rooms import RoomHost
from cohabit.house.settings import Settings
from cohabit.house.sqlite import SQLiteStore
from cohabit.house.store import Credential, Store, Write
from cohabit.house.ways import has_own_way, own_way
from cohabit.house.worldthread import Watchdog, apart
from cohabit.house.writer import Writer
from cohabit.registry import lasting_source, make_world
from cohabit.room.budget import Budget
from cohabit.room.commands import Command, CommandTable, declared_in
from cohabit.room.decide import by_grant
from cohabit.room.record import Line, Snapshot
from cohabit.room.room import Room
from cohabit.scenario import Scenario, check_scenario, opening_state
from cohabit.world import RemoteWorld

log = logging.getLogger("cohabit")
HOUSE_COMMANDS = CommandTable(chain(declared_in(house_commands), declared_in(saves)))
MAY_BE_A_WORLDS_OWN = tuple(command.name for command in declared_in(saves))
"""A world that keeps its saves itself has its own commands for that; in its rooms they win."""
ROUND_MS = 1_000
ROOM_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")


class House:
    """Open one with ``async with House.open(settings) as house``."""

    def __init__(self, store: Store, settings: Settings, clock: Clock) -> None:
        self.store = store
        self.settings = settings
        self.clock = clock
        self.identities = Identities(store)
        self.rooms: dict[str, RoomHost] = {}
        self.broken: dict[str, CohabitError] = {}
        self.bridges: dict[str, Way] = {}  # the ways to worlds that are elsewhere, by room; never stored
        self.calls = 0
        self.refusals: dict[str, int] = {}
        self.started_at = clock.now()
        self._loop = asyncio.get_running_loop()
        self.writer = Writer(store, self._loop)
        self._watchdog = Watchdog(settings.world_deadline_s)
        self.bots = Bots(self)
        self.closing = False
        self._budget = Budget(settings.calls_per_second)  # of commands of the house, by credential
        self._busy_names: set[str] = set()  # rooms on their way in or out
        self.on_lines: Callable[[RoomHost, Sequence[Line]], None] = lambda host, lines: None
        self._round = clock.call_at(clock.now() + ROUND_MS, self._go_round)

    def _go_round(self) -> None:
        """Every second: see which tokens the command line revoked, and show out whoever may no longer be here."""
        self.identities.refresh()
        now = self.clock.now()
        for host in list(self.rooms.values()):
            host.fanout.show_out(now)
        self._round = self.clock.call_at(now + ROUND_MS, self._go_round)

    # -- opening and closing ----------------------------------------------------------------------
    @classmethod
    @asynccontextmanager
    async def open(
        cls, settings: Settings | None = None, *, store: Store | None = None, clock: Clock | None = None
    ) -> "AsyncIterator[House]":
        """A running house, with every room of its store in it. Without a data folder nothing is kept."""
        settings = settings or Settings()
        if store is None:
            store = SQLiteStore(settings.folder) if settings.data else MemoryStore()
        try:
            house = cls(store, settings, clock or SystemClock())
        except CohabitError:
            store.close()
            raise
        try:
            await house._open_rooms()
            yield house
        finally:
            await house._close()

    async def _open_rooms(self) -> None:
        for room_id in self.store.rooms():
            try:
                self._adopt(await apart(room_id, partial(self.load_room, room_id), self._loading_s))
            except CohabitError as wrong:
                log.error("room %s stays closed: %s", room_id, wrong.as_text())
                self.broken[room_id] = wrong

    def load_room(self, room_id: str) -> Room:
        """A room as it is on disk."""
        return load_room(self.store, room_id)

    def _adopt(self, room: Room) -> RoomHost:
        """Take a loaded room into the house; time went on while it was closed."""
        now = self.clock.now()
        room.system("opened", {"gap": max(0, now - room.record.at)}, now)
        here = [m.id for m in room.state.members.values() if m.here]
        if here:
            room.system("presence", {"members": here, "here": False}, now)
        self.store.commit([Write(room.id, room.record.take_pending())])
        return self._run(room)

    def _run(self, room: Room) -> RoomHost:
        room.budget.per_second = self.settings.calls_per_second
        host = self._host(room)
        host.on_change = self.bots.look_after
        host.on_lines = self._happened
        self.rooms[room.id] = host
        host.time.reschedule()
        self.bots.look_after(host)
        return host

    def _host(self, room: Room) -> RoomHost:
        if not isinstance(room.world, RemoteWorld):
            return RoomHost(room, self.writer, self.clock, self._watchdog, self.settings)
        way = None
        if has_own_way(room):
            way = self.bridges.get(room.id) or own_way(room, self.settings, self.clock)
            self.bridges[room.id] = way
        return RemoteHost(room, self.writer, self.clock, self._watchdog, self.settings, way)

    def _happened(self, host: RoomHost, lines: Sequence[Line]) -> None:
        """Something became durable. Who was removed has no token either: a namesake must not inherit it."""
        for line in lines:
            if line.entry.do == "remove_member":
                self.identities.revoke(line.entry.args["member"], host.room.id)
                if isinstance(host, RemoteHost):
                    host.forget(line.entry.args["member"])
                host.fanout.show_out(self.clock.now())
        self.on_lines(host, lines)

    async def _close(self) -> None:
        self.closing = True
        self._round.cancel()
        await self.bots.close()
        await asyncio.gather(*(host.put_away() for host in self.rooms.values()))
        for host in self.rooms.values():
            host.close()
            if isinstance(host, RemoteHost):
                await host.left()
        await asyncio.gather(*(way.close() for way in self.bridges.values()))
        await asyncio.to_thread(self.writer.close)
        self._watchdog.close()
        self.store.close()

    # -- the way in -------------------------------------------------------------------------------
    def identify(self, token: str | None) -> Credential:
        """Whose credential is this?"""
        return self.identities.identify(token, self.clock.now())

    async def call(
        self, credential: Credential, room: str | None, command: str, args: Any = None, *, key: str | None = None
    ) -> Any:
        """One command by one credential, in a room or of the house: the path that every face walks."""
        try:
            wanted = HOUSE_COMMANDS.get(command)
            if wanted is not None and not self._is_a_worlds_own(credential, room, command):
                return await self._house_call(credential, room, wanted, args)
            wait_ms = self._wait_of(credential, room, command, args)
            if wait_ms:
                self._come_in(credential)
                host = self.room_for(credential, room)
                return await host.call_waiting(credential.who, command, args, key, wait_ms)
            call = self.begin(credential, room, command, args, key)
            return call.answer() if call.done else await call.wait()
        except CohabitError as refusal:
            self.refused(refusal)
            raise

    def begin(self, credential: Credential, room: str | None, command: str, args: Any, key: str | None) -> Call:
        """Take up a call of a room: the same path, without waiting. Not for commands of the house."""
        now = self._come_in(credential)
        host = self.room_for(credential, room)
        host.time.heard_of(credential.who, now)
        call = Call(credential.who, command, args, key)
        call.done = host.put(call, now)
        return call

    def _is_a_worlds_own(self, credential: Credential, room: str | None, command: str) -> bool:
        host = self.rooms.get(room or credential.room or "")
        return host is not None and command in host.room.commands

    def _come_in(self, credential: Credential) -> int:
        """Where every call begins: it is counted, and its credential must still be good. What time it is."""
        self.calls += 1
        now = self.clock.now()
        self.identities.still_good(credential, now)
        return now

    def _wait_of(self, credential: Credential, room: str | None, command: str, args: Any) -> int:
        """How long this call is ready to wait for something new."""
        if args and (not isinstance(args, Mapping) or not args.get("wait_ms", True)):
            return 0
        listed = self.room_for(credential, room).room.commands.get(command)
        if listed is None or listed.waits is None:
            return 0
        try:
            return int(listed.check(args).get("wait_ms", 0))
        except BadArgs:  # the room says that, and puts it in the audit
            return 0

    def refused(self, refusal: CohabitError) -> None:
        """Count a refusal, for the metrics."""
        self.refusals[refusal.code] = self.refusals.get(refusal.code, 0) + 1

    async def _house_call(self, credential: Credential, room: str | None, command: Command, args: Any) -> Any:
        now = self._come_in(credential)
        self._budget.spend(credential.hash, now)
        if self._budget.is_spent(credential.hash, now):
            raise Busy(self._budget.words)
        context = HouseContext(self, credential)
        wanted = room or credential.room or ""
        if command.name == "reopen_room" and wanted in self.broken:
            if not credential.host and credential.room != wanted:
                raise _unknown(wanted)
            if not credential.host:  # who is what in a room that does not open is not known
                raise PermissionDenied("a room that did not open is taken up by a host of the house")
            await self.reopen_room(wanted)
            return house_commands.Reopened(wanted)
        if room is not None or credential.room is not None:
            context.host = self.room_for(credential, room, joining=command.name == "join")
        if command.needs:
            if context.host is None:
                raise BadArgs(f"{command.name} is about a room; say which")
            context.require(command)
        return await command.run(context, **command.check(args))

    def room_for(self, credential: Credential, room: str | None, joining: bool = False) -> RoomHost:
        """The room that a credential means and may know of."""
        wanted = room or credential.room
        if wanted is None:
            raise BadArgs("say which room: this credential is not bound to one")
        host = self.rooms.get(wanted)
        if credential.room is not None and credential.room != wanted:
            raise _unknown(wanted)
        if host is None:
            if wanted in self.broken and (credential.room == wanted or credential.host):
                raise Quarantined(f"room {wanted} stays closed: {self.broken[wanted].message}")
            raise _unknown(wanted)
        member = host.room.state.members.get(credential.who)
        if member is None or (credential.room is None and not member.house):  # a namesake is somebody else
            if joining and (credential.host or host.room.state.guests):
                return host
            if credential.host or host.room.state.guests:
                raise UnknownRoom(f"you are not in room {wanted!r} yet; call join first")
            raise _unknown(wanted)
        return host

    def commands_for(self, credential: Credential, room: str | None) -> list[Command]:
        """What this credential's grant lets it call: never a matter of whose turn it is."""
        if room is None and credential.room is None:
            return [c for c in HOUSE_COMMANDS if not c.needs or credential.host]
        host = self.room_for(credential, room)
        member = host.room.state.members[credential.who]
        ours = (
            c
            for c in HOUSE_COMMANDS
            if by_grant(member, c) and (c.name != "create_room" or credential.host) and c.name not in host.room.commands
        )
        return [*host.room.may(member), *(host.room.as_named(c) for c in ours)]

    # -- rooms ------------------------------------------------------------------------------------
    async def create_room(
        self, scenario: Scenario, room_id: str | None = None, seed: int | None = None
    ) -> tuple[str, dict[str, str]]:
        """Open a room; its id and a token for each member. The tokens are shown here and never again."""
        name = room_id or self._free_id(scenario.scenario)
        if not ROOM_ID.fullmatch(name):
            raise BadArgs("a room's id is lower-case letters, digits and hyphens, 63 at most")
        if not self._is_free(name):
            raise Conflict(f"there is a room {name!r} already")
        if len(self.rooms) + len(self._busy_names) >= self.settings.rooms_limit:
            raise Busy(f"this house holds {self.settings.rooms_limit} rooms and has no place for more")
        self._check_agents(check_scenario(scenario))
        now = self.clock.now()
        self._busy_names.add(name)
        try:
            room, snapshot = await apart(name, lambda: _new_room(scenario, name, seed, now), self._loading_s)
            bound = [agent for agent in scenario.agents if not agent.house]
            tokens = {agent.id: agent.token or make_token() for agent in bound}
            keys = [Credential(hashed(tokens[a.id]), a.id, a.kind, name, created_at=now) for a in bound]
            body = (snapshot.seq, snapshot.encode())
            await self.writer.submit(Write(name, room.record.take_pending(), body, credentials=keys))
            for credential in keys:
                self.identities.know(credential)
            room.stored(snapshot)
            self._run(room)
        finally:
            self._busy_names.discard(name)
        return name, tokens

    def _free_id(self, base: str) -> str:
        stem = re.sub(r"[^a-z0-9]+", "-", base.lower()).strip("-")[:40] or "room"
        number = 1
        while not self._is_free(name := f"{stem}-{number}"):
            number += 1
        return name

    def _is_free(self, name: str) -> bool:
        return name not in self.rooms and name not in self.broken and name not in self._busy_names

    @property
    def _loading_s(self) -> float:
        """Setting a world up, or running its record again, is more than a call and may take longer."""
        return 10 * self.settings.world_deadline_s

    def _check_agents(self, scenario: Scenario) -> None:
        for i, agent in enumerate(scenario.agents):
            if agent.token is not None and self.identities.knows(agent.token):
                raise Conflict(f"agents[{i}]: this token is in use in this house already; give {agent.id} another")
            for brain in (agent.brain, agent.stand_in):
                try:
                    check_brain(brain)
                except BadArgs as wrong:
                    raise BadArgs(f"agents[{i}]: {wrong.message}", did_you_mean=wrong.did_you_mean) from None

    async def delete_room(self, room_id: str) -> None:
        """Forget a room, with its record and its credentials."""
        host = self.rooms.pop(room_id)
        host.close("this room was deleted")
        self._busy_names.add(room_id)
        try:
            if room_id in self.bridges:
                await self.bridges.pop(room_id).close(for_good=True)
            await self.writer.submit(Write(room_id))  # comes after whatever was still on its way
            for who in list(host.room.state.members):
                self.identities.revoke(who, room_id)
            await asyncio.to_thread(self.store.delete_room, room_id)
        finally:
            self._busy_names.discard(room_id)

    async def reopen_room(self, room_id: str) -> RoomHost:
        """Take a quarantined room up again, from what is stored."""
        old = self.rooms.get(room_id)
        if old is not None and old.failure is None:
            raise Conflict(f"room {room_id} is open, and nothing is wrong with it")
        await self.writer.submit(Write(room_id))  # comes after whatever was still on its way
        fresh = await apart(room_id, partial(self.load_room, room_id), self._loading_s)
        if self.rooms.get(room_id) is not old:
            raise Conflict(f"room {room_id} was reopened meanwhile")
        if old is not None:
            old.close("this room is being taken up again; connect again")
        host = self._adopt(fresh)
        self.broken.pop(room_id, None)
        if room_id in self.bridges and isinstance(host, RemoteHost):
            await host.connect(self.bridges[room_id])
        return host

    async def reach(self, room_id: str, bridge: Way) -> None:
        """Tell a room whose world is elsewhere the way there. The house closes the bridge when it closes."""
        host = self.rooms[room_id]
        if not isinstance(host, RemoteHost):
            raise BadArgs(f"room {room_id} plays {host.room.state.world}, which is not behind a bridge")
        self.bridges[room_id] = bridge
        await host.connect(bridge)


def _new_room(scenario: Scenario, name: str, seed: int | None, now: int) -> tuple[Room, Snapshot]:
    source = lasting_source(scenario.world)
    world = make_world(source, scenario.config)
    chosen = next(s for s in (seed, scenario.seed, secrets.randbits(31)) if s is not None)
    state = opening_state(scenario, world, source, name, chosen, secrets.token_hex(16))
    room = Room.create(state, world, now)
    taken = [c.name for c in room.commands if c.name in HOUSE_COMMANDS and c.name not in MAY_BE_A_WORLDS_OWN]
    if taken:
        raise BadArgs(f"the world {world.spec.name!r} takes the name {taken[0]!r}, which the house needs itself")
    return room, room.snapshot()


def _unknown(room: str) -> UnknownRoom:
    return UnknownRoom(f"there is no room {room[:64]!r} for you here")
