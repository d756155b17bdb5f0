"""A shorter way for WebSocket messages than ASGI's, for the face that wants it.

ASGI hands every message over through a queue to a task, and every frame that is sent is a coroutine. For small
messages that costs as much as serving them. Here a connection may take a message in the moment it arrives, and
write one at once. Whatever is out of the ordinary goes the ordinary way: through the parser of ``websockets``, and
through ASGI. The order is kept.
"""

from collections.abc import Callable
from struct import pack
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import apply_mask  # type: ignore[attr-defined]  # written in C, where that was built
from websockets.http11 import Request
from websockets.protocol import State

EXTENSION = "cohabit.direct"
"""Where in the extensions of its scope an app finds the protocol of its connection."""

# A frame, as RFC 6455 has it: FIN and opcode | MASKED and length | more length, if it is 126 or 127 | mask | payload
FIN, CONTROL, TEXT = 0x80, 0x08, 0x81
MASKED = 0x80
MORE_LENGTH = {126: 2, 127: 8}
LONGEST_HEAD = 2 + 8 + 4


class DirectProtocol(WebSocketsSansIOProtocol):
    """uvicorn's WebSocket protocol, with ``take`` and ``write``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.take: Callable[[bytes], bool] | None = None  # set by the app: did it take this text message?
        self._app_waits = False  # in ``receive``
        self._rest = bytearray()  # the beginning of a frame whose end has not come
        self._in_parts = False  # the parser has the beginning of a message that comes in several frames

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if self.response.status_code == 101:
            self.scope["extensions"][EXTENSION] = {"protocol": self}

    # -- in ---------------------------------------------------------------------------------------
    def data_received(self, data: bytes) -> None:
        """Cut what comes into frames, so that the parser is never in the middle of one."""
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
            if size > self.config.ws_max_size + LONGEST_HEAD:  # not to be waited for: the parser refuses it
                super().data_received(bytes(self._rest))
                self._rest.clear()

    def _frame_received(self, frame: bytes) -> None:
        if frame[0] == TEXT and frame[1] & MASKED and self._is_next() and self.take and self.take(_payload(frame)):
            return
        if not frame[0] & CONTROL:
            self._in_parts = not frame[0] & FIN
        super().data_received(frame)

    def _is_next(self) -> bool:
        """Is a message that comes now the very one that the app waits for? Nothing may be overtaken, and nothing
        may follow the end, which is put into the queue too."""
        return self._app_waits and self.queue.empty() and not self._in_parts

    async def receive(self) -> Any:
        self._app_waits = True
        try:
            return await super().receive()
        finally:
            self._app_waits = False

    # -- out --------------------------------------------------------------------------------------
    def write(self, text: bytes) -> bool:
        """Send a text message at once. Not where that has to wait, or nobody is there: ``send`` then does the rest."""
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
    """How long the frame is with which ``data`` begins; more than there is, where that cannot be said yet."""
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
    """What a whole, masked frame carries."""
    at = 6 + MORE_LENGTH.get(frame[1] & ~MASKED, 0)
    unmasked: bytes = apply_mask(frame[at:], frame[at - 4 : at])
    return unmasked
