"""Trade: a market sends a trader to another city, and both are the richer for it."""

import numpy as np

from cohabit.worlds.kingdoms import life, walk
from cohabit.worlds.kingdoms.creatures import Job
from cohabit.worlds.kingdoms.near import Rows
from cohabit.worlds.kingdoms.realms import City
from cohabit.worlds.kingdoms.sim import Sim

SETS_OUT = 1, 6
"""The chance in a day that a city with a market sends a trader,"""
REACH = 90
"""to a city not further than this that is not at war with it."""
GOLD = 3
"""What both cities earn by his arrival; twice that with docks at home."""
GOODWILL = 2
"""How much better two kingdoms think of each other for it."""
OPINION_MOST = 100


def send_trader(sim: Sim, city: City, rows: Rows) -> None:
    """Now and then a worker of a city with a market sets out for another city."""
    if not city.buildings.get("market") or city.besieger:
        return
    if sim.chance.one(SETS_OUT[1], "trader", sim.tick, city.id) >= SETS_OUT[0]:
        return
    others = [o for o in sim.cities.values() if o.id != city.id and _open(sim, city, o)]
    workers = rows[(sim.creatures.job[rows] == Job.WORKER) & life.grown_up(sim, rows)]
    if not others or not len(workers):
        return
    other = others[sim.chance.one(len(others), "trade with", sim.tick, city.id)]
    trader = workers[[sim.chance.one(len(workers), "who trades", sim.tick, city.id)]]
    sim.creatures.job[trader] = Job.TRADER
    walk.send(sim, trader, np.array([other.x]), np.array([other.y]))


def _open(sim: Sim, city: City, other: City) -> bool:
    near = max(abs(other.x - city.x), abs(other.y - city.y)) <= REACH
    return near and not other.besieger and not sim.fighting(city.kingdom, other.kingdom)


def arrive(sim: Sim) -> None:
    """Traders who are there sell, and go home; at home they are workers again."""
    c = sim.creatures
    there = np.flatnonzero((c.job == Job.TRADER) & (c.tx < 0))
    for row in there.tolist():
        home = sim.cities.get(int(c.city[row]))
        other = sim.cities.get(int(sim.land.city[sim.land.cell(int(c.x[row]), int(c.y[row]))]))
        if home is None or other is home:
            c.job[row] = Job.WORKER
            continue
        if other is not None and not sim.fighting(home.kingdom, other.kingdom):
            _sell(sim, home, other)
        walk.send(sim, np.array([row]), np.array([home.x]), np.array([home.y]))


def _sell(sim: Sim, home: City, other: City) -> None:
    earned = GOLD * (2 if home.buildings.get("docks") else 1)
    home.gold += earned
    other.gold += earned
    if home.kingdom != other.kingdom:
        for pair in ((home.kingdom, other.kingdom), (other.kingdom, home.kingdom)):
            sim.opinions[pair] = min(OPINION_MOST, sim.opinions.get(pair, 0) + GOODWILL)
