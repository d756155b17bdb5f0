"""An environment is a room: what it shows, refuses and rewards is what a room does with the same actions."""

import asyncio
import pickle
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from gymnasium.utils.env_checker import data_equivalence
from hypothesis import given, settings
from hypothesis import strategies as st

from cohabit import envs
from cohabit.agents.contract import adapted
from cohabit.envs.spaces import TEXT
from cohabit.errors import BadArgs
from cohabit.lab.game import Game, GameSpec, purposes
from cohabit.model.action import Action
from cohabit.model.seat import ALL, Eye
from cohabit.registry import make_agent

from .playing import STEPS, WORLDS, Policy, SameRoom, aec, gym, parallel

SEEDS = st.integers(0, 2**32)


@pytest.mark.sampled
@pytest.mark.parametrize("name", WORLDS)
@settings(max_examples=4, deadline=None)
@given(seed=SEEDS)
def test_an_episode_is_what_a_room_makes_of_the_same_actions(name: str, seed: int) -> None:
    env = parallel(name, step_ticks=2, observe="text")
    seen, infos = env.reset(seed=seed)
    policy, same = Policy(env.room, seed), SameRoom(name, seed, len(env.possible_agents), 2)
    places = {agent: i for i, agent in enumerate(env.possible_agents)}
    totals = dict.fromkeys(env.agents, 0.0)
    for _ in range(STEPS.get(name, 30)):
        for agent in env.agents:
            view = same.room.view(same.member(places[agent]))
            assert seen[agent][TEXT] == view.text
            assert infos[agent]["observation"] == view.observation.to_structured()
            assert infos[agent]["to_move"] == (same.member(places[agent]).seat in same.room.to_move())
        actions = {agent: policy.choose(env.action_space(agent), infos[agent]) for agent in env.agents}
        refused = same.step({places[agent]: action for agent, action in actions.items()})
        seen, rewards, over, cut, infos = env.step(actions)
        for agent, reward in rewards.items():
            totals[agent] += reward
            assert seen[agent] in env.observation_space(agent)
            assert infos[agent].get("refused", {}).get("code") == refused.get(places[agent])
            if same.room._has_returns:
                assert totals[agent] == pytest.approx(same.room.state.returns.get(same.member(places[agent]).seat, 0.0))
        assert set(over.values()) == {True} or not same.room.is_over()
        assert not any(cut.values())
        if not env.agents:
            break
    assert env.room.world.snapshot() == same.room.world.snapshot()
    env.close()


def trajectory(env: Any, seed: int, steps: int, careless: int = 6) -> list[Any]:
    seen, info = env.reset(seed=seed)
    policy, found = Policy(env.room, seed, careless), [(seen, info)]
    for _ in range(steps):
        step = env.step(policy.choose(env.action_space, info))
        found.append(step)
        seen, _, over, cut, info = step
        assert seen in env.observation_space
        if over or cut:
            break
    return found


@pytest.mark.sampled(start=1)
@pytest.mark.parametrize("name", WORLDS)
@settings(max_examples=3, deadline=None)
@given(seed=SEEDS)
def test_the_same_seed_and_actions_give_the_same_episode_whatever_was_played_before(name: str, seed: int) -> None:
    env = gym(name)
    first = trajectory(env, seed, STEPS.get(name, 20))
    again = trajectory(env, seed, STEPS.get(name, 20))
    fresh = trajectory(gym(name), seed, STEPS.get(name, 20))
    assert data_equivalence(first, again, exact=True)
    assert data_equivalence(first, fresh, exact=True)


def test_resets_without_a_seed_follow_from_the_last_one_and_differ() -> None:
    env = gym("nim")

    def seeds() -> list[int]:
        return [env.reset(seed=5)[1]["seed"], *(env.reset()[1]["seed"] for _ in range(3))]

    assert seeds() == seeds()
    assert len(set(seeds())) == 4
    assert gym("nim").reset()[1]["seed"] != gym("nim").reset()[1]["seed"]


@pytest.mark.sampled(start=2)
@pytest.mark.parametrize("name", WORLDS)
def test_the_rewards_of_an_episode_add_up_to_what_its_seat_has_gained(name: str) -> None:
    env = gym(name, seats=2) if name in ("burrow", "inn", "kingdoms") else gym(name)
    rewards = [step[1] for step in trajectory(env, 3, STEPS.get(name, 60))[1:]]
    seat = env.reset(seed=3)[1]["seat"]
    trajectory(env, 3, STEPS.get(name, 60))
    assert sum(rewards) == pytest.approx(env.room.state.returns.get(seat, sum(rewards)))


@pytest.mark.parametrize("name", ["lanterns", "burrow", "statecraft"])
def test_a_seat_is_shown_what_its_grant_lets_it_see_and_nothing_else(name: str) -> None:
    env = parallel(name, observe="text")
    seen, infos = env.reset(seed=2)
    everything = env.room.view_through(ALL).text
    for agent in env.agents:
        own = env.room.view_through(Eye(infos[agent]["seat"], "own"))
        assert (seen[agent][TEXT], infos[agent]["observation"]) == (own.text, own.observation.to_structured())
        assert seen[agent][TEXT] != everything
    assert len({seen[agent][TEXT] for agent in env.agents}) == len(env.agents)


def test_fog_hides_in_an_environment_what_it_hides_in_a_room() -> None:
    shown, hidden = (
        parallel("kingdoms", partial_intel=fog).reset(seed=1)[0]["player_1"][TEXT] for fog in (False, True)
    )
    assert len(hidden) < len(shown)


class Repeats:
    """An agent that repeats actions."""

    quick = True

    def __init__(self, actions: list[Action]) -> None:
        self.actions = iter(actions)

    def decide(self, observation: Any) -> Action:
        return next(self.actions)


@pytest.mark.parametrize(("name", "opponent"), [("nim", "nim-master"), ("tictactoe", "random"), ("harvest", "random")])
@pytest.mark.parametrize("seat", [1, 2])
def test_opponents_play_as_they_do_in_the_lab(name: str, opponent: str, seat: int) -> None:
    env = gym(name, seat=seat, opponents=opponent)
    assert trajectory(env, 4, 60, careless=0)[-1][2]
    mine = [line.entry for line in env.room.record.tail if line.entry.by == f"p{seat}"]
    players = [opponent] * len(env.room.seats)
    players[seat - 1] = "learner"
    spec = GameSpec("env", WORLDS[name], players, seed="4")
    agents = [
        make_agent(who, why) if who == opponent else None for who, why in zip(players, purposes(spec), strict=True)
    ]
    agents[seat - 1] = Repeats([Action(entry.do, entry.args) for entry in mine])
    result = asyncio.run(Game(spec, agents=list(map(adapted, agents))).play())
    assert result.head == env.room.record.digest.hex()


# -- what is refused ----------------------------------------------------------------------------------
def test_a_refused_action_is_reported_and_the_world_s_fallback_is_played() -> None:
    env = envs.gym("nim", config={"stones": 2}, observe="text")
    assert env.reset(seed=1)[0]["action_mask"].tolist() == [1, 1, 0]
    _, reward, over, _, info = env.step(2)
    assert info["refused"] == {
        "code": "GAME_REJECTED",
        "message": "only 2 stones are left",
        "played": {"action": "take", "params": {"n": 1}},
    }
    assert (reward, over) == (-1.0, True)  # the opponent took the last one


@pytest.mark.parametrize(("given", "words"), [
    (3, "from 0 to 2, not 3"),
    (-1, "from 0 to 2, not -1"),
    (None, "no action was given"),
])  # fmt: skip
def test_every_refusal_of_a_number_says_why(given: int | None, words: str) -> None:
    assert_refused(gym("nim"), given, "BAD_ARGS", words)


WRITTEN = """
from cohabit.world import World
from cohabit.worlds.lanterns import Lanterns
from cohabit.worlds.statecraft.world import Statecraft


class WrittenLanterns(Lanterns):
    numbered = World.numbered


class WrittenStatecraft(Statecraft):
    numbered = World.numbered
"""
"""Worlds without numbers for their actions, so these are given as JSON."""


@pytest.mark.parametrize(("name", "given", "code", "words"), [
    ("Lanterns", "go north", "BAD_ARGS", "not valid JSON"),
    ("Lanterns", '["go"]', "BAD_ARGS", "is not an action"),
    ("Lanterns", '{"action": "go", "params": {}, "why": 1}', "BAD_ARGS", "is not an action"),
    ("Lanterns", '{"action": ""}', "BAD_ARGS", "is not an action"),
    ("Lanterns", '{"action": "fly"}', "UNKNOWN_COMMAND", "unknown action 'fly'"),
    ("Lanterns", '{"action": "walk", "params": {"x": "1", "y": 1}}', "BAD_ARGS", "x must be a whole number"),
    ("Lanterns", '{"action": "walk", "params": {"x": 99, "y": 1}}', "OUT_OF_BOUNDS", "0,0 to 12,12"),
    ("Lanterns", '{"action": "storm", "params": {"tower": "T1"}}', "UNKNOWN_COMMAND", "unknown action 'storm'"),
    ("Lanterns", '{"action": "message", "params": {"content": "hello"}}', "UNKNOWN_COMMAND", "unknown action 'message'"),
    ("Lanterns", '{"action": "turn_advance"}', "UNKNOWN_COMMAND", "unknown action 'turn_advance'"),
    ("Statecraft", "", "BAD_ARGS", "no action was given"),
])  # fmt: skip
def test_every_refusal_of_a_written_action_says_why(
    tmp_path: Path, name: str, given: str, code: str, words: str
) -> None:
    file = tmp_path / "written.py"
    file.write_text(WRITTEN)
    assert_refused(envs.gym(f"{file}:Written{name}", observe="text"), given, code, words)


def assert_refused(env: Any, given: Any, code: str, words: str) -> None:
    env.reset(seed=1)
    *_, info = env.step(given)
    assert info["refused"]["code"] == code
    assert words in info["refused"]["message"]
    assert info["refused"]["played"] is not None


# -- copies -------------------------------------------------------------------------------------------
def pickled(env: Any) -> Any:
    return pickle.loads(pickle.dumps(env))


@pytest.mark.sampled(start=1)
@pytest.mark.parametrize("copied", [deepcopy, pickled])
@pytest.mark.parametrize("name", WORLDS)
def test_a_copy_in_the_middle_of_a_game_goes_on_as_the_game_does(name: str, copied: Any) -> None:
    env = gym(name)
    trajectory(env, 4, STEPS.get(name, 10), careless=2)
    twin = copied(env)
    assert twin.room.record.digest == env.room.record.digest
    assert twin.room is not env.room
    for action in [env.action_space.sample() for _ in range(3)]:
        assert data_equivalence(env.step(action), twin.step(action), exact=True)
    assert twin.room.record.digest == env.room.record.digest
    assert data_equivalence(env.reset(), twin.reset(), exact=True)


@pytest.mark.parametrize("name", ["tictactoe", "harvest"])
def test_a_copy_of_all_seats_asks_the_same_agent_next_and_owes_the_same_rewards(name: str) -> None:
    env = aec(name)
    env.reset(seed=1)
    for number, agent in enumerate(env.agents):
        env.action_space(agent).seed(number)
    for _ in range(3):
        env.step(env.action_space(env.agent_selection).sample(env.infos[env.agent_selection]["action_mask"]))
    twin = pickled(env)
    for _ in range(2):  # no game of tic-tac-toe is over before the fifth move
        assert twin.agent_selection == env.agent_selection
        assert data_equivalence(env.last(), twin.last(), exact=True)
        action = None if env.last()[2] else 0
        env.step(action)
        twin.step(action)


def test_a_game_with_an_opponent_that_may_answer_otherwise_is_not_copied_until_it_is_closed(tmp_path: Path) -> None:
    file = tmp_path / "slow.py"
    file.write_text("class Slow:\n    async def decide(self, seen):\n        return seen.choices[0]\n")
    env = gym("nim", opponents=f"{file}:Slow")
    first, _ = env.reset(seed=1)
    with pytest.raises(BadArgs, match="could answer otherwise"):
        pickle.dumps(env)
    env.close()
    twin = pickled(env)
    assert (twin.reset(seed=1)[0] == first).all()
    twin.close()
