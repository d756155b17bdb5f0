"""The games of OpenSpiel as worlds: ``openspiel:chess``, ``openspiel:leduc_poker(players=3)``.

``catalogue`` has what we say about each game, ``world`` plays it, ``boards`` and ``hands`` make its text readable,
``secret`` and ``redraw`` redraw what a player may not see, and ``trial`` tries parameters in a process of their own.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import pyspiel  # type: ignore[import-not-found,import-untyped,unused-ignore]  # it has no types

from cohabit.errors import BadArgs
from cohabit.libraries.openspiel.catalogue import About, catalogue
from cohabit.libraries.openspiel.secret import SecretWorld
from cohabit.libraries.openspiel.trial import problem_with
from cohabit.libraries.openspiel.world import SpielWorld, seats_of
from cohabit.library import GameName, Listed, Parameter, checked_parameters, no_such_game
from cohabit.world import Pace, World, WorldSpec

NAMES_OF_FILES = ("file", "filename", "puzzles_root")
"""Parameters that end like this are paths. They are not taken: a record that names a game must not read our files."""


class OpenSpiel:
    """The library. A game without parameters is known to work; parameters are tried before the game is offered."""

    def games(self) -> Sequence[Listed]:
        return [_listed(name, kind) for name, kind in sorted(_playable().items())]

    def left_out(self) -> Mapping[str, str]:
        return catalogue().left_out

    def world(self, name: GameName) -> type[World]:
        playable, left_out = _playable(), self.left_out()
        if name.game not in playable:
            raise no_such_game(name, list(playable), left_out)
        kind, about = playable[name.game], catalogue().about(name.game)
        given = checked_parameters(name, _takes(kind))
        parameters = {**about.parameters, **given}
        if given and (problem := problem_with(name.game, parameters)):
            raise BadArgs(f"{name}: {problem}; choose other parameters")
        return _world(name, kind, about, parameters)


@cache
def _playable() -> dict[str, Any]:
    """The listed games: the type of each (``pyspiel.GameType``)."""
    left_out = catalogue().left_out
    kinds = [kind for kind in pyspiel.registered_games() if not kind.short_name.startswith("python_")]
    return {kind.short_name: kind for kind in kinds if kind.short_name not in left_out}


def _takes(kind: Any) -> dict[str, type]:
    """The parameters that a game takes, with their types."""
    found = kind.parameter_specification.items()
    return {name: type(value) for name, value in found if not name.endswith(NAMES_OF_FILES) and name.isidentifier()}


def _listed(name: str, kind: Any) -> Listed:
    about = catalogue().about(name)
    players = seats_of(kind, about.parameters)
    return Listed(
        name=name,
        title=about.title or kind.long_name,
        seats=(players, players),
        about=about.rules,
        pace=_pace(kind),
        hidden=_hides(kind),
        cannot=about.cannot,
    )


def _pace(kind: Any) -> Pace:
    return "rounds" if kind.dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS else "turns"


def _hides(kind: Any) -> bool:
    return bool(kind.information == pyspiel.GameType.Information.IMPERFECT_INFORMATION)


def _world(name: GameName, kind: Any, about: About, parameters: dict[str, Parameter]) -> type[World]:
    players = seats_of(kind, parameters)
    names = about.seat_names if len(about.seat_names) == players else tuple(f"player{i}" for i in range(players))
    pace = _pace(kind)
    spec = WorldSpec(
        name=name.world_name,
        title=(about.title or kind.long_name) + (f" ({_written(name)})" if name.parameters else ""),
        seats=players,
        seat_names=names,
        pace=pace,
        open_information=pace == "turns" and not _hides(kind),
        deals_once=kind.chance_mode != pyspiel.GameType.ChanceMode.DETERMINISTIC,
    )
    return type(
        "".join(part.capitalize() for part in name.game.split("_")),
        (SpielWorld if spec.open_information or not about.redraws else SecretWorld,),
        {
            "__doc__": _text(spec, name, about),
            "__module__": SpielWorld.__module__,
            "spec": spec,
            "kind": kind,
            "about": about,
            "parameters": parameters,
            "hides": _hides(kind),
            "rewards_on_the_way": kind.reward_model == pyspiel.GameType.RewardModel.REWARDS,
        },
    )


def _written(name: GameName) -> str:
    return ", ".join(f"{key} {value}" for key, value in name.parameters)


def _text(spec: WorldSpec, name: GameName, about: About) -> str:
    """The description of the game for players."""
    how = "Everybody chooses a move in secret; then all are made at once. " if spec.pace == "rounds" else ""
    lines = [
        f"{spec.title}. {about.rules}".strip(),
        f"{how}Give a move as it is written in the list of legal actions: play(move).",
        about.cannot if about.redraws else "",  # that leaks are not tested is not for players
        f"The game {name.game} of OpenSpiel; its players are numbered from 0, in the order of the seats.",
    ]
    return "\n\n".join(filter(None, lines))
