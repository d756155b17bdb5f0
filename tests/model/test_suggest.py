"""Similar names."""

from hypothesis import given
from hypothesis import strategies as st

from cohabit.model.suggest import distance, nearest


def test_the_most_similar_names_come_first_and_ties_by_code_point() -> None:
    assert nearest("humn", ["orc", "human", "hum", "Humn", "elf"], 3) == ["Humn", "hum", "human"]


def test_internal_names_are_never_suggested() -> None:
    assert nearest("wolf", ["$wolf", "_wolf", "golf"]) == ["golf"]


def test_there_is_no_minimum_similarity_but_a_limit_of_five() -> None:
    assert nearest("zzzzzzzz", "fedcba") == ["a", "b", "c", "d", "e"]


def test_the_distances_of_known_pairs() -> None:
    assert [distance(*pair) for pair in (("kitten", "sitting"), ("", "abc"), ("abc", "abc"))] == [3, 3, 0]


@given(st.text(max_size=8), st.text(max_size=8), st.text(max_size=8))
def test_distance_is_a_metric(a: str, b: str, c: str) -> None:
    assert (distance(a, b) == 0) == (a == b)
    assert distance(a, b) == distance(b, a)
    assert distance(a, c) <= distance(a, b) + distance(b, c)


def test_a_very_long_name_takes_no_extra_time() -> None:
    assert nearest("x" * 10_000_000, ["a", "b"]) == ["a", "b"]
