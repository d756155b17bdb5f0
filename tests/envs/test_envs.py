"""What the environments promise beyond a single step: ends, seats, opponents, arrays, pictures, and clear errors."""

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given
from hypothesis import strategies as st

from cohabit import envs
from cohabit.envs.actions import MAX_TEXT, NumberedActions, actions_of
from cohabit.envs.spaces import CUT, UnicodeText
from cohabit.errors import BadArgs, UnknownAsset
from cohabit.model.action import Action
from cohabit.model.seat import Eye
from cohabit.registry import WITHOUT_SEATS, find_world, known_games, make_world
from cohabit.worlds.crafter.rules import ACHIEVEMENTS, LAVA, RIGHT

from .playing import SAMPLES, WORLDS, aec, gym, parallel

DEEP = 2  # the number of the action of Burrow that ends a mole
HUSH = '''
from cohabit import GameRejected, Observation, Outcome, World, WorldSpec, action

class Hush(World):
    """Hush. Players say a word in turn. There is no rule for a player that says nothing."""

    spec = WorldSpec(name="hush", seats=2, pace="turns", quick=True)

    def reset(self, seed, seats):
        self.order, self.said = [seat.id for seat in seats], []

    def to_move(self):
        return [self.order[len(self.said) % 2]] if len(self.said) < 6 else []

    def observe(self, eye):
        return Observation(text=" ".join(self.said) or "(silence)")

    @action()
    def say(self, by, word: str) -> Outcome:
        """Say a word."""
        if not word:
            raise GameRejected("say something")
        self.said.append(word)
'''

GHOSTS = '''
from cohabit import Action, Observation, Outcome, Standing, World, WorldSpec, action

class Ghosts(World):
    """Ghosts. Walk through a house, or jump from its roof. Those who jumped still walk."""

    spec = WorldSpec(name="ghosts", seats=2, pace="rounds", quick=True)

    def reset(self, seed, seats):
        self.order, self.rounds, self.moved, self.dead = [seat.id for seat in seats], 0, [], []

    def to_move(self):
        return [seat for seat in self.order if seat not in self.moved] if self.rounds < 3 else []

    def observe(self, eye):
        return Observation(text=f"{self.rounds} rounds")

    @action()
    def walk(self, by) -> Outcome:
        """Walk on."""
        self.moved.append(by.id)

    @action()
    def jump(self, by) -> Outcome:
        """Jump."""
        self.moved.append(by.id)
        self.dead.append(by.id)

    def resolve(self):
        self.rounds, self.moved = self.rounds + 1, []
        return []

    def fallback(self, seat):
        return Action("walk")

    def standings(self):
        return [Standing(seat, seat, 0, seat not in self.dead) for seat in self.order]
'''


@pytest.fixture
def hush(tmp_path: Path) -> str:
    file = tmp_path / "hush.py"
    file.write_text(HUSH)
    return str(file)


# -- turns, rounds and time ---------------------------------------------------------------------------
def test_agents_that_are_not_to_move_are_ignored_and_know_it() -> None:
    env = parallel("tictactoe")
    _, infos = env.reset(seed=1)
    assert [infos[agent]["to_move"] for agent in env.agents] == [True, False]
    assert infos["player_2"]["action_mask"].tolist() == [1] * 9
    *_, infos = env.step({"player_1": 4, "player_2": 4})
    assert [infos[agent]["to_move"] for agent in env.agents] == [False, True]
    assert "refused" not in infos["player_2"]
    assert infos["player_2"]["action_mask"].tolist() == [1, 1, 1, 1, 0, 1, 1, 1, 1]


def test_in_turns_one_agent_at_a_time_is_asked_and_rewards_arrive_when_they_are_earned() -> None:
    env = aec("tictactoe")
    env.reset(seed=1)
    asked = []
    for cell in (0, 3, 1, 4, 2):
        asked.append(env.agent_selection)
        env.step(cell)
    assert asked == ["player_1", "player_2"] * 2 + ["player_1"]
    assert env.terminations == {"player_1": True, "player_2": True}
    assert env.rewards == {"player_1": 1.0, "player_2": 0.0}
    for _ in range(2):
        env.step(None)
    assert env.agents == []


def test_the_actions_of_a_round_are_applied_together() -> None:
    env = aec("harvest")
    env.reset(seed=1)
    before = env.observe("player_3")
    for agent in env.possible_agents[:2]:
        assert env.agent_selection == agent
        env.step(2)
        assert (env.observe("player_3"), env.room.world.submitted) == (before, {})
    env.step(3)
    assert (env.room.world.round, env.rewards) == (1, dict.fromkeys(env.agents, 0.0))
    for _ in env.agents:
        env.step(2)
    assert env.rewards == dict.fromkeys(env.agents, 2.0)


def test_in_real_time_the_last_number_and_an_empty_text_do_nothing_while_time_passes() -> None:
    drift = gym("drift", opponents="random")
    assert drift.action_space == spaces.Discrete(5)
    drift.reset(seed=1)
    drift.step(3)
    tick, entries = drift.room.state.tick, drift.room.record.seq
    *_, info = drift.step(4)
    assert (drift.room.state.tick - tick, drift.room.world.sails["otter"]) == (10, 3)  # a second
    assert "refused" not in info
    assert drift.room.record.tail[-1].entry.do == "ticks"
    assert not any(line.entry.by == "p1" for line in drift.room.record.tail[entries + 1 :])
    kingdoms = gym("kingdoms", step_ticks=7)
    kingdoms.reset(seed=1)
    assert "refused" not in kingdoms.step("")[4]
    assert kingdoms.room.state.tick == 7


# -- ends ---------------------------------------------------------------------------------------------
def test_an_agent_whose_seat_is_gone_has_ended_and_the_others_play_on() -> None:
    env = parallel("burrow", seats=3)
    env.reset(seed=1)
    _, _, over, cut, infos = env.step({"player_1": DEEP, "player_2": 0, "player_3": 0})
    assert over == {"player_1": True, "player_2": False, "player_3": False}
    assert not any(cut.values())
    assert env.agents == ["player_2", "player_3"]
    assert infos["player_2"]["to_move"]
    seen, *_ = env.step(dict.fromkeys(env.agents, 0))
    assert list(seen) == ["player_2", "player_3"]


def test_one_after_another_the_others_play_on_too() -> None:
    env = aec("burrow", seats=3)
    env.reset(seed=1)
    env.step(DEEP)
    assert (env.agent_selection, env.last()[2]) == ("player_1", True)
    env.step(None)
    assert (env.agent_selection, env.agents) == ("player_2", ["player_2", "player_3"])


def test_one_seat_that_is_gone_ends_the_episode_although_the_game_goes_on() -> None:
    env = gym("burrow", seats=2)
    env.reset(seed=1)
    *_, over, cut, _ = env.step(DEEP)
    assert (over, cut, env.room.is_over()) == (True, False, False)


def lava_right_of(env: Any, number: int) -> None:
    """Put lava where a player of Crafter goes with its next step to the right."""
    game = env.room.world.game
    cell = game.players[number].cell + game.land.stride
    game.land.material[cell] = LAVA
    for other in game.players:
        if other.cell == cell:
            game.land.at[cell] = None
            game.add_player(*game.free_start(), other)


def test_a_player_that_died_has_ended_although_its_seat_is_still_there_and_the_others_play_on() -> None:
    env = parallel("crafter_shared", seats=3)
    env.reset(seed=1)
    lava_right_of(env, 0)
    _, rewards, over, cut, infos = env.step({"player_1": RIGHT, "player_2": 0, "player_3": 0})
    assert over == {"player_1": True, "player_2": False, "player_3": False}
    assert not any(cut.values())
    assert rewards["player_1"] < 0
    assert not infos["player_1"]["to_move"]
    assert (env.agents, env.room.is_over()) == (["player_2", "player_3"], False)
    seen, _, over, *_ = env.step(dict.fromkeys(env.agents, 0))
    assert list(seen) == ["player_2", "player_3"]
    assert not any(over.values())


def test_one_after_another_a_player_that_died_has_ended_too() -> None:
    env = aec("crafter_shared", seats=2)
    env.reset(seed=1)
    lava_right_of(env, 0)
    env.step(RIGHT)
    env.step(0)
    assert (env.agent_selection, env.last()[2]) == ("player_1", True)
    env.step(None)
    assert (env.agent_selection, env.agents, env.last()[2]) == ("player_2", ["player_2"], False)


def test_the_dead_are_not_asked_even_if_the_world_waits_for_them(tmp_path: Path) -> None:
    file = tmp_path / "ghosts.py"
    file.write_text(GHOSTS)
    env = envs.aec(str(file))
    env.reset(seed=1)
    env.step(1)
    env.step(0)
    assert (env.agent_selection, env.last()[2]) == ("player_1", True)
    env.step(None)
    for rounds in (1, 2):
        assert (env.agent_selection, env.agents, env.room.world.rounds) == ("player_2", ["player_2"], rounds)
        env.step(0)
    assert env.last()[2]


def test_the_death_of_the_learner_ends_its_episode_although_its_opponents_live() -> None:
    env = gym("crafter_shared", seats=2)
    env.reset(seed=1)
    lava_right_of(env, 0)
    *_, over, cut, _ = env.step(RIGHT)
    assert (over, cut, env.room.is_over()) == (True, False, False)
    env.reset(seed=1)
    assert not env.step(0)[2]


def test_the_standings_are_asked_for_once_after_each_entry_and_never_of_worlds_without() -> None:
    env = parallel("crafter_shared", seats=3)
    env.reset(seed=1)
    asked: list[int] = []
    standings = env.room.world.standings
    env.room.world.standings = lambda: asked.append(env.room.record.seq) or standings()
    for _ in range(3):
        env.step(dict.fromkeys(env.agents, 0))
    assert len(asked) == len(set(asked)) > 0
    burrow = parallel("burrow", seats=2)
    burrow.reset(seed=1)
    burrow.room.world.standings = lambda: pytest.fail("asked")
    burrow.step({"player_1": 0, "player_2": 0})


@pytest.mark.parametrize("name", WORLDS)
def test_an_episode_is_cut_after_the_given_number_of_steps(name: str) -> None:
    env = parallel(name, max_steps=2)
    env.reset(seed=1)
    actions = {agent: 0 if isinstance(env.action_space(agent), spaces.Discrete) else "" for agent in env.agents}
    _, _, over, cut, _ = env.step(actions)
    assert not any(over.values())
    assert not any(cut.values())
    _, _, over, cut, _ = env.step(actions)
    assert all(cut.values())
    assert not any(over.values())
    assert env.agents == []


def test_a_turn_stays_with_a_seat_if_neither_the_action_nor_a_rule_ends_it(hush: str) -> None:
    env = envs.aec(hush)
    env.reset(seed=1)
    env.step('{"action": "say", "params": {"word": ""}}')
    assert env.agent_selection == "player_1"
    assert env.infos["player_1"]["refused"] == {"code": "GAME_REJECTED", "message": "say something", "played": None}
    env.step('{"action": "say", "params": {"word": "ah"}}')
    assert (env.agent_selection, env.last()[0]["text"].splitlines()[2]) == ("player_2", "ah")


def test_an_episode_is_cut_if_an_opponent_does_nothing_and_there_is_no_rule_for_that(hush: str) -> None:
    env = envs.gym(hush, opponents="random")
    env.reset(seed=1)
    *_, over, cut, _ = env.step('{"action": "say", "params": {"word": "ah"}}')
    assert (over, cut) == (False, True)


@pytest.mark.parametrize(("make", "action"), [(gym, 0), (parallel, {"player_1": 0}), (aec, 0)])
def test_closing_twice_is_harmless_and_a_closed_environment_can_be_reset(make: Any, action: Any) -> None:
    env = make("nim")
    env.close()
    env.reset(seed=1)
    env.close()
    env.close()
    with pytest.raises(BadArgs, match="call reset first"):
        env.step(action)
    env.reset(seed=1)
    env.step(action)


# -- seats and opponents ------------------------------------------------------------------------------
def test_a_seat_is_chosen_by_its_number_or_its_name() -> None:
    assert gym("tictactoe").reset(seed=1)[1]["seat"] == "X"
    assert gym("tictactoe", seat=2).reset(seed=1)[1]["seat"] == "O"
    assert gym("tictactoe", seat="O").reset(seed=1)[1]["seat"] == "O"
    assert (
        gym("lanterns", seat="dove", opponents=["lamplighter", "random", "lamplighter"]).reset(seed=1)[1]["seat"]
        == "dove"
    )


@pytest.mark.parametrize(("options", "words"), [
    ({"seat": 3}, "from 1 to 2 or one of X, O, not 3"),
    ({"seat": "Y"}, "from 1 to 2 or one of X, O, not 'Y'"),
    ({"seats": 3}, "tictactoe has 2 seats, not 3"),
    ({"opponents": ["random"] * 2}, "tictactoe has 2 seats, not 3"),
    ({"opponents": ["random"] * 2, "seats": 2}, "2 seats need 1 opponents, not 2"),
    ({"observe": "image"}, "tictactoe offers text, board, not 'image'"),
    ({"render_mode": "rgb_array"}, "tictactoe has ansi, not 'rgb_array'"),
    ({"opponents": "warlord"}, "warlord does not play tictactoe; built-in players that do: random"),
    ({"opponents": ["nim-master"]}, "nim-master does not play tictactoe"),
    ({"max_steps": -1}, "at least 0"),
    ({"config": {"size": 4}}, "unknown argument 'size'"),
])  # fmt: skip
def test_what_a_world_does_not_have_is_refused_when_the_environment_is_made(
    options: dict[str, Any], words: str
) -> None:
    with pytest.raises(BadArgs) as refused:
        envs.gym("tictactoe", **options)
    assert words in refused.value.message


def test_an_unknown_world_or_opponent_is_refused_with_a_suggestion() -> None:
    with pytest.raises(UnknownAsset, match="unknown world 'tictacto'"):
        envs.gym("tictacto")
    with pytest.raises(UnknownAsset, match="unknown brain 'randon'") as refused:
        envs.gym("nim", opponents="randon")
    assert refused.value.did_you_mean == ["random"]
    with pytest.raises(BadArgs, match="no agent 'X'; there are player_1, player_2"):
        parallel("nim").step({"X": 0})


SLOW = """
import asyncio
from cohabit import Action

class Slow:
    async def decide(self, observation):
        await asyncio.sleep(0)
        return Action("take", {"n": 1})
"""


def test_opponents_may_wait_for_something_even_where_the_caller_runs_in_an_event_loop(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    env = envs.gym("nim", config={"stones": 9}, opponents=str(tmp_path / "slow.py"))

    async def episode() -> list[float]:
        env.reset(seed=1)
        return [env.step(0)[1] for _ in range(5)]

    assert asyncio.run(episode()) == [0.0, 0.0, 0.0, 0.0, 1.0]
    env.close()
    env.close()


def test_without_the_packages_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(envs, "find_spec", lambda name: None)
    for make in (envs.gym, envs.parallel, envs.aec):
        with pytest.raises(BadArgs, match=r"pip install 'cohabit\[envs\]'"):
            make("nim")


# -- actions by number --------------------------------------------------------------------------------
def test_actions_are_numbered_in_the_order_of_their_declaration() -> None:
    drift, nim = actions_of(make_world(WORLDS["drift"], {})), actions_of(make_world("nim", {}))
    assert isinstance(drift, NumberedActions)
    assert isinstance(nim, NumberedActions)
    assert drift.actions == [*(Action("trim", {"sail": n}) for n in range(4)), None]
    assert nim.actions == [Action("take", {"n": n}) for n in (1, 2, 3)]


PARAMETERS = '''
from enum import Enum
from typing import Annotated, Literal
from cohabit import Action, Observation, Outcome, Range, World, WorldSpec, action

class Colour(Enum):
    red = "red"
    blue = "blue"

class Levers(World):
    """Levers. Pull them."""

    spec = WorldSpec(name="levers", quick=True)

    def reset(self, seed, seats):
        self.order, self.pulled = [seat.id for seat in seats], ""

    def to_move(self):
        return self.order

    def observe(self, eye):
        return Observation(text=self.pulled or "nothing")

    @action()
    def pull(self, by, colour: Colour, hard: bool = False, times: Annotated[int, Range(1, 2)] | None = None) -> Outcome:
        """Pull a lever."""
        self.pulled = f"{colour.value} {hard} {times}"

    @action()
    def rest(self, by) -> Outcome:
        """Do nothing."""
        self.pulled = "rest"

    @action(needs="act_global")
    def smash(self, by, what: str) -> Outcome:
        """Only for gods."""

    def legal(self, seat):
        return [Action("pull", {"colour": "blue"}), Action("rest")]
'''


def test_choices_truth_values_bounded_numbers_and_none_are_numbered_and_defaults_are_known(tmp_path: Path) -> None:
    file = tmp_path / "levers.py"
    file.write_text(PARAMETERS)
    env = envs.gym(str(file))
    assert env.action_space == spaces.Discrete(2 * 2 * 3 + 1)
    seen, info = env.reset(seed=1)
    assert info["action_mask"].tolist() == seen["action_mask"].tolist()
    legal = np.flatnonzero(seen["action_mask"]).tolist()
    assert len(legal) == 2
    assert [env.step(n)[0]["text"].splitlines()[2] for n in legal] == ["blue False None", "rest"]
    pulled = [env.step(n)[0]["text"].splitlines()[2] for n in range(int(env.action_space.n))]
    assert len(set(pulled)) == 13
    assert env.action_masks().tolist() == seen["action_mask"].astype(bool).tolist()


def test_while_a_world_cannot_list_what_is_legal_the_mask_allows_everything(tmp_path: Path) -> None:
    file = tmp_path / "levers.py"
    file.write_text(PARAMETERS.replace("return [Action(", "return None if self.pulled else [Action("))
    env = envs.gym(str(file))
    assert env.reset(seed=1)[0]["action_mask"].sum() == 2
    assert env.step(12)[0]["action_mask"].tolist() == [1] * 13


def test_a_world_can_number_actions_that_a_seat_may_not_use_and_they_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "levers.py"
    file.write_text(
        PARAMETERS + '\n    def numbered(self):\n        return [Action("smash", {"what": "it"}), Action("rest")]\n'
    )
    env = envs.gym(str(file))
    env.reset(seed=1)
    *_, info = env.step(0)
    assert info["refused"]["code"] == "PERMISSION_DENIED"
    assert info["refused"]["played"] == {"action": "pull", "params": {"colour": "blue"}}


@pytest.mark.parametrize("name", ["kingdoms", "inn", "toolbox"])
def test_a_world_with_open_parameters_takes_text(name: str) -> None:
    env = gym(name)
    assert isinstance(env.action_space, UnicodeText)
    env.reset(seed=1)
    with pytest.raises(AttributeError, match="does not list all legal actions by number"):
        env.action_masks()


# -- arrays and pictures ------------------------------------------------------------------------------
def test_a_world_with_arrays_is_seen_as_its_first_one_and_the_mask_is_in_the_info() -> None:
    env = gym("burrow", seats=2, seat="birch")
    assert env.observation_space == spaces.Box(0, 2, (7,), np.uint8)
    assert env.action_space == spaces.Discrete(4)
    seen, info = env.reset(seed=1)
    assert seen.tolist() == env.room.world._row("birch")
    at = seen.tolist().index(2)
    assert info["action_mask"].tolist() == [int(at < 6), int(at > 0), 0, 0]
    assert set(info) == {"seat", "to_move", "seed", "action_mask"}
    worms = gym("burrow", observe="worms")
    assert worms.observation_space == spaces.Box(0, 7, (1,), np.float32)
    assert worms.reset(seed=1)[0] in worms.observation_space
    assert set(gym("burrow", observe="text").reset(seed=1)[0]) == {"text", "action_mask"}


@pytest.mark.parametrize("make", [gym, parallel])
def test_with_an_array_the_info_has_the_own_line_of_the_standings(make: Any) -> None:
    """So the success rates of Crafter's achievements can be counted whatever a learner observes."""
    env = make("crafter_shared", seats=2, observe="symbols")
    _, infos = env.reset(seed=1)
    first = infos if make is gym else infos["player_1"]
    assert first["standing"] == dict.fromkeys(ACHIEVEMENTS, 0)
    env.room.world.game.players[0].achievements[0] = 2
    *_, infos = env.step(0 if make is gym else {"player_1": 0, "player_2": 0})
    own = infos if make is gym else infos["player_1"]
    assert own["standing"] == {**dict.fromkeys(ACHIEVEMENTS, 0), "collect_coal": 1}
    if make is parallel:
        assert infos["player_2"]["standing"] == dict.fromkeys(ACHIEVEMENTS, 0)
    own["standing"].clear()
    assert env.room.world.standings()[0].data["collect_coal"] == 1
    text = make("crafter_shared", seats=2, observe="text").reset(seed=1)[1]
    assert "standing" not in (text if make is gym else text["player_1"])


def test_the_symbols_of_crafter_are_in_the_documented_order() -> None:
    env = gym("crafter", observe="symbols")
    assert env.observation_space == spaces.Box(0, 19, (104,), np.uint8)
    assert env.action_space == spaces.Discrete(17)
    env.reset(seed=3)
    game = env.room.world.game
    (player,) = game.players
    game.land.material[player.cell + game.land.stride] = LAVA
    player.health, player.food, player.drink, player.energy = 8, 7, 6, 5
    player.items = [*range(9), 1, 2, 3]
    player.achievements[ACHIEVEMENTS.index("wake_up")] = 3
    seen = env.room.world.array(Eye("player", "own"), "symbols").tolist()
    assert (seen[31], seen[32]) == (13, LAVA)
    assert seen[63:67] == [8, 7, 6, 5]
    assert seen[67:79] == player.items
    assert seen[79:82] == [3, 0, int(game.daylight * 10)]
    assert seen[82:] == [0] * 21 + [1]
    assert list(ACHIEVEMENTS) == sorted(ACHIEVEMENTS)


@pytest.mark.parametrize("seed", [0, 7, 11, 2**40])
def test_an_episode_of_crafter_begins_with_the_original_s_first_picture_for_that_seed(seed: int) -> None:
    crafter = pytest.importorskip("crafter")
    seen, _ = gym("crafter", observe="picture").reset(seed=seed)
    assert (seen.shape, seen.dtype) == ((64, 64, 3), np.uint8)
    assert (seen == crafter.Env(seed=seed).reset()).all()


def test_the_length_of_crafter_terminates_and_max_steps_truncate() -> None:
    for length, max_steps, ends in ((2, 0, (True, False)), (2, 2, (True, False)), (3, 2, (False, True))):
        env = envs.gym("crafter", config={"length": length}, max_steps=max_steps)
        env.reset(seed=1)
        assert env.step(0)[2:4] == (False, False)
        assert env.step(0)[2:4] == ends


def test_an_environment_renders_its_seat_as_text_or_picture() -> None:
    env = gym("lanterns", render_mode="ansi", observe="text")
    seen, _ = env.reset(seed=1)
    assert env.render() == seen["text"]
    env = gym("lanterns", render_mode="rgb_array")
    env.reset(seed=1)
    frame = env.render()
    assert (frame.dtype, frame.ndim, frame.shape[2]) == (np.uint8, 3, 3)
    assert gym("lanterns").render_mode is None


def test_many_seats_are_rendered_as_the_whole_world() -> None:
    env = parallel("burrow", seats=2, render_mode="ansi")
    env.reset(seed=1)
    assert "ash: " in env.render()
    assert "birch: " in env.render()


@given(st.text(max_size=200), st.integers(0, 100))
def test_a_text_space_holds_any_text_that_is_not_too_long(text: str, limit: int) -> None:
    assert UnicodeText(limit).contains(text) == (len(text) <= limit)
    assert UnicodeText(limit).sample() in UnicodeText(limit)


LONG = HUSH.replace('" ".join(self.said) or "(silence)"', '"word " * 10_000').replace("Hush", "Long")


def test_a_text_that_is_too_long_is_cut_and_says_so(tmp_path: Path) -> None:
    file = tmp_path / "long.py"
    file.write_text(LONG)
    env = envs.gym(str(file))
    seen, info = env.reset(seed=1)
    assert seen in env.observation_space
    assert (len(seen["text"]), seen["text"].endswith(CUT)) == (MAX_TEXT, True)
    assert len(info["observation"]["text"]) == 50_000


def test_importing_cohabit_does_not_import_the_packages_of_the_extra() -> None:
    script = "import cohabit, cohabit.lab.game, sys; print(sorted({'gymnasium', 'pettingzoo'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_samples_are_worlds_of_every_pace() -> None:
    paces = {make_world(str(file), {}).pace for file in SAMPLES.glob("*.py")}
    assert paces == {"step", "turns", "rounds", "clock"}


def documented(world: str, heading: str) -> str:
    """The row of a world in the first table with it below this heading."""
    page = (Path(__file__).parents[2] / "docs" / "envs.md").read_text(encoding="utf-8")
    section = page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    start = f"| {find_world(world).spec.title} | "
    return next(line for line in section.splitlines() if line.startswith(start)).removeprefix(start)


@pytest.mark.parametrize("world", known_games())
def test_the_documentation_says_what_actions_each_world_has(world: str) -> None:
    space = gym(world).action_space
    row = documented(world, "Actions")
    assert row.startswith(f"`{space}`" if isinstance(space, spaces.Discrete) else "JSON")
    assert row.endswith(f" | {find_world(world).spec.pace} |")


@pytest.mark.parametrize("world", ["nim", "tictactoe", "lanterns", "statecraft", "whist", "crafter", "planet"])
def test_the_documentation_says_what_arrays_each_world_has(world: str) -> None:
    form, spec = next(iter(make_world(world, {}).arrays().items()))
    names, shapes, *_ = documented(world, "Observations").split(" | ")
    assert (names.split(", ")[0], shapes[: len(str(spec.shape)) + 2]) == (f"`{form}`", f"`{spec.shape}`")


@pytest.mark.parametrize("world", sorted(WITHOUT_SEATS))
def test_a_world_without_seats_is_no_environment(world: str) -> None:
    with pytest.raises(BadArgs, match="has no seats, so nobody can learn there"):
        envs.gym(world)
