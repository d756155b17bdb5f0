"""A table of Whist for tests: a world with four seats, and games played at random."""

from collections.abc import Callable

from cohabit.model.stream import Stream
from cohabit.world import Seat
from cohabit.worlds.whist.world import Whist

SEATS = [Seat(name, name) for name in ("north", "east", "south", "west")]


def whist(seed: int = 1, points: int = 5) -> Whist:
    world = Whist(points)
    world.reset(seed, SEATS)
    return world


def seat(name: str) -> Seat:
    return next(s for s in SEATS if s.id == name)


def dealt(seed: int = 1) -> Whist:
    """A table on which the first hand has been dealt."""
    world = whist(seed)
    for one in SEATS:
        world.cut(one, f"{one.id} {seed}")
    return world


def step(world: Whist, stream: Stream) -> None:
    """One of the seats to move does something legal."""
    mover = seat(stream.choice(list(world.to_move())))
    chosen = stream.choice(list(world.legal(mover)))
    if chosen.name == "cut":
        world.cut(mover, f"{stream.bits64():x}")
    else:
        world.play(mover, **chosen.parameters)


def finished_game(seed: int = 1, world: Whist | None = None, between: Callable[[], None] | None = None) -> Whist:
    """A game played to its end. ``between`` is called before every step, and at the end."""
    world, stream = world or whist(seed), Stream(seed, "test play")
    while world.to_move():
        if between is not None:
            between()
        step(world, stream)
    if between is not None:
        between()
    return world
