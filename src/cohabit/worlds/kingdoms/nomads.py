"""Nomads: people without a kingdom found one, and where the world has grown empty some come from beyond."""

import numpy as np

from cohabit.worlds.kingdoms import crowns, life, settlers
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.species import IS_CIVIL, RACES, SPECIES, SPECIES_ROW

EVERY = 100
"""How often wild people think of founding a kingdom."""
BAND = 6
REACH = 12
"""So many of one race within that many tiles found one."""
EMPTY_EVERY = 1000
"""Every so many ticks nomads come, where fewer than two kingdoms are left."""
EMPTY_BELOW = 2
NOMADS = 14
TRIES = 60


def step(sim: Sim) -> None:
    if sim.tick % EVERY == 0:
        _gather(sim)
    if sim.tick % EMPTY_EVERY == 0 and len(sim.alive) < EMPTY_BELOW:
        _come(sim)


def _gather(sim: Sim) -> None:
    """One of the wild people, by chance, looks for others like it; together they found a kingdom."""
    c = sim.creatures
    wild = np.flatnonzero(IS_CIVIL[c.species] & (c.kingdom == 0) & (c.hp > 0))
    wild = wild[life.grown_up(sim, wild)]
    if len(wild) < BAND:
        return
    first = int(wild[sim.chance.one(len(wild), "gather", sim.tick)])
    x, y = int(c.x[first]), int(c.y[first])
    alike = wild[c.species[wild] == c.species[first]]
    band = alike[(abs(c.x[alike] - x) <= REACH) & (abs(c.y[alike] - y) <= REACH)]
    if len(band) >= BAND and settlers.is_free(sim, x, y) and settlers.soil(sim, x, y) >= settlers.SOIL_FEWEST:
        crowns.found_kingdom(sim, SPECIES[int(c.species[first])].id, x, y, band)


def _come(sim: Sim) -> None:
    for cell in sim.chance.below(sim.land.size, "nomads", sim.tick, np.arange(TRIES)).tolist():
        x, y = sim.land.xy(cell)
        if settlers.is_free(sim, x, y) and settlers.soil(sim, x, y) >= settlers.SOIL_FEWEST:
            race = RACES[sim.chance.one(len(RACES), "nomads' race", sim.tick)]
            ids = life.spawn(sim, SPECIES_ROW[race], x, y, NOMADS)
            crowns.found_kingdom(sim, race, x, y, np.searchsorted(sim.creatures.id, ids))
            return
