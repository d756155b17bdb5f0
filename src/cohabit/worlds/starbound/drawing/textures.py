"""Small pictures of tiles, made of a colour, grains and marks. They are the same in every process."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from cohabit.worlds.starbound.tiles import ID, TILES
from cohabit.worlds.table_files import read_drawings

SIDE = 16
Pixels = NDArray[np.uint8]
Colour = tuple[int, int, int]
COLOURS: dict[str, Colour] = {
    "air": (0, 0, 0), "dirt": (121, 85, 58), "grass": (121, 85, 58), "stone": (112, 116, 126), "sand": (222, 190, 122),
    "snow": (236, 242, 250), "ice": (150, 206, 240), "ash": (92, 84, 90), "obsidian": (52, 40, 66),
    "coal": (112, 116, 126), "iron": (112, 116, 126), "titanium": (112, 116, 126), "diamond": (112, 116, 126),
    "crystal": (112, 116, 126), "tree": (110, 74, 44), "leaves": (64, 140, 62), "bush": (72, 150, 66),
    "cactus": (70, 150, 84), "mushroom": (214, 92, 84), "water": (52, 120, 214), "lava": (240, 100, 28),
    "acid": (130, 206, 48), "bedrock": (44, 44, 52), "plank": (168, 120, 70), "platform": (168, 120, 70),
    "ladder": (168, 120, 70), "torch": (255, 200, 80), "campfire": (255, 150, 50), "workbench": (180, 126, 72),
    "furnace": (98, 98, 106), "anvil": (78, 82, 96), "bed": (196, 66, 72), "hull": (74, 84, 102),
    "locker": (196, 140, 60), "console": (60, 180, 220), "teleporter": (120, 220, 255), "altar": (200, 80, 220),
    "brick": (130, 92, 84),
}  # fmt: skip
ORE_COLOURS: dict[str, Colour] = {
    "coal": (34, 34, 40),
    "iron": (222, 164, 122),
    "titanium": (176, 220, 226),
    "diamond": (250, 250, 255),
    "crystal": (216, 110, 250),
}
_GRASS: Colour = (92, 176, 72)
_FIXTURES = read_drawings(__file__)
_DETAILS: dict[str, Colour] = {
    "tree": (84, 54, 32), "leaves": (104, 176, 84), "bush": (220, 60, 90), "mushroom": (236, 226, 206),
    "torch": (120, 84, 50), "campfire": (104, 70, 42), "furnace": (255, 150, 40), "bed": (240, 240, 240),
    "locker": (120, 84, 36), "console": (190, 250, 255), "altar": (90, 80, 100),
}  # fmt: skip
"""The colours of the letter o in the drawings of fixtures; # is a fixture's own colour."""


def noise(x: NDArray[np.int64], y: NDArray[np.int64], salt: int) -> NDArray[np.int64]:
    """A number from 0 to 255 for each place, without a visible pattern."""
    mixed = (x * 374761393 + y * 668265263 + salt * 974634777) & 0xFFFFFFFF
    mixed = ((mixed ^ (mixed >> 13)) * 1274126177) & 0xFFFFFFFF
    return (mixed ^ (mixed >> 16)) & 255


@cache
def texture(tile: int, variant: int = 0) -> Pixels:
    """A tile as red, green, blue and opacity."""
    name = TILES[tile].name
    y, x = np.mgrid[0:SIDE, 0:SIDE]
    grain = noise(x // 2, y // 2, tile * 7 + variant)
    image = np.zeros((SIDE, SIDE, 4), np.int64)
    image[..., :3] = COLOURS[name]
    if TILES[tile].solid:
        image[..., 3] = 255
        image[..., :3] += (grain[..., None] - 128) // 9
    _mark(name, image, x, y, grain, variant)
    return np.clip(image, 0, 255).astype(np.uint8)


def _mark(name: str, image: NDArray[np.int64], x: NDArray[np.int64], y: NDArray[np.int64], grain: NDArray[np.int64],
          variant: int) -> None:  # fmt: skip
    """What distinguishes a tile."""
    if name in ORE_COLOURS:
        blobs = noise(x // 3, y // 3, variant + 5) > 150
        image[blobs, :3] = ORE_COLOURS[name]
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
    elif name != "air" and not TILES[ID[name]].solid:
        _fixture(name, image, grain)


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


def _fixture(name: str, image: NDArray[np.int64], grain: NDArray[np.int64]) -> None:
    """Things in front of the open air: only a part of the tile is covered."""
    letters = np.array([list(row) for row in _FIXTURES[name]])
    shape = letters != "."
    image[shape, 3] = 255
    image[shape, :3] += ((grain - 128) // 10)[shape][:, None]
    if name in _DETAILS:
        image[letters == "o", :3] = _DETAILS[name]
