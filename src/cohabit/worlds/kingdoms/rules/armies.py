"""Armies: how many people are soldiers, and where the soldiers go. A player's orders come before the crown's plans."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cohabit.worlds.kingdoms.creatures import Job, Rows
from cohabit.worlds.kingdoms.rules import life, walk
from cohabit.worlds.kingdoms.sim import City, Kingdom, Sim
from cohabit.worlds.kingdoms.species import HEALTH

PEACE_MUSTER, WAR_MUSTER = 10, 25
"""Percent of the people under arms in peace and in war."""
WATCH_MUSTER = 12
"""The same in war, if a player rules who gave no order: the crown only keeps watch."""
MAX_MUSTER = 60
"""The most that a king can order."""
ENLISTED = 12
"""One in this many of the missing soldiers is enlisted per day."""
GARRISON = 5
"""One soldier in this many stays at home when the army attacks."""
WOUNDED = 3
"""A soldier with less than one part in this many of its health goes home."""
SPREAD = 4
"""Soldiers stand within this distance of the place they were sent to."""
MARCH_MIN_SOLDIERS = 6
MARCH_STRENGTH = 60
"""A crown attacks with at least this many soldiers, and at least this many percent of the enemy's."""
DEFENDER_TILES = 2
"""A soldier in an enemy city counts as this many tiles of distance when the crown chooses a target."""
CAMP_RADIUS = 10
GATHERED = 60
ARMY_MIN_SOLDIERS = 4
"""The army gathers at the own city nearest to the target. It leaves when at least this many percent of all soldiers,
and this many of them, are fit and within this radius;"""
BEATEN = 35
"""it returns when fewer than this many percent of them are left."""
LEAVING_TICKS = 120
"""How long it takes until everybody has left the camp."""


# -- muster ---------------------------------------------------------------------------------------
def enlist(sim: Sim) -> None:
    """Once a day: make soldiers of workers, or workers of soldiers, as the muster demands.

    In a besieged city nobody is enlisted, so losses are not replaced.
    """
    c = sim.creatures
    wanted, have = _wanted_soldiers(sim)
    soldiers = c.job == Job.SOLDIER
    grown = np.flatnonzero((c.city > 0) & ((c.job == Job.WORKER) | soldiers))
    grown = grown[life.grown_up(sim, grown)]
    workers, armed = grown[~soldiers[grown]], grown[soldiers[grown]]
    crowd = np.bincount(c.city[workers], minlength=len(wanted))
    call = np.maximum(wanted - have, 0) * 1000 // (ENLISTED * np.maximum(crowd, 1))
    release = np.maximum(have - wanted, 0) * 1000 // np.maximum(have, 1)
    dice = sim.chance.below(1000, "muster", sim.tick, c.public)
    called = workers[dice[workers] < call[c.city[workers]]]
    c.job[called], c.tx[called] = Job.SOLDIER, -1
    c.job[armed[dice[armed] < release[c.city[armed]]]] = Job.WORKER


def _wanted_soldiers(sim: Sim) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """By city id: how many soldiers it should have, and how many it has."""
    wanted: NDArray[np.int64] = np.zeros(len(sim.city_place), np.int64)
    have: NDArray[np.int64] = np.zeros(len(sim.city_place), np.int64)
    for city in sim.cities.values():
        have[city.id] = city.soldiers
        wanted[city.id] = city.people * muster_percent(sim, sim.kingdoms[city.kingdom]) // 100
        if city.besieger:
            wanted[city.id] = min(wanted[city.id], city.soldiers)
    return wanted, have


def muster_percent(sim: Sim, kingdom: Kingdom) -> int:
    """Percent of the people of a kingdom that should be under arms."""
    if kingdom.orders.muster:
        return min(MAX_MUSTER, kingdom.orders.muster)
    if not sim.at_war[kingdom.id].any():
        return PEACE_MUSTER
    return WATCH_MUSTER if kingdom.claimed else WAR_MUSTER


# -- plans of the crown ---------------------------------------------------------------------------
def plan(sim: Sim, kingdom: Kingdom) -> None:
    """Set the goal of the crown's army: relieve a besieged city, attack the enemy, or stay at home.

    Where a player rules, the crown only defends.
    """
    own = sim.cities_of(kingdom.id)
    besieged = [city for city in own if city.besieger]
    kingdom.goal, kingdom.goal_is_attack = None, False
    if besieged:
        largest = max(besieged, key=lambda city: (city.people, -city.id))
        kingdom.goal = largest.x, largest.y
    elif not kingdom.claimed and kingdom.soldiers >= MARCH_MIN_SOLDIERS:
        target = _target(sim, kingdom, own)
        if target is not None:
            kingdom.goal, kingdom.goal_is_attack = (target.x, target.y), True


def _target(sim: Sim, kingdom: Kingdom, own: list[City]) -> City | None:
    """The nearest and least defended city of the enemies that the kingdom is strong enough for."""
    enemies = [k for k in sim.alive if sim.at_war[kingdom.id, k.id]]
    enemies = [k for k in enemies if kingdom.soldiers * 100 >= k.soldiers * MARCH_STRENGTH]
    targets = [city for enemy in enemies for city in sim.cities_of(enemy.id)]
    if not targets:
        return None
    starts = [(city.x, city.y) for city in own] or [kingdom.goal or (0, 0)]

    def effort(city: City) -> tuple[int, int]:
        away = min(city.distance(x, y) for x, y in starts)
        return away + DEFENDER_TILES * city.soldiers, city.id

    return min(targets, key=effort)


def goal_of(sim: Sim, kingdom: Kingdom) -> tuple[int, int, bool] | None:
    """The place where its soldiers should be now, and True if that is an attack; None: at home."""
    orders = kingdom.orders
    if orders.fortify:
        return None
    if orders.rally is not None:
        return *orders.rally, False
    raided = sim.cities.get(orders.raid)
    if raided is not None and sim.at_war[kingdom.id, raided.kingdom]:
        return raided.x, raided.y, True
    return None if kingdom.goal is None else (*kingdom.goal, kingdom.goal_is_attack)


def end_raid(sim: Sim, kingdom: Kingdom) -> None:
    """End a raid that has no target any more, and say so."""
    target = sim.cities.get(kingdom.orders.raid)
    if kingdom.orders.raid and (target is None or not sim.at_war[kingdom.id, target.kingdom]):
        text = f"The raid on {kingdom.orders.raid_named} is over: its target is no longer an enemy city."
        sim.tell(text, [kingdom.id])
        kingdom.orders.end_raid()


class AttackingArmy(NamedTuple):
    """An army for an attack: where it gathers, and its fit soldiers without the garrison, there and elsewhere."""

    start: City
    at_camp: int
    elsewhere: int
    needed: int  # how many must be at the camp before the army leaves


def attacking_army(sim: Sim, kingdom: Kingdom) -> AttackingArmy | None:
    """The army that gathers for an attack or is attacking; None: no attack is planned."""
    goal, own = goal_of(sim, kingdom), sim.cities_of(kingdom.id)
    if goal is None or not goal[2] or not own:
        return None
    x, y, _ = goal
    start = min(own, key=lambda city: city.distance(x, y))
    c = sim.creatures
    rows = np.flatnonzero((c.kingdom == kingdom.id) & (c.job == Job.SOLDIER) & (c.hp > 0))
    rows = rows[~_stays_home(sim, rows)]
    distance = np.maximum(abs(c.x[rows] - start.x), abs(c.y[rows] - start.y))
    at_camp = int(np.count_nonzero(distance <= CAMP_RADIUS))
    needed = max(ARMY_MIN_SOLDIERS, -(-max(len(rows), kingdom.soldiers) * GATHERED // 100))  # rounded up
    return AttackingArmy(start, at_camp, len(rows) - at_camp, needed)


def gather(sim: Sim, kingdom: Kingdom) -> None:
    """Let the army leave when it is complete, and return when it is beaten."""
    army = attacking_army(sim, kingdom)
    if army is None:
        kingdom.army_out, kingdom.camp = 0, None
        return
    start, set_out = army.start, kingdom.army_out
    kingdom.camp = start.x, start.y
    if set_out:
        if army.elsewhere * 100 < set_out * BEATEN and not is_leaving(sim, kingdom):
            kingdom.army_out = 0
            if kingdom.claimed:
                left = f"{army.elsewhere} of the {set_out} who set out are still fit and in the field"
                text = f"The army of {kingdom.name} is beaten: {left}. It gathers at {start.name}."
                sim.tell(text, [kingdom.id], "danger")
    elif army.at_camp >= army.needed:
        kingdom.army_out, kingdom.army_left_at = army.at_camp, sim.tick
        if kingdom.claimed:
            sim.tell(f"{army.at_camp} soldiers set out from {start.name} to attack.", [kingdom.id])


def is_leaving(sim: Sim, kingdom: Kingdom) -> bool:
    """True if an army that sets out is still on its way out of the camp."""
    return sim.tick - kingdom.army_left_at <= LEAVING_TICKS


def _stays_home(sim: Sim, rows: Rows) -> NDArray[np.bool_]:
    """The garrison and the wounded stay at home when the army attacks."""
    c = sim.creatures
    unfit: NDArray[np.bool_] = c.hp[rows] * WOUNDED < HEALTH[c.species[rows]]
    unfit |= c.number[rows] % GARRISON == 0
    return unfit


# -- marching -------------------------------------------------------------------------------------
def march(sim: Sim, rows: Rows) -> None:
    """Soldiers who are not fighting go where the army should be."""
    c = sim.creatures
    rows = rows[(c.job[rows] == Job.SOLDIER) & (c.hp[rows] > 0)]
    if not len(rows):
        return
    goals = _goals(sim)[c.kingdom[rows]]
    to_x, to_y, attack = goals[:, 0], goals[:, 1], goals[:, 2] > 0
    stays = ((attack & _stays_home(sim, rows)) | (to_x < 0)) & (c.city[rows] > 0)
    camps = attack & ~stays & ~_past_camp(sim, rows, goals)
    home = sim.city_place[c.city[rows]]
    to_x = np.where(stays, home[:, 0], np.where(camps, goals[:, 3], to_x))
    to_y = np.where(stays, home[:, 1], np.where(camps, goals[:, 4], to_y))
    _go(sim, rows[to_x >= 0], to_x[to_x >= 0], to_y[to_x >= 0])


def _goals(sim: Sim) -> NDArray[np.int64]:
    """By kingdom id: goal x, y, is it an attack, camp x, y, is the army out, is it still leaving."""
    goals: NDArray[np.int64] = np.full((len(sim.at_war), 7), -1, np.int64)
    for kingdom in sim.alive:
        goal = goal_of(sim, kingdom)
        if goal is not None:
            camp = kingdom.camp or goal[:2]
            goals[kingdom.id] = *goal, *camp, kingdom.army_out > 0, is_leaving(sim, kingdom)
    return goals


def _past_camp(sim: Sim, rows: Rows, goals: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Soldiers who leave with the army or are already on the way go on to the enemy; the others wait at the camp."""
    c = sim.creatures
    left = np.maximum(abs(c.x[rows] - goals[:, 0]), abs(c.y[rows] - goals[:, 1]))
    whole = np.maximum(abs(goals[:, 3] - goals[:, 0]), abs(goals[:, 4] - goals[:, 1]))
    onward: NDArray[np.bool_] = (goals[:, 5] > 0) & ((goals[:, 6] > 0) | (left < whole - CAMP_RADIUS))
    return onward


def _go(sim: Sim, rows: Rows, x: NDArray[np.int64], y: NDArray[np.int64]) -> None:
    """Walk to a place, and around it once there."""
    c = sim.creatures
    distance = np.maximum(abs(c.x[rows] - x), abs(c.y[rows] - y))
    moves = (distance > SPREAD) | (c.tx[rows] < 0)
    rows, x, y = rows[moves], x[moves], y[moves]
    dice = sim.chance.below((2 * SPREAD - 1) ** 2, "stand", sim.tick, c.public[rows])
    wide = 2 * SPREAD - 1
    walk.send(sim, rows, x + dice % wide - SPREAD + 1, y + dice // wide - SPREAD + 1)
