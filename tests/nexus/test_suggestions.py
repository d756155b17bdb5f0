"""Which games are suggested, and why."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from cohabit.nexus.suggestions import WEIGHTS, suggestions, terms
from cohabit.nexus.values import GameInfo, GoalProgress, Profile, Session, Visit, WorldTotals

from .making import CAMP, GAMES, LEVELS, ORBIT, agent

STATUSES = st.sampled_from(["available", "busy", "offline", "maintenance"])


def visited(*games: str) -> Profile:
    worlds = {"camp": "crafter", "orbit": "planets"}
    return agent(
        games_visited=list(dict.fromkeys(games)),
        worlds={worlds.get(game, game): WorldTotals(visits=1) for game in games},
        visits=[Visit(game, worlds.get(game, game), 1) for game in games],
    )


def test_a_new_agent_is_told_what_is_new_and_what_it_would_learn() -> None:
    camp, orbit = suggestions(agent(), GAMES)
    assert (camp.game_id, orbit.game_id) == ("camp", "orbit")
    assert camp.score == pytest.approx(WEIGHTS["novelty"] + WEIGHTS["gap"] + WEIGHTS["recency"])
    assert orbit.reasons == ("you have not played this kind of game", "it teaches 2 skills that you lack")


def test_each_of_the_five_terms_speaks_for_a_game() -> None:
    profile = replace(
        visited("moon", "camp"),
        skills={"exploration": 0.5},
        goals=[GoalProgress("wayfarer"), GoalProgress("master_crafter")],
    )
    found = terms(profile, GAMES, ORBIT)
    assert {name: term.share for name, term in found.items()} == {
        "strength": 0.5, "gap": 0.5, "novelty": 1.0, "goals": 0.5, "recency": 1.0
    }  # fmt: skip
    (best, _) = suggestions(profile, GAMES)
    assert best.game_id == "orbit"
    assert best.score == pytest.approx(0.125 + 0.1 + 0.25 + 0.1 + 0.1)
    assert best.reasons == (
        "you have not played this kind of game",
        "it uses what you are good at: exploration (0.50)",
        "it teaches 1 skill that you lack",
        "it helps with your goals: wayfarer",
    )


def test_a_game_that_was_left_just_now_is_less_attractive_than_one_left_earlier() -> None:
    profile = visited("orbit", "moon", "camp")
    assert terms(profile, GAMES, CAMP)["recency"].share == 0
    assert terms(profile, GAMES, ORBIT)["recency"].share == pytest.approx(2 / 3)
    long_ago = visited("orbit", "moon", "camp", "moon", "camp")
    assert terms(long_ago, GAMES, ORBIT)["recency"] == (1.0, "you have not been there for a while")


def test_the_limits_of_a_strength_and_of_a_gap() -> None:
    def shares(level: float) -> tuple[float, float]:
        found = terms(agent(skills={"exploration": level, "survival": 0.2}), GAMES, ORBIT)
        return found["strength"].share, found["gap"].share

    assert [shares(level) for level in (0.1, 0.11, 0.3, 0.31)] == [(0, 0.5), (0, 0), (0, 0), (0.31, 0)]


def test_another_game_of_a_known_world_is_half_new() -> None:
    other = replace(CAMP, id="camp-2")
    assert terms(visited("camp"), (*GAMES, other), other)["novelty"].share == 0.5


@pytest.mark.parametrize(
    "game",
    [
        replace(CAMP, status="busy"),
        replace(CAMP, status="offline"),
        replace(CAMP, status="maintenance"),
        replace(CAMP, max_agents=3, active_agents=3),
        replace(CAMP, transit_compatible=False),
    ],
)
def test_a_game_that_cannot_be_entered_is_not_suggested(game: GameInfo) -> None:
    assert [one.game_id for one in suggestions(agent(), [game, ORBIT])] == ["orbit"]


def test_the_game_that_an_agent_is_in_is_not_suggested() -> None:
    playing = replace(visited("camp", "orbit", "orbit", "orbit"), session=Session("t", "camp", "crafter", 1))
    assert [one.game_id for one in suggestions(playing, GAMES)] == ["orbit"]


@given(LEVELS, st.lists(STATUSES, max_size=8))
def test_at_most_three_games_are_suggested_best_first_with_scores_from_0_to_1(levels, statuses) -> None:  # type: ignore[no-untyped-def]
    games = [replace(CAMP, id=f"g{number}", status=status) for number, status in enumerate(statuses)]
    found = suggestions(agent(skills=levels), games)
    assert len(found) == min(3, statuses.count("available"))
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert all(0 <= one.score <= 1 for one in found)


def test_the_weights_add_up_to_1() -> None:
    assert sum(WEIGHTS.values()) == pytest.approx(1)
