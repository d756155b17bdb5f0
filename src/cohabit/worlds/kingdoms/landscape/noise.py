"""Smooth random fields of whole numbers, from which heights and climates are made.

Each octave throws random values on a lattice and blends smoothly between them; the next one has half the spacing and
half the strength. No floats, so a field is the same on every machine.
"""

import numpy as np
from numpy.typing import NDArray

from cohabit.worlds.kingdoms.chance import U64, Chance

Field = NDArray[np.int32]
MOST = 65535
"""Fields go from 0 to this."""
MIDDLE = 32768
_ONE = 4096  # a whole, in the weights of a blend
_SHIFT = 12


def field(chance: Chance, purpose: str, width: int, height: int, spacing: int, octaves: int = 16) -> Field:
    """A field of rows and columns whose largest features are about ``spacing`` tiles wide."""
    total = np.zeros((height, width), np.int32)
    for octave in range(octaves):
        total += _lattice(chance, purpose, octave, width, height, spacing) >> (octave + 1)
        spacing //= 2
        if spacing == 0:
            break
    return total


def _lattice(chance: Chance, purpose: str, octave: int, width: int, height: int, spacing: int) -> Field:
    across, down = width // spacing + 2, height // spacing + 2
    points = chance.bits(purpose, octave, np.arange(across * down)) >> U64(48)
    rows = _stretched(points.astype(np.int32).reshape(down, across), spacing, height)
    return _stretched(np.ascontiguousarray(rows.T), spacing, width).T


def _stretched(points: Field, spacing: int, length: int) -> Field:
    """Blend from each row to the next one over ``spacing`` rows; the first ``length`` of them."""
    where = np.arange(length)
    start = where // spacing
    along = where % spacing * _ONE // spacing
    weight = (along * along * (3 * _ONE - 2 * along) >> (2 * _SHIFT)).astype(np.int32)[:, None]
    stretched: Field = (points[start] * (_ONE - weight) + points[start + 1] * weight) >> _SHIFT
    return stretched
