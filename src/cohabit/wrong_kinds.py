"""Finds values of a wrong type that a world returns, and names them for its author.

Used only after a failure: the exception is raised where the value is used, in code that is not the author's.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from cohabit.model.action import Action
from cohabit.model.observation import Effect, Entity, Event, Goal, Location, Observation, Terrain
from cohabit.model.seat import Eye, Seat
from cohabit.world import Standing, World

LISTS: dict[str, type] = {
    "nearby_entities": Entity, "nearby_terrain": Terrain, "active_effects": Effect, "current_goals": Goal,
    "recent_events": Event,
}  # fmt: skip
"""The fields of an observation that are lists, and of what."""


def wrong_kind(world: World, seats: Sequence[Seat], eyes: Sequence[Eye]) -> str | None:
    """The first value of a wrong type that the world returns now, and what is needed instead."""
    with suppress(Exception):  # what the world raises itself is reported as it is
        return next(_wrong_kinds(world, seats, eyes), None)
    return None


def _wrong_kinds(world: World, seats: Sequence[Seat], eyes: Sequence[Eye]) -> Iterator[str]:
    yield from _wrong_items("to_move() must list the ids of seats", world.to_move(), str)
    yield from _wrong_items("standings() must list values of Standing", world.standings(), Standing)
    for seat in seats:
        yield from _wrong_items("legal() must list values of Action", world.legal(seat) or (), Action)
    for eye in eyes:
        yield from _wrong_parts(world.observe(eye))
    for eye in eyes:
        yield from _unless_bytes("picture() must return the bytes of a PNG, or None", world.picture(eye) or b"")
    yield from _unless_bytes("snapshot() must return bytes", world.snapshot())


def _wrong_parts(seen: Any) -> Iterator[str]:
    if not isinstance(seen, Observation):
        yield f"observe() must return an Observation, not {_kind(seen)}"
        return
    for field, kind in LISTS.items():
        yield from _wrong_items(f"{field} of observe() must list values of {kind.__name__}", getattr(seen, field), kind)
    for field, kind in (("status", dict), ("inventory", dict), ("text", str), ("location", Location)):
        value = getattr(seen, field)
        if not isinstance(value, kind) and not (field == "location" and value is None):
            yield f"{field} of observe() must be {_named(kind)}, not {_kind(value)}"
    for field in ("status", "inventory"):
        yield from _wrong_values(field, getattr(seen, field))


def _wrong_values(place: str, value: Any) -> Iterator[str]:
    """Values that JSON cannot represent."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if not isinstance(key, str | int | float):
                yield f"observe(): {place} has the key {key!r:.60}; use text"
            yield from _wrong_values(f"{place}[{key!r:.60}]", inner)
    elif isinstance(value, list | tuple):
        for i, inner in enumerate(value):
            yield from _wrong_values(f"{place}[{i}]", inner)
    else:
        try:
            msgspec.json.encode(value)
        except (TypeError, ValueError, OverflowError):
            yield f"observe(): {place} is {_kind(value)}; use plain values"


def _unless_bytes(claim: str, value: Any) -> Iterator[str]:
    if not isinstance(value, bytes):
        yield f"{claim}, not {_kind(value)}"


def _wrong_items(claim: str, items: Any, kind: type) -> Iterator[str]:
    if not isinstance(items, list | tuple):
        yield f"{claim}, and returns {_kind(items)}"
    yield from (f"{claim}, not {_kind(item)}" for item in items if not isinstance(item, kind))


def _kind(value: object) -> str:
    return "nothing" if value is None else f"{_named(type(value))} such as {value!r:.60}"


def _named(kind: type) -> str:
    name = {"str": "text", "dict": "dict"}.get(kind.__name__, kind.__name__)
    return name if name == "text" else f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"
