"""A picture of the world, from above: land, borders, cities and whoever lives there, and a legend.

Tiles are painted one point each, enlarged, and drawn over. What is not to be seen was left out by ``scene`` before.
"""

from io import BytesIO
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from cohabit.worlds.kingdoms.drawing import paint
from cohabit.worlds.kingdoms.drawing.canvas import SIDES, Canvas
from cohabit.worlds.kingdoms.drawing.frame import frame
from cohabit.worlds.kingdoms.drawing.labels import name_cities
from cohabit.worlds.kingdoms.drawing.legend import legend as draw_legend
from cohabit.worlds.kingdoms.drawing.palette import KINGDOM_RGB, SPECIES_RGB
from cohabit.worlds.kingdoms.drawing.scene import Scene, Seen, colours_by_id, scene
from cohabit.worlds.kingdoms.sim import Sim

FLAME, EMBER, SHADOW = (np.array(rgb, np.uint8) for rgb in ((255, 236, 140), (255, 96, 16), (24, 26, 34)))
PALE = np.uint8(224)  # what the colour of an animal is mixed with
GRAIN_FROM = 3  # points a tile; smaller ones have no room for a grain


def draw(sim: Sim, seen: Seen | None, size: int = 1280, legend: bool = True) -> Image.Image:
    """The world as somebody sees it who sees these cells (None: all). The longest edge has ``size`` points."""
    where = frame(sim.land.width, sim.land.height, size, legend)
    view = scene(sim, seen)
    colours = colours_by_id(sim.kingdoms)
    canvas = Canvas(paint.tiles(view, colours), where.map_width, where.map_height)
    if canvas.tile >= GRAIN_FROM:
        canvas.shade(paint.grain(view))
    _borders(canvas, view, colours)
    _fires(canvas, view)
    _creatures(canvas, sim, view, colours)
    image = Image.new("RGB", (where.width, where.height))
    image.paste(Image.fromarray(canvas.points))
    name_cities(image, sim, view.cities, (where.map_width, where.map_height), size)
    if where.legend == "beside":
        image.paste(draw_legend(sim, where.width - where.map_width, where.height, size), (where.map_width, 0))
    elif where.legend == "below":
        image.paste(draw_legend(sim, where.width, where.height - where.map_height, size), (0, where.map_height))
    return image


def encode(image: Image.Image, kind: Literal["png", "jpg"], quality: int = 80) -> bytes:
    """The picture as a file: png, or jpg of a quality from 1 to 100."""
    out = BytesIO()
    if kind == "png":
        image.save(out, "PNG", compress_level=1)
    else:
        image.save(out, "JPEG", quality=quality)
    return out.getvalue()


def _borders(canvas: Canvas, view: Scene, colours: NDArray[np.int64]) -> None:
    """A line in the kingdom's colour along the inside of its border; none where the fog begins."""
    owner = np.pad(np.where(view.hidden, -1, view.owner), 1, constant_values=-1)
    inside = owner[1:-1, 1:-1]
    for side in SIDES:
        beyond = np.roll(owner, (-side[0], -side[1]), (0, 1))[1:-1, 1:-1]
        y, x = np.nonzero((inside > 0) & (beyond >= 0) & (beyond != inside))
        canvas.lines(x, y, side, KINGDOM_RGB[colours[inside[y, x]]])


def _fires(canvas: Canvas, view: Scene) -> None:
    y, x = np.divmod(view.burning, canvas.tiles_x)
    canvas.dots(x, y, canvas.tile, EMBER)
    canvas.dots(x, y, max(1, canvas.tile // 2), FLAME)


def _creatures(canvas: Canvas, sim: Sim, view: Scene, colours: NDArray[np.int64]) -> None:
    """Animals small and pale, people in the colour of their kingdom with a shadow at their feet."""
    c, rows = sim.creatures, view.rows
    tame = c.kingdom[rows] > 0
    beasts, people = rows[~tame], rows[tame]
    hide = SPECIES_RGB[c.species[beasts]] // 2 + PALE // 2
    canvas.dots(c.x[beasts], c.y[beasts], max(1, canvas.tile // 2), hide, faint=True)
    body = max(1, canvas.tile * 3 // 4)
    if body > 1:
        canvas.dots(c.x[people], c.y[people], body, SHADOW, shift=1)
    canvas.dots(c.x[people], c.y[people], body, KINGDOM_RGB[colours[c.kingdom[people]]])
