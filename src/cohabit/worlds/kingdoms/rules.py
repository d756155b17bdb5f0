"""One tick of the world, in order."""

import numpy as np

from cohabit.worlds.kingdoms import (
    armies,
    battle,
    civics,
    diplomacy,
    fire,
    growth,
    household,
    life,
    marks,
    muster,
    nomads,
    settlers,
    siege,
    townhall,
    trade,
    walk,
    wild,
    work,
)
from cohabit.worlds.kingdoms.near import Near
from cohabit.worlds.kingdoms.powers import storms
from cohabit.worlds.kingdoms.sim import Sim

SHIFT = 4
"""Every so many ticks some creatures think; each does once in ``life.THINK`` ticks."""


def step(sim: Sim) -> None:
    """Let one tick pass: bodies and beasts, then cities, then crowns; the dead are buried at the end."""
    sim.tick += 1
    sim.refresh()
    walk.step(sim)
    fire.step(sim)
    storms.step(sim)
    growth.step(sim)
    _creatures(sim)
    _cities(sim)
    _crowns(sim)
    wild.come(sim)
    bury(sim)


def _creatures(sim: Sim) -> None:
    """Creatures take turns at thinking, by their ids. Many at a time cost little more than few."""
    turn, between = divmod(sim.tick, SHIFT)
    if between or not sim.creatures.n:
        return
    near, shifts = Near(sim), life.THINK // SHIFT
    rows = np.flatnonzero(sim.creatures.id % shifts == turn % shifts)
    life.suffer_ground(sim, rows)
    life.age(sim, rows)
    life.hunger(sim, rows)
    marks.step(sim, rows, near)
    calm = battle.step(sim, rows, near)
    wild.graze(sim, calm)
    wild.stroll(sim, calm)
    wild.breed(sim, calm, near)
    work.step(sim, calm)
    armies.march(sim, calm)


def _cities(sim: Sim) -> None:
    """Once in a day all cities are counted and fed, and sieges go on; each thinks at an hour of its own."""
    if sim.tick % townhall.DAY == 0:
        civics.census(sim)
        household.meals(sim)
        household.births(sim)
        muster.enlist(sim)
        siege.step(sim)
        settlers.arrive(sim)
        trade.arrive(sim)
    for city in list(sim.cities.values()):
        if (sim.tick + city.id) % townhall.DAY == 0:
            townhall.think(sim, city)
    sim.refresh()


def _crowns(sim: Sim) -> None:
    for kingdom in sim.alive:
        if (sim.tick + kingdom.id) % diplomacy.THINKS == 0:
            diplomacy.think(sim, kingdom)
    nomads.step(sim)


def bury(sim: Sim) -> None:
    """Take out the dead, and count them."""
    before = sim.creatures.n
    sim.creatures.bury()
    sim.tally.died += before - sim.creatures.n
