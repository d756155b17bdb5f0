"""Which process runs which room, and how to reach it.

A node is a process with a house that runs some of the rooms. All nodes share one store. The *front* accepts the
connections and holds the house record; requests that name no room belong to it.

In a cluster of houses, each with a front, the front of one of them has the house record. The names of nodes of other
houses begin with the place of their house: ``PLACE/w1``.
"""

import socket
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Protocol, TypeVar

from cohabit.errors import Busy

FRONT: Final = "front"
"""The name of the front."""
HOUSE_RECORD: Final = "house"
"""The id of the house record, which is the room that a front has."""
MOVING: Final = ""
"""Instead of a node: the room exists, and no node has it at the moment."""
V = TypeVar("V")
NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


def name_elsewhere(place: str, node: str) -> str:
    """The name of a node of another house."""
    return f"{place}/{node}"


def place_of(node: str) -> str:
    """The place of another house that a node belongs to; empty: it belongs to this house."""
    return node.rpartition("/")[0]


class Directory(Protocol):
    """The rooms and nodes as this process knows them. Nothing here waits."""

    here: str
    """The name of this node."""
    word: str
    """Sent with calls of one node to another. All nodes know it, and no client does."""
    on_gone: Callable[[str], None]
    """Called with an address that no node has any more."""

    def holder(self, room: str) -> str | None:
        """The node that runs the room, or could not open it; `MOVING`: none at the moment; None: no such room. The
        house record is a room, too."""

    def moving(self) -> Sequence[str]:
        """The rooms that no node has at the moment."""

    def nodes(self) -> Sequence[str]:
        """The live nodes that run rooms."""

    def socket_of(self, node: str) -> str:
        """The address at which a node serves all interfaces: the path of a Unix socket; of a node of another house, a
        URL with its host, port and name: ``tcp://HOST:PORT/PLACE/NODE``."""

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

    def __init__(self, here: str, word: str = "") -> None:
        self.here, self.word = here, word
        self.rooms: dict[str, str] = {HOUSE_RECORD: FRONT}
        self.sockets: dict[str, str] = {}
        self.leaving: dict[str, bool] = {}  # nodes whose houses are being stopped: no new room goes there
        self.on_gone: Callable[[str], None] = lambda address: None

    def holder(self, room: str) -> str | None:
        return self.rooms.get(room)

    def is_elsewhere(self, room: str) -> bool:
        """True if another node has this room, or none at the moment."""
        return self.rooms.get(room, self.here) != self.here

    def moving(self) -> Sequence[str]:
        return [room for room, node in self.rooms.items() if node == MOVING]

    def nodes(self) -> Sequence[str]:
        return [node for node in self.sockets if node.rpartition("/")[2] != FRONT]

    def socket_of(self, node: str) -> str:
        """Of a node that is gone, a path that does not exist: nobody can be reached there."""
        return self.sockets.get(node, "/gone")

    def place(self) -> str:
        counts = {node: 0 for node in self.nodes() if node not in self.leaving}
        if not counts:
            raise Busy("no process of this house can run a room at the moment; try again soon", retry_after_s=1)
        for node in self.rooms.values():
            if node in counts:
                counts[node] += 1
        return min(counts, key=lambda node: counts[node])

    def update(
        self,
        rooms: Mapping[str, str | None] = NOTHING,
        sockets: Mapping[str, str | None] = NOTHING,
        leaving: Mapping[str, bool | None] = NOTHING,
    ) -> None:
        """Apply changes; None: it is gone."""
        before = {self.sockets[node] for node in sockets if node in self.sockets}
        _change(self.rooms, rooms)
        _change(self.sockets, sockets)
        _change(self.leaving, leaving)
        for address in before - set(self.sockets.values()):
            self.on_gone(address)


def _change(table: dict[str, V], changes: Mapping[str, V | None]) -> None:
    for key, value in changes.items():
        if value is None:
            table.pop(key, None)
        else:
            table[key] = value
