"""Sieges: enemy soldiers on a city's land, and how it falls. Once in a day, for all cities together."""

import numpy as np
from numpy.typing import NDArray

from cohabit.worlds.kingdoms import crowns, life
from cohabit.worlds.kingdoms.creatures import Job
from cohabit.worlds.kingdoms.near import Rows
from cohabit.worlds.kingdoms.realms import City
from cohabit.worlds.kingdoms.sim import Sim

MILITIA = 16
"""So many people who bear no arms count as one defender."""
PRESS = 5
PRESS_MORE = 12
PRESS_MOST = 25
"""A siege grows by PRESS in a day, and by PRESS_MORE for each time the besiegers outnumber the defenders; no faster
than this."""
RELIEF = 8
"""It shrinks by this much when the defenders are as many, or nobody is at the gates."""
FALLS = 100
TOWER_SHOT = 14
"""What a tower's shot does, one a day."""
TOLD = 600
"""Sieges of one city are told of once in so many ticks."""
TAKEN_LOYALTY = 35
"""How a city feels about whoever took it."""
LOSS_WEARIES = 15
WIN_CHEERS = 10
"""What a lost city adds to a kingdom's weariness, and a won one takes away."""


def step(sim: Sim) -> None:
    """Press every siege on, or let it fail."""
    c = sim.creatures
    soldiers = np.flatnonzero((c.job == Job.SOLDIER) & (c.hp > 0))
    ground = sim.land.city[sim.land.cells(c.x[soldiers], c.y[soldiers])]
    soldiers, ground = soldiers[ground > 0], ground[ground > 0]
    here = _presence(ground, c.kingdom[soldiers])
    for city in list(sim.cities.values()):
        present = here.get(city.id, {})
        enemies = [(count, -who) for who, count in present.items() if sim.at_war[who, city.kingdom]]
        if not enemies:
            city.siege = max(0, city.siege - RELIEF)
            city.besieger = city.besieger if city.siege else 0
            continue
        count, who = max(enemies)
        defenders = present.get(city.kingdom, 0) + max(0, city.people - city.soldiers) // MILITIA
        _press(sim, city, -who, count, defenders)
        _shoot(sim, city, soldiers[(ground == city.id) & (c.kingdom[soldiers] == -who)])
        if city.siege >= FALLS:
            take(sim, city, -who)


def _presence(cities: NDArray[np.int32], kingdoms: NDArray[np.int32]) -> dict[int, dict[int, int]]:
    """By city, how many soldiers of which kingdoms stand on its land."""
    here: dict[int, dict[int, int]] = {}
    pairs, counts = np.unique(cities.astype(np.int64) << 32 | kingdoms, return_counts=True)
    for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True):
        here.setdefault(pair >> 32, {})[pair & 0xFFFFFFFF] = count
    return here


def _press(sim: Sim, city: City, by: int, count: int, defenders: int) -> None:
    if city.besieger != by:
        city.besieger, city.siege = by, 0
    if count <= defenders:
        city.siege = max(0, city.siege - RELIEF)
        return
    _tell(sim, city, by)
    grows = min(PRESS_MOST, PRESS + PRESS_MORE * (count - defenders) // max(1, defenders))
    fortified = sim.kingdoms[city.kingdom].orders.fortify
    city.siege = min(FALLS, city.siege + (grows // 2 if fortified else grows))


def _tell(sim: Sim, city: City, by: int) -> None:
    if sim.tick - city.alarm > TOLD:
        city.alarm = sim.tick
        sim.tell(f"{sim.kingdoms[by].name} lays siege to {city.name}.", [by, city.kingdom], "danger")


def _shoot(sim: Sim, city: City, besiegers: Rows) -> None:
    towers = city.buildings.get("tower", 0)
    if towers and len(besiegers):
        aim = sim.chance.below(len(besiegers), "tower", sim.tick, np.arange(towers) + city.id * 64)
        life.hurt(sim, besiegers[aim], TOWER_SHOT, "battle")


def take(sim: Sim, city: City, by: int) -> None:
    """The city falls. Its people serve another crown now; soldiers who are left go home to another city, or nowhere."""
    c, old, new = sim.creatures, sim.kingdoms[city.kingdom], sim.kingdoms[by]
    soldiers = np.flatnonzero((c.city == city.id) & (c.job == Job.SOLDIER))
    c.city[soldiers] = 0
    crowns.hand_over(sim, city, new, TAKEN_LOYALTY)
    c.city[soldiers] = old.capital
    city.taken += 1
    city.leader = 0
    if new.orders.raid == city.id:
        new.orders.raid = 0
    old.weariness = min(100, old.weariness + LOSS_WEARIES)
    new.weariness = max(0, new.weariness - WIN_CHEERS)
    sim.tally.cities_taken += 1
    sim.tell(f"{new.name} takes {city.name} from {old.name}.", [new.id, old.id], "danger")
