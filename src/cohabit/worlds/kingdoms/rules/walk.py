"""Walking. There is no path finding: a creature walks straight to its target and steps aside when it is blocked.

Animals and workers stay on dry land, fish in water; flying creatures go everywhere. Soldiers, settlers and traders are
travellers: they cross water in boats and climb walls, so an army can reach every place. Fire and lava stop everything
that is not fireproof.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cohabit.worlds.kingdoms.creatures import Effect, Job, Rows
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.species import FIREPROOF, FLIES, LIVES_IN_WATER, PACE
from cohabit.worlds.kingdoms.tiles import GROUND_SLOW, IS_DEADLY, IS_WATER, TOP_FAST, TOP_ROW, TOP_SLOW

WALL_SLOW = 6
"""Factor on the time of a traveller's step onto a wall."""
WALKER, TRAVELLER, SWIMMER, FLYER = range(4)
"""Modes of movement."""
_MODE = np.where(FLIES, FLYER, np.where(LIVES_IN_WATER, SWIMMER, WALKER))
_ALLOWED = np.stack([~IS_WATER, np.ones_like(IS_WATER), IS_WATER, np.ones_like(IS_WATER)])
_WALL, _FIRE = TOP_ROW["wall"], TOP_ROW["fire"]
# The eight directions, clockwise from north; and the direction of a step (dx, dy), by (dy + 1) * 3 + dx + 1.
_DX = np.array([0, 1, 1, 1, 0, -1, -1, -1])
_DY = np.array([-1, -1, 0, 1, 1, 1, 0, -1])
_DIRECTION = np.array([7, 0, 1, 6, 0, 2, 5, 4, 3])
TURNS = np.array([1, -1, 2, -2])
"""The eighths of a turn that a blocked creature tries, starting to the left or the right by chance."""


class Walkers(NamedTuple):
    """Creatures that take a step."""

    public: Rows
    x: Rows
    y: Rows
    mode: NDArray[np.int64]  # one of WALKER, TRAVELLER, SWIMMER, FLYER
    fireproof: NDArray[np.bool_]
    afloat: NDArray[np.bool_]  # in the water

    def only(self, i: Rows) -> "Walkers":
        return Walkers(self.public[i], self.x[i], self.y[i], self.mode[i], self.fireproof[i], self.afloat[i])


def step(sim: Sim) -> None:
    """Every creature that has a target and is ready takes a step."""
    c = sim.creatures
    rows = np.flatnonzero((c.ready <= sim.tick) & (c.tx >= 0) & (c.effects & Effect.FROZEN == 0))
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
    c.ready[rows] = sim.tick + _time(sim, rows, who.mode, y * sim.land.width + x)
    done = ~free | ((x == c.tx[rows]) & (y == c.ty[rows]))
    c.tx[rows[done]] = -1


def _walkers(sim: Sim, rows: Rows) -> Walkers:
    c = sim.creatures
    x, y = c.x[rows].astype(np.int64), c.y[rows].astype(np.int64)
    mode = _MODE[c.species[rows]]
    mode = np.where((mode == WALKER) & (c.job[rows] >= Job.SOLDIER), TRAVELLER, mode)
    afloat = IS_WATER[sim.land.ground[y * sim.land.width + x]]
    return Walkers(c.public[rows], x, y, mode, FIREPROOF[c.species[rows]], afloat)


def _free(sim: Sim, who: Walkers, cells: Rows) -> NDArray[np.bool_]:
    """Can they step there? A walker that is already in the water may swim."""
    ground, top = sim.land.ground[cells], sim.land.top[cells]
    free: NDArray[np.bool_] = _ALLOWED[who.mode, ground] | (IS_WATER[ground] & who.afloat)
    free &= ~(IS_DEADLY[ground] | (top == _FIRE)) | who.fireproof
    free &= (top != _WALL) | (who.mode != WALKER)
    return free


def _aside(sim: Sim, who: Walkers, straight: NDArray[np.int64]) -> tuple[Rows, Rows]:
    """The steps of blocked creatures: for each the first of TURNS that is free, or none."""
    side = 1 - 2 * sim.chance.below(2, "aside", sim.tick, who.public)
    heading = (straight + side * TURNS[:, None]) & 7
    x, y = who.x + _DX[heading], who.y + _DY[heading]
    on_map = (x >= 0) & (y >= 0) & (x < sim.land.width) & (y < sim.land.height)
    fine = on_map & _free(sim, who, np.where(on_map, y * sim.land.width + x, 0))
    first = heading[fine.argmax(axis=0), np.arange(len(who.x))]
    found = fine.any(axis=0)
    return np.where(found, _DX[first], 0), np.where(found, _DY[first], 0)


def _time(sim: Sim, rows: Rows, mode: NDArray[np.int64], cells: Rows) -> NDArray[np.int64]:
    """The ticks that a step takes: slow ground and plants make it longer, a road halves it."""
    ground, top = sim.land.ground[cells], sim.land.top[cells]
    slow = (GROUND_SLOW[ground] + TOP_SLOW[top]).astype(np.int64)
    slow[top == _WALL] = WALL_SLOW
    slow[mode >= SWIMMER] = 1
    time = PACE[sim.creatures.species[rows]] * slow
    return np.where(TOP_FAST[top], (time + 1) >> 1, time)


def send(sim: Sim, rows: Rows, x: NDArray[np.int64], y: NDArray[np.int64]) -> None:
    """Set the targets of these creatures; a target off the map becomes the nearest place on it."""
    c = sim.creatures
    c.tx[rows] = np.minimum(np.maximum(x, 0), sim.land.width - 1)
    c.ty[rows] = np.minimum(np.maximum(y, 0), sim.land.height - 1)


def stroll(sim: Sim, rows: Rows, radius: int, purpose: str) -> None:
    """Send these creatures to random places within ``radius`` tiles."""
    c = sim.creatures
    dice = sim.chance.bits(purpose, sim.tick, c.public[rows])
    wide = np.uint64(2 * radius + 1)
    dx = (((dice >> np.uint64(48)) * wide) >> np.uint64(16)).astype(np.int64) - radius
    dy = ((((dice >> np.uint64(16)) & np.uint64(0xFFFF)) * wide) >> np.uint64(16)).astype(np.int64) - radius
    send(sim, rows, c.x[rows] + dx, c.y[rows] + dy)
