"""Serves a store to the other processes of a house, on a Unix socket. See `shared_store`.

A thread for each connection: a store blocks, and there are a few connections per process.
"""

import socket
import threading
from contextlib import suppress
from typing import Any

import msgspec

from cohabit.errors import UnknownCommand
from cohabit.house.store import store_wire as wire
from cohabit.house.store.group_commit import GroupCommit

READS = frozenset((
    "rooms", "snapshots", "lines", "head", "size", "refusals", "identities", "credentials", "invites", "rooms_naming",
    "profile", "egress", "saves", "save", "lease", "release", "release_for", "begin", "backup", "scrub",
))  # fmt: skip


class StoreServer:
    """See the module. The folder of ``path`` must be private: anyone who can connect can read and write everything."""

    def __init__(self, store: GroupCommit, path: str) -> None:
        self._store = store
        self.path = path
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._closed = False
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(path)
        self._listener.listen(128)
        threading.Thread(target=self._accept, name="cohabit-store", daemon=True).start()

    def close(self) -> None:
        """Stop. A call that is under way is still answered if its process is there."""
        with self._lock:
            self._closed = True
            connections = list(self._open)
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RD)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                if self._closed:
                    connection.close()
                    return
                self._open.add(connection)
            threading.Thread(target=self._serve, args=(connection,), name="cohabit-store", daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        node = ""
        with suppress(OSError), connection:
            while (frame := wire.receive(connection)) is not None:
                asked = wire.read_request(frame)
                if asked.method == "hello":
                    (node,) = msgspec.msgpack.decode(asked.args, type=tuple[str])
                else:
                    connection.sendall(self._answer(node, asked))
        with self._lock:
            self._open.discard(connection)

    def _answer(self, node: str, asked: wire.Request) -> bytes:
        try:
            return wire.answer(self._call(node, asked))
        except Exception as wrong:
            return wire.failure(wrong)

    def _call(self, node: str, asked: wire.Request) -> Any:
        if asked.method == "commit":
            self._store.commit(wire.read_writes(asked), node)
            return None
        if asked.method not in READS:
            raise UnknownCommand(f"a store has no {asked.method[:40]}")
        value = getattr(self._store, asked.method)(*msgspec.msgpack.decode(asked.args))
        return list(value) if asked.method == "lines" else value
