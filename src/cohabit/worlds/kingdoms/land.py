"""The map, as NumPy layers: cell ``y * width + x`` of every layer describes one tile.

No rule scans the whole map in a tick. Burning cells are kept as a list, and a grazed cell stores the tick at which it
was eaten, so that regrowth is a comparison.
"""

from typing import Any, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from cohabit.worlds.kingdoms.tiles import IS_DEADLY, IS_LAVA, IS_WATER

ZONE = 64
"""Tiles on a side of a zone."""
Cells = NDArray[np.int64]
"""Cell numbers of some tiles."""


def number_types(arrays: type) -> dict[str, type[np.generic]]:
    """The number type of each array that a class declares."""
    return {name: get_args(get_args(kind)[1])[0] for name, kind in get_type_hints(arrays).items()}


class Land:
    """The layers of one map, and the cells that burn."""

    chart: NDArray[np.uint8]  # the ground when the world was made; public, also in the fog
    ground: NDArray[np.uint8]  # row of tiles.GROUND
    top: NDArray[np.uint8]  # row of tiles.TOPS; 0: nothing
    level: NDArray[np.uint8]  # height, 0 to 255
    built: NDArray[np.uint8]  # row of tiles.BUILDINGS; 0: nothing
    city: NDArray[np.int32]  # id of the city that owns it; 0: none
    grazed: NDArray[np.int32]  # the tick at which it was last grazed or harvested

    def __init__(self, zones_x: int, zones_y: int) -> None:
        self.width, self.height = zones_x * ZONE, zones_y * ZONE
        for name, kind in LAYERS.items():
            setattr(self, name, np.zeros(self.width * self.height, kind))
        self.burning: Cells = np.zeros(0, np.int64)
        self._molten: Cells | None = None

    @property
    def size(self) -> int:
        return self.width * self.height

    @property
    def molten(self) -> Cells:
        """The cells of lava, in order. Found once; afterwards every change of the ground updates the list."""
        if self._molten is None:
            self._molten = np.flatnonzero(IS_LAVA[self.ground])
        return self._molten

    @molten.setter
    def molten(self, cells: Cells) -> None:
        self._molten = cells

    def forget_molten(self) -> None:
        """The ground was changed without updating the list: find the cells again."""
        self._molten = None

    def cell(self, x: int, y: int) -> int:
        return y * self.width + x

    def cells(self, x: NDArray[Any], y: NDArray[Any]) -> Cells:
        """The cells at these coordinates."""
        found: Cells = y.astype(np.int64) * self.width + x
        return found

    def xy(self, cell: int) -> tuple[int, int]:
        return cell % self.width, cell // self.width

    def holds(self, x: int, y: int) -> bool:
        """Is this on the map?"""
        return 0 <= x < self.width and 0 <= y < self.height

    def disc(self, x: int, y: int, radius: int) -> Cells:
        """The cells of the map within ``radius``, row by row."""
        left, right = max(0, x - radius), min(self.width - 1, x + radius)
        up, down = max(0, y - radius), min(self.height - 1, y + radius)
        across = np.arange(left, right + 1, dtype=np.int64)
        along = np.arange(up, down + 1, dtype=np.int64)
        inside = (across[None, :] - x) ** 2 + (along[:, None] - y) ** 2 <= radius * radius
        found: Cells = (along[:, None] * self.width + across[None, :])[inside]
        return found

    def line(self, x: int, y: int, x2: int, y2: int) -> Cells:
        """The cells of the map on a straight line, both ends included, each once."""
        steps = max(abs(x2 - x), abs(y2 - y), 1)
        i = np.arange(steps + 1, dtype=np.int64)
        across = x + ((x2 - x) * i * 2 + steps) // (2 * steps)
        along = y + ((y2 - y) * i * 2 + steps) // (2 * steps)
        inside = (across >= 0) & (across < self.width) & (along >= 0) & (along < self.height)
        return np.unique(along[inside] * self.width + across[inside])

    def neighbours(self, cells: Cells) -> Cells:
        """The cells of the map that share a side with any of these, each once."""
        x = cells % self.width
        sides = (cells[x > 0] - 1, cells[x < self.width - 1] + 1, cells - self.width, cells + self.width)
        found = np.unique(np.concatenate(sides))
        return found[(found >= 0) & (found < self.size)]

    def is_dry(self, cells: Cells) -> NDArray[np.bool_]:
        """Can walking creatures stand here?"""
        ground = self.ground[cells]
        dry: NDArray[np.bool_] = ~(IS_WATER[ground] | IS_DEADLY[ground])
        return dry

    def layers(self) -> dict[str, NDArray[Any]]:
        """Every layer, by name, in order."""
        return {name: getattr(self, name) for name in LAYERS}


LAYERS = number_types(Land)
