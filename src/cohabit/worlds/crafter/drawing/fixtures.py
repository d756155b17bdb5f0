"""What grows, is found, or is built: plants, trees, ore, tables and furnaces."""

from functools import cache, partial

from PIL import Image

from cohabit.worlds.crafter.drawing.pen import Pen, Sketch, figure
from cohabit.worlds.crafter.rules import COAL, DIAMOND, FURNACE, IRON, TABLE, TREE


# -- plants and trees ----------------------------------------------------------------------------------
def _soil(pen: Pen) -> None:
    pen.oval(32, 53, 17, 6.5, "#6f4e33")
    pen.oval(32, 51.6, 14, 4.4, "#86603f")


def _leaf(pen: Pen, x: float, y: float, side: int, colour: str) -> None:
    pen.shape(
        colour, (x, y), (x + side * 5, y - 8), (x + side * 15, y - 9), (x + side * 12, y - 1), (x + side * 5, y + 2)
    )


def young_plant(pen: Pen) -> None:
    _soil(pen)
    pen.line("#4d8b3a", 3.4, (32, 51), (32, 30))
    _leaf(pen, 32, 44, -1, "#62ad47")
    _leaf(pen, 32, 41, 1, "#76c257")
    _leaf(pen, 32, 32, -1, "#8bd46a")
    _leaf(pen, 32, 31, 1, "#76c257")


def ripe_plant(pen: Pen) -> None:
    _soil(pen)
    pen.line("#4d8b3a", 3.6, (32, 51), (32, 20))
    for x, y, across, colour in ((22, 36, 11, "#4f9a3c"), (42, 36, 11, "#4f9a3c"), (32, 26, 14, "#62ad47")):
        pen.oval(x, y, across, across * 0.85, colour)
    for x, y in ((21, 36), (33, 24), (43, 37), (31, 40)):
        pen.oval(x, y, 5, 5, "#e2334a")
        pen.oval(x - 1.5, y - 1.7, 1.5, 1.5, "#ffb3b8")


def tree(pen: Pen) -> None:
    pen.box(26.5, 44, 37.5, 61, "#7b5233", 3)
    pen.box(26.5, 44, 31, 61, "#92653f", 3)
    for x, y, reach, colour in (
        (19, 35, 14, "#2f6d34"), (45, 35, 14, "#2f6d34"), (32, 40, 14, "#2f6d34"),
        (20, 27, 13.5, "#3a8240"), (44, 27, 13.5, "#3a8240"), (32, 18, 15, "#3a8240"), (32, 30, 14, "#3a8240"),
        (25, 18, 9, "#4f9c4d"), (39, 22, 8, "#4f9c4d"), (20, 28, 6, "#4f9c4d"), (27, 14, 4.6, "#6cb863"),
    ):  # fmt: skip
        pen.oval(x, y, reach, reach, colour)


# -- ore, and what players build -------------------------------------------------------------------------
Shades = tuple[str, str, str]
"""Dark, middle and light."""
COAL_SHADES, IRON_SHADES = ("#23242b", "#3f424d", "#787c8a"), ("#b06a45", "#dc9a6e", "#f8d3b4")


def nugget(pen: Pen, x: float, y: float, reach: float, shades: Shades) -> None:
    """A rough stone around a point."""

    def at(*places: tuple[float, float]) -> list[tuple[float, float]]:
        return [(x + dx * reach, y + dy * reach) for dx, dy in places]

    dark, middle, light = shades
    pen.shape(dark, *at((-1, 0), (-0.4, -0.9), (0.7, -0.7), (1, 0.3), (0.2, 0.95), (-0.8, 0.6)))
    pen.shape(middle, *at((-1, 0), (-0.4, -0.9), (0.7, -0.7), (0.1, 0.1)))
    pen.shape(light, *at((-0.7, -0.2), (-0.3, -0.7), (0.2, -0.55)))


def gem(pen: Pen, x: float, y: float, reach: float) -> None:
    """A cut diamond around a point."""

    def at(*places: tuple[float, float]) -> list[tuple[float, float]]:
        return [(x + dx * reach, y + dy * reach) for dx, dy in places]

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


def table(pen: Pen) -> None:
    for x in (10, 48):
        pen.box(x, 34, x + 7, 60, "#6f4526", 1.5)
    pen.box(5, 12, 59, 42, "#8a5730", 4)
    pen.box(5, 12, 59, 36, "#c08a52", 4)
    for y in (20, 28):
        pen.line("#a06f3e", 1.6, (8, y), (56, y))
    pen.line("#7b5233", 3.6, (15, 32), (27, 19))
    pen.shape("#aab0bb", (22, 14), (33, 19), (30.5, 24.5), (20, 19))
    pen.box(38, 18, 53, 31, "#d8dce3", 1.5)
    pen.shape("#aab0bb", (38, 31), (53, 31), (53, 27), (41, 29))


def furnace(pen: Pen) -> None:
    pen.box(6, 8, 58, 60, "#6c717d", 6)
    pen.box(6, 8, 58, 24, "#8d929d", 6)
    for x, y in ((14, 30), (50, 30), (14, 44), (50, 44), (14, 55), (50, 55)):
        pen.box(x - 5, y - 3.4, x + 5, y + 3.4, "#7f8490", 1.4)
    pen.box(18, 13, 46, 19, "#4c505a", 3)
    pen.box(19, 29, 45, 56, "#2a2228", 9)
    pen.shape("#e2501a", (22, 56), (22, 46), (27, 50), (30, 37), (36, 47), (40, 42), (42, 56))
    pen.shape("#ffc43a", (26, 56), (28, 50), (31, 53), (33, 45), (37, 56))


_FIXTURES: dict[int, Sketch] = {
    TREE: tree,
    COAL: partial(_lumps, shades=COAL_SHADES),
    IRON: partial(_lumps, shades=IRON_SHADES),
    DIAMOND: _diamonds,
    TABLE: table,
    FURNACE: furnace,
}
WITH_FIXTURE = frozenset(_FIXTURES)
"""Materials that have something on top of their ground."""


@cache
def fixture(material: int, size: int) -> Image.Image:
    """What stands on the ground of a material, with transparent surroundings."""
    return figure(_FIXTURES[material], size, shadow=material == TREE)
