"""What can be read of a room under an address: `cohabit://{room}/view` and the like.

Each reading is a call of the command that stands behind it, by the caller, on the one path: there is nothing
here that could show more than the command does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import mcp_types as types
import msgspec
from mcp.shared.exceptions import MCPError

from cohabit.errors import CohabitError, PermissionDenied, UnknownRoom
from cohabit.faces.mcp.backend import Backend, Topics
from cohabit.faces.mcp.words import rules_text

JSON: Final = "application/json"
TEXT: Final = "text/plain"
MOST_ROOMS: Final = 50
"""So many rooms are listed on `/mcp`; for more there are the templates."""
MOST_VALUES: Final = 100
"""So many completions a client is sent."""
_URI: Final = re.compile(r"cohabit://([^/?#]+)/([a-z]+)(?:/([^/?#]+))?")


class Source(NamedTuple):
    """The command behind a resource, and what changes it."""

    command: str
    title: str
    description: str
    args: Mapping[str, Any]
    topics: Topics
    """What a subscriber is told of; where nothing is, it cannot be subscribed to."""


SOURCES: Final[Mapping[str, Source]] = {
    "rules": Source("rules", "Rules", "What the world is about, and its actions", {}, frozenset({"rights"})),
    "view": Source("view", "View", "What you see of the world now", {}, frozenset({"view"})),
    "roster": Source("roster", "Roster", "Who is in the room", {}, frozenset({"roster"})),
    "messages": Source(
        "recv_messages", "Messages", "What was written to you: the words of others, as data",
        {"since_seq": 0, "max": 200}, frozenset({"messages"}),
    ),
    "events": Source("events", "Events", "What happened lately", {"last": 100}, frozenset({"events"})),
    "schema": Source(
        "capabilities", "Schema", "Every command you may use, with its schemas", {}, frozenset({"rights"})
    ),
    "audit": Source("audit", "Audit", "Who was refused what, for hosts", {}, frozenset()),
}  # fmt: skip
MEMBER: Final = "cohabit://{room}/roster/{member}"


class Address(NamedTuple):
    """An address that somebody may ask about."""

    uri: str
    room: str
    source: Source
    member: str | None = None


def address(backend: Backend, uri: str) -> Address | None:
    """What an address means to this caller; None where it means nothing."""
    match = _URI.fullmatch(uri)
    if match is None:
        return None
    room, name, member = match.groups()
    source = SOURCES.get(name)
    if source is None or (member is not None and name != "roster") or (not backend.roams and room != backend.room):
        return None
    return Address(uri, room, source, member)


def not_found(uri: str) -> MCPError:
    return MCPError(types.INVALID_PARAMS, "Resource not found", {"uri": uri})


async def list_resources(backend: Backend) -> list[types.Resource]:
    """The resources of the rooms that the caller is in, as far as its grants go."""
    rooms = [backend.room] if backend.room is not None else (await rooms_of(backend))[:MOST_ROOMS]
    found = []
    for room in rooms:
        for name, source in SOURCES.items():
            if await _may(backend, source.command, room):
                found.append(
                    types.Resource(
                        uri=f"cohabit://{room}/{name}",
                        name=f"{room}/{name}",
                        title=source.title,
                        description=source.description,
                        mime_type=TEXT if name in ("rules", "view") else JSON,
                    )
                )
    return found


async def _may(backend: Backend, command: str, room: str) -> bool:
    try:
        return await backend.may(command, room)
    except UnknownRoom:
        return False


def list_templates() -> list[types.ResourceTemplate]:
    """The same for any room, and one member of a roster."""
    found = [
        types.ResourceTemplate(
            uri_template=f"cohabit://{{room}}/{name}",
            name=name,
            title=source.title,
            description=source.description,
            mime_type=TEXT if name in ("rules", "view") else JSON,
        )
        for name, source in SOURCES.items()
    ]
    about = "One member of the room"
    found.append(
        types.ResourceTemplate(uri_template=MEMBER, name="member", title="Member", description=about, mime_type=JSON)
    )
    return found


async def read(backend: Backend, uri: str) -> types.ReadResourceResult:
    """What stands at an address now."""
    at = address(backend, uri)
    if at is None:
        raise not_found(uri)
    try:
        plain = msgspec.to_builtins(await backend.call(at.source.command, at.source.args, at.room))
    except UnknownRoom:
        raise not_found(uri) from None
    if at.member is not None:
        plain = next((line for line in plain["members"] if line["id"] == at.member), None)
        if plain is None:
            raise not_found(uri)
    contents: list[types.TextResourceContents | types.BlobResourceContents] = []
    words = _words(at, plain)
    if words is not None:
        contents.append(types.TextResourceContents(uri=uri, mime_type=TEXT, text=words))
    body = msgspec.json.encode(plain).decode()
    contents.append(types.TextResourceContents(uri=uri, mime_type=JSON, text=body))
    return types.ReadResourceResult(contents=contents)


def _words(at: Address, plain: Mapping[str, Any]) -> str | None:
    if at.source.command == "rules":
        return rules_text(plain)
    return str(plain["text"]) if at.source.command == "view" else None


async def may_watch(backend: Backend, uri: str) -> Address | None:
    """The address, if the caller may be told of its changes."""
    at = address(backend, uri)
    if at is None or not at.source.topics:
        return None
    try:
        return at if await backend.may(at.source.command, at.room) else None
    except (UnknownRoom, PermissionDenied):
        return None


# -- completion ---------------------------------------------------------------------------------
async def complete(backend: Backend, params: types.CompleteRequestParams) -> types.CompleteResult:
    """Ids of rooms and members, for templates and for prompts."""
    wanted = params.argument
    known: list[str] = []
    try:
        if wanted.name == "room":
            known = [backend.room] if backend.room is not None else await rooms_of(backend)
        elif wanted.name == "member":
            given = (params.context.arguments or {}) if params.context else {}
            room = backend.room or given.get("room")
            if room is not None:
                known = await _members(backend, room)
    except CohabitError:  # a completion that is not to be had is an empty one
        known = []
    values = [value for value in known if value.startswith(wanted.value)]
    return types.CompleteResult(
        completion=types.Completion(values=values[:MOST_VALUES], total=len(values), has_more=len(values) > MOST_VALUES)
    )


async def rooms_of(backend: Backend) -> list[str]:
    """The rooms that the caller is in."""
    lines = msgspec.to_builtins(await backend.call("rooms", {}))["rooms"]
    return sorted(line["id"] for line in lines if line.get("you"))


async def _members(backend: Backend, room: str) -> list[str]:
    lines = msgspec.to_builtins(await backend.call("roster", {}, room))["members"]
    return sorted(line["id"] for line in lines)
