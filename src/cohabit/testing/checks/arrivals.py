"""The check of worlds whose seats open and close while they run."""

from cohabit.errors import AskerError
from cohabit.registry import make_world
from cohabit.room.room import Room
from cohabit.scenario import AgentSpec
from cohabit.testing.checks.trial import CheckFailed, Trial
from cohabit.testing.play import Watched, open_room
from cohabit.world import overrides

MANY = 40
"""The number of guests that arrive at the same time."""


def check_arrivals(trial: Trial) -> str:
    """A seat that arrive() opens is in seats_now(); a refused arrival changes nothing; a departure frees a seat."""
    world = trial.world
    if not overrides(world, "arrive"):
        return "the world has no arrivals"
    if not overrides(world, "seats_now"):
        raise CheckFailed("arrive() opens seats, but there is no seats_now() to list them")
    trial.first_problem("arrivals")
    guests = [f"guest{i}" for i in range(MANY)]
    with Watched():
        room = open_room(
            trial.source, make_world(trial.source, trial.config), trial.seeds[0], trial.config,
            [AgentSpec(id=guest, role="player") for guest in guests],
        )  # fmt: skip
        room.checks_refusals = False
        seated = [guest for guest in guests if _sits(room, guest)]
        if not seated:
            raise CheckFailed("arrive() refused all guests; a new game must have a free seat")
        before = len(room.state.seats)
        room.call(seated[0], "stand_up", at=1)
        if len(seated) < MANY and not _sits(room, next(g for g in guests if g not in seated)):
            raise CheckFailed("arrive() still refuses after a member left a full world; depart() must free the seat")
        again = Room.replay(list(room.record.tail), make_world)
        if again.digest() != room.digest():
            raise CheckFailed("a record with arrivals and departures replays to a different world")
    full = f"{before} at the same time, then full" if len(seated) < MANY else f"{len(seated)} or more at the same time"
    return f"{full}; a departure frees a seat"


def _sits(room: Room, guest: str) -> bool:
    """Let a guest take a seat. Returns False if the world refuses it."""
    before = room.digest()
    try:
        seat = room.call(guest, "sit", at=0).seat
    except AskerError as refusal:
        if room.digest() != before:
            raise CheckFailed(f"arrive() refused ({refusal.as_text()}) but changed the world") from None
        return False
    if seat not in [s.id for s in room.world.seats_now() or ()]:
        raise CheckFailed(f"arrive() returned seat {seat!r}, but seats_now() does not list it")
    return True
