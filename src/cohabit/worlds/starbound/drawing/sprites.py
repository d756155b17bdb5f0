"""Figures of bodies and creatures, drawn as letters."""

from functools import cache

import numpy as np

from cohabit.model.table_files import read_drawings
from cohabit.worlds.starbound.drawing.textures import SIDE, Colour, Pixels

SEAT_COLOURS = (
    "#e8524a", "#3f8ff0", "#f2b632", "#57b85c", "#b065e0", "#f0803c", "#3cc4c4", "#e86aa8", "#9ab83a", "#8c7cf0",
    "#d8a27c", "#5a9c8c",
)  # fmt: skip
_PALETTE: dict[str, Colour] = {
    "K": (30, 26, 40), "W": (250, 250, 250), "V": (120, 214, 250), "v": (70, 150, 210), "H": (240, 200, 160),
    "G": (92, 96, 110), "g": (140, 146, 160), "p": (240, 170, 190), "b": (150, 100, 64), "y": (246, 216, 96),
    "r": (220, 66, 56), "n": (96, 60, 120), "m": (150, 96, 176), "t": (214, 160, 88), "i": (190, 230, 250),
    "d": (110, 170, 214), "e": (96, 150, 62), "f": (160, 206, 84), "o": (250, 140, 40), "q": (120, 40, 32),
}  # fmt: skip
FIGURES = read_drawings(__file__)


def seat_colour(number: int) -> str:
    """The colour of a body on pictures and on the scoreboard."""
    return SEAT_COLOURS[(number - 1) % len(SEAT_COLOURS)]


def rgb(colour: str) -> Colour:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


@cache
def figure(name: str, facing: int = 1, colour: str = "#808080") -> Pixels:
    """A figure that looks to the right, or to the left."""
    suit = rgb(colour)
    palette = _PALETTE | {"S": suit, "s": (suit[0] * 3 // 4, suit[1] * 3 // 4, suit[2] * 3 // 4)}
    image = np.zeros((SIDE, SIDE, 4), np.uint8)
    for y, row in enumerate(FIGURES[name]):
        for x, letter in enumerate(row):
            if letter != ".":
                image[y, x] = (*palette[letter], 255)
    return image if facing > 0 else image[:, ::-1].copy()
