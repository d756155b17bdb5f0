"""A faster path for WebSocket messages that bypasses ASGI's queue.

ASGI passes each message to a task through a queue and sends each frame with a coroutine. For small messages that
costs as much as serving them. Here a connection can handle a message synchronously when it arrives, and write one
synchronously. Everything unusual takes the normal path through the parser of ``websockets`` and through ASGI. Order is
preserved.
"""

from collections.abc import Callable
from struct import pack
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import apply_mask  # type: ignore[attr-defined]  # C implementation if available
from websockets.http11 import Request
from websockets.protocol import State

EXTENSION = "cohabit.direct"
"""Key in ``scope['extensions']`` of the connection's protocol."""

# A frame (RFC 6455): FIN and opcode | MASKED and length | more length, if it is 126 or 127 | mask | payload
FIN, CONTROL, TEXT = 0x80, 0x08, 0x81
MASKED = 0x80
MORE_LENGTH = {126: 2, 127: 8}
LONGEST_HEAD = 2 + 8 + 4


class DirectProtocol(WebSocketsSansIOProtocol):
    """uvicorn's WebSocket protocol, with ``take`` and ``write``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.take: Callable[[bytes], bool] | None = None  # set by the app; returns whether it handled the text message
        self._app_waits = False  # in ``receive``
        self._rest = bytearray()  # an incomplete frame
        self._in_parts = False  # a fragmented message is in progress

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if self.response.status_code == 101:
            self.scope["extensions"][EXTENSION] = {"protocol": self}

    # -- in ---------------------------------------------------------------------------------------
    def data_received(self, data: bytes) -> None:
        """Split the input into frames, so the parser always gets complete frames."""
        if not self.handshake_initiated:
            super().data_received(data)
        elif not self._rest and _frame_size(data) == len(data):
            self._frame_received(data)
        else:
            self._rest += data
            while (size := _frame_size(self._rest)) <= len(self._rest) and self.conn.parser_exc is None:
                frame = bytes(self._rest[:size])
                del self._rest[:size]
                self._frame_received(frame)
            if size > self.config.ws_max_size + LONGEST_HEAD:  # too large: let the parser reject it
                super().data_received(bytes(self._rest))
                self._rest.clear()

    def _frame_received(self, frame: bytes) -> None:
        if frame[0] == TEXT and frame[1] & MASKED and self._is_next() and self.take and self.take(_payload(frame)):
            return
        if not frame[0] & CONTROL:
            self._in_parts = not frame[0] & FIN
        super().data_received(frame)

    def _is_next(self) -> bool:
        """Whether the app is waiting for exactly this message. Preserves order, including the queued disconnect."""
        return self._app_waits and self.queue.empty() and not self._in_parts

    async def receive(self) -> Any:
        self._app_waits = True
        try:
            return await super().receive()
        finally:
            self._app_waits = False

    # -- out --------------------------------------------------------------------------------------
    def write(self, text: bytes) -> bool:
        """Send a text message synchronously. Returns False if the buffer is full or the connection is closed; then use
        ``send``."""
        if not self.writable.is_set() or self.conn.state is not State.OPEN or self.transport.is_closing():
            return False
        size = len(text)
        if size < 126:
            head = pack("!BB", TEXT, size)
        elif size < 1 << 16:
            head = pack("!BBH", TEXT, 126, size)
        else:
            head = pack("!BBQ", TEXT, 127, size)
        self.transport.write(head + text)
        return True


def _frame_size(data: bytes | bytearray) -> int:
    """The size of the first frame in ``data``, or a size larger than ``data`` if more bytes are needed."""
    if len(data) < 2:
        return 2
    size = data[1] & ~MASKED
    end = 2 + (4 if data[1] & MASKED else 0)
    if size in MORE_LENGTH:
        more = MORE_LENGTH[size]
        if len(data) < 2 + more:
            return 2 + more
        end += more
        size = int.from_bytes(data[2 : 2 + more], "big")
    return end + size


def _payload(frame: bytes) -> bytes:
    """The payload of a complete, masked frame."""
    at = 6 + MORE_LENGTH.get(frame[1] & ~MASKED, 0)
    unmasked: bytes = apply_mask(frame[at:], frame[at - 4 : at])
    return unmasked
