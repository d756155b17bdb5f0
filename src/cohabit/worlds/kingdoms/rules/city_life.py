"""Daily life in the cities: meals and births for all cities at once, and what each city does on its day.

On its day a city ploughs, builds, chooses a leader, trades, sends settlers, and its loyalty to the crown changes.
"""

import numpy as np
from numpy.typing import NDArray

from cohabit.worlds.kingdoms.creatures import Effect, Rows
from cohabit.worlds.kingdoms.rules import cities, economy, life, settlers
from cohabit.worlds.kingdoms.sim import City, Sim
from cohabit.worlds.kingdoms.species import IS_CIVIL, SPECIES_ROW

DAY = 20
"""A city acts once in this many ticks."""
EATS_BELOW = 50
"""A person with less food than this wants a meal."""
MEAL_FOOD = 50
"""Food in a meal."""
MAX_MEALS = 300
"""Meals that a city can store."""
BIRTH_CHANCE = 1, 24
"""The chance per day that a fed adult woman has a child, if her city has housing for it"""
PEOPLE_PER_MEAL = 3
"""and more than one stored meal for this many people."""
MAX_RADIUS = 9
PEOPLE_PER_RADIUS = 7
CULTURE_PER_RADIUS = 400
"""The land of a city reaches one tile further for this many people, and for this much culture."""
TEMPLE_CULTURE = 2
"""Culture that a temple adds per day, to the one that every city makes."""
PLAGUE_CHANCE = 1, 6000
PLAGUE_MIN_PEOPLE = 40
"""The chance per day of a plague in a city with at least this many people."""
GOLD_BUYS = 4
"""Meals for a piece of gold in a city with hungry people."""
FAMINE_NEWS_EVERY = 1500
"""A famine in a city makes news once in this many ticks."""

BASE_LOYALTY = 85
"""The loyalty of a city before the following is added or subtracted:"""
TILES_PER_LOYALTY = 2
"""minus one for this many tiles to the capital,"""
STRANGERS = 25
"""minus this if most people are of another race than the kingdom,"""
HUNGER = 30
"""minus this if more than a quarter of the people are hungry,"""
WEARINESS_PER_LOYALTY = 2
"""minus one for this much weariness of the kingdom,"""
EASY_CITIES = 6
MANY_CITIES = 4
"""minus this for every city of the kingdom beyond this number,"""
TEMPLE_LOYALTY = 8
"""plus this for a temple,"""
CULTURE_PER_LOYALTY = 100
MAX_CULTURE_LOYALTY = 15
"""plus one for this much culture of the city, up to this maximum,"""
KING_LOYALTY = 14
"""plus or minus up to this, depending on the king."""
LOYALTY_DRIFT = 1
"""How much loyalty changes per day."""


# -- all cities, once a day -----------------------------------------------------------------------
def meals(sim: Sim) -> None:
    """Hungry people eat from the store of their city; if it is too small, chance decides who goes without."""
    c = sim.creatures
    hungry = np.flatnonzero((c.food < EATS_BELOW) & (c.city > 0))
    wanted = np.bincount(c.city[hungry], minlength=len(sim.city_place))
    store: NDArray[np.int64] = np.zeros(len(wanted), np.int64)
    for city in sim.cities.values():
        store[city.id] = city.food
    share = np.minimum(store, wanted) * 1000 // np.maximum(wanted, 1)
    eats = hungry[sim.chance.below(1000, "meal", sim.tick, c.public[hungry]) < share[c.city[hungry]]]
    c.food[eats] = np.minimum(c.food[eats] + MEAL_FOOD, life.FULL)
    eaten = np.bincount(c.city[eats], minlength=len(wanted))
    for city in sim.cities.values():
        city.food = min(MAX_MEALS, max(0, city.food - int(eaten[city.id])))
        city.hungry = int(wanted[city.id] - eaten[city.id])


def births(sim: Sim) -> None:
    """Children are born in cities with food and housing."""
    c = sim.creatures
    women = np.flatnonzero(IS_CIVIL[c.species] & (c.city > 0) & (c.sex == 0) & (c.food >= life.FED))
    women = women[sim.chance.hits(*BIRTH_CHANCE, "child", sim.tick, c.public[women])]
    women = women[life.grown_up(sim, women)]
    free: NDArray[np.int64] = np.zeros(len(sim.city_place), np.int64)
    for city in sim.cities.values():
        if city.food * PEOPLE_PER_MEAL > city.people:
            free[city.id] = cities.housing(city) - city.people
    women = women[free[c.city[women]] > 0]
    for row in women.tolist():  # a few: at most one woman in BIRTH_CHANCE[1]
        home, species = int(c.city[row]), int(c.species[row])
        cell = sim.land.cells(c.x[row : row + 1], c.y[row : row + 1])
        life.add(sim, species, cell, int(c.kingdom[row]), home, grown=False)


# -- one city on its day --------------------------------------------------------------------------
def act(sim: Sim, city: City) -> None:
    """One day of a city."""
    rows = life.people_of(sim, city.id)
    if not len(rows):
        cities.raze(sim, city)
        return
    _grow(sim, city)
    cells = cities.land_of(sim, city)
    cities.plough(sim, city, cells)
    cities.build(sim, city, cells)
    cities.connect(sim, city)
    _choose_leader(sim, city, rows)
    city.culture += 1 + TEMPLE_CULTURE * city.buildings.get("temple", 0)
    _famine(sim, city)
    _plague(sim, city, rows)
    economy.send_trader(sim, city, rows)
    settlers.send(sim, city, rows)
    _update_loyalty(sim, city, rows)


def _grow(sim: Sim, city: City) -> None:
    wanted = cities.FIRST_RADIUS + city.people // PEOPLE_PER_RADIUS + city.culture // CULTURE_PER_RADIUS
    if min(wanted, MAX_RADIUS) > city.radius:
        city.radius += 1
        cities.claim(sim, city)


def _choose_leader(sim: Sim, city: City, rows: Rows) -> None:
    """If the leader is gone, the adult with the most kills leads, the oldest of equals."""
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
    if city.hungry * 4 > city.people and sim.tick - city.famine_reported > FAMINE_NEWS_EVERY:
        city.famine_reported = sim.tick
        sim.tell(f"The people of {city.name} are starving.", [city.kingdom], "danger")


def _plague(sim: Sim, city: City, rows: Rows) -> None:
    if city.people < PLAGUE_MIN_PEOPLE or sim.chance.one(PLAGUE_CHANCE[1], "plague", sim.tick, city.number):
        return
    sick = rows[sim.chance.hits(1, 8, "who falls sick", sim.tick, sim.creatures.public[rows])]
    sim.creatures.effects[sick] |= Effect.PLAGUE
    sim.tell(f"The plague has come to {city.name}.", [city.kingdom], "danger")


# -- loyalty --------------------------------------------------------------------------------------
def loyalty_target(sim: Sim, city: City, rows: Rows) -> int:
    """The loyalty that the city drifts to."""
    parts = loyalty_parts(sim, city, rows)
    return BASE_LOYALTY + sum(parts.values()) if parts else 100


def loyalty_parts(sim: Sim, city: City, rows: Rows) -> dict[str, int]:
    """The amounts added to the loyalty of a city or subtracted from it, by reason; empty for the capital."""
    realm = sim.kingdoms[city.kingdom]
    capital = sim.cities.get(realm.capital)
    if capital is None or capital is city or not len(rows):
        return {}
    most = int(np.argmax(np.bincount(sim.creatures.species[rows])))
    return {
        "far from the capital": -(capital.distance(city.x, city.y) // TILES_PER_LOYALTY),
        "weary of war": -(realm.weariness // WEARINESS_PER_LOYALTY),
        "too many cities": -MANY_CITIES * max(0, realm.cities - EASY_CITIES),
        "another race": -STRANGERS * (most != SPECIES_ROW[realm.race]),
        "hunger": -HUNGER * (city.hungry * 4 > city.people),
        "temple": TEMPLE_LOYALTY * (city.buildings.get("temple", 0) > 0),
        "culture": min(MAX_CULTURE_LOYALTY, city.culture // CULTURE_PER_LOYALTY),
        "the king": realm.nature,
    }


def _update_loyalty(sim: Sim, city: City, rows: Rows) -> None:
    wanted = loyalty_target(sim, city, rows)
    step = min(LOYALTY_DRIFT, abs(wanted - city.loyalty))
    city.loyalty = min(100, max(0, city.loyalty + (step if wanted > city.loyalty else -step)))
