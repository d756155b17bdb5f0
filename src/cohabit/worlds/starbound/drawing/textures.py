"""Small pictures of tiles, made of a colour, grains and marks. They are the same in every process."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from cohabit.model.table_files import read_drawings
from cohabit.worlds.starbound.tiles import TILES, Tile

SIDE = 16
Pixels = NDArray[np.uint8]
Colour = tuple[int, int, int]
_GRASS: Colour = (92, 176, 72)
_FIXTURES = read_drawings(__file__)


def noise(x: NDArray[np.int64], y: NDArray[np.int64], salt: int) -> NDArray[np.int64]:
    """A number from 0 to 255 for each place, without a visible pattern."""
    mixed = (x * 374761393 + y * 668265263 + salt * 974634777) & 0xFFFFFFFF
    mixed = ((mixed ^ (mixed >> 13)) * 1274126177) & 0xFFFFFFFF
    return (mixed ^ (mixed >> 16)) & 255


@cache
def texture(tile: int, variant: int = 0) -> Pixels:
    """A tile as red, green, blue and opacity."""
    kind = TILES[tile]
    y, x = np.mgrid[0:SIDE, 0:SIDE]
    grain = noise(x // 2, y // 2, tile * 7 + variant)
    image = np.zeros((SIDE, SIDE, 4), np.int64)
    image[..., :3] = kind.colour
    if kind.solid:
        image[..., 3] = 255
        image[..., :3] += (grain[..., None] - 128) // 9
    _mark(kind, image, x, y, grain, variant)
    return np.clip(image, 0, 255).astype(np.uint8)


def _mark(kind: Tile, image: NDArray[np.int64], x: NDArray[np.int64], y: NDArray[np.int64], grain: NDArray[np.int64],
          variant: int) -> None:  # fmt: skip
    """Draw the details that distinguish a kind of tile."""
    name = kind.name
    if kind.solid and kind.marks is not None:
        blobs = noise(x // 3, y // 3, variant + 5) > 150
        image[blobs, :3] = kind.marks
        image[blobs, :3] += (grain[blobs, None] - 128) // 6
    elif name == "grass":
        top = y < 4 + noise(x, x * 0, variant) // 110
        image[top, :3] = _GRASS
        image[top, :3] += (grain[top, None] - 128) // 7
    elif name in ("stone", "brick", "plank", "hull"):
        _seams(name, image, x, y)
    elif name == "ice":
        image[(x + y) % 11 == 0, :3] = (214, 240, 255)
    elif name in ("water", "lava", "acid"):
        image[..., 3] = 255 if name == "lava" else 190
        image[..., :3] += ((grain - 128) // (7 if name == "lava" else 14))[..., None]
    elif name != "air" and not kind.solid:
        _fixture(kind, image, grain)


def _seams(name: str, image: NDArray[np.int64], x: NDArray[np.int64], y: NDArray[np.int64]) -> None:
    if name == "stone":
        cracks = noise(x // 2, y // 3, 3) > 236
    elif name == "brick":
        cracks = (y % 8 == 7) | ((x + 4 * (y // 8)) % 8 == 7)
    elif name == "plank":
        cracks = (y % 5 == 4) | ((x == 5) & (y < 5)) | ((x == 11) & (y > 9))
    else:
        cracks = (x % 16 == 15) | (y % 16 == 15)
        image[(x % 16 == 2) & (y % 16 == 2), :3] = (140, 150, 170)
    image[cracks, :3] -= 28


def _fixture(kind: Tile, image: NDArray[np.int64], grain: NDArray[np.int64]) -> None:
    """Things in front of the open air: only a part of the tile is covered."""
    letters = np.array([list(row) for row in _FIXTURES[kind.name]])
    shape = letters != "."
    image[shape, 3] = 255
    image[shape, :3] += ((grain - 128) // 10)[shape][:, None]
    if kind.marks is not None:
        image[letters == "o", :3] = kind.marks
