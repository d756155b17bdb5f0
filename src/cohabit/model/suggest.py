"""Similar names, for "did you mean"."""

from __future__ import annotations

from collections.abc import Iterable

_MAX_NAME_CHARS = 200  # limits the cost of a very long name


def nearest(name: str, known: Iterable[str], limit: int = 5) -> list[str]:
    """The known names most similar to `name`, by Levenshtein distance and then by code point.

    There is no minimum similarity: even a bad guess shows what the names look like. Names that start with `$` or
    `_` are internal and never suggested.
    """
    name = name[:_MAX_NAME_CHARS]
    public = {candidate for candidate in known if not candidate.startswith(("$", "_"))}
    return sorted(public, key=lambda candidate: (distance(name, candidate), candidate))[:limit]


def distance(one: str, other: str) -> int:
    """The Levenshtein distance: how many characters must be inserted, deleted or replaced."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, start=1):
        above_left, row[0] = row[0], i
        for j, b in enumerate(other, start=1):
            above_left, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above_left + (a != b))
    return row[-1]
