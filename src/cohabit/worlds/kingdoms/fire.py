"""Fire: a list of burning cells that spreads, and dies down."""

import numpy as np

from cohabit.worlds.kingdoms.land import Cells
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.tiles import BUILDINGS, TOP_BURNS, TOP_ROW

BURNS = 8
"""Only every so many ticks a fire spreads or dies."""
SPREADS = 1, 5
"""The chance that fire goes over to one neighbour, chosen by chance."""
DIES = 1, 4
"""The chance that a cell has burnt out."""
RUINS = 1, 2
"""The chance that a building on a burnt-out cell is lost."""
_FIRE, _BURNT = TOP_ROW["fire"], TOP_ROW["burnt"]


def ignite(sim: Sim, cells: Cells) -> int:
    """Set cells alight; how many caught fire. Only what burns does, and nothing where the law forbids fire."""
    if sim.laws.get("no_fire") or not len(cells):
        return 0
    cells = np.unique(cells)
    caught = cells[TOP_BURNS[sim.land.top[cells]]]
    sim.land.top[caught] = _FIRE
    sim.land.burning = np.concatenate((sim.land.burning, caught))
    return len(caught)


def put_out(sim: Sim, cells: Cells) -> int:
    """Put out whatever burns on these cells; how many did."""
    cells = np.unique(cells)
    wet = cells[sim.land.top[cells] == _FIRE]
    _burn_out(sim, wet)
    return len(wet)


def step(sim: Sim) -> None:
    """Fire spreads to what burns beside it, and dies down."""
    land = sim.land
    if sim.tick % BURNS or not len(land.burning):
        return
    land.burning = land.burning[land.top[land.burning] == _FIRE]  # somebody may have painted over it
    if sim.laws.get("no_fire"):
        _burn_out(sim, land.burning)
        return
    burning = land.burning
    ignite(sim, _neighbours(sim, burning[sim.chance.hits(*SPREADS, "fire spreads", sim.tick, burning)]))
    _burn_out(sim, burning[sim.chance.hits(*DIES, "fire dies", sim.tick, burning)])


def _neighbours(sim: Sim, cells: Cells) -> Cells:
    """One neighbour of each, by chance."""
    dice = sim.chance.below(9, "fire goes", sim.tick, cells)
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
    lost = built[sim.chance.hits(*RUINS, "ruin", sim.tick, built)]
    for cell in lost.tolist():
        city = sim.cities.get(int(land.city[cell]))
        kind = BUILDINGS[land.built[cell]].id
        if city is not None and city.buildings.get(kind, 0):
            city.buildings[kind] -= 1
    land.built[lost] = 0
