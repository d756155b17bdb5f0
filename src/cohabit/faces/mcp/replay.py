"""Resuming a broken stream, for clients of the older protocol (2025-11-25).

Every message of a session gets an event id. A client that lost its stream comes back with the last id it saw
and gets the rest. The SDK names a stream by the id of the request alone, which two sessions easily share: so
each session must have a store of its own, and `ReplayingSessions` sees to that.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from anyio.abc import TaskGroup
from mcp.server.auth.middleware.bearer_auth import AuthorizationContext
from mcp.server.streamable_http import (
    EventCallback,
    EventMessage,
    EventStore,
    StreamableHTTPServerTransport,
)
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import JSONRPCMessage


class Replay(EventStore):
    """The last events of one session. Older ones are forgotten, and a cursor before them resumes nothing."""

    def __init__(self, most: int = 256) -> None:
        self._events: deque[tuple[int, str, JSONRPCMessage | None]] = deque(maxlen=most)
        self._next = 1

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        event, self._next = self._next, self._next + 1
        self._events.append((event, stream_id, message))
        return str(event)

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        seen = next((stream for event, stream, _ in self._events if str(event) == last_event_id), None)
        if seen is None:
            return None
        for event, stream, message in list(self._events):
            if stream == seen and event > int(last_event_id) and message is not None:
                await send_callback(EventMessage(message, str(event)))
        return seen


class ReplayingSessions(StreamableHTTPSessionManager):
    """The SDK's session manager, with a new store of events for each session it opens.

    It reads `event_store` once per session; here every reading makes one. And no caller can use up the
    sessions of all: whoever opens one more than `most_each` loses its own oldest.
    """

    def __init__(
        self, app: Any, *, retry_ms: int = 1000, events: int = 256, most_each: int = 32, **settings: Any
    ) -> None:
        self._events_kept = events
        self._most_each = most_each
        super().__init__(app, retry_interval=retry_ms, **settings)

    @property
    def event_store(self) -> EventStore | None:
        return Replay(self._events_kept)

    @event_store.setter
    def event_store(self, store: EventStore | None) -> None:
        """Whatever the base class brings is not used."""

    def _admit_session(self, requestor: AuthorizationContext | None) -> StreamableHTTPServerTransport | None:
        admitted = super()._admit_session(requestor)
        theirs = [session for session, owner in self._session_owners.items() if owner == requestor]
        if len(theirs) > self._most_each:
            self._end(theirs[0])
        return admitted

    def end_all(self) -> None:
        """End every session and the streams it holds; their clients may open new ones elsewhere."""
        for session in list(self._server_instances):
            self._end(session)

    def _end(self, session: str) -> None:
        running: TaskGroup | None = self._task_group
        if running is not None:
            running.start_soon(self._discard_session, session, self._server_instances[session])
