import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.errors import BadArgs
from cohabit.worlds.statecraft.maps import (
    DIRECTIONS,
    SHAPES,
    WORLD_MAP,
    distances,
    generate_map,
    is_connected,
    place_on_grid,
    validate_map,
)

TWENTY = [f"T{i:02}" for i in range(1, 21)]
shapes = st.sampled_from(sorted(SHAPES))
seeds = st.integers(0, 2**32)


@given(st.integers(1, 40), seeds, shapes)
def test_a_generated_map_is_connected_and_symmetric_with_at_most_four_neighbours_per_territory(size, seed, shape):
    names = [f"T{i:02}" for i in range(size)]
    found = generate_map(names, seed, shape)
    assert sorted(found) == names
    assert validate_map(found) == found
    assert is_connected(found, names)
    assert max(map(len, found.values())) <= 4


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(20))
def test_a_map_of_twenty_territories_has_two_to_three_neighbours_each_on_average(shape, seed):
    found = generate_map(TWENTY, seed, shape)
    assert 2.0 <= sum(map(len, found.values())) / 20 <= 3.2


@given(seeds, shapes)
def test_a_generated_map_depends_on_the_seed_but_not_on_the_order_of_the_names(seed, shape):
    assert generate_map(TWENTY, seed, shape) == generate_map(TWENTY[::-1], seed, shape)
    assert len({str(generate_map(TWENTY, other, shape)) for other in range(5)}) == 5


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_generated_map_grows_in_its_direction_whichever_that_is(direction, monkeypatch):
    monkeypatch.setitem(SHAPES, "elbow", (direction,))

    def reach(sign: int) -> int:
        return sum(
            max(sign * (x * direction[0] + y * direction[1]) for x, y in place_on_grid(TWENTY, seed).values())
            for seed in range(30)
        )

    assert reach(1) > 2 * reach(-1)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ({"A": ["B"], "B": []}, "A lists B as a neighbour, but B does not list A"),
        ({"A": ["A"]}, "its own neighbour"),
        ({"A": ["C"]}, "which is not a territory"),
        ({"A": ["B", "B"], "B": ["A"]}, "twice"),
        ({" ": []}, "not a valid name"),
    ],
)
def test_an_invalid_map_is_refused_with_the_reason(graph, message):
    with pytest.raises(BadArgs) as refused:
        validate_map(graph)
    assert message in refused.value.message


def test_a_supplied_map_is_sorted_by_name():
    assert list(validate_map({"B": ["C", "A"], "A": ["B"], "C": ["B"]}).items()) == [
        ("A", ["B"]), ("B", ["A", "C"]), ("C", ["B"]),
    ]  # fmt: skip


def test_an_unknown_shape_and_a_duplicate_name_are_refused():
    with pytest.raises(BadArgs, match="shape"):
        generate_map(["A", "B"], 1, "blob")
    with pytest.raises(BadArgs, match="same name"):
        generate_map(["A", "A"], 1)


def test_distances_count_borders_and_leave_out_unreachable_territories():
    assert distances({"A": ["B"], "B": ["A", "C"], "C": ["B"], "D": []}, "A") == {"A": 0, "B": 1, "C": 2}


def test_the_world_map_is_connected_symmetric_and_has_about_thirty_regions():
    assert validate_map(WORLD_MAP) == WORLD_MAP
    assert is_connected(WORLD_MAP, list(WORLD_MAP))
    assert 28 <= len(WORLD_MAP) <= 36
    assert min(map(len, WORLD_MAP.values())) >= 2
    assert max(map(len, WORLD_MAP.values())) <= 6
