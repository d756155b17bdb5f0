"""TextArena as a library of games. ``library.toml`` says which of its families can be played here, and what they are.

A family is one of its environments, with an id for each size or level: ``Othello-v0``, ``Othello-v0-tiny``.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct
from textarena.envs.registration import ENV_REGISTRY

from cohabit.errors import BadArgs
from cohabit.libraries.textarena.world import Family, Played, Spoken, WithSecrets
from cohabit.library import GameName, Listed, Parameter, checked_parameters, no_such_game
from cohabit.model.action import Action
from cohabit.model.table_files import read_table
from cohabit.world import World, WorldSpec

WITH_WRAPPERS = ("-raw", "-train")
"""Ends of ids of the same game with other wrappers. We use the raw one, and write the views ourselves."""
LEVEL = "-v0"


class _Table(Struct, frozen=True):
    families: dict[str, Family]
    left_out: dict[str, str]  # by family, or by id for a level of one that is listed


class TextArena:
    """The games of TextArena that start without a network, on every supported version of Python."""

    def __init__(self) -> None:
        self._table = read_table(__file__, _Table)

    @cached_property
    def _ids(self) -> dict[str, str]:
        """The family of each id."""
        plain = {name: spec for name, spec in ENV_REGISTRY.items() if not name.endswith(WITH_WRAPPERS)}
        return {name: spec.entry_point.split(".")[2] for name, spec in plain.items()}

    def games(self) -> Sequence[Listed]:
        known = self._table.families
        ids = {name: family for name, family in self._ids.items() if name not in self._table.left_out}
        return [_listed(name, known[family], family) for name, family in ids.items() if family in known]

    def left_out(self) -> Mapping[str, str]:
        return {key if key in self._ids else _first(self._ids, key): why for key, why in self._table.left_out.items()}

    def world(self, name: GameName) -> type[World]:
        key = self._ids.get(name.game, "")
        family, left_out = self._table.families.get(key), self._table.left_out
        if family is None or name.game in left_out:
            why = left_out.get(name.game) or left_out.get(key)
            raise no_such_game(name, [game.name for game in self.games()], {name.game: why} if why else {})
        given = {option: value for option, value in _options(name.game).items() if isinstance(value, Parameter)}
        options = checked_parameters(name, {option: type(value) for option, value in given.items()})
        if any(isinstance(value, int) and not 0 <= value <= 10 * max(1, abs(given[option]))  # type: ignore[arg-type]
               for option, value in options.items()):  # fmt: skip
            raise BadArgs(f"{name.game}: a number is negative, or more than ten times the usual one ({given})")
        return _world(name, family, options)


def _world(name: GameName, family: Family, options: Mapping[str, Any]) -> type[World]:
    most = family.seats[1]
    spec = WorldSpec(
        name=name.world_name,
        title=_title(name.game, family),
        seats=family.seats,
        seat_names=tuple(f"player_{number}" for number in range(most)),  # the library counts its players from 0
        pace="turns",
        open_information=family.information == "open",
        deals_once=family.information != "open",
        examples=True,
    )
    base = Spoken if family.talks else Played
    bases = (base,) if spec.open_information else (WithSecrets, base)
    raw = f"{name.game}-raw"
    attributes = {"spec": spec, "family": family, "game_id": raw if raw in ENV_REGISTRY else name.game}
    patterns = family.levels.get(_level(name.game), family.moves)
    attributes |= {"options": options, "patterns": patterns, "keys": _arrows(patterns), "__doc__": family.about}
    return type(base.__name__, bases, attributes)


def _arrows(moves: Sequence[str]) -> dict[str, Action]:
    """Arrow keys for a game whose moves are directions: "[<Up|Left|Right|Down>]"."""
    words = [word for move in moves if move.startswith("[<") for word in move[2:-2].split("|")]
    if len(moves) != 1 or {word.lower() for word in words} != {"up", "down", "left", "right"}:
        return {}
    return {f"Arrow{word.capitalize()}": Action("play", {"move": f"[{word}]"}) for word in words}


def _listed(name: str, family: Family, kind: str) -> Listed:
    hidden = family.information == "hidden" and family.seats[1] > 1
    return Listed(
        name, _title(name, family), family.seats, family.about, hidden=hidden, kind=kind, cannot=family.cannot
    )


def _title(name: str, family: Family) -> str:
    level = _level(name).replace("-", " ")
    return f"{family.title} ({level})" if level else family.title


def _level(name: str) -> str:
    return name.partition(LEVEL)[2].strip("-")


def _first(ids: Mapping[str, str], family: str) -> str:
    """The id that stands for a family: the one without a level, if there is one."""
    own = [name for name, its in ids.items() if its == family]
    return next((name for name in own if name.endswith(LEVEL)), own[0])


def _options(name: str) -> dict[str, Any]:
    return dict(ENV_REGISTRY[name].kwargs)
