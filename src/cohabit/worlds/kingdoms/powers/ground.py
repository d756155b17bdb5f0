"""Changing the land itself, so that whatever stands on it stays true to it.

Whoever paints ground or cover goes through ``reshape``: fires go out where the ground changes, what cannot grow or
stand on the new ground is gone, cities count their buildings, and lava is remembered so that it can cool.
"""

import numpy as np

from cohabit.worlds.kingdoms import civics, fire, life
from cohabit.worlds.kingdoms.land import Cells
from cohabit.worlds.kingdoms.landscape.terrain import LAND, SEA
from cohabit.worlds.kingdoms.powers import lava, reach
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.species import LIVES_IN_WATER
from cohabit.worlds.kingdoms.tiles import (
    BUILDINGS,
    CAN_GROW,
    GROUND,
    GROUND_ROW,
    IS_DEADLY,
    IS_WATER,
    TOP_FOOD,
    TOP_ROW,
    TOPS,
)

LADDER = tuple(GROUND_ROW[band.ground] for band in SEA + LAND)
"""The grounds that heights make, from the deepest to the highest."""
_LIES_ANYWHERE = ("none", "desert", "snow", "road", "fire", "burnt", "wasteland", "wall", "crystal")
_PITS = ("pit_deep_ocean", "pit_close_ocean", "pit_shallow_waters")

HOLDS_BUILDINGS = ~(IS_WATER | IS_DEADLY | np.array([kind.id in _PITS for kind in GROUND]))
FITS = CAN_GROW[:, None] | np.array([kind.id in _LIES_ANYWHERE for kind in TOPS])[None, :]
"""By row of the ground and row of the top: can this lie there?"""
FITS[IS_WATER | IS_DEADLY, 1:] = False
STRANDED = 2000
"""What it does to a fish to lie on dry land. Whoever walks can swim, and lava kills without help."""
_LEVEL = {GROUND_ROW[band.ground]: band.floor + 4 for band in SEA + LAND}


def reshape(sim: Sim, cells: Cells, ground: int | None = None, top: int | None = None) -> int:
    """Give these cells (each once) another ground, another cover, or both; how many of them changed."""
    land = sim.land
    old_ground, old_top = land.ground[cells], land.top[cells]
    if ground is not None:
        _lay(sim, cells[old_ground != ground], ground)
    if top is not None:
        _cover(sim, cells, top)
    return int(np.count_nonzero((land.ground[cells] != old_ground) | (land.top[cells] != old_top)))


def wreck(sim: Sim, cells: Cells) -> int:
    """Whatever is built on these cells falls, and a city that loses all it had is gone; how many fell."""
    land = sim.land
    fallen = cells[land.built[cells] > 0]
    kinds, homes = land.built[fallen].tolist(), land.city[fallen].tolist()
    land.built[fallen] = 0
    for kind, home in zip(kinds, homes, strict=True):
        city, name = sim.cities.get(home), BUILDINGS[kind].id
        if city and city.buildings.get(name):
            city.buildings[name] -= 1
    for home in dict.fromkeys(homes):
        city = sim.cities.get(home)
        if city and not any(city.buildings.values()):
            civics.raze(sim, city)
    return len(fallen)


def _lay(sim: Sim, cells: Cells, ground: int) -> None:
    land = sim.land
    fire.put_out(sim, cells)
    land.ground[cells] = ground
    if ground in _LEVEL:
        land.level[cells] = _LEVEL[ground]
    land.top[cells[~FITS[ground, land.top[cells]]]] = TOP_ROW["none"]
    lava.follow(land, cells)
    if not IS_WATER[ground]:
        swimmers = reach.on(sim, cells)
        life.hurt(sim, swimmers[LIVES_IN_WATER[sim.creatures.species[swimmers]]], STRANDED, "dry land")
    if not HOLDS_BUILDINGS[ground]:
        wreck(sim, cells)


def _cover(sim: Sim, cells: Cells, top: int) -> None:
    land = sim.land
    if top == TOP_ROW["fire"]:
        fire.ignite(sim, cells)
        return
    cells = cells[FITS[land.ground[cells], top]]
    fire.put_out(sim, cells)
    land.top[cells] = top
    land.grazed[cells] = 0 if TOP_FOOD[top] else sim.tick  # what feeds is fresh; what is bare stays so for a while


def regrow(sim: Sim, cells: Cells) -> int:
    """What was grazed on these cells stands again; how many of them had been grazed."""
    land = sim.land
    grazed = cells[(TOP_FOOD[land.top[cells]] > 0) & (land.grazed[cells] > 0)]
    land.grazed[grazed] = 0
    return len(grazed)


def strip(sim: Sim, cells: Cells) -> int:
    """What can be grazed on these cells is eaten; how many of them it was."""
    land = sim.land
    eaten = cells[(TOP_FOOD[land.top[cells]] > 0) & (land.grazed[cells] < sim.tick)]
    land.grazed[eaten] = sim.tick
    return len(eaten)
