"""Similar names, for "did you mean". `TurnOrder`, `turn-order` and `turn_order` are the same to it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import takewhile

_MAX_NAME_CHARS = 200  # limits the cost of a very long name
_WORD_BOUNDARY = re.compile(r"[-\s.]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_MIN_PART = 3  # a name within another one counts as similar from this length on


def nearest(name: str, known: Iterable[str], limit: int = 5) -> list[str]:
    """The known names most similar to `name`: the same in another spelling, then those that are a part of it or have it
    as a part, then by Levenshtein distance and by code point.

    Only names that could be a typing mistake are suggested. Names that start with `$` or `_` are internal and
    never suggested.
    """
    name = name[:_MAX_NAME_CHARS]
    public = {candidate for candidate in known if not candidate.startswith(("$", "_"))}
    near = [candidate for candidate in public if is_close(name, candidate)]
    plain = _plain(name)

    def rank(candidate: str) -> tuple[bool, bool, int, str]:
        other = _plain(candidate)
        is_other = plain.replace("_", "") != other.replace("_", "")
        return is_other, not _has_part(plain, other), distance(plain, other), candidate

    return sorted(near, key=rank)[:limit]


def is_close(name: str, candidate: str) -> bool:
    """True if two names share most characters: few typing errors, swapped letters, or one within the other."""
    one, other = _plain(name), _plain(candidate)
    if one == other or _has_part(one, other):
        return True
    alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    prefix = one[:alike].rfind("_") + 1  # a common prefix alone does not make names similar
    one, other = one[prefix:], other[prefix:]
    allowed = max(len(one), len(other)) * 2 // 5
    if abs(len(one) - len(other)) > allowed:  # the distance is at least that
        return False
    return sorted(one) == sorted(other) or distance(one, other) <= allowed


def _plain(name: str) -> str:
    """A name in lower case, with its words separated by underscores: the form that most of ours have."""
    return _WORD_BOUNDARY.sub("_", name.strip()).casefold()


def _has_part(one: str, other: str) -> bool:
    return min(len(one), len(other)) >= _MIN_PART and (one in other or other in one)


def distance(one: str, other: str) -> int:
    """The Levenshtein distance: how many characters must be inserted, deleted or replaced."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, start=1):
        above_left, row[0] = row[0], i
        for j, b in enumerate(other, start=1):
            above_left, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above_left + (a != b))
    return row[-1]
