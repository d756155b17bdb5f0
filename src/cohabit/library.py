"""The contract of a library of games, and the names of its games: ``openspiel:leduc_poker(players=3)``.

Before the colon is the library, after it one of its games, and in brackets the parameters that its maker takes. Each
such name is a world class of its own, with its own number of seats, so a library needs nothing from a room but the
world contract. ``gymnasium:my_module:make_env`` is an environment of one's own: ``make_env`` in ``my_module`` makes it.
"""

import ast
import os
import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple, Protocol

import msgspec
from msgspec import Struct

from cohabit.errors import BadArgs, UnknownAsset
from cohabit.model.suggest import nearest
from cohabit.world import Pace, World

MAX_NAME = 200
Parameter = bool | int | float | str
_NAME = re.compile(r"(?P<library>[a-z0-9]+):(?P<game>[\w.:/+-]+)(?:\((?P<parameters>.*)\))?")
_STORY = re.compile(r"\.z[1-8]\Z")


class GameName(NamedTuple):
    """A game of a library, with parameters."""

    library: str
    game: str
    parameters: tuple[tuple[str, Parameter], ...] = ()  # sorted by name

    @property
    def is_code(self) -> bool:
        """True if it names something of the user's own: a module and what makes an environment in it, or a file."""
        return ":" in self.game or _STORY.search(self.game) is not None

    @property
    def world_name(self) -> str:
        """The name of its world (``WorldSpec.name``)."""
        return re.sub(r"[^a-z0-9]+", "_", str(self).lower()).strip("_")

    def __str__(self) -> str:
        given = ",".join(f"{name}={value!r}" for name, value in self.parameters)
        return f"{self.library}:{self.game}" + (f"({given})" if given else "")


class Listed(Struct, frozen=True, omit_defaults=True):
    """One line of the list of a library: a game that can be played as it is named."""

    name: str  # "leduc_poker"
    title: str
    seats: tuple[int, int]  # the minimum and the maximum number
    about: str = ""  # one or two sentences
    pace: Pace = "turns"
    hidden: bool = False  # whether seats see different things
    kind: str = ""  # a group of games that differ by a size or a level only, such as "BabyAI-GoTo"
    cannot: str = ""  # what it cannot do, in one sentence; "" if nothing is missing


class Library(Protocol):
    """A library of games. Making one imports it."""

    def games(self) -> Sequence[Listed]:
        """All games that can be played without parameters, by name."""

    def left_out(self) -> Mapping[str, str]:
        """The games of the library that are not listed, and why."""

    def world(self, name: GameName) -> type[World]:
        """The world of a game. Raise ``UnknownAsset`` if there is none, ``BadArgs`` if a parameter is wrong."""


class Installable(Struct, frozen=True):
    """The place of a library, and its package: an entry of ``registry.toml``."""

    library: str  # "module:Class" of the ``Library``
    package: str  # the module that the library is imported as
    extra: str  # of Cohabit
    about: str  # one line


def parse_name(source: str, libraries: Collection[str]) -> GameName | None:
    """The game that a source names; None if it does not begin with one of these libraries."""
    library, colon, _ = source.partition(":")
    if not colon or library not in libraries:
        return None
    found = _NAME.fullmatch(source)
    if found is None or len(source) > MAX_NAME:
        raise BadArgs(f"{source[:80]!r} names no game; write LIBRARY:GAME or LIBRARY:GAME(NAME=VALUE,…)")
    return GameName(found["library"], found["game"], _parameters(found["parameters"] or ""))


def _parameters(text: str) -> tuple[tuple[str, Parameter], ...]:
    """``players=3,mode="easy"``. A single word needs no quotes."""
    try:
        call = ast.parse(f"make({text})", mode="eval").body
        assert isinstance(call, ast.Call)
        assert not call.args
        given = {str(keyword.arg): _value(keyword.value) for keyword in call.keywords if keyword.arg}
        assert len(given) == len(call.keywords)
    except (SyntaxError, ValueError, AssertionError, RecursionError, MemoryError):
        raise BadArgs(f"the parameters ({text[:80]}) must be NAME=VALUE, separated by commas") from None
    return tuple(sorted(given.items()))


def _value(node: ast.expr) -> Parameter:
    value = node.id if isinstance(node, ast.Name) else ast.literal_eval(node)
    if not isinstance(value, bool | int | float | str):
        raise ValueError
    return value


def made_by_user(name: GameName) -> Callable[..., Any]:
    """The maker of an environment of one's own: the function or class that ``module:factory`` names."""
    module, _, factory = name.game.partition(":")
    if (here := os.getcwd()) not in sys.path:
        sys.path.insert(0, here)  # a module beside what the operator works on
    try:
        made: Any = import_module(module)
        for part in factory.split("."):
            made = getattr(made, part)
    except (ImportError, AttributeError, ValueError) as wrong:
        raise UnknownAsset(f"{name}: {wrong}; the module has to be importable, and have {factory!r}") from wrong
    if not callable(made):
        raise BadArgs(f"{name}: {factory} is not a function or class that makes an environment")
    return made  # type: ignore[no-any-return]  # it is whatever the user wrote


def no_such_game(name: GameName, games: Sequence[str], left_out: Mapping[str, str]) -> UnknownAsset:
    """The error for a game that the library does not offer here."""
    if name.game in left_out:
        return UnknownAsset(f"{name.library}:{name.game} cannot be played here: {left_out[name.game]}")
    return UnknownAsset(
        f"{name.library} has no game {name.game[:60]!r}; `cohabit worlds --library {name.library}` lists them",
        did_you_mean=[f"{name.library}:{near}" for near in nearest(name.game, list(games), 2)],
    )


def checked_parameters(name: GameName, known: Mapping[str, type]) -> dict[str, Parameter]:
    """The parameters of a game, if they are among the known ones and have their types."""
    found: dict[str, Parameter] = {}
    for key, value in name.parameters:
        if key not in known:
            takes = f"it takes {', '.join(known)}" if known else "it takes none"
            raise BadArgs(f"{name.game} has no parameter {key!r}; {takes}", did_you_mean=nearest(key, list(known), 2))
        try:
            found[key] = msgspec.convert(value, known[key])
        except msgspec.ValidationError:
            raise BadArgs(f"{name.game}: {key} must be {known[key].__name__}, not {value!r}") from None
    return found
