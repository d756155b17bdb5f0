"""The actions of Crafter as players see them."""

from collections.abc import Callable

from msgspec import Struct

from cohabit.model.action import Action
from cohabit.world import ActionSpec, Outcome, Seat
from cohabit.worlds.crafter.acting import has_effect
from cohabit.worlds.crafter.game import Game
from cohabit.worlds.crafter.player import Player
from cohabit.worlds.crafter.rules import ACTIONS, ITEMS, MAKE, MATERIALS, NOOP, PLACE

_DESCRIPTIONS = {
    "noop": "Do nothing for a step.",
    "move_left": "Turn left and go one cell, if it is free.",
    "move_right": "Turn right and go one cell, if it is free.",
    "move_up": "Turn up and go one cell, if it is free.",
    "move_down": "Turn down and go one cell, if it is free.",
    "do": "Act on what you face: collect it, drink, eat a ripe plant, or hit a creature.",
    "sleep": "Sleep, if your energy is below 9. Repeat it: you stay asleep until it is 9 or something hurts you.",
}


class NoArguments(Struct, forbid_unknown_fields=True):
    pass


def _description(number: int, name: str) -> str:
    if number in PLACE:
        placing = PLACE[number]
        ground = ", ".join(sorted(MATERIALS[material] for material in placing.where))
        return f"Place it in front of you, on {ground}. Uses {placing.amount} {ITEMS[placing.item]}."
    if number in MAKE:
        making = MAKE[number]
        uses = ", ".join(f"{amount} {ITEMS[item]}" for item, amount in making.uses)
        near = " and ".join(MATERIALS[material] for material in making.nearby)
        return f"Uses {uses}. At a {near}: within one cell, diagonally too."
    return _DESCRIPTIONS[name]


def action_specs(run: Callable[[Seat, int], Outcome]) -> list[ActionSpec]:
    """The 17 actions. ``run`` gets the acting seat and the number of the action."""

    def called(number: int) -> Callable[[Seat], Outcome]:
        return lambda by: run(by, number)

    return [
        ActionSpec(name=name, run=called(number), description=_description(number, name), args=NoArguments)
        for number, name in enumerate(ACTIONS)
    ]


def useful_actions(game: Game, player: Player) -> list[Action]:
    """`noop`, and the actions that have an effect now. A player sees everything that this depends on."""
    numbers = [n for n in range(NOOP + 1, len(ACTIONS)) if has_effect(game.land, player, n, game.fighting)]
    return [NOOP_ACTION, *(LEGAL[number] for number in numbers)]


LEGAL: list[Action] = [Action(name) for name in ACTIONS]
"""Every action can be tried at any time; one that cannot succeed takes a step and has no effect."""
NOOP_ACTION = LEGAL[0]
