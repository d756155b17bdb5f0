"""Looking around: who is an enemy, who is prey, who is to be feared; and striking whoever is in reach."""

import numpy as np
from numpy.typing import NDArray

from cohabit.worlds.kingdoms import fire, life, walk
from cohabit.worlds.kingdoms.creatures import Job, Mark
from cohabit.worlds.kingdoms.near import LOOKS, Near, Rows
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.species import (
    DAMAGE,
    EATS,
    FEARS,
    FIERY,
    FIGHTS,
    IS_CIVIL,
    IS_HUNTER,
    IS_SHY,
    IS_WILD_EVIL,
    SIGHT,
)

REACH = 2
"""Who is this near can be struck; one blow in a thought."""
HUNGRY = 55
"""Below this much food a beast of prey hunts."""
MEAL = 60
"""The food in a kill, for who eats meat."""
SOLDIER_BLOW = 150
WORKER_BLOW = 25
CHILD_BLOW = 15
BLESSED_BLOW = 150
CURSED_BLOW = 60
"""Percent of a kind's damage that a blow of such a one does."""
VETERAN_BLOW, VETERAN_KILLS = 15, 6
"""What every kill adds to that, up to so many."""
LUCK = 50
"""A blow does from 100 - LUCK to 100 + LUCK percent."""
FLEES = 2
"""Who flees runs so many times the distance to what it fears."""
SETS_ALIGHT = 1, 4
"""The chance that a blow of something fiery sets the ground alight."""
_NOBODY = 1000


def step(sim: Sim, rows: Rows, near: Near) -> Rows:
    """These creatures look around, strike, give chase or flee; those that had no reason to are returned."""
    c = sim.creatures
    rows = rows[c.hp[rows] > 0]
    if not len(rows):
        return rows
    seen = _seen(sim, rows, near)
    far = np.maximum(abs(c.x[seen] - c.x[rows][:, None]), abs(c.y[seen] - c.y[rows][:, None])).astype(np.int64)
    kind, kinds = c.species[rows], c.species[seen]
    far[(seen == rows[:, None]) | (far > SIGHT[kind][:, None]) | (c.marks[seen] & Mark.INVISIBLE != 0)] = _NOBODY
    nearest, distance = _nearest(far, _foes(sim, rows, seen, kind, kinds))
    target = seen[np.arange(len(rows)), nearest]
    strikes = distance <= REACH
    _strike(sim, rows[strikes], target[strikes])
    chases = (~strikes | IS_HUNTER[kind]) & (distance < _NOBODY) & _bold(sim, rows, kind)
    chases &= ~(IS_CIVIL[kind] & IS_HUNTER[c.species[target]])  # beasts are warded off, not hunted down
    _chase(sim, rows[chases], target[chases])
    timid = np.flatnonzero(IS_SHY[kind])
    _flee(sim, rows[timid], seen[timid], far[timid], FEARS[kind[timid][:, None], kinds[timid]])
    calm: Rows = rows[~(strikes | chases)]
    return calm


def _seen(sim: Sim, rows: Rows, near: Near) -> Rows:
    """Whom each of them notices. Beasts of prey, monsters and the mad look at everybody; the others watch out for
    such, and for soldiers: a sentry does not lose the enemy in a crowd of farmers."""
    c = sim.creatures
    fierce = IS_HUNTER[c.species] | IS_WILD_EVIL[c.species] | (c.marks & Mark.MAD != 0)
    armed = Near(sim, np.flatnonzero(fierce | (c.job >= Job.SOLDIER)))
    hunts = fierce[rows]
    seen = np.empty((len(rows), len(LOOKS)), np.int64)
    seen[hunts] = near.look(rows[hunts], "look")[0]
    seen[~hunts] = armed.look(rows[~hunts], "look")[0]
    return seen


def _nearest(far: NDArray[np.int64], which: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    far = np.where(which, far, _NOBODY)
    nearest = far.argmin(axis=1)
    return nearest, far[np.arange(len(far)), nearest]


def _foes(sim: Sim, rows: Rows, seen: Rows, kind: NDArray[np.int16], kinds: NDArray[np.int16]) -> NDArray[np.bool_]:
    """Whom each would strike: what its kind fights, prey when hungry, and a mad one anybody.

    In war soldiers fight soldiers, and stop settlers and traders; whoever works is spared: the land is worth nothing
    without its people.
    """
    c = sim.creatures
    mine, theirs = c.kingdom[rows][:, None], c.kingdom[seen]
    foes = FIGHTS[kind[:, None], kinds]
    foes |= EATS[kind[:, None], kinds] & (c.food[rows] < HUNGRY)[:, None]
    foes &= (mine == 0) | (mine != theirs)
    foes |= sim.at_war[mine, theirs] & (c.job[seen] >= Job.SOLDIER) & (c.job[rows] == Job.SOLDIER)[:, None]
    foes |= (c.marks[rows] & Mark.MAD != 0)[:, None]
    return foes


def _bold(sim: Sim, rows: Rows, kind: NDArray[np.int16]) -> NDArray[np.bool_]:
    """Who runs after a foe: soldiers, beasts of prey, monsters, the mad."""
    c = sim.creatures
    bold: NDArray[np.bool_] = (c.job[rows] == Job.SOLDIER) | IS_HUNTER[kind] | IS_WILD_EVIL[kind]
    bold |= c.marks[rows] & Mark.MAD != 0
    return bold


def _chase(sim: Sim, rows: Rows, targets: Rows) -> None:
    """Run to where the target is; a beast of prey runs on in that direction, for its prey does not wait."""
    c = sim.creatures
    x, y = c.x[targets].astype(np.int64), c.y[targets].astype(np.int64)
    ahead = IS_HUNTER[c.species[rows]]
    walk.send(sim, rows, x + ahead * (x - c.x[rows]), y + ahead * (y - c.y[rows]))


def _flee(sim: Sim, rows: Rows, seen: Rows, far: NDArray[np.int64], feared: NDArray[np.bool_]) -> None:
    nearest, distance = _nearest(far, feared)
    scared = np.flatnonzero(distance < _NOBODY)
    if not len(scared):
        return
    c = sim.creatures
    who, what = rows[scared], seen[scared, nearest[scared]]
    x, y = c.x[who].astype(np.int64), c.y[who].astype(np.int64)
    walk.send(sim, who, x + (x - c.x[what]) * FLEES, y + (y - c.y[what]) * FLEES)


def _strike(sim: Sim, rows: Rows, targets: Rows) -> None:
    if not len(rows):
        return
    c = sim.creatures
    standing = c.hp[targets] > 0
    rows, targets = rows[standing], targets[standing]
    life.hurt(sim, targets, blows(sim, rows), "battle")
    c.tx[rows] = -1
    killed = np.flatnonzero(c.hp[targets] <= 0)
    _, first = np.unique(targets[killed], return_index=True)
    killers = rows[killed[first]]
    np.add.at(c.kills, killers, np.int16(1))
    eaters = killers[IS_HUNTER[c.species[killers]]]
    c.food[eaters] = np.minimum(c.food[eaters] + MEAL, life.FULL)
    fiery = targets[FIERY[c.species[rows]]]
    if len(fiery):
        alight = fiery[sim.chance.hits(*SETS_ALIGHT, "alight", sim.tick, c.id[fiery])]
        fire.ignite(sim, sim.land.cells(c.x[alight], c.y[alight]))


def blows(sim: Sim, rows: Rows) -> NDArray[np.int64]:
    """How hard each of them strikes now."""
    c = sim.creatures
    percent = np.full(len(rows), 100, np.int64)
    civil = IS_CIVIL[c.species[rows]]
    percent[civil] = WORKER_BLOW
    percent[c.job[rows] == Job.SOLDIER] = SOLDIER_BLOW
    percent[~life.grown_up(sim, rows)] = CHILD_BLOW
    percent += VETERAN_BLOW * np.minimum(c.kills[rows], VETERAN_KILLS)
    marks = c.marks[rows]
    percent = np.where(marks & Mark.BLESSED, percent * BLESSED_BLOW // 100, percent)
    percent = np.where(marks & Mark.CURSED, percent * CURSED_BLOW // 100, percent)
    luck = 100 - LUCK + sim.chance.below(2 * LUCK + 1, "blow", sim.tick, c.id[rows])
    return (DAMAGE[c.species[rows]].astype(np.int64) * percent * luck + 5000) // 10000
