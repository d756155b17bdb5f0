import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.errors import BadArgs
from cohabit.worlds.statecraft.maps import SHAPES, WORLD_MAP, distances, generate_map, is_connected
from cohabit.worlds.statecraft.setup import assign_territories

seeds = st.integers(0, 2**32)
NATIONS = [f"N{i:02}" for i in range(16)]


@st.composite
def assignments(draw):
    nations = NATIONS[: draw(st.integers(1, 16))]
    size = draw(st.integers(len(nations), 40))
    seed = draw(seeds)
    graph = draw(
        st.sampled_from([generate_map([f"T{i:02}" for i in range(size)], seed, s) for s in SHAPES] + [WORLD_MAP])
    )
    return graph, nations, seed


@given(assignments())
def test_every_territory_gets_one_owner_and_the_territories_of_a_nation_are_connected(case):
    graph, nations, seed = case
    owned, capitals = assign_territories(graph, nations, seed)
    assert sorted(t for land in owned.values() for t in land) == sorted(graph)
    for nation in nations:
        assert capitals[nation] in owned[nation]
        assert owned[nation] == sorted(owned[nation])
        assert is_connected(graph, owned[nation])


@given(assignments(), st.randoms(use_true_random=False))
def test_the_order_of_the_nations_does_not_change_the_assignment(case, random):
    graph, nations, seed = case
    shuffled = list(nations)
    random.shuffle(shuffled)
    assert assign_territories(graph, shuffled, seed) == assign_territories(graph, nations, seed)


@given(seeds)
def test_the_second_capital_is_as_far_from_the_first_as_the_map_allows(seed):
    _, capitals = assign_territories(WORLD_MAP, ["A", "B"], seed)
    one, other = (distances(WORLD_MAP, capitals[nation]) for nation in ("A", "B"))
    assert one[capitals["B"]] in (max(one.values()), max(other.values())), "either can be the first"


TWENTY = generate_map([f"T{i:02}" for i in range(20)], 1)


@pytest.mark.parametrize(("graph", "different"), [(WORLD_MAP, 200), (TWENTY, 180)], ids=["world", "twenty"])
def test_different_seeds_give_different_games(graph, different):
    dealt = [assign_territories(graph, NATIONS[:4], seed) for seed in range(200)]
    assert len({str(game) for game in dealt}) >= different
    for place in graph if graph is TWENTY else ():
        owners = {nation for owned, _ in dealt for nation in owned if place in owned[nation]}
        assert len(owners) == 4, "every nation can get every territory"


@pytest.mark.parametrize("seed", range(20))
def test_six_nations_on_the_world_map_get_about_the_same_number_of_territories(seed):
    owned, _ = assign_territories(WORLD_MAP, NATIONS[:6], seed)
    assert max(map(len, owned.values())) - min(map(len, owned.values())) <= 3


def test_territories_that_no_nation_can_reach_stay_unowned():
    islands = {"A": ["B"], "B": ["A"], "C": ["D"], "D": ["C"], "E": ["F"], "F": ["E"]}
    owned, capitals = assign_territories(islands, ["x", "y"], 1)
    assert sorted(map(len, owned.values())) == [2, 2]
    assert distances(islands, capitals["x"]).get(capitals["y"]) is None


def test_an_enclosed_nation_takes_a_territory_from_a_neighbour_that_gets_a_free_one_instead():
    """On a line the nation in the middle is soon enclosed, but its neighbours can still expand."""
    line = {f"T{i}": [f"T{j}" for j in (i - 1, i + 1) if 0 <= j < 9] for i in range(9)}
    for seed in range(9):
        owned, _ = assign_territories(line, ["a", "b", "c"], seed)
        assert sorted(map(len, owned.values())) == [3, 3, 3]


def test_more_nations_than_territories_are_refused():
    with pytest.raises(BadArgs, match="3 nations"):
        assign_territories({"A": ["B"], "B": ["A"]}, ["x", "y", "z"], 1)
