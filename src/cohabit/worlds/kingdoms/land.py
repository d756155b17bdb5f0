"""The map, as columns: cell ``y * width + x`` of every column is one tile.

Nothing here is gone through as a whole while time passes: what burns is a list of cells, and grass that was eaten
grows back by being asked when it was eaten.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cohabit.worlds.kingdoms.tiles import IS_DEADLY, IS_LAVA, IS_WATER

ZONE = 64
"""Tiles on a side of a zone."""
LAYERS: dict[str, type[np.generic]] = {
    "chart": np.uint8,  # the ground as everybody knows it: how it was when the world was made
    "ground": np.uint8,  # row of tiles.GROUND
    "top": np.uint8,  # row of tiles.TOPS; 0: nothing
    "level": np.uint8,  # how high it lies, 0 to 255
    "built": np.uint8,  # row of tiles.BUILDINGS; 0: nothing
    "city": np.int32,  # id of the city whose land it is; 0: nobody's
    "grazed": np.int32,  # the tick at which it was last eaten bare
}
Cells = NDArray[np.int64]


class Land:
    """See the module."""

    chart: NDArray[np.uint8]
    ground: NDArray[np.uint8]
    top: NDArray[np.uint8]
    level: NDArray[np.uint8]
    built: NDArray[np.uint8]
    city: NDArray[np.int32]
    grazed: NDArray[np.int32]

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
        """The cells of lava, in order. They are looked for once; then whoever changes the ground keeps the list."""
        if self._molten is None:
            self._molten = np.flatnonzero(IS_LAVA[self.ground])
        return self._molten

    @molten.setter
    def molten(self, cells: Cells) -> None:
        self._molten = cells

    def cell(self, x: int, y: int) -> int:
        return y * self.width + x

    def cells(self, x: NDArray[Any], y: NDArray[Any]) -> Cells:
        """The cells of many places."""
        found: Cells = y.astype(np.int64) * self.width + x
        return found

    def xy(self, cell: int) -> tuple[int, int]:
        return cell % self.width, cell // self.width

    def holds(self, x: int, y: int) -> bool:
        """Is this on the map?"""
        return 0 <= x < self.width and 0 <= y < self.height

    def disc(self, x: int, y: int, radius: int) -> Cells:
        """The cells within ``radius`` of a place that are on the map, row by row."""
        left, right = max(0, x - radius), min(self.width - 1, x + radius)
        up, down = max(0, y - radius), min(self.height - 1, y + radius)
        across = np.arange(left, right + 1, dtype=np.int64)
        along = np.arange(up, down + 1, dtype=np.int64)
        inside = (across[None, :] - x) ** 2 + (along[:, None] - y) ** 2 <= radius * radius
        found: Cells = (along[:, None] * self.width + across[None, :])[inside]
        return found

    def is_dry(self, cells: Cells) -> NDArray[np.bool_]:
        """Can something that walks stand here?"""
        ground = self.ground[cells]
        dry: NDArray[np.bool_] = ~(IS_WATER[ground] | IS_DEADLY[ground])
        return dry

    def layers(self) -> dict[str, NDArray[Any]]:
        """Name and cells of every layer, in order."""
        return {name: getattr(self, name) for name in LAYERS}
