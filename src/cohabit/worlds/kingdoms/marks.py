"""What lies on creatures: burning, plague, frost, madness, blessings and curses.

Marks have no timer. In every thought each of them may end by chance, so nothing has to be remembered.
"""

import numpy as np

from cohabit.worlds.kingdoms import life
from cohabit.worlds.kingdoms.creatures import Mark
from cohabit.worlds.kingdoms.near import Near, Rows
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.species import FIREPROOF, IS_CIVIL
from cohabit.worlds.kingdoms.tiles import IS_WATER, TOP_ROW

ENDS: dict[int, int] = {
    Mark.BURNING: 5,
    Mark.PLAGUE: 25,
    Mark.FROZEN: 12,
    Mark.MAD: 40,
    Mark.BLESSED: 150,
    Mark.CURSED: 150,
    Mark.SHIELDED: 100,
    Mark.INVISIBLE: 100,
}
"""A mark ends with a chance of one in this number in every thought."""
BURNING_HURTS = 4
PLAGUE_HURTS = 3
PLAGUE_CATCHES = 1, 6
"""The chance in a thought that the plague goes over to somebody near."""
PLAGUE_REACH = 2
CURSE_HURTS = 2
BLESSING_HEALS = 2


def step(sim: Sim, rows: Rows, near: Near) -> None:
    """What their marks do to these creatures in a thought."""
    _catch_fire(sim, rows)
    c = sim.creatures
    marked = rows[c.marks[rows] != 0]
    if not len(marked):
        return
    marks = c.marks[marked]
    life.hurt(sim, marked[marks & Mark.BURNING != 0], BURNING_HURTS, "fire")
    life.hurt(sim, marked[marks & Mark.PLAGUE != 0], PLAGUE_HURTS, "plague")
    life.hurt(sim, marked[marks & Mark.CURSED != 0], CURSE_HURTS, "curse")
    life.heal(sim, marked[marks & Mark.BLESSED != 0], BLESSING_HEALS)
    _spread_plague(sim, marked[marks & Mark.PLAGUE != 0], near)
    for mark, one_in in ENDS.items():
        bearers = marked[c.marks[marked] & mark != 0]
        if len(bearers):
            over = sim.chance.hits(1, one_in, f"mark {mark} ends", sim.tick, c.id[bearers])
            c.marks[bearers[over]] &= ~mark
    wet = marked[IS_WATER[sim.land.ground[sim.land.cells(c.x[marked], c.y[marked])]]]
    c.marks[wet] &= ~Mark.BURNING


def _catch_fire(sim: Sim, rows: Rows) -> None:
    if not len(sim.land.burning):
        return
    c = sim.creatures
    on_fire = rows[sim.land.top[sim.land.cells(c.x[rows], c.y[rows])] == TOP_ROW["fire"]]
    c.marks[on_fire[~FIREPROOF[c.species[on_fire]]]] |= Mark.BURNING


def _spread_plague(sim: Sim, sick: Rows, near: Near) -> None:
    """The plague is an illness of people; animals do not catch it."""
    c = sim.creatures
    sick = sick[sim.chance.hits(*PLAGUE_CATCHES, "plague catches", sim.tick, c.id[sick])]
    if not len(sick):
        return
    others, _ = near.look(sick, "who catches it")
    far = np.maximum(abs(c.x[others] - c.x[sick][:, None]), abs(c.y[others] - c.y[sick][:, None]))
    caught = others[(far <= PLAGUE_REACH) & IS_CIVIL[c.species[others]]]
    c.marks[caught] |= Mark.PLAGUE
