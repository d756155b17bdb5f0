"""An empty meadow on which a test tries one rule at a time."""

import numpy as np

from cohabit.worlds.kingdoms.creatures import Rows
from cohabit.worlds.kingdoms.land import Land
from cohabit.worlds.kingdoms.rules import life, realms, tick
from cohabit.worlds.kingdoms.sim import City, Kingdom, Sim
from cohabit.worlds.kingdoms.species import SPECIES_ROW
from cohabit.worlds.kingdoms.tiles import GROUND_ROW, TOP_ROW


def meadow(seed: int = 1) -> Sim:
    land = Land(2, 2)
    land.ground[:] = land.chart[:] = GROUND_ROW["soil_low"]
    land.top[:] = TOP_ROW["grass"]
    sim = Sim(seed, land)
    sim.laws["no_monsters"] = True
    return sim


def put(sim: Sim, species: str, x: int, y: int, count: int = 1, grown: bool = True) -> Rows:
    """Spawn creatures; returns their rows."""
    ids = life.spawn(sim, SPECIES_ROW[species], x, y, count, grown=grown)
    return np.searchsorted(sim.creatures.id, ids)


def realm(sim: Sim, x: int, y: int, people: int = 20, race: str = "human") -> tuple[Kingdom, City]:
    """A kingdom with one city here."""
    kingdom = realms.found_kingdom(sim, race, x, y, put(sim, race, x, y, people))
    return kingdom, sim.cities[kingdom.capital]


def let_pass(sim: Sim, ticks: int) -> None:
    for _ in range(ticks):
        tick.step(sim)


def told(sim: Sim, words: str) -> bool:
    return any(words in piece.text for piece in sim.news)
