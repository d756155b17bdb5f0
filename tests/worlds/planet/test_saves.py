"""A game as bytes and back, and the same game from the same seed."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.worlds.planet.playing import flat, own, planet

from cohabit.errors import GameRejected
from cohabit.model.seat import Seat
from cohabit.model.stream import Stream
from cohabit.worlds.starbound.planets import PLANET_NAMES
from cohabit.worlds.starbound.terrain import make_terrain


def play(world, steps, seed=0):
    """Random sensible play."""
    draw = Stream(seed, "play")
    for _ in range(steps):
        for seat in list(world.to_move()):
            action = draw.choice(list(world.legal(Seat(seat))))
            getattr(world, action.name)(Seat(seat), **action.parameters)
        world.resolve()
    return world


@pytest.mark.parametrize("name", PLANET_NAMES)
def test_a_planet_is_the_same_whenever_it_is_made(name):
    first = make_terrain(7, name)
    make_terrain.cache_clear()
    assert make_terrain(7, name) == first
    assert make_terrain(8, name) != first


def test_a_saved_game_goes_on_as_the_game_itself():
    world = play(planet("ada", "bob", "cid"), 120)
    copy = planet("x")
    copy.restore(world.snapshot())
    assert copy.snapshot() == world.snapshot()
    assert play(copy, 60, 1).snapshot() == play(world, 60, 1).snapshot()
    assert copy.observe(own()) == world.observe(own())


def test_a_snapshot_is_small():
    assert len(play(planet("ada", "bob", "cid"), 200).snapshot()) < 12_000


@given(st.integers(0, 1000))
@settings(max_examples=10, deadline=None)
def test_a_game_is_decided_by_its_seed_and_choices(seed):
    assert play(planet("ada", "bob", seed=seed), 25, seed).snapshot() == (
        play(planet("ada", "bob", seed=seed), 25, seed).snapshot()
    )


@pytest.mark.parametrize(
    "damage",
    [
        lambda saved: saved["bodies"][0].update(place="moon"),
        lambda saved: saved["bodies"][0].update(x=999),
        lambda saved: saved["bodies"][0].update(items={"unobtainium": 1}),
        lambda saved: saved["bodies"][0].update(equipment={"tool": "iron_pickaxe"}),
        lambda saved: saved["bodies"][0].update(health=-1),
        lambda saved: saved["lands"][0].update(name="moon"),
        lambda saved: saved["lands"][0]["cells"].append(3),
        lambda saved: saved.update(chosen={"1": {"name": "fly", "args": {}}}),
        lambda saved: saved.update(chosen={"1": {"name": "move", "args": {"direction": "north", "tiles": 1}}}),
        lambda saved: saved.update(totals={"9": 1.0}),
        lambda saved: saved.update(seed="xyz"),
        lambda saved: saved.update(more=1),
    ],
)
def test_a_damaged_save_is_refused_and_changes_nothing(damage):
    world = planet()
    before = world.snapshot()
    saved = msgspec.msgpack.decode(before)
    damage(saved)
    with pytest.raises(GameRejected, match="not a save"):
        world.restore(msgspec.msgpack.encode(saved))
    assert world.snapshot() == before


def test_bytes_that_are_no_save_are_refused():
    with pytest.raises(GameRejected, match="not a save"):
        planet().restore(b"nonsense")


def test_everything_that_was_dug_and_built_is_in_a_save():
    world = flat()
    copy = planet()
    copy.restore(world.snapshot())
    assert copy.game.land("verdant").tiles == world.game.land("verdant").tiles


def test_items_are_neither_made_nor_lost_by_dropping_and_taking():
    world = flat("ada", "bob")
    bodies = world.game.bodies
    bodies[0].items = {"iron": 5}
    draw = Stream(3, "drops")
    for _ in range(60):
        for body in bodies:
            if draw.chance(1, 2) and body.items.get("iron"):
                world.drop_item(Seat(body.seat), "iron", draw.between(1, body.items["iron"]))
            else:
                world.interact(Seat(body.seat), "bundle")
        world.resolve()
        lying = sum(bundle.items.get("iron", 0) for bundle in world.game.land("verdant").bundles)
        assert sum(body.items.get("iron", 0) for body in bodies) + lying == 5
