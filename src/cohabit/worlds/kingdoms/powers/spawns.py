"""Spawning creatures: the ``spawn`` action, and a power for every species."""

import numpy as np

from cohabit.errors import GameRejected
from cohabit.worlds.kingdoms.answers import Spawned
from cohabit.worlds.kingdoms.names import counted, name_of, plural, with_article
from cohabit.worlds.kingdoms.powers.power import Cast, Powers, Run
from cohabit.worlds.kingdoms.rules import life
from cohabit.worlds.kingdoms.sim import Kingdom, Sim
from cohabit.worlds.kingdoms.species import SPECIES, Species

SPAWN_FAITH = 10
"""The faith that a player pays for an adult of its own race."""
NAMES_SHOWN = 20


def spawn(sim: Sim, mine: Kingdom | None, kind: int, x: int, y: int, count: int, adult: bool) -> tuple[Spawned, str]:
    """Spawn creatures: wild ones for a god, people of its own for a kingdom."""
    species = SPECIES[kind].id
    city = sim.cities.get(int(sim.land.city[sim.land.cell(x, y)])) if mine is not None else None
    if mine is not None:
        pay(mine, SPAWN_FAITH * count, f"spawning {counted(count, species)}")
    ids = life.spawn(
        sim, kind, x, y, count, kingdom=mine.id if mine is not None else 0, city=city.id if city else 0, grown=adult
    )
    if mine is not None:
        mine.faith += SPAWN_FAITH * (count - len(ids))
    if not len(ids):
        raise GameRejected(f"{plural(species)} cannot live at {x},{y} or near it")
    names = [name_of(sim, int(row)) for row in np.searchsorted(sim.creatures.id, ids[:NAMES_SHOWN])]
    answer = Spawned(species, x, y, count, len(ids), count - len(ids), names)
    if mine is not None:
        answer.faith_spent, answer.faith_left = SPAWN_FAITH * len(ids), mine.faith
    return answer, f"{counted(len(ids), species)} {_come(mine, len(ids))} at {x},{y}."


def _come(mine: Kingdom | None, count: int) -> str:
    ending = "s" if count == 1 else ""
    return f"appear{ending}" if mine is None else f"join{ending} {mine.name}"


def pay(mine: Kingdom, cost: int, what: str) -> None:
    """Take faith from a kingdom; GAME_REJECTED if it has too little."""
    if mine.faith < cost:
        raise GameRejected(f"{what} costs {cost} faith, and {mine.name} has {mine.faith}; faith grows by itself")
    mine.faith -= cost


def home(sim: Sim, species: Species, x: int, y: int, by: int = 0) -> tuple[int, int]:
    """The kingdom and city of a new creature: people join a city of their own race, all others are wild."""
    city = sim.cities.get(int(sim.land.city[sim.land.cell(x, y)]))
    mine = city is not None and (not by or city.kingdom == by)
    if city and mine and species.id == sim.kingdoms[city.kingdom].race:
        return city.kingdom, city.id
    if by:
        race = plural(sim.kingdoms[by].race)
        raise GameRejected(f"Only {race} can be spawned by your kingdom, and only on the land of your cities.")
    return 0, 0


def spawning(row: int, species: Species) -> Run:
    """A power that spawns one adult creature."""

    def run(sim: Sim, cast: Cast) -> bool:
        kingdom, city = home(sim, species, cast.x, cast.y, cast.by)
        here = np.array([sim.land.cell(cast.x, cast.y)])
        if cast.by and not life.livable(sim, row, here).all():  # otherwise it could appear beyond the border
            raise GameRejected(f"Nobody can stand at {cast.x},{cast.y}. Aim at dry ground.")
        return bool(life.spawn(sim, row, cast.x, cast.y, 1, kingdom, city).size)

    return run


POWERS = Powers("spawn")
for _row, _species in enumerate(SPECIES):
    _text, _run = f"Spawns {with_article(_species.id)}.", spawning(_row, _species)
    if _species.temper == "civil":
        POWERS.add(_species.id, _text, _run, "own", faith=SPAWN_FAITH)
    else:
        POWERS.add(_species.id, _text, _run)
