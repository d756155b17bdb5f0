"""The kinds of ground, what can cover it, and what people build."""

import numpy as np
from msgspec import Struct


class Ground(Struct, frozen=True):
    """A kind of ground. Every cell of the map has one."""

    id: str
    colour: str  # as #rrggbb
    edge: str
    water: bool = False
    deadly: bool = False  # kills creatures that are not fireproof
    slow: int = 1  # factor on the time of a step on foot
    biome: bool = False  # can plants grow on it?


GROUND: tuple[Ground, ...] = (
    Ground("deep_ocean", "#1f4e8c", "#1b4680", water=True, slow=2),
    Ground("close_ocean", "#2f6fb5", "#2a65a6", water=True, slow=2),
    Ground("shallow_waters", "#57a5d8", "#4f98c9", water=True, slow=2),
    Ground("sand", "#e3d39a", "#d2c289"),
    Ground("soil_low", "#a3814f", "#937345", biome=True),
    Ground("soil_high", "#8a6b41", "#7b5f39", biome=True),
    Ground("hills", "#7d7a72", "#6f6c65", slow=2),
    Ground("mountains", "#5e5b57", "#53504c", slow=3),
    Ground("summit", "#e8ecef", "#d5dade", slow=4),
    Ground("lava0", "#ffdc5e", "#ffd13a", deadly=True),
    Ground("lava1", "#ffb13d", "#ffa41f", deadly=True),
    Ground("lava2", "#ff7a2a", "#f56c1b", deadly=True),
    Ground("lava3", "#c8401e", "#b43718", deadly=True),
    Ground("pit_deep_ocean", "#2a2f3a", "#252a34", slow=3),
    Ground("pit_close_ocean", "#3a3f49", "#343942", slow=2),
    Ground("pit_shallow_waters", "#4d515a", "#454951", slow=2),
    Ground("grey_goo", "#9aa0a6", "#8c9298", deadly=True),
    Ground("river", "#4a9bd1", "#428dc0", water=True, slow=2),
    Ground("ice", "#bfe3f2", "#aed4e4", slow=2),
    Ground("ash", "#57534f", "#4b4845", biome=True),
)


class Top(Struct, frozen=True):
    """What covers the ground of a cell. Row 0 is nothing."""

    id: str
    colour: str
    food: int = 0  # for a grazing animal, while it is fresh
    burns: bool = False
    wood: int = 0  # for a woodcutter
    slow: int = 0  # added to the factor of the ground
    fast: bool = False  # halves the time of a step


TOPS: tuple[Top, ...] = (
    Top("none", "#000000"),
    Top("grass", "#6fae4a", food=40, burns=True),
    Top("forest", "#3c7a36", food=15, burns=True, wood=4, slow=1),
    Top("jungle", "#2c8a4b", food=25, burns=True, wood=4, slow=1),
    Top("savanna", "#b9b04c", food=30, burns=True),
    Top("desert", "#e6c878", food=3),
    Top("swamp", "#56703f", food=15, slow=1),
    Top("snow", "#eef4f7", food=4, slow=1),
    Top("taiga", "#4d7f6b", food=12, burns=True, wood=3, slow=1),
    Top("flowers", "#c76fae", food=35, burns=True),
    Top("mushrooms", "#8a5fa0", food=20),
    Top("farmland", "#c9a94a", burns=True),
    Top("road", "#b8a58a", fast=True),
    Top("fire", "#ff6a1a"),
    Top("burnt", "#3a3532"),
    Top("wasteland", "#8f7f52"),
    Top("corrupted", "#5b3d68"),
    Top("infernal", "#8c2f22"),
    Top("crystal", "#7fd6d8", food=5),
    Top("candy", "#f09ac0", food=30, burns=True),
    Top("wall", "#6e675e"),
)


class Building(Struct, frozen=True):
    """A kind of building, and its cost. Row 0 is nothing."""

    id: str
    colour: str
    wood: int = 0
    stone: int = 0


BUILDINGS: tuple[Building, ...] = (
    Building("none", "#000000"),
    Building("bonfire", "#ff9d3b"),
    Building("house", "#b5543c", wood=5),
    Building("hall", "#d8b25c", wood=15, stone=10),
    Building("barracks", "#7c4f9e", wood=20, stone=10),
    Building("market", "#e0c04f", wood=15, stone=5),
    Building("temple", "#e8e4d8", wood=10, stone=25),
    Building("tower", "#8e8a84", wood=5, stone=15),
    Building("mine", "#4f4a45", wood=10),
    Building("docks", "#8f6b45", wood=15),
)

GROUND_ROW = {kind.id: row for row, kind in enumerate(GROUND)}
TOP_ROW = {kind.id: row for row, kind in enumerate(TOPS)}
BUILDING_ROW = {kind.id: row for row, kind in enumerate(BUILDINGS)}

# The same as lookup tables by row.
IS_WATER = np.array([kind.water for kind in GROUND])
IS_DEADLY = np.array([kind.deadly for kind in GROUND])
IS_LAVA = np.array([kind.id.startswith("lava") for kind in GROUND])
CAN_GROW = np.array([kind.biome for kind in GROUND])
IS_STONY = np.array([kind.id in ("hills", "mountains", "summit") for kind in GROUND])
GROUND_SLOW = np.array([kind.slow for kind in GROUND], np.int16)
TOP_FOOD = np.array([kind.food for kind in TOPS], np.int16)
TOP_BURNS = np.array([kind.burns for kind in TOPS])
TOP_WOOD = np.array([kind.wood for kind in TOPS], np.int16)
TOP_SLOW = np.array([kind.slow for kind in TOPS], np.int16)
TOP_FAST = np.array([kind.fast for kind in TOPS])
