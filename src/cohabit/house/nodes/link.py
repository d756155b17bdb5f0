"""Requests and replies between two processes, over one stream.

Frames are MessagePack with their length before each. They are handled in order: a handler that is no coroutine has done
its work before the next frame is looked at, so what is told in order is applied in order.
"""

import asyncio
import logging
import socket
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

import msgspec

from cohabit.errors import Busy, CohabitError, by_code, internal_error

log = logging.getLogger("cohabit")
LENGTH_BYTES = 4
ENDED = "the other process of this house has ended; try again in a moment"
Handler = Callable[..., Any]
"""Called with the arguments by name. It returns the reply, or is a coroutine function."""
ASK, TELL, REPLY, ERROR = range(4)

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder().decode


class LinkEnded(Busy):
    """The other side of a link is gone, and has perhaps not done what it was asked for."""


def framed(body: bytes) -> bytes:
    return len(body).to_bytes(LENGTH_BYTES, "big") + body


class Frames:
    """Splits a stream into frames."""

    def __init__(self) -> None:
        self._data = bytearray()

    def feed(self, data: bytes) -> Iterator[bytes]:
        held = self._data
        held += data
        while len(held) >= LENGTH_BYTES:
            end = LENGTH_BYTES + int.from_bytes(held[:LENGTH_BYTES], "big")
            if len(held) < end:
                return
            frame = bytes(held[LENGTH_BYTES:end])
            del held[:end]
            yield frame


class Link(asyncio.Protocol):
    """One end of a link. ``handlers``: what the other side may ask for or tell, by name."""

    def __init__(self, handlers: Mapping[str, Handler]) -> None:
        self.handlers = handlers
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._frames = Frames()
        self._transport: asyncio.WriteTransport | None = None
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._number = 0

    @classmethod
    async def over(cls, end: socket.socket, handlers: Mapping[str, Handler]) -> "Link":
        """A link over one end of a socket pair, which it closes."""
        _, link = await asyncio.get_running_loop().create_connection(lambda: cls(handlers), sock=end)
        return link

    async def run(self) -> None:
        """Serve until the other side closes."""
        await asyncio.shield(self.ended)

    async def ask(self, name: str, **args: Any) -> Any:
        """The reply. Raises the error of the other side, or BUSY if the link has ended."""
        return await self.asked(name, **args)

    def asked(self, name: str, **args: Any) -> "asyncio.Future[Any]":
        """The same, sent at once."""
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        if self._is_closed:
            answer.set_exception(LinkEnded(ENDED))
            answer.exception()  # perhaps nobody waits for it
            return answer
        self._number += 1
        number = self._number
        self._waiting[number] = answer
        answer.add_done_callback(lambda _: self._answered(number, answer))
        self._send((ASK, number, name, args))
        return answer

    def _answered(self, number: int, answer: "asyncio.Future[Any]") -> None:
        self._waiting.pop(number, None)
        if not answer.cancelled():
            answer.exception()  # perhaps nobody waits for it any more

    def tell(self, name: str, **args: Any) -> None:
        """Without a reply. Nothing happens if the link has ended."""
        if not self._is_closed:
            self._send((TELL, 0, name, args))

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    @property
    def _is_closed(self) -> bool:
        return self._transport is None or self._transport.is_closing()

    def _send(self, message: tuple[Any, ...]) -> None:
        assert self._transport is not None
        self._transport.write(framed(_encode(message)))

    # -- the protocol -----------------------------------------------------------------------------
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.WriteTransport, transport)

    def data_received(self, data: bytes) -> None:
        for frame in self._frames.feed(data):
            kind, number, *rest = _decode(frame)
            if kind in (ASK, TELL):
                self._handle(kind == ASK, number, *rest)
            elif (answer := self._waiting.get(number)) is not None and not answer.done():
                if kind == REPLY:
                    answer.set_result(rest[0])
                else:
                    answer.set_exception(by_code(rest[0]))

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.ended.done():
            self.ended.set_result(None)
        for answer in list(self._waiting.values()):
            if not answer.done():
                answer.set_exception(LinkEnded(ENDED))
        for task in self._tasks:
            task.cancel()

    def _handle(self, asks: bool, number: int, name: str, args: dict[str, Any]) -> None:
        try:
            result = self.handlers[name](**args)
        except Exception as wrong:
            self._answer(asks, number, name, wrong)
            return
        if asyncio.iscoroutine(result):
            task = asyncio.get_running_loop().create_task(self._later(asks, number, name, result))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        else:
            self._answer(asks, number, name, None, result)

    async def _later(self, asks: bool, number: int, name: str, result: Any) -> None:
        try:
            value = await result
        except Exception as wrong:
            self._answer(asks, number, name, wrong)
        else:
            self._answer(asks, number, name, None, value)

    def _answer(self, asks: bool, number: int, name: str, wrong: Exception | None, value: Any = None) -> None:
        if wrong is not None and not isinstance(wrong, CohabitError):
            wrong = internal_error(wrong, name)
        if asks and not self._is_closed:
            self._send((REPLY, number, value) if wrong is None else (ERROR, number, wrong.as_wire()))
        elif wrong is not None:
            log.warning("%s failed: %s", name, wrong.as_text())
