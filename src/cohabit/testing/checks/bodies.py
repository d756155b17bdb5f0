"""The check of worlds whose seats are bodies."""

from collections.abc import Callable, Sequence

from cohabit.bodies import DepartMode, EmbodiedWorld, writes
from cohabit.errors import AskerError
from cohabit.model.avatar import STANCES
from cohabit.registry import make_world
from cohabit.testing.checks.trial import CheckFailed, Trial
from cohabit.testing.play import Watched
from cohabit.world import Arrival, Outcome, Seat

LEFT: tuple[DepartMode, ...] = ("dormant", "suspend", "left")
"""The ways to leave a body that its agent can come back to."""
NO_ITEM = "an item that does not exist"
TAKEN = 3
"""The number of items of each portable kind that a body is given and asked for."""


def check_bodies(trial: Trial) -> str:
    """A body that was left, asleep or out of the world, is the same when its agent returns; a despawned one is gone;
    asking changes nothing; items are neither made nor lost; a body is in the stance and wears what it was told to."""
    if not isinstance(trial.world, EmbodiedWorld):
        return "the world has no bodies"
    trial.first_problem("bodies")
    world = make_world(trial.source, trial.config)
    assert isinstance(world, EmbodiedWorld)
    world.reset(trial.seeds[0], [])
    with Watched():
        seat = world.arrive(Arrival("somebody"))
        _check_reads(world, seat)
        _check_blocked(world, seat, [command.name for command in trial.commands if command.is_action])
        _check_stances(world, seat)
        for mode in LEFT:
            _check_return(world, seat, mode)
        moved = _check_items(world, seat)
        worn = _check_equipment(world, seat)
        world.depart(seat, "despawn")
        if seat.id in _open(world):
            raise CheckFailed("depart(…, 'despawn') must close the seat")
        try:
            again = world.arrive(Arrival("somebody", seat.id, returns=True))
        except AskerError:
            again = None
        if again is not None and again.id == seat.id:
            raise CheckFailed("a despawned body came back: arrive() must make a new one, or refuse")
    return (
        f"left and found again in 3 ways; {moved} portable items; {len(world.travel.lessons)} lessons; "
        f"{len(world.stances)} stances; {worn} items to wear"
    )


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
    if world.hears(seat.id) and body.hearing_range is None:
        raise CheckFailed("hears() tells something, so body() must have a hearing_range")
    world.blocked_actions(seat)
    if world.snapshot() != before:
        raise CheckFailed("body(), deeds(), is_alive(), witnesses(), hears() or blocked_actions() changed the world")


def _check_blocked(world: EmbodiedWorld, seat: Seat, actions: Sequence[str]) -> None:
    for action, reason in world.blocked_actions(seat).items():
        if action not in actions:
            raise CheckFailed(f"blocked_actions() names {action!r}, which is no action of this world")
        if not reason:
            raise CheckFailed(f"blocked_actions() gives no reason for {action!r}")


def _check_stances(world: EmbodiedWorld, seat: Seat) -> None:
    """Take each stance, and the first one again."""
    for stance in (*world.stances, *world.stances[:1]):
        if stance not in STANCES:
            raise CheckFailed(f"unknown stance {stance!r}; stances are: {', '.join(STANCES)}")
        if _is_done(world, world.take_stance, seat, stance):
            now = world.body(seat.id).stance
            if now != stance:
                raise CheckFailed(f"take_stance(…, {stance!r}) was done, but the body is {now}")


def _check_equipment(world: EmbodiedWorld, seat: Seat) -> int:
    """Wear each portable item and take it off again. Returns how many could be worn."""
    if not writes(type(world), "wear"):
        return 0
    if _is_done(world, world.wear, seat, NO_ITEM):
        raise CheckFailed("wear() must refuse an item that the body does not have")
    worn = 0
    for item in world.travel.items:
        put = world.put_items(seat.id, item, 1)
        before = world.body(seat.id)
        if put and _is_done(world, world.wear, seat, item):
            slots = [slot for slot, held in world.body(seat.id).equipment.items() if held == item]
            if not slots or world.body(seat.id).inventory != before.inventory:
                raise CheckFailed(f"wear(…, {item!r}) must change the equipment, and nothing that the body carries")
            world.take_off(seat, slots[0])
            if slots[0] in world.body(seat.id).equipment or world.body(seat.id).inventory != before.inventory:
                raise CheckFailed(f"take_off(…, {slots[0]!r}) must empty the slot, and change nothing else")
            worn += 1
        world.take_items(seat.id, item, put)
    return worn


def _is_done(world: EmbodiedWorld, do: Callable[..., Outcome], seat: Seat, what: str) -> bool:
    """True if the body did that. If it is refused, nothing may have changed."""
    before = world.snapshot()
    try:
        do(seat, what)
    except AskerError as refused:
        if world.snapshot() != before:
            raise CheckFailed(f"a refusal changed the world: {refused.as_text()}") from None
        return False
    return True


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
