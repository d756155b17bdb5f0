"""What grows. Now and then some cells, drawn by chance, change: bare soil grows over, woods and meadows move."""

import numpy as np

from cohabit.worlds.kingdoms import fire
from cohabit.worlds.kingdoms.land import ZONE, Cells
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.tiles import CAN_GROW, TOP_BURNS, TOP_FOOD, TOP_ROW

EVERY = 8
CELLS = 64
"""Every so many ticks this many cells of a zone are looked at."""
REST = 400
"""How long a burnt or felled cell lies bare at least."""
BORDER_MOVES = 1, 3
"""The chance that a wood takes the grass beside it, or grass the wood, when a cell of nobody's land is looked at."""
WILDFIRE = 1, 60_000
"""The chance that a dry cell that is looked at catches fire by itself."""
_BARE = [TOP_ROW["none"], TOP_ROW["burnt"]]
_GRASS = TOP_ROW["grass"]
_MEADOW = [_GRASS, TOP_ROW["forest"]]


def step(sim: Sim) -> None:
    if sim.tick % EVERY:
        return
    land = sim.land
    looks = land.size // (ZONE * ZONE) * CELLS
    cells = sim.chance.below(land.size, "growth", sim.tick, np.arange(looks))
    cells = cells[CAN_GROW[land.ground[cells]] & (land.built[cells] == 0)]
    sparks = cells[TOP_BURNS[land.top[cells]] & sim.chance.hits(*WILDFIRE, "wildfire", sim.tick, cells)]
    if fire.ignite(sim, sparks):
        _tell_of_fire(sim, int(sparks[0]))
    cells = cells[sim.tick - land.grazed[cells] >= REST]
    _grow(sim, cells)


def _grow(sim: Sim, cells: Cells) -> None:
    """A bare cell takes after a neighbour, or is grass; woods and meadows take from each other."""
    land = sim.land
    dice = sim.chance.below(9, "grows like", sim.tick, cells)
    x = np.clip(cells % land.width + dice % 3 - 1, 0, land.width - 1)
    y = np.clip(cells // land.width + dice // 3 - 1, 0, land.height - 1)
    beside = land.top[y * land.width + x]
    bare = np.isin(land.top[cells], _BARE)
    land.top[cells[bare]] = np.where(TOP_FOOD[beside[bare]] > 0, beside[bare], _GRASS)
    border = np.isin(land.top[cells], _MEADOW) & np.isin(beside, _MEADOW) & (land.city[cells] == 0)
    border &= sim.chance.hits(*BORDER_MOVES, "woods", sim.tick, cells)
    land.top[cells[border]] = beside[border]


def _tell_of_fire(sim: Sim, cell: int) -> None:
    city = sim.cities.get(int(sim.land.city[cell]))
    if city is not None:
        sim.tell(f"A fire has broken out near {city.name}.", [city.kingdom], "danger")
