"""The log of intake: what a nation sent and what of it does not count, in words that are the same on every machine."""

from math import isfinite
from typing import Any

from cohabit.worlds.statecraft.ledgers import Dropped
from cohabit.worlds.statecraft.schema import FIELDS

WHOLE = "*"
MOST = 20
"""Entries told of one field; of more, only how many they were: nobody fills the log."""
_PLACES = {field: place for place, field in enumerate((WHOLE, *FIELDS))}
_WORDS = {
    bool: "true or false", int: "a whole number", float: "a number with a fraction", str: "a text", list: "a list",
    dict: "an object", type(None): "null",
}  # fmt: skip


class Complaints:
    """Of one nation, in one turn."""

    def __init__(self, nation: str) -> None:
        self.nation = nation
        self.told: dict[str, list[str]] = {}
        self.more: dict[str, int] = {}

    def add(self, field: str, reason: str) -> None:
        reasons = self.told.setdefault(field, [])
        if len(reasons) < MOST:
            reasons.append(reason)
        else:
            self.more[field] = self.more.get(field, 0) + 1

    def dropped(self) -> list[Dropped]:
        """In the order of the schema, then what it does not know by name."""
        found = []
        for field in sorted(self.told, key=lambda name: (_PLACES.get(name, len(_PLACES)), name)):
            more = [f"and {self.more[field]:,} more"] if field in self.more else []
            found += [Dropped(self.nation, field, reason) for reason in (*self.told[field], *more)]
        return found


def named(value: Any) -> str:
    """What kind of thing this is."""
    if type(value) is float and not isfinite(value):
        return "an infinite one"
    return _WORDS.get(type(value)) or f"a Python {type(value).__name__[:40]}"


def short(value: Any) -> str:
    """A name that somebody made up, fit to be repeated; anything else by its kind."""
    if type(value) is not str:
        return named(value)
    text = value if len(value) <= 40 else value[:39] + "…"
    return "".join(letter if letter.isprintable() else "·" for letter in text)
