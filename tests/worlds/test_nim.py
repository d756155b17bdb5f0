import pytest

from cohabit.agents.brains.scripted import NimMaster
from cohabit.world import Eye, GameRejected, Seat
from cohabit.worlds.nim import Nim

FIRST, SECOND = Seat("first", "first"), Seat("second", "second")


def nim(stones: int | None = None, seed: int = 1) -> Nim:
    world = Nim(stones)
    world.reset(seed, [FIRST, SECOND])
    return world


def test_the_first_player_starts_and_then_they_take_turns():
    world = nim(10)
    assert world.to_move() == ["first"]
    world.take(FIRST, 3)
    assert world.to_move() == ["second"]
    world.take(SECOND, 1)
    assert world.to_move() == ["first"]
    assert world.heap(Eye()) == 6


def test_taking_the_last_stone_wins_and_ends_the_game():
    world = nim(4)
    world.take(FIRST, 3)
    assert world.returns() == {}
    outcome = world.take(SECOND, 1)
    assert outcome.reward == 1.0
    assert world.returns() == {"first": -1.0, "second": 1.0}
    assert world.to_move() == []
    assert [(s.seat, s.score) for s in world.standings()] == [("second", 1), ("first", 0)]


def test_at_the_end_each_player_reads_whether_it_won_or_lost():
    world = nim(1)
    assert "You " not in world.observe(Eye("first")).text
    world.take(FIRST, 1)
    assert world.observe(Eye("first")).text.endswith("\nYou won.")
    assert world.observe(Eye("second")).text.endswith("\nYou lost.")
    assert "You " not in world.observe(Eye()).text


def test_taking_more_stones_than_there_are_is_refused_and_changes_nothing():
    world = nim(2)
    before = world.snapshot()
    with pytest.raises(GameRejected, match="only 2 stones are left"):
        world.take(FIRST, 3)
    assert world.snapshot() == before
    assert [a.parameters["n"] for a in world.legal(FIRST)] == [1, 2]


def test_the_size_of_the_heap_comes_from_the_seed_unless_it_is_given():
    assert nim(seed=5).stones == nim(seed=5).stones
    assert {nim(seed=seed).stones for seed in range(50)} == set(range(12, 22))
    assert nim(99).stones == 99


def test_a_player_who_runs_out_of_time_takes_one_stone():
    world = nim(10)
    world.skip(FIRST)
    assert (world.stones, world.to_move()) == (9, ["second"])


@pytest.mark.parametrize("stones", [s for s in range(1, 30) if s % 4])
def test_the_nim_master_wins_whenever_the_position_allows_it(stones):
    world, brain = nim(stones), NimMaster("test")
    while world.to_move():
        world.take(FIRST, brain.decide(world.observe(Eye("first", "own"))).parameters["n"])
        if world.to_move():
            world.take(SECOND, 1 + world.stones % 3 if world.stones > 2 else 1)
    assert world.winner == "first"
