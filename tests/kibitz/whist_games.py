"""Games of Whist, move by move, and what a seat or everybody sees of them."""

from collections.abc import Iterator
from typing import Any

import msgspec

from cohabit.model.seat import Seat
from cohabit.model.stream import Stream
from cohabit.world import Eye
from cohabit.worlds.whist.world import Whist

SEATS = ("north", "east", "south", "west")
PUBLIC = Eye(None, "public")


def view(world: Whist, eye: Eye = PUBLIC) -> dict[str, Any]:
    """As the house sends it."""
    return {
        "observation": msgspec.to_builtins(world.observe(eye)),
        "to_move": list(world.to_move()),
        "over": not world.to_move(),
    }


def seat_view(world: Whist, seat: str) -> dict[str, Any]:
    return view(world, Eye(seat, "own"))


def games(seed: int, points: int = 3) -> Iterator[Whist]:
    """A game with random cards and moves, after each move."""
    world, stream = Whist(points), Stream(seed, "test play")
    seats = {name: Seat(name, name) for name in SEATS}
    world.reset(seed, list(seats.values()))
    yield world
    while world.to_move():
        seat = seats[stream.choice(list(world.to_move()))]
        chosen = stream.choice(list(world.legal(seat)))
        getattr(world, chosen.name)(seat, **chosen.parameters)
        yield world
