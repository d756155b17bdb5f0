"""A faster path for WebSocket messages that bypasses ASGI's queue.

ASGI passes each message to a task through a queue and sends each frame with a coroutine. For small messages that
costs as much as serving them. Here a connection can handle a message synchronously when it arrives, and write one
synchronously. Everything unusual takes the normal path through the parser of ``websockets`` and through ASGI. Order is
preserved.

Connections take turns: one that sends much gets a few frames handled per iteration of the event loop, and not more than
its rate allows. Meanwhile nothing more is read from it.
"""

from asyncio import BaseTransport, Event, Future, Handle, get_running_loop
from collections.abc import Callable
from struct import Struct
from typing import Any

from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import apply_mask  # type: ignore[attr-defined]  # C implementation if available
from websockets.http11 import Request
from websockets.protocol import State

from cohabit.faces.addresses import plain_client
from cohabit.faces.connections import Connections
from cohabit.house.clock import Timer

EXTENSION = "cohabit.direct"
"""Key in ``scope['extensions']`` of the connection's protocol."""

# A frame (RFC 6455): FIN and opcode | MASKED and length | more length, if it is 126 or 127 | mask | payload
FIN, CONTROL, TEXT, BINARY = 0x80, 0x08, 0x81, 0x82
MASKED = 0x80
MORE_LENGTH = {126: 2, 127: 8}
LONGEST_HEAD = 2 + 8 + 4
_short_head, _medium_head, _long_head = Struct("!BB").pack, Struct("!BBH").pack, Struct("!BBQ").pack
FRAMES_PER_TURN = 16
"""Frames that are handled before other connections get their turn."""
UNIT_BITS = 12
"""Every 4 KiB of a frame count as one more frame."""


REFUSED = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
"""The answer to an upgrade that the parser does not even refuse."""


class Queue:
    """``asyncio.Queue`` for one reader. That one keeps three deques, 2.4 KiB for each connection."""

    __slots__ = ("_reader", "items")

    def __init__(self) -> None:
        self.items: list[Any] = []  # a few at most: while there is one, nothing is read
        self._reader: Future[None] | None = None  # it waits

    def empty(self) -> bool:
        return not self.items

    def put_nowait(self, item: Any) -> None:
        self.items.append(item)
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)

    async def get(self) -> Any:
        while not self.items:
            self._reader = get_running_loop().create_future()
            try:
                await self._reader
            finally:
                self._reader = None
        return self.items.pop(0)


class Writable:
    """``asyncio.Event`` that keeps nothing while it is set, which is almost always."""

    __slots__ = ("_event",)

    def __init__(self) -> None:
        self._event: Event | None = None

    def is_set(self) -> bool:
        return self._event is None

    def set(self) -> None:
        if self._event is not None:
            self._event.set()
            self._event = None

    def clear(self) -> None:
        if self._event is None:
            self._event = Event()

    async def wait(self) -> None:
        if self._event is not None:
            await self._event.wait()


class DirectProtocol(WebSocketsSansIOProtocol):
    """uvicorn's WebSocket protocol, with ``take`` and ``write``."""

    # In Python the attributes of an object with more than 30 are slow, and take 1.5 KiB. So ours are slots, and those
    # of uvicorn's that each message needs, and enough others.
    __slots__ = (
        "_app_waits", "_frames_left", "_holding", "_in_parts", "_planned", "_rest", "_second_began",
        "_table", "close_sent", "conn", "disconnected", "handshake_complete", "handshake_initiated", "is_full",
        "queue", "read_paused", "request", "response", "scope", "take", "transport", "writable",
    )  # fmt: skip

    queue: Queue  # type: ignore[assignment]  # in place of asyncio's, as is the next
    writable: Writable  # type: ignore[assignment]
    _held = b""  # a frame that is sent with the next one; most connections never have one

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.queue = Queue()
        self.writable = Writable()
        self.take: Callable[[bytes], bool] | None = None  # set by the app; returns whether it handled the text message
        self._app_waits = False  # in ``receive``
        self._rest = bytearray()  # frames for the next turn, and an incomplete frame
        self._holding = False  # complete frames wait for their turn, so nothing is read
        self._planned: Handle | Timer | None = None  # the next turn
        self._table: Connections | None = getattr(self.config, "connections", None)
        self._frames_left = self._table.settings.frames_per_second if self._table is not None else 0
        self._second_began = self._table.clock.now() if self._table is not None else 0
        self._in_parts = False  # a fragmented message is in progress
        self.is_full = False  # the client reads too slowly; the opposite of ``writable``, and quicker to read

    def connection_made(self, transport: BaseTransport) -> None:
        super().connection_made(transport)
        self.client = plain_client(self.client)

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if self.response.status_code == 101:
            self.scope["extensions"][EXTENSION] = {"protocol": self}

    def start_keepalive(self) -> None:
        """The handshake is complete. Its request and response, 4 KiB, are not needed any more."""
        super().start_keepalive()
        self.request.headers.clear()  # the parser keeps the request itself
        del self.request, self.response

    def connection_lost(self, exc: Exception | None) -> None:
        if self._planned is not None:
            self._planned.cancel()
        self._rest.clear()
        if self._table is not None:
            self._table.remove(self.transport)
        super().connection_lost(exc)

    def _refuse_handshake(self) -> None:
        if self._table is not None:
            self._table.overload.add("malformed", self.client[0] if self.client is not None else "")
        self.transport.write(b"".join(self.conn.data_to_send()) or REFUSED)
        self.transport.close()

    def handle_parser_exception(self) -> None:
        if self.conn.close_sent is None:  # the app has not accepted it yet, so there is nobody to say goodbye to
            self._refuse_handshake()
        else:
            super().handle_parser_exception()

    # -- in ---------------------------------------------------------------------------------------
    def data_received(self, data: bytes) -> None:
        """Split the input into frames, so the parser always gets complete frames."""
        if not self.handshake_initiated:
            super().data_received(data)
            if not self.handshake_initiated:  # a complete head, which the parser of HTTP takes and this one does not
                self._refuse_handshake()
        elif not self._rest and self._frames_left > 0 and _frame_size(data) == len(data) and not self.is_full:
            self._frames_left -= 1 + (len(data) >> UNIT_BITS)
            self._frame_received(data)
        else:
            self._rest += data
            if self._holding:
                self._hold()
            else:
                self._take_turn()

    def _take_turn(self) -> None:
        """Handle the next frames."""
        self._planned, left = None, FRAMES_PER_TURN
        while (size := _frame_size(self._rest)) <= len(self._rest) and self.conn.parser_exc is None:
            if not self._may_handle(left):
                self._hold()
                return
            frame = bytes(self._rest[:size])
            del self._rest[:size]
            cost = 1 + (size >> UNIT_BITS)
            left -= cost
            self._frames_left -= cost
            self._frame_received(frame)
        if size > self.config.ws_max_size + LONGEST_HEAD:  # too large: let the parser reject it
            super().data_received(bytes(self._rest))
            self._rest.clear()
        if self._holding:
            self._holding = False
            if not self.read_paused and not self.transport.is_closing():
                self.transport.resume_reading()

    def _may_handle(self, left: int) -> bool:
        """True if another frame may be handled in this turn. If not, the next turn is planned."""
        if self.is_full:  # no answers, not even to pings, before the client has read some
            return False  # ``resume_writing`` continues
        if left <= 0:
            if not self.read_paused:  # else ``receive`` continues
                self._planned = self.loop.call_soon(self._take_turn)
            return False
        return self._frames_left > 0 or self._next_second()

    def _hold(self) -> None:
        """Read nothing while complete frames wait."""
        self._holding = True
        if not self.transport.is_closing():
            self.transport.pause_reading()

    def _next_second(self) -> bool:
        """Start a new second of the frame rate. If the current one is not over, continue when it is."""
        if self._table is None:
            self._frames_left = 1 << 30
            return True
        now = self._table.clock.now()
        if now - self._second_began >= 1000:
            self._second_began = now
            self._frames_left = self._table.settings.frames_per_second
            return True
        self._table.overload.add("frames", self.client[0] if self.client is not None else "")
        self._planned = self._table.clock.call_at(self._second_began + 1000, self._take_turn)
        return False

    def _continue(self) -> None:
        """Take a turn soon, if frames wait and none is planned."""
        if self._holding and self._planned is None:
            self._planned = self.loop.call_soon(self._take_turn)

    def pause_writing(self) -> None:
        super().pause_writing()
        self.is_full = True

    def resume_writing(self) -> None:
        super().resume_writing()
        self.is_full = False
        self._continue()

    def _frame_received(self, frame: bytes) -> None:
        # The app must be waiting for exactly this message. That preserves order, also of the queued disconnect.
        is_next = self._app_waits and not self._in_parts and not self.queue.items
        if is_next and frame[0] == TEXT and frame[1] & MASKED and self.take and self.take(_payload(frame)):
            return
        if not frame[0] & CONTROL:
            self._in_parts = not frame[0] & FIN
        super().data_received(frame)

    async def receive(self) -> Any:
        self._app_waits = True
        try:
            message = await super().receive()
        finally:
            self._app_waits = False
        if self._holding:
            self._hold()  # uvicorn reads again once the app has taken its messages
            if not self.read_paused:
                self._continue()
        return message

    # -- out --------------------------------------------------------------------------------------
    def write(self, data: bytes, opcode: int = TEXT) -> bool:
        """Send a message synchronously: text, or bytes with the opcode ``BINARY``. Returns False if the buffer is full
        or the connection is closed; then use ``send``."""
        transport = self.transport
        if self.is_full or self.conn.state is not State.OPEN or transport.is_closing():
            return False
        if opcode != TEXT:
            frame = _framed(data, opcode)
        else:
            frame = _newest.frame if data is _newest.text else _newest.set(data)
        if self._held:
            frame, self._held = self._held + frame, b""
        transport.write(frame)
        return True

    def write_with_next(self, data: bytes) -> bool:
        """The same for a text that another one follows at once, such as the event of a call and its reply. They are
        sent together, because a system call takes longer than everything else here; at the latest in the next iteration
        of the event loop."""
        if self._held or self.is_full or self.conn.state is not State.OPEN or self.transport.is_closing():
            return self.write(data)
        self._held = _newest.frame if data is _newest.text else _newest.set(data)
        self.loop.call_soon(self.write_held)
        return True

    def write_held(self) -> None:
        held, self._held = self._held, b""
        if held and self.conn.state is State.OPEN and not self.transport.is_closing():
            self.transport.write(held)

    async def send(self, message: Any) -> None:
        if not self.handshake_complete and self.transport.is_closing():
            raise ClientDisconnected  # before it was accepted; uvicorn takes that for an error of the app
        self.write_held()
        await super().send(message)

    def shutdown(self) -> None:
        self.write_held()
        super().shutdown()


class Newest:
    """The newest text that was sent, and its frame. A text for many clients is framed once; they share the bytes."""

    __slots__ = ("frame", "text")

    def __init__(self) -> None:
        self.text: bytes | None = None
        self.frame = b""

    def set(self, text: bytes) -> bytes:
        self.text, self.frame = text, _framed(text, TEXT)
        return self.frame


_newest = Newest()


def _framed(data: bytes, opcode: int) -> bytes:
    size = len(data)
    if size < 126:
        head = _short_head(opcode, size)
    elif size < 1 << 16:
        head = _medium_head(opcode, 126, size)
    else:
        head = _long_head(opcode, 127, size)
    return head + data


def _frame_size(data: bytes | bytearray) -> int:
    """The size of the first frame in ``data``, or a size larger than ``data`` if more bytes are needed."""
    if len(data) < 2:
        return 2
    size = data[1] & ~MASKED
    end = 6 if data[1] & MASKED else 2
    if size >= 126:
        more = MORE_LENGTH[size]
        if len(data) < 2 + more:
            return 2 + more
        end += more
        size = int.from_bytes(data[2 : 2 + more], "big")
    return end + size


def _payload(frame: bytes) -> bytes:
    """The payload of a complete, masked frame."""
    size = frame[1] & ~MASKED
    at = 6 if size < 126 else 6 + MORE_LENGTH[size]
    unmasked: bytes = apply_mask(frame[at:], frame[at - 4 : at])
    return unmasked
