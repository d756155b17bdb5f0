"""Cities: founding, land, buildings, fields and roads, the census, changing hands, and ruin."""

import numpy as np

from cohabit.worlds.kingdoms import names
from cohabit.worlds.kingdoms.creatures import Job, Rows
from cohabit.worlds.kingdoms.land import Cells
from cohabit.worlds.kingdoms.rules import life
from cohabit.worlds.kingdoms.sim import City, Kingdom, Sim
from cohabit.worlds.kingdoms.tiles import BUILDING_ROW, BUILDINGS, CAN_GROW, GROUND, IS_STONY, IS_WATER, TOP_ROW

FIRST_RADIUS = 4
"""How far the land of a new city reaches."""
CITY_BITS = 16
"""The part of a city's number that counts the cities of its founder. The rest is the id of that kingdom."""
FOUNDER_FOOD = 3
"""Meals that each founder brings."""
FIRST_WOOD = 15
"""Wood in the store of a new city."""
HOUSING = {"bonfire": 12, "house": 4, "hall": 8}
"""How many people a building houses."""
SPARE_HOUSING = 4
MAX_HOUSES = 9
"""A city builds houses until it can house this many more people than it has, up to this number of houses."""
MIN_PEOPLE = {"hall": 14, "barracks": 18, "market": 22, "mine": 16, "docks": 20, "temple": 26, "tower": 20}
"""From this number of people on a city wants such a building"""
PEOPLE_PER_MORE = {"temple": 50, "tower": 25, "barracks": 60, "market": 80}
"""and one more for each further number of people."""
REPORTED_BUILDINGS = ("hall", "temple")
"""The first building of these kinds in a city makes news."""
FORTIFIED_TOWERS = 3
"""Towers that a city builds first when its king has ordered to fortify."""
FIELDS_PER_PERSON = 5, 4
EXTRA_FIELDS = 6
"""How many fields a city wants."""
MAX_NEW_FIELDS = 4
"""per day."""
ROAD_PEOPLE = 15
ROAD_REACH = 60
"""From this number of people on a city builds a road to the nearest older city of its kingdom within this distance."""
BUILDABLE = np.array([not (kind.water or kind.deadly or kind.id.startswith("pit")) for kind in GROUND])
_FARM, _ROAD, _FIRE = TOP_ROW["farmland"], TOP_ROW["road"], TOP_ROW["fire"]


# -- founding and land ----------------------------------------------------------------------------
def city_at(sim: Sim, x: int, y: int) -> City | None:
    """The city that owns this place."""
    return sim.cities.get(int(sim.land.city[sim.land.cell(x, y)])) if sim.land.holds(x, y) else None


def found_city(sim: Sim, kingdom: int, x: int, y: int, rows: Rows) -> City:
    """Found a city here with these creatures as its first people."""
    sim.tally.cities += 1
    realm = sim.kingdoms[kingdom]
    realm.founded_cities += 1
    number = kingdom << CITY_BITS | realm.founded_cities
    city = City(
        id=sim.tally.cities, number=number, name=names.city_name(sim, realm, number), kingdom=kingdom, x=x, y=y,
        founded=sim.tick, food=FOUNDER_FOOD * len(rows), wood=FIRST_WOOD, radius=FIRST_RADIUS, people=len(rows),
    )  # fmt: skip
    sim.cities[city.id] = city
    move_in(sim, city, rows)
    claim(sim, city)
    put(sim, city, "bonfire", sim.land.cell(x, y))
    if not realm.capital:
        realm.capital = city.id
    realm.cities += 1
    sim.tell(f"{realm.name} founds the city of {city.name}.", [kingdom], "success")
    return city


def move_in(sim: Sim, city: City, rows: Rows) -> None:
    """Make these people workers of the city."""
    c = sim.creatures
    c.kingdom[rows], c.city[rows], c.job[rows], c.tx[rows] = city.kingdom, city.id, Job.WORKER, -1


def claim(sim: Sim, city: City) -> None:
    """Take the unowned land within the city's radius."""
    around = sim.land.disc(city.x, city.y, city.radius)
    free = around[(sim.land.city[around] == 0) & sim.land.is_dry(around)]
    sim.land.city[free] = city.id
    sim.stale = True


def land_of(sim: Sim, city: City) -> Cells:
    """The cells of a city, row by row."""
    around = sim.land.disc(city.x, city.y, city.radius)
    own: Cells = around[sim.land.city[around] == city.id]
    return own


# -- buildings, fields, roads ---------------------------------------------------------------------
def housing(city: City) -> int:
    """The number of people that this city can house."""
    return sum(HOUSING.get(kind, 0) * count for kind, count in city.buildings.items())


def wanted_buildings(sim: Sim, city: City) -> list[str]:
    """The buildings that the city wants to build, most wanted first."""
    wanted = []
    if sim.kingdoms[city.kingdom].orders.fortify and city.buildings.get("tower", 0) < FORTIFIED_TOWERS:
        wanted.append("tower")
    if housing(city) < city.people + SPARE_HOUSING and city.buildings.get("house", 0) < MAX_HOUSES:
        wanted.append("house")
    for kind, people in MIN_PEOPLE.items():
        have = city.buildings.get(kind, 0)
        another = people + have * PEOPLE_PER_MORE.get(kind, 0)
        if city.people >= another and (not have or kind in PEOPLE_PER_MORE):
            wanted.append(kind)
    return wanted


def build(sim: Sim, city: City, cells: Cells) -> None:
    """Build the most wanted building that there is a site for, or save wood and stone for it."""
    for kind in wanted_buildings(sim, city):
        cell = find_site(sim, city, kind, cells)
        if cell is None:
            continue
        cost = BUILDINGS[BUILDING_ROW[kind]]
        if city.wood >= cost.wood and city.stone >= cost.stone:
            city.wood -= cost.wood
            city.stone -= cost.stone
            put(sim, city, kind, cell)
            if kind in REPORTED_BUILDINGS and city.buildings[kind] == 1:
                sim.tell(f"{city.name} has built a {kind}.", [city.kingdom], "success")
        return


def put(sim: Sim, city: City, kind: str, cell: int) -> None:
    """Place a building of this kind on a cell."""
    sim.land.built[cell] = BUILDING_ROW[kind]
    city.buildings = {**city.buildings, kind: city.buildings.get(kind, 0) + 1}


def find_site(sim: Sim, city: City, kind: str, cells: Cells) -> int | None:
    """A free cell near the centre, with some randomness; a mine needs stony ground, docks need water beside them."""
    land = sim.land
    free = cells[(land.built[cells] == 0) & BUILDABLE[land.ground[cells]]]
    free = free[(land.top[free] != _FARM) & (land.top[free] != _ROAD)]
    if kind == "mine":
        free = free[IS_STONY[land.ground[free]]]
    if kind == "docks":
        beside = [np.clip(free + step, 0, land.size - 1) for step in (1, -1, land.width, -land.width)]
        free = free[np.logical_or.reduce([IS_WATER[land.ground[cell]] for cell in beside])]
    if not len(free):
        return None
    distance = (free % land.width - city.x) ** 2 + (free // land.width - city.y) ** 2
    return int(free[np.argmin(distance + sim.chance.below(20, "site", sim.tick, free))])


def plough(sim: Sim, city: City, cells: Cells) -> None:
    """Turn the soil nearest to the centre into fields, as many as the people need."""
    land = sim.land
    wanted = city.people * FIELDS_PER_PERSON[0] // FIELDS_PER_PERSON[1] + EXTRA_FIELDS
    missing = wanted - int(np.count_nonzero(land.top[cells] == _FARM))
    if missing <= 0:
        return
    soil = cells[CAN_GROW[land.ground[cells]] & (land.built[cells] == 0)]
    soil = soil[(land.top[soil] != _FARM) & (land.top[soil] != _ROAD) & (land.top[soil] != _FIRE)]
    distance = (soil % land.width - city.x) ** 2 + (soil // land.width - city.y) ** 2
    soil = soil[distance > 2]  # the square around the bonfire stays free
    distance = distance[distance > 2] + sim.chance.below(8, "plough", sim.tick, soil)
    new = soil[np.argsort(distance, kind="stable")[: min(missing, MAX_NEW_FIELDS)]]
    land.top[new] = _FARM
    land.grazed[new] = sim.tick


def connect(sim: Sim, city: City) -> None:
    """Build a road to the nearest older city of the kingdom, once."""
    if city.road_to or city.people < ROAD_PEOPLE:
        return
    older = [other for other in sim.cities_of(city.kingdom) if other.id < city.id]
    near = [(city.distance(other.x, other.y), other.id) for other in older]
    near = [(distance, number) for distance, number in near if distance <= ROAD_REACH]
    if near:
        city.road_to = min(near)[1]
        _build_road(sim, city, sim.cities[city.road_to])


def _build_road(sim: Sim, city: City, other: City) -> None:
    """A straight road over dry land. It replaces what grows there, fields too, and leaves out buildings."""
    land = sim.land
    cells = land.line(city.x, city.y, other.x, other.y)
    cells = cells[land.is_dry(cells) & (land.built[cells] == 0) & (land.top[cells] != _FIRE)]
    land.top[cells] = _ROAD


# -- people, owners, ruin -------------------------------------------------------------------------
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


def hand_over(sim: Sim, city: City, to: Kingdom, loyalty: int) -> None:
    """Transfer the city and its people to another kingdom."""
    c, old = sim.creatures, sim.kingdoms[city.kingdom]
    rows = life.people_of(sim, city.id)
    c.kingdom[rows] = to.id
    city.kingdom, city.loyalty, city.besieger, city.siege, city.road_to = to.id, loyalty, 0, 0, 0
    old.cities, to.cities = old.cities - 1, to.cities + 1
    if old.capital == city.id:
        _choose_capital(sim, old)
    if not to.capital:
        to.capital = city.id


def raze(sim: Sim, city: City) -> None:
    """Destroy the city: its buildings are gone, its land is unowned, its people move to the capital or are homeless."""
    land, cells = sim.land, land_of(sim, city)
    land.city[cells] = 0
    land.built[cells] = 0
    fields = cells[land.top[cells] == _FARM]
    land.top[fields] = TOP_ROW["grass"]
    del sim.cities[city.id]
    sim.stale = True
    realm = sim.kingdoms[city.kingdom]
    realm.cities -= 1
    if realm.capital == city.id:
        _choose_capital(sim, realm)
    sim.creatures.city[life.people_of(sim, city.id)] = realm.capital
    sim.tell(f"{city.name} lies in ruins.", [city.kingdom], "danger")


def _choose_capital(sim: Sim, realm: Kingdom) -> None:
    """The largest city that is left becomes the capital."""
    left = sim.cities_of(realm.id)
    realm.capital = max(left, key=lambda city: city.people).id if left else 0
