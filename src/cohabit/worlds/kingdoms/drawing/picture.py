"""A picture of the world from above: land, borders, cities, creatures, and a legend.

Tiles are painted with one point each, enlarged, and drawn over. ``map.scene`` has already left out what is hidden.
"""

from io import BytesIO
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from cohabit.errors import BadArgs
from cohabit.worlds.kingdoms.answers import Screenshot
from cohabit.worlds.kingdoms.drawing import map as tiles
from cohabit.worlds.kingdoms.drawing.legend import LEGEND_FROM, draw_legend, frame, label_cities
from cohabit.worlds.kingdoms.sight import View
from cohabit.worlds.kingdoms.sim import Sim

Points = NDArray[np.intp]
Places = NDArray[np.integer]
Side = tuple[int, int]
"""The neighbour that a side of a tile faces: down and across, each -1, 0 or 1."""
SIDES: tuple[Side, ...] = ((-1, 0), (1, 0), (0, -1), (0, 1))
FLAME, EMBER, SHADOW = (np.array(rgb, np.uint8) for rgb in ((255, 236, 140), (255, 96, 16), (24, 26, 34)))
PALE = np.uint8(224)  # mixed into the colours of animals
TEXTURE_FROM = 3  # points per tile; smaller tiles have no texture
POINTS_PER_TILE, MAX_SIZE = 8, 4096
FORMATS = {"": "jpg", "jpg": "jpg", "jpeg": "jpg", "png": "png"}


def screenshot(view: View, max_dimension: int, wanted: str, quality: int) -> Screenshot:
    """The answer of the command: shrunk to ``max_dimension`` points on its longest edge (0: not), never enlarged."""
    kind = FORMATS.get(wanted.strip().lower())
    if kind is None:
        raise BadArgs(f"format must be jpg or png, not {wanted[:20]!r}")
    land = view.sim.land
    whole = min(MAX_SIZE, POINTS_PER_TILE * max(land.width, land.height))
    size = min(max_dimension or whole, whole)
    legend = size >= LEGEND_FROM
    source = frame(land.width, land.height, whole, legend)
    image = draw(view.sim, view.seen, size, legend)
    quality = min(max(quality, 1), 100)
    data = encode(image, "png" if kind == "png" else "jpg", quality)
    return Screenshot(
        kind, image.width, image.height, source.width, source.height, data, len(data),
        quality=quality if kind == "jpg" else None,
    )  # fmt: skip


def draw(sim: Sim, seen: tiles.Seen | None, size: int = 1280, legend: bool = True) -> Image.Image:
    """The world for an eye that sees these cells (None: all). The longest edge has ``size`` points."""
    where = frame(sim.land.width, sim.land.height, size, legend)
    view = tiles.scene(sim, seen)
    colours = tiles.colours_by_id(sim.kingdoms)
    canvas = Canvas(tiles.paint(view, colours), where.map_width, where.map_height)
    if canvas.tile >= TEXTURE_FROM:
        canvas.shade(tiles.texture(view))
    _borders(canvas, view, colours)
    _fires(canvas, view)
    _creatures(canvas, sim, view, colours)
    image = Image.new("RGB", (where.width, where.height))
    image.paste(Image.fromarray(canvas.points))
    label_cities(image, sim, view.cities, (where.map_width, where.map_height), size)
    if where.legend == "beside":
        image.paste(draw_legend(sim, where.width - where.map_width, where.height, size), (where.map_width, 0))
    elif where.legend == "below":
        image.paste(draw_legend(sim, where.width, where.height - where.map_height, size), (0, where.map_height))
    return image


def encode(image: Image.Image, kind: Literal["png", "jpg"], quality: int = 80) -> bytes:
    """The picture as a PNG, or as a JPEG with a quality from 1 to 100."""
    out = BytesIO()
    if kind == "png":
        image.save(out, "PNG", compress_level=1)
    else:
        image.save(out, "JPEG", quality=quality)
    return out.getvalue()


class Canvas:
    """A map enlarged to a picture, on which things are drawn at their tiles, many at once.

    ``points`` has rows and columns of red, green and blue.
    """

    def __init__(self, small: tiles.Colours, width: int, height: int) -> None:
        """Scale a map with one point per tile. Every point shows one tile; nothing is blended."""
        self.tiles_y: int
        self.tiles_x: int
        self.tiles_y, self.tiles_x = small.shape[:2]
        self.width, self.height = width, height
        enlarged = Image.fromarray(small).resize((width, height), Image.Resampling.NEAREST)
        self.points: tiles.Colours = np.array(enlarged)

    @property
    def tile(self) -> int:
        """The width of a tile in points, rounded."""
        return max(1, round(self.width / self.tiles_x))

    def shade(self, light: tiles.Shade) -> None:
        """Make it lighter or darker. ``light`` covers the map, with any number of values per tile."""
        down = np.arange(self.height) * light.shape[0] // self.height
        across = np.arange(self.width) * light.shape[1] // self.width
        self.points = np.clip(self.points + light[down][:, across][..., None], 0, 255).astype(np.uint8)

    def dots(self, x: Places, y: Places, side: int, colour: tiles.Colours, shift: int = 0, faint: bool = False) -> None:
        """Squares of ``side`` points in the middle of these tiles, in one colour or in one each."""
        across = (2 * x.astype(np.intp) + 1) * self.width // (2 * self.tiles_x) - side // 2 + shift
        down = (2 * y.astype(np.intp) + 1) * self.height // (2 * self.tiles_y) - side // 2 + shift
        for dy in range(side):
            for dx in range(side):
                self._put(down + dy, across + dx, colour, faint)

    def lines(self, x: Points, y: Points, side: Side, colour: tiles.Colours) -> None:
        """Lines along one side of each of these tiles, inside the tile, at most half a tile thick."""
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

    def _put(self, down: Points, across: Points, colour: tiles.Colours, faint: bool = False) -> None:
        """Colour these points; a faint colour is mixed with what was there."""
        where = np.clip(down, 0, self.height - 1), np.clip(across, 0, self.width - 1)
        self.points[where] = self.points[where] // 2 + colour // 2 if faint else colour


def _borders(canvas: Canvas, view: tiles.Scene, colours: NDArray[np.int64]) -> None:
    """A line in the kingdom's colour along the inside of its border, but not where the fog begins."""
    owner = np.pad(np.where(view.hidden, -1, view.owner), 1, constant_values=-1)
    inside = owner[1:-1, 1:-1]
    for side in SIDES:
        beyond = np.roll(owner, (-side[0], -side[1]), (0, 1))[1:-1, 1:-1]
        y, x = np.nonzero((inside > 0) & (beyond >= 0) & (beyond != inside))
        canvas.lines(x, y, side, tiles.KINGDOM_RGB[colours[inside[y, x]]])


def _fires(canvas: Canvas, view: tiles.Scene) -> None:
    y, x = np.divmod(view.burning, canvas.tiles_x)
    canvas.dots(x, y, canvas.tile, EMBER)
    canvas.dots(x, y, max(1, canvas.tile // 2), FLAME)


def _creatures(canvas: Canvas, sim: Sim, view: tiles.Scene, colours: NDArray[np.int64]) -> None:
    """Animals small and pale, people in the colour of their kingdom with a shadow."""
    c, rows = sim.creatures, view.rows
    in_kingdom = c.kingdom[rows] > 0
    beasts, people = rows[~in_kingdom], rows[in_kingdom]
    hide = tiles.SPECIES_RGB[c.species[beasts]] // 2 + PALE // 2
    canvas.dots(c.x[beasts], c.y[beasts], max(1, canvas.tile // 2), hide, faint=True)
    body = max(1, canvas.tile * 3 // 4)
    if body > 1:
        canvas.dots(c.x[people], c.y[people], body, SHADOW, shift=1)
    canvas.dots(c.x[people], c.y[people], body, tiles.KINGDOM_RGB[colours[c.kingdom[people]]])
