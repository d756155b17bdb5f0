"""Which process runs which room, and how to reach it.

A node is a process with a house that runs some of the rooms. All nodes share one store. The *front* accepts the
connections and holds the house record; requests that name no room belong to it.
"""

import socket
from collections.abc import Callable, Sequence
from typing import Final, Protocol

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
