"""Limits on the arguments of an action. A larger call is refused before anything reads it.

The size in bytes is limited where a call arrives. Here it is the number of values that counts: a world looks at each.
"""

from typing import Any

MAX_VALUES = 5_000
"""Values and keys in the arguments of one action, with those inside lists and objects. The largest action of a world
has some hundred."""
MAX_DEPTH = 32
"""The depth to which lists and objects may be nested."""
_CONTAINERS = (dict, list, tuple)
_TOO_MANY = f"more than {MAX_VALUES:,} values"


def too_large(args: Any) -> str:
    """Why these arguments are not read; empty if they are. The cost is bounded, however large they are."""
    if not isinstance(args, dict):
        return ""  # refused by the command itself
    if len(args) > MAX_VALUES:
        return _TOO_MANY
    for value in args.values():
        if isinstance(value, _CONTAINERS):
            return _look_into([value for value in args.values() if isinstance(value, _CONTAINERS)], len(args))
    return ""  # the usual case


def _look_into(level: list[Any], count: int) -> str:
    """Level by level: a recursion would depend on the stack of the caller."""
    for _ in range(MAX_DEPTH):
        following: list[Any] = []
        for container in level:
            count += len(container)
            if count > MAX_VALUES:
                return _TOO_MANY
            values = container.values() if isinstance(container, dict) else container
            following += [value for value in values if isinstance(value, _CONTAINERS)]
        if not following:
            return ""
        level = following
    return f"lists and objects are nested more than {MAX_DEPTH} deep"
