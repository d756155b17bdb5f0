"""What a city thinks of once in a day: growing, building, electing, trading, settling, and loyalty to its crown."""

import numpy as np

from cohabit.worlds.kingdoms import building, civics, life, loyalty, settlers, trade
from cohabit.worlds.kingdoms.creatures import Mark
from cohabit.worlds.kingdoms.near import Rows
from cohabit.worlds.kingdoms.realms import City
from cohabit.worlds.kingdoms.sim import Sim

DAY = 20
"""A city thinks once in so many ticks."""
RADIUS_MOST = 9
PEOPLE_PER_RADIUS = 7
CULTURE_PER_RADIUS = 400
"""A city's land reaches a tile further for so many people, and for so much culture."""
CULTURE_TEMPLE = 2
"""Culture made in a day: one, and so much more for a temple."""
PLAGUE_BREAKS_OUT = 1, 6000
PLAGUE_CROWD = 40
"""The chance in a day of a plague in a city of at least so many people."""
GOLD_BUYS = 4
"""Meals that a piece of gold buys where people go hungry."""
FAMINE_TOLD = 1500
"""A famine in a city is told of once in so many ticks."""


def think(sim: Sim, city: City) -> None:
    """One day of a city."""
    rows = life.people_of(sim, city.id)
    if not len(rows):
        civics.raze(sim, city)
        return
    _grow(sim, city)
    cells = civics.land_of(sim, city)
    building.plough(sim, city, cells)
    building.build(sim, city, cells)
    building.connect(sim, city)
    _lead(sim, city, rows)
    city.culture += 1 + CULTURE_TEMPLE * city.buildings.get("temple", 0)
    _famine(sim, city)
    _plague(sim, city, rows)
    trade.send_trader(sim, city, rows)
    settlers.send(sim, city, rows)
    loyalty.weigh(sim, city, rows)


def _grow(sim: Sim, city: City) -> None:
    wanted = civics.FIRST_RADIUS + city.people // PEOPLE_PER_RADIUS + city.culture // CULTURE_PER_RADIUS
    if min(wanted, RADIUS_MOST) > city.radius:
        city.radius += 1
        civics.claim(sim, city)


def _lead(sim: Sim, city: City, rows: Rows) -> None:
    """When the leader is gone, the oldest of those with the most kills leads."""
    c = sim.creatures
    row = c.row(city.leader) if city.leader else None
    if row is not None and c.city[row] == city.id:
        return
    able = rows[life.grown_up(sim, rows)]
    city.leader = int(c.id[able[np.argmax(c.kills[able])]]) if len(able) else 0


def _famine(sim: Sim, city: City) -> None:
    if not city.hungry:
        return
    buys = min(city.gold, city.hungry // GOLD_BUYS + 1)
    city.gold -= buys
    city.food += GOLD_BUYS * buys
    if city.hungry * 4 > city.people and sim.tick - city.famine > FAMINE_TOLD:
        city.famine = sim.tick
        sim.tell(f"The people of {city.name} are starving.", [city.kingdom], "danger")


def _plague(sim: Sim, city: City, rows: Rows) -> None:
    if city.people < PLAGUE_CROWD or sim.chance.one(PLAGUE_BREAKS_OUT[1], "plague", sim.tick, city.id):
        return
    sick = rows[sim.chance.hits(1, 8, "who falls sick", sim.tick, sim.creatures.id[rows])]
    sim.creatures.marks[sick] |= Mark.PLAGUE
    sim.tell(f"The plague has come to {city.name}.", [city.kingdom], "danger")
