"""A client of a house at an address, over WebSocket or HTTP. `Client` is what every kind of client can do."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any, Literal, Protocol

import msgspec

from cohabit.errors import CohabitError, Internal, Unreachable, by_code

Push = dict[str, Any]
POLL_MS = 20_000
"""How long a client without a stream waits for events in one request."""
MAX_UNREAD = 10_000
"""How many pushes a client keeps for a reader who does not read; after that its subscription ends."""


class Client(Protocol):
    """A caller of a house. Results are plain dicts and lists; refusals are raised."""

    async def call(
        self, command: str, args: Mapping[str, Any] | None = None, *, room: str | None = None, key: str | None = None
    ) -> Any:
        """Call a command. With a ``key`` it can be repeated safely if the reply was lost."""

    def subscribe(
        self, cursor: str | None = None, views: bool = True, *, room: str | None = None
    ) -> AsyncIterator[Push]:
        """What happens, as it happens; from ``cursor`` on (empty: from the beginning) if one is given."""


def connect_url(
    url: str, token: str, room: str | None = None, transport: Literal["ws", "http"] = "ws"
) -> AbstractAsyncContextManager[Client]:
    """A client of the house at this address."""
    return _http_client(url, token, room) if transport == "http" else _ws_client(url, token, room)


class Unread:
    """Pushes that wait to be read: events in order, and of the views only the newest."""

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
            self.end(Internal(f"{MAX_UNREAD} pushes were not read; subscribe again from your last cursor"))
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


# -- over a WebSocket ---------------------------------------------------------------------------
@asynccontextmanager
async def _ws_client(url: str, token: str, room: str | None) -> "AsyncIterator[WsClient]":
    from websockets.asyncio.client import connect as ws_connect
    from websockets.exceptions import WebSocketException

    address = url.rstrip("/").replace("http", "ws", 1) + "/ws"
    try:
        socket = await ws_connect(address, additional_headers=_credential(token), max_size=None)
    except (OSError, WebSocketException) as wrong:
        raise Unreachable(f"no house answers at {url}: {wrong}") from None
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
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._pushes: dict[str, Unread] = {}
        self._ended: CohabitError | None = None
        self._reader = asyncio.get_running_loop().create_task(self._read())

    async def call(
        self, command: str, args: Mapping[str, Any] | None = None, *, room: str | None = None, key: str | None = None
    ) -> Any:
        if self._ended is not None:
            raise self._ended
        number = next(self._ids)
        asked = {"id": number, "command": command, "args": dict(args or {}), "room": room or self._room, "key": key}
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            await self._socket.send(msgspec.json.encode(asked), text=True)
        except Exception as wrong:
            self._waiting.pop(number, None)
            if not answer.done():
                raise Unreachable(f"the connection broke: {wrong}") from None
        return await answer

    async def subscribe(
        self, cursor: str | None = None, views: bool = True, *, room: str | None = None
    ) -> AsyncIterator[Push]:
        unread = Unread()
        self._pushes[room or self._room or ""] = unread
        subscribed = await self.call("subscribe", {"cursor": cursor, "views": views}, room=room)
        self._pushes[subscribed["room"]] = unread
        try:
            async for push in unread:
                yield push
        finally:
            self._pushes = {name: other for name, other in self._pushes.items() if other is not unread}
            with suppress(CohabitError):  # the connection may have gone first
                await self.call("unsubscribe", room=subscribed["room"])

    async def _read(self) -> None:
        reason: CohabitError | None = None
        broke = "the house closed the connection"
        try:
            async for text in self._socket:
                frame = msgspec.json.decode(text)
                if "push" in frame:
                    unread = self._pushes.get(frame["room"]) or self._pushes.get("")
                    if unread is not None:
                        unread.put(frame)
                elif frame.get("id") is None:
                    reason = by_code(frame.get("error", {}))
                else:
                    self._settle(frame)
        except Exception as wrong:
            broke = f"the connection broke: {wrong}"
        finally:
            self._end(reason or Unreachable(broke))

    def _settle(self, frame: dict[str, Any]) -> None:
        answer = self._waiting.pop(frame["id"], None)
        if answer is None or answer.done():
            return
        if frame["ok"]:
            answer.set_result(frame["result"])
        else:
            answer.set_exception(by_code(frame["error"]))

    def _end(self, reason: CohabitError) -> None:
        self._ended = reason
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(reason)
        for unread in self._pushes.values():
            unread.end(reason)

    async def close(self) -> None:
        await self._socket.close()
        self._reader.cancel()


# -- over HTTP ----------------------------------------------------------------------------------
@asynccontextmanager
async def _http_client(url: str, token: str, room: str | None) -> "AsyncIterator[HttpClient]":
    import httpx2

    async with httpx2.AsyncClient(base_url=url.rstrip("/"), headers=_credential(token), timeout=60) as http:
        yield HttpClient(http, room)


class HttpClient:
    """One request per call; pushes by polling, with a long wait."""

    def __init__(self, http: Any, room: str | None) -> None:
        self._http = http
        self._room = room

    async def call(
        self, command: str, args: Mapping[str, Any] | None = None, *, room: str | None = None, key: str | None = None
    ) -> Any:
        import httpx2

        chosen = room or self._room
        path = f"/api/rooms/{chosen}/{command}" if chosen else f"/api/{command}"
        headers = {"idempotency-key": key} if key else {}
        try:
            reply = await self._http.post(path, content=msgspec.json.encode(dict(args or {})), headers=headers)
        except httpx2.HTTPError as wrong:
            raise Unreachable(f"no house answers: {wrong}") from None
        try:
            body = msgspec.json.decode(reply.content)
        except msgspec.MsgspecError:
            raise Internal(f"the answer is not JSON (status {reply.status_code})") from None
        if not body.get("ok"):
            raise by_code(body.get("error", {}))
        return body["result"]

    async def subscribe(
        self, cursor: str | None = None, views: bool = True, *, room: str | None = None
    ) -> AsyncIterator[Push]:
        if cursor is None:
            cursor = (await self.call("events", {"last": 1}, room=room))["cursor"]
        seen = None
        while True:
            if views:
                view = await self.call("view", room=room)
                if view != seen:
                    seen = view
                    yield {"push": "view", "room": room or self._room, "view": view}
            page = await self.call("events", {"cursor": cursor, "wait_ms": POLL_MS}, room=room)
            cursor = page["cursor"]
            if page["items"]:
                yield {"push": "events", "room": room or self._room, "cursor": cursor, "items": page["items"]}
