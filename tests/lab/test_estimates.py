"""Intervals and pairing: properties that hold for any sample; ratings against openskill's own functions."""

from fractions import Fraction
from itertools import chain
from math import isclose, sqrt
from statistics import mean, stdev
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples

from cohabit.lab.design import seatings
from cohabit.lab.estimates import (
    MIN_SAMPLE,
    Z_975,
    estimate,
    independent_games,
    paired_difference,
    share_interval,
    t_quantile,
)
from cohabit.lab.game import GameResult, GameSpec
from cohabit.lab.ratings import ranks, rate
from cohabit.model.stream import Stream
from cohabit.world import Standing

numbers = st.fractions(-1000, 1000, max_denominator=100)
samples = st.lists(numbers, min_size=2, max_size=40)


@given(samples)
def test_an_interval_is_that_of_students_t(values: list[Fraction]) -> None:
    found = estimate(values)
    assert found is not None
    assert found.half_width is not None
    expected = t_quantile(len(values) - 1) * stdev(map(float, values)) / sqrt(len(values))
    assert isclose(found.half_width, expected, rel_tol=1e-6, abs_tol=1e-6)


@given(st.lists(numbers, min_size=1, max_size=12))
def test_an_interval_is_shown_from_five_seeds_on_and_only_if_they_differ(values: list[Fraction]) -> None:
    found = estimate(values)
    assert found is not None
    shown = found.over_seeds()
    assert ("±" in shown) == (found.interval is not None) == (len(values) >= MIN_SAMPLE and len(set(values)) > 1)
    assert ("too few" in shown) == (1 < len(values) < MIN_SAMPLE)
    assert ("alike" in shown) == (len(values) >= MIN_SAMPLE and len(set(values)) == 1)


@given(samples, numbers, st.fractions(1, 10, max_denominator=10))
def test_an_interval_moves_and_stretches_with_the_sample(values: list[Fraction], add: Fraction, by: Fraction) -> None:
    one, other = estimate(values), estimate([by * value + add for value in values])
    assert one is not None
    assert other is not None
    assert other.mean == by * one.mean + add
    assert isclose(other.half_width or 0, float(by) * (one.half_width or 0), rel_tol=1e-9, abs_tol=1e-9)


@given(samples)
def test_the_order_of_a_sample_does_not_matter(values: list[Fraction]) -> None:
    assert estimate(values) == estimate(values[::-1])


@given(st.dictionaries(st.integers(0, 50), st.tuples(numbers, numbers), min_size=1))
def test_a_paired_difference_is_antisymmetric_and_of_the_means(pairs: dict[int, tuple[Fraction, Fraction]]) -> None:
    first, second = {k: a for k, (a, _) in pairs.items()}, {k: b for k, (_, b) in pairs.items()}
    found, back = paired_difference(first, second), paired_difference(second, first)
    assert found is not None
    assert back is not None
    assert (
        found.mean == -back.mean == (sum(first.values(), Fraction(0)) - sum(second.values(), Fraction(0))) / len(pairs)
    )
    assert found.half_width == back.half_width
    assert found.n == len(pairs)


@given(st.dictionaries(st.integers(0, 50), numbers, min_size=2), numbers)
def test_what_all_pairs_share_cancels_out(first: dict[int, Fraction], gap: Fraction) -> None:
    found = paired_difference(first, {key: value - gap for key, value in first.items()})
    assert found is not None
    assert (found.mean, found.half_width) == (gap, 0.0)


def test_seeds_without_a_partner_are_left_out_of_a_paired_difference() -> None:
    found = paired_difference({1: Fraction(5), 2: Fraction(1)}, {2: Fraction(0), 3: Fraction(100)})
    assert found is not None
    assert (found.mean, found.n) == (1, 1)
    assert paired_difference({1: Fraction(1)}, {2: Fraction(1)}) is None


@given(st.integers(1, 400), st.data())
def test_the_interval_of_a_share_contains_it_and_solves_the_score_equation(n: int, data: st.DataObject) -> None:
    won = data.draw(st.integers(0, n))
    found = share_interval(Fraction(won, n), n)
    assert found is not None
    low, high = found
    assert 0 <= low <= won / n + 1e-12
    assert won / n - 1e-12 <= high <= 1
    for p in (low, high):  # (share - p)² = z² p (1 - p) / n at both ends
        assert isclose((won / n - p) ** 2, Z_975**2 * p * (1 - p) / n, rel_tol=1e-9, abs_tol=1e-12)


@given(st.integers(1, 200), st.data())
def test_the_intervals_of_a_share_and_of_its_rest_mirror_each_other(n: int, data: st.DataObject) -> None:
    won = data.draw(st.integers(0, n))
    mine, other = share_interval(Fraction(won, n), n), share_interval(Fraction(n - won, n), n)
    assert mine is not None
    assert other is not None
    assert isclose(mine[0], 1 - other[1], abs_tol=1e-12)


def test_no_games_have_no_share() -> None:
    assert share_interval(0, 0) is None
    assert independent_games([]) == 0


@pytest.mark.parametrize("seeds", [5, 30])
@pytest.mark.parametrize("alike", [False, True])
def test_the_interval_of_a_share_holds_it_in_19_of_20_runs_also_if_the_games_of_a_seed_end_alike(
    seeds: int, alike: bool
) -> None:
    coin, runs, held = Stream(7, "coin"), 400, 0
    for _ in range(runs):
        games = [[Fraction(coin.below(10) < 6) for _ in range(1 if alike else 4)] for _ in range(seeds)]
        by_seed = [results * 4 if alike else results for results in games]
        low, high = share_interval(mean(chain.from_iterable(by_seed)), independent_games(by_seed)) or (0, 0)
        held += low <= 0.6 <= high
    assert held / runs > 0.93


@given(st.lists(st.lists(st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(1)]), min_size=1), min_size=1))
def test_games_are_worth_as_many_independent_ones_as_there_are_seeds_to_games(by_seed: list[list[Fraction]]) -> None:
    assert len(by_seed) <= independent_games(by_seed) <= sum(map(len, by_seed))


# -- ratings ----------------------------------------------------------------------------------------
def played(names: list[str], points: list[int], number: int = 0) -> GameResult:
    seats = [f"s{i}" for i in range(len(names))]
    return GameResult(
        GameSpec(f"g{number}", "w", names, names), "over", 0, 0, seats, [0.0] * len(names), {},
        [Standing(seat, seat, point) for seat, point in zip(seats, points, strict=True)], [], 0, "",
    )  # fmt: skip


matches = st.lists(
    st.tuples(st.permutations(["a", "b", "c"]), st.lists(st.integers(0, 3), min_size=3, max_size=3)), max_size=8
)


@given(st.permutations(["a", "b", "c"]), st.lists(st.integers(0, 3), min_size=3, max_size=3))
def test_the_rating_after_one_game_is_that_of_openskill(names: list[str], points: list[int]) -> None:
    models = pytest.importorskip("openskill.models")
    model = models.PlackettLuce()
    teams = model.rate([[model.rating()] for _ in names], scores=[float(point) for point in points])
    found = {each.player: each for each in rate([played(names, points)])}
    for name, (rating,) in zip(names, teams, strict=True):
        assert isclose(found[name].mu, rating.mu)
        assert isclose(found[name].sigma, rating.sigma)
        assert isclose(found[name].ordinal, rating.ordinal())


@settings(deadline=None, max_examples=examples(15))
@given(matches, st.data())
def test_ratings_do_not_depend_on_the_order_of_the_games(
    games: list[tuple[list[str], list[int]]], data: st.DataObject
) -> None:
    pytest.importorskip("openskill")
    made = [played(list(names), points, number) for number, (names, points) in enumerate(games)]
    assert rate(data.draw(st.permutations(made))) == rate(made)


def test_the_uncertainty_includes_how_much_the_rating_depends_on_the_order() -> None:
    models = pytest.importorskip("openskill.models")
    won = [played(["it", "other"], [1, 0], i) for i in range(20)]
    lost = [played(["it", "other"], [0, 1], 20 + i) for i in range(20)]

    def after(games: list[GameResult]) -> Any:
        model = models.PlackettLuce()
        ratings = {name: model.rating() for name in ("it", "other")}
        for game in games:
            rated = model.rate([[ratings[name]] for name in game.spec.named], scores=[s.score for s in game.standings])
            ratings |= {name: team[0] for name, team in zip(game.spec.named, rated, strict=True)}
        return ratings["it"]

    in_turn = after([game for pair in zip(won, lost, strict=True) for game in pair])
    found = next(each for each in rate([*won, *lost]) if each.player == "it")
    assert after([*won, *lost]).mu < 20 < found.mu < 30 < after([*lost, *won]).mu
    assert found.sigma > 1.05 * in_turn.sigma


def test_the_winner_is_rated_first_and_with_less_uncertainty_than_at_the_start() -> None:
    pytest.importorskip("openskill")
    best, worst = rate([played(["good", "bad"], [1, 0], i) for i in range(5)])
    assert (best.player, worst.player, best.games) == ("good", "bad", 5)
    assert best.mu > 25 > worst.mu
    assert best.sigma < 25 / 3


def test_players_that_no_games_connect_are_rated_in_groups_of_their_own() -> None:
    pytest.importorskip("openskill")
    made = [played(["a", "b"], [1, 0], 0), played(["c", "d"], [1, 0], 1), played(["e", "d"], [0, 1], 2)]
    found = rate([*made, played(["alone", "alone"], [1, 0], 3)])
    groups = {number: {each.player for each in found if each.group == number} for number in range(3)}
    assert [each.group for each in found] == [1, 1, 1, 2, 2, 0]
    assert sorted(map(sorted, groups.values())) == [["a", "b"], ["alone"], ["c", "d", "e"]]
    joined = rate([*made, played(["b", "e"], [0, 1], 4)])
    assert {each.group for each in joined} == {1}
    assert [each.mu for each in joined] == sorted((each.mu for each in joined), reverse=True)


def test_a_game_against_itself_does_not_change_a_rating() -> None:
    pytest.importorskip("openskill")
    (only,) = rate([played(["a", "a"], [1, 0])])
    assert (only.mu, only.games) == (25.0, 0)


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=6))
def test_equal_scores_share_a_place_and_better_ones_are_before(values: list[int]) -> None:
    places = ranks(values)
    for value, place in zip(values, places, strict=True):
        for other, its in zip(values, places, strict=True):
            assert (value > other) == (place < its)


@given(st.integers(1, 5))
def test_each_player_takes_each_seat_once(count: int) -> None:
    players = [f"p{i}" for i in range(count)]
    orders = seatings(players, "rotate")
    for seat in range(count):
        assert sorted(order[seat] for order in orders) == players
