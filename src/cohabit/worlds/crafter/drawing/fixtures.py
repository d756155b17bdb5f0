"""The fixtures on the ground: trees, ore, tables and furnaces."""

from functools import cache, partial

from PIL import Image

from cohabit.worlds.crafter.drawing.drawings import drawing
from cohabit.worlds.crafter.drawing.pen import Pen, Point, Sketch, figure
from cohabit.worlds.crafter.rules import COAL, DIAMOND, FURNACE, IRON, TABLE, TREE

Shades = tuple[str, str, str]
"""Dark, middle and light."""
COAL_SHADES, IRON_SHADES = ("#23242b", "#3f424d", "#787c8a"), ("#b06a45", "#dc9a6e", "#f8d3b4")


def _around(x: float, y: float, reach: float, *places: Point) -> list[Point]:
    return [(x + dx * reach, y + dy * reach) for dx, dy in places]


def nugget(pen: Pen, x: float, y: float, reach: float, shades: Shades) -> None:
    """A rough stone around a point."""
    at = partial(_around, x, y, reach)
    dark, middle, light = shades
    pen.shape(dark, *at((-1, 0), (-0.4, -0.9), (0.7, -0.7), (1, 0.3), (0.2, 0.95), (-0.8, 0.6)))
    pen.shape(middle, *at((-1, 0), (-0.4, -0.9), (0.7, -0.7), (0.1, 0.1)))
    pen.shape(light, *at((-0.7, -0.2), (-0.3, -0.7), (0.2, -0.55)))


def gem(pen: Pen, x: float, y: float, reach: float) -> None:
    """A cut diamond around a point."""
    at = partial(_around, x, y, reach)
    pen.shape("#35b5d6", *at((-1, -0.2), (0, 1), (1, -0.2)))
    pen.shape("#8eeaf7", *at((-1, -0.2), (-0.5, -0.8), (0.5, -0.8), (1, -0.2)))
    pen.shape("#d9fbff", *at((-0.4, -0.2), (0, -0.8), (0.4, -0.2)))
    pen.shape("#5fd3ea", *at((-0.4, -0.2), (0, 1), (0.4, -0.2)))


def _lumps(pen: Pen, shades: Shades) -> None:
    for x, y, reach in ((21, 22, 10), (43, 27, 8.4), (27, 44, 8.6), (46, 47, 6)):
        nugget(pen, x, y, reach, shades)


def _diamonds(pen: Pen) -> None:
    for x, y, reach in ((22, 24, 11), (44, 40, 12), (45, 17, 6.5), (20, 47, 7)):
        gem(pen, x, y, reach)


FIXTURES: dict[int, Sketch] = {
    TREE: drawing("tree"),
    COAL: partial(_lumps, shades=COAL_SHADES),
    IRON: partial(_lumps, shades=IRON_SHADES),
    DIAMOND: _diamonds,
    TABLE: drawing("table"),
    FURNACE: drawing("furnace"),
}
WITH_FIXTURE = frozenset(FIXTURES)
"""Materials that have something on top of their ground."""


@cache
def fixture(material: int, size: int) -> Image.Image:
    """The picture of the fixture on the ground of a material, with transparent surroundings."""
    return figure(FIXTURES[material], size, shadow=material == TREE)
