"""Results that are remembered: of functions of classes, and of methods without arguments."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Generic, ParamSpec, TypeVar, cast

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")


def cached(function: Callable[P, T]) -> Callable[P, T]:
    """Remember the last 256 results. The arguments must be hashable, as classes are, which mypy does not see."""
    return cast(Callable[P, T], lru_cache(256)(function))


class cached_value(Generic[S, T]):  # noqa: N801 - a decorator
    """``functools.cached_property`` without its lock, which costs more than a short method. (In Python 3.12 it has none
    either.) Two threads may both make the value, so it must be the same."""

    def __init__(self, make: Callable[[S], T]) -> None:
        self._make, self._name = make, make.__name__
        self.__doc__ = make.__doc__

    def __get__(self, owner: S, kind: Any = None) -> T:
        value = vars(owner)[self._name] = self._make(owner)
        return value
