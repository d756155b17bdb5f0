"""What holds of every state of the world, however it came about.

Rules keep it true, and a save that somebody has tampered with is refused because of it: no number in a state that is
sound points to something that is not there.
"""

from collections.abc import Iterator
from typing import Any, get_args

import numpy as np
from msgspec import to_builtins
from numpy.typing import NDArray

from cohabit.model.observation import EventType
from cohabit.worlds.kingdoms.creatures import Job, Mark
from cohabit.worlds.kingdoms.realms import City, Kingdom
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.species import SPECIES, SPECIES_ROW
from cohabit.worlds.kingdoms.tiles import BUILDING_ROW, BUILDINGS, GROUND, TOPS

MOST = 1 << 30
"""No number goes beyond this, up or down, so that sums of a few of them still fit a column."""
CITIES_MOST, KINGDOMS_MOST = 1 << 20, 1 << 13
"""Ids of cities and kingdoms stay below these: rules keep tables by id."""
LONGEST_NAME = 80


def flaw(sim: Sim) -> str | None:
    """The first thing that is wrong with a state, in words; None where it is sound."""
    return next((words for rule in _RULES for words in rule(sim)), None)


def _time(sim: Sim) -> Iterator[str]:
    if not 0 <= sim.tick < MOST:
        yield f"tick {sim.tick} is not a time"
    if not 0 < sim.creatures.next_id < MOST:
        yield f"the next creature cannot be number {sim.creatures.next_id}"


def _land(sim: Sim) -> Iterator[str]:
    rows = {"chart": GROUND, "ground": GROUND, "top": TOPS, "built": BUILDINGS}
    for name, layer in sim.land.layers().items():
        if name in rows:
            yield from _outside(f"the layer {name}", layer, 0, len(rows[name]) - 1)
        else:
            yield from _outside(f"the layer {name}", layer, -MOST, MOST)
    yield from _unknown("the layer city", sim.land.city, sim.cities)
    yield from _outside("what burns", sim.land.burning, 0, sim.land.size - 1)


def _creatures(sim: Sim) -> Iterator[str]:
    creatures, width, height = sim.creatures, sim.land.width, sim.land.height
    bounds = {
        "id": (1, creatures.next_id - 1),
        "species": (0, len(SPECIES) - 1),
        "x": (0, width - 1),
        "y": (0, height - 1),
        "tx": (-1, width - 1),
        "ty": (-1, height - 1),
        "sex": (0, 1),
        "job": (0, len(Job.NAMES) - 1),
        "marks": (0, (1 << len(Mark.NAMES)) - 1),
    }
    for name, column in creatures.columns().items():
        yield from _outside(f"the column {name}", column, *bounds.get(name, (-MOST, MOST)))
    yield from _unknown("the column kingdom", creatures.kingdom, sim.kingdoms)
    yield from _unknown("the column city", creatures.city, sim.cities)
    if (np.diff(creatures.id) <= 0).any():
        yield "creatures are not in the order of their birth"
    if ((creatures.tx >= 0) & (creatures.ty < 0)).any():
        yield "a creature goes half nowhere"


def _cities(sim: Sim) -> Iterator[str]:
    for key, city in sim.cities.items():
        if key != city.id or not 0 < key <= min(sim.tally.cities, CITIES_MOST):
            yield f"a city cannot be number {key}"
        if _nameless(city):
            yield f"the city {city.id} has no possible name"
        if not sim.land.holds(city.x, city.y):
            yield f"the city {city.id} is not on the map"
        if city.kingdom not in sim.kingdoms or (city.besieger and city.besieger not in sim.kingdoms):
            yield f"the city {city.id} knows a kingdom that never was"
        if any(kind not in BUILDING_ROW or count < 0 for kind, count in city.buildings.items()):
            yield f"the city {city.id} has impossible buildings"
        if not 0 <= city.radius <= max(sim.land.width, sim.land.height):
            yield f"the land of city {city.id} has no possible radius"


def _kingdoms(sim: Sim) -> Iterator[str]:
    for key, kingdom in sim.kingdoms.items():
        if key != kingdom.id or not 0 < key <= min(sim.tally.kingdoms, KINGDOMS_MOST):
            yield f"a kingdom cannot be number {key}"
        if _nameless(kingdom):
            yield f"the kingdom {kingdom.id} has no possible name"
        if kingdom.race not in SPECIES_ROW:
            yield f"the kingdom {kingdom.id} is of no known race"
        if kingdom.capital and kingdom.capital not in sim.cities:
            yield f"the kingdom {kingdom.id} has a capital that does not stand"
        if kingdom.colour < 0:
            yield f"the kingdom {kingdom.id} has no possible colour"
        for place in (kingdom.orders.rally, kingdom.orders.settle):
            if place is not None and not sim.land.holds(*place):
                yield f"the kingdom {kingdom.id} has orders to go off the map"
    pairs = [*((war.attacker, war.defender) for war in sim.wars), *sim.opinions]
    for one, other in pairs:
        if one == other or one not in sim.kingdoms or other not in sim.kingdoms:
            yield f"{one} and {other} are not two kingdoms"


def _the_rest(sim: Sim) -> Iterator[str]:
    for storm in sim.storms:
        if not sim.land.holds(storm.x, storm.y):
            yield "a storm is not on the map"
    for piece in (*sim.news, *sim.untold):
        if piece.kind not in get_args(EventType):
            yield f"news cannot be of the kind {piece.kind!r}"
    objects = (sim.cities, sim.kingdoms, sim.wars, list(sim.opinions.values()), sim.storms, sim.tally, sim.news)
    for number in _numbers(to_builtins((*objects, sim.untold), str_keys=True)):
        if abs(number) > MOST:
            yield f"the number {number} is too large"


_RULES = (_time, _land, _creatures, _cities, _kingdoms, _the_rest)


def _nameless(thing: City | Kingdom) -> bool:
    """Names are written into pictures and on lines of their own."""
    return not thing.name.isprintable() or not 0 < len(thing.name) <= LONGEST_NAME


def _outside(what: str, values: NDArray[Any], low: int, high: int) -> Iterator[str]:
    if values.size and not low <= int(values.min()) <= int(values.max()) <= high:
        yield f"{what} has a value that is not within {low} and {high}"


def _unknown(what: str, ids: NDArray[Any], known: dict[int, Any]) -> Iterator[str]:
    if not np.isin(ids, [0, *known]).all():
        yield f"{what} has the id of something that is not there"


def _numbers(value: Any) -> Iterator[int]:
    """Every whole number in plain values."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for part in value:
            yield from _numbers(part)
    elif isinstance(value, int):
        yield value
