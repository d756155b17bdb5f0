"""Reading a JSON text that anybody may have written. It can fail in one way only, and never by its depth.

How deep a parser can go depends on who called it, and an outcome must not. So what lies deeper than anything
that means something here is cut away before parsing; it is of the wrong type in any case.
"""

import json
import re
from math import nan
from typing import Any

DEEPEST = 24
MOST_PARTS = 1_000_000
LONGEST = 1 << 25
"""Characters: beyond this, and beyond so many parts, a text is not even looked at."""
DIGITS = 20
"""A whole number with more of them is as good as any other that is too large."""
TOO_LARGE: int = 10**DIGITS
LONGEST_FRACTION = 400

# A string that does not end runs to the end of the text: so each character is looked at once, whatever comes.
_STRINGS_AND_BRACKETS = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)


def read_json(text: str) -> Any:
    """What the text says; ValueError where it is no JSON. ``1e999`` and ``NaN`` are read as floats."""
    if len(text) > LONGEST:
        raise ValueError(f"longer than {LONGEST:,} characters")
    parts = text.count("[") + text.count("{")
    if parts > MOST_PARTS:
        raise ValueError(f"more than {MOST_PARTS:,} lists and objects")
    try:
        return json.loads(_pruned(text) if parts > DEEPEST else text, parse_int=_whole, parse_float=_fraction)
    except json.JSONDecodeError as wrong:
        raise ValueError(f"{wrong.msg} at character {wrong.pos}") from None


def _whole(digits: str) -> int:
    if len(digits) <= DIGITS:
        return int(digits)
    return -TOO_LARGE if digits.startswith("-") else TOO_LARGE


def _fraction(digits: str) -> float:
    return float(digits) if len(digits) <= LONGEST_FRACTION else nan


def _pruned(text: str) -> str:
    """The text, with the lists and objects at the greatest depth emptied."""
    kept: list[str] = []
    depth = since = 0
    for found in _STRINGS_AND_BRACKETS.finditer(text):
        token = found[0]
        if token in ("[", "{"):
            depth += 1
            if depth == DEEPEST:
                kept.append(text[since : found.end()])
        elif token in ("]", "}"):
            if depth == DEEPEST:
                since = found.start()
            depth -= 1
    if depth < DEEPEST:  # otherwise it ends in the middle, and is no JSON either way
        kept.append(text[since:])
    return "".join(kept)
