"""All small pictures on one sheet, for those who draw them elsewhere: tiles, figures and items, as the pictures have
them."""

from base64 import b64encode
from collections.abc import Iterator
from functools import cache
from io import BytesIO
from typing import Any

import numpy as np
from PIL import Image

from cohabit.worlds.starbound.drawing.hud import small_icon
from cohabit.worlds.starbound.drawing.sprites import FIGURES, SEAT_COLOURS, figure
from cohabit.worlds.starbound.drawing.textures import SIDE, Pixels, texture
from cohabit.worlds.starbound.items import ITEM
from cohabit.worlds.starbound.tiles import TILES

VARIANTS = 3
"""Of tiles that are grainy. Others look the same everywhere."""
_COLUMNS = 16
_WORN = ("body", "sleeper")
"""Figures in the colour of a seat."""


def _pictures() -> Iterator[tuple[str, Pixels]]:
    for number, tile in enumerate(TILES):
        for variant in range(VARIANTS if tile.solid or tile.liquid else 1):
            if tile.name != "air":
                yield f"tile {tile.name} {variant}", texture(number, variant)
    for name in FIGURES:
        if name not in _WORN:
            yield f"figure {name}", figure(name)
    for colour in SEAT_COLOURS:
        for name in _WORN:
            yield f"figure {name} {colour}", figure(name, 1, colour)
    for item in ITEM:
        yield f"item {item}", np.asarray(small_icon(item))


@cache
def sprite_sheet() -> dict[str, Any]:
    """The sheet as the address of a PNG, with the number of each picture on it; all are squares of ``side`` pixels."""
    pictures = dict(_pictures())
    sheet = np.zeros((-(-len(pictures) // _COLUMNS) * SIDE, _COLUMNS * SIDE, 4), np.uint8)
    for number, picture in enumerate(pictures.values()):
        row, column = divmod(number, _COLUMNS)
        sheet[row * SIDE : (row + 1) * SIDE, column * SIDE : (column + 1) * SIDE] = picture
    file = BytesIO()
    Image.fromarray(sheet).save(file, "PNG", optimize=True)
    return {
        "png": f"data:image/png;base64,{b64encode(file.getvalue()).decode()}",
        "side": SIDE,
        "columns": _COLUMNS,
        "names": list(pictures),
    }
