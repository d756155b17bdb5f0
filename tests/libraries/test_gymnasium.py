"""MiniGrid, BabyAI, the toy worlds of Gymnasium, and environments of one's own."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from tests.libraries.survey import read_results, survey

from cohabit import Eye, Seat
from cohabit.errors import BadArgs, UnknownAsset
from cohabit.libraries.gymnasium.minigrid_sight import Sight
from cohabit.libraries.gymnasium.minigrid_view import View, told
from cohabit.model.seat import ALL
from cohabit.registry import find_library, find_world, listed_games
from cohabit.testing.checker import check_here
from cohabit.world import GameRejected, World

ME = Seat("1", "Ann")
OWN = "gymnasium:tests.libraries.own_environments"


def begun(source: str, seed: int = 5) -> Any:
    world = find_world(source)()
    world.reset(seed, [ME])
    return world


def act(world: World, name: str, **given: Any) -> Any:
    return next(each for each in world.actions() if each.name == name).run(ME, **given)


def seen(world: World, eye: Eye = Eye("1", "own")) -> str:  # noqa: B008
    return world.observe(eye).to_text()


# -- MiniGrid and BabyAI ------------------------------------------------------------------------------
def test_every_level_of_minigrid_and_babyai_is_described_unless_it_is_left_out() -> None:
    listed = listed_games("gymnasium")
    levels = {f"gymnasium:{name}" for name in gymnasium.registry if name.startswith(("MiniGrid-", "BabyAI-"))}
    left_out = {name for name in levels if "-WFC-" in name}
    assert len(levels - left_out) >= 150
    assert levels - left_out <= set(listed)
    assert len({game.title for game in listed.values()}) == len(listed)


@pytest.mark.parametrize("source", [pytest.param("MiniGrid-DoorKey-5x5-v0", marks=pytest.mark.soak), "FrozenLake-v1"])
def test_games_pass_the_check(source: str) -> None:
    report = check_here(f"gymnasium:{source}", seeds=(1,), steps=8)
    assert report.ok, report


def test_a_level_is_won_with_named_actions_from_what_the_text_says() -> None:
    world = begun("gymnasium:MiniGrid-DoorKey-6x6-v0")
    assert "A wall directly ahead blocks the way." in seen(world)
    moves = "turn_right turn_right pick_up forward turn_left toggle forward forward forward turn_right forward forward"
    messages = [act(world, move).message for move in moves.split()]
    assert messages[2] == "You pick up a yellow key."
    assert messages[5:7] == ["You open the yellow door.", "You go one step through an open yellow door."]
    assert messages[-1] == "You go one step onto a green goal square. The mission is done. Reward: 0.97."
    assert world.returns() == {"1": pytest.approx(0.97)}
    assert world.to_move() == []


def test_the_sight_of_the_agent_is_that_of_the_library() -> None:
    find_library("gymnasium")
    for name in ("MiniGrid-ObstructedMaze-Full-v1", "BabyAI-BossLevel-v0", "MiniGrid-Dynamic-Obstacles-8x8-v0"):
        env = gymnasium.make(name, disable_env_checker=True)
        env.reset(seed=3)
        level: Any = env.unwrapped
        sight, draw = Sight(level), np.random.default_rng(1)
        for _ in range(60):
            ours, theirs = sight(), level.gen_obs()
            assert (ours["image"] == theirs["image"]).all()
            assert (ours["direction"], ours["mission"]) == (theirs["direction"], theirs["mission"])
            if any(env.step(int(draw.integers(int(level.action_space.n))))[2:4]):
                env.reset()


def view(direction: int = 0, **squares: tuple[int, int, int]) -> View:
    """A view of free floor with these squares: ``a2l1`` is two ahead and one to the left."""
    image = np.full((7, 7, 3), (1, 0, 0), dtype=np.uint8)
    for place, code in squares.items():
        ahead, right = int(place[1]), int(place[3]) * (-1 if place[2] == "l" else 1)
        image[3 + right, 6 - ahead] = code
    return View({"image": image, "direction": direction, "mission": "find it"})


KEY, LOCKED, OPEN, WALL, LAVA, BOX = (5, 4, 0), (4, 4, 2), (4, 0, 0), (2, 5, 0), (9, 0, 0), (7, 1, 0)


def test_a_view_says_in_words_what_is_where() -> None:
    text = view(a2l1=LOCKED, a1r0=KEY, a0r3=OPEN, a4l2=LAVA, a4l1=LAVA).text()
    assert "- a locked yellow door, two steps ahead and one to the left" in text
    assert "- a yellow key, one step ahead" in text
    assert "- an open red door, three steps to the right" in text
    assert "- lava on 2 squares, the nearest four steps ahead and one to the left" in text
    assert "A yellow key directly ahead blocks the way. `pick_up` takes it." in text
    assert text.splitlines()[-2].split() == [".", ".", ".", "^", ".", ".", "O"]


@pytest.mark.parametrize(
    ("move", "before", "after", "message", "success"),
    [
        ("forward", view(a1r0=WALL), view(a1r0=WALL), "A wall blocks the way.", False),
        ("forward", view(), view(), "You go one step.", True),
        ("forward", view(a1r0=OPEN), view(), "You go one step through an open red door.", True),
        ("pick_up", view(a1r0=KEY), view(a0r0=KEY), "You pick up a yellow key.", True),
        ("pick_up", view(a0r0=KEY, a1r0=BOX), view(a0r0=KEY, a1r0=BOX), "You carry a yellow key already.", False),
        ("drop", view(a0r0=KEY), view(a1r0=KEY), "You put down a yellow key.", True),
        ("drop", view(), view(), "You carry nothing.", False),
        ("toggle", view(a1r0=LOCKED), view(a1r0=LOCKED), "The yellow door is locked. You need the yellow key in your hand.", False),
        ("toggle", view(a1r0=BOX), view(a1r0=KEY), "You open the green box, which is gone now. It had a yellow key in it.", True),
    ],
)  # fmt: skip
def test_what_came_of_a_move_is_told(move: str, before: View, after: View, message: str, success: bool) -> None:
    assert told(move, before, after) == (message, success)


def test_only_an_eye_that_sees_everything_gets_the_whole_level() -> None:
    world = begun("gymnasium:MiniGrid-DoorKey-6x6-v0")
    assert "a locked yellow door" not in seen(world)
    assert seen(world) == seen(world, Eye())
    assert "(2, 2) a locked yellow door" in seen(world, ALL)
    assert world.picture(Eye()) != world.picture(ALL)


def test_a_level_that_is_drawn_again_writes_nothing_to_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    for seed in range(8):
        begun("gymnasium:BabyAI-BossLevel-v0", seed)
    assert capsys.readouterr().out == ""


def test_parameters_of_a_level_are_checked() -> None:
    assert begun("gymnasium:MiniGrid-Empty-8x8-v0(size=5)").level.width == 5
    with pytest.raises(BadArgs, match="no parameter 'sise'"):
        find_world("gymnasium:MiniGrid-Empty-8x8-v0(sise=5)")
    with pytest.raises(UnknownAsset, match="MuJoCo"):
        find_world("gymnasium:Ant-v5")


# -- toy worlds ---------------------------------------------------------------------------------------
def test_blackjack_hides_the_card_of_the_dealer_until_the_end() -> None:
    world = begun("gymnasium:Blackjack-v1")
    assert "face down" in seen(world)
    assert "face down" not in seen(world, ALL)
    act(world, "stick")
    assert "face down" not in seen(world)
    assert world.to_move() == []


def test_taxi_lists_only_moves_that_have_an_effect() -> None:
    world = begun("gymnasium:Taxi-v4") if "Taxi-v4" in gymnasium.registry else begun("gymnasium:Taxi-v3")
    legal = [each.name for each in world.legal(ME)]
    assert 0 < len(legal) < 6
    before = world.seen
    act(world, legal[0])
    assert world.seen != before


def test_a_passenger_does_not_get_in_where_there_is_none_and_a_wall_is_named() -> None:
    world = begun("gymnasium:Taxi-v4") if "Taxi-v4" in gymnasium.registry else begun("gymnasium:Taxi-v3")
    assert act(world, "pick_up").message == "That is not possible here, and costs 10."
    told = [act(world, "north").message for _ in range(6)]
    assert told[-1] == "A wall is in the way."


# -- environments of one's own --------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "move", "wrong"),
    [
        ("Adds", 3, 4),
        ("Named", "much", None),
        ("Vector", [0.5, -1.0], [0.5, 2.0]),
        ("Pairs", [2, 1], [2, 2]),
        ("Words", "abca", "abd"),
        ("Nested", {"how": 1, "far": [2.0]}, {"how": 1}),
    ],
)
def test_an_environment_of_ones_own_is_played_by_its_spaces(name: str, move: Any, wrong: Any) -> None:
    world = begun(f"{OWN}:{name}")
    start = float(world.seen[0])
    assert world.array(Eye(), "observation").tolist() == [start, 10]
    if wrong is not None:
        before = world.snapshot()
        with pytest.raises(BadArgs, match="the move must be"):
            act(world, "play", move=wrong)
        assert world.snapshot() == before
    assert act(world, "play", move=move).message.startswith("Reward: 1.")
    assert float(world.seen[0]) > start
    legal = world.legal(ME)
    assert len(legal) > 2
    for listed in legal:
        assert act(begun(f"{OWN}:{name}"), "play", **listed.parameters).message.startswith("Reward: 1.")


@pytest.mark.parametrize("actions", [3, 1000])
def test_a_move_that_the_environment_masks_is_refused_and_does_not_reach_it(actions: int) -> None:
    world = begun(f"{OWN}:Masked(actions={actions})")
    assert [listed.parameters["move"] for listed in world.legal(ME)] == [1, 3]
    before = world.snapshot()
    with pytest.raises(GameRejected, match="2 is not possible now; possible moves: 1, 3"):
        act(world, "play", move=2)
    assert world.snapshot() == before
    assert act(world, "play", move=3).message.startswith("Reward: 1.")


def test_an_environment_that_renders_text_shows_it_and_takes_parameters() -> None:
    assert "of 12>" in seen(begun(f"{OWN}:Adds(goal=12)"))


def test_a_room_keeps_its_promises_with_an_environment_of_ones_own() -> None:
    assert check_here(f"{OWN}:Adds", seeds=(1,), steps=10).ok


def test_an_environment_that_is_not_deterministic_is_found_out() -> None:
    assert "same seed" in check_here(f"{OWN}:Unsteady", seeds=(1,), steps=10).failed()


def test_an_environment_that_cannot_be_made_says_why() -> None:
    with pytest.raises(BadArgs, match="cannot be made: RuntimeError: no display"):
        find_world(f"{OWN}:broken")
    with pytest.raises(UnknownAsset, match="importable"):
        find_world(f"{OWN}:Missing")


@pytest.mark.soak
@pytest.mark.timeout(0)
@pytest.mark.parametrize("source", read_results("gymnasium").games)
def test_games_are_as_the_table_says(source: str) -> None:
    assert survey(source).without_counts() == read_results("gymnasium").games[source].without_counts()
