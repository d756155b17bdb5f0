"""Connections in the front and in the nodes: the front reads the head of a request, and passes the connection on to the
node that has the room. If that is in another house, a node of this house gets the connection, and relays.

What is not about a room of another node, the front answers itself. So it does with what it cannot pass on: connections
with TLS, HTTP connections of a reverse proxy (many clients share them), and requests that follow an unfinished one.
"""

import asyncio
import os
import socket
from asyncio import Transport
from collections.abc import Callable
from http import HTTPStatus
from itertools import count
from typing import Any
from urllib.parse import unquote
from zlib import crc32

import httptools
from starlette.types import ASGIApp, Receive, Scope, Send

from cohabit.faces.connections import Connections, HttpProtocol, ServerConfig, StopParsing
from cohabit.faces.guard import Guard
from cohabit.faces.refusing import refusal
from cohabit.faces.serve import GuestServer
from cohabit.faces.workers.passing import MAX_PASSED_BYTES, Take
from cohabit.faces.workers.peers import gone
from cohabit.faces.workers.routing import IN_BODY, OF_A_NODE, room_of, token_of
from cohabit.house.directory import Directory, PassedOn, place_of
from cohabit.house.store.identities import Identities


class FrontConfig(ServerConfig):
    """The configuration of the front: where connections can go."""

    def __init__(
        self,
        app: Any,
        connections: Connections,
        identities: Identities,
        directory: Directory,
        passed_on: PassedOn,
        **options: Any,
    ) -> None:
        super().__init__(app, connections, **options)
        self.identities, self.directory, self.passed_on = identities, directory, passed_on
        self._turns = count()

    def relaying_node(self, of_websocket: str | None = None) -> str:
        """A node of this house that relays requests about rooms of other houses, each in its turn: all connections go
        through the front, so it has enough to do. The WebSockets of one caller go to the same node, which counts them;
        ``of_websocket`` is its token. Empty if there is none."""
        own = [node for node in self.directory.nodes() if not place_of(node)]
        turn = next(self._turns) if of_websocket is None else crc32(self._counted_as(of_websocket))
        return own[turn % len(own)] if own else ""

    def _counted_as(self, token: str) -> bytes:
        credential = self.identities.find(token)
        return credential.counted_as if credential is not None else token.encode()


class FrontProtocol(HttpProtocol):
    """Passes a connection on when the head of a request is complete."""

    config: FrontConfig

    def __init__(self, config: FrontConfig, *args: Any, **kwargs: Any) -> None:
        super().__init__(config, *args, **kwargs)
        self._read = b""  # of the current request, until its head is complete
        self._between = True  # the next byte begins a request
        self._is_first = False  # a request that begins now begins with the data that has just arrived
        self._node = ""  # the node that gets the connection

    def data_received(self, data: bytes) -> None:
        if self._between:
            self._read, self._is_first = data, True
        elif self._read:
            self._read += data
        super().data_received(data)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if not self._is_first:  # there is something of an earlier request before it
            self._read = b""
        self._between = self._is_first = False

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._between = True

    def _head_complete(self) -> None:
        answering = self.cycle is not None and not self.cycle.response_complete  # type: ignore[redundant-expr]  # None at first
        read, is_shared = self._read, self._from_proxy and not self.parser.should_upgrade()
        if not 0 < len(read) <= MAX_PASSED_BYTES or answering or is_shared or self.scheme == "https":
            self._read = b""
            return
        self._node = self._node_of_request()
        if self._node:
            raise StopParsing
        self._read = b""

    def _node_of_request(self) -> str:
        """The other node that has the room of the request; empty if there is none."""
        url, directory = httptools.parse_url(self.url), self.config.directory
        path = unquote((url.path or b"").decode("ascii", "replace"))
        token = token_of(self.headers)
        room = room_of(self.config.identities, path, url.query or b"", token)
        node = directory.holder(room) if room is not None and room != IN_BODY else None
        if node is None or node == directory.here:
            return ""
        if not place_of(node):
            return node
        return self.config.relaying_node(token if self.parser.should_upgrade() else None)

    def _stopped(self) -> None:
        if not self._node:
            super()._stopped()
            return
        node, self._node = self._node, ""
        copy = socket.socket(fileno=os.dup(self.transport.get_extra_info("socket").fileno()))
        closed = self._table.detach(self.transport)
        if self.config.passed_on.pass_on(node, copy, self._read, closed):
            self.transport.abort()  # here; the connection goes on there
        else:
            closed()
            path = (httptools.parse_url(self.url).path or b"").decode("ascii", "replace")
            body = self._read.partition(b"\r\n\r\n")[2]
            self._send_refusal(gone(), HTTPStatus(503), refusal(gone(), path, body))


class NodeConnections(Connections):
    """The connections of a node. The front has counted them by address, and is told when one is closed."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.closed: dict[Transport, Callable[[], None]] = {}

    def remove(self, transport: Transport) -> None:
        super().remove(transport)
        if (closed := self.closed.pop(transport, None)) is not None:
            closed()

    def _count(self, address: str) -> bool:
        return True

    def _uncount(self, address: str) -> None:
        pass


class PassedProtocol(HttpProtocol):
    """A connection that the front has begun to read."""

    def __init__(self, *args: Any, read: bytes, closed: Callable[[], None], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._read_before = read
        self._closed = closed

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]  # as uvicorn narrows it too
        assert isinstance(self._table, NodeConnections)
        self._table.closed[transport] = self._closed
        super().connection_made(transport)
        read, self._read_before = self._read_before, b""
        self.data_received(read)


class FromHouse:
    """ASGI middleware for the connections of other houses: they are nodes, and have checked their clients."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["server"] = OF_A_NODE
        await self._app(scope, receive, send)


def take_from_houses(server: GuestServer, guard: Guard) -> Take:
    """The function that makes connections of a server out of those of other houses."""
    assert isinstance(server.config, ServerConfig)
    options = {**server.config.given, "lifespan": "off"}
    config = ServerConfig(FromHouse(guard.app), server.config.connections, **options)
    config.load()
    return take_into(server, config)


def take_into(server: GuestServer, other: ServerConfig | None = None) -> Take:
    """The function that makes connections of a server out of those that the front passes on. ``other``: another app."""
    loop, tasks, config = asyncio.get_running_loop(), set[asyncio.Task[None]](), other or server.config

    async def serve(connection: socket.socket, read: bytes, closed: Callable[[], None]) -> None:
        def protocol() -> PassedProtocol:
            state, app_state = server.server_state, server.lifespan.state
            return PassedProtocol(config, state, app_state, read=read, closed=closed)

        try:
            await loop.connect_accepted_socket(protocol, connection)
        except OSError:  # the client was faster
            connection.close()
            closed()

    def take(connection: socket.socket, read: bytes, closed: Callable[[], None]) -> None:
        task = loop.create_task(serve(connection, read, closed))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    return take
