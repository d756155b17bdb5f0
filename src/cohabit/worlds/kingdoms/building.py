"""What a city makes of its land: houses and halls, fields, roads."""

import numpy as np

from cohabit.worlds.kingdoms.land import Cells
from cohabit.worlds.kingdoms.realms import City
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.tiles import BUILDING_ROW, BUILDINGS, CAN_GROW, GROUND, IS_WATER, TOP_ROW
from cohabit.worlds.kingdoms.work import STONY

ROOM = {"bonfire": 12, "house": 4, "hall": 8}
"""How many people a building houses."""
SPARE_ROOM = 4
HOUSES_MOST = 9
"""A city builds houses until it has room for so many more people than it has, and no more houses than this."""
NEEDS_PEOPLE = {"hall": 14, "barracks": 18, "market": 22, "mine": 16, "docks": 20, "temple": 26, "tower": 20}
"""From how many people on a city wants a building of this kind,"""
ANOTHER = {"temple": 50, "tower": 25, "barracks": 60, "market": 80}
"""and another one for so many more."""
PROUD = ("hall", "temple")
"""The first building of these kinds in a city is told of."""
FORTIFIED_TOWERS = 3
"""So many more towers where the king ordered to fortify."""
FIELDS_PER_PERSON = 5, 4
FIELDS_MORE = 6
"""Fields wanted: so many for the people there are, and some more."""
PLOUGHED = 4
"""New fields in a day at most."""
ROAD_PEOPLE = 15
ROAD_REACH = 60
"""From so many people on, a city lays a road to the nearest older city of its kingdom that is not further than this."""
BUILDABLE = np.array([not (kind.water or kind.deadly or kind.id.startswith("pit")) for kind in GROUND])
_FARM, _ROAD = TOP_ROW["farmland"], TOP_ROW["road"]


def room(city: City) -> int:
    """How many people this city can house."""
    return sum(ROOM.get(kind, 0) * count for kind, count in city.buildings.items())


def wishes(sim: Sim, city: City) -> list[str]:
    """What the city would build, the most wanted first."""
    wanted = []
    if sim.kingdoms[city.kingdom].orders.fortify and city.buildings.get("tower", 0) < FORTIFIED_TOWERS:
        wanted.append("tower")
    if room(city) < city.people + SPARE_ROOM and city.buildings.get("house", 0) < HOUSES_MOST:
        wanted.append("house")
    for kind, people in NEEDS_PEOPLE.items():
        have = city.buildings.get(kind, 0)
        another = people + have * ANOTHER.get(kind, 0)
        if city.people >= another and (not have or kind in ANOTHER):
            wanted.append(kind)
    return wanted


def build(sim: Sim, city: City, cells: Cells) -> None:
    """Build the most wanted thing that there is a place for, or save wood and stone for it."""
    for kind in wishes(sim, city):
        cell = site(sim, city, kind, cells)
        if cell is None:
            continue
        cost = BUILDINGS[BUILDING_ROW[kind]]
        if city.wood >= cost.wood and city.stone >= cost.stone:
            city.wood -= cost.wood
            city.stone -= cost.stone
            put(sim, city, kind, cell)
            if kind in PROUD and city.buildings[kind] == 1:
                sim.tell(f"{city.name} has built a {kind}.", [city.kingdom], "success")
        return


def put(sim: Sim, city: City, kind: str, cell: int) -> None:
    """A building of this kind stands here now."""
    sim.land.built[cell] = BUILDING_ROW[kind]
    city.buildings = {**city.buildings, kind: city.buildings.get(kind, 0) + 1}


def site(sim: Sim, city: City, kind: str, cells: Cells) -> int | None:
    """A free cell for it: near the middle, by chance; a mine on stony ground, docks by the water."""
    land = sim.land
    free = cells[(land.built[cells] == 0) & BUILDABLE[land.ground[cells]]]
    free = free[(land.top[free] != _FARM) & (land.top[free] != _ROAD)]
    if kind == "mine":
        free = free[STONY[land.ground[free]]]
    if kind == "docks":
        beside = [np.clip(free + step, 0, land.size - 1) for step in (1, -1, land.width, -land.width)]
        free = free[np.logical_or.reduce([IS_WATER[land.ground[cell]] for cell in beside])]
    if not len(free):
        return None
    far = (free % land.width - city.x) ** 2 + (free // land.width - city.y) ** 2
    return int(free[np.argmin(far + sim.chance.below(20, "site", sim.tick, free))])


def plough(sim: Sim, city: City, cells: Cells) -> None:
    """Make fields of the soil nearest to the city, as many as its people need."""
    land = sim.land
    wanted = city.people * FIELDS_PER_PERSON[0] // FIELDS_PER_PERSON[1] + FIELDS_MORE
    missing = wanted - int(np.count_nonzero(land.top[cells] == _FARM))
    if missing <= 0:
        return
    soil = cells[CAN_GROW[land.ground[cells]] & (land.built[cells] == 0)]
    soil = soil[(land.top[soil] != _FARM) & (land.top[soil] != _ROAD) & (land.top[soil] != TOP_ROW["fire"])]
    far = (soil % land.width - city.x) ** 2 + (soil // land.width - city.y) ** 2
    soil = soil[far > 2]  # the square around the bonfire stays free
    far = far[far > 2] + sim.chance.below(8, "plough", sim.tick, soil)
    new = soil[np.argsort(far, kind="stable")[: min(missing, PLOUGHED)]]
    land.top[new] = _FARM
    land.grazed[new] = sim.tick


def connect(sim: Sim, city: City) -> None:
    """Lay a road to the nearest older city of the kingdom, once."""
    if city.road or city.people < ROAD_PEOPLE:
        return
    older = [other for other in sim.cities_of(city.kingdom) if other.id < city.id]
    near = [(max(abs(o.x - city.x), abs(o.y - city.y)), o.id) for o in older]
    near = [(far, number) for far, number in near if far <= ROAD_REACH]
    if near:
        city.road = min(near)[1]
        _pave(sim, city, sim.cities[city.road])


def _pave(sim: Sim, city: City, other: City) -> None:
    """A straight road over dry land, around nothing, over everything but buildings and fields."""
    steps = max(abs(other.x - city.x), abs(other.y - city.y), 1)
    along = np.arange(steps + 1)
    x = city.x + (2 * along * (other.x - city.x) + steps) // (2 * steps)
    y = city.y + (2 * along * (other.y - city.y) + steps) // (2 * steps)
    cells = sim.land.cells(x, y)
    cells = cells[sim.land.is_dry(cells) & (sim.land.built[cells] == 0) & (sim.land.top[cells] != TOP_ROW["fire"])]
    sim.land.top[cells] = _ROAD
