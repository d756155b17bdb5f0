"""WebSockets that speak to rooms in several nodes.

A frame about a room of another node goes to that node as it is, over a WebSocket that is opened there with the caller's
own token. Replies and pushes come back as they are. If the client reads slowly, nothing is read from the other node
either, which then skips views or ends the connection, as for a client of its own.
"""

import asyncio
from collections import deque
from typing import Any

from starlette.types import Receive, Scope, Send
from websockets.client import ClientProtocol
from websockets.exceptions import InvalidState
from websockets.frames import Frame, Opcode
from websockets.protocol import State
from websockets.typing import Subprotocol
from websockets.uri import parse_uri

from cohabit.errors import Busy, CohabitError
from cohabit.faces.direct import DirectProtocol
from cohabit.faces.workers.dialing import Dialer
from cohabit.faces.workers.peers import Peers, away, gone
from cohabit.faces.workers.routing import is_relayed
from cohabit.faces.ws import MAX_PENDING_BYTES, MAX_PENDING_CALLS, WATCHING, Connection, Request
from cohabit.house.directory import HOUSE_RECORD, MOVING
from cohabit.house.house import House
from cohabit.model.identity import Credential

ADDRESS = parse_uri("ws://localhost/ws")


class ClosedByNode(CohabitError):
    """The other node has closed the connection with this code and reason, or has ended."""

    def __init__(self, close_code: int, message: str) -> None:
        super().__init__(message)
        self.close_code = close_code


class RoutingConnection(Connection):
    """The WebSocket of a client. Frames about rooms of other nodes go there."""

    __slots__ = ("_client", "_dialer", "_directory", "_media_node", "_relayed", "_token", "_upstreams")

    def __init__(
        self, peers: Peers, house: House, receive: Receive, send: Send, direct: DirectProtocol | None = None
    ) -> None:
        super().__init__(house, receive, send, direct)
        self._directory, self._dialer = peers.directory, peers.dialer
        self._upstreams: dict[str, Upstream] = {}  # by node
        self._media_node: str | None = None  # the node of the room that was subscribed with media
        self._relayed = False
        self._client = ""
        self._token = ""

    async def identify(self, scope: Scope, offered: list[str]) -> Credential:
        self._relayed = is_relayed(scope)
        self._client = scope["client"][0] if scope["client"] is not None else ""
        return await super().identify(scope, offered)

    async def _identify(self, token: str | None) -> Credential:
        self._token = token or ""
        return await super()._identify(token)

    async def run(self) -> None:
        try:
            await super().run()
        finally:
            for upstream in [*self._upstreams.values()]:
                upstream.close()

    # -- to other nodes ---------------------------------------------------------------------------
    def _serve(self, request: Request, raw: str | bytes) -> None:
        room = self._room_of(request)
        node = self._directory.holder(room) if room not in self.house.rooms else None
        if request.command == "subscribe" and request.args is not None and request.args.get("media"):
            self._close_media()
            self._media_node = node
        if node is None or node == self._directory.here:
            super()._serve(request, raw)
        elif node == MOVING or self._relayed:  # the other node may know an earlier state
            self._reply(request.id, request.room, away(room))
        else:
            self._send_on(node, request, raw)

    def _room_of(self, request: Request) -> str:
        room = self.credential.room or request.room
        if room is None and request.command == "unsubscribe" and not self._subscriptions:
            room = next((upstream.room for upstream in self._upstreams.values() if upstream.room), None)
        return room or HOUSE_RECORD

    def _send_on(self, node: str, request: Request, raw: str | bytes) -> None:
        upstream = self._upstreams.get(node)
        if upstream is None:
            upstream = self._upstreams[node] = Upstream(self, node)
            address = self._directory.socket_of(node)
            upstream.connecting = self._start(upstream.connect, self._dialer, address, self._token, self._client)
        if upstream.is_full:
            self._reply(request.id, request.room, Busy("many calls are pending on this connection; wait for a reply"))
            return
        if request.command == "subscribe":
            upstream.room = request.room
        upstream.send(request, raw.encode() if isinstance(raw, str) else raw)

    def _send_media(self, frame: bytes) -> None:
        upstream = self._upstreams.get(self._media_node or "")
        if upstream is None:
            super()._send_media(frame)
        elif not upstream.is_full:
            upstream.send_media(frame)

    # -- from other nodes -------------------------------------------------------------------------
    def received(self, upstream: "Upstream", frame: Frame) -> bool:
        """Write a frame to the client. Returns False if that is not possible now."""
        if frame.opcode is Opcode.BINARY:
            if upstream.node == self._media_node:
                self._deliver_media(bytes(frame.data))  # or dropped: nobody waits for a slow reader
            return True
        return self._deliver(bytes(frame.data))

    def catch_up(self, upstream: "Upstream") -> None:
        """Write the frames that had to wait, when the client has read some."""
        self._start(self._write_waiting, upstream)

    async def _write_waiting(self, upstream: "Upstream") -> None:
        while upstream.waiting and self.ending is None:
            if self._caught_up is not None:
                await self._caught_up.wait()
            elif self.received(upstream, upstream.waiting[0]):
                upstream.waiting.popleft()
        upstream.resume()

    def lost(self, upstream: "Upstream", code: int | None, reason: str) -> None:
        """The connection to another node has ended."""
        self._upstreams.pop(upstream.node, None)
        for request in upstream.unsent():
            self._reply(request.id, request.room, gone())
        if code is not None:
            self.end(ClosedByNode(code, reason))
        elif upstream.was_open:  # no error: a call that was sent may have been executed
            self.end(
                ClosedByNode(1012, "the process of this room has stopped; reconnect, and continue from your cursor")
            )

    async def close(self, reason: CohabitError) -> None:
        if not isinstance(reason, ClosedByNode):
            await super().close(reason)
            return
        try:
            await self._send({"type": "websocket.close", "code": reason.close_code, "reason": reason.message})
        except Exception:  # the client has disconnected first
            return


class Upstream(asyncio.Protocol):
    """A WebSocket to another node, for one client."""

    def __init__(self, owner: RoutingConnection, node: str) -> None:
        self.node = node
        self.room: str | None = None  # the room of the last subscription
        self.connecting: asyncio.Task[None] | None = None
        self.was_open = False
        self.waiting: deque[Frame] = deque()  # frames for a client that reads slowly
        self._owner = owner
        offered = [Subprotocol("cohabit"), Subprotocol(WATCHING)] if owner.watching else None
        # The other node limits its own messages.
        self._ws = ClientProtocol(ADDRESS, subprotocols=offered, max_size=None)
        self._transport: asyncio.Transport | None = None
        self._queue: deque[tuple[Request, bytes]] = deque()  # until it is open
        self._queued = 0
        self._over = False  # closed by us, or its end was told
        self._end: tuple[int | None, str] | None = None  # it has ended; told when nothing waits

    async def connect(self, dialer: Dialer, address: str, token: str, client: str) -> None:
        request = self._ws.connect()
        request.headers["Authorization"] = f"Bearer {token}"
        if client:
            request.headers["X-Forwarded-For"] = client
        self._ws.send_request(request)
        try:
            await dialer.connect(lambda: self, address)
        except OSError:
            self._ended(None, "")

    @property
    def is_full(self) -> bool:
        sent = self._transport.get_write_buffer_size() if self._transport is not None else 0
        return len(self._queue) >= MAX_PENDING_CALLS or self._queued + sent > MAX_PENDING_BYTES

    def send(self, request: Request, raw: bytes) -> None:
        if self.was_open:
            self._ws_send(self._ws.send_text, raw)
        else:
            self._queue.append((request, raw))
            self._queued += len(raw)

    def send_media(self, frame: bytes) -> None:
        if self.was_open:
            self._ws_send(self._ws.send_binary, frame)

    def unsent(self) -> list[Request]:
        """The requests that were never sent."""
        requests = [request for request, _ in self._queue]
        self._queue.clear()
        return requests

    def _ws_send(self, send: Any, data: bytes) -> None:
        try:
            send(data)
        except InvalidState:  # it is closing; `connection_lost` tells
            return
        self._flush()

    def _flush(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            for data in self._ws.data_to_send():
                if data:
                    self._transport.write(data)
                else:  # the end
                    self._transport.close()

    # -- the transport ----------------------------------------------------------------------------
    def connection_made(self, transport: Any) -> None:  # those of uvloop are not derived from asyncio's
        self._transport = transport
        if self._over:
            transport.abort()
        self._flush()

    def data_received(self, data: bytes) -> None:
        self._ws.receive_data(data)
        for event in self._ws.events_received():
            if not isinstance(event, Frame):
                self._opened()
            elif event.opcode in (Opcode.TEXT, Opcode.BINARY) and (
                self.waiting or not self._owner.received(self, event)
            ):
                self._wait(event)
        self._flush()

    def _opened(self) -> None:
        if self._ws.state is not State.OPEN:  # refused; the connection is closed
            return
        self.was_open, self._queued = True, 0
        while self._queue:
            self._ws.send_text(self._queue.popleft()[1])

    def _wait(self, frame: Frame) -> None:
        self.waiting.append(frame)
        if len(self.waiting) == 1:
            assert self._transport is not None
            self._transport.pause_reading()
            self._owner.catch_up(self)

    def resume(self) -> None:
        """Nothing waits any more."""
        if self._end is not None:
            self._ended(*self._end)
        elif self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        said = self._ws.close_rcvd
        self._end = (said.code, said.reason) if said is not None else (None, "")
        if not self.waiting:
            self._ended(*self._end)

    def _ended(self, code: int | None, reason: str) -> None:
        if not self._over:
            self._over = True
            self._owner.lost(self, code, reason)

    def close(self) -> None:
        """The client is gone."""
        self._over = True
        if self.connecting is not None:
            self.connecting.cancel()
        if self._transport is not None:
            self._transport.abort()
