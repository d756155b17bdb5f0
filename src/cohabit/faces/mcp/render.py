"""Results of commands as MCP carries them: the values, and a text for the model to read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mcp_types as types
import msgspec

from cohabit.model.action import ActionResult

PICTURE = {"format", "base64"}
MIME = {"jpg": "image/jpeg"}
"""Formats whose MIME type is not `image/` and their name."""


def rendered(result: Any) -> types.CallToolResult:
    """The result of a tool."""
    plain = msgspec.to_builtins(result)
    if isinstance(plain, dict) and plain.keys() >= PICTURE:
        return types.CallToolResult(content=_picture(plain))
    structured = plain if isinstance(plain, dict) else {"result": plain}
    return types.CallToolResult(content=[types.TextContent(text=text_of(result, plain))], structured_content=structured)


def output_schema(schema: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The schema of the structured content; None where the result is a picture, or not an object."""
    if schema is None or schema.get("properties", {}).keys() >= PICTURE:
        return None
    return dict(schema)


def _picture(plain: dict[str, Any]) -> list[types.ContentBlock]:
    """The picture, and the rest of the result as text."""
    mime = MIME.get(plain["format"], f"image/{plain['format']}")
    shown: list[types.ContentBlock] = [types.ImageContent(data=plain["base64"], mime_type=mime)]
    if plain.keys() > PICTURE:
        rest = {name: value for name, value in plain.items() if name != "base64"}
        shown.append(types.TextContent(text=msgspec.json.encode(rest).decode()))
    return shown


def text_of(result: Any, plain: Any) -> str:
    """The result of an action and what is seen then; the field `text`, where there is one; else the values as JSON."""
    if isinstance(plain, dict):
        if isinstance(result, ActionResult) or (plain.keys() >= {"success", "observation"}):
            return _action(result if isinstance(result, ActionResult) else msgspec.convert(plain, ActionResult))
        if isinstance(plain.get("text"), str):
            return str(plain["text"])
    return msgspec.json.encode(plain).decode()


def _action(result: ActionResult) -> str:
    parts = [result.message or "Done."]
    if result.reward:
        parts.append(f"Reward: {result.reward:g}")
    if result.achievements:
        parts.append(f"Achieved: {', '.join(result.achievements)}")
    seen = result.observation.to_text() if result.observation is not None else ""
    if seen:
        parts += ["", seen]
    if result.done:
        parts.append("The game is over.")
    return "\n".join(parts)
