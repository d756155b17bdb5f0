"""With one player and the original's draws, the game is the original, bit for bit. `crafter` 1.8.3 is the oracle."""

import numpy as np
import opensimplex
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples

from cohabit.worlds.crafter.draws import StockDraws
from cohabit.worlds.crafter.game import Game
from cohabit.worlds.crafter.noise import Field, permutations
from cohabit.worlds.crafter.rules import ACHIEVEMENTS, ACTIONS, ITEMS, MATERIALS

from .original import Original, ours, play_both, theirs
from .original_noise import WithLists


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(6))
def test_a_game_is_the_original_until_the_player_dies(seed):
    play_both(seed, steps=1000)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 104))
def test_a_long_game_is_the_original_through_days_and_nights(seed):
    played = play_both(seed, steps=700, immortal=True)
    assert played > 300, "the game has to see a night"


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(1000, 1100))
def test_100_seeds_of_up_to_10000_steps_are_the_original(seed):
    play_both(seed, steps=10_000, immortal=seed % 2 == 0)


def test_seeds_of_128_bits_give_the_original_too():
    seed = 0xC0FFEE_0123456789ABCDEF_42
    env = Original(seed)
    env.reset()
    assert ours(Game.new(StockDraws(seed))) == theirs(env)


def test_the_tables_are_those_of_the_original():
    from crafter import constants

    assert list(ACTIONS) == constants.actions
    assert list(MATERIALS[1:]) == constants.materials
    assert list(ACHIEVEMENTS) == constants.achievements
    assert ["health", "food", "drink", "energy", *ITEMS] == list(constants.items)


@settings(max_examples=examples(20), deadline=None)
@given(
    seed=st.integers(0, 2**31 - 1),
    z=st.integers(0, 8),
    scale=st.sampled_from([1, 3, 5, 7.5, 15]),
    at=st.integers(-50, 50),
)
def test_noise_is_the_reference_noise_to_the_last_bit(seed, z, scale, at):
    reference = opensimplex.OpenSimplex(seed=seed)
    x, y = np.meshgrid((np.arange(8) + at) / scale, (np.arange(8) - at) / scale)
    x, y = x.reshape(-1), y.reshape(-1)
    expected = [reference.noise3(a, b, z) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    field = Field(x, y, z)
    assert field.everywhere(field.gradients(permutations([seed])))[0].tolist() == expected
    quick = WithLists(seed)  # which the original uses here
    assert [quick.noise3(a, b, z) for a, b in zip(x.tolist(), y.tolist(), strict=True)] == expected


@settings(max_examples=examples(50), deadline=None)
@given(seed=st.integers(0, 2**40), calls=st.lists(st.integers(0, 200), max_size=50))
def test_draws_are_those_of_the_legacy_generator_of_numpy(seed, calls):
    draws, reference = StockDraws(seed), np.random.RandomState(hash((seed, 1)) % (2**31 - 1))
    for call in calls:
        if call == 0:
            assert draws.uniform(0, 0) == reference.uniform()
        elif call == 1:
            reference.uniform(32, 127, (63, 49))
            draws.night()
            draws.start_step(0)
        else:
            assert draws.below(call, 0, 0) == reference.randint(0, call)
    assert draws.uniform(0, 0) == reference.uniform()
