"""JSON that is the same for equal values and has no infinite numbers."""

import json
from math import isfinite
from typing import Any

import msgspec

sorted_json = msgspec.json.Encoder(order="sorted").encode
"""A value as JSON with sorted keys: equal values have equal bytes."""


def finite_number(text: str) -> float:
    """A number of a JSON text. Python's parser also accepts NaN, Infinity and 1e999, which JSON cannot represent."""
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"{text} is not a finite number")
    return number


def parse_document(text: str | bytes) -> Any:
    """A JSON text that a person wrote: keys that begin with an underscore are comments.

    Raises ValueError, OverflowError or RecursionError for what is not JSON, has a key twice, or cannot be stored.
    """
    raw = json.loads(
        text, object_pairs_hook=_without_duplicates, parse_float=finite_number, parse_constant=finite_number
    )
    msgspec.msgpack.encode(raw)  # refuses lone surrogates and 30-digit integers
    return _without_comments(raw)


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Reject duplicate keys: JSON parsers silently keep only the last one."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise ValueError(f"the key {twice!r} appears twice")
    return found


def _without_comments(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_comments(v) for k, v in value.items() if not str(k).startswith("_")}
    if isinstance(value, list):
        return [_without_comments(v) for v in value]
    return value
