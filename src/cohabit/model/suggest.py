"""Near names, for "did you mean"."""

from __future__ import annotations

from collections.abc import Iterable

_LONGEST = 200  # beyond this no name is near anyway, and a hostile one must not cost time


def nearest(name: str, known: Iterable[str], limit: int = 5) -> list[str]:
    """The known names nearest to `name`: by Levenshtein distance, then by ordinal order.

    There is no cut-off: a bad guess shows at least what names look like here. Names that start with `$` or
    `_` are internal and never suggested.
    """
    name = name[:_LONGEST]
    public = {candidate for candidate in known if not candidate.startswith(("$", "_"))}
    return sorted(public, key=lambda candidate: (distance(name, candidate), candidate))[:limit]


def distance(one: str, other: str) -> int:
    """How many characters to insert, delete or replace to turn one into the other."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, start=1):
        above_left, row[0] = row[0], i
        for j, b in enumerate(other, start=1):
            above_left, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above_left + (a != b))
    return row[-1]
