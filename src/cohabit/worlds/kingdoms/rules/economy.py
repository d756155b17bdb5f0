"""Work and trade: people gather food, wood and stone on their city's land, and traders bring gold.

Everybody has a trade from birth: half of the people farm, a quarter fell trees, a quarter quarry stone.
"""

import numpy as np
from numpy.typing import NDArray

from cohabit.worlds.kingdoms.creatures import Job, Rows
from cohabit.worlds.kingdoms.rules import life, walk
from cohabit.worlds.kingdoms.sim import City, Sim
from cohabit.worlds.kingdoms.tiles import IS_STONY, TOP_ROW, TOP_WOOD

RIPENS = 420
"""A harvested field is ripe again after this many ticks."""
HARVEST = 1
"""Meals from a ripe field."""
WORKPLACE_RADII = np.array([4, 7, 99])
"""A worker chooses the best of a few random places, one within each of these distances of the city centre."""
FELL_CHANCE = 1, 60
"""The chance that cutting wood turns the cell into grass."""
ODD_FIND_CHANCE = 1, 6
"""The chance of finding wood or stone on land that has neither."""
WOODCUTTER = 2
"""Trades 0 and 1 farm, 2 fells trees, 3 quarries. The trade is the last two bits of the creature's number."""
TRADER_CHANCE = 1, 6
"""The chance per day that a city with a market sends a trader"""
TRADE_REACH = 90
"""to a city within this distance that its kingdom knows and is not at war with."""
TRADE_GOLD = 3
"""Gold for both cities when the trader arrives; twice that if the home city has docks."""
TRADE_GOODWILL = 2
"""How much a trade improves the opinions of the two kingdoms of each other."""
MAX_OPINION = 100
_PARTS = np.arange(len(WORKPLACE_RADII), dtype=np.uint64) * np.uint64(20)
_FARM, _GRASS = TOP_ROW["farmland"], TOP_ROW["grass"]


# -- work -----------------------------------------------------------------------------------------
def work(sim: Sim, rows: Rows) -> None:
    """Workers who have arrived gather something and go to their next workplace."""
    c = sim.creatures
    idle = rows[(c.job[rows] == Job.WORKER) & (c.tx[rows] < 0) & (c.city[rows] > 0) & (c.hp[rows] > 0)]
    if not len(idle):
        return
    _gather(sim, idle[life.grown_up(sim, idle)])
    _choose_workplace(sim, idle)


def ripe(sim: Sim, cells: Rows) -> NDArray[np.bool_]:
    """A mask of these cells: True for fields that can be harvested."""
    harvested = sim.land.grazed[cells]
    fields: NDArray[np.bool_] = sim.land.top[cells] == _FARM
    fields &= (harvested == 0) | (sim.tick - harvested >= RIPENS)
    return fields


def _gather(sim: Sim, rows: Rows) -> None:
    c, land = sim.creatures, sim.land
    cells = land.cells(c.x[rows], c.y[rows])
    home = land.city[cells] == c.city[rows]
    rows, cells = rows[home], cells[home]
    reaped = ripe(sim, cells)
    _, first = np.unique(cells, return_index=True)
    alone = np.zeros(len(cells), np.bool_)
    alone[first] = True
    reaped &= alone  # two workers on one field share one harvest
    land.grazed[cells[reaped]] = sim.tick
    _store(sim, "food", c.city[rows[reaped]], HARVEST)
    trade, odd = c.number[rows] & 3, sim.chance.hits(*ODD_FIND_CHANCE, "odd find", sim.tick, c.public[rows])
    wooded, stony = TOP_WOOD[land.top[cells]] > 0, IS_STONY[land.ground[cells]]
    cutting = (trade == WOODCUTTER) & (wooded | odd)
    _store(sim, "wood", c.city[rows[cutting]], 1)
    _store(sim, "stone", c.city[rows[(trade > WOODCUTTER) & (stony | odd)]], 1)
    cut = cells[cutting & wooded]
    felled = cut[sim.chance.hits(*FELL_CHANCE, "felled", sim.tick, cut)]
    land.top[felled] = _GRASS


def _store(sim: Sim, good: str, cities: NDArray[np.int32], each: int) -> None:
    if not len(cities):
        return
    counts = np.bincount(cities)
    for number in np.flatnonzero(counts).tolist():
        city = sim.cities[number]
        setattr(city, good, getattr(city, good) + each * int(counts[number]))


def _choose_workplace(sim: Sim, rows: Rows) -> None:
    """Send each worker to the one of a few places of its city that suits its trade best."""
    c, land = sim.creatures, sim.land
    x, y, radius = sim.city_place[c.city[rows]].T
    trade, radius = c.number[rows] & 3, np.minimum(radius, WORKPLACE_RADII[:, None])
    wide = 2 * radius + 1
    dice = (sim.chance.bits("where to work", sim.tick, c.public[rows]) >> _PARTS[:, None]).astype(np.int64)
    at_x = np.minimum(np.maximum(x - radius + ((dice & 1023) * wide >> 10), 0), land.width - 1)
    at_y = np.minimum(np.maximum(y - radius + ((dice >> 10 & 1023) * wide >> 10), 0), land.height - 1)
    cells = at_y * land.width + at_x
    worth = 3 * (land.city[cells] == c.city[rows])
    worth += ripe(sim, cells) * (2 + (trade < WOODCUTTER))
    worth += 2 * ((trade == WOODCUTTER) & (TOP_WOOD[land.top[cells]] > 0))
    worth += 2 * ((trade > WOODCUTTER) & IS_STONY[land.ground[cells]])
    best = worth.argmax(axis=0), np.arange(len(rows))
    walk.send(sim, rows, at_x[best], at_y[best])


# -- trade ----------------------------------------------------------------------------------------
def send_trader(sim: Sim, city: City, rows: Rows) -> None:
    """Now and then a worker of a city with a market leaves for another city."""
    if not city.buildings.get("market") or city.besieger:
        return
    if sim.chance.one(TRADER_CHANCE[1], "trader", sim.tick, city.number) >= TRADER_CHANCE[0]:
        return
    others = _destinations(sim, city)
    workers = rows[(sim.creatures.job[rows] == Job.WORKER) & life.grown_up(sim, rows)]
    if not others or not len(workers):
        return
    x, y = others[sim.chance.one(len(others), "trade with", sim.tick, city.number)]
    trader = workers[[sim.chance.one(len(workers), "who trades", sim.tick, city.number)]]
    sim.creatures.job[trader] = Job.TRADER
    walk.send(sim, trader, np.array([x]), np.array([y]))


def _destinations(sim: Sim, city: City) -> list[tuple[int, int]]:
    """The places that a trader can go to: other cities of its kingdom, and foreign ones that its people have seen."""
    own = [(other.x, other.y) for other in sim.cities_of(city.kingdom) if other is not city and not other.besieger]
    known = sim.kingdoms[city.kingdom].known.values()
    foreign = [(x, y) for x, y, kingdom in known if not sim.are_at_war(city.kingdom, kingdom)]
    return [place for place in own + foreign if city.distance(*place) <= TRADE_REACH]


def traders_arrive(sim: Sim) -> None:
    """Traders who have arrived sell and return; at home they become workers again."""
    c = sim.creatures
    there = np.flatnonzero((c.job == Job.TRADER) & (c.tx < 0))
    for row in there.tolist():
        home = sim.cities.get(int(c.city[row]))
        other = sim.cities.get(int(sim.land.city[sim.land.cell(int(c.x[row]), int(c.y[row]))]))
        if home is None or other is home:
            c.job[row] = Job.WORKER
            continue
        if other is not None and not sim.are_at_war(home.kingdom, other.kingdom):
            _sell(sim, home, other)
        walk.send(sim, np.array([row]), np.array([home.x]), np.array([home.y]))


def _sell(sim: Sim, home: City, other: City) -> None:
    earned = TRADE_GOLD * (2 if home.buildings.get("docks") else 1)
    home.gold += earned
    other.gold += earned
    if home.kingdom != other.kingdom:
        for pair in ((home.kingdom, other.kingdom), (other.kingdom, home.kingdom)):
            sim.opinions[pair] = min(MAX_OPINION, sim.opinions.get(pair, 0) + TRADE_GOODWILL)
