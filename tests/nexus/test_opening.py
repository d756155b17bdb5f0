"""Opening a room to the Nexus, and how long a round lasts there."""

from cohabit.features.visits.state import VISITS
from cohabit.registry import make_world
from cohabit.room.opening import opening_state
from cohabit.room.room import Room
from cohabit.scenario import AgentSpec, Scenario


def camp(**keys: object) -> Room:
    agents = [AgentSpec(id="hostess", role="host"), AgentSpec(id="ann", role="player")]
    scenario = Scenario(agents=agents, world="crafter_shared", **keys)  # type: ignore[arg-type]
    world = make_world("crafter_shared", scenario.config)
    return Room.create(opening_state(scenario, world, "crafter_shared", "den", 1, "00" * 16), world, 0)


def test_opening_again_keeps_the_capacity_and_description_that_are_not_given() -> None:
    room = camp()
    room.call("hostess", "open_to_nexus", {"capacity": 2, "description": "mine"}, at=1)
    shown = room.call("hostess", "open_to_nexus", {"maintenance": True}, at=2)
    assert (shown.capacity, shown.maintenance) == (2, True)
    assert VISITS.read(room.state).nexus is not None
    assert VISITS.read(room.state).nexus.description == "mine"


def test_every_round_of_a_lone_player_has_the_whole_time() -> None:
    room = camp(turn_seconds=20)
    room.call("ann", "jack_in", at=0)
    for at in (15_000, 30_000, 45_000):
        room.call("ann", "noop", at=at)
    assert room.state.members["ann"].timeouts == 0
    assert room.call("ann", "view", at=46_000).observation.step == 3
