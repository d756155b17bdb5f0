"""The choices of a body in a step, with their arguments."""

from typing import Any, Literal, get_args

from msgspec import Struct

from cohabit.worlds.starbound.items import ITEM, PLACEABLE, RECIPE

Way = Literal["left", "right", "up", "down"]
JumpWay = Literal["up", "left", "right"]
Aim = Literal["left", "right", "up", "down", "up_left", "up_right", "down_left", "down_right"]
Destination = Literal["ship", "surface", "verdant", "dune", "frost", "mire", "cinder"]
Craftable = Literal[
    "workbench", "torch", "campfire", "ladder", "platform", "bandage", "wood_pickaxe", "wood_sword", "stone_pickaxe",
    "stone_sword", "furnace", "bed", "hide_armor", "fur_coat", "cooked_meat", "anvil", "iron_pickaxe", "iron_sword",
    "iron_armor", "titanium_pickaxe", "titanium_sword", "hazard_suit", "dash", "double_jump",
]  # fmt: skip
Placeable = Literal[
    "wood", "dirt", "stone", "sand", "snow", "ice", "ash", "obsidian", "torch", "ladder", "platform", "campfire",
    "workbench", "furnace", "anvil", "bed",
]  # fmt: skip
Buyable = Literal["iron", "crystal", "cooked_meat", "bandage", "torch"]
MAX_COUNT = 99


class Choice(Struct, frozen=True, forbid_unknown_fields=True):
    """The choice of a body for the next step."""

    name: str
    args: dict[str, Any] = {}


_ITEM_COUNT = {"item": tuple(ITEM), "count": int}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "move": {"direction": get_args(Way), "tiles": int},
    "jump": {"direction": get_args(JumpWay)},
    "drop": {},
    "wait": {},
    "interact": {"target": str},
    "use_tool": {"direction": ("", *get_args(Aim))},
    "place": {"item": PLACEABLE, "direction": ("", *get_args(Aim))},
    "attack": {"target": str},
    "alt_attack": {},
    "equip": {"slot": tuple(ITEM)},
    "unequip": {"slot": str},
    "consume": _ITEM_COUNT,
    "use_item": {"slot": tuple(ITEM)},
    "drop_item": {"slot": tuple(ITEM), "count": int},
    "craft": {"item": tuple(RECIPE)},
    "use_tech": {},
    "warp": {"destination": get_args(Destination)},
    "beam_up": {},
    "beam_down": {},
    "store": _ITEM_COUNT,
    "fetch": _ITEM_COUNT,
    "buy": _ITEM_COUNT,
    "sell": _ITEM_COUNT,
}
"""The arguments of each choice: their possible values, or their type."""


def is_valid(choice: Choice) -> bool:
    """True if the engine can carry this out, or give the reason why not."""
    known = ARGUMENTS.get(choice.name)
    if known is None or choice.args.keys() != known.keys():
        return False
    for name, value in choice.args.items():
        allowed = known[name]
        if not (value in allowed if isinstance(allowed, tuple) else type(value) is allowed):
            return False
        if type(value) is int and not 1 <= value <= MAX_COUNT:
            return False
    return True
