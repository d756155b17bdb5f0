"""Sends the bytes of a house of a cluster only while it is valid (`house.store.validity`).

This is checked right before bytes go to the transport, so no interface knows of it: a reply that was ready when the
process was paused is not sent afterwards.
"""

import asyncio
from functools import partial
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cohabit.client import ConnectionLost
from cohabit.errors import Busy
from cohabit.faces.direct import TEXT, DirectProtocol
from cohabit.faces.guard import READS
from cohabit.faces.refusing import refusal, refuse
from cohabit.house.house import House
from cohabit.house.store.validity import ENDED, RETRY_S, Validity

ALWAYS = frozenset({"/health", "/ready"})
"""Paths that say how the house is, and nothing that is in it."""
CLOSED = {"type": "websocket.close", "code": 1012, "reason": ENDED[:100]}


def while_valid(app: ASGIApp, house: House) -> ASGIApp:
    """The app, for HTTP requests while the house is valid. A house alone always is."""
    return app if house.validity is None else HttpWhileValid(app, house.validity)


def ws_protocol(house: House) -> Any:
    """The protocol of WebSockets, in the same way."""
    return DirectProtocol if house.validity is None else partial(ProtocolWhileValid, house.validity)


class HttpWhileValid:
    """ASGI middleware. A request is refused with BUSY. One that was under way when the lease ended may have been
    executed: it gets OUTCOME_UNKNOWN instead of its response. A response that has begun is cut off: its request is
    cancelled, which ends a stream in all its tasks without a traceback for each."""

    def __init__(self, app: ASGIApp, validity: Validity) -> None:
        self._app = app
        self._validity = validity

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in ALWAYS:
            await self._app(scope, receive, send)
            return
        busy = Busy(ENDED, retry_after_s=RETRY_S)
        if not self._validity.is_valid:
            await refuse(busy, scope, receive, send)
            return
        has_begun = is_refused = is_cut_off = False
        request = asyncio.current_task()
        assert request is not None

        async def checked(message: Message) -> None:
            nonlocal has_begun, is_refused, is_cut_off
            if is_refused:
                return
            if self._validity.is_valid:
                has_begun = True
                await send(message)
            elif has_begun:
                if not is_cut_off:
                    is_cut_off = True
                    request.cancel()
                await asyncio.wait([request])  # until this is cancelled with it
            else:
                is_refused = True
                error = busy if scope["method"] in READS else ConnectionLost("this house has lost its lease")
                await refusal(error, scope["path"])(scope, receive, send)

        try:
            await self._app(scope, receive, checked)
        except asyncio.CancelledError:
            if not is_cut_off or request.uncancel():
                raise
            # The server closes the connection of an unfinished response.


class ProtocolWhileValid(DirectProtocol):
    """A WebSocket that is closed instead of sending."""

    __slots__ = ("_closing", "_validity")

    def __init__(self, validity: Validity, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._validity = validity
        self._closing: asyncio.Task[None] | None = None

    def write(self, data: bytes, opcode: int = TEXT) -> bool:
        return super().write(data, opcode) if self._validity.is_valid else self._cut_off()

    def write_with_next(self, data: bytes) -> bool:
        return super().write_with_next(data) if self._validity.is_valid else self._cut_off()

    def write_held(self) -> None:
        if not self._validity.is_valid:
            self._held = b""
        super().write_held()

    async def send(self, message: Any) -> None:
        sends = message["type"] == "websocket.send" and not self._validity.is_valid
        await super().send(CLOSED if sends else message)

    def _cut_off(self) -> bool:
        """Close the connection. What was to be sent is dropped."""
        self._held = b""
        if self._closing is None and not self.close_sent and self.handshake_complete:
            self._closing = self.loop.create_task(super().send(CLOSED))
        return True
