"""A planet as it is now: its tiles, and what lives and lies on it. And the room aboard a ship, which never changes."""

from functools import cache

from msgspec import Struct

from cohabit.worlds.starbound.planets import HEIGHT, PLANET, SHIP, WIDTH, PlanetKind
from cohabit.worlds.starbound.terrain import LANDING, make_terrain
from cohabit.worlds.starbound.tiles import AIR, ID, LADDER, LIQUIDS, OPEN, SOLID, SUPPORTS, TILES

BEDROCK = ID["bedrock"]
SHIP_LEFT, SHIP_RIGHT, SHIP_TOP, SHIP_FLOOR = 124, 135, 40, 44
SHIP_FIXTURES = {"teleporter": 125, "locker": 129, "console": 133}


class Creature(Struct):
    """A creature on a planet."""

    number: int
    kind: str
    x: int
    y: int
    health: int
    facing: int = 1
    rest: int = 0  # steps until it can bite again
    afraid: int = 0  # steps that it keeps running away


class Bundle(Struct):
    """Items that lie on the ground."""

    x: int
    y: int
    items: dict[str, int]


class Growth(Struct):
    """A plant that grows again at a step."""

    at: int
    cell: int
    tile: int


class Land:
    """A planet, or the inside of a ship."""

    def __init__(self, name: str, tiles: bytes, surface: tuple[int, ...], seed: int = 0) -> None:
        self.name = name
        self.seed = seed  # that it was made from
        self.kind: PlanetKind | None = PLANET.get(name)
        self.tiles = bytearray(tiles)
        self.surface = surface
        self.changes: dict[int, int] = {}  # tiles that are no longer as they were made, by cell
        self.placed: set[int] = set()  # cells with tiles that players have put there
        self.creatures: list[Creature] = []
        self.bundles: list[Bundle] = []
        self.growths: list[Growth] = []

    def at(self, x: int, y: int) -> int:
        """The tile there. Above the map is air, below it bedrock."""
        if 0 <= y < HEIGHT:
            return self.tiles[y * WIDTH + x % WIDTH]
        return AIR if y < 0 else BEDROCK

    def put(self, x: int, y: int, tile: int) -> None:
        cell = y * WIDTH + x % WIDTH
        self.tiles[cell] = tile
        self.changes[cell] = tile
        self.placed.discard(cell)

    def is_open(self, x: int, y: int) -> bool:
        return OPEN[self.at(x, y)] and y >= 0

    def is_supported(self, x: int, y: int) -> bool:
        """True if a body there does not fall: it stands, swims or climbs."""
        here = self.at(x, y)
        return SUPPORTS[self.at(x, y + 1)] or here == LADDER or here in LIQUIDS

    def under_sky(self, x: int, y: int) -> bool:
        """True if this is on or above the surface, not in a cave."""
        return self.kind is not None and y <= self.surface[x % WIDTH]

    def top(self, x: int) -> int:
        """The row in which a body stands in this column."""
        y = 0
        while y < HEIGHT - 1 and not SUPPORTS[self.at(x, y + 1)] and self.at(x, y + 1) not in LIQUIDS:
            y += 1
        return y

    def near(self, x: int, y: int, names: tuple[str, ...], reach: int = 2) -> tuple[int, int] | None:
        """The nearest tile with one of these names."""
        found = [
            (abs(dx) + abs(dy), (x + dx) % WIDTH, y + dy)
            for dy in range(-reach, reach + 1)
            for dx in range(-reach, reach + 1)
            if TILES[self.at(x + dx, y + dy)].name in names
        ]
        return min(found)[1:] if found else None

    def is_warm(self, x: int, y: int) -> bool:
        return any(TILES[self.at(x + dx, y + dy)].warm for dy in (-2, -1, 0, 1, 2) for dx in range(-3, 4))

    def bundle_at(self, x: int, y: int) -> Bundle:
        """The bundle there, put down if there is none."""
        for bundle in self.bundles:
            if bundle.x == x and bundle.y == y:
                return bundle
        self.bundles.append(Bundle(x, y, {}))
        return self.bundles[-1]


def make_land(seed: int, name: str, changes: dict[int, int] | None = None) -> Land:
    """A planet with its changes since it was made."""
    terrain = make_terrain(seed, name)
    land = Land(name, terrain.tiles, terrain.surface, seed)
    for cell, tile in (changes or {}).items():
        land.tiles[cell] = tile
        land.changes[cell] = tile
    return land


@cache
def ship_land() -> Land:
    """The room aboard: every ship is the same, and each body is alone in its own."""
    tiles = bytearray([ID["hull"]]) * (WIDTH * HEIGHT)
    for y in range(SHIP_TOP, SHIP_FLOOR + 1):
        start = y * WIDTH
        tiles[start + SHIP_LEFT : start + SHIP_RIGHT + 1] = bytes(SHIP_RIGHT - SHIP_LEFT + 1)
    for name, x in SHIP_FIXTURES.items():
        tiles[SHIP_FLOOR * WIDTH + x] = ID[name]
    return Land(SHIP, bytes(tiles), (0,) * WIDTH)


def across(one: int, other: int) -> int:
    """The way from one column to another, the short way round: negative to the left."""
    return (other - one + WIDTH // 2) % WIDTH - WIDTH // 2


def landing_site(land: Land, number: int, first: int | None = None) -> tuple[int, int]:
    """The cell where a body lands: each has its own column near the site, or the next one that is level ground."""
    if first is None:
        first = (LANDING + (number * 5 % 9) - 4) % WIDTH
    for away in range(WIDTH):
        x = (first + (away // 2 if away % 2 else -away // 2)) % WIDTH
        y = land.top(x)
        if y <= land.surface[x] and SOLID[land.at(x, y + 1)]:
            return x, y
    return first, land.top(first)
