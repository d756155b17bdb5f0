"""HTTP requests to another node, streamed both ways, over connections that are kept for a while.

The general clients take ten times as long: for a small request that is more than to answer it.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final

import httptools

from cohabit.faces.workers.dialing import Dialer

KEEP_S: Final = 3.0
"""The time that an idle connection is kept: less than uvicorn's 5 s, so that none is used when it closes."""
MAX_IDLE: Final = 64
MAX_BUFFERED: Final = 256 * 1024
"""The bytes of a response that may wait for its reader."""
Headers = Sequence[tuple[bytes, bytes]]


class NodeGone(Exception):
    """There is no connection to the other node, so nothing was sent."""


class NodeLost(Exception):
    """The connection has ended after something was sent."""


class Exchange(asyncio.Protocol):
    """A connection to another node, and the request that is under way on it."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: list[tuple[bytes, bytes]] = []
        self.idle_since = 0.0
        self._transport: Any = None  # those of uvloop are not derived from asyncio's
        self._parser: Any = None
        self._parts: deque[bytes] = deque()
        self._buffered = 0
        self._has_head = self._is_complete = self._keeps_alive = self._is_sent = self.is_lost = False
        self._is_head_request = False
        self._changed = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()

    # -- use --------------------------------------------------------------------------------------
    def begin(self, method: str, target: bytes, headers: Headers) -> None:
        """Send the head of a request. ``headers`` say how its body is framed; call `sent` after the body."""
        self.status, self.headers, self._parser = 0, [], httptools.HttpResponseParser(self)
        self._has_head = self._is_complete = self._keeps_alive = self._is_sent = False
        self._is_head_request = method == "HEAD"
        lines = [name + b": " + value + b"\r\n" for name, value in headers]
        self._transport.write(b"".join([method.encode(), b" ", target, b" HTTP/1.1\r\n", *lines, b"\r\n"]))

    async def write(self, data: bytes) -> None:
        """Send a part of the body."""
        await self._writable.wait()
        if not self.is_lost:
            self._transport.write(data)

    def sent(self) -> None:
        """The request was sent to its end. If not, the other node would take the next one for the rest of its body."""
        self._is_sent = True

    async def head(self) -> None:
        """Wait for the status and the headers."""
        await self._until_head()
        if not self._has_head:
            raise NodeLost

    async def _until_head(self) -> None:
        while not self._has_head and not self.is_lost:
            self._changed.clear()
            await self._changed.wait()

    async def parts(self) -> AsyncIterator[tuple[bytes, bool]]:
        """The body, in parts as they arrive, each with whether more follows."""
        while True:
            if self._parts:
                data = b"".join(self._parts)
                self._parts.clear()
                if self._buffered > MAX_BUFFERED and not self.is_lost:
                    self._transport.resume_reading()
                self._buffered = 0
                yield data, not self._is_complete
            if self._is_complete and not self._parts:
                yield b"", False
                return
            if self.is_lost and not self._parts:
                raise NodeLost
            self._changed.clear()
            if not (self._parts or self._is_complete or self.is_lost):
                await self._changed.wait()

    @property
    def is_reusable(self) -> bool:
        complete = self._is_sent and self._is_complete
        return complete and self._keeps_alive and not self.is_lost and not self._transport.is_closing()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    # -- the transport ----------------------------------------------------------------------------
    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, AttributeError):  # not what a node sends
            self._transport.abort()
        self._changed.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_lost = True
        self._changed.set()
        self._writable.set()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    # -- the parser -------------------------------------------------------------------------------
    def on_message_begin(self) -> None:
        if self._is_complete:  # nobody has asked for a second response
            raise ValueError("more than one response")

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        self.status, self._has_head = self._parser.get_status_code(), True
        self._is_complete = self._is_head_request  # the parser waits for a body that does not come

    def on_body(self, body: bytes) -> None:
        self._parts.append(body)
        before, self._buffered = self._buffered, self._buffered + len(body)
        if before <= MAX_BUFFERED < self._buffered:
            self._transport.pause_reading()

    def on_message_complete(self) -> None:
        self._is_complete, self._keeps_alive = True, self._parser.should_keep_alive() and not self._is_head_request


class Pool:
    """Connections to the node with this address."""

    def __init__(self, dialer: Dialer, address: str) -> None:
        self._dialer = dialer
        self._address = address
        self._idle: list[Exchange] = []
        self._closed = False

    async def take(self) -> Exchange:
        """A connection on which nothing is under way. NodeGone if there is none."""
        loop = asyncio.get_running_loop()
        while self._idle:
            known = self._idle.pop()
            if not known.is_lost and loop.time() - known.idle_since < KEEP_S:
                return known
            known.abort()
        try:
            return await self._dialer.connect(Exchange, self._address)
        except OSError:
            raise NodeGone from None

    def give_back(self, used: Exchange) -> None:
        """It is kept if its response is complete, else closed."""
        if not used.is_reusable or self._closed or len(self._idle) >= MAX_IDLE:
            used.abort()
            return
        used.idle_since = asyncio.get_running_loop().time()
        self._idle.append(used)

    def close(self) -> None:
        self._closed = True
        for known in self._idle:
            known.abort()
        self._idle.clear()
