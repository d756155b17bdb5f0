"""Ratings: each nation is rated by the others, and what it thinks of itself does not count."""

from cohabit.worlds.statecraft.ratings import mean_ratings, published_ratings, update_ratings

MATRIX = {"A": {"A": 10, "B": 7, "C": 1}, "B": {"A": 4, "B": 10}, "C": {"A": 5, "B": 6}}


def test_the_mean_is_that_of_the_others_and_is_rounded_down_to_tenths() -> None:
    assert mean_ratings(MATRIX) == {"A": 4.5, "B": 6.5, "C": 1.0}
    assert mean_ratings({"A": {}, "B": {"A": 1}, "C": {"A": 2}, "D": {"A": 2}}) == {"A": 1.6}


def test_a_nation_that_nobody_else_has_rated_has_no_mean() -> None:
    assert mean_ratings({"A": {"A": 9}, "B": {}}) == {}


def test_a_rating_stays_until_its_rater_gives_a_new_one() -> None:
    after = update_ratings(MATRIX, {"B": {"A": 9, "C": 2}})
    assert after == {**MATRIX, "B": {"A": 9, "B": 10, "C": 2}}
    assert MATRIX["B"] == {"A": 4, "B": 10}


def test_both_matrices_are_published_under_their_own_names() -> None:
    assert published_ratings(MATRIX, {"A": {"B": 3}, "B": {}}) == {
        "keeps_word": {"A": 4.5, "B": 6.5, "C": 1.0}, "aggressor": {"B": 3.0},
    }  # fmt: skip
