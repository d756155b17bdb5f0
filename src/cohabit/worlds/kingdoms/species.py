"""The species, their properties, and which of them eat, fight and fear each other."""

from typing import Literal

import numpy as np
from msgspec import Struct

from cohabit.model.table_files import read_table

Diet = Literal["none", "grass", "meat", "fish", "all"]
Home = Literal["land", "water", "air"]
Temper = Literal["civil", "shy", "calm", "hunter", "monster", "undead"]


class Species(Struct, frozen=True, forbid_unknown_fields=True):
    """One kind of creature. Times are in ticks."""

    id: str
    temper: Temper  # civil: founds cities · shy: flees · hunter: eats others · monster, undead: attack the living
    diet: Diet = "grass"
    home: Home = "land"
    health: int = 30
    damage: int = 4
    pace: int = 3  # ticks per step
    sight: int = 6
    life: int = 4000  # maximum age
    grown: int = 400  # age at which it is adult
    litter: int = 1  # number of young per birth; 0: it does not breed
    herd: int = 4  # it breeds only while fewer of its species are near
    fireproof: bool = False
    fiery: bool = False  # its attacks set the ground on fire
    habitat: tuple[str, ...] = ()  # the tops or bare grounds on which it appears by itself
    colour: str = "#ffffff"


SPECIES = read_table(__file__, dict[str, tuple[Species, ...]])["species"]
SPECIES_ROW = {kind.id: row for row, kind in enumerate(SPECIES)}
RACES = tuple(kind.id for kind in SPECIES if kind.temper == "civil")

# The same as lookup tables by row.
HEALTH = np.array([kind.health for kind in SPECIES], np.int16)
DAMAGE = np.array([kind.damage for kind in SPECIES], np.int16)
PACE = np.array([kind.pace for kind in SPECIES], np.int16)
SIGHT = np.array([kind.sight for kind in SPECIES], np.int16)
LIFE = np.array([kind.life for kind in SPECIES], np.int32)
GROWN = np.array([kind.grown for kind in SPECIES], np.int32)
LITTER = np.array([kind.litter for kind in SPECIES], np.int16)
HERD = np.array([kind.herd for kind in SPECIES], np.int16)
FIREPROOF = np.array([kind.fireproof for kind in SPECIES])
FIERY = np.array([kind.fiery for kind in SPECIES])
IS_CIVIL = np.array([kind.temper == "civil" for kind in SPECIES])
IS_MONSTER = np.array([kind.temper in ("monster", "undead") for kind in SPECIES])
IS_SHY = np.array([kind.temper == "shy" for kind in SPECIES])
IS_HUNTER = np.array([kind.temper == "hunter" for kind in SPECIES])
HUNGERS = np.array([kind.diet != "none" for kind in SPECIES])
GRAZES = np.array([kind.diet in ("grass", "all") for kind in SPECIES])
LIVES_IN_WATER = np.array([kind.home == "water" for kind in SPECIES])
FLIES = np.array([kind.home == "air" for kind in SPECIES])


def _eats(eater: Species, eaten: Species) -> bool:
    if eater.temper != "hunter" or eaten.temper not in ("shy", "calm", "civil"):
        return False
    wanted: Home = "water" if eater.diet == "fish" else "land"
    return eaten.home == wanted and eaten.health <= 3 * eater.health // 2


def _fights(one: Species, other: Species) -> bool:
    """Does it attack the other even when it is not hungry? People attack monsters and beasts of prey in reach."""
    evil = ("monster", "undead")
    if one.temper in evil:
        return other.temper not in evil and other.home != "water"
    return one.temper == "civil" and other.temper in (*evil, "hunter") and other.home != "water"


EATS = np.array([[_eats(one, other) for other in SPECIES] for one in SPECIES])
FIGHTS = np.array([[_fights(one, other) for other in SPECIES] for one in SPECIES])
_FEARS = [[one.temper == "shy" and (_eats(other, one) or _fights(other, one)) for other in SPECIES] for one in SPECIES]
FEARS = np.array(_FEARS)
