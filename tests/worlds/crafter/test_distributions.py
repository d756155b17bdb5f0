"""Both kinds of randomness make the same kind of games: `stock` reads one sequence, `keyed` hashes purposes and places.

Each quantity is measured in games of both kinds, and the two samples are compared with the Kolmogorov-Smirnov test. The
seeds are fixed, so the outcome is too. The critical value is that for one in 10,000, since there are many quantities.
"""

import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import pytest

from cohabit.worlds.crafter import balance
from cohabit.worlds.crafter.batch.draws import StepDraws, seed_words
from cohabit.worlds.crafter.batch.library import Library
from cohabit.worlds.crafter.draws import KeyedDraws, StockDraws
from cohabit.worlds.crafter.game import Game
from cohabit.worlds.crafter.rules import (
    ACHIEVEMENT,
    ACTIONS,
    COW,
    MATERIALS,
    MOST,
    NAMES,
    NOOP,
    SKELETON,
    ZOMBIE,
)  # fmt: skip

Sample = dict[str, list[float]]
GAMES = 120
STEPS = 250  # into the night
CRITICAL = math.sqrt(-math.log(0.0001 / 2) / 2)  # times sqrt((n + m) / nm)


def difference(one: Sequence[float], two: Sequence[float]) -> float:
    """The largest distance between the distribution functions of two samples."""
    values = np.unique([*one, *two])
    below = [np.searchsorted(np.sort(sample), values, side="right") / len(sample) for sample in (one, two)]
    return float(np.abs(below[0] - below[1]).max())


def critical(one: Sequence[float], two: Sequence[float]) -> float:
    return CRITICAL * math.sqrt((len(one) + len(two)) / (len(one) * len(two)))


def compare(one: Sample, two: Sample) -> dict[str, float]:
    """How far the samples differ, as parts of the critical value."""
    return {name: difference(one[name], two[name]) / critical(one[name], two[name]) for name in one}


def creatures(game: Game) -> dict[str, float]:
    counts = Counter(thing.kind for thing in game.land.things)
    return {NAMES[kind]: counts[kind] for kind in (COW, ZOMBIE, SKELETON)}


def new_world(game: Game) -> dict[str, float]:
    materials = np.bincount(game.land.materials().reshape(-1), minlength=len(MATERIALS))
    return dict(zip(MATERIALS[1:], materials[1:].tolist(), strict=True)) | creatures(game)


def after_a_day(game: Game) -> dict[str, float]:
    """The creatures when night has come, around a player who stands still and is healed."""
    for _ in range(STEPS):
        game.players[0].health = MOST
        game.step({0: NOOP})
    near = sum(thing.kind == ZOMBIE and abs(thing.x - 32) + abs(thing.y - 32) < 12 for thing in game.land.things)
    return creatures(game) | {"zombies near the player": near, "chunks": len(game.land.chunks)}


def a_life(game: Game) -> dict[str, float]:
    """How a random player fares."""
    player = game.players[0]
    chance = random.Random(int(game.draws.uniform(0, 0) * 2**32))
    while player.alive and game.step_number < 500:
        game.step({0: chance.randrange(len(ACTIONS))})
    return {
        "steps": game.step_number,
        "reward": round(player.total_reward, 1),
        **{
            name: player.achievements[ACHIEVEMENT[name]]
            for name in ("collect_sapling", "collect_drink", "collect_wood")
        },
    }


@cache
def sample(
    kind: type[StockDraws] | type[KeyedDraws], measure: Callable[[Game], dict[str, float]], first: int
) -> Sample:
    rows = [measure(Game.new(kind(seed))) for seed in range(first, first + GAMES)]
    return {name: [row[name] for row in rows] for name in rows[0]}


LONGER = [pytest.param(measure, marks=pytest.mark.soak) for measure in (new_world, a_life, after_a_day)]
"""They take seconds. What a game draws is tested always: `test_original.py` compares the stock draws with the original,
and `test_batch.py` the keyed ones with another implementation."""


@pytest.mark.parametrize("measure", LONGER)
def test_keyed_and_stock_games_have_the_same_distributions(measure: Callable[[Game], dict[str, float]]) -> None:
    found = compare(sample(StockDraws, measure, 0), sample(KeyedDraws, measure, 5000))
    assert found
    assert all(ratio < 1 for ratio in found.values()), found


@pytest.mark.soak
def test_games_with_fewer_zombies_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(balance, "_ZOMBIES", balance._ZOMBIES._replace(spawn_chance=0.15))
    found = compare(sample(StockDraws, after_a_day, 0), sample.__wrapped__(KeyedDraws, after_a_day, 5000))
    assert found["zombie"] > 1


def test_keyed_draws_are_uniform_and_neighbours_are_not_alike() -> None:
    games, steps, places, purposes = range(20), range(0, 10_000, 250), np.arange(0, 5184, 100), range(28)
    library = Library()
    words = [column.astype(np.uint32) for column in seed_words(games).T]
    every = np.repeat(np.arange(len(games)), len(places))
    bits = np.array([
        [draws.bits(what, every, np.tile(places, len(games))) for what in purposes]
        for draws in (StepDraws(library, words, np.full(len(games), step)) for step in steps)
    ]).reshape(len(steps), len(purposes), len(games), len(places))  # fmt: skip
    numbers = bits / 2**32
    even = (np.arange(numbers.size) + 0.5) / numbers.size
    assert np.abs(np.sort(numbers, axis=None) - even).max() < CRITICAL / math.sqrt(numbers.size)
    for axis in range(4):  # steps, purposes, games, places
        first, second = (np.delete(numbers, at, axis=axis).reshape(-1) for at in (0, -1))
        assert abs(np.corrcoef(first, second)[0, 1]) < 4 / math.sqrt(first.size)
