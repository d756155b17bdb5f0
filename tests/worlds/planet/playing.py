"""Small planets for tests: a flat one, and players on it."""

from typing import Any

from cohabit.model.seat import Eye, Seat
from cohabit.worlds.starbound.body import Body
from cohabit.worlds.starbound.planet import Planet
from cohabit.worlds.starbound.planets import HEIGHT, WIDTH
from cohabit.worlds.starbound.tiles import ID

GROUND = 50
"""The row of the ground of a flat planet: bodies stand one row above."""


def planet(*names: str, seed: int = 1, **config: Any) -> Planet:
    """A world with these players."""
    world = Planet(**config)
    world.reset(seed, [Seat(str(number), name) for number, name in enumerate(names or ("ada",), 1)])
    return world


def flat(*names: str, **config: Any) -> Planet:
    """The same on a planet that is flat: air, then stone. Everybody stands at column 100 and further right."""
    world = planet(*names, **config)
    land = world.game.land("verdant")
    for y in range(HEIGHT):
        tile = ID["air"] if y < GROUND else ID["stone"] if y < HEIGHT - 2 else ID["bedrock"]
        for x in range(WIDTH):
            land.put(x, y, tile)
    land.surface = (GROUND,) * WIDTH
    for number, body in enumerate(world.game.bodies):
        body.x, body.y = 100 + number, GROUND - 1
    return world


def put(world: Planet, tile: str, *spots: tuple[int, int], place: str = "verdant") -> None:
    for x, y in spots:
        world.game.land(place).put(x, y, ID[tile])


def body_of(world: Planet, seat: str = "1") -> Body:
    return world.game.bodies[int(seat) - 1]


def do(world: Planet, name: str, seat: str = "1", **args: Any) -> Body:
    """Let one player act while the others wait; one step."""
    getattr(world, name)(Seat(seat, body_of(world, seat).name), **args)
    for other in list(world.to_move()):
        world.wait(Seat(other))
    world.resolve()
    return body_of(world, seat)


def own(seat: str = "1") -> Eye:
    return Eye(seat, "own")
