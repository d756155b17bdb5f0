"""Settlers: a crowded city sends some of its people to found another."""

import numpy as np

from cohabit.worlds.kingdoms import civics, life, walk
from cohabit.worlds.kingdoms.creatures import Job
from cohabit.worlds.kingdoms.near import Rows
from cohabit.worlds.kingdoms.realms import City, Kingdom
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.tiles import CAN_GROW

CROWDED = 28
"""From so many people on a city may send settlers,"""
SENDS = 1, 30
"""with this chance in a day; at once where the king ordered it."""
BAND = 8
"""How many go."""
NEAREST, FURTHEST = 15, 44
"""How far from home the new place is,"""
APART = 15
"""and how far from every other city at least."""
PLACES = 24
"""How many places are looked at."""
SOIL_RADIUS = 5
SOIL_FEWEST = 30
"""A place needs so many cells of free soil within that radius."""
GATHER = 6
"""Settlers this near to the first who arrives found the city with him."""


def send(sim: Sim, city: City, rows: Rows) -> None:
    """Send a band of settlers, if the city is crowded and there is a place to go to."""
    orders = sim.kingdoms[city.kingdom].orders
    if city.people < CROWDED or city.besieger or (orders.settle is not None and not _ordered_here(sim, city)):
        return
    if orders.settle is None and sim.chance.one(SENDS[1], "settlers", sim.tick, city.id) >= SENDS[0]:
        return
    place = orders.settle or find_place(sim, city.x, city.y)
    c = sim.creatures
    able = rows[(c.job[rows] == Job.WORKER) & life.grown_up(sim, rows)]
    if place is None or len(able) < 2 * BAND:
        return
    orders.settle = None
    band = able[np.argsort(sim.chance.bits("band", sim.tick, c.id[able]), kind="stable")[:BAND]]
    c.job[band] = Job.SETTLER
    walk.send(sim, band, np.full(BAND, place[0]), np.full(BAND, place[1]))


def _ordered_here(sim: Sim, city: City) -> bool:
    """Is this the city that the order to settle falls to: the nearest one that is crowded?"""
    place = sim.kingdoms[city.kingdom].orders.settle
    if place is None:
        return False
    able = [c for c in sim.cities_of(city.kingdom) if c.people >= CROWDED and not c.besieger]
    return city.id == min(able, key=lambda c: max(abs(c.x - place[0]), abs(c.y - place[1]))).id


def is_free(sim: Sim, x: int, y: int) -> bool:
    """Could a city be founded here?"""
    cell = sim.land.cell(x, y)
    if sim.land.city[cell] or not CAN_GROW[sim.land.ground[cell]]:
        return False
    return all(max(abs(c.x - x), abs(c.y - y)) >= APART for c in sim.cities.values())


def soil(sim: Sim, x: int, y: int) -> int:
    """How many free cells around a place could become fields."""
    around = sim.land.disc(x, y, SOIL_RADIUS)
    return int(np.count_nonzero(CAN_GROW[sim.land.ground[around]] & (sim.land.city[around] == 0)))


def find_place(sim: Sim, x: int, y: int) -> tuple[int, int] | None:
    """The best of some places around, or None where there is no free one."""
    wide = 2 * FURTHEST + 1
    dice = sim.chance.below(wide * wide, "place", sim.tick, np.arange(PLACES) + PLACES * sim.land.cell(x, y))
    best, found = SOIL_FEWEST - 1, None
    for roll in dice.tolist():
        at = x + roll % wide - FURTHEST, y + roll // wide - FURTHEST
        if sim.land.holds(*at) and max(abs(at[0] - x), abs(at[1] - y)) >= NEAREST and is_free(sim, *at):
            worth = soil(sim, *at)
            if worth > best:
                best, found = worth, at
    return found


def resettle(sim: Sim, kingdom: Kingdom) -> None:
    """The working people of a kingdom that has lost all its cities look for a place for a new one."""
    c = sim.creatures
    homeless = np.flatnonzero((c.kingdom == kingdom.id) & (c.job == Job.WORKER))
    if not kingdom.cities and len(homeless) >= BAND:
        c.job[homeless] = Job.SETTLER


def arrive(sim: Sim) -> None:
    """Settlers who are there found a city; where somebody was faster, they join the nearest city of their kingdom."""
    c = sim.creatures
    there = np.flatnonzero((c.job == Job.SETTLER) & (c.tx < 0))
    for row in there.tolist():
        if c.job[row] != Job.SETTLER or not c.kingdom[row]:
            continue  # he has settled with an earlier one of these
        x, y, kingdom = int(c.x[row]), int(c.y[row]), int(c.kingdom[row])
        band = np.flatnonzero((c.job == Job.SETTLER) & (c.kingdom == kingdom))
        band = band[(abs(c.x[band] - x) <= GATHER) & (abs(c.y[band] - y) <= GATHER)]
        if is_free(sim, x, y):
            civics.found_city(sim, kingdom, x, y, band)
            continue
        cities = sim.cities_of(kingdom)
        if cities:
            civics.move_in(sim, min(cities, key=lambda o: max(abs(o.x - x), abs(o.y - y))), band)
