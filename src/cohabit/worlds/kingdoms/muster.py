"""The muster: how many of a city's people bear arms."""

import numpy as np
from numpy.typing import NDArray

from cohabit.worlds.kingdoms import life
from cohabit.worlds.kingdoms.creatures import Job
from cohabit.worlds.kingdoms.realms import Kingdom
from cohabit.worlds.kingdoms.sim import Sim

PEACE, WAR, MOST = 10, 25, 60
"""Percent of the people under arms, in peace and in war, and as many as a king may order."""
WATCH = 12
"""The same in war where a player rules who gave no order: the crown keeps watch, no more."""
CALLED = 12
"""One in so many of those who are missing is called up in a day."""


def enlist(sim: Sim) -> None:
    """Once in a day: take workers into arms, or let soldiers go, as far as the muster asks for.

    With the enemy at the gates nobody is called: who falls in a siege is not replaced.
    """
    c = sim.creatures
    wanted, have = _wanted(sim)
    soldiers = c.job == Job.SOLDIER
    grown = np.flatnonzero((c.city > 0) & ((c.job == Job.WORKER) | soldiers))
    grown = grown[life.grown_up(sim, grown)]
    workers, armed = grown[~soldiers[grown]], grown[soldiers[grown]]
    crowd = np.bincount(c.city[workers], minlength=len(wanted))
    call = np.maximum(wanted - have, 0) * 1000 // (CALLED * np.maximum(crowd, 1))
    release = np.maximum(have - wanted, 0) * 1000 // np.maximum(have, 1)
    dice = sim.chance.below(1000, "muster", sim.tick, c.id)
    called = workers[dice[workers] < call[c.city[workers]]]
    c.job[called], c.tx[called] = Job.SOLDIER, -1
    c.job[armed[dice[armed] < release[c.city[armed]]]] = Job.WORKER


def _wanted(sim: Sim) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """By city: how many soldiers there should be, and are."""
    wanted: NDArray[np.int64] = np.zeros(len(sim.city_place), np.int64)
    have: NDArray[np.int64] = np.zeros(len(sim.city_place), np.int64)
    for city in sim.cities.values():
        have[city.id] = city.soldiers
        wanted[city.id] = city.people * percent_of(sim, sim.kingdoms[city.kingdom]) // 100
        if city.besieger:
            wanted[city.id] = min(wanted[city.id], city.soldiers)
    return wanted, have


def percent_of(sim: Sim, kingdom: Kingdom) -> int:
    """Percent of this kingdom's people who are to bear arms."""
    if kingdom.orders.muster:
        return min(MOST, kingdom.orders.muster)
    if not sim.at_war[kingdom.id].any():
        return PEACE
    return WATCH if kingdom.claimed else WAR
