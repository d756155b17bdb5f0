"""Notifications that something changed, in both eras of the protocol.

    2026-07-28   subscriptions/listen: the answer is a stream; acknowledged first, ended with a result
    2025-11-25   resources/subscribe: notifications come on the session's own stream

A notification says only *that* something changed, so many changes make one: what is due is a set. It is filled
from a subscription of the caller, so it holds only what this caller may perceive, and the grant is checked again
when a notification is sent.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Final

import mcp_types as types
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import SUBSCRIPTION_ID_META_KEY, ResourceUpdated, ServerEvent, ToolsListChanged
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import event_to_notification
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from cohabit.errors import Busy, CohabitError, PermissionDenied, UnknownRoom
from cohabit.faces.mcp.backend import Backend, Stop
from cohabit.faces.mcp.refusals import failed
from cohabit.faces.mcp.resources import Address, may_watch
from cohabit.faces.mcp.tool_list import tool_commands
from cohabit.house.streams.changes import RIGHTS, ROSTER, Topics

log = logging.getLogger("cohabit")
Context = ServerRequestContext[Any, Any]
MAX_URIS: Final = 64
"""Addresses in one subscription."""
NOT_SERVED: Final = (UnknownRoom, PermissionDenied)
"""Refusals that leave something out of the acknowledgement."""


class Interest:
    """The subscriptions of one stream, and the notifications that are due."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.uris: dict[str, Address] = {}
        self._rooms: dict[str, Stop] = {}
        self.due: dict[ServerEvent, None] = {}
        self._wake = asyncio.Event()
        self._over = False
        self.tools: list[str] | None = None  # their names, if the stream tells when they change
        self._watches_tools = False
        self._stop_watching = backend.until_invalid(self.close)

    async def add(self, uri: str, at: Address) -> None:
        """Notify of changes at an address."""
        await self._watch(at.room)
        self.uris[uri] = at

    async def add_tools(self) -> None:
        """Notify when the list of tools changes: with the caller's grants and seats, and with the rooms that it is in
        if it names one in each call."""
        room = self.backend.room
        for name in [room] if room is not None else (await self.backend.introduction(None)).rooms:
            await self._watch(name)
        self._watches_tools = True
        await self.note_tools()

    async def note_tools(self) -> None:
        """Compare the list of tools with this one from now on."""
        self.tools = await self._tool_names()

    async def _watch(self, room: str) -> None:
        if room not in self._rooms:
            self._rooms[room] = await self.backend.watch(room, partial(self._changed, room))

    def remove(self, uri: str) -> None:
        self.uris.pop(uri, None)
        self.due.pop(ResourceUpdated(uri), None)
        if self._watches_tools:
            return
        wanted = {at.room for at in self.uris.values()}
        for room in [room for room in self._rooms if room not in wanted]:
            self._rooms.pop(room)()

    def _changed(self, room: str, topics: Topics) -> None:
        if not topics and self.backend.room is None and self._watches_tools:  # it has left one of its rooms
            self._rooms.pop(room, lambda: None)()
            self.put(ToolsListChanged())
            return
        if not topics:
            self.close()
            return
        for uri, at in self.uris.items():
            if at.room == room and at.resource.topics & topics:
                self.put(ResourceUpdated(uri))
        if self.tools is not None and (RIGHTS | ROSTER) & topics:
            self.put(ToolsListChanged())

    def put(self, event: ServerEvent) -> None:
        self.due[event] = None
        self._wake.set()

    async def next(self) -> ServerEvent | None:
        """Wait for a notification that is due; None when the stream has ended."""
        while not self._over:
            event = next(iter(self.due), None)
            if event is None:
                self._wake.clear()
                await self._wake.wait()
                continue
            del self.due[event]
            if await self._still(event) and not self._over:
                return event
        return None

    async def _still(self, event: ServerEvent) -> bool:
        """True if the caller may be told of it now."""
        try:
            if isinstance(event, ToolsListChanged):
                before = self.tools
                await (self.add_tools() if self._watches_tools else self.note_tools())
                return before != self.tools
            at = self.uris.get(event.uri) if isinstance(event, ResourceUpdated) else None
            return at is None or await self.backend.may(at.command, at.room)
        except CohabitError as lost:  # the token was revoked, the room is gone, the member was removed
            log.debug("a subscription ends: %s", lost.code)
            self.close()
            return False

    async def _tool_names(self) -> list[str]:
        return [info.tool_name for info in await tool_commands(self.backend)]

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
        caller = backend.caller
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

    def may_have_new_tools(self, backend: Backend) -> None:
        """A caller has changed what it is in a room: its streams compare the lists of tools."""
        for interest in self._interests:
            if interest.backend.caller == backend.caller and interest.tools is not None:
                interest.put(ToolsListChanged())

    async def follow_tools(self, ctx: Context) -> None:
        """Tell a session of 2025-11-25 that has listed its tools when its own calls change them.

        It does not watch the room: a client that does counts as present, and such a session stays open."""
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return
        interest = self._sessions.get(_connection(ctx.session))
        with suppress(MCPError):  # a session beyond the limit lists its tools without that
            interest = interest or await self._session(ctx, self._backend_of(ctx))
            await interest.note_tools()

    # -- 2026-07-28 -------------------------------------------------------------------------------
    async def on_listen(
        self, ctx: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """One stream. The acknowledgement names what is served; an address that the caller may not read is not."""
        backend, asked = self._backend_of(ctx), params.notifications
        uris = list(dict.fromkeys(asked.resource_subscriptions or ()))[:MAX_URIS]
        meta: dict[str, Any] = {SUBSCRIPTION_ID_META_KEY: ctx.request_id}
        with self._opened(backend) as interest:
            for uri in uris:
                at = await may_watch(backend, uri)
                if at is not None:
                    with suppress(*NOT_SERVED):
                        await interest.add(uri, at)
            if asked.tools_list_changed:
                with suppress(*NOT_SERVED):
                    await interest.add_tools()
            honoured = types.SubscriptionFilter(
                tools_list_changed=interest.tools is not None or None,
                resource_subscriptions=list(interest.uris) or None,
            )
            acknowledged = types.SubscriptionsAcknowledgedNotificationParams(notifications=honoured, _meta=meta)
            await ctx.session.send_notification(
                types.SubscriptionsAcknowledgedNotification(params=acknowledged), related_request_id=ctx.request_id
            )
            while (event := await interest.next()) is not None:
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
        while (event := await interest.next()) is not None:
            if isinstance(event, ResourceUpdated):
                await session.send_resource_updated(event.uri)
            elif isinstance(event, ToolsListChanged):
                await session.send_tool_list_changed()


def _connection(session: ServerSession) -> Connection:
    """The connection behind a session. The SDK has no other means to learn that a session has ended."""
    return session._connection
