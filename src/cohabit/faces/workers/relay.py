"""Middleware that sends HTTP requests about a room of another node to that node, as they are.

Only a request whose path or token names such a room is sent on, with the caller's own token. The node that has the room
decides, records, counts and answers. Bodies and responses are streamed: each side waits for the other.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Final

import httpx2
import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cohabit.errors import BadArgs, CohabitError
from cohabit.faces.guard import answering, error_response
from cohabit.faces.http import MAX_JOIN_BODY
from cohabit.faces.workers.peers import ASK, CALL, Peers, answer_node, away, gone, lost
from cohabit.faces.workers.routing import IN_BODY, as_from_client, is_relayed, room_of, token_of
from cohabit.house.directory import MOVING
from cohabit.house.house import House

OF_THE_CONNECTION: Final = frozenset(
    {b"connection", b"keep-alive", b"proxy-connection", b"te", b"trailer", b"upgrade", b"expect"}
)
"""Headers that are for the next hop only."""
SAID_BY_US: Final = frozenset(
    {b"x-forwarded-for", b"x-forwarded-proto", b"x-forwarded-host", b"forwarded", b"x-real-ip"}
)
"""Headers about the client, which a client cannot set."""
OF_THE_SERVER: Final = OF_THE_CONNECTION | {b"transfer-encoding", b"date", b"server"}
"""Headers of a response that the server of this node sets itself."""


class Joining(msgspec.Struct):
    """What is read of the body of a request to join."""

    room: str | None = None


_decode_joining = msgspec.json.Decoder(Joining).decode


class ClientGone(Exception):
    """The client has closed its connection."""


class Relay:
    """See the module."""

    def __init__(self, app: ASGIApp, house: House, peers: Peers) -> None:
        self._app = app
        self._house = house
        self._peers = peers
        self._directory = peers.directory

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        relayed = is_relayed(scope)
        if relayed:
            as_from_client(scope)
        if scope["type"] == "websocket":  # `frames` routes its frames
            await self._app(scope, receive, send)
            return
        if relayed and scope["path"] in (ASK, CALL):
            await self._answer_node(scope, receive, send)
            return
        token = token_of(scope["headers"])
        room = room_of(self._house.identities, scope["path"], scope["query_string"], token)
        if room == IN_BODY:
            room, receive = await _joining(receive)
        holder = self._directory.holder(room) if room is not None else None
        if holder is None or holder == self._directory.here:
            await self._app(scope, receive, send)
        elif holder == MOVING or relayed:  # the other node may know an earlier state
            assert room is not None
            await error_response(away(room))(scope, receive, send)
        else:
            await self._send_on(holder, scope, receive, send)

    async def _answer_node(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def answer(request: Request) -> Response:
            return await answer_node(self._house, request)

        response = await answering(answer)(Request(scope, receive))
        await response(scope, receive, send)

    async def _send_on(self, node: str, scope: Scope, receive: Receive, send: Send) -> None:
        body = Body(receive)
        has_body = any(name in (b"content-length", b"transfer-encoding") for name, _ in scope["headers"])
        target = scope["raw_path"] + (b"?" + scope["query_string"] if scope["query_string"] else b"")
        request = httpx2.Request(
            scope["method"],
            "http://localhost/",
            headers=_headers(scope),
            content=body.parts() if has_body else None,
            extensions={"target": target},
        )
        exchange = asyncio.ensure_future(self._exchange(node, request, send))
        hung_up = asyncio.ensure_future(body.until_gone(has_body))
        try:
            await asyncio.wait({exchange, hung_up}, return_when=asyncio.FIRST_COMPLETED)
            if not exchange.done():  # the client is gone, so the other node is told the same
                return
            error = exchange.exception()
            if isinstance(error, CohabitError):
                await error_response(error)(scope, receive, send)
            elif error is not None and not isinstance(error, ClientGone):
                raise error
        finally:
            for task in (exchange, hung_up):
                task.cancel()
            await asyncio.gather(exchange, hung_up, return_exceptions=True)

    async def _exchange(self, node: str, request: httpx2.Request, send: Send) -> None:
        """Send a request, and the response to the client. Raises a refusal if there is none."""
        try:
            response = await self._peers.send(node, request)
        except httpx2.LocalProtocolError:  # our parser has let something pass that HTTP does not allow
            raise BadArgs("this is not a valid HTTP request") from None
        except httpx2.ConnectError:
            raise gone() from None
        except httpx2.TransportError:
            raise lost(repeatable=_is_repeatable(request)) from None
        headers = [(name.lower(), value) for name, value in response.headers.raw if name.lower() not in OF_THE_SERVER]
        try:
            await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
            async for part in response.stream:  # type: ignore[union-attr]  # of an async transport
                await send({"type": "http.response.body", "body": part, "more_body": True})
        except httpx2.TransportError:  # the client sees a response that is cut off
            return
        finally:
            await response.aclose()
        await send({"type": "http.response.body"})


def _headers(scope: Scope) -> list[tuple[bytes, bytes]]:
    drop = OF_THE_CONNECTION | SAID_BY_US
    headers = [(name, value.strip()) for name, value in scope["headers"] if name not in drop]
    headers.append((b"x-forwarded-proto", scope["scheme"].encode("latin-1")))
    if scope["client"] is not None:
        headers.append((b"x-forwarded-for", scope["client"][0].encode("latin-1")))
    return headers


def _is_repeatable(request: httpx2.Request) -> bool:
    return request.method in ("GET", "HEAD", "OPTIONS") or "idempotency-key" in request.headers


class Body:
    """The body of a request, and then the wait for the end of its client."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._complete = asyncio.Event()

    async def parts(self) -> AsyncIterator[bytes]:
        more = True
        while more:
            message = await self._receive()
            if message["type"] != "http.request":
                raise ClientGone
            if part := message.get("body", b""):
                yield part
            more = message.get("more_body", False)
        self._complete.set()

    async def until_gone(self, has_body: bool) -> None:
        if has_body:
            await self._complete.wait()
        while (await self._receive())["type"] == "http.request":
            pass


async def _joining(receive: Receive) -> tuple[str | None, Receive]:
    """The room that the body of a request to join names, and the request with its body again."""
    read: list[Message] = []
    size, more = 0, True
    while more and size <= MAX_JOIN_BODY:
        message = await receive()
        read.append(message)
        size += len(message.get("body", b""))
        more = message["type"] == "http.request" and message.get("more_body", False)

    async def again() -> Message:
        return read.pop(0) if read else await receive()

    try:
        return _decode_joining(b"".join(message.get("body", b"") for message in read)).room, again
    except (msgspec.MsgspecError, RecursionError):  # the house says what is wrong with it
        return None, again
