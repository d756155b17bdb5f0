"""The land as the player remembers it, and the things that it sees there now.

A cell is one number, so its neighbours are at fixed distances: ``cell - 1`` is to the left, ``cell + STRIDE`` below.
"""

from functools import lru_cache
from typing import Any

from cohabit.worlds.crafter.rules import GRASS, MATERIALS, OUTSIDE, PATH, SAND, VIEW_HEIGHT, VIEW_WIDTH
from cohabit.worlds.crafter.view import LETTERS

UNKNOWN = len(MATERIALS)
"""The material of a cell that was never in view."""
STRIDE = 128
BLOCK = 4
"""The side of the squares for which it remembers when they were seen."""
MARGIN = VIEW_WIDTH  # cells beyond the edge are seen too
LEFT, RIGHT, UP, DOWN = -1, 1, -STRIDE, STRIDE
DIRECTIONS = {LEFT: "move_left", RIGHT: "move_right", UP: "move_up", DOWN: "move_down"}
OPEN = frozenset({GRASS, SAND, PATH})
"""Materials that creatures walk on, and that things can be placed on."""
_MATERIAL_OF_LETTER = bytes.maketrans(LETTERS.encode(), bytes(range(len(MATERIALS))))


class Map:
    """The known land, the things in view, and where cows and skeletons were last seen."""

    def __init__(self) -> None:
        row = bytes([OUTSIDE]) + bytes([UNKNOWN]) * (STRIDE - 2) + bytes([OUTSIDE])
        self.cells = bytearray(bytes(STRIDE) + row * (STRIDE - 2) + bytes(STRIDE))
        self.things: dict[int, str] = {}  # in view now, by cell
        self.cows: dict[int, int] = {}  # cells where a cow was seen, and when
        self.skeletons: dict[int, int] = {}  # where skeletons were seen, and when
        self.seen: dict[int, int] = {}  # when each block was last seen
        self.width = 0  # as far as it knows
        self.here = 0
        self.facing = DOWN

    def see(self, status: dict[str, Any], step: int) -> None:
        """Take in an observation."""
        x, y = status["position"]
        dx, dy = status["facing"]
        self.here = here = cell_at(x, y)
        self.width = max(self.width, x + 2 * VIEW_WIDTH)
        self.facing = dx + dy * STRIDE
        first = here - VIEW_WIDTH // 2 - VIEW_HEIGHT // 2 * STRIDE
        for row in status["ground"]:
            self.cells[first : first + VIEW_WIDTH] = row.encode().translate(_MATERIAL_OF_LETTER)
            first += STRIDE
        for cell in (here, here - 3, here + 3, here - 2 * STRIDE, here + 2 * STRIDE):
            self.seen[block(cell)] = step
        self.things = {here + x + y * STRIDE: name for name, x, y in status["things"]}
        for name, known in (("cow", self.cows), ("skeleton", self.skeletons)):
            for cell in [cell for cell in known if in_view(here, cell)]:
                del known[cell]
            for cell, thing in self.things.items():
                if thing == name:
                    known[cell] = step

    @property
    def ahead(self) -> int:
        """The cell in front of the player."""
        return self.here + self.facing

    def knows(self, material: int) -> bool:
        return material in self.cells

    def is_free(self, cell: int) -> bool:
        """True if one can walk there, and safely."""
        return self.cells[cell] in OPEN and cell not in self.things

    def is_near(self, material: int, cell: int) -> bool:
        """True if the material is near for making: on one of the nine cells around, and never at two of the edges."""
        x, y = point(cell)
        rows = (cell - STRIDE, cell, cell + STRIDE)
        return x > 0 and y > 0 and any(material in self.cells[row - 1 : row + 2] for row in rows)

    def nearest_thing(self, name: str) -> int | None:
        """The nearest thing in view with this name."""
        found = [cell for cell, thing in self.things.items() if thing == name]
        return min(found, key=lambda cell: distance(self.here, cell), default=None)


def cell_at(x: int, y: int) -> int:
    return (y + MARGIN) * STRIDE + x + MARGIN


def block(cell: int) -> int:
    """The upper left cell of the block that a cell belongs to."""
    y, x = divmod(cell, STRIDE)
    return (y - y % BLOCK) * STRIDE + x - x % BLOCK


def point(cell: int) -> tuple[int, int]:
    """The x and y of a cell."""
    y, x = divmod(cell, STRIDE)
    return x - MARGIN, y - MARGIN


def distance(a: int, b: int) -> int:
    """Steps between two cells, if nothing is in the way."""
    ay, ax = divmod(a, STRIDE)
    by, bx = divmod(b, STRIDE)
    return abs(ax - bx) + abs(ay - by)


def in_view(here: int, cell: int) -> bool:
    y, x = divmod(here, STRIDE)
    v, u = divmod(cell, STRIDE)
    return abs(x - u) <= VIEW_WIDTH // 2 and abs(y - v) <= VIEW_HEIGHT // 2


def around(cell: int) -> tuple[int, int, int, int]:
    """The four neighbours of a cell."""
    return cell - 1, cell + 1, cell - STRIDE, cell + STRIDE


@lru_cache(256)
def marks(materials: frozenset[int]) -> bytes:
    """A translation table with 1 for these materials and 0 for all others."""
    table = bytearray(256)
    for material in materials:
        table[material] = 1
    return bytes(table)
