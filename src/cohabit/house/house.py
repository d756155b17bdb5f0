"""A house: builds its parts and connects them, opens and closes them. Interfaces call it through `Door`."""

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, cast

from cohabit.errors import Conflict, Disabled, Unauthorized
from cohabit.feature_registry import load_features
from cohabit.house.access import credentials
from cohabit.house.access.entry_limits import Gate
from cohabit.house.access.sign_in import SignIn, check_oauth
from cohabit.house.access.signing import HouseKey
from cohabit.house.access.strangers import note_invalid_invite
from cohabit.house.agents.agent_status import AgentStatuses
from cohabit.house.agents.bots import Bots
from cohabit.house.agents.brains import check_allowed
from cohabit.house.agents.decisions import DecisionLog
from cohabit.house.agents.transcripts import Transcripts
from cohabit.house.calls.across import Nodes
from cohabit.house.calls.context import Services
from cohabit.house.calls.door import Door
from cohabit.house.calls.valid_door import ValidDoor
from cohabit.house.clock import Clock, SystemClock
from cohabit.house.commands import HOUSE_COMMANDS
from cohabit.house.directory import FRONT, HOUSE_RECORD
from cohabit.house.films.delayed import Stills
from cohabit.house.films.maker import FilmMaker
from cohabit.house.lifecycle import creating, own_data
from cohabit.house.lifecycle.only_here import identities_only_in
from cohabit.house.lifecycle.retention import Retention
from cohabit.house.lifecycle.thumbnails import Thumbnails
from cohabit.house.nodes.ledger import SharedLedger, asks_leader
from cohabit.house.nodes.node import Node
from cohabit.house.overload import OverloadLog
from cohabit.house.readiness import Readiness
from cohabit.house.reading import feed
from cohabit.house.running.calls import Deliver as DeliverReply
from cohabit.house.running.egress import EgressBooks, measured
from cohabit.house.running.ledger import Ledger
from cohabit.house.running.remote import Connector
from cohabit.house.running.reopening import Reopening
from cohabit.house.running.rooms import Rooms
from cohabit.house.running.runner import RoomRunner
from cohabit.house.running.shared import Shared
from cohabit.house.running.watchdog import LOOP_LIMIT_S, Watchdog
from cohabit.house.settings import Settings, split_names
from cohabit.house.store.cluster_contract import ClusterStore
from cohabit.house.store.contract import Store
from cohabit.house.store.heads import open_heads
from cohabit.house.store.identities import OPERATOR, Identities
from cohabit.house.store.keyframes import Keyframes
from cohabit.house.store.leases import HeldElsewhere
from cohabit.house.store.memory import MemoryStore
from cohabit.house.store.sqlite import SQLiteStore
from cohabit.house.store.validity import ENDED, Validity
from cohabit.house.store.writer import Writer
from cohabit.house.streams.subscriptions import Deliver, Outboxes, Subscription
from cohabit.house.struct_types import build_struct_types
from cohabit.house.threads import run_in_thread
from cohabit.model.identity import Credential, Identity
from cohabit.registry import load_protocol_names, make_connector
from cohabit.scenario import Scenario

log = logging.getLogger("cohabit")
SECOND_HOUSE = (
    "another house runs on this database; stop it first (if it was killed, try again in ten seconds), or set "
    "houses_address and houses_key in both, so that they are one cluster"
)
STORE_AWAY = "the database cannot be reached: nothing can be stored at the moment"
LEASE = "lease"
"""The house's own lease, as ``Validity`` names it. A worker also needs to hear from its front (``FRONT``)."""


class House:
    """Open one with ``async with House.open(settings) as house``."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        clock: Clock,
        identities: Identities,
        dormant: bool = False,
        node: Node | None = None,
    ) -> None:
        self.store = store
        self.settings = settings
        self.clock = clock
        self.identities = identities
        self.commands = HOUSE_COMMANDS
        self.id = secrets.token_hex(8)  # identifies this process in the store
        self.started_at = clock.now()
        self.overload = OverloadLog(clock)
        self.outboxes = Outboxes(settings.outboxes_bytes)
        self.writer = Writer(store, asyncio.get_running_loop())
        self._watchdog = Watchdog(min(LOOP_LIMIT_S, settings.world_deadline_s))
        check_brain = partial(check_allowed, settings=settings)
        self.keyframes = Keyframes(settings.folder if settings.data else None)
        shared = Shared(
            self.writer, clock, settings, self.overload, self.outboxes, self._watchdog, list(self.commands),
            check_brain, EgressBooks(), self.keyframes, computing=node.computing if node is not None else None,
        )  # fmt: skip
        self.rooms = Rooms(shared, store, self.id, dormant)
        self.broken = self.rooms.broken  # rooms that could not be opened, and why
        self.readiness = Readiness(self._not_open, self._not_valid, self._not_stored)
        self.node = node
        self.validity: Validity | None = None  # in a cluster of houses
        if node is not None:
            self.rooms.is_elsewhere = node.directory.is_elsewhere
        self.ledger = self._made_ledger()
        self.reopening = Reopening(self.rooms, clock)
        self.gate = Gate(clock, settings.public_url.rstrip("/"))
        self.signing = HouseKey(settings.folder if settings.data else None, settings.houses_key)
        statuses = AgentStatuses()
        self.bots = Bots(clock, settings, statuses)
        self.films = FilmMaker()
        own = {
            Gate: self.gate, HouseKey: self.signing, AgentStatuses: statuses, Transcripts: self.bots.transcripts,
            Keyframes: self.keyframes, FilmMaker: self.films, Stills: Stills(),
            Thumbnails: Thumbnails(), DecisionLog: self.bots.decisions,
        }  # fmt: skip
        self.services = Services(
            clock, settings, store, self.writer, identities, self.rooms, self.ledger, self.commands, own,
            asyncio.Lock(),
        )  # fmt: skip
        self.forgetting = own_data.Forgetting(self.services)
        own[own_data.Forgetting] = self.forgetting
        self.signing_in = SignIn(self.services) if settings.oauth_issuer else None
        if self.signing_in is not None:
            own[SignIn] = self.signing_in
        self.retention = Retention(self.services, self.forgetting)
        self.forgetting.on_waiting = self.retention.start_soon
        if node is not None and settings.houses_address:
            self.validity = self._make_validity(node)
        self.door = (
            Door(self.services, self.overload)
            if self.validity is None
            else ValidDoor(self.services, self.overload, self.validity)
        )
        self.door.on_invalid = partial(note_invalid_invite, self.services)
        self.rooms.on_forgotten.append(shared.egress.forget)
        identities.on_used = partial(credentials.store_used, self.services)
        self._connect()

    def _made_ledger(self) -> Ledger:
        if self.node is not None and self.node.link is not None:
            return SharedLedger(self.rooms, self.identities, self.node.link.ask)
        if self.node is not None and self.settings.houses_address:
            ask = asks_leader(self.node.directory, lambda: self.services.own.get(Nodes))
            return SharedLedger(self.rooms, self.identities, ask)
        return Ledger(self.rooms, self.identities)

    def _make_validity(self, node: Node) -> Validity:
        """In a worker its front has a say, too: it knows what other houses have changed."""
        validity = Validity([LEASE] if node.link is None else [LEASE, FRONT])
        validity.on_end.append(self._end_subscriptions)
        self.rooms.leases.on_renewed = self.valid_until
        return validity

    async def valid_until(self, until: float) -> None:
        """The lease of this house lasts until then, by the time since the start of the machine."""
        assert self.validity is not None
        self.validity.extend(LEASE, until)

    def _end_subscriptions(self) -> None:
        for runner in self.rooms.running():
            runner.fanout.end(Disabled(ENDED))

    def _connect(self) -> None:
        """Connect the parts of the house to its rooms."""
        rooms = self.rooms
        rooms.make_connector = lambda name, room, config: make_connector(name, self.services, room, config)
        rooms.events.on_slow = self.reopening.start
        rooms.on_not_stored = self.reopening.when_store_works
        rooms.events.on_removed = partial(credentials.members_removed, self.services)
        rooms.events.removals_wait = self.node is not None
        rooms.events.on_durable.append(self.bots.decisions.entered)
        rooms.on_closed = self.bots.stop_room
        if not rooms.dormant:
            rooms.events.on_roster = self.bots.start_bots
        rooms.identities_only_in = partial(identities_only_in, self.services)
        rooms.on_deleted += [
            self.identities.forget_room,
            self.gate.forget_room,
            rooms.shared.egress.forget_room,
            self.bots.delete_room,
            lambda room: self.forgetting.tidy(),
            lambda room: run_in_thread("keyframes", partial(self.keyframes.forget, room)),
        ]

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
        node: Node | None = None,
    ) -> "AsyncIterator[House]":
        """A running house with every room of its store. Without a data folder, data is kept in memory only.

        In a ``dormant`` house time does not pass and no built-in player acts: use it to change credentials.
        ``node``: it is one of several processes. It opens rooms only when it is told to (`house.nodes.control`).
        """
        settings = settings or Settings()
        load_protocol_names()
        load_features(split_names(settings.features))  # stored rooms may need them
        check_oauth(settings)
        if not dormant:
            build_struct_types()
        kept: Store = store if store is not None else await run_in_thread("the store", partial(open_store, settings))
        try:
            known = await run_in_thread("the store", partial(_known, kept))
            house = cls(kept, settings, clock or SystemClock(), known, dormant, node)
        except BaseException:
            kept.close()
            raise
        try:
            await house._open_rooms()
            yield house
        finally:
            await house._close()

    async def _open_rooms(self) -> None:
        rooms, settings = self.rooms, self.settings
        if settings.heads_file:
            rooms.heads = await run_in_thread("the heads", partial(open_heads, settings, self.clock, rooms.heads_now))
        if self.validity is not None and self.node is not None:
            store, here = cast(ClusterStore, self.store), self.node.directory.here
            until = await run_in_thread("the leases", partial(rooms.leases.begin, store, here))
            if self.node.link is not None:  # the front has to catch up first (`house.nodes.following`)
                await self.valid_until(until)
        stored = await run_in_thread("the store", self.store.rooms)
        if self.node is not None and self.node.link is not None:
            await self.ledger.follow()
        else:
            await self._lead_or_follow()
        for room_id in rooms.heads.missing([*stored, HOUSE_RECORD]) if rooms.heads is not None else ():
            log.error("room %s is in %s, but not in the store", room_id, settings.heads_file)
        await rooms.open_all(stored if self.node is None else ())
        if not rooms.dormant:
            self.retention.start()

    async def _lead_or_follow(self) -> None:
        try:
            await self.lead()
        except HeldElsewhere:
            if not isinstance(self.ledger, SharedLedger):
                raise Conflict(SECOND_HOUSE) from None
            await self.ledger.follow()

    async def lead(self) -> None:
        """Take the house record, and open it. CONFLICT if another house has it."""
        leases = self.rooms.leases
        await run_in_thread("the leases", partial(leases.acquire, HOUSE_RECORD))
        try:
            is_stored = await run_in_thread("the store", partial(_is_stored, self.store, HOUSE_RECORD))
            if is_stored and not self.rooms.dormant:
                await self.forgetting.clean_house_record()
            await self.ledger.open(is_stored)
        except BaseException:
            await run_in_thread("the leases", partial(leases.release, [HOUSE_RECORD]))
            raise

    async def stop_leading(self) -> None:
        """Let another house have the house record."""
        await self.ledger.follow()
        await run_in_thread("the leases", partial(self.rooms.leases.release, [HOUSE_RECORD]))

    async def _close(self) -> None:
        rooms = self.rooms
        rooms.closing = True
        if self.validity is not None:
            self.validity.close()
        await self.retention.close()
        await rooms.leases.close()
        await self.reopening.close()
        await self.bots.close()
        await self.door.close()
        await self.films.close()
        await rooms.close()
        await self.bots.decisions.close()  # of the last entries, too
        await self.ledger.close()
        await run_in_thread("the writer", self.writer.close)
        if rooms.heads is not None:
            await rooms.heads.close()
        await run_in_thread("the leases", rooms.leases.release_all)
        self._watchdog.close()
        self.keyframes.close()
        await run_in_thread("the store", self.store.close)

    def _not_open(self) -> str:
        if self.rooms.closing:
            return "the house is stopping"
        return "" if self.rooms.all_open.is_set() else "the house is opening its rooms"

    def _not_valid(self) -> str:
        return "" if self.validity is None or self.validity.is_valid else ENDED

    def _not_stored(self) -> str:
        """Only of a house alone: in a cluster the lease says it, which outlasts a short restart of the database."""
        return "" if self.validity is not None or self.store.is_reachable else STORE_AWAY

    # -- callers ----------------------------------------------------------------------------------
    def identify(self, token: str | None, command: str = "") -> Credential:
        """The credential that a token belongs to. ``command``: the only one that it calls, if that is known."""
        return self.door.identify(token, command=command)

    async def sign_in(self, token: str | None) -> None:
        """Accept an access token of the identity provider, so that `identify` knows it. Does nothing for other tokens,
        and in a house without a provider. Raises if the token is not valid."""
        if self.signing_in is None or token is None:
            return
        try:
            await self.signing_in.accept(token)
        except Unauthorized:
            self.overload.add("login")
            raise

    def operator_token(self) -> str:
        """A token with the rights of a house host, for the owner of the data folder; valid while this house runs."""
        return self.identities.temporary(OPERATOR, None, self.clock.now())

    async def call(
        self,
        credential: Credential,
        room: str | None,
        command: str,
        args: Any = None,
        *,
        key: str | None = None,
        deliver: DeliverReply = measured,
    ) -> Any:
        """Run one command for a credential. Returns the result or raises the error. ``deliver`` encodes it."""
        return await self.door.call(credential, room, command, args, key, deliver)

    async def subscribe(
        self,
        credential: Credential,
        room: str | None,
        cursor: str | None = None,
        *,
        views: bool = True,
        deliver: Deliver | None = None,
        leaves: bool = True,
        watching: bool = False,
    ) -> Subscription:
        """Subscribe to a room's events from a cursor (None: from now on; empty: from the beginning). ``leaves``: the
        frames are sent to the client, so they are counted. ``watching``: an agent that plays the seat plays on."""
        return feed.subscribe(self.door, credential, room, cursor, views, deliver, leaves, watching)

    # -- rooms ------------------------------------------------------------------------------------
    async def create_room(
        self,
        scenario: Scenario,
        room_id: str | None = None,
        seed: int | str | None = None,
        owner: Identity | None = None,
    ) -> tuple[str, dict[str, str]]:
        """Create a room. Returns its id and a token for each member. The tokens cannot be retrieved later."""
        return await creating.create_room(self.services, scenario, room_id, seed, owner)

    async def delete_room(self, room_id: str) -> None:
        """Delete a room, with its record and its credentials."""
        await self.rooms.delete(room_id)

    async def reopen_room(self, room_id: str) -> RoomRunner:
        """Reopen a quarantined room from its last durable state."""
        return await self.rooms.reopen(room_id)

    async def connect_room(self, room_id: str, connector: Connector) -> None:
        """Set the connector of a room with a remote world. The house closes it at shutdown."""
        await self.rooms.connect(room_id, connector)


def open_store(settings: Settings) -> Store:
    """The store that the settings name."""
    if settings.store:
        from cohabit.house.store.postgres import PostgresStore

        return PostgresStore(settings.store, settings.folder if settings.data else None)
    return SQLiteStore(settings.folder) if settings.data else MemoryStore()


def open_cluster_store(settings: Settings) -> ClusterStore:
    """The same for a house of a cluster."""
    from cohabit.house.store.postgres_cluster import PostgresClusterStore

    folder = settings.folder if settings.data else None
    return PostgresClusterStore(settings.store, folder, settings.houses_address)


def _is_stored(store: Store, room_id: str) -> bool:
    """Also if only a part of it is left, which is not opened: a new record must not be written over it."""
    return bool(store.snapshots(room_id)) or store.head(room_id) >= 0


def _known(store: Store) -> Identities:
    return Identities(store.identities(), store.credentials(), store.invites())
