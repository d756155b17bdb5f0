"""Worlds whose snapshots are their moves."""

from collections.abc import Sequence
from itertools import count
from typing import Any

import pytest

from cohabit import Eye, GameRejected, Observation, Outcome, Seat, SeatId, Stream, WorldSpec, action
from cohabit.replayed import ReplayedWorld

CLOCK = count()


class Sums(ReplayedWorld):
    """Add numbers to a sum that begins anywhere."""

    spec = WorldSpec(name="sums", open_information=True)
    by_clock = False

    def begin(self, seed: int, seats: Sequence[Seat]) -> None:
        self.seats = [seat.id for seat in seats]
        self.total = next(CLOCK) if self.by_clock else Stream(seed, "start").between(0, 99)

    def make(self, move: Any) -> str:
        if move < 0:
            raise GameRejected("no negative numbers")
        self.total += move
        return f"The sum is {self.total}."

    def to_move(self) -> Sequence[SeatId]:
        return self.seats

    def observe(self, eye: Eye) -> Observation:
        return Observation(text=str(self.total))

    @action()
    def add(self, by: Seat, n: int) -> Outcome:
        return Outcome(self.do(n))


class Unsteady(Sums):
    by_clock = True


def played(world: Sums, seed: int = 7) -> Sums:
    world.reset(seed, [Seat("1")])
    for n in (1, 2, 3):
        world.add(Seat("1"), n)
    with pytest.raises(GameRejected):
        world.add(Seat("1"), -1)
    return world


def test_a_snapshot_plays_the_moves_again_without_those_that_were_refused() -> None:
    world, other = played(Sums()), Sums()
    other.restore(world.snapshot())
    assert (other.total, other.seats, other.snapshot()) == (world.total, ["1"], world.snapshot())
    other.add(Seat("1"), 4)
    assert other.total == world.total + 4


def test_a_seed_of_128_bits_is_kept() -> None:
    world, other = played(Sums(), 2**128 - 1), Sums()
    other.restore(world.snapshot())
    assert (other.total, other.snapshot()) == (world.total, world.snapshot())


def test_a_world_that_has_not_begun_can_be_restored_too() -> None:
    world = Sums()
    world.restore(Sums().snapshot())
    played(world)


def test_a_game_that_goes_another_way_when_it_is_played_again_is_an_error() -> None:
    world = played(Unsteady())
    with pytest.raises(ValueError, match="sums is not deterministic"):
        Unsteady().restore(world.snapshot())
