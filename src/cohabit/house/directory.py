"""Which process runs which room, and how to reach it.

A node is a process with a house that runs some of the rooms. All nodes share one store. The *front* accepts the
connections and holds the house record; requests that name no room belong to it.
"""

import socket
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

from cohabit.errors import Busy

FRONT: Final = "front"
"""The name of the front."""
HOUSE_RECORD: Final = "house"
"""The room that the front has."""
MOVING: Final = ""
"""Instead of a node: the room exists, and no node has it at the moment."""


class Directory(Protocol):
    """The rooms and nodes as this process knows them. Nothing here waits."""

    here: str
    """The name of this node."""

    def holder(self, room: str) -> str | None:
        """The node that runs the room, or could not open it; `MOVING`: none at the moment; None: no such room. The
        house record is a room, too."""

    def nodes(self) -> Sequence[str]:
        """The live nodes that run rooms."""

    def socket_of(self, node: str) -> str:
        """The path of the Unix socket on which a node serves all interfaces."""

    def place(self) -> str:
        """The node that a new room is created in."""


class PassedOn(Protocol):
    """In the front: hands accepted connections over to other nodes."""

    def pass_on(self, node: str, connection: socket.socket, read: bytes, closed: Callable[[], None]) -> bool:
        """Hand a connection over, with the bytes that were read from it. ``connection`` is closed here in any case.
        ``closed`` is called once the other node has closed it, or is gone. Returns False, and does not call it, if the
        node is gone or takes none at the moment."""


class Table:
    """A directory as tables. The front changes its own, and tells the other nodes what has changed."""

    def __init__(self, here: str) -> None:
        self.here = here
        self.rooms: dict[str, str] = {HOUSE_RECORD: FRONT}
        self.sockets: dict[str, str] = {}

    def holder(self, room: str) -> str | None:
        return self.rooms.get(room)

    def is_elsewhere(self, room: str) -> bool:
        """Whether another node has this room, or none at the moment."""
        return self.rooms.get(room, self.here) != self.here

    def nodes(self) -> Sequence[str]:
        return [node for node in self.sockets if node != FRONT]

    def socket_of(self, node: str) -> str:
        """Of a node that is gone, a path that does not exist: nobody can be reached there."""
        return self.sockets.get(node, "/gone")

    def place(self) -> str:
        counts = dict.fromkeys(self.nodes(), 0)
        if not counts:
            raise Busy("no process of this house can run a room at the moment; try again soon", retry_after_s=1)
        for node in self.rooms.values():
            if node in counts:
                counts[node] += 1
        return min(counts, key=lambda node: counts[node])

    def update(self, rooms: Mapping[str, str | None], sockets: Mapping[str, str | None]) -> None:
        """What has changed; None: it is gone."""
        for table, changes in ((self.rooms, rooms), (self.sockets, sockets)):
            for key, value in changes.items():
                if value is None:
                    table.pop(key, None)
                else:
                    table[key] = value
