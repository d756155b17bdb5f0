"""A map enlarged to points of a picture, on which things are drawn at their tiles, many at once."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from cohabit.worlds.kingdoms.drawing.palette import Colours

Points = NDArray[np.intp]
Places = NDArray[np.integer]
Side = tuple[int, int]
"""Which neighbour a side of a tile faces: down and across, each -1, 0 or 1."""
SIDES: tuple[Side, ...] = ((-1, 0), (1, 0), (0, -1), (0, 1))


class Canvas:
    """``points`` has rows and columns of red, green and blue."""

    def __init__(self, tiles: Colours, width: int, height: int) -> None:
        """Enlarge (or shrink) a map with one point a tile; every point shows one tile, nothing is blended."""
        self.tiles_y: int
        self.tiles_x: int
        self.tiles_y, self.tiles_x = tiles.shape[:2]
        self.width, self.height = width, height
        enlarged = Image.fromarray(tiles).resize((width, height), Image.Resampling.NEAREST)
        self.points: Colours = np.array(enlarged)

    @property
    def tile(self) -> int:
        """About how many points wide a tile is."""
        return max(1, round(self.width / self.tiles_x))

    def shade(self, light: NDArray[np.int16]) -> None:
        """Make it lighter or darker. ``light`` covers the map, with any number of values a tile."""
        down = np.arange(self.height) * light.shape[0] // self.height
        across = np.arange(self.width) * light.shape[1] // self.width
        self.points = np.clip(self.points + light[down][:, across][..., None], 0, 255).astype(np.uint8)

    def dots(self, x: Places, y: Places, side: int, colour: Colours, shift: int = 0, faint: bool = False) -> None:
        """Squares of ``side`` points in the middle of these tiles, in one colour or in one each."""
        across = (2 * x.astype(np.intp) + 1) * self.width // (2 * self.tiles_x) - side // 2 + shift
        down = (2 * y.astype(np.intp) + 1) * self.height // (2 * self.tiles_y) - side // 2 + shift
        for dy in range(side):
            for dx in range(side):
                self._put(down + dy, across + dx, colour, faint)

    def lines(self, x: Points, y: Points, side: Side, colour: Colours) -> None:
        """Lines along one side of each of these tiles, within it, half a tile thick at most."""
        top, bottom = self._span(y, self.tiles_y, self.height)
        left, right = self._span(x, self.tiles_x, self.width)
        for depth in range(max(1, self.tile // 2)):
            for along in range(-(-self.width // self.tiles_x)):
                if side[0]:
                    down = top + depth if side[0] < 0 else bottom - depth
                    self._put(down, np.minimum(left + along, right), colour)
                else:
                    across = left + depth if side[1] < 0 else right - depth
                    self._put(np.minimum(top + along, bottom), across, colour)

    @staticmethod
    def _span(tile: Points, tiles: int, points: int) -> tuple[Points, Points]:
        """The first and the last point along an edge that show a tile."""
        return -(-tile * points // tiles), -(-(tile + 1) * points // tiles) - 1

    def _put(self, down: Points, across: Points, colour: Colours, faint: bool = False) -> None:
        """Colour these points; a faint colour lets half of what was there shine through."""
        where = np.clip(down, 0, self.height - 1), np.clip(across, 0, self.width - 1)
        self.points[where] = self.points[where] // 2 + colour // 2 if faint else colour
