"""The first kingdoms and animals of a new world."""

import numpy as np

from cohabit.worlds.kingdoms.land import Land
from cohabit.worlds.kingdoms.rules import cities, life, realms, wildlife
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.species import RACES, SPECIES_ROW
from cohabit.worlds.kingdoms.tiles import CAN_GROW, IS_DEADLY, IS_WATER

FIRST_PEOPLE = 16
FIRST_HOUSES = 2
FIRST_FOOD = 60
"""The people, houses and food of a first city."""
PLACES = 600
"""The number of random places that are considered."""
SOIL_RADIUS = 9
BEST = 3
"""Only the best one in this many places, by the soil within that radius, is considered, so that all start alike."""
GOOD_DISTANCE = 80
"""The best distance between first cities: neighbours, but with room to grow between them."""
ANIMAL_PLACES = 24
"""Random places per zone that are considered for each species of animal."""
BLOCK = 8
"""Landmasses are found in blocks of this many tiles on a side."""


def begin(sim: Sim, kingdoms: int, claimed: int) -> None:
    """Found the first kingdoms, of which the first ``claimed`` are seats of the match, and place animals."""
    first = sim.chance.one(len(RACES), "first race", 0)
    for number, (x, y) in enumerate(places(sim, kingdoms, claimed)):
        race = RACES[(first + number) % len(RACES)]
        ids = life.spawn(sim, SPECIES_ROW[race], x, y, FIRST_PEOPLE)
        realm = realms.found_kingdom(sim, race, x, y, np.searchsorted(sim.creatures.id, ids))
        realm.claimed = number < claimed
        city = sim.cities[realm.capital]
        city.food = FIRST_FOOD
        for _ in range(FIRST_HOUSES):
            cell = cities.find_site(sim, city, "house", cities.land_of(sim, city))
            if cell is not None:
                cities.put(sim, city, "house", cell)
    wildlife.place_first_animals(sim, ANIMAL_PLACES)


def places(sim: Sim, count: int, claimed: int) -> list[tuple[int, int]]:
    """Places for the first cities: good soil, apart from each other, and the claimed ones on one landmass."""
    land, margin = sim.land, SOIL_RADIUS
    cells = sim.chance.below(land.size, "first places", 0, np.arange(PLACES))
    inside = (cells % land.width >= margin) & (cells % land.width < land.width - margin)
    inside &= (cells // land.width >= margin) & (cells // land.width < land.height - margin)
    cells = cells[inside & CAN_GROW[land.ground[cells]]]
    found = [(soil(land, *land.xy(cell)), *land.xy(cell)) for cell in cells.tolist()]
    found.sort(key=lambda place: -place[0])
    good = found[: max(len(found) // BEST, 8 * count)]
    masses = landmasses(land)
    mass = [masses[y // BLOCK][x // BLOCK] for _, x, y in good]
    home = max(mass, key=lambda m: (mass.count(m), -m)) if mass else 0
    chosen: list[tuple[int, int]] = []
    for number in range(count):
        candidates = [p for p, m in zip(good, mass, strict=True) if number >= claimed or m == home]
        best = max(candidates, key=lambda place: _worth(place, chosen), default=None)
        if best is not None:
            chosen.append(best[1:])
    return chosen


def _worth(place: tuple[int, int, int], chosen: list[tuple[int, int]]) -> tuple[int, int]:
    """Distance counts before soil: GOOD_DISTANCE is best, and more is a little worse."""
    quality, x, y = place
    distance = min((max(abs(x - a), abs(y - b)) for a, b in chosen), default=GOOD_DISTANCE)
    return min(distance, GOOD_DISTANCE + (GOOD_DISTANCE - distance) // 2), quality


def soil(land: Land, x: int, y: int) -> int:
    """Percent of the cells around a place that can become fields."""
    around = land.disc(x, y, SOIL_RADIUS)
    return int(np.count_nonzero(CAN_GROW[land.ground[around]])) * 100 // len(around)


def landmasses(land: Land) -> list[list[int]]:
    """For every block of the map the number of its landmass; 0 is the sea."""
    wet = (IS_WATER | IS_DEADLY)[land.ground].reshape(land.height // BLOCK, BLOCK, land.width // BLOCK, BLOCK)
    dry = (wet.sum(axis=(1, 3)) * 2 < BLOCK * BLOCK).tolist()
    mass = [[0] * len(dry[0]) for _ in dry]
    number = 0
    for y, line in enumerate(dry):
        for x, is_dry in enumerate(line):
            if is_dry and not mass[y][x]:
                number += 1
                _flood(dry, mass, x, y, number)
    return mass


def _flood(dry: list[list[bool]], mass: list[list[int]], x: int, y: int, number: int) -> None:
    todo = [(x, y)]
    while todo:
        x, y = todo.pop()
        if 0 <= y < len(dry) and 0 <= x < len(dry[0]) and dry[y][x] and not mass[y][x]:
            mass[y][x] = number
            todo += [(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)]
