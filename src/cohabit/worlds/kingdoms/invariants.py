"""The invariants of the state of a world.

The rules preserve them, and ``save`` refuses a state that violates one, so a tampered save cannot refer to anything
that does not exist.
"""

from collections.abc import Iterator
from typing import Any, get_args

import numpy as np
from msgspec import to_builtins
from numpy.typing import NDArray

from cohabit.model.observation import EventType
from cohabit.worlds.kingdoms.creatures import Effect, Job
from cohabit.worlds.kingdoms.names import PUBLIC_ID_BITS
from cohabit.worlds.kingdoms.sim import MAX_KINGDOM_ID, City, Kingdom, Sim
from cohabit.worlds.kingdoms.species import SPECIES, SPECIES_ROW
from cohabit.worlds.kingdoms.tiles import BUILDING_ROW, BUILDINGS, GROUND, TOPS

MAX_NUMBER = 1 << 30
"""The largest absolute value of a number, so that sums of a few of them still fit a column."""
MAX_CITY_ID = 1 << 20
"""A limit, because the rules keep tables by id."""
MAX_NAME_LENGTH = 80


def first_violation(sim: Sim) -> str | None:
    """A description of the first violated invariant, or None."""
    return next((violation for check in _CHECKS for violation in check(sim)), None)


def _time(sim: Sim) -> Iterator[str]:
    if not 0 <= sim.tick < MAX_NUMBER:
        yield f"tick {sim.tick} is out of range"
    if not 0 < sim.creatures.next_id < MAX_NUMBER:
        yield f"the next creature id {sim.creatures.next_id} is out of range"


def _land(sim: Sim) -> Iterator[str]:
    rows = {"chart": GROUND, "ground": GROUND, "top": TOPS, "built": BUILDINGS}
    for name, layer in sim.land.layers().items():
        if name in rows:
            yield from _outside(f"the layer {name}", layer, 0, len(rows[name]) - 1)
        else:
            yield from _outside(f"the layer {name}", layer, -MAX_NUMBER, MAX_NUMBER)
    yield from _unknown("the layer city", sim.land.city, sim.cities)
    yield from _outside("the list of burning cells", sim.land.burning, 0, sim.land.size - 1)


def _creatures(sim: Sim) -> Iterator[str]:
    creatures, width, height = sim.creatures, sim.land.width, sim.land.height
    bounds = {
        "id": (1, creatures.next_id - 1),
        "public": (1, (1 << PUBLIC_ID_BITS) - 1),
        "species": (0, len(SPECIES) - 1),
        "x": (0, width - 1),
        "y": (0, height - 1),
        "tx": (-1, width - 1),
        "ty": (-1, height - 1),
        "sex": (0, 1),
        "job": (0, len(Job.NAMES) - 1),
        "effects": (0, (1 << len(Effect.NAMES)) - 1),
    }
    for name, column in creatures.columns().items():
        yield from _outside(f"the column {name}", column, *bounds.get(name, (-MAX_NUMBER, MAX_NUMBER)))
    yield from _unknown("the column kingdom", creatures.kingdom, sim.kingdoms)
    yield from _unknown("the column city", creatures.city, sim.cities)
    if (np.diff(creatures.id) <= 0).any():
        yield "creatures are not in the order of their ids"
    if ((creatures.tx >= 0) & (creatures.ty < 0)).any():
        yield "a creature has a target with an x but no y"


def _cities(sim: Sim) -> Iterator[str]:
    for key, city in sim.cities.items():
        if key != city.id or not 0 < key <= min(sim.tally.cities, MAX_CITY_ID):
            yield f"a city cannot have the id {key}"
        if _has_bad_name(city):
            yield f"city {city.id} has an invalid name"
        if not sim.land.holds(city.x, city.y):
            yield f"city {city.id} is not on the map"
        if city.kingdom not in sim.kingdoms or (city.besieger and city.besieger not in sim.kingdoms):
            yield f"city {city.id} refers to a kingdom that does not exist"
        if any(kind not in BUILDING_ROW or count < 0 for kind, count in city.buildings.items()):
            yield f"city {city.id} has invalid buildings"
        if not 0 <= city.radius <= max(sim.land.width, sim.land.height):
            yield f"city {city.id} has an invalid radius"


def _kingdoms(sim: Sim) -> Iterator[str]:
    for key, kingdom in sim.kingdoms.items():
        if key != kingdom.id or not 0 < key <= min(sim.tally.kingdoms, MAX_KINGDOM_ID):
            yield f"a kingdom cannot have the id {key}"
        if _has_bad_name(kingdom):
            yield f"kingdom {kingdom.id} has an invalid name"
        if kingdom.race not in SPECIES_ROW:
            yield f"kingdom {kingdom.id} has an unknown race"
        if kingdom.capital and kingdom.capital not in sim.cities:
            yield f"kingdom {kingdom.id} has a capital that does not exist"
        if kingdom.colour < 0:
            yield f"kingdom {kingdom.id} has an invalid colour"
        for place in (kingdom.orders.rally, kingdom.orders.settle):
            if place is not None and not sim.land.holds(*place):
                yield f"kingdom {kingdom.id} has an order for a place off the map"
        for x, y, _ in kingdom.known.values():
            if not sim.land.holds(x, y):
                yield f"kingdom {kingdom.id} knows a city off the map"
    pairs = [*((war.attacker, war.defender) for war in sim.wars), *sim.opinions]
    for one, other in pairs:
        if one == other or one not in sim.kingdoms or other not in sim.kingdoms:
            yield f"{one} and {other} are not two existing kingdoms"


def _other_state(sim: Sim) -> Iterator[str]:
    for storm in sim.storms:
        if not sim.land.holds(storm.x, storm.y):
            yield "a storm is not on the map"
    for item in (*sim.news, *sim.pending_news):
        if item.kind not in get_args(EventType):
            yield f"news cannot have the kind {item.kind!r}"
    objects = (
        sim.cities,
        sim.kingdoms,
        sim.wars,
        list(sim.opinions.values()),
        sim.storms,
        sim.tally,
        sim.news,
        sim.casts,
    )
    for number in _numbers(to_builtins((*objects, sim.pending_news), str_keys=True)):
        if abs(number) > MAX_NUMBER:
            yield f"the number {number} is too large"


_CHECKS = (_time, _land, _creatures, _cities, _kingdoms, _other_state)


def _has_bad_name(thing: City | Kingdom) -> bool:
    """Names are drawn into pictures and written on single lines."""
    return not thing.name.isprintable() or not 0 < len(thing.name) <= MAX_NAME_LENGTH


def _outside(what: str, values: NDArray[Any], low: int, high: int) -> Iterator[str]:
    if values.size and not low <= int(values.min()) <= int(values.max()) <= high:
        yield f"{what} has a value outside {low} … {high}"


def _unknown(what: str, ids: NDArray[Any], known: dict[int, Any]) -> Iterator[str]:
    if not np.isin(ids, [0, *known]).all():
        yield f"{what} has the id of something that does not exist"


def _numbers(value: Any) -> Iterator[int]:
    """Every whole number in nested plain values."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for part in value:
            yield from _numbers(part)
    elif isinstance(value, int):
        yield value
