"""Shapes on the map, as cells."""

import numpy as np

from cohabit.worlds.kingdoms.land import Cells, Land


def line(land: Land, x: int, y: int, x2: int, y2: int) -> Cells:
    """The cells from one place to another that are on the map, both ends included, each once."""
    steps = max(abs(x2 - x), abs(y2 - y), 1)
    i = np.arange(steps + 1, dtype=np.int64)
    across = x + ((x2 - x) * i * 2 + steps) // (2 * steps)
    along = y + ((y2 - y) * i * 2 + steps) // (2 * steps)
    inside = (across >= 0) & (across < land.width) & (along >= 0) & (along < land.height)
    return np.unique(along[inside] * land.width + across[inside])


def neighbours(land: Land, cells: Cells) -> Cells:
    """The cells on the map that share a side with any of these, each once."""
    x = cells % land.width
    sides = (cells[x > 0] - 1, cells[x < land.width - 1] + 1, cells - land.width, cells + land.width)
    found = np.unique(np.concatenate(sides))
    return found[(found >= 0) & (found < land.size)]
