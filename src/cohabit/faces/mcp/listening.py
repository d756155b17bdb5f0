"""Notifications that something changed, in both eras of the protocol.

    2026-07-28   subscriptions/listen: the answer is a stream; acknowledged first, ended with a result
    2025-11-25   resources/subscribe: notifications come on the session's own stream

A notification says only *that* something changed, so many changes make one: what is due is a set. It is filled
from a subscription of the caller, so it holds only what this caller may perceive, and the grant is checked again
when a notification is sent.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

import mcp_types as types
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import SUBSCRIPTION_ID_META_KEY, ResourceUpdated, ServerEvent, ToolsListChanged
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import event_to_notification

from cohabit.errors import Busy, CohabitError, PermissionDenied, UnknownRoom
from cohabit.faces.mcp.backend import Backend, Stop, Topics
from cohabit.faces.mcp.refusals import failed
from cohabit.faces.mcp.resources import Address, may_watch
from cohabit.faces.mcp.tools import offered

log = logging.getLogger("cohabit")
Context = ServerRequestContext[Any, Any]
MAX_URIS: Final = 64
"""Addresses in one subscription."""


class Interest:
    """What one stream has subscribed to, and which notifications are due."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.uris: dict[str, Address] = {}
        self._rooms: dict[str, Stop] = {}
        self._due: dict[ServerEvent, None] = {}
        self._wake = asyncio.Event()
        self._over = False
        self._tools: list[str] | None = None
        self._stop_watching = backend.until_invalid(self.close)

    async def add(self, uri: str, at: Address) -> None:
        """Notify of changes at an address."""
        self.uris[uri] = at
        await self._watch(at.room)

    async def add_tools(self) -> bool:
        """Notify when the list of tools changes. False where changes cannot be seen: in no room, or with no grant."""
        room = self.backend.room
        if room is None:
            return False
        try:
            await self._watch(room)
        except (UnknownRoom, PermissionDenied):
            return False
        self._tools = await self._tool_names()
        return True

    async def _watch(self, room: str) -> None:
        if room not in self._rooms:
            self._rooms[room] = await self.backend.watch(room, partial(self._changed, room))

    def remove(self, uri: str) -> None:
        self.uris.pop(uri, None)
        self._due.pop(ResourceUpdated(uri), None)
        wanted = {at.room for at in self.uris.values()}
        for room in [room for room in self._rooms if room not in wanted]:
            self._rooms.pop(room)()

    def _changed(self, room: str, topics: Topics) -> None:
        if not topics:
            self.close()
            return
        for uri, at in self.uris.items():
            if at.room == room and at.resource.topics & topics:
                self.put(ResourceUpdated(uri))
        if self._tools is not None and "rights" in topics:
            self.put(ToolsListChanged())

    def put(self, event: ServerEvent) -> None:
        self._due[event] = None
        self._wake.set()

    @property
    def waiting(self) -> list[ServerEvent]:
        """The notifications that are due."""
        return list(self._due)

    async def due(self) -> list[ServerEvent]:
        """Wait until notifications are due; an empty list means that the stream has ended."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            found, self._due = self.waiting, {}
            if self._over:
                return []
            if allowed := [event for event in found if await self._still(event)]:
                return allowed

    async def _still(self, event: ServerEvent) -> bool:
        """Whether the caller may be told of it now."""
        try:
            if isinstance(event, ToolsListChanged) and self._rooms:
                before, self._tools = self._tools, await self._tool_names()
                return before != self._tools
            at = self.uris.get(event.uri) if isinstance(event, ResourceUpdated) else None
            return at is None or await self.backend.may(at.command, at.room)
        except CohabitError as lost:  # the token was revoked, the room is gone, the member was removed
            log.debug("a subscription ends: %s", lost.code)
            self.close()
            return False

    async def _tool_names(self) -> list[str]:
        return [offer.tool_name for offer in await offered(self.backend)]

    def close(self) -> None:
        """End the stream."""
        self._over = True
        self._stop_watching()
        self._wake.set()
        for stop in self._rooms.values():
            stop()
        self._rooms.clear()


class Listening:
    """Every stream of a server. ``max_each``: how many one caller may hold."""

    def __init__(self, backend_of: Callable[[Context], Backend], max_each: int) -> None:
        self._backend_of = backend_of
        self._max_each = max_each
        self._held: Counter[str] = Counter()
        self._interests: dict[Interest, None] = {}
        self._sessions: dict[Connection, Interest] = {}
        self._senders: set[asyncio.Task[None]] = set()

    def close(self) -> None:
        """End every stream with a proper result."""
        for interest in list(self._interests):
            interest.close()

    @contextmanager
    def _opened(self, backend: Backend) -> Iterator[Interest]:
        caller = backend.caller  # of an invite that is accepted meanwhile it changes
        if self._held[caller] >= self._max_each:
            raise failed(Busy(f"you have {self._max_each} subscriptions already; end one first"))
        interest = Interest(backend)
        self._held[caller] += 1
        self._interests[interest] = None
        try:
            yield interest
        finally:
            interest.close()
            del self._interests[interest]
            self._held[caller] -= 1
            if not self._held[caller]:
                del self._held[caller]

    # -- 2026-07-28 -------------------------------------------------------------------------------
    async def on_listen(
        self, ctx: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """One stream. The acknowledgement names what is served; an address that the caller may not read is not."""
        backend, asked = self._backend_of(ctx), params.notifications
        uris = list(dict.fromkeys(asked.resource_subscriptions or ()))[:MAX_URIS]
        allowed = {uri: at for uri in uris if (at := await may_watch(backend, uri)) is not None}
        meta: dict[str, Any] = {SUBSCRIPTION_ID_META_KEY: ctx.request_id}
        with self._opened(backend) as interest:
            for uri, at in allowed.items():
                await interest.add(uri, at)
            tools = bool(asked.tools_list_changed) and await interest.add_tools()
            honoured = types.SubscriptionFilter(
                tools_list_changed=tools or None, resource_subscriptions=list(allowed) or None
            )
            acknowledged = types.SubscriptionsAcknowledgedNotificationParams(notifications=honoured, _meta=meta)
            await ctx.session.send_notification(
                types.SubscriptionsAcknowledgedNotification(params=acknowledged),
                related_request_id=ctx.request_id,
            )
            while events := await interest.due():
                for event in events:
                    await ctx.session.send_notification(
                        event_to_notification(event, meta), related_request_id=ctx.request_id
                    )
        return types.SubscriptionsListenResult(_meta=meta)

    # -- 2025-11-25 -------------------------------------------------------------------------------
    async def on_subscribe(self, ctx: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        backend = self._backend_of(ctx)
        at = await may_watch(backend, params.uri)
        if at is None:
            raise MCPError(types.INVALID_PARAMS, "Resource not found", {"uri": params.uri})
        interest = self._sessions.get(_connection(ctx.session)) or await self._session(ctx, backend)
        if len(interest.uris) >= MAX_URIS and params.uri not in interest.uris:
            raise failed(Busy(f"a session may subscribe to {MAX_URIS} resources"))
        await interest.add(params.uri, at)
        return types.EmptyResult()

    async def on_unsubscribe(self, ctx: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        interest = self._sessions.get(_connection(ctx.session))
        if interest is not None:
            interest.remove(params.uri)
        return types.EmptyResult()

    async def _session(self, ctx: Context, backend: Backend) -> Interest:
        """Start to notify a session, until it ends."""
        connection = _connection(ctx.session)
        opened = self._opened(backend)
        interest = opened.__enter__()
        self._sessions[connection] = interest
        sender = asyncio.create_task(self._send(ctx.session, interest), name="mcp session updates")
        self._senders.add(sender)

        def over(done: asyncio.Task[None]) -> None:
            self._senders.discard(done)
            if not done.cancelled() and (broken := done.exception()) is not None:
                log.debug("a session was lost while it was notified: %r", broken)
            self._sessions.pop(connection, None)
            opened.__exit__(None, None, None)

        sender.add_done_callback(over)
        connection.exit_stack.callback(sender.cancel)
        return interest

    async def _send(self, session: ServerSession, interest: Interest) -> None:
        """Runs in a task of its own, so a client that does not read blocks nothing else."""
        while events := await interest.due():
            for event in events:
                if isinstance(event, ResourceUpdated):
                    await session.send_resource_updated(event.uri)


def _connection(session: ServerSession) -> Connection:
    """The connection behind a session. The SDK has no other means to learn that a session has ended."""
    return session._connection
