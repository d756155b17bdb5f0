"""Parses JSON from untrusted agents. The only possible failure is ValueError, at any nesting depth.

The recursion limit of a parser depends on its caller, and the result must not. So everything nested deeper than any
valid answer is removed before parsing; it has the wrong type in any case.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from cohabit.model.answers import STRING_OR_BRACKET, object_texts

MAX_DEPTH = 24
MAX_CONTAINERS = 1_000_000
MAX_CHARACTERS = 1 << 25
MAX_OBJECTS = 50
"""Objects in a text that is not JSON as a whole."""
MAX_INTEGER_DIGITS = 20
"""A longer integer is out of every range, so it is replaced by OUT_OF_RANGE."""
OUT_OF_RANGE: int = 10**MAX_INTEGER_DIGITS


class RepeatedKeys(dict[str, Any]):
    """An object in which some keys were given more than once. The last value of each counts."""

    repeated: list[str]


def parse_json(text: str) -> Any:
    """Parse the text; ValueError if it is not JSON. ``1e999`` and ``NaN`` become floats."""
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"longer than {MAX_CHARACTERS:,} characters")
    containers = text.count("[") + text.count("{")
    if containers > MAX_CONTAINERS:
        raise ValueError(f"more than {MAX_CONTAINERS:,} arrays and objects")
    try:
        shallow = _without_deep_parts(text) if containers > MAX_DEPTH else text
        return json.loads(shallow, parse_int=_parse_integer, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg} at character {error.pos}") from None


def objects_in_text(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects in a text that also has prose or code fences, in order. Invalid objects are skipped whole.

    ValueError if there are too many: each costs much more than a character."""
    for tried, found in enumerate(object_texts(text) if len(text) <= MAX_CHARACTERS else (), 1):
        if tried > MAX_OBJECTS:
            raise ValueError(f"more than {MAX_OBJECTS}")
        with suppress(ValueError):
            yield parse_json(found)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    seen: dict[str, None] = {}
    repeated: dict[str, None] = {}
    for key, _ in pairs:
        (repeated if key in seen else seen)[key] = None
    marked = RepeatedKeys(found)
    marked.repeated = list(repeated)
    return marked


def _parse_integer(digits: str) -> int:
    if len(digits) <= MAX_INTEGER_DIGITS:
        return int(digits)
    return -OUT_OF_RANGE if digits.startswith("-") else OUT_OF_RANGE


def _without_deep_parts(text: str) -> str:
    """The text with the arrays and objects at the maximum depth emptied."""
    kept: list[str] = []
    depth = start = 0
    for match in STRING_OR_BRACKET.finditer(text):
        token = match[0]
        if token in ("[", "{"):
            depth += 1
            if depth == MAX_DEPTH:
                kept.append(text[start : match.end()])
        elif token in ("]", "}"):
            if depth == MAX_DEPTH:
                start = match.start()
            depth -= 1
    if depth < MAX_DEPTH:  # otherwise the text is incomplete, and invalid with or without its end
        kept.append(text[start:])
    return "".join(kept)
