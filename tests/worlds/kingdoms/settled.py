"""A world with a history, built directly: kingdoms with cities, land and people, animals, a war and a fire."""

import numpy as np

from cohabit.worlds.kingdoms.chance import Chance
from cohabit.worlds.kingdoms.creatures import Job
from cohabit.worlds.kingdoms.sim import City, Kingdom, News, Sim, Storm, Tally, War
from cohabit.worlds.kingdoms.species import HEALTH, IS_CIVIL, RACES, SPECIES_ROW
from cohabit.worlds.kingdoms.terrain import generate
from cohabit.worlds.kingdoms.tiles import BUILDING_ROW, TOP_ROW

CITIES_EACH = 3
NAMES = ("Aldermark", "Silvendell", "Grukmaw", "Durinhold", "Westmere", "Thornfield", "Ashkar", "Vaelor")


def settled(seed: int = 7, zones: int = 2, kingdoms: int = 3, people: int = 120, animals: int = 80) -> Sim:
    sim = Sim(seed, generate(seed, zones, zones))
    sim.tick = 4321
    dice = Chance(seed + 1)
    for number in range(1, kingdoms + 1):
        _found(sim, dice, number)
    _populate(sim, dice, people, animals)
    sim.tally = Tally(born=people + animals, kingdoms=kingdoms, cities=len(sim.cities), wars_begun=1)
    sim.wars = [War(1, 2, 4000, "old hatred")]
    sim.opinions = {(1, 2): -80, (2, 1): -75, (1, 3): 20}
    sim.laws = {"peace": False, "no_fire": True}
    sim.storms = [Storm("cloud_rain", 40, 40, 4400)]
    sim.news = [News(1, "The world began"), News(4000, "War!", (1, 2), "danger")]
    sim.pending_news = [News(4320, "A city has fallen", None, "reward")]
    _kindle(sim, dice)
    return sim


def _found(sim: Sim, dice: Chance, number: int) -> None:
    race = RACES[number % len(RACES)]
    sim.kingdoms[number] = Kingdom(number, NAMES[number % len(NAMES)], race, number - 1, 10 * number)
    soil = np.flatnonzero(sim.land.top == TOP_ROW["grass"])
    for part in range(CITIES_EACH):
        place = int(soil[dice.one(len(soil), "city", number, part)])
        x, y = sim.land.xy(place)
        name, order = f"{NAMES[(number + part) % len(NAMES)]}ton", len(sim.cities) + 1
        city = City(order, order, name, number, x, y, 100, radius=8)
        land = sim.land.disc(x, y, city.radius + 2 * (part == 0))
        free = land[(sim.land.city[land] == 0) & sim.land.is_dry(land)]
        sim.land.city[free] = city.id
        sim.land.top[free[::7]] = TOP_ROW["farmland"]
        near = sim.land.disc(x, y, 3)
        near = near[sim.land.is_dry(near)]
        sim.land.built[near[::4]] = BUILDING_ROW["house"]
        sim.land.top[near[1::4]] = TOP_ROW["road"]
        city.buildings = {"house": len(near[::4])}
        sim.cities[city.id] = city
    sim.kingdoms[number].capital = len(sim.cities) - CITIES_EACH + 1


def _populate(sim: Sim, dice: Chance, people: int, animals: int) -> None:
    cities = list(sim.cities.values())
    for who in range(people):
        city = cities[dice.one(len(cities), "home", 0, who)]
        near = sim.land.disc(city.x, city.y, 12)
        near = near[sim.land.is_dry(near)]
        x, y = sim.land.xy(int(near[dice.one(len(near), "place", 0, who)]))
        kingdom = sim.kingdoms[city.kingdom]
        job = Job.SOLDIER if who % 5 == 0 else Job.WORKER
        kind = SPECIES_ROW[kingdom.race]
        told = {"species": kind, "kingdom": kingdom.id, "city": city.id, "x": x, "y": y, "job": job, "food": 80}
        sim.creatures.add(1, told | {"public": 1 + who, "hp": HEALTH[kind], "born": sim.tick - 1000, "sex": who % 2})
        city.people += 1
        kingdom.people += 1
        kingdom.soldiers += job == Job.SOLDIER
    for kingdom in sim.kingdoms.values():
        kingdom.cities = len(sim.cities_of(kingdom.id))
    dry = np.flatnonzero(sim.land.is_dry(np.arange(sim.land.size)))
    wild = np.flatnonzero(~IS_CIVIL)
    cells = dry[dice.below(len(dry), "wild", 0, np.arange(animals))]
    kinds = wild[dice.below(len(wild), "kind", 0, np.arange(animals))]
    places = {"x": cells % sim.land.width, "y": cells // sim.land.width}
    sim.creatures.add(
        animals, places | {"public": 1000 + np.arange(animals), "species": kinds, "hp": HEALTH[kinds], "food": 60}
    )


def _kindle(sim: Sim, dice: Chance) -> None:
    woods = np.flatnonzero(sim.land.top == TOP_ROW["forest"])
    start = int(woods[dice.one(len(woods), "fire", 0)])
    fire = sim.land.disc(*sim.land.xy(start), 2)
    fire = fire[sim.land.top[fire] == TOP_ROW["forest"]]
    sim.land.top[fire] = TOP_ROW["fire"]
    sim.land.burning = fire
