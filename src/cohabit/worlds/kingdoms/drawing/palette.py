"""Colours: of kingdoms, and of everything that can lie on a cell, as columns to look rows up in."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from cohabit.worlds.kingdoms.species import SPECIES
from cohabit.worlds.kingdoms.tiles import BUILDINGS, GROUND, TOPS

Colours = NDArray[np.uint8]
KINGDOM_COLOURS: tuple[str, ...] = (
    "#d7263d", "#2b6cf0", "#f5c211", "#8e3bd1", "#ff7f1f", "#17c3c9", "#e84bb0", "#f7f3e8", "#7a2e1d", "#1b1f3b",
    "#b08cff", "#a6e22e", "#c2185b", "#9ad1ff", "#5b5b12", "#ff9aa2", "#00876b", "#ffdf8e", "#3f51b5", "#6d4c41",
)  # fmt: skip
"""Rows are what ``Kingdom.colour`` means; after the last one it starts again."""


def colour_of(row: int) -> str:
    """The colour of a kingdom, as #rrggbb."""
    return KINGDOM_COLOURS[row % len(KINGDOM_COLOURS)]


def rgb(colours: Iterable[str]) -> Colours:
    """Colours written as #rrggbb, as rows of red, green and blue."""
    return np.array([list(bytes.fromhex(colour.removeprefix("#"))) for colour in colours], np.uint8)


KINGDOM_RGB = rgb(KINGDOM_COLOURS)
SPECIES_RGB = rgb(kind.colour for kind in SPECIES)
COVER_RGB = np.concatenate([rgb(kind.colour for kind in kinds) for kinds in (GROUND, TOPS, BUILDINGS)])
"""What one sees of a cell from above: rows of GROUND, then of TOPS, then of BUILDINGS."""
FIRST_TOP, FIRST_BUILDING = len(GROUND), len(GROUND) + len(TOPS)
