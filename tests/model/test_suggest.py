"""Similar names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.model.suggest import distance, nearest


def test_the_most_similar_names_come_first_and_ties_by_code_point() -> None:
    assert nearest("humn", ["orc", "human", "hum", "Humn", "elf"], 3) == ["Humn", "hum", "human"]


def test_internal_names_are_never_suggested() -> None:
    assert nearest("wolf", ["$wolf", "_wolf", "golf"]) == ["golf"]


def test_only_similar_names_are_suggested_and_at_most_five() -> None:
    assert nearest("zzzzzzzz", "fedcba") == []
    assert nearest("pause", ["take", "act", "audit", "picture"]) == []
    assert nearest("wolf", [f"wolf{i}" for i in range(9)]) == [f"wolf{i}" for i in range(5)]


def test_swapped_letters_and_a_name_within_the_other_count_as_similar() -> None:
    assert nearest("bbo", ["ada", "bob", "cleo"]) == ["bob"]
    assert nearest("spawn_human", ["snowman", "human", "sponge"]) == ["human"]


def test_a_common_prefix_alone_does_not_make_names_similar() -> None:
    assert nearest("worldbox_muster", ["worldbox_pause", "worldbox_spawn", "muster"]) == ["muster"]
    assert nearest("rotate_tokne", ["rotate_token", "revoke_token", "create_room"]) == ["rotate_token"]


@pytest.mark.parametrize(
    "name", ["FactionPlayer", "factionplayer", "faction-player", "FACTION_PLAYER", "Faction Player"]
)
def test_a_name_in_another_spelling_is_suggested_first(name: str) -> None:
    assert nearest(name, ["player", "faction", "faction_player", "god"])[0] == "faction_player"


@given(st.lists(st.from_regex(r"[a-z]{2,6}", fullmatch=True), min_size=1, max_size=4))
def test_every_spelling_of_a_name_leads_to_it(words: list[str]) -> None:
    known = "_".join(words)
    camel = "".join(word.capitalize() for word in words)
    for name in (camel, camel[0].lower() + camel[1:], "-".join(words), known.upper(), " ".join(words)):
        assert nearest(name, [known, "0123456789012345678901234567890"]) == [known]


def test_the_distances_of_known_pairs() -> None:
    assert [distance(*pair) for pair in (("kitten", "sitting"), ("", "abc"), ("abc", "abc"))] == [3, 3, 0]


@given(st.text(max_size=8), st.text(max_size=8), st.text(max_size=8))
def test_distance_is_a_metric(a: str, b: str, c: str) -> None:
    assert (distance(a, b) == 0) == (a == b)
    assert distance(a, b) == distance(b, a)
    assert distance(a, c) <= distance(a, b) + distance(b, c)


def test_a_very_long_name_takes_no_extra_time() -> None:
    assert nearest("x" * 10_000_000, ["x" * 201, "b"]) == ["x" * 201]
