"""The house record: a room without a world, for events that belong to no room.

Identities with a house-wide credential are members of it and receive the changes to their credentials there. Invites
are recorded there too.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from msgspec import structs

from cohabit.errors import Busy
from cohabit.feature_registry import usual_features
from cohabit.house.directory import HOUSE_RECORD
from cohabit.house.running.calls import SystemCall
from cohabit.house.running.rooms import Rooms
from cohabit.house.running.runner import RoomEvents, RoomRunner
from cohabit.house.running.shared import Shared
from cohabit.house.store.contract import Write
from cohabit.house.store.identities import Identities
from cohabit.house.threads import run_in_thread
from cohabit.model.identity import Identity
from cohabit.model.stream import seed_hex
from cohabit.room.room import Room
from cohabit.room.state import FORMAT, RoomState
from cohabit.world import Eye, Observation, Seat, SeatId, World, WorldSpec

SOURCE = "house"
CHANGED = "another call has changed these tokens at the same time; try again"
REOPENED = "the house record is being written again; try again in a moment"
FEATURES = frozenset({"audit"})
"""The features of the house record. Nobody plays or talks there."""


class NoWorld(World):
    """The record of this house: which credentials and invites were issued, replaced and revoked."""

    spec = WorldSpec(name=SOURCE, title="This house", seats=0, quick=True)

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        pass

    def to_move(self) -> Sequence[SeatId]:
        return ()

    def is_over(self) -> bool:
        return False

    def observe(self, eye: Eye) -> Observation:
        return Observation(text="The record of this house. Use `events` to read changes to your credentials.")


class Ledger:
    """Opens and writes the house record."""

    def __init__(self, rooms: Rooms, identities: Identities) -> None:
        self._rooms = rooms
        self._identities = identities
        self._admitting = asyncio.Lock()
        self._changing = asyncio.Lock()  # of credentials, one after another: two processes may change the same
        self._is_open = asyncio.Event()  # not while it is written again
        self._is_open.set()

    @property
    def runner(self) -> RoomRunner:
        assert self._rooms.house_record is not None, "the house is not open yet"
        return self._rooms.house_record

    @property
    def is_here(self) -> bool:
        """True if this process has the record."""
        return True

    async def open(self, is_stored: bool) -> None:
        if is_stored:
            room = await run_in_thread("the house record", partial(self._rooms.load_stored, HOUSE_RECORD))
            self._rooms.house_record = RoomRunner(room, self._rooms.shared, RoomEvents())
        else:
            await self._run(self._made(), self._rooms.shared)
        self._rooms.has_house_record = True

    async def rewrite(self, work: Callable[[], Awaitable[None]]) -> None:
        """Close the record while ``work`` writes it again, and open it. What is to be recorded waits meanwhile."""
        self._is_open.clear()
        try:
            await self.runner.save_before_closing()
            self.runner.stop(Busy(REOPENED, retry_after_s=1))
            self.runner.close()
            await self._rooms.shared.writer.submit(Write(HOUSE_RECORD))  # after all queued writes
            try:
                await work()
            finally:
                await self.open(is_stored=True)
        finally:
            self._is_open.set()

    async def follow(self) -> None:
        """Another process has the record."""
        raise AssertionError("this ledger is the only one")

    async def close(self) -> None:
        """Called when the rooms are closed."""

    async def _run(self, room: Room, shared: Shared) -> None:
        """Run a new house record."""
        self._rooms.house_record = RoomRunner(room, shared, RoomEvents())
        snapshot = room.snapshot()
        write = Write(HOUSE_RECORD, room.record.take_pending(), (snapshot.seq, snapshot.encode()))
        await shared.writer.submit(write)
        room.stored(snapshot)

    def _made(self) -> Room:
        state = RoomState(
            id=HOUSE_RECORD, source=SOURCE, world=SOURCE, version=NoWorld.spec.version, config={}, seed=seed_hex(0),
            secret=secrets.token_hex(16), scenario=SOURCE, format=FORMAT,
            features=[name for name in usual_features() if name in FEATURES],
        )  # fmt: skip
        return Room.create(state, NoWorld(), self._rooms.shared.clock.now())

    async def admit(self, identity: Identity) -> str:
        """Make an identity a member, so it can be notified. Returns its member id."""
        async with self._admitting:  # somebody may sign in at several nodes at the same time
            member = self.runner.room.member_of(identity.id)
            if member is None:
                role = "observer" if identity.host else "resident"
                args = {"handle": identity.name, "kind": identity.kind, "identity": identity.id, "name": identity.name}
                await self.record("admitted", {**args, "role": role}, Write(identities=[identity]))
                member = self.runner.room.member_of(identity.id)
        assert member is not None
        return member.id

    async def record(self, do: str, args: dict[str, Any], also: Write, author: bytes = b"") -> None:
        """Write an entry to the house record, stored together with ``also``. ``author``: the hash of the token of the
        caller that changes credentials. BUSY if another process has changed them meanwhile."""
        await self._is_open.wait()
        if not also.credentials:
            await self.runner.submit(SystemCall(do, args, also))
            return
        async with self._changing:
            self._check_not_changed(also, author)
            await self.runner.submit(SystemCall(do, args, also))
            self._identities.apply(Write(credentials=[structs.replace(each) for each in also.credentials]))

    def _check_not_changed(self, also: Write, author: bytes) -> None:
        """Calls in one process change credentials one after another. Another process may not know the last change."""
        known = self._identities.with_hashes([each.hash for each in also.credentials if each.revoked])
        new = {each.id: each for each in also.identities}
        ids = [each.identity for each in also.credentials if not each.revoked]
        owners = [new.get(one) or self._identities.get(one) for one in ids]
        if any(each.revoked for each in known) or any(one is None or one.forgotten is not None for one in owners):
            raise Busy(CHANGED, retry_after_s=1)
        for each in self._identities.with_hashes([author]):
            self._identities.check(each, self._rooms.shared.clock.now())
