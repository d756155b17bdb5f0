"""Houses of a cluster, each with its nodes, in one process: on a real PostgreSQL, and connected by calls of functions."""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import msgspec
import psycopg
from tests.house.nodes.cluster import Nodes, nodes

from cohabit.house.calls import across
from cohabit.house.calls.across import QUESTIONS
from cohabit.house.directory import place_of
from cohabit.house.nodes.houses import Houses
from cohabit.house.store.postgres_cluster import PostgresClusterStore

KEY = "the key of the cluster"


class Member:
    """One house of the cluster: its nodes, and what it knows of the others."""

    def __init__(self, made: Nodes, store: PostgresClusterStore, all_of_them: "dict[str, Member]") -> None:
        self.nodes, self.front, self.cluster = made, made.front, made.cluster
        self.table, self.place = made.cluster.table, store.place_id
        self.store, self.houses = store, Houses(made.front, made.cluster, store)
        made.front.services.own[across.Nodes] = Wires(all_of_them)
        all_of_them[self.place] = self

    async def look(self) -> None:
        await self.houses.start()

    @property
    def rooms(self) -> list[str]:
        return sorted(room for house in self.nodes.houses.values() for room in house.rooms)


class Wires:
    """Asks the front of another house, with JSON as over a connection."""

    def __init__(self, members: Mapping[str, Member]) -> None:
        self._members = members

    async def ask(self, node: str, question: str, args: Any, *, repeatable: bool = True) -> Any:
        there, given = self._members[place_of(node)].front.services, msgspec.json.decode(msgspec.json.encode(args))
        return msgspec.json.decode(msgspec.json.encode(await QUESTIONS[question](there, **given)))


class Cluster:
    def __init__(self, url: str, folder: Path, stack: AsyncExitStack) -> None:
        self._url, self._folder, self._stack = url, folder, stack
        self.members: dict[str, Member] = {}

    async def open(self, workers: int = 1) -> Member:
        number = len(self.members) + 1
        address = f"127.0.0.1:{9000 + number}"
        store = await asyncio.to_thread(PostgresClusterStore, self._url, self._folder / str(number), address)
        opened = nodes(workers, store=store, houses_address=address, houses_key=KEY)
        member = Member(await self._stack.enter_async_context(opened), store, self.members)
        await member.look()
        return member

    async def look(self) -> None:
        for member in self.members.values():
            await member.look()

    async def execute(self, sql: str, *args: Any) -> None:
        await asyncio.to_thread(self._execute, sql, *args)

    async def ends(self, member: Member) -> None:
        """Its leases end, as if it was cut off, and the others find that."""
        await self.end_leases(member)
        del self.members[member.place]
        await self.look()

    async def end_leases(self, member: Member) -> None:
        houses = [house.id for house in (member.front, *member.nodes.houses.values())]
        await self.execute("update houses set until = clock_timestamp() where house = any(%s)", houses)

    def _execute(self, sql: str, *args: Any) -> None:
        with psycopg.connect(self._url, autocommit=True) as db:
            db.execute(sql, args)
