"""Which house of a cluster should have which room: pure, so every house computes the same."""

from cohabit.house.directory import FRONT, HOUSE_RECORD
from cohabit.house.nodes.shares import counts_by_place, home_of_travellers, surplus, with_places
from cohabit.house.store.cluster_contract import HeldRoom, LiveNode, Survey


def survey(*nodes: tuple[str, str, bool], **rooms: tuple[str, bool]) -> Survey:
    """``nodes``: place, name, whether it is draining. ``rooms``: place, whether it travels."""
    live = [LiveNode(f"{place}-{name}", name, place, "127.0.0.1:1", draining) for place, name, draining in nodes]
    held = {room: HeldRoom("", place, "w1", travels) for room, (place, travels) in rooms.items()}
    return Survey(live, held, {})


def test_only_houses_that_run_rooms_and_are_not_draining_take_some() -> None:
    found = survey(
        ("a", FRONT, False), ("a", "w1", False), ("a", "w2", False), ("b", FRONT, False),
        ("c", FRONT, True), ("c", "w1", True), ("d", "w1", False),
        one=("a", False), two=("a", False), three=("c", False), **{HOUSE_RECORD: ("d", False)},
    )  # fmt: skip
    assert counts_by_place(found) == {"a": 2, "d": 0}


def test_a_room_goes_to_the_house_that_it_was_released_for_else_where_the_fewest_are() -> None:
    assert with_places({"z": "a", "y": "", "x": "", "w": "gone"}, {"a": 5, "b": 4}) == {
        "w": "b", "x": "a", "y": "b", "z": "a",
    }  # fmt: skip
    assert with_places({"z": ""}, {}) == {}, "nobody can"


def test_rooms_that_travel_go_to_one_house_also_when_nobody_has_any_of_them() -> None:
    orphans = {"a-room": "", "game": "", "nexus": "", "other": "y"}
    assert with_places(orphans, {"x": 0, "y": 0}, ["game", "nexus", "other"]) == {
        "a-room": "x", "game": "y", "nexus": "y", "other": "y",
    }  # fmt: skip
    assert with_places(orphans, {"x": 0, "y": 0}, ["game", "nexus"], "x") == {
        "a-room": "x", "game": "x", "nexus": "x", "other": "y",
    }  # fmt: skip
    assert with_places({"game": "", "nexus": ""}, {"x": 1, "y": 0}, ["game", "nexus"], "gone") == {
        "game": "y", "nexus": "y",
    }  # fmt: skip


def test_rooms_that_travel_have_their_home_where_most_of_them_are() -> None:
    nodes = ("a", "w1", False), ("b", "w1", False)
    assert home_of_travellers(survey(*nodes, one=("a", False)), ["a", "b"]) is None
    most = survey(*nodes, one=("a", True), two=("b", True), three=("b", True), four=("a", False))
    assert home_of_travellers(most, ["a", "b"]) == "b"
    assert home_of_travellers(most, ["a"]) == "a", "the other one does not take rooms"
    assert home_of_travellers(survey(*nodes, one=("b", True), two=("a", True)), ["b", "a"]) == "a", "the same for all"


def test_a_house_gives_others_no_more_than_they_lack_and_keeps_its_own_share() -> None:
    assert surplus("a", {"a": 4, "b": 0}) == {"b": 2}
    assert surplus("a", {"a": 9, "b": 1, "c": 2}) == {"b": 3, "c": 2}
    assert surplus("a", {"a": 5, "b": 5, "c": 0}) == {"c": 2}
    assert surplus("a", {"a": 2, "b": 1}) == surplus("a", {"a": 1, "b": 0}) == {}
    assert surplus("b", {"a": 4, "b": 0}) == surplus("c", {"a": 4, "b": 0}) == {}
