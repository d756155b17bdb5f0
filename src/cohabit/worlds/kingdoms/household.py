"""At home: meals from the city's store, and children where there is room. Once in a day, for all cities together."""

import numpy as np
from numpy.typing import NDArray

from cohabit.worlds.kingdoms import building, life
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.species import IS_CIVIL

EATS_BELOW = 50
"""Who has less food than this wants a meal,"""
MEAL = 50
"""which gives so much."""
STORE = 300
"""Meals that a city can store; what is more goes bad."""
CHILD = 1, 24
"""The chance in a day that a fed, grown woman has a child, while her city has room."""
CHILD_MEALS = 3
"""A city has children while it stores more than one meal for so many people."""


def meals(sim: Sim) -> None:
    """The hungry eat from the store of their city; where it does not last, chance says who goes without."""
    c = sim.creatures
    hungry = np.flatnonzero((c.food < EATS_BELOW) & (c.city > 0))
    wanted = np.bincount(c.city[hungry], minlength=len(sim.city_place))
    store: NDArray[np.int64] = np.zeros(len(wanted), np.int64)
    for city in sim.cities.values():
        store[city.id] = city.food
    share = np.minimum(store, wanted) * 1000 // np.maximum(wanted, 1)
    eats = hungry[sim.chance.below(1000, "meal", sim.tick, c.id[hungry]) < share[c.city[hungry]]]
    c.food[eats] = np.minimum(c.food[eats] + MEAL, life.FULL)
    eaten = np.bincount(c.city[eats], minlength=len(wanted))
    for city in sim.cities.values():
        city.food = min(STORE, max(0, city.food - int(eaten[city.id])))
        city.hungry = int(wanted[city.id] - eaten[city.id])


def births(sim: Sim) -> None:
    """Children come where there is food and room."""
    c = sim.creatures
    women = np.flatnonzero(IS_CIVIL[c.species] & (c.city > 0) & (c.sex == 0) & (c.food >= life.FED))
    women = women[sim.chance.hits(*CHILD, "child", sim.tick, c.id[women])]
    women = women[life.grown_up(sim, women)]
    room: NDArray[np.int64] = np.zeros(len(sim.city_place), np.int64)
    for city in sim.cities.values():
        if city.food * CHILD_MEALS > city.people:
            room[city.id] = building.room(city) - city.people
    women = women[room[c.city[women]] > 0]
    for row in women.tolist():  # a handful: at most one woman in CHILD[1]
        home, species = int(c.city[row]), int(c.species[row])
        cell = sim.land.cells(c.x[row : row + 1], c.y[row : row + 1])
        life.bear(sim, species, cell, int(c.kingdom[row]), home, grown=False)
