"""Results of commands as MCP carries them: the values, and a text for the model to read."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import mcp_types as types
import msgspec

from cohabit.model.action import ActionResult
from cohabit.model.avatar import EmbodiedObservation
from cohabit.model.observation import one_line
from cohabit.room.seeing.view import turn_text

PICTURE = {"format", "base64"}
MIME = {"jpg": "image/jpeg"}
"""Formats whose MIME type is not `image/` and their name."""
SENTENCES = ("message", "note")
"""Fields that are sentences for the reader of a result."""
TIMES = ("_at", "timestamp", "since")
"""The endings of the names of fields with times."""
EARLIEST, LATEST = 10**12, 10**13  # ms, from 2001 to 2286: other numbers are not of a clock that shows the date


def rendered(result: Any, readable: bool = False, *, values: bool, text: str | None = None) -> types.CallToolResult:
    """The result of a tool. ``readable``: as text for a model to read, not as JSON, where it has no text of its own.

    ``text``: instead of the text of the result. ``values``: with the values too, as structured content. They say the
    same again, and some clients show a model both.
    """
    plain = msgspec.to_builtins(result)
    if isinstance(plain, dict) and plain.keys() >= PICTURE:
        return types.CallToolResult(content=_picture(plain))
    text = text_of(result, plain, readable) if text is None else text
    structured = plain if isinstance(plain, dict) else {"result": plain}
    return types.CallToolResult(
        content=[types.TextContent(text=text)], structured_content=structured if values else None
    )


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


def action_of(result: Any) -> ActionResult | None:
    """The result as that of an action, if it is one: it comes as a value, or from another house as its fields."""
    if isinstance(result, dict) and result.keys() >= {"success", "observation"}:
        return msgspec.convert(result, ActionResult)
    return result if isinstance(result, ActionResult) else None


def text_of(result: Any, plain: Any, readable: bool = False) -> str:
    """The result of an action and what is seen then; of a body, all that it perceives; the field `text`, where there is
    one; else the values."""
    if isinstance(plain, dict):
        if (action := action_of(result)) is not None:
            return _action(action)
        if plain.keys() >= {"avatar", "text"}:
            return msgspec.convert(plain, EmbodiedObservation).to_text()
        if plain.keys() >= {"avatar", "initial_observation"}:
            return _entered(plain)
        if isinstance(plain.get("text"), str):
            return str(plain["text"])
    if readable and not (isinstance(plain, list) and any(isinstance(item, dict) for item in plain)):
        return "\n".join(_lines(plain))
    return msgspec.json.encode(plain).decode()  # a list of objects is for a program, such as one that checks it


def _lines(value: Any) -> Iterator[str]:
    """Values as lines: sentences first, a line for each field, and a line for each item of a list of objects."""
    if not isinstance(value, dict):
        yield _words(value)
        return
    yield from (value[name] for name in SENTENCES if isinstance(value.get(name), str))
    for name, item in value.items():
        if name in SENTENCES and isinstance(item, str):
            continue
        if isinstance(item, list | tuple) and any(isinstance(below, dict) for below in item):
            yield f"{name}:"
            yield from (f"- {_words(below)}" for below in item)
        else:
            yield f"{name}: {_time(name, item) or _words(item)}"


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_time(name, item) or _nested(item)}" for name, item in value.items()) or "none"
    if isinstance(value, list | tuple):
        return ", ".join(map(_nested, value)) or "none"
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    return one_line(value) if isinstance(value, str) else f"{value:g}" if isinstance(value, float) else str(value)


def _nested(value: Any) -> str:
    return f"({_words(value)})" if isinstance(value, dict | list | tuple) and value else _words(value)


def _time(name: str, value: Any) -> str:
    """A time of the house's clock, which is in milliseconds, as a date; empty if the field has something else."""
    if not isinstance(value, int) or not EARLIEST <= value < LATEST or not name.endswith(TIMES):
        return ""
    return f"{datetime.fromtimestamp(value // 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"


def _entered(result: Mapping[str, Any]) -> str:
    """The text about an entered body, and the view through it."""
    bonuses = result.get("bonuses_applied")
    words = [str(result.get("message", "")), f"Bonuses: {_words(bonuses)}." if bonuses else ""]
    seen = result["initial_observation"]
    return "\n\n".join(part for part in (" ".join(filter(None, words)), text_of(seen, seen)) if part)


def _action(result: ActionResult) -> str:
    parts = result.summary()
    if seen := result.seen_text():
        parts += ["", seen]
    if result.done or result.to_move:
        parts += ["", turn_text(result.to_move, result.done)]
    if result.view_id:
        parts.append(f"This is view {result.view_id}.")
    return "\n".join(parts)
