"""The texts in the arguments of a call."""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

NOTHING: tuple[Any, ...] = (None, "", [], {}, ())


class Words(Struct, frozen=True):
    """``texts``: every text in a call, with those inside lists and objects and their keys. ``speaks``: some of them are
    the caller's own words, which others read. ``said_at``: when they are said, by a command that does not itself ask
    who receives them; None: there are none of that kind."""

    texts: tuple[str, ...]
    speaks: bool
    said_at: int | None = None
    identity: str = ""  # of somebody who wants to join
    invite: str = ""  # that it has
    handle: str = ""  # that it has chosen itself
    instead: str = "say it in other words"  # what to do if a word is refused

    @classmethod
    def of(cls, args: Mapping[str, Any], own: Iterable[str], why: str | None, at: int | None = None) -> "Words":
        """``own``: the names of the arguments in the caller's own words. ``why``: its reasoning, which others read."""
        said = says(args, own)
        every = [text for value in args.values() for text in texts_in(value)]
        return cls((*every, *([why] if why else [])), bool(said or why), at if said else None)


def says(args: Mapping[str, Any], own: Iterable[str]) -> bool:
    """True if one of these arguments is given. Also numbers: they can spell something."""
    return any(args.get(name) not in NOTHING for name in own)


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
