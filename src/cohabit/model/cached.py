"""``lru_cache`` for functions of classes, with the types of the function."""

from collections.abc import Callable
from functools import lru_cache
from typing import ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")


def cached(function: Callable[P, T]) -> Callable[P, T]:
    """Remember the last 256 results. The arguments must be hashable, as classes are, which mypy does not see."""
    return cast(Callable[P, T], lru_cache(256)(function))
