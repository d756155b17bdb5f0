"""Walking. No path finding: straight on, and a step aside where the way is blocked.

Animals and workers stay on dry land, fish in water; what flies goes everywhere. Soldiers, settlers and traders
travel: they cross water in boats and climb walls, so an army reaches every place. Fire and lava stop all but the
fireproof.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cohabit.worlds.kingdoms.creatures import Job, Mark
from cohabit.worlds.kingdoms.near import Rows
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.species import FIREPROOF, FLIES, LIVES_IN_WATER, PACE
from cohabit.worlds.kingdoms.tiles import GROUND_SLOW, IS_DEADLY, IS_WATER, TOP_FAST, TOP_ROW, TOP_SLOW

WALL_SLOW = 6
"""How many times longer a traveller takes to climb a wall."""
WALKER, TRAVELLER, SWIMMER, FLYER = range(4)
_WAY = np.where(FLIES, FLYER, np.where(LIVES_IN_WATER, SWIMMER, WALKER))
_MAY = np.stack([~IS_WATER, np.ones_like(IS_WATER), IS_WATER, np.ones_like(IS_WATER)])
_WALL, _FIRE = TOP_ROW["wall"], TOP_ROW["fire"]
# The eight directions, clockwise from north; and which one a step (dx, dy) is, by (dy + 1) * 3 + dx + 1.
_DX = np.array([0, 1, 1, 1, 0, -1, -1, -1])
_DY = np.array([-1, -1, 0, 1, 1, 1, 0, -1])
_DIRECTION = np.array([7, 0, 1, 6, 0, 2, 5, 4, 3])
TURNS = np.array([1, -1, 2, -2])
"""Whoever is blocked tries these eighths of a turn, starting to the left or the right by chance."""


class Walkers(NamedTuple):
    """Some who take a step: where they are, and what they may walk on."""

    id: Rows
    x: Rows
    y: Rows
    way: NDArray[np.int64]  # one of WALKER, TRAVELLER, SWIMMER, FLYER
    proof: NDArray[np.bool_]  # against fire
    afloat: NDArray[np.bool_]  # in the water

    def only(self, i: Rows) -> "Walkers":
        return Walkers(self.id[i], self.x[i], self.y[i], self.way[i], self.proof[i], self.afloat[i])


def step(sim: Sim) -> None:
    """Everybody who is on the way and ready takes a step."""
    c = sim.creatures
    rows = np.flatnonzero((c.ready <= sim.tick) & (c.tx >= 0) & (c.marks & Mark.FROZEN == 0))
    if not len(rows):
        return
    who = _walkers(sim, rows)
    dx, dy = np.sign(c.tx[rows] - who.x), np.sign(c.ty[rows] - who.y)
    free = _free(sim, who, (who.y + dy) * sim.land.width + who.x + dx)
    blocked = np.flatnonzero(~free)
    if len(blocked):
        dx[blocked], dy[blocked] = _aside(sim, who.only(blocked), _DIRECTION[dy[blocked] * 3 + dx[blocked] + 4])
        free[blocked] = (dx[blocked] | dy[blocked]) != 0
    x, y = who.x + dx, who.y + dy
    c.x[rows], c.y[rows] = x, y
    c.ready[rows] = sim.tick + _time(sim, rows, who.way, y * sim.land.width + x)
    done = ~free | ((x == c.tx[rows]) & (y == c.ty[rows]))
    c.tx[rows[done]] = -1


def _walkers(sim: Sim, rows: Rows) -> Walkers:
    c = sim.creatures
    x, y = c.x[rows].astype(np.int64), c.y[rows].astype(np.int64)
    way = _WAY[c.species[rows]]
    way = np.where((way == WALKER) & (c.job[rows] >= Job.SOLDIER), TRAVELLER, way)
    afloat = IS_WATER[sim.land.ground[y * sim.land.width + x]]
    return Walkers(c.id[rows], x, y, way, FIREPROOF[c.species[rows]], afloat)


def _free(sim: Sim, who: Walkers, cells: Rows) -> NDArray[np.bool_]:
    """Can they go there? Whoever walks and is in the water anyway may swim on."""
    ground, top = sim.land.ground[cells], sim.land.top[cells]
    free: NDArray[np.bool_] = _MAY[who.way, ground] | (IS_WATER[ground] & who.afloat)
    free &= ~(IS_DEADLY[ground] | (top == _FIRE)) | who.proof
    free &= (top != _WALL) | (who.way != WALKER)
    return free


def _aside(sim: Sim, who: Walkers, straight: NDArray[np.int64]) -> tuple[Rows, Rows]:
    """The step each takes who cannot go straight on: the first of some turns that is free, or none."""
    side = 1 - 2 * sim.chance.below(2, "aside", sim.tick, who.id)
    heading = (straight + side * TURNS[:, None]) & 7
    x, y = who.x + _DX[heading], who.y + _DY[heading]
    here = (x >= 0) & (y >= 0) & (x < sim.land.width) & (y < sim.land.height)
    fine = here & _free(sim, who, np.where(here, y * sim.land.width + x, 0))
    first = heading[fine.argmax(axis=0), np.arange(len(who.id))]
    found = fine.any(axis=0)
    return np.where(found, _DX[first], 0), np.where(found, _DY[first], 0)


def _time(sim: Sim, rows: Rows, way: NDArray[np.int64], cells: Rows) -> NDArray[np.int64]:
    """How many ticks the step takes: slow ground and growth make it longer, a road halves it."""
    ground, top = sim.land.ground[cells], sim.land.top[cells]
    slow = (GROUND_SLOW[ground] + TOP_SLOW[top]).astype(np.int64)
    slow[top == _WALL] = WALL_SLOW
    slow[way >= SWIMMER] = 1
    time = PACE[sim.creatures.species[rows]] * slow
    return np.where(TOP_FAST[top], (time + 1) >> 1, time)


def send(sim: Sim, rows: Rows, x: NDArray[np.int64], y: NDArray[np.int64]) -> None:
    """Let them go there, or as near as the map reaches."""
    c = sim.creatures
    c.tx[rows] = np.minimum(np.maximum(x, 0), sim.land.width - 1)
    c.ty[rows] = np.minimum(np.maximum(y, 0), sim.land.height - 1)


def stroll(sim: Sim, rows: Rows, far: int, purpose: str) -> None:
    """Let them go somewhere within ``far`` tiles."""
    c = sim.creatures
    dice = sim.chance.bits(purpose, sim.tick, c.id[rows])
    wide = np.uint64(2 * far + 1)
    dx = (((dice >> np.uint64(48)) * wide) >> np.uint64(16)).astype(np.int64) - far
    dy = ((((dice >> np.uint64(16)) & np.uint64(0xFFFF)) * wide) >> np.uint64(16)).astype(np.int64) - far
    send(sim, rows, c.x[rows] + dx, c.y[rows] + dy)
