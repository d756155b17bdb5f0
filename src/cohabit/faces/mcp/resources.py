"""Resources of a room: `cohabit://{room}/view` and others, and `ui://{room}/front_end`.

Commands declare which resource they are. Reading one is a call of its command by the caller, so it shows exactly
what the command shows.
"""

import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import mcp_types as types
import msgspec
from mcp.shared.exceptions import MCPError

from cohabit.errors import CohabitError, PermissionDenied, UnknownRoom
from cohabit.faces.mcp.apps import DOCUMENT_META, MIME_TYPE, is_document, uri_of
from cohabit.faces.mcp.backend import Backend
from cohabit.faces.mcp.tool_list import worded
from cohabit.house.calls.command_list import CommandInfo, room_commands
from cohabit.room.commands import Resource

JSON: Final = "application/json"
TEXT: Final = "text/plain"
MAX_ROOMS: Final = 50
"""Rooms whose resources are listed on `/mcp`; for others there are the templates."""
MAX_COMPLETIONS: Final = 100
_URI: Final = re.compile(r"(cohabit|ui)://([^/?#]+)/([a-z_]+)(?:/([^/?#]+))?")


class Address(NamedTuple):
    """A resource of a room, or one item of it."""

    uri: str
    room: str
    command: str
    resource: Resource
    item: str | None = None


async def find(backend: Backend, uri: str) -> Address | None:
    """The resource at an address for this caller; None if there is none."""
    match = _URI.fullmatch(uri)
    if match is None:
        return None
    scheme, room, name, item = match.groups()
    if not backend.roams and room != backend.room:
        return None
    try:
        info = await backend.find_resource(name, room)
    except UnknownRoom:
        return None
    if info is None or info.resource is None or info.resource.scheme != scheme:
        return None
    if item is not None and not info.resource.items:
        return None
    return Address(uri, room, info.name, info.resource, item)


def _not_found(uri: str) -> MCPError:
    return MCPError(types.INVALID_PARAMS, "Resource not found", {"uri": uri})


def _resources(commands: Sequence[CommandInfo]) -> list[Resource]:
    return [info.resource for info in room_commands(commands) if info.resource is not None]


def _mime_type(resource: Resource) -> str:
    return MIME_TYPE if is_document(resource) else TEXT if resource.text else JSON


def _meta(resource: Resource) -> dict[str, Any] | None:
    return DOCUMENT_META if is_document(resource) else None


async def list_resources(backend: Backend) -> types.ListResourcesResult:
    """The resources of the rooms that the caller is in, as far as its grants go."""
    rooms = [backend.room] if backend.room is not None else (await _rooms(backend))[:MAX_ROOMS]
    found = [
        types.Resource(
            uri=uri_of(resource, room),
            name=f"{room}/{resource.name}",
            title=resource.title,
            description=resource.description,
            mime_type=_mime_type(resource),
            _meta=_meta(resource),
        )
        for room in rooms
        for resource in _resources(await backend.commands(room))
    ]
    return types.ListResourcesResult(resources=found)


async def list_templates(backend: Backend) -> types.ListResourceTemplatesResult:
    """The same for any room, and for single items."""
    found = []
    for resource in _resources(await backend.commands(backend.room)):
        found.append(
            types.ResourceTemplate(
                uri_template=uri_of(resource, "{room}"),
                name=resource.name,
                title=resource.title,
                description=resource.description,
                mime_type=_mime_type(resource),
            )
        )
        if resource.items:
            found.append(
                types.ResourceTemplate(
                    uri_template=_item_template(resource),
                    name=f"{resource.name}/{resource.item_key}",
                    title=resource.title,
                    description=f"{resource.description}: one of the {resource.items}",
                    mime_type=JSON,
                )
            )
    return types.ListResourceTemplatesResult(resource_templates=found)


def _item_template(resource: Resource) -> str:
    return f"cohabit://{{room}}/{resource.name}/{{{resource.item_key}}}"


async def read(backend: Backend, uri: str) -> types.ReadResourceResult:
    """The current content of a resource."""
    at = await find(backend, uri)
    if at is None:
        raise _not_found(uri)
    try:
        plain = await _values(backend, at.command, at.resource, at.room)
    except UnknownRoom:
        raise _not_found(uri) from None
    if is_document(at.resource):
        document = types.TextResourceContents(
            uri=uri, mime_type=MIME_TYPE, text=str(plain[at.resource.text]), _meta=_meta(at.resource)
        )
        return types.ReadResourceResult(contents=[document])
    contents: list[types.TextResourceContents | types.BlobResourceContents] = []
    if at.item is not None:
        key = at.resource.item_key
        plain = next((item for item in plain[at.resource.items] if item[key] == at.item), None)
        if plain is None:
            raise _not_found(uri)
    elif at.resource.text:
        text = await worded(backend, str(plain[at.resource.text]), at.room, is_reply=True)
        contents.append(types.TextResourceContents(uri=uri, mime_type=TEXT, text=text))
    body = msgspec.json.encode(plain).decode()
    contents.append(types.TextResourceContents(uri=uri, mime_type=JSON, text=body))
    return types.ReadResourceResult(contents=contents)


async def _values(backend: Backend, command: str, resource: Resource, room: str) -> Any:
    return msgspec.to_builtins(await backend.call(command, resource.args, room))


async def may_watch(backend: Backend, uri: str) -> Address | None:
    """The address, if the caller may be told of its changes."""
    at = await find(backend, uri)
    if at is None or not at.resource.topics:
        return None
    try:
        return at if await backend.may(at.command, at.room) else None
    except (UnknownRoom, PermissionDenied):
        return None


# -- completion ---------------------------------------------------------------------------------
async def complete(backend: Backend, params: types.CompleteRequestParams) -> types.CompleteResult:
    """Ids of rooms, for templates and prompts; keys of items, for the templates of items."""
    wanted = params.argument
    given = (params.context.arguments or {}) if params.context else {}
    known: list[str] = []
    try:
        if wanted.name == "room":
            known = [backend.room] if backend.room is not None else await _rooms(backend)
        elif isinstance(params.ref, types.ResourceTemplateReference):
            known = await _item_keys(backend, params.ref.uri, wanted.name, backend.room or given.get("room"))
    except CohabitError:  # a caller who may not see them gets no completions
        known = []
    values = [value for value in known if value.startswith(wanted.value)]
    return types.CompleteResult(
        completion=types.Completion(
            values=values[:MAX_COMPLETIONS], total=len(values), has_more=len(values) > MAX_COMPLETIONS
        )
    )


async def _rooms(backend: Backend) -> list[str]:
    """The rooms that the caller is in."""
    return (await backend.introduction(None)).rooms


async def _item_keys(backend: Backend, template: str, variable: str, room: str | None) -> list[str]:
    if room is None:
        return []
    for info in await backend.commands(room):
        resource = info.resource
        if resource is not None and resource.item_key == variable and _item_template(resource) == template:
            plain = await _values(backend, info.name, resource, room)
            return sorted(item[variable] for item in plain[resource.items])
    return []
