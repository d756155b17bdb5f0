"""Schemas of arguments, without what a model does not need to call a tool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

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
