"""A house in several nodes: real servers in the loop of the test, whose houses share what they know of identities.

What the store, the replicas and the supervisor do in a real house, this does in a few lines: rooms stay where they are
created, and the directory is a dict.
"""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.faces.serving import WORLDS

import cohabit.house.house as house_module
from cohabit.faces.serve import GuestServer, bind, listen
from cohabit.faces.workers import serving
from cohabit.faces.workers.passing import Passage, Passages
from cohabit.faces.workers.reception import Reception
from cohabit.faces.workers.serving import listen_for_nodes, serve_front, serve_node
from cohabit.house.clock import Clock
from cohabit.house.directory import HOUSE_RECORD, MOVING
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.house.store.identities import Identities
from cohabit.scenario import parse_scenario
from cohabit.testing.clock import FakeClock

FRONT = "front"
PLACE, KEY = "attic", "the key of the houses"
SCENE = {
    "world": f"{WORLDS}:Secrets",
    "partial_intel": True,
    "agents": [
        {"id": "ann", "role": "player", "claim": "auto:0"},
        {"id": "bob", "role": "player", "claim": "auto:1"},
        {"id": "hostess", "role": "host", "kind": "human"},
    ],
}


class KnownDirectory:
    """What every node knows. Rooms that a node has are found there."""

    def __init__(self, here: str, nodes: "Cluster") -> None:
        self.here, self.word, self._nodes = here, "the word of the nodes", nodes
        self._houses, self._folder, self._moving = nodes.houses, nodes.folder, nodes.moving
        self.on_gone: Callable[[str], None] = lambda address: None

    def holder(self, room: str) -> str | None:
        if room == HOUSE_RECORD:
            return FRONT
        if room in self._moving:
            return MOVING
        return next((name for name, house in self._houses.items() if room in house.rooms), None)

    def moving(self) -> Sequence[str]:
        return sorted(self._moving)

    def nodes(self) -> Sequence[str]:
        return [name for name in self._houses if name != FRONT]

    def socket_of(self, node: str) -> str:
        port = self._nodes.network_port
        return f"tcp://127.0.0.1:{port}/{PLACE}/{node}" if port and node != FRONT else str(self._folder / node)

    def place(self) -> str:
        return min(self.nodes(), key=lambda node: len(self._houses[node].rooms))


class Cluster:
    """The front and the nodes of a test."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self.folder, self.clock = folder, clock
        self.houses: dict[str, House] = {}
        self.moving: set[str] = set()
        self.passages, self.passed = Passages(), 0
        self.identities = Identities()
        self.serving: dict[str, asyncio.Task[None]] = {}
        self.servers: dict[str, GuestServer] = {}  # what serves the Unix sockets
        self.over_network = 0  # connections
        self.network_port = 0  # on which nodes are reached as if they were in another house
        self.url = ""

    def pass_on(self, node: str, connection: socket.socket, read: bytes, closed: Callable[[], None]) -> bool:
        """How many connections were passed on."""
        self.passed += 1
        return self.passages.pass_on(node, connection, read, closed)

    def directory(self, here: str) -> KnownDirectory:
        return KnownDirectory(here, self)

    @property
    def front(self) -> House:
        return self.houses[FRONT]

    async def start_node(self, name: str) -> None:
        """Serve a node, and connect it with the front."""
        ours, theirs = socket.socketpair()
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        listener = listen_for_nodes(str(self.folder / name))
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(serving, "GuestServer", partial(self._made, name))
            served = serve_node(
                self.houses[name], self.directory(name), listener, theirs, ready=partial(ready.set_result, None)
            )
            self.serving[name] = asyncio.ensure_future(served)
            await asyncio.wait({ready, self.serving[name]}, return_when=asyncio.FIRST_COMPLETED)
        self.passages.by_node[name] = Passage(ours)

    def _made(self, name: str, *args: Any) -> GuestServer:
        self.servers[name] = server = GuestServer(*args)
        return server

    async def start_front(self, *, passing: bool, send_buffer: int | None) -> None:
        listener = bind(self.front.settings)
        if send_buffer is not None:  # connections have it from the listener
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
        ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        served = serve_front(
            self.front,
            self.directory(FRONT),
            self if passing else None,
            listener,
            listen_for_nodes(str(self.folder / FRONT)),
            ready=ready.set_result,
        )
        self.serving[FRONT] = asyncio.ensure_future(served)
        await asyncio.wait({ready, self.serving[FRONT]}, return_when=asyncio.FIRST_COMPLETED)
        self.url = await ready

    async def receive_houses(self) -> None:
        """From now on the front reaches the other nodes over the network."""

        async def taker(node: str) -> Callable[[socket.socket], None]:
            return lambda connection: self._pass_on_house(node, connection)

        async def receive(listener: socket.socket) -> None:
            with closing(listener):
                await Reception(KEY, PLACE, taker).serve(listener)

        listener = listen("127.0.0.1", 0)
        self.network_port = listener.getsockname()[1]
        self.serving["the network"] = asyncio.ensure_future(receive(listener))

    def _pass_on_house(self, node: str, connection: socket.socket) -> None:
        self.over_network += 1
        self.passages.by_node[node].pass_on(connection, b"", lambda: None, of_house=True)

    async def stop(self, name: str) -> None:
        task = self.serving.pop(name)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@asynccontextmanager
async def cluster(
    folder: Path,
    *names: str,
    passing: bool = True,
    over_network: bool = False,
    send_buffer: int | None = None,
    reference: House | None = None,
    clock: Clock | None = None,
    **settings: object,
) -> AsyncIterator[Cluster]:
    """A front and these nodes. ``reference``: a house that is open already, as the node `w1`. ``over_network``: the front
    reaches the nodes as those of another house."""
    clock = clock or FakeClock()
    made = Cluster(folder, clock)
    if reference is not None:
        made.houses["w1"], made.identities = reference, reference.identities
    async with AsyncExitStack() as stack:
        for name in (FRONT, *names):
            with pytest.MonkeyPatch.context() as patched:
                patched.setattr(house_module, "_known", lambda store: made.identities)
                chosen = Settings(port=0, houses_key=KEY if over_network else "", **settings)  # type: ignore[arg-type]
                made.houses[name] = await stack.enter_async_context(House.open(chosen, clock=clock))
        for name in made.houses:
            if name != FRONT:
                await made.start_node(name)
        if over_network:
            await made.receive_houses()
        await made.start_front(passing=passing, send_buffer=send_buffer)
        try:
            yield made
        finally:
            for name in [*made.serving]:
                await made.stop(name)
            for passage in made.passages.by_node.values():
                passage.close()


async def create(nodes: Cluster, node: str, room: str) -> dict[str, str]:
    """A room in this node; the tokens of its members."""
    return (await nodes.houses[node].create_room(parse_scenario(json.dumps(SCENE)), room, seed=7))[1]


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


async def until(holds: Callable[[], bool]) -> None:
    """Wait for something that happens on its own."""
    while not holds():
        await asyncio.sleep(0.001)
