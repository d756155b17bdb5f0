"""The tiles of the planets that a player has seen."""

from typing import Any

from cohabit.worlds.starbound.planets import WIDTH
from cohabit.worlds.starbound.tiles import NAME_OF_LETTER, TILES

_TILE = {tile.letter: tile for tile in TILES}
UNKNOWN = " "
LIQUID = "".join(tile.letter for tile in TILES if tile.liquid)
DEADLY = "!&"
CARRIES = "".join(tile.letter for tile in TILES if tile.solid) + "-H"
Spot = tuple[int, int]


def is_solid(letter: str) -> bool:
    """True if one has to dig here. Tiles that were never seen are taken for rock."""
    return letter == UNKNOWN or _TILE[letter].solid


def tier_of(letter: str) -> int:
    """The tool tier that digs this tile."""
    return 1 if letter == UNKNOWN else _TILE[letter].tier


class Chart:
    """The known tiles of the planet where the player is."""

    def __init__(self) -> None:
        self.places: dict[str, dict[Spot, str]] = {}
        self.tiles: dict[Spot, str] = {}
        self.grounds: dict[str, dict[int, int]] = {}
        self.ground: dict[int, int] = {}  # the row of the surface in the columns where the player has been

    def update(self, status: dict[str, Any]) -> None:
        """Note everything in view."""
        self.tiles = self.places.setdefault(status["place"], {})
        rows: list[str] = status["map"]
        x, y = status["position"]
        self.ground = self.grounds.setdefault(status["place"], {})
        self.ground[x] = y - status["depth"] if status["depth"] else y + 1
        left, top = x - len(rows[0]) // 2, y - len(rows) // 2
        for row, letters in enumerate(rows):
            for column, letter in enumerate(letters):
                if letter != UNKNOWN:
                    self.tiles[(left + column) % WIDTH, top + row] = letter

    def at(self, x: int, y: int) -> str:
        return self.tiles.get((x % WIDTH, y), UNKNOWN)

    def known(self, names: tuple[str, ...]) -> list[Spot]:
        """The positions of known tiles with these names."""
        letters = "".join(letter for letter, name in NAME_OF_LETTER.items() if name in names)
        return [spot for spot, letter in self.tiles.items() if letter in letters]

    def surface(self, x: int) -> Spot | None:
        """The place to stand under the open sky in this column; None if it is not known."""
        x %= WIDTH
        if not self.ground:
            return None
        nearest = self.ground[min(self.ground, key=lambda column: (distance((column, 0), (x, 0)), column))]
        for y in range(nearest - 14, nearest + 7):
            if self.at(x, y + 1) in CARRIES:
                is_open = all(self.at(x, y - up) not in CARRIES + UNKNOWN for up in range(3))
                return (x, y) if is_open else None
        return None


def distance(one: Spot, other: Spot) -> int:
    side = abs(one[0] - other[0]) % WIDTH
    return min(side, WIDTH - side) + abs(one[1] - other[1])
