"""A table of Whist for tests: a world with four seats, and games played at random."""

from collections.abc import Callable
from hashlib import sha256

from cohabit.fair import seat_commitment
from cohabit.model.stream import Stream
from cohabit.world import Outcome, Seat
from cohabit.worlds.whist.world import Whist

SEATS = [Seat(name, name) for name in ("north", "east", "south", "west")]


def whist(seed: int = 1, points: int = 5) -> Whist:
    world = Whist(points)
    world.reset(seed, SEATS)
    return world


def seat(name: str) -> Seat:
    return next(s for s in SEATS if s.id == name)


def nonce_of(world: Whist, who: Seat, salt: str = "") -> str:
    """The nonce of a seat for this deal. It follows from its arguments, so that nobody has to remember it."""
    return sha256(f"{world.draw.game} {world.draw.number} {who.id} {salt}".encode()).hexdigest()


def commit(world: Whist, who: Seat, salt: str = "") -> Outcome:
    """Cut with the commitment to that nonce."""
    number = SEATS.index(who)
    draw = world.draw
    return world.cut(who, seat_commitment(draw.game, draw.number, number, nonce_of(world, who, salt)))


def cut_all(world: Whist, *committed: Seat, salt: str = "") -> None:
    """Deal: all seats cut, these with a commitment, which they then reveal."""
    for one in SEATS:
        commit(world, one, salt) if one in committed else world.cut(one)
    for one in committed:
        world.reveal(one, nonce_of(world, one, salt))


def dealt(seed: int = 1) -> Whist:
    """A table on which the first hand has been dealt."""
    world = whist(seed)
    cut_all(world, *SEATS)
    return world


def step(world: Whist, stream: Stream, misses: int = 0) -> None:
    """One of the seats to move does something legal. ``misses``: of a hundred reveals, how many are missed."""
    mover = seat(stream.choice(list(world.to_move())))
    chosen = stream.choice(list(world.legal(mover)))
    if chosen.name == "cut":
        can_commit = not world.missed[SEATS.index(mover)] and stream.chance(2, 3)
        commit(world, mover) if can_commit else world.cut(mover)
    elif chosen.name == "reveal":
        world.reveal(mover, "" if stream.chance(misses, 100) else nonce_of(world, mover))
    else:
        world.play(mover, **chosen.parameters)


def finished_game(
    seed: int = 1, world: Whist | None = None, between: Callable[[], None] | None = None, misses: int = 0
) -> Whist:
    """A game played to its end. ``between`` is called before every step, and at the end."""
    world, stream = world or whist(seed), Stream(seed, "test play")
    while world.to_move():
        if between is not None:
            between()
        step(world, stream, misses)
    if between is not None:
        between()
    return world
