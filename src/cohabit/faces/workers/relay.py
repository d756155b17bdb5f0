"""Middleware that sends HTTP requests about a room of another node to that node, as they are.

Only a request whose path or token names such a room is sent on, with the caller's own token. The node that has the room
decides, records, counts and answers. Bodies and responses are streamed: each side waits for the other.
"""

import asyncio
from hmac import compare_digest
from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cohabit.errors import BadArgs, CohabitError, Unauthorized
from cohabit.faces.guard import READS, answering
from cohabit.faces.http import MAX_JOIN_BODY
from cohabit.faces.metrics import PROXY_HEADERS
from cohabit.faces.refusing import refusal, refuse
from cohabit.faces.workers.exchange import Exchange, NodeGone, NodeLost
from cohabit.faces.workers.peers import ASK, CALL, WORD, Peers, answer_node, away, gone, lost
from cohabit.faces.workers.routing import IN_BODY, as_from_client, is_relayed, room_of, token_of
from cohabit.house.directory import FRONT, MOVING
from cohabit.house.house import House

OF_THE_HOUSE: Final = frozenset({"/health", "/ready", "/metrics"})
"""Only the front can answer these for all processes of a house."""
OF_THE_CONNECTION: Final = frozenset(
    {b"connection", b"keep-alive", b"proxy-connection", b"te", b"trailer", b"upgrade", b"expect"}
)
"""Headers that are for the next hop only."""
SAID_BY_US: Final = frozenset(
    {b"x-forwarded-for", b"x-forwarded-proto", b"x-forwarded-host", b"forwarded", b"x-real-ip", WORD}
)
"""Headers that only a node sets, such as those about the client."""
OF_THE_SERVER: Final = OF_THE_CONNECTION | {b"transfer-encoding", b"date", b"server"}
"""Headers of a response that the server of this node sets itself."""


class Joining(msgspec.Struct):
    """The part of the body of a request to join that is read."""

    room: str | None = None


_decode_joining = msgspec.json.Decoder(Joining).decode


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
        if scope["path"] in OF_THE_HOUSE and not relayed and self._directory.here != FRONT:
            await self._send_on(FRONT, scope, receive, send)  # the connection was passed on for an earlier request
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
            await refuse(away(room), scope, receive, send)
        else:
            await self._send_on(holder, scope, receive, send)

    async def _answer_node(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def answer(request: Request) -> Response:
            word = self._directory.word.encode()
            if not word or not compare_digest(dict(scope["headers"]).get(WORD, b""), word):
                raise Unauthorized("only a process of this house may call this")
            return await answer_node(self._house, request)

        response = await answering(answer)(Request(scope, receive))
        await response(scope, receive, send)

    async def _send_on(self, node: str, scope: Scope, receive: Receive, send: Send) -> None:
        pool = self._peers.pool(node)
        try:
            exchange = await pool.take()
        except NodeGone:
            await refuse(gone(), scope, receive, send)
            return
        target = scope["raw_path"] + (b"?" + scope["query_string"] if scope["query_string"] else b"")
        hung_up: asyncio.Future[None] | None = None
        try:
            exchange.begin(scope["method"], target, _headers(scope))
            if await _send_body(exchange, scope, receive):
                exchange.sent()
                hung_up = asyncio.ensure_future(_until_gone(receive, exchange))
                await _respond(exchange, send)
        except (NodeLost, CohabitError) as wrong:
            error = wrong if isinstance(wrong, CohabitError) else lost(repeatable=_is_repeatable(scope))
            has_begun = hung_up is not None and exchange.status  # then the client sees that it is cut off
            if not has_begun:
                await refusal(error, scope["path"])(scope, receive, send)
        finally:
            pool.give_back(exchange)
            if hung_up is not None:
                hung_up.cancel()


async def _send_body(exchange: Exchange, scope: Scope, receive: Receive) -> bool:
    """Send the body of a request, all of it. Returns False if the client is gone."""
    framing = dict(scope["headers"])
    chunked = b"transfer-encoding" in framing
    if not chunked and b"content-length" not in framing:
        return True
    more, length = True, 0
    while more:
        message = await receive()
        if message["type"] != "http.request":
            return False
        part, more = message.get("body", b""), message.get("more_body", False)
        length += len(part)
        if part:
            await exchange.write(b"%x\r\n%b\r\n" % (len(part), part) if chunked else part)
    if chunked:
        await exchange.write(b"0\r\n\r\n")
    elif length != int(framing[b"content-length"]):  # the parser reads no body of a request that asks for an upgrade
        raise BadArgs("the body is not as long as its Content-Length says; send no Upgrade with a body")
    return True


async def _until_gone(receive: Receive, exchange: Exchange) -> None:
    """Tell the other node when the client is gone."""
    while (await receive())["type"] == "http.request":
        pass
    if not exchange.is_reusable:
        exchange.abort()


async def _respond(exchange: Exchange, send: Send) -> None:
    await exchange.head()
    headers = [(name, value) for name, value in exchange.headers if name not in OF_THE_SERVER]
    await send({"type": "http.response.start", "status": exchange.status, "headers": headers})
    async for part, more in exchange.parts():
        await send({"type": "http.response.body", "body": part, "more_body": more})
        if not more:
            return


def _headers(scope: Scope) -> list[tuple[bytes, bytes]]:
    drop = OF_THE_CONNECTION | SAID_BY_US
    headers = [(name, value.strip()) for name, value in scope["headers"] if name not in drop]
    if any(name.decode("latin-1") in PROXY_HEADERS and name != b"via" for name, _ in scope["headers"]):
        headers.append((b"via", b"1.1 proxy"))  # what a proxy has said is dropped, but not that there is one
    headers.append((b"x-forwarded-proto", scope["scheme"].encode("latin-1")))
    if scope["client"] is not None:
        headers.append((b"x-forwarded-for", scope["client"][0].encode("latin-1")))
    return headers


def _is_repeatable(scope: Scope) -> bool:
    return scope["method"] in READS


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
