"""Houses for the tests: real ones, on a clock that stands still, with stores that can be held up or broken."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from cohabit.errors import CohabitError, StorageFailed
from cohabit.house.house import House
from cohabit.house.running.remote import RemoteRunner
from cohabit.house.running.runner import RoomRunner
from cohabit.house.settings import Settings
from cohabit.house.store.contract import Store, Write
from cohabit.house.store.memory import MemoryStore
from cohabit.house.store.sqlite import SQLiteStore
from cohabit.house.streams.subscriptions import Subscription
from cohabit.registry import make_world
from cohabit.room.record import GENESIS, read_lines
from cohabit.room.room import Room
from cohabit.scenario import parse_scenario
from cohabit.testing.clock import FakeClock

WORLDS = str(Path(__file__).parent.parent / "room" / "worlds.py")
TRUSTED = f"{WORLDS}, {Path(__file__).parent / 'remote_world.py'}"
TOKENS_MADE: list[str] = []


def source(name: str) -> str:
    return f"{WORLDS}:{name}" if name[0].isupper() else name


def player(name: str, seat: int, **more: Any) -> dict[str, Any]:
    return {"id": name, "role": "player", "claim": f"auto:{seat}", **more}


ANN, BOB = player("ann", 0), player("bob", 1)
HOST = {"id": "hostess", "role": "host", "kind": "human"}
OWL = {"id": "owl", "role": "observer"}
GOD = {"id": "zeus", "role": "god"}
REFUSALS = {"kinds": ["refusals"]}
"""What of the audit: the refused calls."""


@asynccontextmanager
async def open_house(
    folder: Path | None = None, *, store: Store | None = None, clock: FakeClock | None = None, **settings: Any
) -> AsyncIterator[House]:
    """A house on a clock of its own; ``clock.advance`` waits until the house is at rest."""
    clock = clock or FakeClock()
    settings.setdefault("trusted_worlds", TRUSTED)  # so that those that are quick run on the event loop
    chosen = Settings(data=str(folder) if folder is not None else "", **settings)
    async with House.open(chosen, store=store, clock=clock) as house:
        clock.between = lambda: at_rest(house)
        house.bots.step_ms = 0
        try:
            yield house
        finally:
            if isinstance(store, HeldStore):  # a house waits for its writer when it closes
                store.go.set()


async def at_rest(house: House) -> None:
    """Wait until nothing is under way: calls, writes, and what runs on threads: the renewal of leases, and reads of
    entries that are no longer in memory."""
    await asyncio.wait([house.rooms.leases.renewing])
    for runner in list(house.rooms.values()):
        with suppress(CohabitError):  # a disk that fails, a room that is quarantined
            await runner.drained()
    while any(thread.name == "cohabit-a page of the record" for thread in threading.enumerate()):
        await asyncio.sleep(0.001)
        await a_moment()  # the call that reads may go on to the next page


class Client:
    """A member with its token."""

    def __init__(self, house: House, room: str, who: str, token: str) -> None:
        self.house = house
        self.room = room
        self.who = who
        self.token = token

    async def __call__(self, name: str, args: Any = None, key: str | None = None) -> Any:
        return await self.house.call(self.house.identify(self.token), self.room, name, args, key=key)

    async def join(self) -> "Client":
        """Accept the invite that the token is for; the new member."""
        joined = await self("join")
        return Client(self.house, self.room, joined.member, joined.token or self.token)

    async def reader(self, cursor: str | None = None, *, views: bool = True) -> "Reader":
        """Somebody who reads a subscription of this member."""
        return Reader(await self.house.subscribe(self.house.identify(self.token), self.room, cursor, views=views))


class Reader:
    """Reads a subscription as fast as it can, and keeps what it is sent."""

    def __init__(self, sub: Subscription) -> None:
        self.sub = sub
        self.events: list[bytes] = []
        self.views: list[bytes] = []
        self.grants: list[bytes] = []
        self.ended: CohabitError | None = None
        self.task = asyncio.get_running_loop().create_task(self._read())

    async def _read(self) -> None:
        try:
            async for frame in self.sub:
                kept = {"events": self.events, "view": self.views, "grant": self.grants}
                kept[json.loads(frame)["push"]].append(frame)
        except CohabitError as reason:
            self.ended = reason

    @property
    def frames(self) -> list[bytes]:
        return self.events + self.views + self.grants

    def items(self) -> list[dict[str, Any]]:
        """The events, one by one."""
        return [item for frame in self.events for item in json.loads(frame)["items"]]


async def a_moment() -> None:
    """Let everything run that can run without the disk."""
    for _ in range(50):
        await asyncio.sleep(0)


async def invite(host: Client, handle: str, **how: Any) -> Client:
    """Somebody who holds an invite to the room of this host, and has not accepted it."""
    made = await host("invite", {"id": handle, **how})
    TOKENS_MADE.append(made.token)
    return Client(host.house, host.room, handle, made.token)


async def newcomer(host: Client, handle: str, **how: Any) -> Client:
    """A member that was invited and has joined."""
    return await (await invite(host, handle, **how)).join()


async def issue(house: House, name: str, room: str = "den", **how: Any) -> Client:
    """An identity of the house, bound to no room, as the operator issues it."""
    made = await house.call(house.identify(house.operator_token()), None, "issue_credential", {"name": name, **how})
    TOKENS_MADE.append(made.token)
    return Client(house, room, name, made.token)


async def make_room(
    house: House, *agents: Any, world: str = "Secrets", room: str = "den", **keys: Any
) -> dict[str, Client]:
    """A room with ann, bob and a host, or with these; its members by name."""
    text = json.dumps({"world": source(world), "agents": list(agents) or [ANN, BOB, HOST], **keys})
    name, tokens = await house.create_room(parse_scenario(text), room, seed=7)
    TOKENS_MADE.extend(tokens.values())
    return {who: Client(house, name, who, token) for who, token in tokens.items()}


def back_again(house: House, clients: dict[str, Client]) -> dict[str, Client]:
    """The same members, in a house that was opened again."""
    return {who: Client(house, c.room, who, c.token) for who, c in clients.items()}


class HeldStore(MemoryStore):
    """A store whose commits wait while ``go`` is not set, and fail while ``failing`` is."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()
        self.go.set()
        self.failing = False
        self.commits: list[int] = []

    def commit(self, writes: Sequence[Write]) -> None:
        self.go.wait()
        if self.failing:
            raise StorageFailed("the disk is full")
        self.commits.append(sum(len(write.lines) for write in writes))
        super().commit(writes)


def stored_room(folder: Path, room: str = "den") -> Room:
    """A room made from its whole record alone, with the chain checked: what ``verify`` does."""
    store = SQLiteStore(folder, lock=False)
    try:
        return Room.replay(list(read_lines(store.lines(room, -1), -1, GENESIS)), make_world)
    finally:
        store.close()


def deeds(room: Room, do: str) -> list[Any]:
    return [line.entry for line in room.record.tail if line.entry.do == do]


def remote_of(house: House, room: str = "den") -> RemoteRunner:
    """The runner of a room with a remote world."""
    runner = house.rooms[room].remote
    assert runner is not None
    return runner


def recorded(runner: RoomRunner, *dos: str) -> list[Any]:
    """The entries of these kinds that are on record."""
    return [line.entry for line in runner.room.record.tail if line.entry.do in dos]
