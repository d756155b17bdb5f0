"""A store that another process of this house has: the contract over a Unix socket. `store_server` is the other side.

Calls block, as those of every store do. Each one has a connection of its own while it lasts, so reads do not wait for a
commit.
"""

import socket
import threading
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from cohabit.errors import OutcomeUnknown, StorageFailed
from cohabit.house.store import store_wire as wire
from cohabit.house.store.contract import Row, Write
from cohabit.model.identity import Credential, Identity, Invite
from cohabit.model.refusals import Refusal

MAX_IDLE = 8
"""The number of connections that are kept for the next calls."""
ROWS_PER_READ = 32
"""Rows that are in memory at once while a record is read. Each can have some megabytes."""
GONE = "the process of this house that has the store has ended"
T = TypeVar("T")


class SharedStore:
    """See the module. ``node``: the name of this process."""

    is_reachable = True  # the front knows

    def __init__(self, path: str, node: str) -> None:
        self._path = path
        self._node = node
        self._lock = threading.Lock()
        self._idle: list[socket.socket] = []
        self._closed = False

    # -- writing ----------------------------------------------------------------------------------
    def commit(self, writes: Sequence[Write]) -> None:
        connection = self._take()
        try:
            connection.sendall(wire.commit_request(writes))
            frame = wire.receive(connection)
        except OSError:
            frame = None
        if frame is None:
            connection.close()
            raise OutcomeUnknown(f"{GONE}; the last entries may have been written")
        self._give(connection)
        wire.read_answer(frame, type(None))

    def give_up(self) -> None:
        """A commit waits for the other process, which has the store and gives up itself."""

    # -- reading ----------------------------------------------------------------------------------
    def rooms(self) -> list[str]:
        return self._ask(list[str], "rooms")

    def snapshots(self, room: str) -> list[bytes]:
        return self._ask(list[bytes], "snapshots", room)

    def lines(self, room: str, after: int, limit: int | None = None) -> Iterator[Row]:
        left = limit
        while left is None or left > 0:
            count = ROWS_PER_READ if left is None else min(ROWS_PER_READ, left)
            rows = self._ask(list[Row], "lines", room, after, count)
            yield from rows
            if len(rows) < count:
                return
            after = rows[-1][0]
            left = None if left is None else left - count

    def head(self, room: str) -> int:
        return self._ask(int, "head", room)

    def size(self, room: str) -> int:
        return self._ask(int, "size", room)

    def refusals(self, room: str) -> list[Refusal]:
        return self._ask(list[Refusal], "refusals", room)

    def identities(self) -> list[Identity]:
        return self._ask(list[Identity], "identities")

    def credentials(self) -> list[Credential]:
        return self._ask(list[Credential], "credentials")

    def invites(self) -> list[Invite]:
        return self._ask(list[Invite], "invites")

    def rooms_naming(self, identity: str) -> list[str]:
        return self._ask(list[str], "rooms_naming", identity)

    def profile(self, identity: str) -> bytes | None:
        return self._ask(bytes | None, "profile", identity)  # type: ignore[arg-type]

    def egress(self, room: str) -> list[bytes]:
        return self._ask(list[bytes], "egress", room)

    def saves(self, room: str) -> list[str]:
        return self._ask(list[str], "saves", room)

    def save(self, room: str, name: str) -> bytes | None:
        return self._ask(bytes | None, "save", room, name)  # type: ignore[arg-type]

    # -- leases and the rest ----------------------------------------------------------------------
    def lease(self, rooms: Sequence[str], house: str, ms: int, epoch: int | None = None) -> dict[str, int]:
        return self._ask(dict[str, int], "lease", rooms, house, ms, epoch)

    def begin(self, house: str, node: str, ms: int) -> int:
        """See ``ClusterStore``."""
        return self._ask(int, "begin", house, node, ms)

    def release(self, rooms: Sequence[str], house: str) -> None:
        self._ask(type(None), "release", rooms, house)

    def release_for(self, rooms: Sequence[str], house: str, place: str) -> None:
        """See `ClusterStore`."""
        self._ask(type(None), "release_for", rooms, house, place)

    def backup(self, path: str) -> None:
        self._ask(type(None), "backup", path)

    def scrub(self) -> None:
        self._ask(type(None), "scrub")

    def close(self) -> None:
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    # -- connections ------------------------------------------------------------------------------
    def _ask(self, kind: type[T], method: str, *args: Any) -> T:
        connection = self._take()
        try:
            connection.sendall(wire.request(method, args))
            frame = wire.receive(connection)
        except OSError:
            frame = None
        if frame is None:
            connection.close()
            raise StorageFailed(GONE)
        self._give(connection)
        return wire.read_answer(frame, kind)

    def _take(self) -> socket.socket:
        with self._lock:
            if self._closed:
                raise StorageFailed("the store is closed")
            if self._idle:
                return self._idle.pop()
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(self._path)
            connection.sendall(wire.request("hello", [self._node]))
        except OSError as wrong:
            connection.close()
            raise StorageFailed(f"{GONE} ({wrong.strerror})") from wrong
        return connection

    def _give(self, connection: socket.socket) -> None:
        with self._lock:
            if not self._closed and len(self._idle) < MAX_IDLE:
                self._idle.append(connection)
                return
        connection.close()
