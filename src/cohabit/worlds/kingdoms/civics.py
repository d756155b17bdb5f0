"""Cities: how they are founded, claim land, are counted and fall into ruin."""

import numpy as np

from cohabit.worlds.kingdoms import building, life, names
from cohabit.worlds.kingdoms.creatures import Job
from cohabit.worlds.kingdoms.land import Cells
from cohabit.worlds.kingdoms.near import Rows
from cohabit.worlds.kingdoms.realms import City
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.tiles import TOP_ROW

FIRST_RADIUS = 4
"""How far the land of a new city reaches."""
FIRST_FOOD = 3
"""Meals that founders bring along, each."""
FIRST_WOOD = 15


def city_at(sim: Sim, x: int, y: int) -> City | None:
    """The city whose land this is."""
    return sim.cities.get(int(sim.land.city[sim.land.cell(x, y)])) if sim.land.holds(x, y) else None


def found_city(sim: Sim, kingdom: int, x: int, y: int, rows: Rows) -> City:
    """Found a city here; these creatures are its first people."""
    sim.tally.cities += 1
    realm = sim.kingdoms[kingdom]
    city = City(
        id=sim.tally.cities, name=names.city_name(sim, realm.race, sim.tally.cities), kingdom=kingdom, x=x, y=y,
        founded=sim.tick, food=FIRST_FOOD * len(rows), wood=FIRST_WOOD, radius=FIRST_RADIUS, people=len(rows),
    )  # fmt: skip
    sim.cities[city.id] = city
    move_in(sim, city, rows)
    claim(sim, city)
    building.put(sim, city, "bonfire", sim.land.cell(x, y))
    if not realm.capital:
        realm.capital = city.id
    realm.cities += 1
    sim.tell(f"{city.name} is founded by {realm.name}.", [kingdom], "success")
    return city


def move_in(sim: Sim, city: City, rows: Rows) -> None:
    """These people live here from now on, and work."""
    c = sim.creatures
    c.kingdom[rows], c.city[rows], c.job[rows], c.tx[rows] = city.kingdom, city.id, Job.WORKER, -1


def claim(sim: Sim, city: City) -> None:
    """Take the nobody's land within the city's radius."""
    around = sim.land.disc(city.x, city.y, city.radius)
    free = around[(sim.land.city[around] == 0) & sim.land.is_dry(around)]
    sim.land.city[free] = city.id
    sim.stale = True


def land_of(sim: Sim, city: City) -> Cells:
    """The cells of a city, row by row."""
    around = sim.land.disc(city.x, city.y, city.radius)
    own: Cells = around[sim.land.city[around] == city.id]
    return own


def raze(sim: Sim, city: City) -> None:
    """The city is no more: its buildings are gone, its land is nobody's, its people are homeless."""
    land, cells = sim.land, land_of(sim, city)
    land.city[cells] = 0
    land.built[cells] = 0
    fields = cells[land.top[cells] == TOP_ROW["farmland"]]
    land.top[fields] = TOP_ROW["grass"]
    del sim.cities[city.id]
    sim.stale = True
    realm = sim.kingdoms[city.kingdom]
    realm.cities -= 1
    left = sim.cities_of(city.kingdom)
    if realm.capital == city.id:
        realm.capital = max(left, key=lambda c: c.people).id if left else 0
    sim.creatures.city[life.people_of(sim, city.id)] = realm.capital
    sim.tell(f"{city.name} lies in ruins.", [city.kingdom], "danger")


def census(sim: Sim) -> None:
    """Count the people and soldiers of every city and kingdom."""
    c = sim.creatures
    people = np.bincount(c.city, minlength=len(sim.city_place))
    soldiers = np.bincount(c.city[c.job == Job.SOLDIER], minlength=len(sim.city_place))
    for city in sim.cities.values():
        city.people, city.soldiers = int(people[city.id]), int(soldiers[city.id])
    people = np.bincount(c.kingdom, minlength=len(sim.at_war))
    soldiers = np.bincount(c.kingdom[c.job == Job.SOLDIER], minlength=len(sim.at_war))
    for realm in sim.alive:
        realm.people, realm.soldiers = int(people[realm.id]), int(soldiers[realm.id])
        realm.cities = len(sim.cities_of(realm.id))
