"""Commands as tools: how they are listed, and how a call of a tool becomes a call of its command."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, Final

import mcp_types as types
import msgspec
from mcp.server.context import HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError

from cohabit.errors import BadArgs, CohabitError, Unauthorized, internal_error
from cohabit.faces.mcp.backend import Backend
from cohabit.faces.mcp.progress import reporting
from cohabit.faces.mcp.refusals import refused
from cohabit.faces.mcp.render import output_schema, rendered
from cohabit.faces.mcp.tasks import Task, Tasks
from cohabit.house.offers import Offer, about_the_room

KEY: Final = "cohabit/key"
"""The `_meta` key of an idempotency key."""
ROOM: Final = {"type": "string", "description": "the id of the room"}

Context = ServerRequestContext[Any, Any]


def tool_of(offer: Offer, *, roams: bool, bound: bool) -> types.Tool:
    """A command as a tool; with an argument `room`, where calls may name one and it has none of its own."""
    schema = offer.schema
    if roams and offer.about != "house" and not _takes_room(offer):
        required = ["room"] if offer.about == "room" and not bound else []
        schema = {
            **schema,
            "properties": {"room": ROOM, **schema.get("properties", {})},
            "required": [*required, *schema.get("required", [])],
        }
    reads = not offer.records
    return types.Tool(
        name=offer.tool_name,
        title=offer.title,
        description=offer.description,
        input_schema=schema,
        output_schema=output_schema(offer.output_schema),
        annotations=types.ToolAnnotations(
            title=offer.title,
            read_only_hint=reads,
            destructive_hint=offer.records and offer.category == "control",
            idempotent_hint=reads,
            open_world_hint=False,
        ),
    )


def _takes_room(offer: Offer) -> bool:
    return "room" in offer.schema.get("properties", {})


async def offered(backend: Backend) -> list[Offer]:
    """What the caller is offered as tools: where it cannot name a room, or is not in it yet, only what is about it."""
    offers = await backend.offers(backend.room)
    if backend.room is None:
        return list(offers)
    here = about_the_room(offers)
    return list(offers) if backend.roams and not _only_joins(here) else here


def _only_joins(offers: Sequence[Offer]) -> bool:
    return all(offer.joins for offer in offers)


async def list_tools(backend: Backend) -> types.ListToolsResult:
    offers = await offered(backend)
    tools = [tool_of(offer, roams=backend.roams, bound=backend.room is not None) for offer in offers]
    if _only_joins(offers):  # after joining there are others, so this list must not be cached
        return types.ListToolsResult(tools=tools, ttl_ms=0)
    return types.ListToolsResult(tools=tools)


class Caller:
    """Calls of tools. A wait becomes a task where the client supports tasks."""

    def __init__(self, tasks: Tasks) -> None:
        self._tasks = tasks

    async def call(self, ctx: Context, backend: Backend, params: types.CallToolRequestParams) -> HandlerResult:
        try:
            offer, args, room = await self._addressed(backend, params)
            if offer is None:  # the house says what is wrong with it
                return rendered(await backend.call(params.name, args, room, _key(params)))
            if offer.task and self._tasks.understood(ctx):
                return self._tasks.start(ctx, _until_done(backend, offer, args, room))
            call = backend.call(offer.name, args, room, _key(params))
            if not offer.waits:
                return rendered(await call)
            async with reporting(ctx, offer, args):
                return rendered(await _while_valid(backend, call))
        except CohabitError as refusal:
            return refused(refusal)
        except MCPError:
            raise
        except Exception as unforeseen:
            return refused(internal_error(unforeseen, "the MCP interface"))

    async def _addressed(
        self, backend: Backend, params: types.CallToolRequestParams
    ) -> tuple[Offer | None, dict[str, Any], str | None]:
        """Which command of which room this is, and its arguments without the room."""
        args = params.arguments or {}
        named = args.get("room") if backend.roams else None
        if named is not None and not isinstance(named, str):
            raise BadArgs("room: the id of a room is text")
        offer = await backend.find_tool(params.name, backend.room)
        if named is None or (offer is not None and _takes_room(offer)):
            return offer, args, backend.room
        rest = {name: value for name, value in args.items() if name != "room"}
        return await backend.find_tool(params.name, named), rest, named


def _key(params: types.CallToolRequestParams) -> str | None:
    key = params.meta.get(KEY) if params.meta else None
    if key is not None and not isinstance(key, str):
        raise BadArgs(f"{KEY}: an idempotency key is text")
    return key


async def _while_valid(backend: Backend, call: Coroutine[Any, Any, Any]) -> Any:
    """The result of a call that may wait; it ends when the caller's credential is revoked or expires."""
    waiting = asyncio.ensure_future(call)
    invalid = False

    def end() -> None:
        nonlocal invalid
        invalid = True
        waiting.cancel()

    stop = backend.until_invalid(end)
    try:
        return await waiting
    except asyncio.CancelledError:
        if not invalid:  # the client has closed the stream
            raise
        raise Unauthorized("this token was revoked or has expired; ask your host for a new one") from None
    finally:
        stop()


def _until_done(
    backend: Backend, offer: Offer, args: dict[str, Any], room: str | None
) -> Callable[[Task], Awaitable[types.CallToolResult]]:
    """Call a command that waits until one of the fields is set which say that it is done."""
    longest = offer.schema["properties"]["wait_ms"]["maximum"]

    async def work(task: Task) -> types.CallToolResult:
        try:
            while True:
                result = await backend.call(offer.name, {**args, "wait_ms": longest}, room)
                values = msgspec.to_builtins(result)
                if any(values.get(field) for field in offer.task):
                    return rendered(result)
                task.say("still waiting")
        except CohabitError as refusal:
            return refused(refusal)

    return work
