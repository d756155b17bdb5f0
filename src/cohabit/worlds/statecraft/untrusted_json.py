"""Parses JSON from untrusted agents. The only possible failure is ValueError, at any nesting depth.

The recursion limit of a parser depends on its caller, and the result must not. So everything nested deeper than any
valid answer is removed before parsing; it has the wrong type in any case.
"""

import json
import re
from math import nan
from typing import Any

MAX_DEPTH = 24
MAX_CONTAINERS = 1_000_000
MAX_CHARACTERS = 1 << 25
MAX_INTEGER_DIGITS = 20
"""A longer integer is out of every range, so it is replaced by OUT_OF_RANGE."""
OUT_OF_RANGE: int = 10**MAX_INTEGER_DIGITS
MAX_FLOAT_DIGITS = 400

# An unterminated string runs to the end of the text, so each character is scanned once, whatever the text is.
_STRINGS_AND_BRACKETS = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)


def parse_json(text: str) -> Any:
    """Parse the text; ValueError if it is not JSON. ``1e999`` and ``NaN`` become floats."""
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"longer than {MAX_CHARACTERS:,} characters")
    containers = text.count("[") + text.count("{")
    if containers > MAX_CONTAINERS:
        raise ValueError(f"more than {MAX_CONTAINERS:,} arrays and objects")
    try:
        shallow = _without_deep_parts(text) if containers > MAX_DEPTH else text
        return json.loads(shallow, parse_int=_parse_integer, parse_float=_parse_float)
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg} at character {error.pos}") from None


def _parse_integer(digits: str) -> int:
    if len(digits) <= MAX_INTEGER_DIGITS:
        return int(digits)
    return -OUT_OF_RANGE if digits.startswith("-") else OUT_OF_RANGE


def _parse_float(digits: str) -> float:
    return float(digits) if len(digits) <= MAX_FLOAT_DIGITS else nan


def _without_deep_parts(text: str) -> str:
    """The text with the arrays and objects at the maximum depth emptied."""
    kept: list[str] = []
    depth = start = 0
    for match in _STRINGS_AND_BRACKETS.finditer(text):
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
