"""PettingZoo's games, and environments of one's own, as worlds. A library that they need has to be compiled, so only
`make soak` has them."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.libraries.checked import problems
from tests.libraries.survey import read_results, survey

from cohabit import Eye, GameRejected, Seat, World
from cohabit.errors import BadArgs, CohabitError
from cohabit.model.stream import Stream
from cohabit.registry import find_world, listed_games, make_world

pytestmark = pytest.mark.soak

OWN = '''
import numpy
from gymnasium import spaces
from pettingzoo import ParallelEnv

class Tug(ParallelEnv):
    """Pull a rope. The stronger side wins after three rounds."""
    metadata = {"name": "tug"}
    render_mode = None
    def __init__(self, strength: int = 2):
        self.possible_agents = ["left", "right"]
        self.strength = strength
    def action_space(self, agent): return spaces.Discrete(self.strength + 1)
    def observation_space(self, agent): return spaces.Box(-9, 9, (1,), numpy.int64)
    def reset(self, seed=None, options=None):
        self.agents, self.rope, self.rounds = list(self.possible_agents), 0, 0
        return self._seen(), {agent: {} for agent in self.agents}
    def _seen(self): return {agent: numpy.array([self.rope]) for agent in self.possible_agents}
    def step(self, actions):
        self.rope += int(actions["right"]) - int(actions["left"])
        self.rounds += 1
        over = self.rounds == 3
        agents, rewards = self.agents, {"left": float(-self.rope * over), "right": float(self.rope * over)}
        self.agents = [] if over else agents
        flags = dict.fromkeys(agents, over)
        return self._seen(), rewards, flags, dict.fromkeys(agents, False), {agent: {} for agent in agents}
'''


@pytest.fixture
def own_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    (tmp_path / "own_tug.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    yield "own_tug"
    sys.modules.pop("own_tug", None)


def started(source: str, seed: int = 1) -> tuple[World, list[Seat]]:
    world = make_world(source, {})
    seats = [Seat(name) for name in world.spec.seat_names]
    world.reset(seed, seats)
    return world, seats


def test_all_nine_classic_games_are_listed_and_open_with_their_seats() -> None:
    listed = listed_games("pettingzoo")
    assert len(listed) == 9
    for source, game in listed.items():
        assert find_world(source).spec.seat_range == game.seats


GAMES = ["leduc_holdem_v4", *(pytest.param(game, marks=pytest.mark.soak) for game in ("rps_v2", "texas_holdem_v4"))]


@pytest.mark.parametrize("game", GAMES)
def test_games_keep_the_contract_and_tell_nobody_what_is_hidden(game: str) -> None:
    assert problems(f"pettingzoo:{game}", steps=6) == {}


def test_a_poker_player_sees_its_own_hand_and_a_spectator_none() -> None:
    world, (first, second) = started("pettingzoo:texas_holdem_v4")
    text = {seat: world.observe(Eye(seat, "own")).text for seat in (first.id, second.id)}
    assert f"The hand of {first.id}" in text[first.id]
    assert f"The hand of {second.id}" not in text[first.id]
    assert "The hand of" not in world.observe(Eye()).text
    assert world.observe(Eye(sees="all")).text.count("The hand of") == 2


def test_redealing_the_hidden_cards_changes_the_other_hand_and_not_the_own_view() -> None:
    world, (first, second) = started("pettingzoo:texas_holdem_v4")
    own, other = (world.observe(Eye(seat.id, "own")).text for seat in (first, second))
    world.resample(Eye(first.id, "own"), Stream(5, "twin"))
    assert world.observe(Eye(first.id, "own")).text == own
    assert world.observe(Eye(second.id, "own")).text != other
    again = find_world("pettingzoo:texas_holdem_v4")()
    again.restore(world.snapshot())
    assert again.observe(Eye(sees="all")) == world.observe(Eye(sees="all"))


def test_two_boards_of_go_of_different_sizes_do_not_disturb_each_other() -> None:
    small, seats = started("pettingzoo:go_v5(board_size=5)")
    large, _ = started("pettingzoo:go_v5(board_size=9)")
    for move in ("C3", "A1", "E5"):
        by = next(seat for seat in seats if seat.id in small.to_move())
        small.play(by, move)  # type: ignore[attr-defined]
        large.play(by, move)  # type: ignore[attr-defined]
    assert len(small.legal(seats[1]) or ()) == 5 * 5 - 3 + 1
    assert len(large.legal(seats[1]) or ()) == 9 * 9 - 3 + 1


def test_everybody_hears_which_move_was_made_and_a_round_ends_with_what_all_chose() -> None:
    world, (one, other) = started("pettingzoo:connect_four_v3")
    play = world.actions()[0].run
    assert play(one, move="column 4").public == "player_0 plays column 4."
    world, (one, other) = started("pettingzoo:rps_v2")
    play = world.actions()[0].run
    play(one, move="rock"), play(other, move="paper")
    world.resolve()
    outcome = world.outcome(one)
    assert outcome is not None
    assert outcome.message == "player_0 rock; player_1 paper. Reward: -1."
    assert "Round 2." in world.observe(Eye(one.id, "own")).text


def test_an_impossible_move_is_refused_with_possible_ones() -> None:
    world, seats = started("pettingzoo:tictactoe_v3")
    with pytest.raises(GameRejected, match="possible moves: row 1 column 1"):
        world.play(seats[0], "row 9 column 9")  # type: ignore[attr-defined]


def test_an_environment_of_ones_own_is_a_world_of_rounds(own_module: str) -> None:
    source = f"pettingzoo:{own_module}:Tug(strength=3)"
    assert problems(source, steps=6) == {}
    world, (left, right) = started(source)
    for _ in range(3):
        world.play(left, "1")  # type: ignore[attr-defined]
        world.play(right, "3")  # type: ignore[attr-defined]
        world.resolve()
    assert world.is_over()
    assert world.returns() == {"left": -6.0, "right": 6.0}


@pytest.mark.parametrize("source", read_results("pettingzoo").games)
def test_a_classic_game_is_as_the_results_say(source: str) -> None:
    assert survey(source).without_counts() == read_results("pettingzoo").games[source].without_counts()


def test_what_is_no_environment_is_refused() -> None:
    with pytest.raises(BadArgs, match="possible_agents"):
        find_world("pettingzoo:collections:OrderedDict")
    with pytest.raises(CohabitError, match="has no parameter 'size'"):
        find_world("pettingzoo:go_v5(size=5)")
