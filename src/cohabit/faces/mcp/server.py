"""The MCP interface of a house: `/mcp` is the house, `/mcp/{room}` one room, for all agents and both eras.

`?profile=full` lists every tool with its output schema, and adds values to the texts of results.

Each request is authenticated by its bearer token. A request that is answered at once gets a plain JSON response,
which costs half; one that may stream or wait gets a stream of events.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Final
from urllib.parse import parse_qs

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.context import ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from sse_starlette.sse import AppStatus
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from cohabit.errors import BadArgs, CohabitError, EgressUsedUp
from cohabit.faces.guard import bearer, error_response
from cohabit.faces.mcp.backend import DEFAULT, Backend, InHouse, is_full
from cohabit.faces.mcp.ended import CALLER, EndedTokens, counting, received, whole_body
from cohabit.faces.mcp.protocol import LISTS, Protocol
from cohabit.faces.mcp.replay import ReplayingSessions
from cohabit.house.calls.shaped import Shaped
from cohabit.house.house import House
from cohabit.model.identity import Credential

AT_ONCE: Final = frozenset(
    {*LISTS, "resources/read", "prompts/get", "completion/complete", "tasks/get", "tasks/cancel"}
)
"""Methods that answer at once. `tools/call` does, except for tools that may wait."""


Caller = Callable[[House, Credential, str | None, bool, str | None], InHouse]
"""Takes the credential, the room of the endpoint, whether the profile is `full`, and the token."""


def _in_this_process(house: House, credential: Credential, room: str | None, full: bool, token: str | None) -> InHouse:
    return InHouse(house, credential, room, full=full)


class McpFace:
    """Mount `routes`, run `lifespan` in the app's, and `close` before the server stops listening."""

    def __init__(self, house: House, caller: Caller | None = None) -> None:
        """``caller``: makes the backend of a request; by default the house in this process."""
        self._house = house
        self._caller = caller or _in_this_process
        settings = house.settings
        self.protocol = Protocol(_backend_of, streams_each=settings.connections_per_member)
        limit = settings.body_limit
        self._sessions = ReplayingSessions(
            self.protocol.server,
            until_invalid=lambda scope, tell: _caller(scope).until_invalid(tell),
            until_revoked=lambda scope, tell: _caller(scope).until_invalid(tell, renewable=True),
            sees=lambda scope: _caller(scope).still_sees(),
            max_each=settings.connections_per_member,
            max_request_body_size=limit,
        )
        self._at_once = StreamableHTTPSessionManager(
            self.protocol.server, json_response=True, max_request_body_size=limit
        )
        self._ended = EndedTokens(house, self.protocol.server, limit)

    def routes(self) -> list[Route]:
        door = TrimmedHeaders(self)
        return [Route("/mcp", door), Route("/mcp/{room}", door)]

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """For as long as the app runs."""
        AppStatus.should_exit = False  # belongs to the library of the streams; an earlier server may have set it
        async with self._sessions.run(), self._at_once.run(), self._ended.run():
            try:
                yield
            finally:
                self.close()

    def close(self) -> None:
        """End every stream, so that the server can stop."""
        self.protocol.close()
        self._sessions.end_all()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        token = bearer(headers)
        room, door = scope["path_params"].get("room"), self._house.door
        try:
            full = is_full(parse_qs(scope["query_string"].decode("latin-1")).get("profile", [DEFAULT])[-1])
        except BadArgs as refusal:
            response = Shaped(door.account_with(token, room)).response(error_response(refusal))
            await response(scope, receive, send)
            return
        try:
            await self._house.sign_in(token)
            credential = self._house.identify(token)
        except CohabitError as refusal:
            await self._ended.answer(token, refusal, full, scope, receive, send)
            return
        if scope["method"] == "GET":  # a stream, which may repeat what was sent before
            try:
                door.check_may_send(credential, room)
            except EgressUsedUp as refusal:
                response = Shaped(door.account_of(credential, room)).response(error_response(refusal))
                await response(scope, receive, send)
                return
        self._ended.remember(credential)
        if scope["method"] == "POST":
            body = await whole_body(receive)
            if body is None:  # the client is gone, and the SDK would log that as an error
                return
            receive = received(body, receive)
        scope[CALLER] = caller = self._caller(self._house, credential, room, full, token)
        counted = counting(send, caller)
        try:
            if self.answers_at_once(headers, caller):
                await self._at_once.handle_request(scope, receive, counted)
            else:
                scope["user"] = _session_owner(credential, room)
                await self._sessions.handle_request(scope, receive, counted)
        finally:
            caller.shaped.close()

    def answers_at_once(self, headers: dict[str, str], caller: InHouse) -> bool:
        """Judged by the headers alone. The SDK refuses a request whose body does not match them."""
        if headers.get("mcp-protocol-version") not in MODERN_PROTOCOL_VERSIONS:
            return False
        method = headers.get("mcp-method")
        return method in AT_ONCE or (method == "tools/call" and not caller.takes_wait_ms(headers.get("mcp-name", "")))


def _backend_of(ctx: ServerRequestContext[Any, Any]) -> Backend:
    assert ctx.request is not None  # over HTTP every message has its request
    return _caller(ctx.request.scope)


def _caller(scope: Scope) -> InHouse:
    caller: InHouse = scope[CALLER]
    return caller


def _session_owner(credential: Credential, room: str | None) -> AuthenticatedUser:
    """The SDK binds a session to its owner: this token, at this endpoint."""
    token = AccessToken(token="", client_id=credential.counted_as.hex(), scopes=[], subject=room or "")
    return AuthenticatedUser(token)


# -- headers ------------------------------------------------------------------------------------
class TrimmedHeaders:
    """ASGI middleware: passes requests on with header values as RFC 9110 defines them, without white space around them.

    The HTTP parser in use (httptools) strips only leading white space, and MCP compares headers with the body character
    by character. A client must not be refused for a trailing space."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = scope.get("headers", ())
        if any(value != value.strip(b" \t") for _, value in headers):
            scope = {**scope, "headers": [(name, value.strip(b" \t")) for name, value in headers]}
        await self.app(scope, receive, send)
