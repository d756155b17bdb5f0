"""A plain to try one rule at a time on: grass as far as the map goes, and nobody on it but who a test puts there."""

import numpy as np

from cohabit.worlds.kingdoms import crowns, life, rules
from cohabit.worlds.kingdoms.land import Land
from cohabit.worlds.kingdoms.near import Rows
from cohabit.worlds.kingdoms.realms import City, Kingdom
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.species import SPECIES_ROW
from cohabit.worlds.kingdoms.tiles import GROUND_ROW, TOP_ROW


def meadow(seed: int = 1) -> Sim:
    land = Land(2, 2)
    land.ground[:] = GROUND_ROW["soil_low"]
    land.top[:] = TOP_ROW["grass"]
    sim = Sim(seed, land)
    sim.laws["no_monsters"] = True
    return sim


def put(sim: Sim, species: str, x: int, y: int, count: int = 1, grown: bool = True) -> Rows:
    """The rows of newcomers."""
    ids = life.spawn(sim, SPECIES_ROW[species], x, y, count, grown=grown)
    return np.searchsorted(sim.creatures.id, ids)


def realm(sim: Sim, x: int, y: int, people: int = 20, race: str = "human") -> tuple[Kingdom, City]:
    """A kingdom with one city here."""
    kingdom = crowns.found_kingdom(sim, race, x, y, put(sim, race, x, y, people))
    return kingdom, sim.cities[kingdom.capital]


def let_pass(sim: Sim, ticks: int) -> None:
    for _ in range(ticks):
        rules.step(sim)


def told(sim: Sim, words: str) -> bool:
    return any(words in piece.text for piece in sim.news)
