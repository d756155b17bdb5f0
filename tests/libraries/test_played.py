"""Matches in games of every library: of built-in players, and of the embedded language model."""

import sys

import pytest

from cohabit.lab.match import match

NO_NETHACK = pytest.mark.skipif(sys.version_info >= (3, 14), reason="NLE has no wheels for Python 3.14")
QUICK = (
    "openspiel:kuhn_poker", "textarena:TicTacToe-v0", "gymnasium:MiniGrid-Empty-5x5-v0",
    pytest.param("nethack:NetHackStaircase-v0", marks=NO_NETHACK),
)  # fmt: skip
STORY = "jericho:examples/stories/lighthouse.z5"
SLOW = ("textworld:coin_collector", STORY, "pettingzoo:rps_v2")
SOAK = [pytest.param(game, marks=pytest.mark.soak) for game in SLOW]


def players_of(game: str, brain: str) -> list[str]:
    two = game.startswith(("openspiel", "textarena", "pettingzoo"))
    return [brain, "random"] if two else [brain]


@pytest.mark.parametrize("game", [*QUICK, *SOAK])
def test_built_in_players_play_a_match_in_a_game_of_each_library(game: str) -> None:
    results = match(game, *players_of(game, "random"), games=2, progress=False, workers=1, max_decisions=60)
    assert len(results.games) == 2
    for game_played in results.games:
        assert {outcome for tally in game_played.tallies for outcome in tally.outcomes} == {"chosen"}


@pytest.mark.soak
@pytest.mark.parametrize("game", [*QUICK, *SLOW])
def test_the_embedded_model_plays_a_match_in_a_game_of_each_library(game: str) -> None:
    results = match(game, *players_of(game, "local"), games=1, progress=False, workers=1, max_decisions=3)
    assert sum(played.decisions for played in results.games) > 0
