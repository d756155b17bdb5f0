"""The layers of the front end besides the view: drawings and rules, which never change, and the known figures."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from cohabit.model.action import Action
from cohabit.world import Outcome
from cohabit.worlds.crafter import rules, trade
from cohabit.worlds.crafter.actions import action_specs, useful_actions
from cohabit.worlds.crafter.drawing.figures import colour_of
from cohabit.worlds.crafter.drawing.strokes import all_drawings
from cohabit.worlds.crafter.game import Game
from cohabit.worlds.crafter.player import Player
from cohabit.worlds.crafter.view import MATERIAL_OF, is_in_view

Layers = dict[str, Any]
KEYS = {
    "ArrowLeft": "move_left", "ArrowRight": "move_right", "ArrowUp": "move_up", "ArrowDown": "move_down",
    "a": "move_left", "d": "move_right", "w": "move_up", "s": "move_down", " ": "do", "z": "sleep",
    "r": "place_stone", "t": "place_table", "f": "place_furnace", "p": "place_plant", "1": "make_wood_pickaxe",
    "2": "make_stone_pickaxe", "3": "make_iron_pickaxe", "4": "make_wood_sword", "5": "make_stone_sword",
    "6": "make_iron_sword", ".": "noop",
}  # fmt: skip
"""Those of the original; and arrows, a full stop to wait, and z instead of Tab, which leads to the next button."""


def key_actions() -> dict[str, Action]:
    return {key: Action(name) for key, name in KEYS.items()}


@cache
def _rules() -> Layers:
    def never(*_: Any) -> Outcome:
        raise AssertionError("only the descriptions of these actions are used")

    uses: dict[str, Sequence[tuple[int, int]]] = {
        rules.ACTIONS[number]: ((placing.item, placing.amount),) for number, placing in rules.PLACE.items()
    } | {rules.ACTIONS[number]: making.uses for number, making in rules.MAKE.items()}
    return {
        "most": rules.MOST,
        "day": rules.DAY,
        "items": rules.ITEMS,
        "materials": MATERIAL_OF,
        "achievements": {rung.name: [*_costs(rung.uses.items()), *rung.needs] for rung in rules.RUNGS},
        "actions": {
            spec.name: {
                "about": spec.description,
                "uses": {rules.ITEMS[item]: amount for item, amount in uses.get(spec.name, ())},
            }
            for spec in action_specs(never)
        },
    }


def _costs(uses: Any) -> list[str]:
    return [f"{amount} {item}" for item, amount in uses]


def shared_layers() -> Layers:
    """The layers for everybody: drawings and rules."""
    return {"drawings": all_drawings(), "rules": _rules()}


def player_layers(game: Game, player: Player) -> Layers:
    """The layers for this player: the shared ones, the figures in its view, and its possible actions."""
    can = [action.name for action in useful_actions(game, player)]
    if not (player.sleeping and player.energy < rules.MOST):
        hows: Sequence[Any] = ("give", "drop")
        can += [how for how in hows if trade.why_not(game.land, player, how) is None]
    return {
        **shared_layers(),
        "can": can if player.alive else [],
        "me": _figure(player),
        "figures": _figures(game, lambda other: is_in_view(player, other)),
    }


def everything_layers(game: Game) -> Layers:
    """The layers for those who see the whole land."""
    return {**shared_layers(), "figures": _figures(game, lambda other: True)}


def _figure(player: Player) -> list[Any]:
    return [colour_of(player), player.dx, player.dy, int(player.sleeping)]


def _figures(game: Game, is_seen: Callable[[Player], bool]) -> dict[str, Any]:
    """Players by name: colour, direction, and whether they sleep."""
    return {player.name: _figure(player) for player in game.players if not player.removed and is_seen(player)}
