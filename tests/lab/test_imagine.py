"""A player that searches gets worlds that it could be in, never the one that it is in."""

from pathlib import Path

import pytest

from cohabit.errors import BadArgs, PermissionDenied
from cohabit.lab.imagine import imagine
from cohabit.registry import make_world
from cohabit.room.opening import opening_state
from cohabit.room.room import Room
from cohabit.scenario import AgentSpec, Scenario
from cohabit.world import Stream

PIG = str(Path(__file__).parents[2] / "examples" / "pig.py")


def opened(source: str) -> Room:
    players = [AgentSpec(id=name, role="player", claim=f"auto:{i}") for i, name in enumerate(("ann", "bob"))]
    plan = Scenario(scenario="test", world=source, agents=players)
    world = make_world(source, plan.config)
    return Room.create(opening_state(plan, world, source, "test", 3, "00" * 16), world, 0)


def test_an_imagined_world_looks_the_same_to_its_player_and_has_other_secrets():
    room = opened("lanterns")
    for _ in range(5):
        room.system("ticks", {"n": 3}, 0)
    ann = room.state.members["ann"]
    eye = room.eye_of(ann)
    worlds = [imagine(room, "ann", Stream(number, "imagined")) for number in range(3)]
    assert all(world.observe(eye) == room.world.observe(eye) for world in worlds)
    assert len({world.snapshot() for world in [*worlds, room.world]}) == 4


def test_what_is_imagined_does_not_change_the_room():
    room = opened("lanterns")
    before = room.digest()
    imagine(room, "ann", Stream(1, "imagined")).advance(20)
    assert room.digest() == before


def test_the_dice_that_fall_next_are_not_those_of_the_room(tmp_path):
    file = tmp_path / "pig.py"
    file.write_text(Path(PIG).read_text().replace('pace="turns"', 'pace="turns", open_information=True'))
    room = opened(str(file))
    rolls = {imagine(room, "ann", Stream(n, "imagined")).die.bits64() for n in range(3)}  # type: ignore[attr-defined]
    assert len({*rolls, room.world.die.bits64()}) == 4  # type: ignore[attr-defined]


def test_a_world_that_may_hide_something_and_cannot_be_redrawn_is_refused():
    with pytest.raises(BadArgs, match="implement resample"):
        imagine(opened(PIG), "ann", Stream(1, "imagined"))


def test_a_stranger_imagines_nothing():
    with pytest.raises(PermissionDenied, match="sees nothing"):
        imagine(opened("lanterns"), "stranger", Stream(1, "imagined"))
