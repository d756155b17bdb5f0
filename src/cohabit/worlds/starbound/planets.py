"""The planets of the system and the creatures that live on them."""

from typing import Literal

from msgspec import Struct

from cohabit.model.table_files import read_table

WIDTH = 256  # columns of a planet; it is round, so the last one is next to the first
HEIGHT = 96
SHIP = "ship"


class Ore(Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """An ore: in ``share`` of 1000 places, from ``top`` tiles below the surface on."""

    tile: str
    share: int
    top: int


class PlanetKind(Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """A planet. ``distance``: its place on the way from star to rim; the difference of two is the fuel between them."""

    name: str
    title: str
    biome: str
    distance: int
    gravity: float
    day: int  # steps from one sunrise to the next
    ground: tuple[str, str]  # the top layer, and what is below it
    rock: str
    ores: tuple[Ore, ...]
    roughness: int  # how much the surface rises and falls, in tiles
    trees: int = 0  # of 100 columns
    bushes: int = 0
    cacti: int = 0
    pools: tuple[str, int] = ("water", 0)  # the liquid, and how many pools
    deep: str = ""  # a liquid at the bottom of deep caves
    hazard: str = ""  # cold, heat, poison
    hazard_by: Literal["always", "day", "night"] = "always"
    sky: tuple[int, int, int] = (120, 180, 235)
    vault: bool = False  # whether the guardian's vault is here


class CreatureKind(Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """One kind of creature."""

    name: str
    planets: tuple[str, ...]
    health: int
    damage: int = 0  # 0: it is harmless
    where: Literal["surface", "cave"] = "surface"
    night_only: bool = False
    flies: bool = False
    speed: int = 2  # it moves in 1 of this many steps
    sight: int = 8
    drops: tuple[tuple[str, int], ...] = ()
    pixels: int = 0
    poison: int = 0  # steps of poison in its bite
    boss: bool = False


class _Table(Struct, frozen=True, forbid_unknown_fields=True):
    planets: tuple[PlanetKind, ...]
    creatures: tuple[CreatureKind, ...]


_TABLE = read_table(__file__, _Table)
PLANETS, CREATURES = _TABLE.planets, _TABLE.creatures
PLANET = {planet.name: planet for planet in PLANETS}
PLANET_NAMES = tuple(PLANET)
HOME = PLANETS[0].name
CREATURE = {creature.name: creature for creature in CREATURES}
NIGHT_FACTOR = 1.5  # of the damage of hostile creatures


def daylight(planet: PlanetKind, step: int) -> float:
    """The daylight, from 0 to 1. A day begins at sunrise; its last two fifths are night."""
    part = step % planet.day / planet.day
    if part < 0.55:
        return 1.0
    if part < 0.65:
        return 1.0 - (part - 0.55) * 8
    if part < 0.92:
        return 0.2
    return 0.2 + (part - 0.92) * 10


def time_of_day(planet: PlanetKind, step: int) -> str:
    part = step % planet.day / planet.day
    return "day" if part < 0.55 else "dusk" if part < 0.65 else "night" if part < 0.92 else "dawn"


def is_night(planet: PlanetKind, step: int) -> bool:
    return daylight(planet, step) < 0.5


def fuel_between(one: str, other: str) -> int:
    return abs(PLANET[one].distance - PLANET[other].distance)


def jump_height(planet: PlanetKind | None) -> int:
    return min(5, round(3 / planet.gravity)) if planet else 3


def fall_speed(planet: PlanetKind | None) -> int:
    """Tiles that a body falls in a step."""
    return max(2, round(4 * planet.gravity)) if planet else 4


def safe_fall(planet: PlanetKind | None) -> int:
    """Tiles that a body can fall unhurt."""
    return round(5 / planet.gravity) if planet else 5
