"""The ground: seven kinds of surface that lie over each other, with rounded edges where two of them meet.

A surface covers those that come before it. Its lip is the darker side that a viewer sees below its edge.
"""

from collections.abc import Sequence
from functools import cache, lru_cache, partial
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from cohabit.worlds.crafter import rules
from cohabit.worlds.crafter.drawing.fixtures import WITH_FIXTURE, fixture
from cohabit.worlds.crafter.drawing.pen import Pen, drawn, spread

Cells = NDArray[np.uint8]
VARIANTS = 6
_FINE = 8  # points of an edge for one cell, before it is smoothed and enlarged
_MARGIN = 1  # cells around the picture that shape the edges in it


class TextureSketch(Protocol):
    def __call__(self, pen: Pen, variant: int) -> None: ...


# -- textures -----------------------------------------------------------------------------------------
def _outside(pen: Pen, variant: int) -> None:
    for place in range(-64, 128, 16):
        pen.line("#1b202a", 2, (place, 64), (place + 64, 0))


def _water(pen: Pen, variant: int) -> None:
    for x, y in spread(2, 5 + variant * 2):
        x, y = 14 + x * 0.5, 12 + y * 0.6
        pen.line("#4f9fe0", 2.6, (x - 8, y), (x - 3, y - 3), (x + 2, y), (x + 7, y - 3), (x + 12, y))
    for x, y in spread(2, 31 + variant * 2):
        pen.line("#2f76bb", 2.2, (8 + x * 0.7, 8 + y * 0.75), (14 + x * 0.7, 8 + y * 0.75))


def _lava(pen: Pen, variant: int) -> None:
    for x, y in spread(4, 3 + variant * 4):
        pen.oval(10 + x * 0.7, 10 + y * 0.7, 8, 5, "#f6791c")
    for x, y in spread(3, 40 + variant * 3):
        pen.oval(10 + x * 0.7, 10 + y * 0.7, 4.5, 3, "#ffc43a")
    for x, y in spread(2, 71 + variant * 2):
        pen.oval(12 + x * 0.65, 12 + y * 0.65, 3, 1.6, "#a92b10")


def _path(pen: Pen, variant: int) -> None:
    for x, y in spread(5, 7 + variant * 5):
        pen.oval(6 + x * 0.82, 6 + y * 0.82, 4.2, 2.8, "#8d7b66")
    for x, y in spread(5, 50 + variant * 5):
        pen.oval(5 + x * 0.84, 5 + y * 0.84, 1.8, 1.3, "#b6a58d")


def _sand(pen: Pen, variant: int) -> None:
    for x, y in spread(8, 11 + variant * 8):
        pen.oval(4 + x * 0.87, 4 + y * 0.87, 1.4, 1.1, "#cdb377")
    for x, y in spread(2, 77 + variant * 2):
        x, y = 14 + x * 0.55, 10 + y * 0.7
        pen.line("#f2e0ad", 2, (x - 7, y), (x - 1, y - 2), (x + 6, y))


def _grass(pen: Pen, variant: int) -> None:
    for x, y in spread(4, 13 + variant * 4):
        x, y = 7 + x * 0.78, 10 + y * 0.78
        pen.line("#57963b", 2.3, (x - 3.4, y - 5), (x, y))
        pen.line("#57963b", 2.3, (x + 3.4, y - 5), (x, y))
    for x, y in spread(3, 61 + variant * 3):
        x, y = 8 + x * 0.76, 8 + y * 0.78
        pen.line("#83c45d", 2, (x, y), (x + 1.2, y - 4))
    if variant == 1:
        for dx, dy in ((-2.4, 0), (2.4, 0), (0, -2.4), (0, 2.4)):
            pen.oval(45 + dx, 40 + dy, 1.9, 1.9, "#f5efe0")
        pen.oval(45, 40, 1.7, 1.7, "#f0c64a")


def _stone(pen: Pen, variant: int) -> None:
    for x, y in spread(3, 17 + variant * 3):
        x, y = 11 + x * 0.62, 11 + y * 0.62
        pen.shape("#7b808c", (x - 8, y + 4), (x - 5, y - 4), (x + 3, y - 6), (x + 8, y - 1), (x + 4, y + 5))
        pen.line("#9a9faa", 2, (x - 7, y + 1), (x - 4.6, y - 4), (x + 3, y - 6))
    for x, y in spread(2, 81 + variant * 2):
        pen.oval(9 + x * 0.72, 9 + y * 0.72, 2.4, 1.6, "#6f7480")


class Surface(NamedTuple):
    colour: str
    sketch: TextureSketch
    light: str  # along its upper edge, if any
    lip: str
    depth: float  # of the lip, in cells
    materials: tuple[int, ...]


SURFACES = (
    Surface("#141820", _outside, "", "", 0, (rules.OUTSIDE,)),
    Surface("#3a87cf", _water, "", "#0c1016", 0.08, (rules.WATER,)),
    Surface("#e2501a", _lava, "", "#8e2410", 0.04, (rules.LAVA,)),
    Surface("#a08e77", _path, "", "#7a6a56", 0.04, (rules.PATH,)),
    Surface("#e3cd92", _sand, "#f3e5b8", "#b99c62", 0.08, (rules.SAND,)),
    Surface("#6cb048", _grass, "#8bcb62", "#43732f", 0.1, (rules.GRASS, rules.TREE)),
    Surface("#868b97", _stone, "#b3b7c0", "#4b505c", 0.22, (rules.STONE, rules.COAL, rules.IRON, rules.DIAMOND)),
)
_SURFACE_OF = np.zeros(rules.FURNACE + 1, np.uint8)
for _number, _surface in enumerate(SURFACES):
    _SURFACE_OF[list(_surface.materials)] = _number
_HAS_FIXTURE = np.zeros(rules.FURNACE + 1, np.bool_)
_HAS_FIXTURE[list(WITH_FIXTURE)] = True
_DEEPEST = 0.25  # of a lip, in cells


@cache
def _atlas(surface: int, size: int) -> NDArray[np.uint8]:
    """All variants of a texture."""
    kind = SURFACES[surface]
    tiles = (drawn(partial(kind.sketch, variant=variant), size, kind.colour) for variant in range(VARIANTS))
    return np.stack([np.array(tile.convert("RGB")) for tile in tiles])


# -- a part of the map ------------------------------------------------------------------------------------
def draw_ground(cells: Cells, left: int, top: int, size: int) -> Image.Image:
    """Cells in rows and columns, ``size`` pixels each, with trees, ore, tables and furnaces.

    The outermost rows and columns only shape the edges. ``left`` and ``top`` are where the first cell within them is
    on the map: a cell keeps its texture wherever it is in the picture.
    """
    return _drawn_ground(cells.tobytes(), cells.shape[1], left, top, size).copy()


@lru_cache(16)  # most pictures show the same ground as the one before
def _drawn_ground(materials: bytes, columns: int, left: int, top: int, size: int) -> Image.Image:
    cells = np.frombuffer(materials, np.uint8).reshape(-1, columns)
    surfaces = _surfaces(cells)
    height, width = cells.shape[0] - 2 * _MARGIN, cells.shape[1] - 2 * _MARGIN
    variants = _variants(np.arange(left, left + width)[None, :] + 64 * np.arange(top, top + height)[:, None])
    lowest, *others = np.unique(surfaces).tolist()
    image = _texture(lowest, variants, size)
    for number in others:
        _cover(image, SURFACES[number], _texture(number, variants, size), _mask(surfaces >= number, size), size)
    inside = cells[_MARGIN:-_MARGIN, _MARGIN:-_MARGIN]
    for row, column in np.argwhere(_HAS_FIXTURE[inside]).tolist():
        picture = fixture(int(inside[row, column]), size)
        image.paste(picture, (column * size, row * size), picture)
    return image


def _texture(surface: int, variants: NDArray[np.int64], size: int) -> Image.Image:
    lines = np.arange(size)[None, :, None]
    pixels = _atlas(surface, size)[variants[:, None, :], lines]
    return Image.fromarray(pixels.reshape(variants.shape[0] * size, variants.shape[1] * size, 3))


def _cover(image: Image.Image, kind: Surface, texture: Image.Image, mask: Image.Image, size: int) -> None:
    """Draw a surface over what is there: its lip, the light along its upper edge, and itself."""
    image.paste(_plain(kind.lip, image.size), (0, 0), _lowered(mask, round(kind.depth * size), size))
    if kind.light:
        image.paste(_plain(kind.light, image.size), (0, 0), _lowered(mask, 0, size))
    image.paste(texture, (0, 0), _lowered(mask, size // 24 if kind.light else 0, size))


def _lowered(mask: Image.Image, down: int, size: int) -> Image.Image:
    """The part of a mask that is in the picture when the mask is moved down by some pixels."""
    above = round(_DEEPEST * size)
    return mask.crop((0, above - down, mask.width, mask.height - down))


@lru_cache(64)
def _plain(colour: str, size: tuple[int, int]) -> Image.Image:
    return Image.new("RGB", size, colour)


def _surfaces(cells: Cells) -> Cells:
    """The surface of each cell. Tables and furnaces stand on the ground next to them."""
    surfaces = _SURFACE_OF[cells]
    for row, column in np.argwhere((cells == rules.TABLE) | (cells == rules.FURNACE)).tolist():
        around = cells[max(0, row - 1) : row + 2, max(0, column - 1) : column + 2].reshape(-1).tolist()
        found = [material for material in around if material in (rules.GRASS, rules.SAND, rules.PATH)]
        surfaces[row, column] = _SURFACE_OF[max(found, key=found.count) if found else rules.GRASS]
    return surfaces


def _variants(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """A variant for each cell, without a visible pattern."""
    mixed = (numbers * 0x9E3779B1) & 0xFFFFFFFF
    mixed = ((mixed ^ (mixed >> 15)) * 0x85EBCA77) & 0xFFFFFFFF
    return (mixed >> 13) % VARIANTS


def _mask(covered: NDArray[np.bool_], size: int) -> Image.Image:
    """The mask of a surface, with rounded corners, and of a part of the row above, whose lip is in the picture."""
    fine = covered.repeat(_FINE, 0).repeat(_FINE, 1).view(np.uint8) * np.uint8(255)
    smooth = Image.fromarray(fine).filter(ImageFilter.BoxBlur(2)).filter(ImageFilter.BoxBlur(1))
    edge = _MARGIN * _FINE
    inside = (edge, edge * (1 - _DEEPEST), smooth.width - edge, smooth.height - edge)
    width, height = (covered.shape[1] - 2 * _MARGIN) * size, (covered.shape[0] - 2 * _MARGIN) * size
    enlarged = smooth.resize((width, height + round(_DEEPEST * size)), Image.Resampling.BILINEAR, inside)
    return enlarged.point(_sharp(size))


@cache
def _sharp(size: int) -> Sequence[int]:
    """A table that turns a wide slope into an edge of about two pixels."""
    steep = max(1.0, size / 3)
    return [min(255, max(0, round((value - 127.5) * steep + 127.5))) for value in range(256)]
