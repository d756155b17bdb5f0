"""The check of worlds whose seats are bodies."""

from cohabit.bodies import DepartMode, EmbodiedWorld
from cohabit.errors import AskerError
from cohabit.registry import make_world
from cohabit.testing.checks.trial import CheckFailed, Trial
from cohabit.testing.play import Watched
from cohabit.world import Arrival, Seat

LEFT: tuple[DepartMode, ...] = ("dormant", "suspend", "left")
"""The ways to leave a body that its agent can come back to."""
TAKEN = 3
"""How many items of each portable kind a body is given and asked for."""


def check_bodies(trial: Trial) -> str:
    """A body that was left, asleep or out of the world, is the same when its agent returns; a despawned one is gone;
    asking changes nothing; items are neither made nor lost."""
    if not isinstance(trial.world, EmbodiedWorld):
        return "the world has no bodies"
    trial.first_problem("bodies")
    world = make_world(trial.source, trial.config)
    assert isinstance(world, EmbodiedWorld)
    world.reset(trial.seeds[0], [])
    with Watched():
        seat = world.arrive(Arrival("somebody"))
        _check_reads(world, seat)
        for mode in LEFT:
            _check_return(world, seat, mode)
        moved = _check_items(world, seat)
        world.depart(seat, "despawn")
        if seat.id in _open(world):
            raise CheckFailed("depart(…, 'despawn') must close the seat")
        try:
            again = world.arrive(Arrival("somebody", seat.id, returns=True))
        except AskerError:
            again = None
        if again is not None and again.id == seat.id:
            raise CheckFailed("a despawned body came back: arrive() must make a new one, or refuse")
    return f"left and found again in 3 ways; {moved} portable items; {len(world.travel.lessons)} lessons"


def _open(world: EmbodiedWorld) -> list[str]:
    return [seat.id for seat in world.seats_now() or ()]


def _check_reads(world: EmbodiedWorld, seat: Seat) -> None:
    before = world.snapshot()
    body, deeds = world.body(seat.id), dict(world.deeds(seat.id))
    if world.is_alive(seat.id) != (body.death is None):
        raise CheckFailed("is_alive() and body().death disagree")
    if not world.is_alive(seat.id):
        raise CheckFailed("a new body must be alive")
    if any(count < 0 for count in deeds.values()):
        raise CheckFailed("deeds() gives numbers that are not negative")
    world.witnesses(seat.id)
    if world.snapshot() != before:
        raise CheckFailed("body(), deeds(), is_alive() or witnesses() changed the world")


def _check_return(world: EmbodiedWorld, seat: Seat, mode: DepartMode) -> None:
    before = world.body(seat.id)
    world.depart(seat, mode)
    if seat.id in _open(world):
        raise CheckFailed(f"depart(…, {mode!r}) must close the seat")
    world.body(seat.id)  # answers for closed seats, too
    try:
        back = world.arrive(Arrival("somebody", seat.id, returns=True))
    except AskerError as refused:
        raise CheckFailed(f"arrive() refused a body that was left as {mode!r}: {refused.as_text()}") from None
    if back.id != seat.id:
        raise CheckFailed(f"a body that was left as {mode!r} came back on seat {back.id!r}, not on {seat.id!r}")
    after = world.body(seat.id)
    if (after.inventory, after.health) != (before.inventory, before.health):
        raise CheckFailed(f"a body that was left as {mode!r} came back with another inventory or health")


def _check_items(world: EmbodiedWorld, seat: Seat) -> int:
    """Give and take each portable item. Returns how many kinds a body could take."""
    moved = 0
    for item in world.travel.items:
        before = world.body(seat.id).inventory.get(item, 0)
        put = world.put_items(seat.id, item, TAKEN)
        held = world.body(seat.id).inventory.get(item, 0)
        if not 0 <= put <= TAKEN or held != before + put:
            raise CheckFailed(f"put_items() says {put} {item}, but the body has {held} instead of {before + put}")
        taken = world.take_items(seat.id, item, put)
        if taken != put or world.body(seat.id).inventory.get(item, 0) != before:
            raise CheckFailed(f"take_items() says {taken} of {put} {item}")
        if world.take_items(seat.id, item, before + TAKEN) > before:
            raise CheckFailed(f"take_items() gives more {item} than the body has")
        moved += bool(put)
    return moved
