"""Commands as tools: how they are listed, and how a call of one finds its way."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

import mcp_types as types
from mcp.server.context import HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError

from cohabit.errors import BadArgs, CohabitError, UnknownCommand
from cohabit.faces.mcp.backend import Backend
from cohabit.faces.mcp.progress import reporting
from cohabit.faces.mcp.refusals import bug, refused
from cohabit.faces.mcp.render import output_schema, rendered
from cohabit.faces.mcp.tasks import Task, Tasks
from cohabit.house.offers import Offer
from cohabit.model.suggest import nearest
from cohabit.room.common import LONGEST_WAIT_MS

KEY: Final = "cohabit/key"
"""The `_meta` key of an idempotency key."""
AS_TASK: Final = "wait_for_turn"
"""What becomes a task for clients that understand tasks."""
ROOM: Final = {"type": "string", "description": "the id of the room (see `rooms`)"}

Context = ServerRequestContext[Any, Any]


def tool_of(offer: Offer, *, roams: bool, bound: bool) -> types.Tool:
    """A command as a tool; with an argument `room`, where calls may name one and it has none of its own."""
    schema = offer.schema
    if roams and offer.about_room and "room" not in schema.get("properties", {}):
        required = [] if bound or offer.name == "rotate_token" else ["room"]
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


async def list_tools(backend: Backend) -> list[types.Tool]:
    bound = backend.room is not None
    return [tool_of(offer, roams=backend.roams, bound=bound) for offer in await backend.offers()]


class Caller:
    """Calls of tools. A wait becomes a task where the client understands tasks."""

    def __init__(self, tasks: Tasks) -> None:
        self._tasks = tasks

    async def call(self, ctx: Context, backend: Backend, params: types.CallToolRequestParams) -> HandlerResult:
        try:
            offer, args, room = await self._addressed(backend, params)
            if offer.name == AS_TASK and self._tasks.understood(ctx):
                return self._tasks.start(ctx, _until_my_turn(backend, args, room))
            async with reporting(ctx, offer, args):
                result = await backend.call(offer.name, args, room, _key(params))
            return rendered(result)
        except CohabitError as refusal:
            return refused(refusal)
        except MCPError:
            raise
        except Exception as unforeseen:
            return refused(bug(unforeseen))

    async def _addressed(
        self, backend: Backend, params: types.CallToolRequestParams
    ) -> tuple[Offer, dict[str, Any], str | None]:
        """Which command of which room this is, and its arguments without the room."""
        args = params.arguments or {}
        room = backend.room
        named = args.get("room") if backend.roams else None
        if named is not None and not isinstance(named, str):
            raise BadArgs("room: the id of a room is text")
        offer = await backend.find(params.name, named or room)
        if offer is None:
            raise await self._unknown(backend, params.name, named or room)
        if named is None or "room" in offer.schema.get("properties", {}):
            return offer, args, room
        return offer, {name: value for name, value in args.items() if name != "room"}, named

    async def _unknown(self, backend: Backend, tool: str, room: str | None) -> CohabitError:
        names = [offer.tool_name for offer in await backend.offers()]
        if room is None and tool in names:
            return BadArgs(f"{tool} is about a room; say which, with the argument room")
        return UnknownCommand(f"there is no tool {tool[:80]!r} here", did_you_mean=nearest(tool[:80], names, 3))


def _key(params: types.CallToolRequestParams) -> str | None:
    key = params.meta.get(KEY) if params.meta else None
    if key is not None and not isinstance(key, str):
        raise BadArgs(f"{KEY}: an idempotency key is text")
    return key


def _until_my_turn(
    backend: Backend, args: dict[str, Any], room: str | None
) -> Callable[[Task], Awaitable[types.CallToolResult]]:
    async def work(task: Task) -> types.CallToolResult:
        try:
            while True:
                result = rendered(await backend.call(AS_TASK, {**args, "wait_ms": LONGEST_WAIT_MS}, room))
                seen = result.structured_content or {}
                if seen.get("your_turn") or seen.get("over"):
                    return result
                task.say(f"waiting for {', '.join(seen.get('to_move', ())) or 'the others'}")
        except CohabitError as refusal:
            return refused(refusal)

    return work
