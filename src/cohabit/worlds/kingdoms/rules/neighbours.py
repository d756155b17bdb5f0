"""The creatures near each creature. The map is divided into blocks of 8 by 8 tiles.

A creature does not compare itself with everybody: it gets a sample of twelve from the blocks around it, so the cost
grows with the number of creatures and not with its square. It samples often enough to notice the rest soon.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cohabit.worlds.kingdoms.chance import U64
from cohabit.worlds.kingdoms.creatures import Rows
from cohabit.worlds.kingdoms.sim import Sim

BLOCK_BITS = 3
"""A block is 8 tiles on a side."""
OWN_BLOCK = 4
"""How many of the sample are from the creature's own block, spread evenly over that block."""
SAMPLED_BLOCKS = OWN_BLOCK * ((0, 0),) + ((-1, -1), (0, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (0, 1), (1, 1))
"""For each creature of a sample, the block it comes from: blocks across and down from the own one."""
_ACROSS = np.array([across for across, _ in SAMPLED_BLOCKS], np.int64)
_DOWN = np.array([down for _, down in SAMPLED_BLOCKS], np.int64)
_SHIFTS = np.array([0] * OWN_BLOCK + list(range(4, 4 + 4 * (len(SAMPLED_BLOCKS) - OWN_BLOCK), 4)), np.uint64)
_PARTS = np.array([*range(OWN_BLOCK), *[0] * (len(SAMPLED_BLOCKS) - OWN_BLOCK)], np.int64)


class Neighbours:
    """An index by block of the creatures in ``among`` (default: all) at one moment."""

    def __init__(self, sim: Sim, among: Rows | None = None) -> None:
        self.sim = sim
        c = sim.creatures
        x, y = (c.x, c.y) if among is None else (c.x[among], c.y[among])
        self.across, self.down = sim.land.width >> BLOCK_BITS, sim.land.height >> BLOCK_BITS
        block = (y >> BLOCK_BITS) * np.int16(self.across) + (x >> BLOCK_BITS)
        order = np.argsort(block, kind="stable")
        self.order = order if among is None else among[order]
        self.count = np.bincount(block, minlength=self.across * self.down)
        self.start = np.cumsum(self.count) - self.count

    def sample(self, rows: Rows, purpose: str) -> tuple[Rows, NDArray[Any]]:
        """For each of ``rows`` twelve creatures around it, and how many there are in their blocks.

        For an empty block the sample has the creature itself.
        """
        if not len(self.order):
            itself = np.repeat(rows[:, None], len(SAMPLED_BLOCKS), axis=1)
            return itself, np.zeros((len(rows), len(SAMPLED_BLOCKS)), np.int64)
        c = self.sim.creatures
        across = _clipped((c.x[rows] >> BLOCK_BITS)[:, None] + _ACROSS, self.across)
        down = _clipped((c.y[rows] >> BLOCK_BITS)[:, None] + _DOWN, self.down)
        block = down * self.across + across
        full = self.count[block]
        draws = self.sim.chance.bits(purpose, self.sim.tick, c.public[rows])[:, None] >> _SHIFTS
        pick = ((draws & U64(0xFFFF)).astype(np.int64) * full) >> 16
        pick = (pick + (full * _PARTS + OWN_BLOCK - 1) // OWN_BLOCK) % np.maximum(full, 1)
        place = np.minimum(self.start[block] + pick, len(self.order) - 1)
        return np.where(full > 0, self.order[place], rows[:, None]), full


def _clipped(numbers: NDArray[np.int64], end: int) -> NDArray[np.int64]:
    """The numbers, limited to 0 … end - 1. For small arrays this is much faster than ``np.clip``."""
    return np.minimum(np.maximum(numbers, 0), end - 1)
