"""The planets of the system and the creatures that live on them."""

from typing import Literal

from msgspec import Struct

WIDTH = 256  # columns of a planet; it is round, so the last one is next to the first
HEIGHT = 96
SHIP = "ship"


class Ore(Struct, frozen=True, gc=False):
    """An ore: in ``share`` of 1000 places, from ``top`` tiles below the surface on."""

    tile: str
    share: int
    top: int


class PlanetKind(Struct, frozen=True, gc=False):
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


PLANETS = (
    PlanetKind(
        "verdant", "Verdant", "forest", 0, 1.0, 300, ("grass", "dirt"), "stone",
        (Ore("coal", 28, 5), Ore("iron", 26, 9), Ore("crystal", 6, 20), Ore("titanium", 3, 40)),
        roughness=10, trees=34, bushes=10, pools=("water", 5), sky=(120, 184, 238),
    ),
    PlanetKind(
        "dune", "Dune", "desert", 10, 0.9, 360, ("sand", "sand"), "stone",
        (Ore("coal", 24, 5), Ore("iron", 34, 6), Ore("crystal", 14, 14), Ore("titanium", 8, 25)),
        roughness=6, cacti=10, pools=("water", 1), hazard="heat", hazard_by="day", sky=(238, 196, 130),
    ),
    PlanetKind(
        "frost", "Frost", "tundra", 20, 1.0, 240, ("snow", "snow"), "stone",
        (Ore("coal", 22, 5), Ore("iron", 26, 8), Ore("titanium", 22, 12), Ore("diamond", 3, 36)),
        roughness=14, trees=10, bushes=4, pools=("ice", 5), hazard="cold", hazard_by="night", sky=(176, 206, 228),
    ),
    PlanetKind(
        "mire", "Mire", "toxic moon", 35, 0.5, 200, ("ash", "dirt"), "stone",
        (Ore("iron", 16, 6), Ore("crystal", 30, 8), Ore("titanium", 18, 14), Ore("diamond", 8, 26)),
        roughness=12, trees=3, bushes=4, pools=("acid", 8), hazard="poison", sky=(128, 150, 92),
    ),
    PlanetKind(
        "cinder", "Cinder", "volcanic", 50, 1.3, 280, ("ash", "ash"), "obsidian",
        (Ore("coal", 30, 4), Ore("iron", 20, 6), Ore("titanium", 26, 10), Ore("diamond", 14, 20)),
        roughness=18, pools=("lava", 9), deep="lava", hazard="heat", sky=(120, 62, 50), vault=True,
    ),
)  # fmt: skip
PLANET = {planet.name: planet for planet in PLANETS}
PLANET_NAMES = tuple(PLANET)
HOME = PLANETS[0].name


class CreatureKind(Struct, frozen=True, gc=False):
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


CREATURES = (
    CreatureKind("fluffle", ("verdant", "frost"), 12, drops=(("meat", 2), ("hide", 1))),
    CreatureKind("hopper", ("dune",), 10, drops=(("meat", 2),)),
    CreatureKind("snail", ("mire",), 14, speed=4, drops=(("meat", 1), ("fiber", 1))),
    CreatureKind("snapper", ("verdant",), 24, 7, night_only=True, drops=(("hide", 2),), pixels=8),
    CreatureKind("crawler", ("verdant", "dune", "frost", "mire"), 20, 6, "cave", drops=(("fiber", 2),), pixels=6),
    CreatureKind("scorpling", ("dune",), 28, 8, drops=(("hide", 1), ("fiber", 1)), pixels=10, poison=4),
    CreatureKind("frostling", ("frost",), 32, 10, night_only=True, drops=(("hide", 3),), pixels=12),
    CreatureKind("sporeling", ("mire",), 30, 8, drops=(("fiber", 3),), pixels=12, poison=6),
    CreatureKind("ember", ("cinder",), 36, 12, flies=True, speed=1, drops=(("crystal", 1),), pixels=16),
    CreatureKind("magma_crawler", ("cinder",), 44, 14, "cave", drops=(("coal", 2),), pixels=16),
    CreatureKind("guardian", (), 160, 18, "cave", speed=1, sight=14, drops=(("core", 1), ("diamond", 5)), pixels=250,
                 boss=True),
)  # fmt: skip
CREATURE = {creature.name: creature for creature in CREATURES}
NIGHT_FACTOR = 1.5  # of the damage of hostile creatures


def daylight(planet: PlanetKind, step: int) -> float:
    """How light it is, from 0 to 1. A day begins at sunrise; its last two fifths are night."""
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
