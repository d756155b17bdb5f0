"""Sieges: enemy soldiers on the land of a city press it until it falls. Once a day, for all cities at once."""

import numpy as np
from numpy.typing import NDArray

from cohabit.worlds.kingdoms.creatures import Job, Rows
from cohabit.worlds.kingdoms.rules import cities, life
from cohabit.worlds.kingdoms.sim import City, Sim

MILITIA = 16
"""This many people without arms count as one defender."""
PRESSURE = 5
PRESSURE_PER_RATIO = 12
MAX_PRESSURE = 25
"""A siege grows per day by PRESSURE, and by PRESSURE_PER_RATIO for each time that the besiegers outnumber the
defenders, up to MAX_PRESSURE; half as fast against a fortified kingdom."""
RELIEF = 8
"""It shrinks by this much if the besiegers are not more than the defenders, or are gone."""
FALLS = 100
"""A city falls when its siege has reached this."""
TOWER_DAMAGE = 14
"""The damage of a tower's shot, one per day."""
NEWS_EVERY = 600
"""The siege of a city makes news once in this many ticks."""
TAKEN_LOYALTY = 35
"""The loyalty of a city that has just been taken."""
CITY_LOSS_WEARINESS = 15
CITY_WIN_RELIEF = 10
"""Weariness that losing a city adds, and that winning one takes away."""


def step(sim: Sim) -> None:
    """Advance or relieve the siege of every city."""
    c = sim.creatures
    soldiers = np.flatnonzero((c.job == Job.SOLDIER) & (c.hp > 0))
    ground = sim.land.city[sim.land.cells(c.x[soldiers], c.y[soldiers])]
    soldiers, ground = soldiers[ground > 0], ground[ground > 0]
    presence = _presence(ground, c.kingdom[soldiers])
    for city in list(sim.cities.values()):
        present = presence.get(city.id, {})
        enemies = [(count, -kingdom) for kingdom, count in present.items() if sim.at_war[kingdom, city.kingdom]]
        if not enemies:
            city.siege = max(0, city.siege - RELIEF)
            city.besieger = city.besieger if city.siege else 0
            continue
        count, negative_id = max(enemies)  # of equal armies the one with the lower id
        besieger = -negative_id
        defenders = present.get(city.kingdom, 0) + max(0, city.people - city.soldiers) // MILITIA
        _press(sim, city, besieger, count, defenders)
        _shoot(sim, city, soldiers[(ground == city.id) & (c.kingdom[soldiers] == besieger)])
        if city.siege >= FALLS:
            take(sim, city, besieger)


def _presence(of: NDArray[np.int32], kingdoms: NDArray[np.int32]) -> dict[int, dict[int, int]]:
    """By city id, how many soldiers of which kingdoms stand on its land."""
    presence: dict[int, dict[int, int]] = {}
    pairs, counts = np.unique(of.astype(np.int64) << 32 | kingdoms, return_counts=True)
    for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True):
        presence.setdefault(pair >> 32, {})[pair & 0xFFFFFFFF] = count
    return presence


def _press(sim: Sim, city: City, by: int, count: int, defenders: int) -> None:
    if city.besieger != by:
        city.besieger, city.siege = by, 0
    if count <= defenders:
        city.siege = max(0, city.siege - RELIEF)
        return
    _report(sim, city, by)
    grows = min(MAX_PRESSURE, PRESSURE + PRESSURE_PER_RATIO * (count - defenders) // max(1, defenders))
    fortified = sim.kingdoms[city.kingdom].orders.fortify
    city.siege = min(FALLS, city.siege + (grows // 2 if fortified else grows))


def _report(sim: Sim, city: City, by: int) -> None:
    if sim.tick - city.siege_reported > NEWS_EVERY:
        city.siege_reported = sim.tick
        sim.tell(f"{sim.kingdoms[by].name} lays siege to {city.name}.", [by, city.kingdom], "danger")


def _shoot(sim: Sim, city: City, besiegers: Rows) -> None:
    towers = city.buildings.get("tower", 0)
    if towers and len(besiegers):
        aim = sim.chance.below(len(besiegers), "tower", sim.tick, np.arange(towers) + city.number * 64)
        life.hurt(sim, besiegers[aim], TOWER_DAMAGE, "battle")


def take(sim: Sim, city: City, by: int) -> None:
    """The city falls. Its people change hands; its surviving soldiers go to their old capital, or become homeless."""
    c, old, new = sim.creatures, sim.kingdoms[city.kingdom], sim.kingdoms[by]
    soldiers = np.flatnonzero((c.city == city.id) & (c.job == Job.SOLDIER))
    c.city[soldiers] = 0
    cities.hand_over(sim, city, new, TAKEN_LOYALTY)
    c.city[soldiers] = old.capital
    city.times_taken += 1
    city.leader = 0
    old.weariness = min(100, old.weariness + CITY_LOSS_WEARINESS)
    new.weariness = max(0, new.weariness - CITY_WIN_RELIEF)
    sim.tally.cities_taken += 1
    sim.tell(f"{new.name} takes {city.name} at {city.x},{city.y} from {old.name}.", [new.id, old.id], "danger")
    if new.orders.raid == city.id:
        new.orders.end_raid()
        sim.tell(f"The raid is over: {city.name} is yours. The army comes home until you order another.", [new.id])
