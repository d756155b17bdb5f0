"""The kinds of ground, what can cover it, and what people build."""

import numpy as np
from msgspec import Struct

from cohabit.model.table_files import read_table


class Ground(Struct, frozen=True, forbid_unknown_fields=True):
    """A kind of ground. Every cell of the map has one."""

    id: str
    colour: str  # as #rrggbb
    edge: str
    water: bool = False
    deadly: bool = False  # kills creatures that are not fireproof
    slow: int = 1  # factor on the time of a step on foot
    biome: bool = False  # can plants grow on it?


class Top(Struct, frozen=True, forbid_unknown_fields=True):
    """The cover of the ground of a cell. Row 0 is nothing."""

    id: str
    colour: str
    food: int = 0  # for a grazing animal, while it is fresh
    burns: bool = False
    wood: int = 0  # for a woodcutter
    slow: int = 0  # added to the factor of the ground
    fast: bool = False  # halves the time of a step


class Building(Struct, frozen=True, forbid_unknown_fields=True):
    """A kind of building, and its cost. Row 0 is nothing."""

    id: str
    colour: str
    wood: int = 0
    stone: int = 0


class _Table(Struct, frozen=True, forbid_unknown_fields=True):
    ground: tuple[Ground, ...]
    tops: tuple[Top, ...]
    buildings: tuple[Building, ...]


_TABLE = read_table(__file__, _Table)
GROUND, TOPS, BUILDINGS = _TABLE.ground, _TABLE.tops, _TABLE.buildings
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
