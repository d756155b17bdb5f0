"""MCP Apps: the front end of a world inside a chat client.

Tools whose result shows the world point to the document of the room. `visibility` says who may call a tool: a model,
the document, or both. A client refuses what a document calls beyond that.
"""

from collections.abc import Iterable
from typing import Any, Final

from mcp.server.context import ServerRequestContext

from cohabit.faces.mcp.backend import Backend
from cohabit.house.calls.command_list import CommandInfo
from cohabit.room.commands import Resource

EXTENSION: Final = "io.modelcontextprotocol/ui"
MIME_TYPE: Final = "text/html;profile=mcp-app"
DOCUMENT_META: Final[dict[str, Any]] = {"ui": {"csp": {}, "prefersBorder": True}}
"""Of a document: no domain is declared, so it may use no network."""


def is_document(resource: Resource) -> bool:
    """True if a resource is a document that clients show to people."""
    return resource.scheme == "ui"


def uri_of(resource: Resource, room: str) -> str:
    return f"{resource.scheme}://{room}/{resource.name}"


def shown_by(ctx: ServerRequestContext[Any, Any]) -> bool:
    """True if the client that sent this request shows such documents."""
    capabilities = ctx.session.client_capabilities
    settings = (capabilities.extensions or {}).get(EXTENSION) if capabilities is not None else None
    return settings is not None and MIME_TYPE in settings.get("mimeTypes", ())


def document_uri(commands: Iterable[CommandInfo], backend: Backend) -> str | None:
    """The address of the document of the caller's room, if its world has one and the calls are about one room."""
    if backend.room is None:
        return None
    documents = [info.resource for info in commands if info.resource is not None and is_document(info.resource)]
    return uri_of(documents[0], backend.room) if documents else None


def tool_meta(info: CommandInfo, document: str | None, *, for_model: bool) -> dict[str, Any] | None:
    """The `_meta` of a tool in a room with this document. ``for_model``: models are told of it."""
    if document is None:
        return None
    ui: dict[str, Any] = {"resourceUri": document} if info.shows_world and for_model else {}
    if not (for_model and info.for_front_end):
        ui["visibility"] = ["model"] if for_model else ["app"]
    return {"ui": ui} if ui else None
