"""Crafter in a room: steps, rounds, saves, and what each member sees."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples

from cohabit.errors import GameRejected
from cohabit.scenario import AgentSpec
from cohabit.testing.play import open_room
from cohabit.world import Arrival, Eye, Seat
from cohabit.worlds.crafter.rules import ACTIONS
from cohabit.worlds.crafter.shared import CrafterShared
from cohabit.worlds.crafter.world import Crafter

from .original import Policy

PLAYER = Seat("player", "player")


def solo(seed=1, **options):
    world = Crafter(**options)
    world.reset(seed, [PLAYER])
    return world


def play(world, steps, seed=1):
    policy = Policy(seed)
    for _ in range(steps):
        if not world.is_over():
            world._act(PLAYER, policy())


@pytest.mark.parametrize("randomness", ["stock", "keyed"])
def test_a_restored_game_goes_on_as_if_nothing_had_happened(randomness):
    for seed in range(4):
        one, two = solo(seed, randomness=randomness), solo(99, randomness=randomness)
        play(one, 130 + 10 * seed, seed)
        two.restore(one.snapshot())
        assert two.snapshot() == one.snapshot()
        for world in (one, two):
            play(world, 100, seed + 50)
        assert two.snapshot() == one.snapshot()


def test_a_game_ends_with_death_or_when_time_is_up():
    short = solo(length=3)
    play(short, 2)
    assert not short.is_over()
    play(short, 1)
    assert short.is_over()
    assert short.to_move() == ()
    dead = solo()
    dead.player.health = 0
    assert dead.is_over()


saved = solo(3, size=16)
play(saved, 30, 3)
SAVED = msgspec.msgpack.decode(saved.snapshot())


@settings(max_examples=examples(150), deadline=None)
@given(data=st.data())
def test_a_damaged_save_is_refused_and_changes_nothing_or_is_a_game(data):
    """Whatever is changed in a save: it is refused, and the world stays as it was, or it can be played."""
    damaged = msgspec.msgpack.decode(msgspec.msgpack.encode(SAVED))
    key = data.draw(st.sampled_from(sorted(damaged)))
    value = damaged[key]
    if isinstance(value, list) and value and data.draw(st.booleans()):
        number = data.draw(st.integers(0, len(value) - 1))
        value[number] = data.draw(st.one_of(st.integers(-5, 2**33), st.just([]), st.just(value[0]), st.none()))
    else:
        damaged[key] = data.draw(
            st.one_of(st.integers(-3, 300), st.text(max_size=3), st.binary(max_size=9), st.just([]))
        )
    world = solo(5, size=16)
    before = world.snapshot()
    try:
        world.load(msgspec.msgpack.encode(damaged))
    except GameRejected:
        assert world.snapshot() == before
    else:
        play(world, 5)
        assert world.observe(Eye("player", "own")).text


def test_something_that_is_no_save_is_refused():
    world = solo(size=16)
    for data in (b"", b"nonsense", msgspec.msgpack.encode({"a": 1})):
        with pytest.raises(GameRejected, match="not a save of Crafter"):
            world.load(data)


def test_an_action_without_effect_says_so_and_still_takes_a_step():
    world = solo()
    outcome = world._act(PLAYER, ACTIONS.index("place_table"))
    assert (outcome.success, outcome.message) == (False, "No effect: you need 2 wood and have 0.")
    assert world.game.step_number == 1


def test_the_scoreboard_has_every_achievement_as_a_measure():
    world = solo()
    world.player.achievements[6] = 3
    (row,) = world.standings()
    assert (row.score, row.data["collect_wood"], row.data["wake_up"], len(row.data)) == (1, 1, 0, 22)


def test_everybody_in_a_room_around_one_player_sees_what_it_sees():
    world = solo()
    assert world.observe(Eye(None, "public")) == world.observe(Eye("player", "own"))


def test_a_shared_game_is_over_when_all_players_are_dead_and_not_while_one_is_away():
    world = CrafterShared(size=24)
    world.reset(1, [Seat("1", "a"), Seat("2", "b")])
    world._player("1").health, world._player("1").hurt_by = 0, "zombie"
    assert [entry.text for entry in world.resolve()] == ["player a died: a zombie"]
    assert world.to_move() == ["2"]
    assert not world.is_over()
    with pytest.raises(GameRejected, match="you are dead; the game goes on without you"):
        world._choose(Seat("1", "a"), 0)
    world.respawns = True
    with pytest.raises(GameRejected, match="you are dead; `respawn` brings you back to life"):
        world._choose(Seat("1", "a"), 0)
    world.respawns = False
    world.depart(Seat("2", "b"), "left")
    assert not world.is_over()
    assert list(world.to_move()) == []
    before = world.game.step_number
    world.resolve()
    assert world.game.step_number == before, "time stands still while nobody can act"
    world.arrive(Arrival("b", "2", returns=True))
    world._player("2").health = 0
    world.resolve()
    assert world.is_over()


def test_an_empty_shared_land_waits_for_players():
    world = CrafterShared(size=24)
    world.reset(1, [])
    assert not world.is_over()
    assert list(world.to_move()) == []


def test_a_view_since_an_earlier_one_is_in_the_words_of_the_world():
    world = Crafter()
    room = open_room("crafter", world, 3, {}, [AgentSpec(id="ann", role="player", claim="auto:0")])
    before = room.call("ann", "view", {}, at=1)
    room.call("ann", "act", {"action": "move_left", "params": {}}, at=2)
    text = room.call("ann", "view", {"since": before.id}, at=3).text
    assert text.split("\n")[:3] == [
        f"Changes since view {before.id}:",
        "Step 1, you moved L1. Facing left: grass.",
        "New left ..TT..T",
    ]
