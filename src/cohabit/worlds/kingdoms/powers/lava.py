"""Lava: it sets fire to what is beside it, cools step by step, and leaves ash that something can grow on."""

import numpy as np

from cohabit.worlds.kingdoms import fire
from cohabit.worlds.kingdoms.land import Cells, Land
from cohabit.worlds.kingdoms.powers import shapes
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.tiles import GROUND_ROW, IS_LAVA

HOTTEST, COLDEST, ASH = GROUND_ROW["lava0"], GROUND_ROW["lava3"], GROUND_ROW["ash"]
COOLS_EVERY = 16  # ticks
COOLS_IN = 6  # one of so many cells cools by a step each time
KINDLES_IN = 8  # one of so many cells sets fire to what is beside it each time


def follow(land: Land, cells: Cells) -> None:
    """The ground of these cells has changed: keep the list of what is molten true."""
    land.molten = land.molten[IS_LAVA[land.ground[land.molten]]]
    fresh = cells[IS_LAVA[land.ground[cells]]]
    if fresh.size:
        land.molten = np.union1d(land.molten, fresh)


def cool(sim: Sim) -> None:
    """One tick of all the lava there is."""
    land = sim.land
    if not land.molten.size or sim.tick % COOLS_EVERY:
        return
    hot = land.molten[sim.chance.hits(1, KINDLES_IN, "lava kindles", sim.tick, land.molten)]
    fire.ignite(sim, shapes.neighbours(land, hot))
    cooler = land.molten[sim.chance.hits(1, COOLS_IN, "lava cools", sim.tick, land.molten)]
    cold = land.ground[cooler] == COLDEST
    land.ground[cooler] += 1
    land.ground[cooler[cold]] = ASH
    follow(land, cooler[cold])
