"""Environments that are registered with Gymnasium, as the games of a library.

Their names are a kind, often a size or level, and a version: ``MiniGrid-DoorKey-6x6-v0``. A table describes the kinds.
"""

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import gymnasium
from msgspec import Struct

from cohabit.errors import BadArgs, CohabitError
from cohabit.library import GameName, Listed, no_such_game

_ID = re.compile(r"(?P<base>.+?)(?:-v(?P<version>\d+))?")


class Kind(Struct, forbid_unknown_fields=True):
    """Environments that differ by a size or a level only."""

    title: str
    rules: str  # one or two sentences
    cannot: str = ""  # as in ``Listed``
    hidden: bool = False
    world: str = ""  # the class in ``toy_text``; "": made from its spaces
    moves: tuple[str, ...] = ()  # names for numbered actions, if it is made from its spaces


class Table(Struct, forbid_unknown_fields=True):
    kinds: dict[str, Kind]
    left_out: dict[str, str]  # a regular expression for names: why


class Registered:
    """The registered environments whose names begin with one of these prefixes."""

    def __init__(self, table: Table, prefixes: tuple[str, ...]) -> None:
        self.table = table
        self.names = sorted(name for name in gymnasium.registry if name.startswith(prefixes))

    @cached_property
    def listed(self) -> dict[str, Listed]:
        found = {}
        for name in self.names:
            kind = None if self._why_left_out(name) else self._kind(name)
            if kind is not None:
                about, variant = self.table.kinds[kind], self._variant(name, kind)
                title = f"{about.title} ({variant})" if variant else about.title
                found[name] = Listed(
                    name, title, (1, 1), about.rules, "step", hidden=about.hidden, kind=kind, cannot=about.cannot
                )
        return found

    def left_out(self) -> Mapping[str, str]:
        others = [name for name in self.names if name not in self.listed]
        return {name: self._why_left_out(name) or "it has no description here" for name in others}

    def find(self, name: GameName) -> Listed:
        if name.game not in self.listed:
            raise no_such_game(name, list(self.listed), self.left_out())
        return self.listed[name.game]

    def _kind(self, name: str) -> str | None:
        return max((kind for kind in self.table.kinds if _base(name).startswith(kind)), key=len, default=None)

    def _variant(self, name: str, kind: str) -> str:
        """The part of a name besides its kind. A version counts if there are several."""
        variant, version = _base(name).removeprefix(kind).strip("-"), name.removeprefix(_base(name)).strip("-")
        others = [each for each in self.names if _base(each) == _base(name) and not self._why_left_out(each)]
        return f"{variant} {version}".strip() if len(others) > 1 else variant

    def _why_left_out(self, name: str) -> str:
        return next((why for pattern, why in self.table.left_out.items() if re.fullmatch(pattern, name)), "")


def _base(name: str) -> str:
    """The name without its version."""
    found = _ID.fullmatch(name)
    assert found is not None
    return found["base"]


def tried(name: GameName, make: Callable[[], Any]) -> Any:
    """One of the environments. Any error says that the parameters or the code are wrong."""
    try:
        return make()
    except CohabitError:
        raise
    except Exception as wrong:
        raise BadArgs(f"{name} cannot be made: {type(wrong).__name__}: {str(wrong)[:300]}") from wrong
