"""A world's own figures over many games."""

from fractions import Fraction

import pytest

from cohabit.lab.summaries import Summary, summaries
from cohabit.worlds.crafter.rules import ACHIEVEMENTS


def rates(successes: dict[str, int], seeds: int = 10) -> dict[str, dict[str, list[Fraction]]]:
    """Measures in which each achievement is reached in so many of the seeds."""
    return {
        name: {str(seed): [Fraction(seed < successes.get(name, 0))] for seed in range(seeds)} for name in ACHIEVEMENTS
    }


def test_the_crafter_score_is_the_geometric_mean_of_success_rates() -> None:
    assert summaries("crafter", rates({}))["Crafter score"].value == pytest.approx(0)
    assert summaries("crafter", rates(dict.fromkeys(ACHIEVEMENTS, 10)))["Crafter score"].value == pytest.approx(100)
    half = summaries("crafter", rates(dict.fromkeys(ACHIEVEMENTS[:11], 10)))["Crafter score"]
    assert half.value == pytest.approx(101**0.5 - 1)
    assert half.interval == pytest.approx((half.value, half.value))  # every seed is the same


def test_the_published_human_rates_give_a_score_like_the_published_one() -> None:
    """Success rates of the human experts in 100 games, in percent. The published 50.5 ± 6.8 is the mean of the scores
    of five groups of 20 games, which is a little lower than the score of all 100."""
    human = {
        "collect_coal": 86, "collect_diamond": 12, "collect_drink": 92, "collect_iron": 53, "collect_sapling": 67,
        "collect_stone": 100, "collect_wood": 100, "defeat_skeleton": 31, "defeat_zombie": 84, "eat_cow": 89,
        "eat_plant": 8, "make_iron_pickaxe": 26, "make_iron_sword": 22, "make_stone_pickaxe": 78,
        "make_stone_sword": 78, "make_wood_pickaxe": 100, "make_wood_sword": 45, "place_furnace": 32, "place_plant": 24,
        "place_stone": 90, "place_table": 100, "wake_up": 73,
    }  # fmt: skip
    found = summaries("crafter", rates(human, 100))["Crafter score"]
    assert found.value == pytest.approx(52.0, abs=0.1)
    assert found.interval is not None
    assert found.interval[0] < found.value < found.interval[1]


def test_few_seeds_have_no_interval_and_other_worlds_no_figures() -> None:
    assert summaries("crafter", rates({}, 3))["Crafter score"] == Summary(0.0, None)
    assert summaries("nim", {"stones": {"1": [Fraction(1)]}}) == {}
    assert summaries("./somebody.py", rates({})) == {}
    assert summaries("of_another_machine", rates({})) == {}
