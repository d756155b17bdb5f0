"""The MCP server itself: every method of the protocol, answered through a `Backend`."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any, Final

import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from cohabit import __version__
from cohabit.faces.mcp import prompts, resources, tools
from cohabit.faces.mcp.backend import Backend
from cohabit.faces.mcp.fixtures import Fixtures
from cohabit.faces.mcp.listening import Listening
from cohabit.faces.mcp.refusals import mask
from cohabit.faces.mcp.tasks import Tasks
from cohabit.faces.mcp.words import instructions

Context = ServerRequestContext[Any, Any]
FRESH_MS: Final = 60_000
"""How long a list may be kept; grants change seldom, and `listChanged` tells of it."""
LISTS: Final = ("server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list")
TITLE: Final = "Cohabit"


class Protocol:
    """Handlers for all methods. ``backend_of`` says whose request it is, and where it goes."""

    def __init__(self, backend_of: Callable[[Context], Backend], *, streams_each: int, fixtures: bool = False) -> None:
        self._backend_of = backend_of
        self.tasks = Tasks(owner=lambda ctx: backend_of(ctx).who)
        self._caller = tools.Caller(self.tasks)
        self.listening = Listening(backend_of, streams_each, self._is_fixture)
        self.fixtures = Fixtures(self.tasks, self.listening.publish) if fixtures else None
        self.server = self._make_server()

    def _make_server(self) -> Server[Any]:
        server: Server[Any] = Server(
            "cohabit",
            version=__version__,
            title=TITLE,
            description="Several AI agents, and people, in the same world.",
            cache_hints={
                **{method: CacheHint(FRESH_MS, "private") for method in LISTS},
                "resources/read": CacheHint(0, "private"),
            },
            get_tool_input_schema=self._header_schema,
            on_list_tools=self._list_tools,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
            on_completion=self._complete,
            on_subscribe_resource=self.listening.on_subscribe,
            on_unsubscribe_resource=self.listening.on_unsubscribe,
            on_subscriptions_listen=self.listening.on_listen,
        )
        server.add_request_handler("tools/call", types.CallToolRequestParams, self._call_tool)
        server.add_request_handler("server/discover", types.RequestParams, self._discover)
        self.tasks.install(server)
        server.middleware[:] = [
            mask,
            self._introduce,
        ]  # in place of OpenTelemetry, which costs and sends nothing here
        if self.fixtures is not None:
            self.fixtures.install(server)
            security = RequestStateSecurity(
                keys=[secrets.token_bytes(32)], bind_principal=lambda ctx: self._backend_of(ctx).who
            )
            server.middleware.append(RequestStateBoundary(security, default_audience="cohabit"))
        return server

    def close(self) -> None:
        """End streams and tasks."""
        self.listening.close()
        self.tasks.close()

    # -- who and where ----------------------------------------------------------------------------
    async def _discover(self, ctx: Context, params: types.RequestParams) -> types.DiscoverResult:
        return types.DiscoverResult(
            supported_versions=list(MODERN_PROTOCOL_VERSIONS),
            capabilities=self.server.get_capabilities(protocol_version=ctx.protocol_version),
            instructions=await instructions(self._backend_of(ctx)),
        )

    async def _introduce(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Middleware: the older handshake answers with the same instructions as `server/discover`."""
        answer = await call_next(ctx)
        if ctx.method == "initialize" and isinstance(answer, dict):
            answer["instructions"] = await instructions(self._backend_of(ctx))
        return answer

    # -- tools ------------------------------------------------------------------------------------
    async def _list_tools(self, ctx: Context, params: Any) -> types.ListToolsResult:
        listed = await tools.list_tools(self._backend_of(ctx))
        return types.ListToolsResult(tools=[*listed, *(self.fixtures.tools if self.fixtures else ())])

    async def _call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> HandlerResult:
        if self.fixtures is not None and (answer := await self.fixtures.call_tool(ctx, params)) is not None:
            return answer
        return await self._caller.call(ctx, self._backend_of(ctx), params)

    def _header_schema(self, name: str) -> dict[str, Any] | None:
        """No argument of ours is repeated in a header, so there is nothing to compare."""
        return self.fixtures.input_schema(name) if self.fixtures is not None else None

    # -- resources --------------------------------------------------------------------------------
    async def _list_resources(self, ctx: Context, params: Any) -> types.ListResourcesResult:
        listed = await resources.list_resources(self._backend_of(ctx))
        return types.ListResourcesResult(resources=[*listed, *(self.fixtures.resources if self.fixtures else ())])

    async def _list_templates(self, ctx: Context, params: Any) -> types.ListResourceTemplatesResult:
        more = self.fixtures.templates if self.fixtures else ()
        return types.ListResourceTemplatesResult(resource_templates=[*resources.list_templates(), *more])

    async def _read_resource(
        self, ctx: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult | types.InputRequiredResult:
        if self.fixtures is not None and (answer := await self.fixtures.read_resource(ctx, params)) is not None:
            return answer
        return await resources.read(self._backend_of(ctx), params.uri)

    def _is_fixture(self, uri: str) -> bool:
        return self.fixtures is not None and self.fixtures.has_resource(uri)

    # -- prompts ----------------------------------------------------------------------------------
    async def _list_prompts(self, ctx: Context, params: Any) -> types.ListPromptsResult:
        listed = prompts.list_prompts(self._backend_of(ctx))
        return types.ListPromptsResult(prompts=[*listed, *(self.fixtures.prompts if self.fixtures else ())])

    async def _get_prompt(
        self, ctx: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult | types.InputRequiredResult:
        if self.fixtures is not None and (answer := await self.fixtures.get_prompt(ctx, params)) is not None:
            return answer
        return await prompts.get_prompt(self._backend_of(ctx), params)

    async def _complete(self, ctx: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        if self.fixtures is not None and (answer := await self.fixtures.complete(ctx, params)) is not None:
            return answer
        return await resources.complete(self._backend_of(ctx), params)
