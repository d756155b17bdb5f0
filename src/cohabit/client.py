"""A client of a house at an address, over WebSocket or HTTP. `Client` is the interface that all clients share."""

import asyncio
import itertools
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any, Literal, Protocol

import msgspec

from cohabit.errors import Busy, CohabitError, Conflict, Internal, OutcomeUnknown, Unreachable, by_code

log = logging.getLogger("cohabit")

Push = dict[str, Any]
Lane = Literal["audio", "screen"]
LANES: tuple[Lane, ...] = ("audio", "screen")
"""The lanes of media, in the order of their numbers on the wire, from 1."""
POLL_MS = 20_000
"""Long-poll timeout of the HTTP client."""
MAX_UNREAD = 10_000
"""The number of unread pushes that a client buffers. If there are more, the subscription ends with BUSY."""


class ConnectionLost(OutcomeUnknown):
    """The connection was lost after a call was sent, so the call may have been executed."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"{reason}. The call was sent and may have been executed; "
            "check before you repeat it, or repeat it with the same idempotency key"
        )


class Client(Protocol):
    """A connection to a house as one caller. Results are plain dicts and lists; refusals are raised."""

    @property
    def ended(self) -> bool:
        """True if the connection has ended. If so, every call is refused."""

    async def call(
        self, command: str, args: Mapping[str, Any] | None = None, *, room: str | None = None, key: str | None = None
    ) -> Any:
        """Call a command. With a ``key`` it can be repeated safely if the reply was lost."""

    def subscribe(
        self, cursor: str | None = None, views: bool = True, *, room: str | None = None
    ) -> AsyncGenerator[Push, None]:
        """Events and views as they happen, starting at ``cursor`` if given (empty: from the beginning)."""


def connect_url(
    url: str, token: str, room: str | None = None, transport: Literal["ws", "http"] = "ws"
) -> AbstractAsyncContextManager[Client]:
    """A client of the house at this address."""
    return _http_client(url, token, room) if transport == "http" else _ws_client(url, token, room)


class Unread:
    """Buffered pushes: all events in order, but only the newest view."""

    def __init__(self) -> None:
        self._pushes: dict[int, Push] = {}
        self._next = 0
        self._view: int | None = None
        self._ended: CohabitError | None = None
        self._wake = asyncio.Event()

    def put(self, push: Push) -> None:
        if self._ended is not None:
            return
        if push["push"] == "view":
            if self._view is not None:
                self._pushes.pop(self._view, None)
            self._view = self._next
        elif len(self._pushes) >= MAX_UNREAD:
            self.end(Busy(f"the reader fell {MAX_UNREAD} pushes behind; subscribe again from your last cursor"))
            return
        self._pushes[self._next] = push
        self._next += 1
        self._wake.set()

    def end(self, reason: CohabitError) -> None:
        self._ended = self._ended or reason
        self._wake.set()

    async def __aiter__(self) -> AsyncIterator[Push]:
        while True:
            while self._pushes:
                number = next(iter(self._pushes))
                yield self._pushes.pop(number)
            if self._ended is not None:
                raise self._ended
            self._wake.clear()
            await self._wake.wait()


def _credential(token: str) -> dict[str, str]:
    """The header that authenticates a request. Without a token there is none, and the house refuses it."""
    return {"authorization": f"Bearer {token}"} if token else {}


def _result(reply: Any) -> Any:
    """The result in a reply. A refusal is raised."""
    try:
        if reply["ok"]:
            return reply["result"]
        refusal = by_code(reply["error"])
    except (LookupError, TypeError, ValueError):
        raise Internal("the house sent a malformed reply") from None
    raise refusal


# -- over a WebSocket ---------------------------------------------------------------------------
@asynccontextmanager
async def _ws_client(url: str, token: str, room: str | None) -> "AsyncIterator[WsClient]":
    from websockets.asyncio.client import connect as ws_connect
    from websockets.exceptions import WebSocketException

    address = url.rstrip("/").replace("http", "ws", 1) + "/ws"
    try:
        socket = await ws_connect(address, additional_headers=_credential(token), max_size=None)
    except (OSError, WebSocketException) as wrong:
        raise Unreachable(f"cannot connect to {url}: {wrong}") from None
    client = WsClient(socket, room)
    try:
        yield client
    finally:
        await client.close()


class WsClient:
    """Calls and pushes over one WebSocket."""

    def __init__(self, socket: Any, room: str | None) -> None:
        self._socket = socket
        self._room = room
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}  # each gets a reply, or the error that ended the connection
        self._subscribing: dict[int, Unread] = {}  # by the number of the call
        self._pushes: dict[str, Unread] = {}  # by room
        # The house knows subscriptions by their room, so an ``unsubscribe`` must not follow the next ``subscribe``.
        self._one_at_a_time = asyncio.Lock()
        self._ended: CohabitError | None = None
        self.on_media: Callable[[str, bytes, str], None] | None = None  # gets each frame: lane, payload, sender
        self._reader = asyncio.get_running_loop().create_task(self._read())

    @property
    def ended(self) -> bool:
        return self._ended is not None

    async def call(
        self, command: str, args: Mapping[str, Any] | None = None, *, room: str | None = None, key: str | None = None
    ) -> Any:
        return await self._call(next(self._ids), command, args, room, key)

    async def _call(
        self, number: int, command: str, args: Mapping[str, Any] | None, room: str | None, key: str | None = None
    ) -> Any:
        if self._ended is not None:
            raise self._ended
        frame = {"id": number, "command": command, "args": dict(args or {}), "room": room or self._room, "key": key}
        encoded = msgspec.json.encode(frame)
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            try:
                await self._socket.send(encoded, text=True)
            except Exception as closed:  # the reader ends all calls; it may yet read why the house closed
                log.debug("a call on a closed connection: %s", closed)
            reply = await answer
        finally:
            del self._waiting[number]
        if isinstance(reply, CohabitError):
            raise reply
        return _result(reply)

    async def send_media(self, lane: Lane, payload: bytes) -> None:
        """Send a frame of sound or of a screen to the room that was subscribed with ``media``."""
        try:
            await self._socket.send(bytes([1 + LANES.index(lane)]) + payload)
        except Exception as wrong:
            raise Unreachable(f"the connection was lost: {wrong}") from None

    async def subscribe(
        self, cursor: str | None = None, views: bool = True, *, room: str | None = None, media: bool = False
    ) -> AsyncGenerator[Push, None]:
        """``media``: frames of sound and of screens go to ``on_media``. If you subscribe to a room again, the earlier
        subscription ends with CONFLICT."""
        unread = Unread()
        begun = asyncio.ensure_future(self._begin(unread, {"cursor": cursor, "views": views, "media": media}, room))
        try:
            await asyncio.shield(begun)
            async for push in unread:
                yield push
        finally:
            await asyncio.gather(begun, return_exceptions=True)  # if we are cancelled, the house subscribes us anyway
            async with self._one_at_a_time:
                for name, reader in [*self._pushes.items()]:
                    if reader is unread:
                        del self._pushes[name]
                        with suppress(CohabitError):  # the connection may already be closed
                            await self.call("unsubscribe", room=name)

    async def _begin(self, unread: Unread, args: dict[str, Any], room: str | None) -> None:
        """Subscribe to a room. Its pushes go to ``unread``."""
        async with self._one_at_a_time:
            number = next(self._ids)
            self._subscribing[number] = unread
            try:
                await self._call(number, "subscribe", args, room)
                if number in self._subscribing:
                    raise Internal("the house sent a malformed reply")
            finally:
                self._subscribing.pop(number, None)

    def _register_if_subscribing(self, number: int, reply: Any) -> None:
        """If this is the reply to a ``subscribe``, register the reader of its pushes: they may be the next frames."""
        match reply:
            case {"ok": True, "result": {"room": str(room)}} if number in self._subscribing:
                if room in self._pushes:
                    self._pushes[room].end(Conflict("another subscription to this room has replaced this one"))
                self._pushes[room] = self._subscribing.pop(number)

    async def _read(self) -> None:
        from websockets.exceptions import ConnectionClosed

        reason: CohabitError | None = None  # an error without an id, if only the close follows it
        lost = "the house closed the connection"
        try:
            async for text in self._socket:
                reason = None
                if isinstance(text, bytes):
                    self._media(text)
                    continue
                frame = msgspec.json.decode(text)
                if "push" in frame:
                    unread = self._pushes.get(frame["room"])
                    if unread is not None:
                        unread.put(frame)
                elif frame.get("id") is None:
                    reason = by_code(frame.get("error", {}))
                else:
                    self._register_if_subscribing(frame["id"], frame)
                    self._answer(frame["id"], frame)
        except Exception as wrong:
            lost = f"the connection was lost: {wrong}"
            if not isinstance(wrong, ConnectionClosed) or wrong.rcvd is None:  # lost, not closed by the house
                reason = None
        finally:
            self._end(reason, lost)

    def _media(self, frame: bytes) -> None:
        """Lane, length of the handle (2 bytes), handle, payload."""
        end = 3 + int.from_bytes(frame[1:3], "big")
        if self.on_media is not None and 0 < frame[0] <= len(LANES):
            self.on_media(LANES[frame[0] - 1], frame[end:], frame[3:end].decode())

    def _answer(self, number: int, reply: dict[str, Any] | CohabitError) -> None:
        answer = self._waiting.get(number)
        if answer is not None and not answer.done():
            answer.set_result(reply)

    def _end(self, reason: CohabitError | None, lost: str) -> None:
        """``reason``: the error with which the house ended the connection, if it sent one."""
        if self._ended is not None:
            return
        self._ended = reason or Unreachable(lost)
        for number in self._waiting:
            self._answer(number, reason or ConnectionLost(lost))
        for unread in self._pushes.values():
            unread.end(self._ended)

    async def close(self) -> None:
        try:
            await self._socket.close()
        finally:
            self._reader.cancel()
            self._end(None, "this client was closed")  # a reader that never started ends nothing


# -- over HTTP ----------------------------------------------------------------------------------
@asynccontextmanager
async def _http_client(url: str, token: str, room: str | None) -> "AsyncIterator[HttpClient]":
    import httpx2

    async with httpx2.AsyncClient(base_url=url.rstrip("/"), headers=_credential(token), timeout=60) as http:
        yield HttpClient(http, room)


class HttpClient:
    """One request per call; pushes by long polling."""

    ended = False

    def __init__(self, http: Any, room: str | None) -> None:
        self._http = http
        self._room = room

    async def call(
        self, command: str, args: Mapping[str, Any] | None = None, *, room: str | None = None, key: str | None = None
    ) -> Any:
        import httpx2

        not_sent = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.UnsupportedProtocol)
        chosen = room or self._room
        path = f"/api/rooms/{chosen}/{command}" if chosen else f"/api/{command}"
        headers = {"idempotency-key": key} if key else {}
        try:
            reply = await self._http.post(path, content=msgspec.json.encode(dict(args or {})), headers=headers)
        except not_sent as wrong:
            raise Unreachable(f"cannot connect to {self._http.base_url}: {wrong}") from None
        except httpx2.HTTPError as wrong:
            raise ConnectionLost(f"no reply from {self._http.base_url}: {str(wrong) or type(wrong).__name__}") from None
        try:
            body = msgspec.json.decode(reply.content)
        except msgspec.MsgspecError:
            raise Internal(f"the response is not JSON (status {reply.status_code})") from None
        return _result(body)

    async def subscribe(
        self, cursor: str | None = None, views: bool = True, *, room: str | None = None
    ) -> AsyncGenerator[Push, None]:
        if cursor is None:
            cursor = (await self.call("events", {"last": 1}, room=room))["cursor"]
        seen = None
        while True:
            if views:
                view = await self.call("view", room=room)
                if view != seen:
                    seen = view
                    yield {"push": "view", "room": room or self._room, "view": view}
            page = await self.call("events", {"cursor": cursor, "wait_ms": POLL_MS, "own": True}, room=room)
            cursor = page["cursor"]
            if page["items"]:
                yield {"push": "events", "room": room or self._room, "cursor": cursor, "items": page["items"]}
