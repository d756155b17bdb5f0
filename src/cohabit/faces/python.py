"""The Python face: ``connect`` to a house in this process, or to one at an address. The same client either way.

async with connect("http://127.0.0.1:8724", token) as me:
    print((await me.call("view"))["text"])
    await me.call("take", {"n": 2})
"""

import asyncio
import itertools
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, Literal, Protocol

import msgspec

from cohabit.errors import CohabitError, Internal, Unreachable, by_code
from cohabit.house.commands import backlog
from cohabit.house.context import HouseContext
from cohabit.house.house import HOUSE_COMMANDS, House
from cohabit.house.store import Credential
from cohabit.room.views import unseal

Push = dict[str, Any]


class Client(Protocol):
    """Somebody's hand in a house. Results are plain dicts and lists; refusals are raised."""

    async def call(
        self, command: str, args: Mapping[str, Any] | None = None, *, room: str | None = None, key: str | None = None
    ) -> Any:
        """Ask for a command. With a ``key`` it can be asked again safely if the answer was lost."""

    def subscribe(
        self, cursor: str | None = None, views: bool = True, *, room: str | None = None
    ) -> AsyncIterator[Push]:
        """What happens, as it happens; from ``cursor`` on (empty: from the beginning) if one is given."""


@asynccontextmanager
async def connect(
    target: "House | str", token: str, room: str | None = None, transport: Literal["ws", "http"] = "ws"
) -> AsyncIterator[Client]:
    """A client of a house: the House itself, or its address."""
    if isinstance(target, House):
        yield HouseClient(target, target.identify(token), room)
    elif transport == "http":
        async with _http_client(target, token, room) as client:
            yield client
    else:
        async with _ws_client(target, token, room) as client:
            yield client


class HouseClient:
    """In process: the reference that the other faces are held against."""

    def __init__(self, house: House, credential: Credential, room: str | None = None) -> None:
        self.house = house
        self.credential = credential
        self.room = room

    async def call(
        self, command: str, args: Mapping[str, Any] | None = None, *, room: str | None = None, key: str | None = None
    ) -> Any:
        result = await self.house.call(self.credential, room or self.room, command, dict(args or {}), key=key)
        return msgspec.to_builtins(result)

    async def subscribe(
        self, cursor: str | None = None, views: bool = True, *, room: str | None = None
    ) -> AsyncIterator[Push]:
        host = self.house.room_for(self.credential, room or self.room)
        context = HouseContext(self.house, self.credential, host)
        context.require(HOUSE_COMMANDS.named("events"))
        state = host.room.state
        after = unseal(state.secret, cursor, host.room.record.seq) if cursor is not None else None
        queue = QueueSink()
        sub, head = host.subscribe(self.credential.who, queue, views, self.credential)
        try:
            if after is not None:
                async for reached, items in backlog(context, after, head):
                    yield {"push": "events", "room": state.id, "cursor": reached, "items": msgspec.to_builtins(items)}
            if views:
                await host.first_view(sub)
            host.release(sub)
            async for push in queue:
                yield push
        finally:
            host.unsubscribe(queue)


class QueueSink:
    """Pushes, waiting to be read."""

    def __init__(self) -> None:
        self._frames: asyncio.Queue[bytes | CohabitError] = asyncio.Queue()

    def events(self, frame: bytes) -> None:
        self._frames.put_nowait(frame)

    def view(self, frame: bytes) -> None:
        self._frames.put_nowait(frame)

    def end(self, reason: CohabitError) -> None:
        self._frames.put_nowait(reason)

    async def __aiter__(self) -> AsyncIterator[Push]:
        while True:
            frame = await self._frames.get()
            if isinstance(frame, CohabitError):
                raise frame
            yield msgspec.json.decode(frame)


# -- over a WebSocket ---------------------------------------------------------------------------
@asynccontextmanager
async def _ws_client(url: str, token: str, room: str | None) -> "AsyncIterator[WsClient]":
    from websockets.asyncio.client import connect as ws_connect
    from websockets.exceptions import WebSocketException

    address = url.rstrip("/").replace("http", "ws", 1) + "/ws"
    try:
        socket = await ws_connect(address, additional_headers={"authorization": f"Bearer {token}"}, max_size=None)
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
        self._pushes: dict[str, QueueSink] = {}
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
        queue = QueueSink()
        self._pushes[room or self._room or ""] = queue
        subscribed = await self.call("subscribe", {"cursor": cursor, "views": views}, room=room)
        self._pushes[subscribed["room"]] = queue
        try:
            async for push in queue:
                yield push
        finally:
            self._pushes = {name: other for name, other in self._pushes.items() if other is not queue}
            with suppress(CohabitError):  # the connection may have gone first
                await self.call("unsubscribe", room=subscribed["room"])

    async def _read(self) -> None:
        reason: CohabitError | None = None
        broke = "the house hung up"
        try:
            async for text in self._socket:
                frame = msgspec.json.decode(text)
                if "push" in frame:
                    queue = self._pushes.get(frame["room"]) or self._pushes.get("")
                    if queue is not None:
                        queue.events(text)
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
        for queue in self._pushes.values():
            queue.end(reason)

    async def close(self) -> None:
        await self._socket.close()
        self._reader.cancel()


# -- over HTTP ----------------------------------------------------------------------------------
@asynccontextmanager
async def _http_client(url: str, token: str, room: str | None) -> "AsyncIterator[HttpClient]":
    import httpx2

    async with httpx2.AsyncClient(
        base_url=url.rstrip("/"), headers={"authorization": f"Bearer {token}"}, timeout=60
    ) as http:
        yield HttpClient(http, room)


class HttpClient:
    """One request per call; pushes by asking again and again, with a long wait."""

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
            page = await self.call("events", {"cursor": cursor, "wait_ms": 20_000}, room=room)
            cursor = page["cursor"]
            if page["items"]:
                yield {"push": "events", "room": room or self._room, "cursor": cursor, "items": page["items"]}
