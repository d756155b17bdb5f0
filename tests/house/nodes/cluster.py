"""A house of several nodes in one process: each has a house and a link, and all share a store."""

import json
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, cast

from cohabit.house.clock import Clock
from cohabit.house.directory import FRONT, Table
from cohabit.house.house import House
from cohabit.house.nodes.cluster import Cluster
from cohabit.house.nodes.control import WorkerControl
from cohabit.house.nodes.following import following_others
from cohabit.house.nodes.link import Link
from cohabit.house.nodes.node import Node
from cohabit.house.settings import Settings
from cohabit.house.store.contract import Store, Write
from cohabit.house.store.group_commit import GroupCommit
from cohabit.house.store.memory import MemoryStore
from cohabit.scenario import Scenario, parse_scenario
from cohabit.testing.clock import FakeClock

TABLE = {
    "world": "tictactoe",
    "agents": [
        {"id": "ann", "role": "player", "claim": "auto:0"},
        {"id": "bob", "role": "player", "claim": "auto:1"},
        {"id": "hostess", "role": "host", "kind": "human"},
    ],
}


def scenario(**more: Any) -> Scenario:
    return parse_scenario(json.dumps({**TABLE, **more}))


class NodeStore:
    """The shared store, as one node has it."""

    def __init__(self, group: GroupCommit, node: str) -> None:
        self._group, self._node = group, node

    def commit(self, writes: Sequence[Write]) -> None:
        self._group.commit(writes, self._node)

    def close(self) -> None:
        """The front closes it."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._group, name)


class Nodes:
    def __init__(self, front: House, cluster: Cluster, group: GroupCommit) -> None:
        self.front, self.cluster, self._group = front, cluster, group
        self.houses: dict[str, House] = {}
        self._links: dict[str, Link] = {}
        self._number = 0
        self._workers = AsyncExitStack()

    async def start(self) -> str:
        """Another node."""
        self._number += 1
        name = f"w{self._number}"
        ours, theirs = socket.socketpair()
        control = WorkerControl()
        control.table.here = name
        self.cluster.added(name, await Link.over(ours, self.cluster.handlers()))
        self._links[name] = link = await Link.over(theirs, control.handlers())
        store, node = cast(Store, NodeStore(self._group, name)), Node(control.table, link)
        opened = House.open(self.front.settings, store=store, clock=self.front.clock, node=node)
        self.houses[name] = await self._workers.enter_async_context(opened)
        control.attach(self.houses[name], link)
        self.cluster.joined(name, f"/{name}")
        return name

    async def kill(self, name: str, *running: str) -> None:
        """A node ends without a word, while the worlds of these rooms run."""
        self._links[name].close()
        await self.cluster.links[name].run()
        await self.cluster.left(name, self.houses[name].id, running)
        await self.cluster.settled()

    async def stop(self) -> None:
        """Before the front, while the links are there."""
        await self._workers.aclose()
        for name, link in self._links.items():
            link.close()
            await link.run()
            if name in self.cluster.links:
                await self.cluster.links[name].run()

    def of(self, room: str) -> House:
        return self.houses[self.cluster.table.rooms[room]]

    async def call(self, token: str, room: str, command: str, args: Any = None, at: House | None = None) -> Any:
        house = at or self.of(room)
        return await house.call(house.identify(token), room, command, args)


@asynccontextmanager
async def nodes(
    count: int = 2, clock: Clock | None = None, store: Store | None = None, **settings: Any
) -> AsyncIterator[Nodes]:
    """``store``: that of a cluster, if this is one of several houses."""
    kept = store or MemoryStore()
    group, table = GroupCommit(kept, FRONT), Table(FRONT)
    async with AsyncExitStack() as stack:
        opened = House.open(
            Settings(**settings), store=cast(Store, group), clock=clock or FakeClock(), node=Node(table)
        )
        front = await stack.enter_async_context(opened)
        cluster = Cluster(front, table)
        group.committed = cluster.replicas.committed
        await stack.enter_async_context(following_others(front, kept, cluster.replicas))
        made = Nodes(front, cluster, group)
        for _ in range(count):
            await made.start()
        stack.push_async_callback(made.stop)
        yield made
