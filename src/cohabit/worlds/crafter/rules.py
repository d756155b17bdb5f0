"""The tables of Crafter: materials, items, actions, recipes, achievements and the time of day."""

import math
from typing import NamedTuple

from msgspec import Struct

from cohabit.model.table_files import read_table

# -- materials: what a cell of the map is made of ------------------------------------------------------
MATERIALS = (
    "", "water", "grass", "stone", "path", "sand", "tree", "lava", "coal", "iron", "diamond", "table", "furnace",
)  # fmt: skip
(
    OUTSIDE, WATER, GRASS, STONE, PATH, SAND, TREE, LAVA, COAL, IRON, DIAMOND, TABLE, FURNACE,
) = range(len(MATERIALS))  # fmt: skip
CREATURES_WALK = frozenset({GRASS, PATH, SAND})
PLAYERS_WALK = CREATURES_WALK | {LAVA}
ARROWS_FLY = CREATURES_WALK | {WATER, LAVA}

# -- things: what stands on a cell. The numbers go on from those of the materials, as in the original's semantic map --
THINGS = ("player", "cow", "zombie", "skeleton", "arrow", "plant", "bundle")
PLAYER, COW, ZOMBIE, SKELETON, ARROW, PLANT, BUNDLE = range(len(MATERIALS), len(MATERIALS) + len(THINGS))
NAMES = MATERIALS + THINGS

# -- items -----------------------------------------------------------------------------------------------
ITEMS = (
    "sapling", "wood", "stone", "coal", "iron", "diamond",
    "wood_pickaxe", "stone_pickaxe", "iron_pickaxe", "wood_sword", "stone_sword", "iron_sword",
)  # fmt: skip
(
    SAPLING, WOOD, STONES, COALS, IRONS, DIAMONDS,
    WOOD_PICKAXE, STONE_PICKAXE, IRON_PICKAXE, WOOD_SWORD, STONE_SWORD, IRON_SWORD,
) = range(len(ITEMS))  # fmt: skip
VITALS = ("health", "food", "drink", "energy")
MOST = 9  # of each item and of each vital

# -- actions and achievements, in the original's order ----------------------------------------------------
ACTIONS = (
    "noop", "move_left", "move_right", "move_up", "move_down", "do", "sleep",
    "place_stone", "place_table", "place_furnace", "place_plant",
    "make_wood_pickaxe", "make_stone_pickaxe", "make_iron_pickaxe",
    "make_wood_sword", "make_stone_sword", "make_iron_sword",
)  # fmt: skip
NOOP, LEFT, RIGHT, UP, DOWN, DO, SLEEP = range(7)
DIRECTIONS = {LEFT: (-1, 0), RIGHT: (1, 0), UP: (0, -1), DOWN: (0, 1)}
ACHIEVEMENTS = (
    "collect_coal", "collect_diamond", "collect_drink", "collect_iron", "collect_sapling", "collect_stone",
    "collect_wood", "defeat_skeleton", "defeat_zombie", "eat_cow", "eat_plant", "make_iron_pickaxe", "make_iron_sword",
    "make_stone_pickaxe", "make_stone_sword", "make_wood_pickaxe", "make_wood_sword", "place_furnace", "place_plant",
    "place_stone", "place_table", "wake_up",
)  # fmt: skip
ACHIEVEMENT = {name: number for number, name in enumerate(ACHIEVEMENTS)}


class Collecting(NamedTuple):
    """The result of `do` in front of a material."""

    item: int | None  # None: a drink
    tool: int | None  # needed in the inventory
    leaves: int
    achievement: int
    chance: float = 1.0


class Placing(NamedTuple):
    item: int
    amount: int
    where: frozenset[int]
    places: int  # a material or a thing
    achievement: int


class Making(NamedTuple):
    uses: tuple[tuple[int, int], ...]  # item, amount
    nearby: tuple[int, ...]  # materials
    gives: int
    achievement: int


COLLECT = {
    TREE: Collecting(WOOD, None, GRASS, ACHIEVEMENT["collect_wood"]),
    STONE: Collecting(STONES, WOOD_PICKAXE, PATH, ACHIEVEMENT["collect_stone"]),
    COAL: Collecting(COALS, WOOD_PICKAXE, PATH, ACHIEVEMENT["collect_coal"]),
    IRON: Collecting(IRONS, STONE_PICKAXE, PATH, ACHIEVEMENT["collect_iron"]),
    DIAMOND: Collecting(DIAMONDS, IRON_PICKAXE, PATH, ACHIEVEMENT["collect_diamond"]),
    WATER: Collecting(None, None, WATER, ACHIEVEMENT["collect_drink"]),
    GRASS: Collecting(SAPLING, None, GRASS, ACHIEVEMENT["collect_sapling"], 0.1),
}
_GROUND = frozenset({GRASS, SAND, PATH})
PLACE = {
    ACTIONS.index("place_stone"): Placing(STONES, 1, _GROUND | {WATER, LAVA}, STONE, ACHIEVEMENT["place_stone"]),
    ACTIONS.index("place_table"): Placing(WOOD, 2, _GROUND, TABLE, ACHIEVEMENT["place_table"]),
    ACTIONS.index("place_furnace"): Placing(STONES, 4, _GROUND, FURNACE, ACHIEVEMENT["place_furnace"]),
    ACTIONS.index("place_plant"): Placing(SAPLING, 1, frozenset({GRASS}), PLANT, ACHIEVEMENT["place_plant"]),
}
_COSTS = {
    "wood": (((WOOD, 1),), (TABLE,)),
    "stone": (((WOOD, 1), (STONES, 1)), (TABLE,)),
    "iron": (((WOOD, 1), (COALS, 1), (IRONS, 1)), (TABLE, FURNACE)),
}
MAKE = {
    number: Making(*_COSTS[name.split("_")[1]], ITEMS.index(name[len("make_") :]), ACHIEVEMENT[name])
    for number, name in enumerate(ACTIONS)
    if name.startswith("make_")
}


class Rung(Struct, frozen=True, forbid_unknown_fields=True):
    """An achievement as a step on the way: what it uses, what else it needs, and which achievements come first."""

    name: str
    uses: dict[str, int] = {}
    needs: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


RUNGS = read_table(__file__, dict[str, tuple[Rung, ...]])["rungs"]
"""The achievements in an order in which they can be reached."""

# -- creatures ----------------------------------------------------------------------------------------------
FIRST_HEALTH = {COW: 3, ZOMBIE: 5, SKELETON: 3, PLANT: 1, ARROW: 0, BUNDLE: 1}
RIPE_AFTER = 300  # updates of a plant
DAMAGE = ((IRON_SWORD, 5), (STONE_SWORD, 3), (WOOD_SWORD, 2))  # best first; 1 without a sword
ZOMBIE_DAMAGE, ZOMBIE_DAMAGE_TO_SLEEPERS, ZOMBIE_PAUSE = 2, 7, 5
ARROW_DAMAGE, SKELETON_RELOAD = 2, 4
COW_FOOD, PLANT_FOOD = 6, 4

# -- space and time ------------------------------------------------------------------------------------------
CHUNK = 12
BALANCE_EVERY = 10  # steps
VIEW_WIDTH, VIEW_HEIGHT = 9, 7
ACTIVE_DISTANCE = 18  # things nearer than this to a player are updated
DAY = 300  # steps
NIGHT = 0.5  # daylight below this draws noise in the picture
_DAYLIGHT = tuple(1 - abs(math.cos(math.pi * ((step / DAY) % 1 + 0.3))) ** 3 for step in range(DAY))


def daylight(step: int) -> float:
    """The light at a step, from 0 (black) to 1."""
    return _DAYLIGHT[step % DAY]
