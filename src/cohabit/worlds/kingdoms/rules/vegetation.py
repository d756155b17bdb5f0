"""Plants and fire. A fire is a list of burning cells that spreads and burns out; burnt and bare soil grows again."""

import numpy as np

from cohabit.worlds.kingdoms.land import ZONE, Cells
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.tiles import BUILDINGS, CAN_GROW, TOP_BURNS, TOP_FOOD, TOP_ROW

FIRE_EVERY = 8
"""Fires spread and burn out once in this many ticks."""
FIRE_SPREAD_CHANCE = 1, 5
"""The chance that a burning cell sets fire to one neighbour, chosen at random."""
FIRE_END_CHANCE = 1, 4
"""The chance that a cell has burnt out."""
FIRE_RUIN_CHANCE = 1, 2
"""The chance that the building on a burnt-out cell is lost."""
GROW_EVERY = 8
GROW_CELLS = 64
"""Once in this many ticks, this many random cells per zone are checked for growth."""
BARE_TICKS = 400
"""A burnt or felled cell stays bare for at least this many ticks."""
WOODS_SHIFT_CHANCE = 1, 3
"""The chance that a checked cell of unowned land turns from grass to the wood beside it, or from wood to grass."""
WILDFIRE_CHANCE = 1, 60_000
"""The chance that a checked dry cell catches fire by itself."""
_FIRE, _BURNT, _GRASS = TOP_ROW["fire"], TOP_ROW["burnt"], TOP_ROW["grass"]
_BARE = [TOP_ROW["none"], _BURNT]
_MEADOW = [_GRASS, TOP_ROW["forest"]]


# -- fire -----------------------------------------------------------------------------------------
def ignite(sim: Sim, cells: Cells) -> int:
    """Set fire to the cells that can burn, unless the law forbids fire; returns how many caught fire."""
    if sim.laws.get("no_fire") or not len(cells):
        return 0
    cells = np.unique(cells)
    caught = cells[TOP_BURNS[sim.land.top[cells]]]
    sim.land.top[caught] = _FIRE
    sim.land.burning = np.concatenate((sim.land.burning, caught))
    return len(caught)


def put_out(sim: Sim, cells: Cells) -> int:
    """Put out the fires on these cells; returns how many there were."""
    cells = np.unique(cells)
    wet = cells[sim.land.top[cells] == _FIRE]
    _burn_out(sim, wet)
    return len(wet)


def burn(sim: Sim) -> None:
    """Fires spread and burn out."""
    land = sim.land
    if sim.tick % FIRE_EVERY or not len(land.burning):
        return
    land.burning = land.burning[land.top[land.burning] == _FIRE]  # a power may have changed the cell
    if sim.laws.get("no_fire"):
        _burn_out(sim, land.burning)
        return
    burning = land.burning
    spreading = burning[sim.chance.hits(*FIRE_SPREAD_CHANCE, "fire spreads", sim.tick, burning)]
    ignite(sim, _random_neighbours(sim, spreading, "fire goes"))
    _burn_out(sim, burning[sim.chance.hits(*FIRE_END_CHANCE, "fire dies", sim.tick, burning)])


def _random_neighbours(sim: Sim, cells: Cells, purpose: str) -> Cells:
    """One random neighbour of each cell."""
    dice = sim.chance.below(9, purpose, sim.tick, cells)
    x, y = cells % sim.land.width + dice % 3 - 1, cells // sim.land.width + dice // 3 - 1
    x, y = np.clip(x, 0, sim.land.width - 1), np.clip(y, 0, sim.land.height - 1)
    beside: Cells = y * sim.land.width + x
    return beside


def _burn_out(sim: Sim, cells: Cells) -> None:
    land = sim.land
    land.top[cells] = _BURNT
    land.grazed[cells] = sim.tick
    land.burning = land.burning[land.top[land.burning] == _FIRE]
    built = cells[land.built[cells] > 0]
    lost = built[sim.chance.hits(*FIRE_RUIN_CHANCE, "ruin", sim.tick, built)]
    for cell in lost.tolist():
        city = sim.cities.get(int(land.city[cell]))
        kind = BUILDINGS[land.built[cell]].id
        if city is not None and city.buildings.get(kind, 0):
            city.buildings[kind] -= 1
    land.built[lost] = 0


# -- growth ---------------------------------------------------------------------------------------
def grow(sim: Sim) -> None:
    """Plants grow on some random cells, and now and then one of them catches fire."""
    if sim.tick % GROW_EVERY:
        return
    land = sim.land
    checks = land.size // (ZONE * ZONE) * GROW_CELLS
    cells = sim.chance.below(land.size, "growth", sim.tick, np.arange(checks))
    cells = cells[CAN_GROW[land.ground[cells]] & (land.built[cells] == 0)]
    sparks = cells[TOP_BURNS[land.top[cells]] & sim.chance.hits(*WILDFIRE_CHANCE, "wildfire", sim.tick, cells)]
    if ignite(sim, sparks):
        _report_fire(sim, sparks)
    _spread_plants(sim, cells[sim.tick - land.grazed[cells] >= BARE_TICKS])


def _spread_plants(sim: Sim, cells: Cells) -> None:
    """A bare cell takes the plants of a neighbour, or grass; woods and meadows spread into each other."""
    land = sim.land
    beside = land.top[_random_neighbours(sim, cells, "grows like")]
    bare = np.isin(land.top[cells], _BARE)
    land.top[cells[bare]] = np.where(TOP_FOOD[beside[bare]] > 0, beside[bare], _GRASS)
    border = np.isin(land.top[cells], _MEADOW) & np.isin(beside, _MEADOW) & (land.city[cells] == 0)
    border &= sim.chance.hits(*WOODS_SHIFT_CHANCE, "woods", sim.tick, cells)
    land.top[cells[border]] = beside[border]


def _report_fire(sim: Sim, cells: Cells) -> None:
    for number in np.unique(sim.land.city[cells]).tolist():
        city = sim.cities.get(number)
        if city is not None:
            sim.tell(f"A fire has broken out near {city.name}.", [city.kingdom], "danger")
