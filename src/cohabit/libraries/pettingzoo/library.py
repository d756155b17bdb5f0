"""PettingZoo as a library of games: its classic games, and environments of one's own."""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import Struct

from cohabit.errors import BadArgs, UnknownAsset
from cohabit.libraries.pettingzoo import classic
from cohabit.libraries.pettingzoo.environment import AgentsWorld
from cohabit.libraries.pettingzoo.rounds import RoundsWorld
from cohabit.libraries.pettingzoo.turns import HidingTurnsWorld, TurnsWorld
from cohabit.libraries.pettingzoo.words import Words, has_listed_moves
from cohabit.library import GameName, Listed, checked_parameters, made_by_user, no_such_game
from cohabit.model.table_files import read_table
from cohabit.world import World, WorldSpec

PLAIN = (bool, int, float, str)


class _Game(Struct, frozen=True, forbid_unknown_fields=True):
    module: str
    title: str
    rules: str
    seats: tuple[str, ...]
    words: str
    hidden: bool = False
    rounds: bool = False
    cannot: str = ""


class _Table(Struct, frozen=True):
    games: dict[str, _Game]
    left_out: dict[str, str]  # by family


class PettingZoo:
    """The library ``pettingzoo``."""

    def __init__(self) -> None:
        self._table = read_table(__file__, _Table)

    def games(self) -> Sequence[Listed]:
        return [
            Listed(
                name, game.title, (len(game.seats), len(game.seats)), game.rules,
                "rounds" if game.rounds else "turns", game.hidden, cannot=game.cannot,
            )
            for name, game in self._table.games.items()
        ]  # fmt: skip

    def left_out(self) -> Mapping[str, str]:
        return self._table.left_out

    def world(self, name: GameName) -> type[World]:
        if name.is_code:
            return _own(name)
        game = self._table.games.get(name.game)
        if game is None:
            raise no_such_game(name, list(self._table.games), self._table.left_out)
        maker = _made(name, game.module, "raw_env")
        given = checked_parameters(name, _parameters(maker))
        make = partial(_made(name, game.module, "parallel_env") if game.rounds else maker, **given)
        words: Words = getattr(classic, game.words)()
        first = _tried(name, make)
        base: type[AgentsWorld] = RoundsWorld if game.rounds else TurnsWorld
        if type(words).redraw is not Words.redraw:
            base = HidingTurnsWorld
        spec = WorldSpec(
            name=name.world_name, title=game.title, seats=len(first.possible_agents), pace=_pace(game.rounds),
            seat_names=tuple(first.possible_agents), open_information=not game.hidden and not game.rounds,
            deals_once=game.hidden,
        )  # fmt: skip
        return _class(base, spec, make, words, game.rules)


def _made(name: GameName, module: str, maker: str) -> Callable[..., Any]:
    try:
        return made_by_user(GameName(name.library, f"pettingzoo.classic.{module}:{maker}"))
    except UnknownAsset as missing:
        raise UnknownAsset(
            f"{name} is not installed ({missing.__cause__}): pip install 'cohabit[pettingzoo]'"
        ) from None


def _own(name: GameName) -> type[World]:
    """An environment about which only its spaces are known. Nobody sees what another agent observes."""
    factory = made_by_user(name)
    make = partial(factory, **checked_parameters(name, _parameters(factory)))
    first = _tried(name, make)
    agents = list(getattr(first, "possible_agents", ()))
    if not agents or not hasattr(first, "action_space"):
        raise BadArgs(f"{name} is not an environment of PettingZoo: it has no possible_agents or no action_space")
    is_rounds = not hasattr(first, "agent_iter")  # only environments of turns have it
    listed = all(has_listed_moves(first.action_space(agent)) for agent in agents)
    about = inspect.cleandoc(factory.__doc__ or "").split("\n\n")[0].replace("\n", " ")
    spec = WorldSpec(
        name=name.world_name, title=name.game.partition(":")[2], seats=len(agents), pace=_pace(is_rounds),
        seat_names=tuple(re.sub(r"\W", "_", str(agent)) for agent in agents), deals_once=True, examples=not listed,
    )  # fmt: skip
    return _class(RoundsWorld if is_rounds else TurnsWorld, spec, make, Words(), about)


def _class(
    base: type[AgentsWorld], spec: WorldSpec, make: Callable[[], Any], words: Words, rules: str
) -> type[AgentsWorld]:
    attributes = {"spec": spec, "new_environment": staticmethod(make), "words": words, "rules": rules}
    return type(base.__name__, (base,), {**attributes, "__doc__": f"{spec.title}. {rules}"})


def _pace(is_rounds: bool) -> Any:
    return "rounds" if is_rounds else "turns"


def _tried(name: GameName, make: Callable[[], Any]) -> Any:
    """One of the environments. Any error says that the parameters or the code are wrong."""
    try:
        return make()
    except Exception as wrong:
        raise BadArgs(f"{name} cannot be made: {type(wrong).__name__}: {str(wrong)[:300]}") from wrong


def _parameters(maker: Callable[..., Any]) -> dict[str, type]:
    """The parameters that a name can give: those with a plain value as default, and not those about pictures."""
    try:
        found = inspect.signature(maker).parameters.items()
    except ValueError:  # some classes of Python itself have none
        return {}
    plain = {name: type(parameter.default) for name, parameter in found if type(parameter.default) in PLAIN}
    return {name: kind for name, kind in plain.items() if not name.startswith(("render", "screen"))}
