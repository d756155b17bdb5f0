"""Identities, credentials and invites are in the memory of every node. This keeps them the same.

The front sees every commit, in order. What concerns all is applied there and told to the other nodes in that order, and
a node answers its caller only when all of them have applied it, or are dead. So a revocation is true everywhere when
its reply is sent, and nothing is lost if the node that stored it dies first.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from msgspec import convert

from cohabit.house.directory import FRONT
from cohabit.house.house import House
from cohabit.house.nodes.link import Link
from cohabit.house.store.cluster_contract import Change, News, change_of
from cohabit.house.store.contract import Write


class Rooms(Protocol):
    """The table of rooms, which is told of new and deleted ones."""

    def room_made(self, room: str, node: str) -> None: ...

    def room_made_elsewhere(self, room: str, house: str) -> None: ...

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
        self.known_by_others: Callable[[], Awaitable[None]] | None = None
        """In a cluster: returns when every other house knows what was committed here before."""
        self.caught_up: Callable[[], Awaitable[bool]] | None = None
        """In a cluster: returns when what other houses have stored before is known here, or False if that cannot be."""
        self.on_news: list[Callable[[News], None]] = []  # in a cluster, see `heard`
        self._valid_until = 0.0
        house.identities.on_temporary = self._spread_temporaries

    def committed(self, node: str, writes: Sequence[Write]) -> None:
        """A node has stored this. Called in the order of the commits, on any thread."""
        changes = [change_of(write) for write in writes if write.concerns_all]
        if changes:
            self._loop.call_soon_threadsafe(self._spread, node, changes)

    async def known_by_all(self) -> None:
        """Returns when every node knows what was committed before."""
        await asyncio.sleep(0)  # what was committed on another thread before is spread first
        if self._unconfirmed:
            await asyncio.wait(set(self._unconfirmed))
        if self.known_by_others is not None:
            await self.known_by_others()

    def _spread(self, origin: str, changes: Sequence[Change]) -> None:
        writes = [change.write for change in changes]
        for change in changes:
            if change.write.delete:
                self._rooms.room_deleted(change.write.room)
            elif change.is_new:
                self._rooms.room_made(change.write.room, origin)
        if origin != FRONT:
            apply(self._house, writes)
        self._tell([node for node in self._links if node != origin], "apply", changes=writes)

    # -- in a cluster -----------------------------------------------------------------------------
    def changed_elsewhere(self, changes: Sequence[Change]) -> "list[asyncio.Future[Any]]":
        """Another house has stored this. Returns the replies of the nodes that were told."""
        writes = [change.write for change in changes]
        for change in changes:
            if change.write.delete:
                self._rooms.room_deleted(change.write.room)
            elif change.is_new:
                self._rooms.room_made_elsewhere(change.write.room, change.house)
        apply(self._house, writes)
        return self._tell(list(self._links), "apply", changes=writes) if writes else []

    def heard(self, news: News) -> None:
        """There is news of other houses; `News.RECONNECTED` also after each renewal of the leases."""
        for hear in self.on_news:
            hear(news)

    def tell_validity(self, until: float) -> None:
        """This house is valid until then. The nodes get this after all changes on which it depends."""
        self._valid_until = until
        for link in self._links.values():
            self.welcome(link)

    def welcome(self, link: Link) -> None:
        """A node that starts now is as valid as the others: it reads the store after this."""
        link.tell("valid", until=self._valid_until)

    # -- nodes ------------------------------------------------------------------------------------

    def _spread_temporaries(self) -> None:
        self._tell(list(self._links), "temporaries", made=self._house.identities.temporaries())

    def _tell(self, nodes: Iterable[str], name: str, **args: Any) -> "list[asyncio.Future[Any]]":
        told = [self._links[node].asked(name, **args) for node in nodes]
        for each in told:
            self._unconfirmed.add(each)
            each.add_done_callback(self._unconfirmed.discard)
        return told


def apply(house: House, changes: Iterable[Write]) -> None:
    """Apply what another node has stored."""
    rooms = house.rooms
    for change in changes:
        house.identities.apply(change)
        for one in change.identities:
            if one.name and one.forgotten is None:  # it may have been forgotten, and is back
                rooms.shared.egress.is_back(one.id)
        if change.forget:
            for forget in rooms.on_forgotten:
                forget(change.forget)
        if rooms.heads is not None and (change.delete or change.rewrite):
            rooms.heads.forget(change.room)


def read_changes(changes: Any) -> list[Write]:
    """As they come over a link."""
    return convert(changes, list[Write])
