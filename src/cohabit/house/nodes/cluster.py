"""The nodes of a house, as the front sees them: where rooms are, where they go when a node dies.

The front itself runs no world. It knows nothing of processes here: a node is a link.
"""

import asyncio
import logging
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import msgspec

from cohabit.errors import Busy, CohabitError, Quarantined, by_code
from cohabit.house.directory import FRONT, MOVING, Table
from cohabit.house.house import House
from cohabit.house.nodes import ledger
from cohabit.house.nodes.link import Handler, Link, LinkEnded
from cohabit.house.nodes.numbers import Numbers
from cohabit.house.nodes.placement import STRIKES, Placement, Strikes
from cohabit.house.nodes.replicas import Replicas
from cohabit.house.running.rooms import HOUSE_ROOM
from cohabit.house.threads import run_in_thread

log = logging.getLogger("cohabit")
OPENING = "this room is being opened in another process of this house; try again in a moment"
KILLED = (
    f"this room is quarantined: its world was running each of {STRIKES} times that its process died or did not answer. "
    "A host of the house can reopen it (`reopen_room`)"
)


class Cluster:
    """See the module. ``house``: that of the front."""

    def __init__(self, house: House, table: Table) -> None:
        self.house = house
        self.table = table
        self.placement = Placement()
        self.strikes = Strikes()
        self.links: dict[str, Link] = {}  # of the live nodes, from before they read the store
        self.replicas = Replicas(house, self.links, self)
        self._ready: list[str] = []  # those that can open rooms
        self._some_ready = asyncio.Event()
        self._closing = False
        self._placing: dict[str, asyncio.Task[None]] = {}
        self._buried: dict[str, asyncio.Event] = {}  # set when a node is dead, and its leases have ended
        house.writer.known_by_all = self.replicas.known_by_all
        house.rooms.others = lambda: len(self.placement)
        house.rooms.open_elsewhere = self.reopen
        house.services.own[Cluster] = self

    # -- nodes ------------------------------------------------------------------------------------
    def handlers(self) -> dict[str, Handler]:
        """What a node may ask."""
        return {"known_by_all": self.replicas.known_by_all, **ledger.handlers(self.house.ledger)}

    def added(self, node: str, link: Link) -> None:
        """A node starts, and will read the store."""
        self.links[node] = link
        self._buried[node] = asyncio.Event()
        link.tell("directory", rooms=self.table.rooms, sockets=self.table.sockets)
        link.tell("temporaries", made=self.house.identities.temporaries())

    def joined(self, node: str, socket: str) -> None:
        """It can open rooms, and serves them on this socket."""
        self._tell({}, {node: socket})
        self._ready.append(node)
        self._some_ready.set()

    async def left(self, node: str, house: str, suspects: Collection[str] = ()) -> None:
        """A node is dead. ``house``: the id of its house. ``suspects``: rooms whose worlds were running."""
        if node in self._ready:
            self._ready.remove(node)
        if not self._ready:
            self._some_ready.clear()
        if house:  # its leases end now, and nothing of it is written any more
            try:
                await run_in_thread("the leases", partial(self.house.store.lease, (), house, 0))
            except CohabitError as failed:  # they end by themselves
                log.error("the leases of %s could not be ended: %s", node, failed.as_text())
        self.links.pop(node).close()
        self._buried[node].set()
        rooms = self.placement.left_by(node)
        suspects = [room for room in suspects if room in rooms]
        bad = self.strikes.add(suspects, self.house.clock.now())
        for room in rooms:
            self.house.broken[room] = Quarantined(KILLED) if room in bad else Busy(OPENING)
            if room in bad:
                log.error("room %s: %s", room, KILLED)
            self.placement.remove(room)
        self._tell({room: FRONT if room in bad else MOVING for room in rooms}, {node: None})
        for room in sorted(rooms, key=lambda room: room in suspects):
            if room not in bad and room not in self._placing:
                self._start(room, suspects)

    async def numbers(self) -> dict[str, Numbers]:
        """How each node is doing; without those that die meanwhile."""
        asked = {node: self.links[node].asked("status") for node in self._ready}
        if asked:
            await asyncio.wait(asked.values())
        live = {node: told.result() for node, told in asked.items() if told.exception() is None}
        return {node: msgspec.convert(told["numbers"], Numbers) for node, told in live.items()}

    # -- rooms ------------------------------------------------------------------------------------
    async def open_all(self) -> None:
        """Open every stored room, somewhere."""
        stored = await run_in_thread("the store", self.house.store.rooms)
        for room in stored:
            if room != HOUSE_ROOM:
                self._start(room)
        await self.settled()

    async def close(self) -> None:
        """Open and move no more rooms."""
        self._closing = True
        for task in self._placing.values():
            task.cancel()
        await self.settled()

    async def settled(self) -> None:
        """Wait until no room is being opened or moved."""
        while self._placing:
            await asyncio.wait([*self._placing.values()])

    def room_made(self, room: str, node: str) -> None:
        """A node has stored a new room."""
        if node == FRONT or self.placement.worker_of(room) is not None:
            return
        if node in self.links:
            self._held(room, node)
        else:  # it died right after that
            self._start(room)

    def room_deleted(self, room: str) -> None:
        self.placement.forget(room)
        self.strikes.forget(room)
        self.house.broken.pop(room, None)
        self._tell({room: None}, {})

    async def reopen(self, room: str) -> None:
        """A host reopens a room that no node has."""
        self.strikes.forget(room)
        if room not in self._placing:
            self._start(room)
        if room in self._placing:
            await asyncio.wait([self._placing[room]])
        if (problem := self.house.broken.get(room)) is not None:
            raise problem

    def travels(self, node: str, rooms: Sequence[str]) -> None:
        """These rooms of a node turned out to belong to those that travel together."""
        for room in rooms:
            target = self.placement.travels(room, self._ready)
            if target is not None and room not in self._placing and self.placement.worker_of(room) == node:
                self._start(room)

    async def balance(self) -> None:
        """A node has joined: give it rooms in which nobody would be disturbed."""
        quiet: dict[str, list[str]] = {}
        for node in list(self._ready):
            with suppress(LinkEnded):
                rooms = (await self.links[node].ask("status"))["rooms"]
                alone = [room for room in rooms if room not in self.placement.together]
                quiet[node] = [room for room in alone if rooms[room] and self.placement.worker_of(room) == node]
        counts = self.placement.counts([node for node in quiet if node in self._ready])
        while counts:
            most, least = max(counts, key=lambda node: counts[node]), min(counts, key=lambda node: counts[node])
            if counts[most] - counts[least] < 2 or not quiet[most]:
                break
            room = quiet[most].pop()
            if room not in self._placing:
                counts[most], counts[least] = counts[most] - 1, counts[least] + 1
                self._start(room, to=least)
        await self.settled()

    def _start(self, room: str, avoid: Collection[str] = (), to: str = "") -> None:
        if self._closing:
            return
        task = asyncio.get_running_loop().create_task(self._place(room, avoid, to))
        self._placing[room] = task
        task.add_done_callback(lambda _: self._placing.pop(room, None))

    async def _place(self, room: str, avoid: Collection[str], to: str) -> None:
        """Bring a room to the node that should have it, or to this one."""
        while True:
            await self._some_ready.wait()
            node = to if to in self._ready else self.placement.worker_for(room, self._ready, avoid)
            before = self.placement.worker_of(room)
            if before == node:
                return
            asked = before or node
            try:
                if before is not None and not await self._closed(room, before):
                    return
                asked = node
                if await self._opened(room, node):
                    return
            except LinkEnded:  # the node died: again in another one, unless the room is what killed it
                await self._buried[asked].wait()
                if isinstance(self.house.broken.get(room), Quarantined):
                    return

    async def _closed(self, room: str, node: str) -> bool:
        """Close a room in a node. False: it stays there."""
        self.house.broken[room] = Busy(OPENING)
        self._tell({room: MOVING}, {})
        try:
            await self.links[node].ask("close", room=room)
        except LinkEnded:
            raise
        except CohabitError as wrong:
            log.warning("room %s stays in %s: %s", room, node, wrong.as_text())
            self._held(room, node)
            return False
        self.placement.remove(room)
        return True

    async def _opened(self, room: str, node: str) -> bool:
        """Open a room in a node. False: it has to be in another one."""
        self.placement.put(room, node)
        self.house.broken[room] = Busy(OPENING)
        self._tell({room: MOVING}, {})
        try:
            found: Mapping[str, Any] = await self.links[node].ask("open", room=room)
        except LinkEnded:
            raise
        except CohabitError as wrong:
            found = {"problem": wrong.as_wire(), "travels": False}
        if found["problem"] is not None:
            log.error("room %s could not be opened: %s", room, by_code(found["problem"]).as_text())
        if found["travels"] and self.placement.travels(room, self._ready) is not None:
            return False
        self._held(room, node)
        return True

    def _held(self, room: str, node: str) -> None:
        """A node answers for a room."""
        self.placement.put(room, node)
        self.house.broken.pop(room, None)
        self._tell({room: node}, {})

    def _tell(self, rooms: Mapping[str, str | None], sockets: Mapping[str, str | None]) -> None:
        self.table.update(rooms, sockets)
        for link in self.links.values():
            link.tell("directory", rooms=rooms, sockets=sockets)
