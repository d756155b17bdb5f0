"""Fighting and fleeing: creatures look around, attack enemies and prey, and run from what they fear."""

import numpy as np
from numpy.typing import NDArray

from cohabit.worlds.kingdoms import species
from cohabit.worlds.kingdoms.creatures import Effect, Job, Rows
from cohabit.worlds.kingdoms.rules import life, vegetation, walk
from cohabit.worlds.kingdoms.rules.neighbours import SAMPLED_BLOCKS, Neighbours
from cohabit.worlds.kingdoms.sim import Sim

REACH = 2
"""The distance within which a creature can strike, once per turn."""
HUNTS_BELOW = 55
"""A beast of prey hunts when it has less food than this."""
PREY_FOOD = 60
"""Food from a kill, for beasts of prey."""
SOLDIER_BLOW = 150
WORKER_BLOW = 25
CHILD_BLOW = 15
BLESSED_BLOW = 150
CURSED_BLOW = 60
"""The strength of a blow in percent of the damage of the species."""
VETERAN_BLOW, VETERAN_KILLS = 15, 6
"""Percent added for every kill, and the largest number of kills that counts."""
LUCK = 50
"""A blow varies by this many percent up and down."""
FLEE_FACTOR = 2
"""A creature flees by this many times its distance to what it fears."""
IGNITE_CHANCE = 1, 4
"""The chance that the blow of a fiery creature sets the ground on fire."""
_NOBODY = 1000


def step(sim: Sim, rows: Rows, neighbours: Neighbours) -> Rows:
    """These creatures look around, strike, chase or flee. Returns those that did not strike or chase."""
    c = sim.creatures
    rows = rows[c.hp[rows] > 0]
    if not len(rows):
        return rows
    seen = _seen(sim, rows, neighbours)
    distances = np.maximum(abs(c.x[seen] - c.x[rows][:, None]), abs(c.y[seen] - c.y[rows][:, None])).astype(np.int64)
    kind, kinds = c.species[rows], c.species[seen]
    unseen = (
        (seen == rows[:, None]) | (distances > species.SIGHT[kind][:, None]) | (c.effects[seen] & Effect.INVISIBLE != 0)
    )
    distances[unseen] = _NOBODY
    nearest, distance = _nearest(distances, _foes(sim, rows, seen, kind, kinds))
    target = seen[np.arange(len(rows)), nearest]
    strikes = distance <= REACH
    _strike(sim, rows[strikes], target[strikes])
    chases = (~strikes | species.IS_HUNTER[kind]) & (distance < _NOBODY) & _chasers(sim, rows, kind)
    chases &= ~(
        species.IS_CIVIL[kind] & species.IS_HUNTER[c.species[target]]
    )  # people repel beasts of prey, they do not chase them
    _chase(sim, rows[chases], target[chases])
    timid = np.flatnonzero(species.IS_SHY[kind])
    _flee(sim, rows[timid], seen[timid], distances[timid], species.FEARS[kind[timid][:, None], kinds[timid]])
    calm: Rows = rows[~(strikes | chases)]
    return calm


def _seen(sim: Sim, rows: Rows, neighbours: Neighbours) -> Rows:
    """The creatures that each of these notices.

    Beasts of prey, monsters and mad creatures notice everybody. All others notice only those and soldiers, so that a
    sentry does not miss the enemy in a crowd of farmers.
    """
    c = sim.creatures
    fierce = species.IS_HUNTER[c.species] | species.IS_MONSTER[c.species] | (c.effects & Effect.MAD != 0)
    dangerous = Neighbours(sim, np.flatnonzero(fierce | (c.job >= Job.SOLDIER)))
    hunts = fierce[rows]
    seen = np.empty((len(rows), len(SAMPLED_BLOCKS)), np.int64)
    seen[hunts] = neighbours.sample(rows[hunts], "look")[0]
    seen[~hunts] = dangerous.sample(rows[~hunts], "look")[0]
    return seen


def _nearest(distances: NDArray[np.int64], which: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    distances = np.where(which, distances, _NOBODY)
    nearest = distances.argmin(axis=1)
    return nearest, distances[np.arange(len(distances)), nearest]


def _foes(sim: Sim, rows: Rows, seen: Rows, kind: NDArray[np.int16], kinds: NDArray[np.int16]) -> NDArray[np.bool_]:
    """The creatures that each of these attacks: its natural enemies, prey when hungry, and anybody when mad.

    In a war soldiers fight soldiers and stop settlers and traders. Workers are spared: land is worth nothing without
    its people.
    """
    c = sim.creatures
    mine, theirs = c.kingdom[rows][:, None], c.kingdom[seen]
    foes = species.FIGHTS[kind[:, None], kinds]
    foes |= species.EATS[kind[:, None], kinds] & (c.food[rows] < HUNTS_BELOW)[:, None]
    foes &= (mine == 0) | (mine != theirs)
    foes |= sim.at_war[mine, theirs] & (c.job[seen] >= Job.SOLDIER) & (c.job[rows] == Job.SOLDIER)[:, None]
    foes |= (c.effects[rows] & Effect.MAD != 0)[:, None]
    return foes


def _chasers(sim: Sim, rows: Rows, kind: NDArray[np.int16]) -> NDArray[np.bool_]:
    """Soldiers, beasts of prey, monsters and mad creatures run after their enemies."""
    c = sim.creatures
    chasers: NDArray[np.bool_] = (c.job[rows] == Job.SOLDIER) | species.IS_HUNTER[kind] | species.IS_MONSTER[kind]
    chasers |= c.effects[rows] & Effect.MAD != 0
    return chasers


def _chase(sim: Sim, rows: Rows, targets: Rows) -> None:
    """Run to the target. A beast of prey aims beyond it, because its prey keeps running."""
    c = sim.creatures
    x, y = c.x[targets].astype(np.int64), c.y[targets].astype(np.int64)
    beyond = species.IS_HUNTER[c.species[rows]]
    walk.send(sim, rows, x + beyond * (x - c.x[rows]), y + beyond * (y - c.y[rows]))


def _flee(sim: Sim, rows: Rows, seen: Rows, distances: NDArray[np.int64], feared: NDArray[np.bool_]) -> None:
    nearest, distance = _nearest(distances, feared)
    scared = np.flatnonzero(distance < _NOBODY)
    if not len(scared):
        return
    c = sim.creatures
    who, what = rows[scared], seen[scared, nearest[scared]]
    x, y = c.x[who].astype(np.int64), c.y[who].astype(np.int64)
    walk.send(sim, who, x + (x - c.x[what]) * FLEE_FACTOR, y + (y - c.y[what]) * FLEE_FACTOR)


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
    eaters = killers[species.IS_HUNTER[c.species[killers]]]
    c.food[eaters] = np.minimum(c.food[eaters] + PREY_FOOD, life.FULL)
    fiery = targets[species.FIERY[c.species[rows]]]
    if len(fiery):
        alight = fiery[sim.chance.hits(*IGNITE_CHANCE, "alight", sim.tick, c.public[fiery])]
        vegetation.ignite(sim, sim.land.cells(c.x[alight], c.y[alight]))


def blows(sim: Sim, rows: Rows) -> NDArray[np.int64]:
    """The damage of one blow of each of these creatures."""
    c = sim.creatures
    percent = np.full(len(rows), 100, np.int64)
    civil = species.IS_CIVIL[c.species[rows]]
    percent[civil] = WORKER_BLOW
    percent[c.job[rows] == Job.SOLDIER] = SOLDIER_BLOW
    percent[~life.grown_up(sim, rows)] = CHILD_BLOW
    percent += VETERAN_BLOW * np.minimum(c.kills[rows], VETERAN_KILLS)
    effects = c.effects[rows]
    percent = np.where(effects & Effect.BLESSED, percent * BLESSED_BLOW // 100, percent)
    percent = np.where(effects & Effect.CURSED, percent * CURSED_BLOW // 100, percent)
    luck = 100 - LUCK + sim.chance.below(2 * LUCK + 1, "blow", sim.tick, c.public[rows])
    return (species.DAMAGE[c.species[rows]].astype(np.int64) * percent * luck + 5000) // 10000
