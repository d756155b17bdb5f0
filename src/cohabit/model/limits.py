"""Limits on the arguments of an action, and on what a world shows.

A call with larger arguments is refused before anything reads it. The size in bytes is limited where a call arrives.
Here it is the number of values that counts: a world looks at each. A larger view is an error of its world.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from cohabit.errors import GameCrash
from cohabit.model.observation import Observation
from cohabit.model.seat import Eye

MAX_VALUES = 5_000
"""Values and keys in the arguments of one action, with those inside lists and objects. The largest action of a world
has some hundred."""
MAX_DEPTH = 32
"""The depth to which lists and objects may be nested."""
MAX_ARGUMENT_TEXT = 1_000_000
"""Characters in the texts of the arguments. Each is in the record, and in the memory of the room for a while."""
MAX_DATA_DEPTH = 64
"""The same, of data that the house does not read. A few hundred are more than others can decode."""
MAX_VIEW_TEXT = 1_000_000
"""Characters in the text of a view. The longest of our worlds have some thousand."""
MAX_VIEW_DATA = 4_000_000
"""Bytes of an observation, as JSON."""
MANY_CHOICES = 1_000
_encode = msgspec.json.Encoder().encode
_CONTAINERS = (dict, list, tuple)
_NUMBERS = frozenset({int, float, bool})
_TOO_MANY = f"more than {MAX_VALUES:,} values"
_TOO_LONG = f"more than {MAX_ARGUMENT_TEXT:,} characters of text"


def too_large(args: Any) -> str:
    """Why these arguments are not read; empty if they are. The cost is bounded, however large they are."""
    if not isinstance(args, dict):
        return ""  # refused by the command itself
    if len(args) > MAX_VALUES:
        return _TOO_MANY
    length = 0
    for value in args.values():
        if type(value) in _NUMBERS:
            continue
        if isinstance(value, str):
            length += len(value)
        elif isinstance(value, _CONTAINERS):
            return _look_into([args])
    return _TOO_LONG if length > MAX_ARGUMENT_TEXT else ""  # the usual case


def _look_into(level: list[Any]) -> str:
    """Level by level: a recursion would depend on the stack of the caller."""
    count = length = 0
    for _ in range(MAX_DEPTH + 1):
        following: list[Any] = []
        for container in level:
            count += len(container)
            if count > MAX_VALUES:
                return _TOO_MANY
            values = (*container, *container.values()) if isinstance(container, dict) else container
            length += sum([len(value) for value in values if isinstance(value, str)])
            following += [value for value in values if isinstance(value, _CONTAINERS)]
        if not following:
            return _TOO_LONG if length > MAX_ARGUMENT_TEXT else ""
        level = following
    return f"lists and objects are nested more than {MAX_DEPTH} deep"


def is_too_deep(data: Any) -> bool:
    """True if lists and objects in this data are nested more than ``MAX_DATA_DEPTH`` deep."""
    level = [data]
    for _ in range(MAX_DATA_DEPTH):
        containers = [value for value in level if isinstance(value, _CONTAINERS)]
        level = [value for one in containers for value in (one.values() if isinstance(one, dict) else one)]
    return any(isinstance(value, _CONTAINERS) for value in level)


def check_view(eye: Eye, text: str, seen: Observation) -> None:
    """Raise GAME_CRASH if a view is too large.

    A text that says what the values say is as long as they are. Only other values are measured by themselves, because
    every step of a game does this.
    """
    if len(text) > MAX_VIEW_TEXT:
        raise _too_large_to_show(eye, "characters of text", len(text), MAX_VIEW_TEXT)
    measured = seen.text_says_all or len(seen.choices) > MANY_CHOICES
    if measured and (size := len(_encode(seen))) > MAX_VIEW_DATA:
        raise _too_large_to_show(eye, "bytes", size, MAX_VIEW_DATA)


def _too_large_to_show(eye: Eye, unit: str, size: int, most: int) -> GameCrash:
    whose = f"seat {eye.seat}" if eye.seat is not None else f"those who see {eye.sees}"
    return GameCrash(f"the world shows too much: the view of {whose} has {size:,} {unit}; at most {most:,}")


def characters(value: Any) -> int:
    """About how many characters a plain value has when it is encoded."""
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, Mapping):
        return sum(characters(key) + characters(of) + 4 for key, of in value.items())
    if isinstance(value, list | tuple):
        return sum(characters(of) + 2 for of in value)
    return 8
