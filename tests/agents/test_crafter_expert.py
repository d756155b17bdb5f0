"""The built-in expert of Crafter: it plays from the structured observation alone, safely and well."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples

from cohabit.agents.brains.crafter.expert import CrafterExpert
from cohabit.agents.brains.crafter.map import STRIDE, UNKNOWN, Map, cell_at, distance, point
from cohabit.agents.brains.crafter.paths import cheapest
from cohabit.model.action import Action
from cohabit.model.observation import Observation
from cohabit.registry import make_agent
from cohabit.worlds.crafter.draws import StockDraws
from cohabit.worlds.crafter.game import Game
from cohabit.worlds.crafter.observing import status_of
from cohabit.worlds.crafter.rules import ACHIEVEMENTS, ACTIONS, ITEMS, VIEW_HEIGHT, VIEW_WIDTH
from cohabit.worlds.crafter.view import LETTERS

STEPS = {"move_left": (-1, 0), "move_right": (1, 0), "move_up": (0, -1), "move_down": (0, 1)}
MIDDLE = (VIEW_WIDTH // 2, VIEW_HEIGHT // 2)
LAVA = LETTERS[7]


class Glimpse:
    """An observation of which only three fields may be read."""

    def __init__(self, status: dict[str, Any], inventory: dict[str, int], step: int) -> None:
        self.status, self.inventory, self.step = status, inventory, step

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"the expert looked at {name}")


def observe(game: Game) -> Any:
    player = game.players[0]
    inventory = {name: amount for name, amount in zip(ITEMS, player.items, strict=True) if amount}
    return Glimpse(status_of(game, player), inventory, game.step_number)


def play(seed: int, steps: int) -> Iterator[tuple[Game, Any, Action]]:
    """A game of the expert: the game, what it sees, and what it does."""
    game, expert = Game.new(StockDraws(seed)), CrafterExpert()
    for _ in range(steps):
        seen = observe(game)
        action = expert.decide(seen)
        yield game, seen, action
        game.step({0: ACTIONS.index(action.name)})
        if not game.players[0].alive:
            return


def steps_on_lava(status: dict[str, Any], action: Action) -> bool:
    dx, dy = STEPS.get(action.name, (0, 0))
    return bool(status["ground"][MIDDLE[1] + dy][MIDDLE[0] + dx] == LAVA and (dx or dy))


def test_the_expert_is_a_built_in_brain() -> None:
    assert isinstance(make_agent("crafter-expert", "test"), CrafterExpert)


@pytest.mark.parametrize("seed", [1001, 1006])
def test_it_reads_only_status_inventory_and_step_and_chooses_known_actions(seed: int) -> None:
    steps = list(play(seed, 400))
    assert len(steps) > 100
    for _, seen, action in steps:
        assert action.name in ACTIONS
        assert action.parameters == {}
        assert action.reasoning
        assert not steps_on_lava(seen.status, action)


def test_two_experts_with_the_same_observations_do_the_same() -> None:
    other = CrafterExpert()
    steps = list(play(1003, 300))
    assert len(steps) > 100
    for _, seen, action in steps:
        assert other.decide(seen) == action


@pytest.mark.parametrize("seed", [1004, 1011, 1031])
def test_it_makes_its_stone_tools_on_the_first_day(seed: int) -> None:
    player = [game for game, _, _ in play(seed, 140)][-1].players[0]
    done = {name for name, times in zip(ACHIEVEMENTS, player.achievements, strict=True) if times}
    assert done >= {
        "collect_wood", "collect_sapling", "collect_stone", "place_table",
        "make_wood_pickaxe", "make_wood_sword", "make_stone_pickaxe", "make_stone_sword",
    }  # fmt: skip


def test_it_survives_the_first_night_in_a_shelter_and_wakes_up() -> None:
    for game, _, action in play(1001, 300):
        player = game.players[0]
        if action.name == "sleep":
            assert player.health > 0
    assert player.alive
    assert player.achievements[ACHIEVEMENTS.index("wake_up")]


WORDS = ("zombie", "skeleton", "cow", "plant", "ripe plant", "arrow left", "arrow up", "Ada", "Ada asleep", "bundle")
AMOUNTS = st.integers(0, 9)
THINGS = st.lists(
    st.tuples(st.sampled_from(WORDS), st.integers(-4, 4), st.integers(-3, 3))
    .filter(lambda t: t[1:] != (0, 0))
    .map(list),
    max_size=6,
)
GROUND = st.lists(
    st.text(LETTERS, min_size=VIEW_WIDTH, max_size=VIEW_WIDTH), min_size=VIEW_HEIGHT, max_size=VIEW_HEIGHT
)
STATUS = st.fixed_dictionaries(
    {
        "health": st.integers(1, 9), "food": AMOUNTS, "drink": AMOUNTS, "energy": AMOUNTS, "sleeping": st.booleans(),
        "daylight": st.floats(0, 1), "position": st.tuples(st.integers(0, 63), st.integers(0, 63)).map(list),
        "facing": st.sampled_from([[-1, 0], [1, 0], [0, -1], [0, 1]]), "ground": GROUND, "things": THINGS,
        "achievements": st.lists(st.sampled_from(ACHIEVEMENTS), unique=True),
    }
)  # fmt: skip
INVENTORY = st.dictionaries(st.sampled_from(ITEMS), st.integers(1, 9))


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(st.tuples(STATUS, INVENTORY), min_size=1, max_size=4))
def test_whatever_it_sees_it_chooses_a_known_action_and_never_steps_on_lava(
    sights: list[tuple[dict[str, Any], dict[str, int]]],
) -> None:
    expert = CrafterExpert()
    for step, (status, inventory) in enumerate(sights):
        action = expert.decide(Observation(status=status, inventory=inventory, step=step))
        assert action.name in ACTIONS
        assert not steps_on_lava(status, action)


def test_the_map_remembers_what_was_seen_and_forgets_cows_that_have_gone() -> None:
    game = Game.new(StockDraws(1000))
    status = status_of(game, game.players[0])
    land = Map()
    land.see(status | {"things": [["cow", 2, 1]]}, 0)
    x, y = status["position"]
    assert land.cows == {cell_at(x + 2, y + 1): 0}
    assert land.cells[cell_at(x + 4, y + 3)] != UNKNOWN
    assert land.cells[cell_at(x + 5, y)] == UNKNOWN
    land.see(status, 1)
    assert land.cows == {}


@given(st.integers(0, 63), st.integers(0, 63), st.integers(0, 63), st.integers(0, 63))
def test_a_way_over_open_land_is_as_long_as_the_distance(x: int, y: int, u: int, v: int) -> None:
    costs = bytearray(STRIDE * STRIDE)
    for row in range(64):
        costs[cell_at(0, row) : cell_at(64, row)] = bytes([1]) * 64
    start, goal = cell_at(x, y), cell_at(u, v)
    way = cheapest(costs, start, goal.__eq__)
    assert len(way) == distance(start, goal)
    assert point(goal) == (u, v)


def test_a_way_goes_around_what_is_expensive() -> None:
    costs = bytearray(STRIDE * STRIDE)
    for row in range(3):
        costs[cell_at(0, row) : cell_at(5, row)] = bytes([1]) * 5
    costs[cell_at(2, 0)] = costs[cell_at(2, 1)] = 9
    way = cheapest(costs, cell_at(0, 0), cell_at(4, 0).__eq__)
    assert cell_at(2, 2) in way
    costs[cell_at(2, 2)] = 0
    assert cell_at(2, 0) in cheapest(costs, cell_at(0, 0), cell_at(4, 0).__eq__)
