import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.errors import BadArgs
from cohabit.worlds.statecraft.graph import AROUND, SHAPES, checked, connected, distances, generated, placed
from cohabit.worlds.statecraft.worldmap import WORLD

TWENTY = [f"T{i:02}" for i in range(1, 21)]
shapes = st.sampled_from(sorted(SHAPES))
seeds = st.integers(0, 2**32)


@given(st.integers(1, 40), seeds, shapes)
def test_a_generated_map_is_connected_symmetric_and_nobody_has_more_than_four_neighbours(size, seed, shape):
    names = [f"T{i:02}" for i in range(size)]
    found = generated(names, seed, shape)
    assert sorted(found) == names
    assert checked(found) == found
    assert connected(found, names)
    assert max(map(len, found.values())) <= 4


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(20))
def test_a_map_of_twenty_has_two_to_three_neighbours_each_on_average(shape, seed):
    found = generated(TWENTY, seed, shape)
    assert 2.0 <= sum(map(len, found.values())) / 20 <= 3.2


@given(seeds, shapes)
def test_the_order_in_which_names_are_given_changes_nothing_and_the_seed_does(seed, shape):
    assert generated(TWENTY, seed, shape) == generated(TWENTY[::-1], seed, shape)
    assert len({str(generated(TWENTY, other, shape)) for other in range(5)}) == 5


@pytest.mark.parametrize("towards", AROUND)
def test_land_grows_where_it_is_led_to_left_and_down_as_well_as_right_and_up(towards, monkeypatch):
    monkeypatch.setitem(SHAPES, "elbow", (towards,))

    def reach(sign: int) -> int:
        return sum(
            max(sign * (x * towards[0] + y * towards[1]) for x, y in placed(TWENTY, seed).values())
            for seed in range(30)
        )

    assert reach(1) > 2 * reach(-1)


@pytest.mark.parametrize(
    ("graph", "said"),
    [
        ({"A": ["B"], "B": []}, "B is a neighbour of A, and A is none of B"),
        ({"A": ["A"]}, "its own neighbour"),
        ({"A": ["C"]}, "which is no territory"),
        ({"A": ["B", "B"], "B": ["A"]}, "twice"),
        ({" ": []}, "no name"),
    ],
)
def test_a_given_map_that_makes_no_sense_is_refused_in_words(graph, said):
    with pytest.raises(BadArgs) as refused:
        checked(graph)
    assert said in refused.value.message


def test_a_given_map_comes_back_in_name_order():
    assert list(checked({"B": ["C", "A"], "A": ["B"], "C": ["B"]}).items()) == [
        ("A", ["B"]), ("B", ["A", "C"]), ("C", ["B"]),
    ]  # fmt: skip


def test_an_unknown_shape_and_a_name_that_is_given_twice_are_refused():
    with pytest.raises(BadArgs, match="shape"):
        generated(["A", "B"], 1, "blob")
    with pytest.raises(BadArgs, match="different name"):
        generated(["A", "A"], 1)


def test_distances_count_borders_and_leave_out_what_cannot_be_reached():
    assert distances({"A": ["B"], "B": ["A", "C"], "C": ["B"], "D": []}, "A") == {"A": 0, "B": 1, "C": 2}


def test_the_world_map_is_connected_symmetric_and_has_about_thirty_regions():
    assert checked(WORLD) == WORLD
    assert connected(WORLD, list(WORLD))
    assert 28 <= len(WORLD) <= 36
    assert min(map(len, WORLD.values())) >= 2
    assert max(map(len, WORLD.values())) <= 6
