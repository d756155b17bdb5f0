import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.errors import BadArgs
from cohabit.worlds.statecraft.dealing import deal
from cohabit.worlds.statecraft.graph import SHAPES, connected, distances, generated
from cohabit.worlds.statecraft.worldmap import WORLD

seeds = st.integers(0, 2**32)
NATIONS = [f"N{i:02}" for i in range(16)]


@st.composite
def deals(draw):
    nations = NATIONS[: draw(st.integers(1, 16))]
    size = draw(st.integers(len(nations), 40))
    seed = draw(seeds)
    graph = draw(st.sampled_from([generated([f"T{i:02}" for i in range(size)], seed, s) for s in SHAPES] + [WORLD]))
    return graph, nations, seed


@given(deals())
def test_all_land_is_dealt_to_one_nation_each_and_everybodys_land_hangs_together(dealt):
    graph, nations, seed = dealt
    owned, capitals = deal(graph, nations, seed)
    assert sorted(t for land in owned.values() for t in land) == sorted(graph)
    for nation in nations:
        assert capitals[nation] in owned[nation]
        assert owned[nation] == sorted(owned[nation])
        assert connected(graph, owned[nation])


@given(deals(), st.randoms(use_true_random=False))
def test_the_order_in_which_nations_are_named_changes_nothing(dealt, chance):
    graph, nations, seed = dealt
    mixed = list(nations)
    chance.shuffle(mixed)
    assert deal(graph, mixed, seed) == deal(graph, nations, seed)


@given(seeds)
def test_the_second_capital_is_as_far_from_the_first_as_the_map_allows(seed):
    _, capitals = deal(WORLD, ["A", "B"], seed)
    ways = distances(WORLD, capitals["A"])
    assert ways[capitals["B"]] == max(ways.values())


@pytest.mark.parametrize("seed", range(20))
def test_six_nations_on_the_world_map_get_about_the_same(seed):
    owned, _ = deal(WORLD, NATIONS[:6], seed)
    assert max(map(len, owned.values())) - min(map(len, owned.values())) <= 3


def test_land_that_nobody_can_reach_stays_unowned():
    islands = {"A": ["B"], "B": ["A"], "C": ["D"], "D": ["C"], "E": ["F"], "F": ["E"]}
    owned, capitals = deal(islands, ["x", "y"], 1)
    assert sorted(map(len, owned.values())) == [2, 2]
    assert distances(islands, capitals["x"]).get(capitals["y"]) is None


def test_a_nation_without_room_takes_from_a_neighbour_who_gets_something_else_for_it():
    """On a line the first nation of the middle is shut in; land comes to it because its neighbours can move on."""
    line = {f"T{i}": [f"T{j}" for j in (i - 1, i + 1) if 0 <= j < 9] for i in range(9)}
    for seed in range(9):
        owned, _ = deal(line, ["a", "b", "c"], seed)
        assert sorted(map(len, owned.values())) == [3, 3, 3]


def test_more_nations_than_territories_are_refused():
    with pytest.raises(BadArgs, match="3 nations"):
        deal({"A": ["B"], "B": ["A"]}, ["x", "y", "z"], 1)
