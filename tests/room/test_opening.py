"""Rooms that are opened one after the other by the same scenario."""

from typing import Any

import pytest

from cohabit.lab.opening import Opening
from cohabit.registry import known_games, make_world
from cohabit.room.room import Room
from cohabit.scenario import AgentSpec, Scenario
from cohabit.world import World

from .making import source

SECRET = "00" * 16


def opening_of(source: str, **keys: Any) -> tuple[Opening, World]:
    world = make_world(source, {})
    count = max(1, min(2, world.spec.seat_range[1]))
    agents = [AgentSpec(id=f"p{i + 1}", role="player", claim=f"auto:{i}") for i in range(count)]
    return Opening(Scenario(world=source, agents=agents, **keys), world, source, at=7), world


@pytest.mark.parametrize("source", [*known_games(), source("Founded")])
def test_a_later_room_is_like_the_first_one_with_its_seed(source):
    later, world = opening_of(source)
    later.room("first", 1, SECRET, world)
    for seed in (2, "1f" * 16):
        made = later.room("r", seed, SECRET, make_world(source, {}))
        alone, world = opening_of(source)
        first = alone.room("r", seed, SECRET, world)
        assert made.state == first.state
        assert made.digest() == first.digest()
        assert made.record.tail == first.record.tail
        assert made.seats == first.seats
        assert made.to_move() == first.to_move()
        assert made.timers.idle == first.timers.idle
        assert Room.replay(made.record.tail, make_world).digest() == made.digest()


@pytest.mark.parametrize(
    ("source", "alike"), [("tictactoe", True), ("crafter", True), ("nim", False), ("planet", False)]
)
def test_rooms_open_alike_also_where_a_world_hides_things_unless_it_keeps_returns_or_has_arrivals(
    source: str, alike: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    opening, world = opening_of(source)
    opening.room("first", 1, SECRET, world)
    opened: list[str] = []
    for how in ("open", "open_alike"):
        made = getattr(Room, how)
        monkeypatch.setattr(Room, how, lambda *args, how=how, made=made: opened.append(how) or made(*args))
    opening.room("later", 2, SECRET, make_world(source, {}))
    assert opened == ["open_alike" if alike else "open"]


@pytest.mark.parametrize(
    ("limits", "last"),
    [({}, "mark"), ({"turn_seconds": 5}, "turn_timeout"), ({"rematch_seconds": 5}, "rematch_due")],
)
def test_a_later_room_has_the_time_limits_of_the_first_one(limits, last):
    opening, world = opening_of("tictactoe", **limits)
    for name in ("first", "later"):
        room = opening.room(name, 1, SECRET, world)
        for who, cell in [("p1", 0), ("p2", 3), ("p1", 1), ("p2", 4)]:
            room.call(who, "mark", {"cell": cell}, at=8)
        if last != "turn_timeout":
            room.call("p1", "mark", {"cell": 2}, at=8)
        room.settle(5_008)
        assert room.record.tail[-1].entry.do == last, name


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
