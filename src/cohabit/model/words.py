"""The texts in the arguments of a call."""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

NOTHING: tuple[Any, ...] = (None, "", [], {}, ())


class Words(Struct, frozen=True):
    """``texts``: every text in a call, with those inside lists and objects and their keys. ``speaks``: some of them are
    the caller's own words, which others read."""

    texts: tuple[str, ...]
    speaks: bool

    @classmethod
    def of(cls, args: Mapping[str, Any], own: Iterable[str], why: str | None) -> "Words":
        """``own``: the names of the arguments in the caller's own words. ``why``: its reasoning, which others read."""
        says = any(args.get(name) not in NOTHING for name in own)  # also numbers, which can spell something
        every = [text for value in args.values() for text in texts_in(value)]
        return cls((*every, *([why] if why else [])), bool(says or why))


def texts_in(value: Any) -> list[str]:
    """The texts in a JSON value. Without recursion: a value may be deeply nested."""
    found: list[str] = []
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, str):
            found.append(one)
        elif isinstance(one, Mapping):
            left += [*one.keys(), *one.values()]
        elif isinstance(one, list | tuple):
            left += one
    return found
