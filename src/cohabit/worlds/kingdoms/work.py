"""Work: people walk over their city's land and bring home what they find there.

Everybody has a trade, by birth: two of four farm, one fells trees, one quarries.
"""

import numpy as np
from numpy.typing import NDArray

from cohabit.worlds.kingdoms import life, walk
from cohabit.worlds.kingdoms.creatures import Job
from cohabit.worlds.kingdoms.near import Rows
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.tiles import GROUND_ROW, TOP_ROW, TOP_WOOD

RIPENS = 420
"""A field that was harvested is ripe again after so many ticks."""
HARVEST = 1
"""Meals that a ripe field gives."""
CHOICES = np.array([4, 7, 99])
"""A worker chooses between places drawn by chance, one within each of these distances of the city's middle."""
FELLED = 1, 60
"""The chance that a tree is felled for good when wood is cut from it."""
ODD_FIND = 1, 6
"""The chance to find some wood or stone on land that has neither."""
WOODCUTTERS = 2
"""Trades 0 and 1 farm, 2 fells trees, 3 quarries; a trade is the last two bits of an id."""
_PARTS = np.arange(len(CHOICES), dtype=np.uint64) * np.uint64(20)
_FARM, _GRASS = TOP_ROW["farmland"], TOP_ROW["grass"]
STONY = np.zeros(len(GROUND_ROW), np.bool_)
STONY[[GROUND_ROW["hills"], GROUND_ROW["mountains"], GROUND_ROW["summit"]]] = True


def step(sim: Sim, rows: Rows) -> None:
    """Workers who arrived bring something home, and go to the next place."""
    c = sim.creatures
    idle = rows[(c.job[rows] == Job.WORKER) & (c.tx[rows] < 0) & (c.city[rows] > 0) & (c.hp[rows] > 0)]
    if not len(idle):
        return
    _bring_home(sim, idle[life.grown_up(sim, idle)])
    _choose(sim, idle)


def ripe(sim: Sim, cells: Rows) -> NDArray[np.bool_]:
    """Which of these cells are fields that can be harvested?"""
    harvested = sim.land.grazed[cells]
    fields: NDArray[np.bool_] = sim.land.top[cells] == _FARM
    fields &= (harvested == 0) | (sim.tick - harvested >= RIPENS)
    return fields


def _bring_home(sim: Sim, rows: Rows) -> None:
    c, land = sim.creatures, sim.land
    cells = land.cells(c.x[rows], c.y[rows])
    home = land.city[cells] == c.city[rows]
    rows, cells = rows[home], cells[home]
    reaped = ripe(sim, cells)
    _, first = np.unique(cells, return_index=True)
    alone = np.zeros(len(cells), np.bool_)
    alone[first] = True
    reaped &= alone  # two on one field share one harvest
    land.grazed[cells[reaped]] = sim.tick
    _store(sim, "food", c.city[rows[reaped]], HARVEST)
    trade, odd = c.id[rows] & 3, sim.chance.hits(*ODD_FIND, "odd find", sim.tick, c.id[rows])
    wooded, stony = TOP_WOOD[land.top[cells]] > 0, STONY[land.ground[cells]]
    cutting = (trade == WOODCUTTERS) & (wooded | odd)
    _store(sim, "wood", c.city[rows[cutting]], 1)
    _store(sim, "stone", c.city[rows[(trade > WOODCUTTERS) & (stony | odd)]], 1)
    cut = cells[cutting & wooded]
    felled = cut[sim.chance.hits(*FELLED, "felled", sim.tick, cut)]
    land.top[felled] = _GRASS


def _store(sim: Sim, what: str, cities: NDArray[np.int32], each: int) -> None:
    if not len(cities):
        return
    counts = np.bincount(cities)
    for number in np.flatnonzero(counts).tolist():
        city = sim.cities[number]
        setattr(city, what, getattr(city, what) + each * int(counts[number]))


def _choose(sim: Sim, rows: Rows) -> None:
    """Of a few places of the city's land, the one that suits the worker's trade best."""
    c, land = sim.creatures, sim.land
    x, y, radius = sim.city_place[c.city[rows]].T
    trade, radius = c.id[rows] & 3, np.minimum(radius, CHOICES[:, None])
    wide = 2 * radius + 1
    dice = (sim.chance.bits("where to work", sim.tick, c.id[rows]) >> _PARTS[:, None]).astype(np.int64)
    at_x = np.minimum(np.maximum(x - radius + ((dice & 1023) * wide >> 10), 0), land.width - 1)
    at_y = np.minimum(np.maximum(y - radius + ((dice >> 10 & 1023) * wide >> 10), 0), land.height - 1)
    cells = at_y * land.width + at_x
    worth = 3 * (land.city[cells] == c.city[rows])
    worth += ripe(sim, cells) * (2 + (trade < WOODCUTTERS))
    worth += 2 * ((trade == WOODCUTTERS) & (TOP_WOOD[land.top[cells]] > 0))
    worth += 2 * ((trade > WOODCUTTERS) & STONY[land.ground[cells]])
    best = worth.argmax(axis=0), np.arange(len(rows))
    walk.send(sim, rows, at_x[best], at_y[best])
