"""Loyalty: what a city thinks of its crown, from 0 to 100. A city without any rebels."""

import numpy as np

from cohabit.worlds.kingdoms.near import Rows
from cohabit.worlds.kingdoms.realms import City
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.species import SPECIES_ROW

CONTENT = 85
"""What a city far from nothing thinks of a king that nobody minds. From it are taken:"""
TILES_AWAY = 2
"""one for so many tiles to the capital,"""
STRANGERS = 25
"""this much where most people are of another race than the kingdom,"""
HUNGER = 30
"""this much where people go hungry,"""
WEARINESS = 2
"""one for so much of the kingdom's weariness,"""
EASY_CITIES = 6
EACH_CITY = 4
"""and this much for every city of the kingdom beyond so many."""
TEMPLE = 8
"""A temple adds this much,"""
CULTURE = 100
CULTURE_MOST = 15
"""and the city's culture one for so much of it, at most this;"""
KING = 14
"""and a king from minus this to plus this, by his nature."""
DRIFT = 1
"""How far loyalty moves in a day towards what the city thinks."""


def opinion(sim: Sim, city: City, rows: Rows) -> int:
    """What the city thinks of its crown, all things considered."""
    realm = sim.kingdoms[city.kingdom]
    capital = sim.cities.get(realm.capital)
    if capital is None or capital is city:
        return 100
    away = max(abs(capital.x - city.x), abs(capital.y - city.y))
    most = int(np.argmax(np.bincount(sim.creatures.species[rows])))
    minus = away // TILES_AWAY + realm.weariness // WEARINESS + EACH_CITY * max(0, realm.cities - EASY_CITIES)
    minus += STRANGERS * (most != SPECIES_ROW[realm.race]) + HUNGER * (city.hungry * 4 > city.people)
    plus = TEMPLE * (city.buildings.get("temple", 0) > 0) + min(CULTURE_MOST, city.culture // CULTURE)
    nature = sim.chance.one(2 * KING + 1, "king's nature", 0, realm.king) - KING
    return CONTENT + plus + nature - minus


def weigh(sim: Sim, city: City, rows: Rows) -> None:
    """Loyalty drifts towards the city's opinion."""
    wanted = opinion(sim, city, rows)
    step = min(DRIFT, abs(wanted - city.loyalty))
    city.loyalty = min(100, max(0, city.loyalty + (step if wanted > city.loyalty else -step)))
