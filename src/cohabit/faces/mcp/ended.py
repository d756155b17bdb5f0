"""Clients whose token was revoked or has expired while they were connected.

A client lists the tools again after many calls, also after `leave`, `rotate_token` or `delete_room` has revoked its own
token. If that failed, a model would never read the reply of the call. So a token that has been used here, and no longer
is valid, still lists tools (there are none) and calls them (each call says why it is refused). Everything else is
answered with 401.
"""

from contextlib import AbstractAsyncContextManager
from typing import Any, Final

import msgspec
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from cohabit.errors import CohabitError
from cohabit.faces.mcp.backend import InHouse
from cohabit.faces.oauth import add_challenge
from cohabit.faces.refusing import rpc_error
from cohabit.house.house import House
from cohabit.model.identity import Credential

CALLER: Final = "cohabit.caller"
"""The key of the backend of a request, in its scope."""
MAX_REMEMBERED: Final = 10_000
"""The number of tokens that are remembered. The oldest are forgotten first, and then get 401 for everything."""
STILL_ANSWERED: Final = frozenset({"tools/list", "tools/call"})


class Request(msgspec.Struct):
    """The part of a JSON-RPC message that says what it is."""

    method: str = ""
    id: Any = None


_decode = msgspec.json.Decoder(Request).decode


class EndedTokens:
    """Remembers the tokens that are used, and answers requests with those that are no longer valid."""

    def __init__(self, house: House, server: Server[Any], body_limit: int) -> None:
        self._house = house
        self._used: dict[bytes, Credential] = {}  # by hash; the house forgets those of a deleted room
        self._answering = StreamableHTTPSessionManager(
            server, json_response=True, stateless=True, max_request_body_size=body_limit
        )

    def run(self) -> AbstractAsyncContextManager[None]:
        return self._answering.run()

    def remember(self, credential: Credential) -> None:
        """An access token of an identity provider is not remembered: its client must get 401, and then a new one."""
        if not credential.oauth and self._used.get(credential.hash) is not credential:
            if len(self._used) >= MAX_REMEMBERED:
                del self._used[next(iter(self._used))]
            self._used[credential.hash] = credential

    async def answer(
        self, token: str | None, refusal: CohabitError, full: bool, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Answer a request whose token is refused. ``full``: its profile."""
        used = self._used.get(self._house.identities.hash_of(token)) if token else None
        if used is not None and scope["method"] == "DELETE":  # its session has ended with the token
            await Response(status_code=204)(scope, receive, send)
            return
        if used is not None and scope["method"] == "POST":
            body = await whole_body(receive)
            if body is None:
                return
            message, receive = _read(body), received(body, receive)
            if message.method in STILL_ANSWERED:
                scope[CALLER] = caller = InHouse(self._house, used, scope["path_params"].get("room"), full=full)
                await self._answering.handle_request(scope, receive, counting(send, caller))
                caller.shaped.close()
                return
            if message.id is None:  # a notification, which nobody waits for
                await Response(status_code=202)(scope, receive, send)
                return
        response = rpc_error(refusal)
        add_challenge(response, self._house.signing_in, scope["path"], refusal, has_token=token is not None)
        await response(scope, receive, send)


def _read(body: bytes) -> Request:
    try:
        return _decode(body)
    except msgspec.MsgspecError:  # it gets the same answer as any other request
        return Request(id=0)


def counting(send: Send, caller: InHouse) -> Send:
    """A ``send`` that counts the bytes of the body."""

    async def counted(message: Message) -> None:
        if message["type"] == "http.response.body":
            caller.shaped.sent(len(message.get("body", b"")))
        await send(message)

    return counted


# -- bodies -------------------------------------------------------------------------------------
async def whole_body(receive: Receive) -> bytes | None:
    """The body of a request; None if the client hung up before the end of it."""
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body


def received(body: bytes, receive: Receive) -> Receive:
    """A ``receive`` that has the whole body already."""
    first: Message | None = {"type": "http.request", "body": body, "more_body": False}

    async def again() -> Message:
        nonlocal first
        message, first = first, None
        return message if message is not None else await receive()

    return again
