"""Resuming a broken stream, for clients of the older protocol (2025-11-25).

Every message of a session gets an event id. A client that lost its stream sends the last id it saw and gets
the rest. The SDK names a stream by the id of the request alone, which two sessions easily share: so each session
has a store of its own.

If the caller has lost permissions meanwhile, it gets a refusal in place of a stored reply.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from functools import partial
from typing import Any

from mcp.server import streamable_http as sdk
from mcp.server.auth.middleware.bearer_auth import AuthorizationContext, authorization_context
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import JSONRPCError, JSONRPCMessage, JSONRPCResponse
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from cohabit.errors import PermissionDenied
from cohabit.faces.mcp.backend import StillSees
from cohabit.faces.mcp.refusals import failed

UntilInvalid = Callable[[Scope, Callable[[], None]], Callable[[], None]]


class Replay(sdk.EventStore):
    """The last events of one session. A stream whose last id is older cannot be resumed. ``sees``: its newest caller,
    asked for each event what it may see."""

    def __init__(self, max_events: int = 256) -> None:
        self._events: deque[tuple[int, str, JSONRPCMessage | None, StillSees]] = deque(maxlen=max_events)
        self._next = 1
        self.sees: Callable[[], StillSees] = lambda: lambda: True

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        event, self._next = self._next, self._next + 1
        self._events.append((event, stream_id, message, self.sees()))
        return str(event)

    async def replay_events_after(self, last_event_id: str, send_callback: sdk.EventCallback) -> str | None:
        seen = next((stream for event, stream, *_ in self._events if str(event) == last_event_id), None)
        if seen is None:
            return None
        for event, stream, message, still_sees in list(self._events):
            if stream == seen and event > int(last_event_id):
                shown = message if still_sees() else _refusal(message)
                if shown is not None:
                    await send_callback(sdk.EventMessage(shown, str(event)))
        return seen


def _refusal(message: JSONRPCMessage | None) -> JSONRPCError | None:
    """In place of a message that its reader may not see any more; None if it is no reply."""
    if not isinstance(message, JSONRPCResponse | JSONRPCError):
        return None
    changed = failed(PermissionDenied("your grant has changed since this was answered; look again"))
    return JSONRPCError(jsonrpc="2.0", id=message.id, error=changed.error)


class ReplayingSessions(StreamableHTTPSessionManager):
    """The SDK's session manager, with a new store of events for each session it opens.

    The SDK reads `event_store` once per session; here each time it makes a new one. A caller who opens more than
    ``max_each`` sessions loses its own oldest, so no caller can use up the sessions of all. ``until_invalid`` calls
    back when the credential of a request is revoked or expires: that ends the stream of events that it has opened.
    ``until_revoked`` ends its sessions; it is the same, except for access tokens that a client renews. A call that is
    under way gets its reply first: it may be the one that replaces the token. ``sees`` gives what the caller of a
    request may see.
    """

    def __init__(
        self,
        app: Any,
        *,
        until_invalid: UntilInvalid = lambda scope, tell: lambda: None,
        until_revoked: UntilInvalid = lambda scope, tell: lambda: None,
        sees: Callable[[Scope], StillSees] = lambda scope: lambda: True,
        retry_ms: int = 1000,
        max_each: int = 32,
        **settings: Any,
    ) -> None:
        self._max_each = max_each
        self._until_invalid = until_invalid
        self._until_revoked = until_revoked
        self._sees = sees
        self._replays: dict[str, Replay] = {}  # by session
        self._ending: set[asyncio.Task[None]] = set()
        self._stop_watching: dict[str, Callable[[], None]] = {}  # by session
        self._calls: Counter[str] = Counter()  # requests under way, by session
        self._invalid: set[str] = set()  # sessions that end with the last call under way
        super().__init__(app, retry_interval=retry_ms, **settings)

    @property
    def event_store(self) -> sdk.EventStore | None:
        self._made = Replay()
        return self._made

    @event_store.setter
    def event_store(self, store: sdk.EventStore | None) -> None:
        """The base class sets one; it is not used."""

    def _admit_session(self, requestor: AuthorizationContext | None) -> sdk.StreamableHTTPServerTransport | None:
        admitted = super()._admit_session(requestor)
        if admitted is not None and admitted.mcp_session_id is not None:
            self._replays[admitted.mcp_session_id] = self._made
        theirs = [session for session, owner in self._session_owners.items() if owner == requestor]
        if len(theirs) > self._max_each:
            self._end(theirs[0])
        return admitted

    async def _serve_opening_request(
        self, http_transport: sdk.StreamableHTTPServerTransport, scope: Scope, receive: Receive, send: Send
    ) -> None:
        session = http_transport.mcp_session_id
        assert session is not None
        self._stop_watching[session] = self._until_revoked(scope, partial(self._end_invalid, session))
        self._follow(session, scope)
        await super()._serve_opening_request(http_transport, scope, receive, send)

    async def _handle_stateful_request(self, scope: Scope, receive: Receive, send: Send) -> None:
        session = Headers(scope=scope).get(sdk.MCP_SESSION_ID_HEADER)
        if session is not None:
            self._follow(session, scope)
        if session is None or scope["method"] != "POST":
            transport = self._server_instances.get(session or "")
            stop = self._until_invalid(scope, transport.close_standalone_sse_stream) if transport is not None else None
            try:
                await super()._handle_stateful_request(scope, receive, send)
            finally:
                if stop is not None:
                    stop()
            return
        self._calls[session] += 1
        try:
            await super()._handle_stateful_request(scope, receive, send)
        finally:
            self._calls[session] -= 1
            if not self._calls[session]:
                del self._calls[session]
                if session in self._invalid:
                    self._end(session)

    def _follow(self, session: str, scope: Scope) -> None:
        """From now on, what is stored is as this request's caller may see it: its token may be newer."""
        if session in self._replays and self._session_owners.get(session) == authorization_context(scope["user"]):
            self._replays[session].sees = partial(self._sees, scope)

    def _end_invalid(self, session: str) -> None:
        transport = self._server_instances.get(session)
        if transport is not None and self._calls[session]:
            self._invalid.add(session)
            transport.close_standalone_sse_stream()
        else:
            self._end(session)

    async def _discard_session(self, session_id: str, transport: sdk.StreamableHTTPServerTransport) -> None:
        self._stop_watching.pop(session_id, lambda: None)()
        self._invalid.discard(session_id)
        self._replays.pop(session_id, None)
        await super()._discard_session(session_id, transport)

    def end_all(self) -> None:
        """End every session and the streams it holds; their clients may open new ones elsewhere."""
        for session in list(self._server_instances):
            self._end(session)

    def _end(self, session: str) -> None:
        transport = self._server_instances.get(session)
        if transport is not None:
            # Not in the task group: this is also called by timers, where no task is running.
            ending = asyncio.get_running_loop().create_task(self._discard_session(session, transport))
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)
