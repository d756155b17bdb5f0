"""The MCP server: every method of the protocol, answered through a `Backend`."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from cohabit.faces.mcp import apps, prompts, resources, tools
from cohabit.faces.mcp.backend import Backend
from cohabit.faces.mcp.listening import Listening
from cohabit.faces.mcp.refusals import mask
from cohabit.faces.mcp.short_replies import ShortReplies
from cohabit.faces.mcp.tasks import Tasks
from cohabit.version import __version__

Context = ServerRequestContext[Any, Any]
FRESH_MS: Final = 60_000
"""The time that a list may be cached. Grants change seldom, and `listChanged` tells of it."""
LISTS: Final = ("server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list")
TITLE: Final = "Cohabit"


class Protocol:
    """Handlers for all methods. ``backend_of`` gives the backend of the caller who sent a request."""

    def __init__(self, backend_of: Callable[[Context], Backend], *, streams_each: int) -> None:
        self._backend_of = backend_of
        self.tasks = Tasks(
            owner=lambda ctx: backend_of(ctx).caller,
            until_invalid=lambda ctx, tell: backend_of(ctx).until_invalid(tell),
        )
        self.listening = Listening(backend_of, streams_each)
        self.server = self._make_server()

    def _make_server(self) -> Server[Any]:
        backend_of = self._backend_of
        server: Server[Any] = Server(
            "cohabit",
            version=__version__,
            title=TITLE,
            description="Several AI agents, and people, in the same world.",
            cache_hints={
                **{method: CacheHint(FRESH_MS, "private") for method in LISTS},
                # Tools change with the room, the seat and the game; a model that does not see a new one cannot use it.
                "tools/list": CacheHint(0, "private"),
                "resources/read": CacheHint(0, "private"),
            },
            get_tool_input_schema=lambda name: None,  # no argument of ours is repeated in a header
            on_list_tools=self._list_tools,
            on_list_resources=lambda ctx, _: resources.list_resources(backend_of(ctx)),
            on_list_resource_templates=lambda ctx, _: resources.list_templates(backend_of(ctx)),
            on_read_resource=lambda ctx, params: resources.read(backend_of(ctx), params.uri),
            on_list_prompts=lambda ctx, _: prompts.list_prompts(backend_of(ctx)),
            on_get_prompt=lambda ctx, params: prompts.get_prompt(backend_of(ctx), params),
            on_completion=lambda ctx, params: resources.complete(backend_of(ctx), params),
            on_subscribe_resource=self.listening.on_subscribe,
            on_unsubscribe_resource=self.listening.on_unsubscribe,
            on_subscriptions_listen=self.listening.on_listen,
        )
        server.add_request_handler(
            "tools/call",
            types.CallToolRequestParams,
            partial(tools.call_tool, self.tasks, ShortReplies(), backend_of, self.listening.may_have_new_tools),
        )
        server.add_request_handler("server/discover", types.RequestParams, self._discover)
        server.extensions[apps.EXTENSION] = {}
        self.tasks.install(server)
        server.middleware[:] = [mask, self._introduce]  # in place of OpenTelemetry, which costs and sends nothing here
        return server

    def close(self) -> None:
        """End streams and tasks."""
        self.listening.close()
        self.tasks.close()

    async def _list_tools(self, ctx: Context, _: Any) -> types.ListToolsResult:
        found = await tools.list_tools(self._backend_of(ctx), with_documents=apps.shown_by(ctx))
        if found.tools:
            await self.listening.follow_tools(ctx)
        return found

    # -- who and where ----------------------------------------------------------------------------
    async def _discover(self, ctx: Context, params: types.RequestParams) -> types.DiscoverResult:
        announced = self.server.get_capabilities(protocol_version=ctx.protocol_version)
        # The SDK announces that every list may change. `subscriptions/listen` tells of the list of tools only.
        changes = {"prompts": types.PromptsCapability(), "resources": types.ResourcesCapability(subscribe=True)}
        return types.DiscoverResult(
            supported_versions=list(MODERN_PROTOCOL_VERSIONS),
            capabilities=announced.model_copy(update=changes),
            instructions=await prompts.instructions(self._backend_of(ctx)),
        )

    async def _introduce(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Middleware: the older handshake answers with the same instructions as `server/discover`, and names MCP Apps,
        which clients of that era know; the SDK leaves all extensions out."""
        answer = await call_next(ctx)
        if ctx.method == "initialize" and isinstance(answer, dict):
            answer["instructions"] = await prompts.instructions(self._backend_of(ctx))
            told = {"extensions": {apps.EXTENSION: {}}, "tools": {"listChanged": True}}
            answer["capabilities"] = {**answer["capabilities"], **told}
        return answer
