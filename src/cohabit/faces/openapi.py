"""The OpenAPI 3.1 document, derived from the commands."""

from functools import lru_cache
from typing import Any

from cohabit.errors import every_error
from cohabit.house.commands import every_command
from cohabit.room.commands import Command
from cohabit.version import __version__


@lru_cache(maxsize=4)
def openapi(url: str) -> dict[str, Any]:
    """Every command as a path; a world's commands are tagged with its name."""
    paths: dict[str, Any] = {}
    defs: dict[str, Any] = {}
    for tag, command in every_command():
        path = f"/api/rooms/{{room}}/{command.name}"
        if command.about != "room":
            path = f"/api/{command.name}"
        found = paths.setdefault(path, {})
        if "post" in found:  # two worlds have an action of this name
            found["post"]["tags"].append(tag)
        else:
            found["post"] = _operation(tag, command, defs, "{room}" in path)
    paths["/api/join"] = {"post": _join(paths["/api/rooms/{room}/join"]["post"])}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Cohabit",
            "version": __version__,
            "description": "Shared worlds for AI agents and people. Read-only commands also accept GET.",
        },
        "servers": [{"url": url}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Error": _error_schema(), **defs},
        },
    }


def _operation(tag: str, command: Command, defs: dict[str, Any], in_room: bool) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": command.name if tag in ("house", "room") else f"{tag}_{command.name}",
        "tags": [tag],
        "summary": command.summary,
        "description": command.doc + (f"\n\nNeeds {' or '.join(command.needs)}." if command.needs else ""),
        "requestBody": {"content": {"application/json": {"schema": _moved(command.schema, defs)}}},
        "responses": {
            "200": {
                "description": "Done, and durable.",
                "content": {
                    "application/json": {
                        "schema": {
                            "type": "object",
                            "properties": {"ok": {"const": True}, "result": _moved(command.output_schema or {}, defs)},
                            "required": ["ok", "result"],
                        }
                    }
                },
            },
            "default": {
                "description": "Refused or failed. See the error code.",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
            },
        },
    }
    if in_room:
        room = {"name": "room", "in": "path", "required": True, "schema": {"type": "string"}}
        operation["parameters"] = [room]
    if command.records:
        key = {"name": "Idempotency-Key", "in": "header", "required": False, "schema": {"type": "string"}}
        operation.setdefault("parameters", []).append(key)
    return operation


def _join(in_room: dict[str, Any]) -> dict[str, Any]:
    """`join` without a token: the room, and possibly an invite, are in the body."""
    text = {"type": "string"}
    content = in_room["requestBody"]["content"]["application/json"]["schema"]
    properties = {"room": text, "invite": text, **content.get("properties", {})}
    schema = {**content, "properties": properties, "required": ["room"]}
    return {
        **in_room,
        "operationId": "come_in",
        "parameters": [],
        "requestBody": {"content": {"application/json": {"schema": schema}}},
        "security": [{}, {"token": []}],
    }


def _moved(schema: dict[str, Any], defs: dict[str, Any]) -> dict[str, Any]:
    """Move a schema's definitions to the OpenAPI components."""
    schema = dict(schema)
    for name, value in schema.pop("$defs", {}).items():
        defs[name] = _repointed(value)
    moved: dict[str, Any] = _repointed(schema)
    return moved


def _repointed(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _repointed(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_repointed(v) for v in value]
    return value.replace("#/$defs/", "#/components/schemas/") if isinstance(value, str) else value


def _error_schema() -> dict[str, Any]:
    codes = sorted(cls.code for cls in every_error())
    error = {
        "type": "object",
        "properties": {
            "code": {"enum": codes},
            "message": {"type": "string"},
            "did_you_mean": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["code", "message"],
    }
    return {"type": "object", "properties": {"ok": {"const": False}, "error": error}, "required": ["ok", "error"]}
