"""Rooms that are opened one after the other by the same scenario."""

import pytest

from cohabit.registry import known_games, make_world
from cohabit.room.opening import Opening
from cohabit.room.room import Room
from cohabit.scenario import AgentSpec, Scenario
from cohabit.world import World

SECRET = "00" * 16


def opening_of(source: str) -> tuple[Opening, World]:
    world = make_world(source, {})
    count = max(1, min(2, world.spec.seat_range[1]))
    agents = [AgentSpec(id=f"p{i + 1}", role="player", claim=f"auto:{i}") for i in range(count)]
    return Opening(Scenario(world=source, agents=agents), world, source, at=7), world


@pytest.mark.parametrize("source", known_games())
def test_a_later_room_is_like_the_first_one_with_its_seed(source):
    later, world = opening_of(source)
    later.room("first", 1, SECRET, world)
    for seed in (2, 3):
        made = later.room("r", seed, SECRET, make_world(source, {}))
        alone, world = opening_of(source)
        first = alone.room("r", seed, SECRET, world)
        assert made.state == first.state
        assert made.digest() == first.digest()
        assert made.record.tail == first.record.tail
        assert made.seats == first.seats
        assert made.to_move() == first.to_move()
        assert Room.replay(made.record.tail, make_world).digest() == made.digest()


@pytest.mark.parametrize("source", known_games())
def test_rooms_of_one_opening_share_nothing_that_changes(source):
    opening, world = opening_of(source)
    opening.room("first", 1, SECRET, world)
    one, other = (opening.room(name, 5, SECRET, make_world(source, {})) for name in ("one", "other"))
    before = other.digest()
    for member in one.state.members.values():
        one.system("presence", {"members": [member.id], "here": True}, 8)
        action = one.fallback(member)
        if action is not None and member.seat in one.to_move():
            one.call(member.id, "act", action, at=9)
    assert one.record.seq > 0
    assert other.digest() == before
