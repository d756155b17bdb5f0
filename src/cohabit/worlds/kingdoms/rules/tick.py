"""One tick of the world: the rules in order."""

import numpy as np

from cohabit.worlds.kingdoms.powers import storms
from cohabit.worlds.kingdoms.rules import (
    armies,
    battle,
    cities,
    city_life,
    economy,
    life,
    realms,
    settlers,
    siege,
    vegetation,
    walk,
    wildlife,
)
from cohabit.worlds.kingdoms.rules.neighbours import Neighbours
from cohabit.worlds.kingdoms.sim import Sim

GROUP_TICKS = 4
"""Once in this many ticks a group of creatures has its turn; each creature once in ``life.TURN_TICKS``."""


def step(sim: Sim) -> None:
    """Advance by one tick: creatures, then cities, then kingdoms. The dead are removed at the end."""
    sim.tick += 1
    sim.casts = {}
    sim.refresh()
    walk.step(sim)
    vegetation.burn(sim)
    storms.step(sim)
    vegetation.grow(sim)
    _creatures(sim)
    _cities(sim)
    _kingdoms(sim)
    wildlife.arrive(sim)
    remove_dead(sim)


def _creatures(sim: Sim) -> None:
    """Creatures act in groups by their numbers: many at a time cost little more than a few."""
    turn, between = divmod(sim.tick, GROUP_TICKS)
    if between or not sim.creatures.n:
        return
    neighbours, groups = Neighbours(sim), life.TURN_TICKS // GROUP_TICKS
    rows = np.flatnonzero(sim.creatures.number % groups == turn % groups)
    life.suffer_ground(sim, rows)
    life.age(sim, rows)
    life.hunger(sim, rows)
    life.apply_effects(sim, rows, neighbours)
    calm = battle.step(sim, rows, neighbours)
    wildlife.graze(sim, calm)
    wildlife.stroll(sim, calm)
    wildlife.breed(sim, calm, neighbours)
    economy.work(sim, calm)
    armies.march(sim, calm)


def _cities(sim: Sim) -> None:
    """Once a day all cities are counted and fed and sieges advance; each city also has a tick of its own."""
    if sim.tick % city_life.DAY == 0:
        cities.census(sim)
        city_life.meals(sim)
        city_life.births(sim)
        armies.enlist(sim)
        siege.step(sim)
        settlers.arrive(sim)
        economy.traders_arrive(sim)
    for city in list(sim.cities.values()):
        if (sim.tick + city.number) % city_life.DAY == 0:
            city_life.act(sim, city)
    sim.refresh()


def _kingdoms(sim: Sim) -> None:
    for kingdom in sim.alive:
        if (sim.tick + kingdom.id) % realms.CROWN_EVERY == 0:
            realms.act(sim, kingdom)
    realms.nomads(sim)


def remove_dead(sim: Sim) -> None:
    """Remove the dead, and count them."""
    before = sim.creatures.n
    sim.creatures.remove_dead()
    sim.tally.died += before - sim.creatures.n
