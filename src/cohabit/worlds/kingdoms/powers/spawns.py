"""Spawns: a power for every kind of creature there is."""

import numpy as np

from cohabit.errors import GameRejected
from cohabit.worlds.kingdoms import life
from cohabit.worlds.kingdoms.powers.power import Cast, Power, Run
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.species import SPECIES, Species

SETTLER_COSTS = 10
"""The faith that a grown man or woman of its own race costs a player."""


def home(sim: Sim, species: Species, x: int, y: int, by: int = 0) -> tuple[int, int]:
    """The kingdom and the city that a newcomer belongs to: people join a city of their own race, the rest is wild."""
    city = sim.cities.get(int(sim.land.city[sim.land.cell(x, y)]))
    mine = city is not None and (not by or city.kingdom == by)
    if city and mine and species.id == sim.kingdoms[city.kingdom].race:
        return city.kingdom, city.id
    if by:
        race = sim.kingdoms[by].race
        raise GameRejected(f"Only {race} will follow your call, and only to the land of your own cities.")
    return 0, 0


def spawning(row: int, species: Species) -> Run:
    """A power that lets one creature appear, full-grown."""

    def run(sim: Sim, cast: Cast) -> bool:
        kingdom, city = home(sim, species, cast.x, cast.y, cast.by)
        here = np.array([sim.land.cell(cast.x, cast.y)])
        if cast.by and not life.livable(sim, row, here).all():  # else it would look for a place beyond the border
            raise GameRejected(f"Nobody can stand at {cast.x},{cast.y}: aim at dry ground.")
        return bool(life.spawn(sim, row, cast.x, cast.y, 1, kingdom, city).size)

    return run


def _power(row: int, species: Species) -> Power:
    name = species.id.replace("_", " ")
    words, run = f"Lets one {name} appear.", spawning(row, species)
    if species.temper == "civil":
        return Power(species.id, "spawn", words, run, "own", faith=SETTLER_COSTS)
    return Power(species.id, "spawn", words, run)


POWERS = tuple(_power(row, species) for row, species in enumerate(SPECIES))
