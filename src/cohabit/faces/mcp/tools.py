"""Commands as tools: how they are listed, and how a call of a tool becomes a call of its command."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

import mcp_types as types
import msgspec
from mcp.server.context import HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError

from cohabit.errors import BadArgs, CohabitError, Unauthorized, UnknownCommand, UnknownRoom, internal_error
from cohabit.faces.mcp import apps
from cohabit.faces.mcp.backend import Backend
from cohabit.faces.mcp.refusals import refused
from cohabit.faces.mcp.render import output_schema, rendered
from cohabit.faces.mcp.short_replies import ShortReplies
from cohabit.faces.mcp.tasks import Task, Tasks
from cohabit.faces.mcp.tool_list import ACT, rewriting, tool_commands, worded
from cohabit.house.calls.command_list import CommandInfo, with_texts

KEY: Final = "cohabit/key"
"""The `_meta` key of an idempotency key."""
NO_NEW_TOOLS: Final = ("action", "bus")
"""Categories of commands that do not change what the caller may do in a room. (`act` runs others, too, and an action in
one room can take the caller into another.)"""
ASK: Final = "ask"
"""The command by which a member asks for permissions."""
ROOM: Final = {"type": "string", "description": "the id of the room"}

Context = ServerRequestContext[Any, Any]


def tool_of(info: CommandInfo, backend: Backend, document: str | None = None) -> types.Tool:
    """A command as a tool; with an argument `room`, where calls may name one and it has none of its own.

    ``document``: the address of the front end of the room.
    """
    schema = _arguments(info, backend)
    meta = apps.tool_meta(info, document, for_model=info.for_model and (info.listed or backend.full))
    if not backend.full:
        return types.Tool(
            name=info.tool_name,
            description=info.description,
            input_schema=short_schema(schema),
            annotations=_short_annotations(info),
            _meta=meta,
        )
    return types.Tool(
        name=info.tool_name,
        title=info.title,
        description=info.description,
        input_schema=schema,
        output_schema=output_schema(info.output_schema),
        annotations=types.ToolAnnotations(
            read_only_hint=not info.records,
            destructive_hint=_is_destructive(info),
            idempotent_hint=not info.records,
            open_world_hint=False,
        ),
        _meta=meta,
    )


def _short_annotations(info: CommandInfo) -> types.ToolAnnotations:
    """The hint by which clients decide whether to ask a person before a call."""
    if not info.records:
        return types.ToolAnnotations(read_only_hint=True)
    return types.ToolAnnotations(destructive_hint=_is_destructive(info))


def _is_destructive(info: CommandInfo) -> bool:
    return info.records and info.category == "control"


def _arguments(info: CommandInfo, backend: Backend) -> dict[str, Any]:
    schema, is_of_here = info.schema, info.where == "world" and not backend.lists_house
    if backend.roams and not is_of_here and info.about != "house" and not _takes_room(info):
        required = ["room"] if info.about == "room" and backend.room is None else []
        return {
            **schema,
            "properties": {"room": ROOM, **schema.get("properties", {})},
            "required": [*required, *schema.get("required", [])],
        }
    return schema


def _takes_room(info: CommandInfo) -> bool:
    return "room" in info.schema.get("properties", {})


async def list_tools(backend: Backend, *, with_documents: bool = False) -> types.ListToolsResult:
    """The tools of a caller. ``with_documents``: its client shows front ends, so the tools for those are listed too."""
    try:
        commands = await tool_commands(backend)
    except (Unauthorized, UnknownRoom):  # a client lists the tools again after `leave`; the next call says why
        return types.ListToolsResult(tools=[])
    document = apps.document_uri(commands, backend) if with_documents or backend.full else None
    tools = [
        tool_of(info, backend, document)
        for info in commands
        if info.listed or backend.full or (document is not None and info.for_front_end)
    ]
    texts = " ".join(f"{tool.description} {tool.input_schema}" for tool in tools)
    rewrite = await rewriting(backend, texts, commands)
    for tool in tools:
        tool.description = rewrite(tool.description or "")
        tool.input_schema = with_texts(tool.input_schema, rewrite)
    return types.ListToolsResult(tools=tools)


async def call_tool(
    tasks: Tasks,
    replies: ShortReplies,
    backend_of: Callable[[Context], Backend],
    changed: Callable[[Backend], None],
    ctx: Context,
    params: types.CallToolRequestParams,
) -> HandlerResult:
    """The result of a call of a tool. A wait becomes a task where the client supports tasks.

    ``changed``: told if the caller may have other tools now.
    """
    backend, named = backend_of(ctx), (params.arguments or {}).get("room")
    result = await _called(tasks, replies, backend, ctx, params, changed)
    if not isinstance(result, types.CallToolResult):
        return result
    return await _worded(backend, result, named if backend.roams and isinstance(named, str) else None)


async def _worded(backend: Backend, result: types.CallToolResult, room: str | None) -> types.CallToolResult:
    """The result with a text that names only tools which the caller has."""
    for part in result.content:
        if isinstance(part, types.TextContent):
            part.text = await worded(backend, part.text, room, is_reply=True)
    return result


async def _called(
    tasks: Tasks,
    replies: ShortReplies,
    backend: Backend,
    ctx: Context,
    params: types.CallToolRequestParams,
    changed: Callable[[Backend], None],
) -> HandlerResult:
    values = backend.full
    try:
        info, args, room = await _addressed(backend, params)
        values = values or (info is not None and _gives_values(info, apps.shown_by(ctx)))
        if info is None:  # the house says what is wrong with it
            return rendered(await backend.call(params.name, args, room, _key(params)), values=values)
        if info.task and tasks.understood(ctx):
            return tasks.start(
                ctx, _until_done(backend, info, args, room, values), lambda: _now(backend, info, args, room, values)
            )
        call = backend.call(info.name, args, room, _key(params))
        readable = info.where == "world" or info.runs_others
        if not info.waits or info.records:  # what was changed is answered, even if the caller's token ended with it
            result = await call
            if info.records and (info.category not in NO_NEW_TOOLS or info.name == ACT or backend.roams):
                changed(backend)
        else:
            async with reporting(ctx, info, args):
                result = await _while_valid(backend, call)
        short = None if backend.full else await replies.text_of(backend, room, result)
        return rendered(result, readable, values=values, text=short)
    except CohabitError as refusal:
        return refused(await _with_next_step(backend, refusal, params), values=values)
    except MCPError:
        raise
    except Exception as unforeseen:
        return refused(internal_error(unforeseen, "the MCP interface"), values=values)


async def _with_next_step(backend: Backend, refusal: CohabitError, params: types.CallToolRequestParams) -> CohabitError:
    """A refusal with a command that helps: to ask for a permission that the caller lacks, or to find a name."""
    if isinstance(refusal, UnknownCommand) and not refusal.did_you_mean and not refusal.message.endswith("."):
        refusal.message += "; `rules` lists the commands of this room"
    elif isinstance(refusal, BadArgs) and refusal.message.endswith("needs a room; pass its id as room"):
        refusal.message += " (`rooms` lists yours)"
    named = (params.arguments or {}).get("room") if backend.roams else None
    room = named if isinstance(named, str) else backend.room
    if refusal.details.get("needs") and "requires" in refusal.message and room is not None:
        with suppress(CohabitError):
            if f"`{ASK}`" not in refusal.message and await backend.may(ASK, room):
                refusal.message = f"{refusal.message.rstrip('.')}. `{ASK}` asks for it."
    return refusal


async def _addressed(
    backend: Backend, params: types.CallToolRequestParams
) -> tuple[CommandInfo | None, dict[str, Any], str | None]:
    """The command and its room, and the arguments without the room."""
    args = params.arguments or {}
    named = args.get("room") if backend.roams else None
    if named is not None and not isinstance(named, str):
        raise BadArgs("room: the id of a room is text")
    info = await backend.find_tool(params.name, backend.room)
    if named is None or (info is not None and _takes_room(info)):
        return *await _unwrapped(backend, info, args, backend.room), backend.room
    rest = {name: value for name, value in args.items() if name != "room"}
    return *await _unwrapped(backend, await backend.find_tool(params.name, named), rest, named), named


async def _unwrapped(
    backend: Backend, info: CommandInfo | None, args: dict[str, Any], room: str | None
) -> tuple[CommandInfo | None, dict[str, Any]]:
    """A command of the house that is called with `act`. Rooms run only their own."""
    wanted = args.get("action") if info is not None and info.name == ACT else None
    found = await backend.find_tool(wanted, room) if isinstance(wanted, str) else None
    return (found, args.get("params") or {}) if found is not None and found.where == "house" else (info, args)


def _gives_values(info: CommandInfo, with_documents: bool) -> bool:
    """True if a document reads the result. It needs the values, which a model would read a second time."""
    return not info.for_model or (with_documents and (info.for_front_end or info.shows_world))


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


async def _now(
    backend: Backend, info: CommandInfo, args: dict[str, Any], room: str | None, values: bool
) -> types.CallToolResult:
    """The result of a command that waits, without waiting."""
    try:
        now = await backend.call(info.name, {**args, "wait_ms": 0}, room)
        return await _worded(backend, rendered(now, values=values), room)
    except CohabitError as refusal:
        return refused(refusal, values=values)


def _until_done(
    backend: Backend, info: CommandInfo, args: dict[str, Any], room: str | None, values: bool
) -> Callable[[Task], Awaitable[types.CallToolResult]]:
    """Call a command that waits until one of the fields is set which say that it is done."""
    longest = info.schema["properties"]["wait_ms"]["maximum"]

    async def work(task: Task) -> types.CallToolResult:
        try:
            while True:
                result = await backend.call(info.name, {**args, "wait_ms": longest}, room)
                fields = msgspec.to_builtins(result)
                if any(fields.get(field) for field in info.task):
                    return await _worded(backend, rendered(result, values=values), room)
                task.say("still waiting")
        except CohabitError as refusal:
            return refused(refusal, values=values)

    return work


# -- schemas of arguments, without what a model does not need to call a tool --------------------
NAMED: Final = ("properties", "$defs")
"""Keywords whose values map names to schemas."""
LARGE: Final = 2**31 - 1
"""Bounds from here on are those of a machine's integers, not of a game."""


def short_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema that allows the same calls, but for `null` instead of leaving an argument out.

    It has no titles and no defaults that are empty, zero or false, and does not say that other arguments are refused.
    """
    options = schema.get("anyOf", ())
    present = [option for option in options if option.get("type") != "null"]
    if len(present) == 1 and len(present) < len(options):
        around = {name: value for name, value in schema.items() if name != "anyOf"}
        return short_schema({**present[0], **around})
    return {name: _below(name, value) for name, value in schema.items() if not _is_left_out(name, value)}


def _is_left_out(keyword: str, value: Any) -> bool:
    return (
        keyword == "title"
        or (keyword == "required" and not value)
        or (keyword == "additionalProperties" and value is False)
        or (keyword == "default" and not value)
        or (keyword in ("minimum", "maximum") and abs(value) >= LARGE)
    )


def _below(keyword: str, value: Any) -> Any:
    if keyword in NAMED:
        return {name: short_schema(below) for name, below in value.items()}
    if isinstance(value, Mapping) and keyword in ("items", "additionalProperties"):
        return short_schema(value)
    if keyword in ("anyOf", "prefixItems"):
        return [short_schema(below) for below in value]
    return value


# -- progress of a call that waits --------------------------------------------------------------
REPORT_EVERY_S: Final = 5.0


@asynccontextmanager
async def reporting(
    ctx: ServerRequestContext[Any, Any], info: CommandInfo, args: Mapping[str, Any]
) -> AsyncIterator[None]:
    """Report how much of its time to wait a call has used, for as long as the block runs, to a client that asks for it.
    It would give up on a call that is silent for too long."""
    wait_ms = _wait_ms(info, args)
    if wait_ms <= 0 or ctx.meta is None or "progress_token" not in ctx.meta:
        yield
        return
    reporter = asyncio.create_task(_report(ctx, wait_ms / 1000), name=f"progress of {info.name}")
    try:
        yield
    finally:
        reporter.cancel()
        await asyncio.gather(reporter, return_exceptions=True)  # a client that is gone needs no reports


async def _report(ctx: ServerRequestContext[Any, Any], total_s: float) -> None:
    loop = asyncio.get_running_loop()
    began = loop.time()
    while True:
        await ctx.session.report_progress(loop.time() - began, total_s, "waiting")
        await asyncio.sleep(REPORT_EVERY_S)


def _wait_ms(info: CommandInfo, args: Mapping[str, Any]) -> int:
    declared = info.schema.get("properties", {}).get("wait_ms", {})
    given = args.get("wait_ms", declared.get("default", 0))
    return given if info.waits and isinstance(given, int) else 0
