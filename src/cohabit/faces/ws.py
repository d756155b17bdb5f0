"""The WebSocket interface: calls, and pushes of events and views.

A client sends ``{"id", "command", "args", "room"?, "key"?}`` and gets ``{"id", "ok", "result" | "error"}``.
After ``subscribe`` it also gets ``{"push": "events", …}``, lossless and in order from its cursor, and
``{"push": "view", …}``, always the latest. A slow reader skips old views; one that falls too far behind
with events is disconnected and resumes from its cursor. A binary frame that begins with 1 (audio) or 2 (screen) is
media, for the room that was subscribed with ``media``.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct
from starlette.types import Receive, Scope, Send

from cohabit.declare import object_schema
from cohabit.errors import BadArgs, Busy, CohabitError, TooLarge, Unauthorized, internal_error
from cohabit.faces.direct import BINARY, EXTENSION, DirectProtocol
from cohabit.faces.guard import bearer
from cohabit.faces.unfinished import Unfinished
from cohabit.house.calls.door import drop
from cohabit.house.house import House
from cohabit.house.running.calls import Call
from cohabit.house.store.identities import WATCH_LINK
from cohabit.house.streams.media import MediaReader, is_media
from cohabit.house.streams.subscriptions import Subscription
from cohabit.model.identity import Credential
from cohabit.model.validation_errors import in_words

log = logging.getLogger("cohabit")
MAX_PENDING_CALLS = 256
"""Maximum pending calls per connection."""
MAX_PENDING_BYTES = 4 * 1024 * 1024
"""Maximum size of the pending calls of a connection."""
AUTH_MS = 10_000
WATCHING = "watching"
"""The subprotocol of a page: until it acts, its member leaves the seat to the agent that plays it."""
CLOSE = {"UNAUTHORIZED": 4401, "BUSY": 4408, "DISABLED": 1012, "QUARANTINED": 1011, "TOO_LARGE": 1009}


class Request(Struct):
    """One frame from a client."""

    command: str = ""
    id: int | str | None = None
    args: dict[str, Any] | None = None
    room: str | None = None
    key: str | None = None
    auth: str | None = None


class CallId(Struct):
    """The only field that is read from a frame that is not a valid ``Request``."""

    id: int | str | None = None


class BadFrame(BadArgs):
    """A frame that cannot be decoded. ``call_id``: its id, if that can be read."""

    call_id: int | str | None = None


class SubscribeArgs(Struct, forbid_unknown_fields=True):
    cursor: str | None = None
    views: bool = True
    media: bool = False


_decode = msgspec.json.Decoder(Request).decode
_decode_id = msgspec.json.Decoder(CallId).decode
_encode = msgspec.json.Encoder().encode


def reply_frame(number: int | str | None, error: BaseException | None, result: Any) -> bytes:
    if error is None:
        return _encode({"id": number, "ok": True, "result": result})
    told = error if isinstance(error, CohabitError) else internal_error(error, "a WebSocket")
    return _encode({"id": number, "ok": False, "error": told.as_wire()})


def into_frame(number: int | str | None, call: Call) -> int:
    """Make the result of a call its reply."""
    if call.error is None:
        call.result = frame = _encode({"id": number, "ok": True, "result": call.result})
    else:
        call.result = frame = reply_frame(number, call.error, None)
    return len(frame)


class WsFace:
    """An ASGI app for WebSockets at ``/ws``."""

    def __init__(self, house: House, connect: "Callable[..., Connection] | None" = None) -> None:
        self.house = house
        self._connect = connect or Connection
        self._open: dict[bytes, int] = {}  # connections, by token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] != "/ws":
            await send({"type": "websocket.close", "code": 4404, "reason": "connect to /ws"})
            return
        await receive()
        direct = scope.get("extensions", {}).get(EXTENSION)
        connection = self._connect(self.house, receive, send, direct["protocol"] if direct else None)
        offered = scope.get("subprotocols", [])
        await send({"type": "websocket.accept", "subprotocol": "cohabit" if "cohabit" in offered else None})
        try:
            connection.credential = await connection.identify(scope, offered)
            scope["headers"] = []  # the server keeps the scope as long as the connection, and they are 1 KiB
            await self._run(connection, connection.credential)
        except CohabitError as refusal:
            await connection.close(refusal)
        except Gone:
            pass
        except Exception as bug:
            await connection.close(internal_error(bug, "a WebSocket"))

    async def _run(self, connection: "Connection", credential: Credential) -> None:
        key, settings = credential.counted_as, self.house.settings
        limit = settings.watchers_limit if credential.label == WATCH_LINK else settings.connections_per_member
        if self._open.get(key, 0) >= limit:
            self.house.overload.add("token")
            raise Busy(f"this token already has {limit} connections; close one first")
        self._open[key] = self._open.get(key, 0) + 1
        try:
            await connection.run()
        finally:
            self._open[key] -= 1
            if not self._open[key]:
                del self._open[key]


class Gone(Exception):
    """The client has disconnected."""


class Connection:
    """One WebSocket: reads calls, sends replies, and forwards its subscriptions.

    Most connections are idle and read in time. What only the others need is made when they need it: tasks, queues and
    events are most of the memory of a connection."""

    __slots__ = (
        "_behind", "_caught_up", "_direct", "_ends_in", "_media", "_pending", "_pending_bytes", "_receive", "_replies",
        "_reply_bytes", "_send", "_subscriptions", "_tasks", "_unfinished", "_write_now", "_writing", "credential",
        "ending", "house", "watching",
    )  # fmt: skip

    def __init__(self, house: House, receive: Receive, send: Send, direct: DirectProtocol | None = None) -> None:
        self.house = house
        self._receive = receive
        self._send = send
        self._direct = direct
        self._write_now = direct.write if direct is not None else None
        self._subscriptions: dict[str, tuple[Subscription, asyncio.Task[None] | None]] = {}  # and what forwards it
        self._tasks: set[asyncio.Task[None]] = set()
        self._pending: dict[Call, int] = {}  # calls without a reply, and the sizes of their frames
        self._pending_bytes = 0
        self._replies: deque[bytes] | None = None  # for a client that reads more slowly than we write
        self._reply_bytes = 0
        self._unfinished: Unfinished | None = None
        self._media: MediaReader | None = None
        self._behind = False
        self._caught_up: asyncio.Event | None = None  # set when it is no longer behind
        self._writing = False  # ``_write_replies`` runs
        self.ending: CohabitError | None = None
        self._ends_in: str | None = None  # the room whose subscription has ended
        self.credential: Credential
        self.watching = False

    # -- authentication --------------------------------------------------------------------------
    async def identify(self, scope: Scope, offered: list[str]) -> Credential:
        """By header, by the subprotocol ``bearer.TOKEN`` (browsers), or by a first frame ``{"auth": token}``."""
        self.watching = WATCHING in offered
        headers = {k.decode("latin-1"): v.decode("latin-1") for k, v in scope["headers"]}
        token = bearer(headers) or next((p.removeprefix("bearer.") for p in offered if p.startswith("bearer.")), None)
        if token is not None:
            return await self._identify(token)
        waiting = asyncio.ensure_future(self._read())
        clock = self.house.clock
        late = clock.call_at(clock.now() + AUTH_MS, lambda: _cancel(waiting))
        try:
            request, _ = await waiting
        except asyncio.CancelledError:
            raise Unauthorized('missing token: the first frame must be {"auth": "TOKEN"}') from None
        finally:
            late.cancel()
        credential = await self._identify(request.auth)
        frame = _encode({"id": request.id, "ok": True, "result": {"authenticated": True}})
        self.house.door.sends(credential, None, "protocol", len(frame))
        await self._text(frame)
        return credential

    async def _identify(self, token: str | None) -> Credential:
        await self.house.sign_in(token)
        return self.house.identify(token)

    # -- calls ------------------------------------------------------------------------------------
    async def run(self) -> None:
        stop = self.house.identities.until_invalid(self.house.clock, self.credential, self._credential_invalid)
        if self._direct is not None:
            self._direct.take = self._take
        try:
            while True:
                try:
                    request, raw = await self._read()
                except BadArgs as wrong:
                    self._reply(wrong.call_id if isinstance(wrong, BadFrame) else None, None, wrong)
                    continue
                if self.ending is None:
                    self._serve(request, raw)
                if self._caught_up is not None:  # backpressure: stop reading from a client that does not read
                    await self._caught_up.wait()
                if self.ending is not None and not self._answers_first(self.ending):
                    raise self.ending
        except Gone:
            pass
        finally:
            stop()
            if self._direct is not None:
                self._direct.take = None
            for subscription, _ in self._subscriptions.values():
                subscription.close()
            self._close_media()
            for call in self._pending:
                call.then = None
                drop(call)
            for task in tuple(self._tasks):
                task.cancel()

    async def _read(self) -> tuple[Request, str | bytes]:
        """The next request, and its frame. Media frames before it are relayed."""
        while True:
            message = await self._receive()
            if message["type"] == "websocket.disconnect":
                raise Gone
            raw = message.get("text") or message.get("bytes") or ""
            if not is_media(raw):
                break
            self._send_media(message["bytes"])
        if len(raw) > self.house.settings.frame_limit:
            raise TooLarge(f"a frame may have at most {self.house.settings.frame_limit} bytes")
        try:
            return _decode(raw), raw
        except (ValueError, RecursionError) as wrong:  # malformed, not UTF-8, or nested too deeply
            bad = BadFrame(f'{wrong}; send {{"id": 1, "command": name, "args": {{…}}}}')
            with suppress(ValueError, RecursionError):
                bad.call_id = _decode_id(raw).id
            raise bad from None

    def _take(self, raw: bytes) -> bool:
        """Handle a message on arrival. Malformed ones are left to ``run``."""
        if self._behind:
            return False
        try:
            request = _decode(raw.decode())
        except (ValueError, RecursionError):
            return False
        try:
            self._serve(request, raw)
        except Exception as bug:
            self.end(internal_error(bug, "a WebSocket"))
        return True

    def _serve(self, request: Request, raw: str | bytes) -> None:
        """Start the call of a frame, without waiting. The reply is written when it may be sent."""
        if request.command == "subscribe":
            self._start(self._subscribe, request)
            return
        if request.command == "unsubscribe":
            self._unsubscribe(request)
            return
        size = len(raw)
        if len(self._pending) >= MAX_PENDING_CALLS:
            full = Busy(f"{MAX_PENDING_CALLS} calls are already pending on this connection; wait for a reply")
            self._reply(request.id, request.room, full)
            return
        if self._pending_bytes + size > MAX_PENDING_BYTES:
            full = Busy(f"{self._pending_bytes} bytes of calls are pending on this connection; wait for a reply")
            self._reply(request.id, request.room, full)
            return
        try:
            call = self.house.door.begin(
                self.credential,
                request.room,
                request.command,
                request.args,
                request.key,
                partial(into_frame, request.id),
                self.watching,
            )
        except CohabitError as refusal:
            self._write_reply(reply_frame(request.id, refusal, None))  # it was counted
            return
        if call.done:
            self._write_reply(call.result)
        else:
            self._pending[call] = size
            self._pending_bytes += size
            call.then = self._settled

    def _settled(self, call: Call) -> None:
        self._pending_bytes -= self._pending.pop(call, 0)
        self._write_reply(call.result)

    def _reply(self, number: int | str | None, room: str | None, error: CohabitError | None) -> None:
        """Reply to what is not a call of a command."""
        frame = reply_frame(number, error, {"room": room})
        self.house.door.sends(self.credential, room, "protocol" if error is None else "refusals", len(frame))
        self._write_reply(frame)

    def _write_reply(self, frame: bytes) -> None:
        if not self._behind and ((self._write_now is not None and self._write_now(frame)) or self._write(frame)):
            return
        if self._replies is None:
            self._replies = deque()
        self._replies.append(frame)
        self._reply_bytes += len(frame)
        self._write_later()
        if self._reply_bytes > self.house.settings.outbox_bytes:
            self._replies.clear()
            if self.ending is None:
                self.house.overload.add("reader")
                self.end(Busy("connection closed: the client does not read its replies"))

    # -- subscriptions ----------------------------------------------------------------------------
    async def _subscribe(self, request: Request) -> None:
        try:
            args = msgspec.convert(request.args or {}, SubscribeArgs)
            subscription = await self.house.subscribe(
                self.credential,
                request.room,
                args.cursor,
                views=args.views,
                deliver=self._deliver,
                watching=self.watching,
            )
            await subscription.prepare()
        except msgspec.ValidationError as wrong:
            words = in_words(wrong, request.args, object_schema(SubscribeArgs))
            self._reply(request.id, request.room, BadArgs(f"subscribe: {words}"))
            return
        except CohabitError as refusal:
            self._reply(request.id, request.room, refusal)
            return
        room = subscription.room
        self._drop(room)
        self._reply(request.id, room, None)
        self._subscriptions[room] = subscription, self._start(self._forward, subscription)
        if args.media:
            self._close_media()
            self._media = MediaReader(subscription.source, subscription.member, self.credential, self._deliver_media)

    async def _forward(self, subscription: Subscription) -> None:
        """Forward frames from a subscription until none is left. Then it delivers them directly."""
        try:
            while (frame := await subscription.take()) is not None:
                await self._text(frame)
        except BaseException as wrong:
            subscription.close()
            if not isinstance(wrong, CohabitError):
                raise
            self.end(wrong, subscription.room)
            return
        if not subscription.closed:
            self._subscriptions[subscription.room] = subscription, None
            subscription.park(partial(self._forward_again, subscription))

    def _forward_again(self, subscription: Subscription) -> None:
        if not subscription.closed:
            self._subscriptions[subscription.room] = subscription, self._start(self._forward, subscription)

    def _unsubscribe(self, request: Request) -> None:
        room = request.room or self.credential.room or next(iter(self._subscriptions), None)
        if room is not None:
            self._drop(room)
        self._reply(request.id, room, None)

    def _drop(self, room: str) -> None:
        known = self._subscriptions.pop(room, None)
        if self._media is not None and self._media.room == room:
            self._close_media()
        if known is not None:
            known[0].close()
            if known[1] is not None:
                known[1].cancel()

    def _deliver(self, frame: bytes) -> bool:
        if self._behind:  # also when the connection ends
            return False
        direct = self._direct
        if direct is None:
            return self._write(frame)
        # With a call pending, this may be what it has caused, and its reply is next.
        return (direct.write_with_next(frame) if self._pending else direct.write(frame)) or self._write(frame)

    # -- media ------------------------------------------------------------------------------------
    def _send_media(self, frame: bytes) -> None:
        if self._media is None:
            raise BadArgs("to send sound or a screen, subscribe to a room with media first")
        refusal = self._media.send(frame)
        if refusal is not None:
            told = _encode({"push": "refused", "room": self._media.room, "error": refusal.as_wire()})
            if self._deliver(told):
                self.house.door.sends(self.credential, self._media.room, "refusals", len(told))

    def _deliver_media(self, frame: bytes) -> bool:
        if self._behind:
            return False
        return self._direct.write(frame, BINARY) if self._direct is not None else self._write(frame, binary=True)

    def _close_media(self) -> None:
        if self._media is not None:
            self._media.close()
            self._media = None

    # -- writing ----------------------------------------------------------------------------------
    def _write(self, frame: bytes, *, binary: bool = False) -> bool:
        """Write synchronously if possible; otherwise ``_write_replies`` finishes it."""
        if not binary and self._write_now is not None and self._write_now(frame):
            return True
        message = {"bytes": frame} if binary else {"text": frame.decode()}
        sending = self._send({"type": "websocket.send", **message})
        try:
            first = sending.send(None)  # type: ignore[attr-defined]  # an ASGI send is a coroutine
        except StopIteration:
            return True
        except Exception as gone:  # the read loop ends the connection
            log.debug("writing to a WebSocket: %s", gone)
            return True
        self._behind, self._caught_up = True, asyncio.Event()
        self._unfinished = Unfinished(sending, first)
        self._write_later()
        return True

    def _write_later(self) -> None:
        if not self._writing:
            self._writing = True
            self._start(self._write_replies)

    async def _write_replies(self) -> None:
        """Send what could not be written synchronously."""
        if self._unfinished is not None:
            await self._unfinished
            self._unfinished = None
        while self._replies:
            frame = self._replies.popleft()
            self._reply_bytes -= len(frame)
            await self._text(frame)
        if self.ending is not None:
            if self._answers_first(self.ending):  # `_settled` goes on
                self._writing = False
            else:
                await self.close(self.ending)
            return
        self._writing = self._behind = False
        if self._caught_up is not None:
            self._caught_up.set()
            self._caught_up = None

    async def _text(self, frame: bytes) -> None:
        try:
            await self._send({"type": "websocket.send", "text": frame.decode()})
        except OSError:  # ASGI servers raise this when the client has disconnected
            raise Gone from None

    # -- the end ----------------------------------------------------------------------------------
    def _credential_invalid(self) -> None:
        try:
            self.house.identities.check(self.credential, self.house.clock.now())
        except CohabitError as reason:
            self.end(reason)

    def end(self, reason: CohabitError, room: str | None = None) -> None:
        """Tell the client why, and disconnect."""
        if self.ending is None:
            self.ending, self._ends_in = reason, room
            if self._direct is not None:
                self._direct.write_held()  # it was delivered before the reason, such as a revocation, which is now told
            self._behind = True
            if self._caught_up is not None:
                self._caught_up.set()
                self._caught_up = None
            self._write_later()

    def _answers_first(self, reason: CohabitError) -> bool:
        """True if a call that changes something has no reply yet. It is answered although the token of its caller has
        ended, perhaps by that call."""
        return isinstance(reason, Unauthorized) and any(call.reply.records for call in self._pending)

    async def close(self, reason: CohabitError) -> None:
        try:
            frame = _encode({"id": None, "ok": False, "error": reason.as_wire()})
            await self._text(frame)
            if hasattr(self, "credential"):  # it has identified itself
                self.house.door.sends(self.credential, self._ends_in, "refusals", len(frame))
            code = CLOSE.get(reason.code, 4400)
            await self._send({"type": "websocket.close", "code": code, "reason": reason.message[:100]})
        except Exception as gone:  # the client may have disconnected first
            log.debug("closing a WebSocket: %s", gone)

    def _start(self, work: Callable[..., Coroutine[Any, Any, None]], *args: Any) -> "asyncio.Task[None]":
        task = asyncio.get_running_loop().create_task(_unless_gone(work, *args))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _cancel(waiting: "asyncio.Future[Any]") -> None:
    waiting.cancel()


async def _unless_gone(work: Callable[..., Coroutine[Any, Any, None]], *args: Any) -> None:
    """Ignore Gone: the read loop ends the connection. Takes the function, not its coroutine: a task that is cancelled
    before its first step runs neither."""
    with suppress(Gone):
        await work(*args)
