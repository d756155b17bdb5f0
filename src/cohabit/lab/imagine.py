"""Worlds as a player can imagine them, for players that search ahead.

A player must not get the world of its room: it has the hands of the others in it, and the dice that fall next. The
program that holds the room makes copies in which ``World.resample`` has redrawn all that the player may not see, and
gives it those.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from cohabit.errors import BadArgs, PermissionDenied
from cohabit.model.stream import Stream
from cohabit.registry import make_world
from cohabit.room.room import Room
from cohabit.world import World, overrides

MAX_DEPTH = 6
"""The depth in a world to which streams are looked for."""
_PLAIN = (str, bytes, bytearray, int, float, type(None))


def imagine(room: Room, member: str, stream: Stream) -> World:
    """A copy of the room's world, as it could be for all that this member knows. Each call draws another one."""
    found = room.state.members.get(member)
    eye = room.eye(found) if found is not None else None
    if eye is None:
        raise PermissionDenied(f"{member!r} sees nothing of this world")
    world = make_world(room.state.source, room.state.config)
    world.restore(room.world.snapshot())
    if overrides(world, "resample"):
        world.resample(eye, stream)
    elif eye.sees == "all" or world.spec.open_information:
        for _, luck in streams_in(world):
            reseed(luck, stream.bits64())
    else:
        raise BadArgs(
            f"{world.spec.name} cannot be imagined: implement resample(), or set open_information=True in its spec if "
            "nothing is hidden"
        )
    return world


def reseed(stream: Stream, seed: int, purpose: str | None = None, counter: int = 0) -> None:
    """Make a stream continue as another one."""
    stream.__init__(seed, stream.purpose if purpose is None else purpose, counter)  # type: ignore[misc]


def streams_in(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Stream]]:
    """The streams in a world, each with the attributes and keys that lead to it."""
    if isinstance(value, Stream):
        yield place, value
    elif len(place) <= MAX_DEPTH:
        for name, part in _parts(value):
            yield from streams_in(part, (*place, name))


def _parts(value: Any) -> Iterable[tuple[Any, Any]]:
    """The parts of a value in which streams can be. A list or table whose first entry is plain has none."""
    if isinstance(value, Mapping):
        return () if isinstance(next(iter(value.values()), None), _PLAIN) else value.items()
    if isinstance(value, list | tuple):
        return () if not value or isinstance(value[0], _PLAIN) else enumerate(value)
    if isinstance(value, Struct):
        return [(field, getattr(value, field)) for field in value.__struct_fields__]
    if isinstance(value, type) or callable(value):
        return ()
    found: Iterable[tuple[Any, Any]] = getattr(value, "__dict__", {}).items()
    return found
