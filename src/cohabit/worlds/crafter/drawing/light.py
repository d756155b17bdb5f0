"""Night in the larger pictures: blue and darker, but never so dark that something is hidden."""

from collections.abc import Sequence
from functools import cache

import numpy as np
from PIL import Image, ImageChops

DARKEST = 20
"""Darkness at midnight and in sleep; 0 is noon."""


def darkness(daylight: float) -> int:
    return round((1 - daylight) * DARKEST)


def at_night(image: Image.Image, dark: int) -> Image.Image:
    """A picture in this darkness."""
    return image if dark <= 1 else image.point(_table(dark))


def with_lights(image: Image.Image, dark: int, lights: Sequence[tuple[int, int]], reach: int) -> Image.Image:
    """A picture in this darkness, with a glow around these points."""
    if dark <= 1:
        return image
    glow = Image.new("L", image.size)
    for middle_x, middle_y in lights:
        x, y = middle_x - reach, middle_y - reach
        box = (max(0, x), max(0, y), min(glow.width, x + 2 * reach), min(glow.height, y + 2 * reach))
        part = _glow(reach).crop((box[0] - x, box[1] - y, box[2] - x, box[3] - y))
        glow.paste(ImageChops.lighter(part, glow.crop(box)), box)
    return Image.composite(image, at_night(image, dark), glow)


@cache
def _table(dark: int) -> list[int]:
    """The new value of every value, for red, then green, then blue."""
    amount = dark / DARKEST
    keep = (1 - 0.58 * amount, 1 - 0.5 * amount, 1 - 0.3 * amount)
    add = (4 * amount, 8 * amount, 22 * amount)
    return [min(255, round(value * keep[part] + add[part])) for part in range(3) for value in range(256)]


@cache
def _glow(reach: int) -> Image.Image:
    x = np.linspace(-1, 1, 2 * reach)
    far = np.sqrt(x[None, :] ** 2 + x[:, None] ** 2)
    return Image.fromarray((150 * np.clip(1 - far, 0, 1) ** 1.4).astype(np.uint8))
