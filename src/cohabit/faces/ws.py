"""The WebSocket face: calls, and pushes of what happens.

A client sends ``{"id", "command", "args", "room"?, "key"?}`` and gets ``{"id", "ok", "result" | "error"}``.
After ``subscribe`` it is also sent ``{"push": "events", …}``, lossless and in order from its cursor, and
``{"push": "view", …}``, always the latest. Who reads too slowly skips old views; who falls too far behind
with events is cut off and resumes from its cursor.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Coroutine, Generator
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import Struct
from starlette.types import Receive, Scope, Send

from cohabit.errors import BadArgs, Busy, CohabitError, Internal, TooLarge, Unauthorized
from cohabit.faces.direct import EXTENSION, DirectProtocol
from cohabit.faces.guard import bearer
from cohabit.house.commands import backlog
from cohabit.house.context import HouseContext
from cohabit.house.house import HOUSE_COMMANDS, House
from cohabit.house.store import Credential
from cohabit.room import common
from cohabit.room.commands import declared_in
from cohabit.room.views import unseal

log = logging.getLogger("cohabit")
TASKS_AT_ONCE = 32
AUTH_MS = 10_000
CLOSE = {"UNAUTHORIZED": 4401, "BUSY": 4408, "DISABLED": 1012, "QUARANTINED": 1011, "TOO_LARGE": 1009}


class Asked(Struct):
    """One frame from a client."""

    command: str = ""
    id: int | str | None = None
    args: dict[str, Any] | None = None
    room: str | None = None
    key: str | None = None
    auth: str | None = None


_decode = msgspec.json.Decoder(Asked).decode
_encoder = msgspec.json.Encoder()


_TO_BE_AWAITED = frozenset(
    {"subscribe", "unsubscribe", *(c.name for c in HOUSE_COMMANDS), *(c.name for c in declared_in(common) if c.waits)}
)
"""Commands of this face and of the house, and those that may wait."""
_WAITING_UNASKED = frozenset(c.name for c in declared_in(common) if c.waits and c.check({}).get("wait_ms"))


class WsFace:
    """An ASGI app for WebSockets at ``/ws``."""

    def __init__(self, house: House) -> None:
        self.house = house
        self._held: dict[tuple[str, str | None], int] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] != "/ws":
            await send({"type": "websocket.close", "code": 4404, "reason": "connect to /ws"})
            return
        await receive()
        direct = scope.get("extensions", {}).get(EXTENSION)
        connection = Connection(self.house, receive, send, direct["protocol"] if direct else None)
        offered = scope.get("subprotocols", [])
        await send({"type": "websocket.accept", "subprotocol": "cohabit" if "cohabit" in offered else None})
        try:
            credential = await connection.identify(scope, offered)
            key = (credential.who, credential.room)
            if self._held.get(key, 0) >= self.house.settings.connections_per_member:
                raise Busy(f"{credential.who} holds {self._held[key]} connections already; close one first")
            self._held[key] = self._held.get(key, 0) + 1
            try:
                await connection.run(credential)
            finally:
                self._held[key] -= 1
                if not self._held[key]:
                    del self._held[key]
        except CohabitError as refusal:
            await connection.close(refusal)
        except Gone:
            pass
        except Exception:
            log.exception("a WebSocket broke")
            await connection.close(Internal("a bug of ours; it was logged"))


class Gone(Exception):
    """The client went away."""


class Connection:
    """One WebSocket: reads calls, answers them, and writes out what is pushed."""

    def __init__(self, house: House, receive: Receive, send: Send, direct: DirectProtocol | None = None) -> None:
        self.house = house
        self._receive = receive
        self._send = send
        self._direct = direct
        self._sinks: dict[str, RoomSink] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._events: deque[bytes] = deque()
        self._views: dict[str, bytes] = {}
        self._stuck: Started | None = None
        self._behind = False  # the client does not read as fast as we write
        self._wake = asyncio.Event()
        self.ending: CohabitError | None = None

    # -- who is it --------------------------------------------------------------------------------
    async def identify(self, scope: Scope, offered: list[str]) -> Credential:
        """By header, by the subprotocol ``bearer.TOKEN`` (browsers), or by a first frame ``{"auth": token}``."""
        headers = {k.decode("latin-1"): v.decode("latin-1") for k, v in scope["headers"]}
        token = bearer(headers) or next((p.removeprefix("bearer.") for p in offered if p.startswith("bearer.")), None)
        if token is not None:
            return self.house.identify(token)
        waiting = asyncio.ensure_future(self._read())
        clock = self.house.clock
        late = clock.call_at(clock.now() + AUTH_MS, lambda: _cancel(waiting))
        try:
            asked = await waiting
        except asyncio.CancelledError:
            raise Unauthorized('no credential came; the first frame must be {"auth": TOKEN}') from None
        finally:
            late.cancel()
        credential = self.house.identify(asked.auth)
        await self._text(_encoder.encode({"id": asked.id, "ok": True, "result": {"who": credential.who}}))
        return credential

    # -- the loop ---------------------------------------------------------------------------------
    async def run(self, credential: Credential) -> None:
        self.credential = credential
        writer = asyncio.get_running_loop().create_task(_unless_gone(self._catch_up()))
        if self._direct is not None:
            self._direct.take = self._take
        try:
            while True:
                try:
                    asked = await self._read()
                except BadArgs as wrong:
                    await self._answer(None, wrong)
                    continue
                if asked.command in _TO_BE_AWAITED or self._behind:
                    if (asked.args or {}).get("wait_ms", asked.command in _WAITING_UNASKED):
                        self._later(self._serve(asked), asked)
                    else:
                        await self._serve(asked)
                else:
                    self._begin(asked)
                if self.ending is not None:
                    raise self.ending
        except Gone:
            pass
        finally:
            if self._direct is not None:
                self._direct.take = None
            for room, sink in self._sinks.items():
                host = self.house.rooms.get(room)
                if host is not None:
                    host.unsubscribe(sink)
            for task in (writer, *self._tasks):
                task.cancel()

    async def _read(self) -> Asked:
        message = await self._receive()
        if message["type"] == "websocket.disconnect":
            raise Gone
        raw = message.get("text") or message.get("bytes") or ""
        if len(raw) > self.house.settings.frame_limit:
            raise TooLarge(f"a frame may have {self.house.settings.frame_limit} bytes")
        try:
            return _decode(raw)
        except (ValueError, RecursionError) as wrong:  # msgspec's own, bytes that are no UTF-8, too deep
            raise BadArgs(f'{wrong}; send {{"id": 1, "command": name, "args": {{…}}}}') from None

    def _take(self, raw: bytes) -> bool:
        """A message as it arrives. What has to be awaited, or cannot be read, is left to the loop above."""
        if self._behind:
            return False
        try:
            asked = _decode(raw.decode())
        except (ValueError, RecursionError):
            return False
        if asked.command in _TO_BE_AWAITED:
            return False
        try:
            self._begin(asked)
        except Exception:
            log.exception("a WebSocket broke")
            self.end(Internal("a bug of ours; it was logged"))
        return True

    def _begin(self, asked: Asked) -> None:
        """The quick way for calls of a room: no task waits, the answer is written when it may leave."""
        try:
            call = self.house.begin(self.credential, asked.room, asked.command, asked.args, asked.key)
        except CohabitError as refusal:
            self.house.refused(refusal)
            self._reply(asked.id, refusal, None)
            return
        if call.done:
            self._reply(asked.id, call.error, call.result)
        else:
            call.then = lambda call: self._reply(asked.id, call.error, call.result)

    def _reply(self, number: int | str | None, error: BaseException | None, result: Any) -> None:
        if isinstance(error, CohabitError):
            frame = _encoder.encode({"id": number, "ok": False, "error": error.as_wire()})
        else:
            frame = _encoder.encode({"id": number, "ok": True, "result": result})
        if not self._behind:
            self._write(frame)
        else:
            self._out(frame)

    def _later(self, work: Coroutine[Any, Any, None], asked: Asked) -> None:
        if len(self._tasks) >= TASKS_AT_ONCE:
            work.close()
            work = self._answer(asked, Busy(f"{TASKS_AT_ONCE} calls of this connection are waiting already"))
        task = asyncio.get_running_loop().create_task(_unless_gone(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, asked: Asked) -> None:
        try:
            if asked.command == "subscribe":
                await self._subscribe(asked)
                return
            if asked.command == "unsubscribe":
                result: Any = self._unsubscribe(asked)
            else:
                result = await self.house.call(self.credential, asked.room, asked.command, asked.args, key=asked.key)
        except CohabitError as refusal:
            await self._answer(asked, refusal)
            return
        await self._text(_encoder.encode({"id": asked.id, "ok": True, "result": result}))

    async def _answer(self, asked: Asked | None, refusal: CohabitError) -> None:
        frame = {"id": asked.id if asked else None, "ok": False, "error": refusal.as_wire()}
        await self._text(_encoder.encode(frame))

    async def _text(self, frame: bytes) -> None:
        try:
            await self._send({"type": "websocket.send", "text": frame.decode()})
        except OSError:  # what an ASGI server raises when nobody is there any more
            raise Gone from None

    # -- pushes -----------------------------------------------------------------------------------
    async def _subscribe(self, asked: Asked) -> None:
        try:
            args = msgspec.convert(asked.args or {}, SubscribeArgs)
        except msgspec.ValidationError as wrong:
            raise BadArgs(f"subscribe: {wrong}; it takes cursor and views") from None
        host = self.house.room_for(self.credential, asked.room)
        context = HouseContext(self.house, self.credential, host)
        context.require(HOUSE_COMMANDS.named("events"))
        room = host.room.id
        old = self._sinks.pop(room, None)
        if old is not None:
            host.unsubscribe(old)
        secret = host.room.state.secret
        after = unseal(secret, args.cursor, host.room.record.seq) if args.cursor is not None else None
        sink = self._sinks[room] = RoomSink(self, room)
        sub, head = host.subscribe(self.credential.who, sink, args.views, self.credential)
        pages = backlog(context, after, head) if after is not None else None
        try:
            page = await anext(pages, None) if pages is not None else None
        except CohabitError:
            host.unsubscribe(self._sinks.pop(room))
            raise
        await self._text(_encoder.encode({"id": asked.id, "ok": True, "result": {"room": room}}))
        while page is not None and pages is not None:
            push = {"push": "events", "room": room, "cursor": page[0], "items": page[1]}
            await self._text(_encoder.encode(push))
            page = await anext(pages, None)
        if args.views:
            await host.first_view(sub)
        host.release(sub)

    def _unsubscribe(self, asked: Asked) -> dict[str, Any]:
        host = self.house.room_for(self.credential, asked.room)
        sink = self._sinks.pop(host.room.id, None)
        if sink is not None:
            host.unsubscribe(sink)
        return {"room": host.room.id}

    def push_event(self, frame: bytes) -> None:
        if self.credential.revoked:
            self.end(Unauthorized("this token was revoked"))
        else:
            self._out(frame)

    def _out(self, frame: bytes) -> None:
        """Something that must not be lost: written at once, or queued for who reads slowly."""
        if self.ending is not None:  # after a gap nothing may follow: its cursor would leap over it
            return
        if not self._behind:
            self._write(frame)
        elif len(self._events) < self.house.settings.outbox_limit:
            self._events.append(frame)
        else:
            self.end(Busy("you read too slowly; connect again and subscribe from your last cursor"))

    def push_view(self, room: str, frame: bytes) -> None:
        if not self._behind:
            self._write(frame)
        else:
            self._views[room] = frame

    def _write(self, frame: bytes) -> None:
        """Write straight out, as nearly always works; only what has to wait is left to the writer's task."""
        if self._direct is not None and self._direct.write(frame):
            return
        sending = self._send({"type": "websocket.send", "text": frame.decode()})
        try:
            first = sending.send(None)  # type: ignore[attr-defined]  # an ASGI send is a coroutine
        except StopIteration:
            return
        except Exception as gone:  # the reader will notice too
            log.debug("pushing to a WebSocket: %s", gone)
            return
        self._behind = True
        self._stuck = Started(sending, first)
        self._wake.set()

    async def _catch_up(self) -> None:
        """The writer's task: for whom we could not write straight out."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            if self._stuck is not None:
                await self._stuck
                self._stuck = None
            while self._events or self._views:
                while self._events:
                    await self._text(self._events.popleft())
                views, self._views = self._views, {}
                for frame in views.values():
                    await self._text(frame)
            self._behind = False
            if self.ending is not None:
                await self.close(self.ending)
                return

    def end(self, reason: CohabitError) -> None:
        self.ending = reason
        self._behind = True
        self._events.clear()
        self._wake.set()

    async def close(self, reason: CohabitError) -> None:
        """Say why, and hang up."""
        try:
            await self._answer(None, reason)
            code = CLOSE.get(reason.code, 4400)
            await self._send({"type": "websocket.close", "code": code, "reason": reason.message[:100]})
        except Exception as gone:  # the client may have gone first
            log.debug("closing a WebSocket: %s", gone)


def _cancel(waiting: "asyncio.Future[Any]") -> None:
    waiting.cancel()


async def _unless_gone(work: Coroutine[Any, Any, None]) -> None:
    """The reader of the connection notices too, and ends it."""
    with suppress(Gone):
        await work


class SubscribeArgs(Struct, forbid_unknown_fields=True):
    cursor: str | None = None
    views: bool = True


class RoomSink:
    """Where one room's pushes for one connection go."""

    def __init__(self, connection: Connection, room: str) -> None:
        self._connection = connection
        self._room = room
        self.events = connection.push_event
        self.end = connection.end

    def view(self, frame: bytes) -> None:
        self._connection.push_view(self._room, frame)


class Started:
    """The rest of a coroutine that has been driven to its first pause."""

    def __init__(self, coroutine: Any, waiting_for: Any) -> None:
        self._coroutine = coroutine
        self._waiting_for = waiting_for

    def __await__(self) -> Generator[Any, Any, None]:
        waiting_for = self._waiting_for
        try:
            while True:
                try:
                    yield waiting_for
                except BaseException as thrown:
                    waiting_for = self._coroutine.throw(thrown)
                else:
                    waiting_for = self._coroutine.send(None)
        except StopIteration:
            return
