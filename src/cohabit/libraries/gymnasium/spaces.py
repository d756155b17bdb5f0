"""The spaces of Gymnasium in words, and values that JSON can carry as values of a space."""

from collections.abc import Mapping, Sequence
from itertools import product
from math import isfinite, prod
from typing import Any

import numpy as np
from gymnasium import spaces

from cohabit.errors import BadArgs
from cohabit.model.stream import Stream

MAX_SHOWN = 300
"""The number of values of an array that are shown."""
MAX_TEXT = 4000
"""The number of characters of a text that are shown."""
MAX_CHOICES = 200
"""A space with at most this many values is listed."""


def describe(space: Any) -> str:
    """Describe the values of a space: "a whole number from 0 to 3"."""
    match space:
        case spaces.Discrete():
            return f"a whole number from {space.start} to {space.start + space.n - 1}"
        case spaces.MultiDiscrete():
            highest = (space.nvec - 1 + space.start).flatten().tolist()
            lowest = np.asarray(space.start).flatten().tolist()
            limits = ", ".join(f"{lo} to {hi}" for lo, hi in zip(lowest, highest, strict=True))
            return f"a list of {len(highest)} whole numbers: {limits}"
        case spaces.MultiBinary():
            return f"a list of {prod(space.shape)} numbers, each 0 or 1"
        case spaces.Box():
            kind = "whole numbers" if np.issubdtype(space.dtype, np.integer) else "numbers"
            return f"a list of {prod(space.shape)} {kind}{_bounds(space)}"
        case spaces.Text():
            return f"a text of {space.min_length} to {space.max_length} characters"
        case spaces.Dict():
            return "an object with " + "; ".join(f"{name}: {describe(part)}" for name, part in space.items())
        case spaces.Tuple():
            return "a list of " + "; ".join(describe(part) for part in space)
    return f"a value of {space}"


def _bounds(space: Any) -> str:
    low, high = space.low.flatten().tolist(), space.high.flatten().tolist()
    if len(set(low)) == len(set(high)) == 1:
        return f", each from {low[0]:g} to {high[0]:g}" if isfinite(low[0]) and isfinite(high[0]) else ""
    return ": " + ", ".join(f"{lo:g} to {hi:g}" for lo, hi in zip(low, high, strict=True)) if len(low) <= 20 else ""


def decode(space: Any, given: Any) -> Any:
    """A value as it came in JSON, as a value of the space. Raise ``BadArgs`` if it is not in the space."""
    value: Any = given
    try:
        match space:
            case spaces.Discrete() if type(given) is int:
                value = np.int64(given)
            case spaces.MultiDiscrete() | spaces.MultiBinary() | spaces.Box() if _are_numbers(given):
                value = np.asarray(given, dtype=space.dtype).reshape(space.shape)
                if np.issubdtype(space.dtype, np.integer) and value.flatten().tolist() != list(given):
                    raise ValueError("a fraction")
            case spaces.Dict() if isinstance(given, Mapping) and set(given) == set(space.keys()):
                value = {name: decode(part, given[name]) for name, part in space.items()}
            case spaces.Tuple() if isinstance(given, Sequence) and len(given) == len(space):
                value = tuple(decode(part, each) for part, each in zip(space, given, strict=True))
        fits = space.contains(value)
    except (TypeError, ValueError, OverflowError):
        fits = False
    if not fits:
        raise BadArgs(f"the move must be {describe(space)}")
    return value


def _are_numbers(given: Any) -> bool:
    return isinstance(given, list) and all(type(each) in (int, float) for each in given)


def some_values(space: Any, stream: Stream) -> list[Any]:
    """All values of a small space as JSON, or a few of a large one."""
    listed = all_values(space)
    return listed if listed is not None else [_one(space, stream) for _ in range(6)]


def all_values(space: Any) -> list[Any] | None:
    """All values of the space as JSON; None if they are many."""
    match space:
        case spaces.Discrete() if space.n <= MAX_CHOICES:
            return [int(space.start) + each for each in range(int(space.n))]
        case spaces.MultiDiscrete() if prod(space.nvec.flatten().tolist()) <= MAX_CHOICES:
            starts = np.asarray(space.start).flatten().tolist()
            counts = space.nvec.flatten().tolist()
            return [list(each) for each in product(*(range(lo, lo + n) for lo, n in zip(starts, counts, strict=True)))]
        case spaces.MultiBinary() if 2 ** prod(space.shape) <= MAX_CHOICES:
            return [list(each) for each in product((0, 1), repeat=prod(space.shape))]
    return None


def _one(space: Any, stream: Stream) -> Any:
    match space:
        case spaces.Discrete():
            return int(space.start) + stream.below(int(space.n))
        case spaces.MultiDiscrete():
            starts = np.asarray(space.start).flatten().tolist()
            return [lo + stream.below(n) for lo, n in zip(starts, space.nvec.flatten().tolist(), strict=True)]
        case spaces.MultiBinary():
            return [stream.below(2) for _ in range(prod(space.shape))]
        case spaces.Box():
            limits = zip(space.low.flatten().tolist(), space.high.flatten().tolist(), strict=True)
            return [_between(lo, hi, np.issubdtype(space.dtype, np.integer), stream) for lo, hi in limits]
        case spaces.Text():
            length = stream.between(max(1, space.min_length), min(space.max_length, max(8, space.min_length)))
            return "".join(stream.choice(space.character_list) for _ in range(length))
        case spaces.Dict():
            return {name: _one(part, stream) for name, part in space.items()}
        case spaces.Tuple():
            return [_one(part, stream) for part in space]
    raise BadArgs(f"no values can be listed for the space {space}")


def _between(low: float, high: float, whole: bool, stream: Stream) -> float:
    lo, hi = max(low, -1e3), min(high, 1e3)
    return stream.between(int(lo), int(hi)) if whole else lo + (hi - lo) * stream.below(1001) / 1000


def plain(value: Any) -> Any:
    """An observation as values that JSON has. Long arrays are only described."""
    match value:
        case np.ndarray() if value.size > MAX_SHOWN:
            return f"an array of {'×'.join(map(str, value.shape))} numbers"
        case np.ndarray():
            return _rounded(value.tolist())
        case np.generic():
            return _rounded(value.item())
        case Mapping():
            return {str(name): plain(part) for name, part in value.items()}
        case list() | tuple():
            return [plain(part) for part in value]
        case None | bool() | int() | float():
            return _rounded(value)
    return str(value)[:MAX_TEXT]


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return round(value, 4) if isinstance(value, float) else value


def in_words(value: Any) -> str:
    """An observation as lines of text."""
    shown = plain(value)
    if isinstance(shown, dict):
        return "\n".join(f"{name}:{_indented(part)}" for name, part in shown.items())
    return _indented(shown).strip()


def _indented(shown: Any) -> str:
    if isinstance(shown, list) and any(isinstance(row, list) for row in shown):
        return "\n" + "\n".join("  " + _row(row) for row in shown)
    return " " + _row(shown)


def _row(shown: Any) -> str:
    return " ".join(_row(each) for each in shown) if isinstance(shown, list) else str(shown)
