"""Armies: where soldiers go. As the king ordered, else as the crown thinks fit."""

import numpy as np
from numpy.typing import NDArray

from cohabit.worlds.kingdoms import walk
from cohabit.worlds.kingdoms.creatures import Job
from cohabit.worlds.kingdoms.near import Rows
from cohabit.worlds.kingdoms.realms import City, Kingdom
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.species import HEALTH

GARRISON = 5
"""One soldier in so many stays at home when the army marches."""
WOUNDED = 3
"""Who has less than one part in so many of its health goes home."""
SPREAD = 4
"""Soldiers stand this far around the place they were sent to."""
MARCH_FEWEST = 6
MARCH_STRENGTH = 60
"""A crown marches with so many soldiers at least, and so many percent of the enemy's."""
SOLDIER_TILES = 2
"""An enemy's soldier in a city makes it look so many tiles further away."""
CAMP = 10
GATHERED = 60
HOST_FEWEST = 4
"""An army gathers at its own city that is nearest to the enemy's. It marches when so many percent of all soldiers, and
so many at least, are within this many tiles and fit;"""
BEATEN = 35
"""and it comes back when fewer than so many percent of them are left, to gather again."""
LEAVES = 120
"""How many ticks it takes until all have left the camp."""


def plan(sim: Sim, kingdom: Kingdom) -> None:
    """What the crown wants of its army: relieve a city, march on the enemy, or stay at home.

    Where a player rules, the crown only defends; attacking is up to the player.
    """
    cities = sim.cities_of(kingdom.id)
    besieged = [city for city in cities if city.besieger]
    kingdom.goal, kingdom.marching = None, False
    if besieged:
        worst = max(besieged, key=lambda city: (city.people, -city.id))
        kingdom.goal = worst.x, worst.y
    elif not kingdom.claimed and kingdom.soldiers >= MARCH_FEWEST:
        target = _target(sim, kingdom, cities)
        if target is not None:
            kingdom.goal, kingdom.marching = (target.x, target.y), True


def _target(sim: Sim, kingdom: Kingdom, cities: list[City]) -> City | None:
    """The enemy city that is nearest and least defended, of enemies the kingdom is a match for."""
    enemies = [k for k in sim.alive if sim.at_war[kingdom.id, k.id]]
    enemies = [k for k in enemies if kingdom.soldiers * 100 >= k.soldiers * MARCH_STRENGTH]
    targets = [city for enemy in enemies for city in sim.cities_of(enemy.id)]
    if not targets:
        return None
    starts = [(city.x, city.y) for city in cities] or [kingdom.goal or (0, 0)]

    def effort(city: City) -> tuple[int, int]:
        away = min(max(abs(city.x - x), abs(city.y - y)) for x, y in starts)
        return away + SOLDIER_TILES * city.soldiers, city.id

    return min(targets, key=effort)


def goal_of(sim: Sim, kingdom: Kingdom) -> tuple[int, int, bool] | None:
    """Where its soldiers are to be now, and whether that is a march; None: at home. The player's orders come first."""
    orders = kingdom.orders
    if orders.fortify:
        return None
    if orders.rally is not None:
        return *orders.rally, False
    raided = sim.cities.get(orders.raid)
    if raided is not None and sim.at_war[kingdom.id, raided.kingdom]:
        return raided.x, raided.y, True
    return None if kingdom.goal is None else (*kingdom.goal, kingdom.marching)


def gather(sim: Sim, kingdom: Kingdom) -> None:
    """Let the army march when it is gathered, and come back when it is beaten."""
    goal, cities = goal_of(sim, kingdom), sim.cities_of(kingdom.id)
    if goal is None or not goal[2] or not cities:
        kingdom.host, kingdom.camp = 0, None
        return
    x, y, _ = goal
    start = min(cities, key=lambda city: max(abs(city.x - x), abs(city.y - y)))
    kingdom.camp = start.x, start.y
    c = sim.creatures
    rows = np.flatnonzero((c.kingdom == kingdom.id) & (c.job == Job.SOLDIER) & (c.hp > 0))
    rows = rows[~_unfit(sim, rows)]
    at_camp = int(np.count_nonzero(np.maximum(abs(c.x[rows] - start.x), abs(c.y[rows] - start.y)) <= CAMP))
    if kingdom.host:
        beaten = (len(rows) - at_camp) * 100 < kingdom.host * BEATEN
        kingdom.host = 0 if beaten and sim.tick - kingdom.departed > LEAVES else kingdom.host
    elif at_camp >= HOST_FEWEST and at_camp * 100 >= max(len(rows), kingdom.soldiers) * GATHERED:
        kingdom.host, kingdom.departed = at_camp, sim.tick


def _unfit(sim: Sim, rows: Rows) -> NDArray[np.bool_]:
    """Who stays at home when the army marches: the garrison and the wounded."""
    c = sim.creatures
    unfit: NDArray[np.bool_] = c.hp[rows] * WOUNDED < HEALTH[c.species[rows]]
    unfit |= c.id[rows] % GARRISON == 0
    return unfit


def march(sim: Sim, rows: Rows) -> None:
    """Soldiers with nobody to fight go where they are wanted."""
    c = sim.creatures
    rows = rows[(c.job[rows] == Job.SOLDIER) & (c.hp[rows] > 0)]
    if not len(rows):
        return
    goals = _goals(sim)[c.kingdom[rows]]
    to_x, to_y, marching = goals[:, 0], goals[:, 1], goals[:, 2] > 0
    stays = ((marching & _unfit(sim, rows)) | (to_x < 0)) & (c.city[rows] > 0)
    camps = marching & ~stays & ~_past_camp(sim, rows, goals)
    home = sim.city_place[c.city[rows]]
    to_x = np.where(stays, home[:, 0], np.where(camps, goals[:, 3], to_x))
    to_y = np.where(stays, home[:, 1], np.where(camps, goals[:, 4], to_y))
    _go(sim, rows[to_x >= 0], to_x[to_x >= 0], to_y[to_x >= 0])


def _goals(sim: Sim) -> NDArray[np.int64]:
    """By kingdom: goal x, y, whether it is a march, camp x, y, whether the host is out, whether it is just leaving."""
    goals: NDArray[np.int64] = np.full((len(sim.at_war), 7), -1, np.int64)
    for kingdom in sim.alive:
        goal = goal_of(sim, kingdom)
        if goal is not None:
            camp = kingdom.camp or goal[:2]
            leaving = sim.tick - kingdom.departed <= LEAVES
            goals[kingdom.id] = *goal, *camp, kingdom.host > 0, leaving
    return goals


def _past_camp(sim: Sim, rows: Rows, goals: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Who goes on to the enemy: who leaves with the host, or is well on the way. The others wait at the camp."""
    c = sim.creatures
    left = np.maximum(abs(c.x[rows] - goals[:, 0]), abs(c.y[rows] - goals[:, 1]))
    whole = np.maximum(abs(goals[:, 3] - goals[:, 0]), abs(goals[:, 4] - goals[:, 1]))
    onward: NDArray[np.bool_] = (goals[:, 5] > 0) & ((goals[:, 6] > 0) | (left < whole - CAMP))
    return onward


def _go(sim: Sim, rows: Rows, x: NDArray[np.int64], y: NDArray[np.int64]) -> None:
    """Go to a place, and stroll about once there."""
    c = sim.creatures
    far = np.maximum(abs(c.x[rows] - x), abs(c.y[rows] - y))
    moves = (far > SPREAD) | (c.tx[rows] < 0)
    rows, x, y = rows[moves], x[moves], y[moves]
    dice = sim.chance.below((2 * SPREAD - 1) ** 2, "stand", sim.tick, c.id[rows])
    wide = 2 * SPREAD - 1
    walk.send(sim, rows, x + dice % wide - SPREAD + 1, y + dice // wide - SPREAD + 1)
