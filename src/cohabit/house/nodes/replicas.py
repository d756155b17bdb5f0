"""Identities, credentials and invites are in the memory of every node. This keeps them the same.

The front sees every commit, in order. What concerns all is applied there and told to the other nodes in that order, and
a node answers its caller only when all of them have applied it, or are dead. So a revocation is true everywhere when
its reply is sent, and nothing is lost if the node that stored it dies first.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from msgspec import convert, structs

from cohabit.house.directory import FRONT
from cohabit.house.house import House
from cohabit.house.nodes.link import Link
from cohabit.house.store.contract import Write


class Rooms(Protocol):
    """What learns of new and deleted rooms."""

    def room_made(self, room: str, node: str) -> None: ...

    def room_deleted(self, room: str) -> None: ...


class Replicas:
    """In the front."""

    def __init__(self, house: House, links: Mapping[str, Link], rooms: Rooms) -> None:
        """``links``: to the live nodes, by name."""
        self._house = house
        self._links = links
        self._rooms = rooms
        self._loop = asyncio.get_running_loop()
        self._unconfirmed: set[asyncio.Future[Any]] = set()
        house.identities.on_temporary = self._spread_temporaries

    def committed(self, node: str, writes: Sequence[Write]) -> None:
        """A node has stored this. Called in the order of the commits, on any thread."""
        changes = [_change(write) for write in writes if write.concerns_all]
        if changes:
            self._loop.call_soon_threadsafe(self._spread, node, changes)

    async def known_by_all(self) -> None:
        """Returns when every node knows what was committed before."""
        await asyncio.sleep(0)  # what was committed on another thread before is spread first
        if self._unconfirmed:
            await asyncio.wait(set(self._unconfirmed))

    def _spread(self, origin: str, changes: list[tuple[Write, bool]]) -> None:
        writes = [write for write, _ in changes]
        for write, is_new in changes:
            if write.delete:
                self._rooms.room_deleted(write.room)
            elif is_new:
                self._rooms.room_made(write.room, origin)
        if origin != FRONT:
            apply(self._house, writes)
        self._tell([node for node in self._links if node != origin], "apply", changes=writes)

    def _spread_temporaries(self) -> None:
        self._tell(list(self._links), "temporaries", made=self._house.identities.temporaries())

    def _tell(self, nodes: Iterable[str], name: str, **args: Any) -> None:
        for node in nodes:
            told = self._links[node].asked(name, **args)
            self._unconfirmed.add(told)
            told.add_done_callback(self._unconfirmed.discard)


def _change(write: Write) -> tuple[Write, bool]:
    """The part that others need, and whether it makes a room. Copies: the house changes its own objects later."""
    credentials = [structs.replace(each) for each in write.credentials]
    invites = [structs.replace(each) for each in write.invites]
    part = Write(
        write.room, identities=write.identities, credentials=credentials, invites=invites, forget=write.forget,
        delete=write.delete, rewrite=write.rewrite,
    )  # fmt: skip
    return part, bool(write.lines and write.lines[0].seq == 0)


def apply(house: House, changes: Iterable[Write]) -> None:
    """Apply what another node has stored."""
    rooms = house.rooms
    for change in changes:
        house.identities.apply(change)
        for identity in change.forget:
            for forget in rooms.on_forgotten:
                forget(identity)
        if rooms.heads is not None and (change.delete or change.rewrite):
            rooms.heads.forget(change.room)


def read_changes(changes: Any) -> list[Write]:
    """As they come over a link."""
    return convert(changes, list[Write])
