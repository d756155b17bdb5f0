"""The species, their properties, and which of them eat, fight and fear each other."""

from typing import Literal

import numpy as np
from msgspec import Struct

Diet = Literal["none", "grass", "meat", "fish", "all"]
Home = Literal["land", "water", "air"]
Temper = Literal["civil", "shy", "calm", "hunter", "monster", "undead"]


class Species(Struct, frozen=True):
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


PLAINS = ("grass", "flowers")
WOODS = ("forest", "taiga")
SEA = ("deep_ocean", "close_ocean", "shallow_waters")
SHORE = ("sand", "shallow_waters")

SPECIES: tuple[Species, ...] = (
    # The four races.
    Species("human", "civil", "all", health=50, damage=8, life=5400, grown=900, colour="#f2c79a"),
    Species("elf", "civil", "all", health=45, damage=8, pace=2, sight=8, life=7200, grown=1200, colour="#b6e07a"),
    Species("orc", "civil", "all", health=60, damage=9, life=4200, grown=700, colour="#6f9c3d"),
    Species("dwarf", "civil", "all", health=65, damage=8, pace=4, life=6300, grown=1000, colour="#d08a52"),
    # Grazing animals.
    Species("sheep", "shy", health=20, damage=1, litter=2, habitat=PLAINS, colour="#f4f1e6"),
    Species("cow", "calm", health=45, damage=3, pace=4, habitat=PLAINS, colour="#7a5a43"),
    Species("pig", "calm", health=30, damage=2, litter=3, habitat=(*PLAINS, "mushrooms"), colour="#f0a9a6"),
    Species("chicken", "shy", health=8, damage=1, life=2400, grown=200, litter=3, habitat=PLAINS, colour="#fff3d1"),
    Species("rabbit", "shy", health=8, damage=1, pace=2, life=2000, grown=200, litter=3,
            habitat=(*PLAINS, "snow"), colour="#cbb79c"),
    Species("deer", "shy", health=30, damage=3, pace=2, sight=9, habitat=WOODS, colour="#a8754a"),
    Species("horse", "shy", health=45, damage=4, pace=2, sight=8, life=5000, herd=6,
            habitat=("grass", "savanna"), colour="#8a5a33"),
    Species("goat", "calm", health=30, damage=4, habitat=("hills", "mountains", "snow"), colour="#d9d2c5"),
    Species("buffalo", "calm", health=70, damage=7, pace=4, habitat=("savanna", "grass"), colour="#4a382d"),
    Species("rhino", "calm", health=110, damage=12, pace=4, life=6000, herd=2, habitat=("savanna",), colour="#8b8b88"),
    Species("elephant", "calm", health=150, damage=14, pace=4, life=7000, herd=2,
            habitat=("savanna", "jungle"), colour="#a3a1a0"),
    Species("ostrich", "shy", health=30, damage=5, pace=2, sight=9, herd=6,
            habitat=("savanna", "desert"), colour="#3d3a3c"),
    Species("camel", "calm", health=50, damage=4, herd=6, habitat=("desert", "sand"), colour="#c9a26b"),
    Species("monkey", "shy", health=20, damage=3, pace=2, habitat=("jungle",), colour="#7a4d2c"),
    Species("turtle", "calm", health=60, damage=1, pace=6, life=9000, herd=5,
            habitat=("sand", "swamp"), colour="#5d8a4f"),
    Species("frog", "shy", health=6, damage=1, life=1600, grown=200, litter=3, habitat=("swamp",), colour="#5fae3a"),
    Species("penguin", "shy", health=20, damage=2, pace=4, habitat=("snow", "ice"), colour="#2b2f36"),
    Species("seal", "calm", health=45, damage=4, pace=4, habitat=("snow", "ice"), colour="#7c8790"),
    Species("rat", "shy", health=6, damage=1, pace=2, life=1600, grown=150, litter=4, herd=5,
            habitat=("mushrooms", "swamp", "wasteland"), colour="#6d6561"),
    Species("cat", "shy", "all", health=15, damage=3, pace=2, sight=8, herd=4, habitat=("flowers",), colour="#d9903d"),
    Species("dog", "calm", "all", health=25, damage=5, pace=2, sight=8, herd=4, habitat=("grass",), colour="#b58b5a"),
    Species("crab", "calm", "all", health=15, damage=2, pace=5, litter=2, habitat=("sand",), colour="#e0623d"),
    # Flying animals.
    Species("bee", "calm", home="air", health=3, damage=1, pace=2, life=1200, grown=100, litter=2, herd=5,
            habitat=("flowers",), colour="#f2c21a"),
    Species("butterfly", "shy", home="air", health=2, damage=0, pace=3, life=1000, grown=100, litter=2, herd=5,
            habitat=("flowers", "jungle"), colour="#e58ad4"),
    Species("crow", "shy", "all", home="air", health=10, damage=2, pace=2, sight=10,
            habitat=(*WOODS, "wasteland", "burnt"), colour="#26262b"),
    Species("parrot", "shy", home="air", health=8, damage=1, pace=2, habitat=("jungle",), colour="#3fbf4a"),
    Species("eagle", "hunter", "meat", home="air", health=20, damage=5, pace=1, sight=10, herd=3,
            habitat=("hills", "mountains"), colour="#6b4a2a"),
    # Water animals.
    Species("fish", "shy", home="water", health=6, damage=1, pace=3, life=2400, grown=200, litter=3, herd=4,
            habitat=SEA, colour="#9fd3e0"),
    Species("shark", "hunter", "fish", home="water", health=60, damage=10, pace=2, sight=9, herd=1,
            habitat=SEA[:2], colour="#5f7787"),
    Species("whale", "calm", home="water", health=200, damage=10, pace=4, life=9000, grown=1500, herd=1,
            habitat=SEA[:1], colour="#3b5a78"),
    # Beasts of prey.
    Species("wolf", "hunter", "meat", health=35, damage=7, pace=2, sight=9, litter=2, herd=3,
            habitat=(*WOODS, "snow"), colour="#8c8f96"),
    Species("bear", "hunter", "meat", health=90, damage=13, sight=7, life=5000, herd=3,
            habitat=WOODS, colour="#5b3d28"),
    Species("fox", "hunter", "meat", health=20, damage=4, pace=2, sight=8, litter=2, herd=4,
            habitat=(*WOODS, "grass"), colour="#d9702a"),
    Species("hyena", "hunter", "meat", health=35, damage=6, pace=2, sight=8, litter=2, herd=4,
            habitat=("savanna",), colour="#a08a62"),
    Species("lion", "hunter", "meat", health=70, damage=12, pace=2, sight=9, herd=3,
            habitat=("savanna",), colour="#d1a04a"),
    Species("snake", "hunter", "meat", health=15, damage=5, litter=2, herd=4,
            habitat=("desert", "jungle", "swamp"), colour="#7da32f"),
    Species("crocodile", "hunter", "meat", health=80, damage=12, pace=4, sight=5, herd=3,
            habitat=("swamp",), colour="#56703a"),
    Species("scorpion", "hunter", "meat", health=12, damage=6, herd=3,
            habitat=("desert", "wasteland"), colour="#4a3322"),
    # Monsters and undead. They do not breed; they arrive.
    Species("bandit", "monster", "all", health=50, damage=9, sight=8, litter=0, colour="#6b3f3f"),
    Species("evil_mage", "monster", "none", health=80, damage=16, sight=9, litter=0, fiery=True, fireproof=True,
            colour="#7a2fbf"),
    Species("snowman", "monster", "none", health=60, damage=8, pace=4, litter=0, colour="#dff0ff"),
    Species("cold_one", "monster", "none", health=90, damage=12, pace=4, litter=0, colour="#a8d8ff"),
    Species("fire_elemental", "monster", "none", health=60, damage=10, litter=0, fireproof=True, fiery=True,
            colour="#ff7a1a"),
    Species("demon", "monster", "none", health=140, damage=18, sight=8, litter=0, fireproof=True, fiery=True,
            colour="#b31919"),
    Species("dragon", "monster", "none", home="air", health=600, damage=40, pace=2, sight=12,
            life=12000, litter=0, fireproof=True, fiery=True, colour="#d23a1a"),
    Species("alien", "monster", "none", health=70, damage=14, sight=9, litter=0, colour="#6ff0a0"),
    Species("ufo", "monster", "none", home="air", health=300, damage=25, pace=1, sight=12, litter=0,
            fireproof=True, colour="#9fe8d0"),
    Species("titan", "monster", "none", health=900, damage=50, pace=5, sight=10,
            life=12000, litter=0, fireproof=True, colour="#7f7466"),
    Species("kraken", "monster", "none", home="water", health=500, damage=30, sight=10,
            life=12000, litter=0, colour="#5a2f5f"),
    Species("cthulhu", "monster", "none", health=1500, damage=60, pace=5, sight=12,
            life=20000, litter=0, fireproof=True, colour="#2f5f4f"),
    Species("zombie", "undead", "none", health=50, damage=7, pace=5, life=6000, litter=0, colour="#6f8a5a"),
    Species("skeleton", "undead", "none", health=35, damage=8, life=6000, litter=0, colour="#e6e2d3"),
    Species("ghost", "undead", "none", home="air", health=40, damage=6, pace=2, sight=8, litter=0,
            fireproof=True, colour="#cfd8e8"),
    Species("necromancer", "undead", "none", health=90, damage=12, sight=9, litter=0, colour="#3a2f4a"),
)  # fmt: skip
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
