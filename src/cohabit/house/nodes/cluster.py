"""The nodes of a house, as the front sees them: where rooms are, where they go when a node dies.

The front itself runs no world. It knows nothing of processes here: a node is a link. What concerns other houses of a
cluster is in `houses`.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Coroutine, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import msgspec

from cohabit.errors import Busy, CohabitError, Quarantined, by_code
from cohabit.house.directory import FRONT, HOUSE_RECORD, MOVING, NOTHING, Table
from cohabit.house.house import House
from cohabit.house.nodes import ledger
from cohabit.house.nodes.link import Handler, Link, LinkEnded
from cohabit.house.nodes.numbers import Numbers
from cohabit.house.nodes.placement import STRIKES, Placement, Strikes
from cohabit.house.nodes.replicas import Replicas
from cohabit.house.threads import run_in_thread

log = logging.getLogger("cohabit")
OPENING = "this room is being opened in another process; try again in a moment"
AGAIN_S = (1.0, 2.0, 4.0, 8.0, 16.0)
"""Pauses after which a room is tried again that could not be opened, because the store was away or busy."""
KILLED = (
    f"this room is quarantined: its world was running each of {STRIKES} times that its process died or did not answer. "
    "A host of the house can reopen it (`reopen_room`)"
)
NUMBERS_S = 1.0
"""The time to wait for the numbers of a node: a service manager must not restart a house because one worker hangs."""


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
        self.place = ""  # of this house in a cluster of houses
        self.names: dict[str, str] = {}  # of the nodes of other houses, by the ids of their houses
        self.on_held_elsewhere: Callable[[], None] = lambda: None  # another house has a room that was to be opened here
        self.known_rooms = 0  # raised when a room was made or deleted
        house.writer.known_by_all = self.replicas.known_by_all
        house.rooms.others = lambda: len(table.rooms) - 1
        house.rooms.open_elsewhere = self.reopen
        house.services.own[Cluster] = self

    # -- nodes ------------------------------------------------------------------------------------
    def handlers(self) -> dict[str, Handler]:
        """The functions that a node may call here, by name."""
        return {"known_by_all": self.replicas.known_by_all, **ledger.handlers(self.house.ledger, self.house.identities)}

    def added(self, node: str, link: Link) -> None:
        """A node starts, and will read the store."""
        self.links[node] = link
        self._buried[node] = asyncio.Event()
        link.tell("directory", rooms=self.table.rooms, sockets=self.table.sockets, leaving=self.table.leaving)
        link.tell("temporaries", made=self.house.identities.temporaries())
        self.replicas.welcome(link)

    def joined(self, node: str, socket: str) -> None:
        """It can open rooms, and serves them on this socket."""
        self.tell(sockets={node: socket})
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
            self.placement.remove(room)
        self.tell({room: FRONT if room in bad else MOVING for room in rooms}, {node: None})
        for room in bad:
            log.error("room %s: %s", room, KILLED)
            await self._keep_closed(room)
        for room in sorted(rooms, key=lambda room: room in suspects):
            if room not in bad and room not in self._placing:
                self._start(room, suspects)

    async def numbers(self) -> dict[str, Numbers | None]:
        """The numbers of each node, without those that die meanwhile; None: it does not answer in time."""
        asked = {node: self.links[node].asked("status") for node in self._ready}
        if asked:
            await asyncio.wait(asked.values(), timeout=NUMBERS_S)
        return {
            node: msgspec.convert(told.result()["numbers"], Numbers) if told.done() else None
            for node, told in asked.items()
            if not told.done() or told.exception() is None
        }

    def tell(
        self,
        rooms: Mapping[str, str | None] = NOTHING,
        sockets: Mapping[str, str | None] = NOTHING,
        leaving: Mapping[str, bool | None] = NOTHING,
    ) -> None:
        """Change the directory, here and in every node."""
        self.table.update(rooms, sockets, leaving)
        for link in self.links.values():
            link.tell("directory", rooms=dict(rooms), sockets=dict(sockets), leaving=dict(leaving))

    # -- rooms ------------------------------------------------------------------------------------
    async def open_all(self) -> None:
        """Open every stored room, somewhere."""
        stored = await run_in_thread("the store", self.house.store.rooms)
        for room in stored:
            if room != HOUSE_RECORD:
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

    def has(self, room: str) -> bool:
        """True if this house has a room, or is about to."""
        return room in self._placing or self.placement.worker_of(room) is not None

    def room_made(self, room: str, node: str) -> None:
        """A node has stored a new room."""
        self.known_rooms += 1
        if node == FRONT or self.placement.worker_of(room) is not None:
            return
        if node in self.links:
            self._held(room, node)
        else:  # it died right after that
            self._start(room)

    def room_made_elsewhere(self, room: str, house: str) -> None:
        """Another house has stored a new room. ``house``: the id of the process."""
        self.known_rooms += 1
        if room != HOUSE_RECORD:
            self.tell({room: self.names.get(house, MOVING)})

    def room_deleted(self, room: str) -> None:
        self.known_rooms += 1
        self.placement.forget(room)
        self.strikes.forget(room)
        self.house.broken.pop(room, None)
        self.tell({room: None})

    async def reopen(self, room: str) -> None:
        """A host reopens a room that no node has."""
        self.strikes.forget(room)
        if self.place:
            await run_in_thread("the leases", partial(self.house.rooms.leases.release, [room], self.place))
        self.take(room)
        if room in self._placing:
            await asyncio.wait([self._placing[room]])
        if (problem := self.house.broken.get(room)) is not None:
            raise problem

    def take(self, room: str) -> None:
        """Open a room in one of the nodes."""
        if room not in self._placing:
            self._start(room)

    def give(self, room: str, place: str) -> None:
        """Let another house have a room of this one."""
        node = self.placement.worker_of(room)
        if node is not None and room not in self._placing:
            self._run(room, self._give(room, node, place))

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
        self._run(room, self._place(room, avoid, to))

    def _run(self, room: str, work: Coroutine[Any, Any, None]) -> None:
        if self._closing:
            work.close()
            return
        task = asyncio.get_running_loop().create_task(work)
        self._placing[room] = task
        task.add_done_callback(lambda _: self._placing.pop(room, None))

    async def _give(self, room: str, node: str, place: str) -> None:
        try:
            if await self._closed(room, node, place):
                self.house.broken.pop(room, None)
        except LinkEnded:  # the node died: the room stays in this house
            await self._buried[node].wait()
            if not isinstance(self.house.broken.get(room), Quarantined):
                await self._place(room, (), "")

    async def _place(self, room: str, avoid: Collection[str], to: str) -> None:
        """Bring a room to the node that should have it, or to this one."""
        pauses_s = iter(AGAIN_S)
        while True:
            await self._some_ready.wait()
            node = to if to in self._ready else self.placement.worker_for(room, self._ready, avoid)
            before = self.placement.worker_of(room)
            if before == node:
                return
            asked = before or node
            try:
                if before is not None and not await self._closed(room, before, self.place):
                    return
                if before is not None and room not in self.table.rooms:  # it was deleted meanwhile
                    return
                asked = node
                if await self._opened(room, node, pauses_s):
                    return
            except LinkEnded:  # the node died: again in another one, unless the room is what killed it
                await self._buried[asked].wait()
                if isinstance(self.house.broken.get(room), Quarantined):
                    return

    async def _closed(self, room: str, node: str, place: str) -> bool:
        """Close a room in a node, for a house of the cluster to open it. False: it stays there."""
        self.house.broken[room] = Busy(OPENING)
        self.tell({room: MOVING})
        try:
            await self.links[node].ask("close", room=room, place=place)
        except LinkEnded:
            raise
        except CohabitError as wrong:
            if room in self.table.rooms:  # else it was deleted meanwhile
                log.warning("room %s stays in %s: %s", room, node, wrong.as_text())
                self._held(room, node)
            return False
        self.placement.remove(room)
        return True

    async def _opened(self, room: str, node: str, pauses_s: Iterator[float]) -> bool:
        """Open a room in a node. False: try again, perhaps in another one. ``pauses_s``: before the next attempts, if
        the problem may pass."""
        self.placement.put(room, node)
        self.house.broken[room] = Busy(OPENING)
        self.tell({room: MOVING})
        try:
            found: Mapping[str, Any] = await self.links[node].ask("open", room=room)
        except LinkEnded:
            raise
        except CohabitError as wrong:
            found = {"problem": wrong.as_wire(), "held_elsewhere": False, "passes": False, "travels": False}
        if found["held_elsewhere"] and self.place:
            self.placement.remove(room)
            self.house.broken.pop(room, None)
            self.on_held_elsewhere()
            return True
        if found["passes"] and (pause_s := next(pauses_s, None)) is not None:
            await self.links[node].ask("close", room=room)
            self.placement.remove(room)
            await asyncio.sleep(pause_s)
            return False
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
        self.tell({room: node})

    async def _keep_closed(self, room: str) -> None:
        """In a cluster: no other house opens this room either."""
        if self.place:
            with suppress(CohabitError):
                await run_in_thread("the leases", partial(self.house.rooms.leases.acquire, room))
