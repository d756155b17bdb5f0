"""Who is near whom. The map is cut into blocks of 8 by 8 tiles; whoever asks is shown a few from the blocks around.

Nobody is compared with everybody: a creature looks at a dozen others at most, so ten thousand cost ten times as much
as one thousand and not a hundred times. It thinks often enough to notice the rest soon.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cohabit.worlds.kingdoms.chance import U64
from cohabit.worlds.kingdoms.sim import Sim

BLOCK_BITS = 3
"""A block is 8 tiles on a side."""
Rows = NDArray[np.int64]
OWN = 4
LOOKS = OWN * ((0, 0),) + ((-1, -1), (0, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (0, 1), (1, 1))
"""Which blocks are looked into, for one creature each: its own several times, spread evenly over who is there."""
_ACROSS = np.array([across for across, _ in LOOKS], np.int64)
_DOWN = np.array([down for _, down in LOOKS], np.int64)
_SHIFTS = np.array([0] * OWN + list(range(4, 4 + 4 * (len(LOOKS) - OWN), 4)), np.uint64)
_PARTS = np.array([*range(OWN), *[0] * (len(LOOKS) - OWN)], np.int64)


class Near:
    """Where some creatures (``among``; all, unless said) are at one moment, by blocks."""

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

    def look(self, rows: Rows, purpose: str) -> tuple[Rows, NDArray[Any]]:
        """For each of ``rows`` a dozen creatures around it, and how full their blocks are.

        Where a block is empty, the creature sees itself.
        """
        if not len(self.order):
            return np.repeat(rows[:, None], len(LOOKS), axis=1), np.zeros((len(rows), len(LOOKS)), np.int64)
        c = self.sim.creatures
        across = _within((c.x[rows] >> BLOCK_BITS)[:, None] + _ACROSS, self.across)
        down = _within((c.y[rows] >> BLOCK_BITS)[:, None] + _DOWN, self.down)
        block = down * self.across + across
        full = self.count[block]
        draws = self.sim.chance.bits(purpose, self.sim.tick, c.id[rows])[:, None] >> _SHIFTS
        pick = ((draws & U64(0xFFFF)).astype(np.int64) * full) >> 16
        pick = (pick + (full * _PARTS + OWN - 1) // OWN) % np.maximum(full, 1)
        place = np.minimum(self.start[block] + pick, len(self.order) - 1)
        return np.where(full > 0, self.order[place], rows[:, None]), full


def _within(numbers: NDArray[np.int64], end: int) -> NDArray[np.int64]:
    """The numbers, none below 0 or from ``end`` on. (For few numbers this is much faster than ``clip``.)"""
    return np.minimum(np.maximum(numbers, 0), end - 1)
