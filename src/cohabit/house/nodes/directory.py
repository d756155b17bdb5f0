"""Which node holds a room, and how to reach it."""

import socket
from collections.abc import Mapping, Sequence
from typing import Protocol

FRONT = "front"
"""The name of the node that accepts connections, and has the house record and no other room."""


class Directory(Protocol):
    """See the module."""

    here: str
    """The name of this node: ``FRONT``, "w1", "w2", …"""

    def holder(self, room: str) -> str | None:
        """The node that holds the room now. None: there is no such room, or it is not open anywhere."""

    def nodes(self) -> Sequence[str]:
        """The live nodes that run rooms."""

    def socket_of(self, node: str) -> str:
        """The path of the Unix socket on which that node serves the whole app: HTTP, WebSocket, MCP."""


class PassedOn(Protocol):
    """Only in the front."""

    def pass_on(self, node: str, connection: socket.socket, read: bytes, client: str) -> bool:
        """Hand an accepted connection over, with what was read from it. False: the node is gone."""


class Table:
    """A directory as tables. The front changes its own, and tells the others what has changed."""

    def __init__(self, here: str) -> None:
        self.here = here
        self.rooms: dict[str, str] = {}
        self.sockets: dict[str, str] = {}

    def holder(self, room: str) -> str | None:
        return self.rooms.get(room)

    def nodes(self) -> Sequence[str]:
        return [node for node in self.sockets if node != FRONT]

    def socket_of(self, node: str) -> str:
        return self.sockets[node]

    def update(self, rooms: Mapping[str, str | None], sockets: Mapping[str, str | None]) -> None:
        """What has changed; None: it is gone."""
        for table, changes in ((self.rooms, rooms), (self.sockets, sockets)):
            for key, value in changes.items():
                if value is None:
                    table.pop(key, None)
                else:
                    table[key] = value
