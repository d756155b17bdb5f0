"""Changing the map, and lava.

Every change of ground or cover goes through ``reshape``, which keeps the map consistent: fires go out where the ground
changes, plants and buildings that cannot be on the new ground disappear, cities count their buildings, and lava is
tracked so that it can cool.
"""

import numpy as np

from cohabit.worlds.kingdoms import tiles
from cohabit.worlds.kingdoms.land import Cells, Land
from cohabit.worlds.kingdoms.powers import targets
from cohabit.worlds.kingdoms.rules import cities, life, vegetation
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.species import LIVES_IN_WATER
from cohabit.worlds.kingdoms.terrain import LAND, SEA

LADDER = tuple(tiles.GROUND_ROW[band.ground] for band in SEA + LAND)
"""The kinds of ground by height, from the deepest to the highest."""
_LIES_ANYWHERE = ("none", "desert", "snow", "road", "fire", "burnt", "wasteland", "wall", "crystal")
HOLDS_BUILDINGS = cities.BUILDABLE
FITS = tiles.CAN_GROW[:, None] | np.array([kind.id in _LIES_ANYWHERE for kind in tiles.TOPS])[None, :]
"""By row of the ground and row of the top: can this top be on this ground?"""
FITS[tiles.IS_WATER | tiles.IS_DEADLY, 1:] = False
STRANDED_DAMAGE = 2000
"""Damage to a water animal on dry land. Walking creatures can swim, and lava kills by itself."""
_LEVEL = {tiles.GROUND_ROW[band.ground]: band.floor + 4 for band in SEA + LAND}
HOTTEST_LAVA, COLDEST_LAVA, ASH = tiles.GROUND_ROW["lava0"], tiles.GROUND_ROW["lava3"], tiles.GROUND_ROW["ash"]
LAVA_EVERY = 16  # ticks
LAVA_COOLS_IN = 6  # one in this many cells cools by one step each time
LAVA_KINDLES_IN = 8  # one in this many cells sets fire to its neighbours each time


def reshape(sim: Sim, cells: Cells, ground: int | None = None, top: int | None = None) -> int:
    """Give these cells (each once) a new ground, a new cover, or both; returns how many of them changed."""
    land = sim.land
    old_ground, old_top = land.ground[cells], land.top[cells]
    if ground is not None:
        _change_ground(sim, cells[old_ground != ground], ground)
    if top is not None:
        _cover(sim, cells, top)
    return int(np.count_nonzero((land.ground[cells] != old_ground) | (land.top[cells] != old_top)))


def wreck(sim: Sim, cells: Cells) -> int:
    """Destroy the buildings on these cells; a city without buildings is razed. Returns how many were destroyed."""
    land = sim.land
    fallen = cells[land.built[cells] > 0]
    kinds, homes = land.built[fallen].tolist(), land.city[fallen].tolist()
    land.built[fallen] = 0
    for kind, home in zip(kinds, homes, strict=True):
        city, name = sim.cities.get(home), tiles.BUILDINGS[kind].id
        if city and city.buildings.get(name):
            city.buildings[name] -= 1
    for home in dict.fromkeys(homes):
        city = sim.cities.get(home)
        if city and not any(city.buildings.values()):
            cities.raze(sim, city)
    return len(fallen)


def _change_ground(sim: Sim, cells: Cells, ground: int) -> None:
    land = sim.land
    vegetation.put_out(sim, cells)
    land.ground[cells] = ground
    if ground in _LEVEL:
        land.level[cells] = _LEVEL[ground]
    land.top[cells[~FITS[ground, land.top[cells]]]] = tiles.TOP_ROW["none"]
    _track_lava(land, cells)
    if not tiles.IS_WATER[ground]:
        rows = targets.standing_on(sim, cells)
        life.hurt(sim, rows[LIVES_IN_WATER[sim.creatures.species[rows]]], STRANDED_DAMAGE, "dry land")
    if not HOLDS_BUILDINGS[ground]:
        wreck(sim, cells)


def _cover(sim: Sim, cells: Cells, top: int) -> None:
    land = sim.land
    if top == tiles.TOP_ROW["fire"]:
        vegetation.ignite(sim, cells)
        return
    cells = cells[FITS[land.ground[cells], top]]
    vegetation.put_out(sim, cells)
    land.top[cells] = top
    land.grazed[cells] = (
        0 if tiles.TOP_FOOD[top] else sim.tick
    )  # plants can be grazed at once; bare ground stays bare a while


def regrow(sim: Sim, cells: Cells) -> int:
    """Let grazed plants on these cells regrow; returns how many cells had been grazed."""
    land = sim.land
    grazed = cells[(tiles.TOP_FOOD[land.top[cells]] > 0) & (land.grazed[cells] > 0)]
    land.grazed[grazed] = 0
    return len(grazed)


def strip(sim: Sim, cells: Cells) -> int:
    """Graze these cells bare; returns how many there were to graze."""
    land = sim.land
    eaten = cells[(tiles.TOP_FOOD[land.top[cells]] > 0) & (land.grazed[cells] < sim.tick)]
    land.grazed[eaten] = sim.tick
    return len(eaten)


# -- lava -----------------------------------------------------------------------------------------
def _track_lava(land: Land, cells: Cells) -> None:
    """Update the list of molten cells after the ground of these cells has changed."""
    land.molten = land.molten[tiles.IS_LAVA[land.ground[land.molten]]]
    fresh = cells[tiles.IS_LAVA[land.ground[cells]]]
    if fresh.size:
        land.molten = np.union1d(land.molten, fresh)


def cool_lava(sim: Sim) -> None:
    """One tick of all lava: it sets fire to its neighbours, cools step by step and ends as ash."""
    land = sim.land
    if not land.molten.size or sim.tick % LAVA_EVERY:
        return
    hot = land.molten[sim.chance.hits(1, LAVA_KINDLES_IN, "lava kindles", sim.tick, land.molten)]
    vegetation.ignite(sim, land.neighbours(hot))
    cooler = land.molten[sim.chance.hits(1, LAVA_COOLS_IN, "lava cools", sim.tick, land.molten)]
    cold = land.ground[cooler] == COLDEST_LAVA
    land.ground[cooler] += 1
    land.ground[cooler[cold]] = ASH
    _track_lava(land, cooler[cold])
