"""One game: the same spec gives the same record, whatever was played before."""

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from tests.examples import examples

from cohabit.agents.brains.scripted import Random
from cohabit.agents.contract import adapted
from cohabit.errors import GameCrash
from cohabit.lab.folder import record_lines
from cohabit.lab.game import Game, GameResult, GameSpec, _setups, purposes
from cohabit.model.action import Action, ActionResult, ActionSpace
from cohabit.model.observation import Goal, Observation
from cohabit.registry import make_agent, make_world
from cohabit.room.room import Room
from cohabit.world import Standing
from cohabit.worlds import nim

PLAYERS = {
    "nim": st.lists(st.sampled_from(["random", "nim-master"]), min_size=2, max_size=2),
    "tictactoe": st.just(["random", "random"]),
    "statecraft": st.lists(st.sampled_from(["random", "hawk", "trader", "grudger"]), min_size=2, max_size=4),
    "lanterns": st.lists(st.just("lamplighter"), min_size=2, max_size=3),
}
CONFIG: dict[str, dict[str, Any]] = {"statecraft": {"turns": 3}, "lanterns": {"ticks": 100}}


@st.composite
def specs(draw: st.DrawFn) -> GameSpec:
    world = draw(st.sampled_from(sorted(PLAYERS)))
    seed = str(draw(st.integers(0, 10**6)))
    return GameSpec("g", world, draw(PLAYERS[world]), seed=seed, config=CONFIG.get(world, {}), step_ticks=10)


def played(spec: GameSpec) -> tuple[GameResult, bytes]:
    game = Game(spec)
    return asyncio.run(game.play()), record_lines(game.lines())


@settings(max_examples=examples(25), deadline=None)
@given(specs(), specs())
def test_the_same_spec_gives_the_same_record_and_result_whatever_was_played_before(
    spec: GameSpec, other: GameSpec
) -> None:
    first = played(spec)
    played(other)
    assert played(spec) == first


@settings(max_examples=examples(15), deadline=None)
@given(specs(), st.integers(0, 10**6))
def test_the_record_of_a_game_is_the_same_after_another_game_of_its_setup_and_as_the_first_one(
    spec: GameSpec, seed: int
) -> None:
    _setups.clear()
    played(msgspec.structs.replace(spec, id="other", seed=str(seed)))
    later = played(spec)
    _setups.clear()
    assert played(spec) == later


def test_a_world_that_cannot_be_saved_fails_before_the_first_decision(tmp_path: Path) -> None:
    file = tmp_path / "heap.py"
    text = Path(nim.__file__).read_text()
    file.write_text(text.replace("def reset(self, seed: int, seats: Sequence[Seat]) -> None:",
                                 "def reset(self, seed: int, seats: Sequence[Seat]) -> None:\n        self.bag = {1}"))  # fmt: skip
    game = Game(GameSpec("g", str(file), ["random", "random"]))
    with pytest.raises(GameCrash):
        asyncio.run(game.play())
    assert game.decisions == 0


@pytest.mark.parametrize("kind", ["quick = True", "quick = False"])
def test_a_value_of_a_wrong_type_is_a_bug_of_the_world_and_no_failure_of_the_player_that_reads_it(
    kind: str, tmp_path: Path
) -> None:
    world, agent = tmp_path / "bad.py", tmp_path / "thrifty.py"
    text, shown = Path(nim.__file__).read_text(), "return Observation("
    assert text.count(shown) == 1
    world.write_text(text.replace(shown, f"{shown}recent_events=['it begins'], "))
    agent.write_text(READS_EVENTS.format(kind=kind))
    game = Game(GameSpec("g", str(world), [f"{agent}:Thrifty", "random"]))
    with pytest.raises(
        GameCrash, match=r"the world 'nim' has a bug: recent_events of observe\(\) must list values of Event"
    ):
        asyncio.run(game.play())
    assert [player.tally.failures for player in game.players] == [0, 0]


READS_EVENTS = """
from cohabit import Action
class Thrifty:
    {kind}
    def decide(self, seen):
        return Action("take", {{"n": 1}}, seen.recent_events[0].text)
"""


SCORED = """
from cohabit import Eye, Observation, Outcome, Seat, Standing, World, WorldSpec, action
class Scored(World):
    \"\"\"Each player makes one step.\"\"\"
    spec = WorldSpec(name="scored", seats=(1, 4), pace="turns")
    def reset(self, seed, seats):
        self.left = [seat.id for seat in seats]
    def to_move(self):
        return self.left[:1]
    def observe(self, eye: Eye) -> Observation:
        return Observation(step=0)
    def standings(self):
        return [Standing("1", "1", {score})]
    @action()
    def step(self, by: Seat) -> Outcome:
        \"\"\"Make a step.\"\"\"
        self.left.pop(0)
        return Outcome("You made it.", reward={reward})
"""
STEPS = """
from cohabit import Action
class Steps:
    quick = True
    def decide(self, seen):
        return Action("step")
"""


def scored(folder: Path, score: str = "1", reward: str = "1.0") -> GameSpec:
    (folder / "scored.py").write_text(SCORED.format(score=score, reward=reward))
    (folder / "steps.py").write_text(STEPS)
    return GameSpec("g", str(folder / "scored.py"), [f"{folder / 'steps.py'}:Steps"])


@pytest.mark.parametrize("score", ["float('inf')", "-float('inf')", "float('nan')", "True", "'3'", "None", "10**400"])
def test_a_score_that_could_not_be_read_again_is_a_bug_of_the_world_and_never_written(
    score: str, tmp_path: Path
) -> None:
    with pytest.raises(
        GameCrash, match=r"standings\(\) gives values that no file can hold.* (it gives \[Standing|is a finite number)"
    ):
        played(scored(tmp_path, score))


def test_a_result_is_as_it_is_read_again(tmp_path: Path) -> None:
    result, _ = played(scored(tmp_path, "2, data={'cells': (1, 2), 'far': float('inf')}"))
    assert result.standings == [Standing("1", "1", 2, data={"cells": [1, 2], "far": None})]


def test_a_reward_of_numpy_is_a_number_and_no_reward_is_a_bug_of_the_world(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    result, _ = played(scored(tmp_path, reward="__import__('numpy').float32(0.5)"))
    assert [type(reward) for reward in result.rewards] == [float]
    assert result.rewards == [0.5]
    (tmp_path / "other").mkdir()
    with pytest.raises(GameCrash):
        played(scored(tmp_path / "other", reward="None"))


@pytest.mark.parametrize("name", ["leave", "stand_up", "rematch", "send_message", "heap"])
def test_a_command_that_is_no_action_is_refused_and_the_fallback_is_played(name: str) -> None:
    class Leaving(Random):
        def decide(self, observation: Observation) -> Action:
            return Action(name)

    game = Game(GameSpec("g", "nim", ["leaving", "random"]), agents=[adapted(Leaving("a")), adapted(Random("b"))])
    result = asyncio.run(game.play())
    assert result.ended == "over"
    assert result.seats == ["first", "second"]
    assert set(result.tallies[0].outcomes) == {"refused"}
    assert {line.entry.do for line in game.lines()} <= {"open", "take", "digest"}


def test_an_edited_world_file_is_a_new_setup(tmp_path: Path) -> None:
    file = tmp_path / "heap.py"
    text = Path(nim.__file__).read_text(encoding="utf-8")
    said = []
    for title in ("Nim", "Heap"):
        file.write_text(text.replace('"""Nim.', f'"""{title}.'), "utf-8")
        playing = Game(GameSpec("g", str(file), ["random", "random"]))
        said.append(playing._setup.introduction(playing.room)[0].partition(".")[0])
    assert said == ["Nim", "Heap"]


@settings(max_examples=examples(15), deadline=None)
@given(specs())
def test_the_record_of_a_game_replays_to_its_end(spec: GameSpec) -> None:
    game = Game(spec)
    result = asyncio.run(game.play())
    again = Room.replay(game.lines(), make_world)
    assert again.digest() == game.room.digest()
    assert list(again.world.standings()) == result.standings


@pytest.mark.parametrize(("limit", "spec"), [
    ("decisions", GameSpec("g", "tictactoe", ["random", "random"], max_decisions=3)),
    ("decisions", GameSpec("g", "lanterns", ["random", "random"], max_decisions=3)),
    ("decisions", GameSpec("g", "statecraft", ["hawk", "hawk"], max_decisions=3)),
    ("ticks", GameSpec("g", "lanterns", ["lamplighter"] * 2, step_ticks=7, max_ticks=30)),
])  # fmt: skip
def test_a_game_stops_at_its_limit_and_says_so(limit: str, spec: GameSpec) -> None:
    result, _ = played(spec)
    assert result.ended == "limit"
    assert (result.decisions, result.ticks)[limit == "ticks"] == (3, 30)[limit == "ticks"]


@pytest.mark.parametrize(("world", "players", "ticks"), [("lanterns", "lamplighter", 5), ("kingdoms", "warlord", 50)])
def test_a_step_of_a_real_time_world_is_five_seconds_of_its_time(world: str, players: str, ticks: int) -> None:
    game = Game(GameSpec("g", world, [players] * 2, max_ticks=100))
    asyncio.run(game.play())
    steps = [entry.args["n"] for line in game.lines() if (entry := line.entry).do == "ticks"]
    assert steps
    assert set(steps) == {ticks}


def test_players_of_games_with_the_same_seed_draw_the_same_numbers_on_any_seat() -> None:
    def first_moves(players: list[str], names: list[str]) -> dict[str, str]:
        game = Game(GameSpec("g", "tictactoe", players, seed="5", names=names))
        return {name: str(p.agent.agent.stream.bits64()) for name, p in zip(names, game.players, strict=True)}  # type: ignore[attr-defined]

    assert first_moves(["random"] * 2, ["a", "b"]) == first_moves(["random"] * 2, ["b", "a"])
    assert len(set(first_moves(["random"] * 2, ["a", "b"]).values())) == 2


class Reader:
    """Submits nothing, and keeps what it was shown."""

    quick = True

    def __init__(self, reads_text: bool, reads_choices: bool) -> None:
        self.reads_text, self.reads_choices = reads_text, reads_choices
        self.seen: list[Observation] = []

    def initialize(self, game_desc: str, action_space: ActionSpace) -> None:
        pass

    def decide(self, observation: Observation) -> Action:
        self.seen.append(observation)
        return Action("submit")

    def reflect(self, result: ActionResult) -> None:
        pass

    def plan(self, goals: Sequence[Goal]) -> list[str]:
        return []


@pytest.mark.parametrize("reads_choices", [False, True])
def test_a_script_that_reads_no_text_is_shown_the_same_values_without_it(reads_choices: bool) -> None:
    shown: dict[bool, list[Observation]] = {}
    for reads in (True, False):
        one, other = Reader(reads, reads_choices), Reader(True, reads_choices)
        spec = GameSpec("g", "statecraft", ["reader", "reader"], config={"turns": 3})
        asyncio.run(Game(spec, agents=[adapted(one), adapted(other)]).play())
        shown[reads] = one.seen
        assert all(seen.text for seen in other.seen)
    assert len(shown[True]) == 3
    assert all(seen.text == "" and seen.current_goals for seen in shown[False])
    assert all(bool(seen.choices) == reads_choices for seen in shown[False])
    assert shown[False] == [structs.replace(seen, text="", text_says_all=False) for seen in shown[True]]


class Waiting:
    """A script behind async methods, as an agent that waits for something."""

    def __init__(self, script: Any) -> None:
        self.script = script

    async def initialize(self, game_desc: str, action_space: Any) -> None:
        self.script.initialize(game_desc, action_space)

    async def decide(self, observation: Any) -> Any:
        await asyncio.sleep(0)
        return self.script.decide(observation)

    async def reflect(self, result: Any) -> None:
        self.script.reflect(result)

    async def plan(self, goals: Any) -> list[str]:
        return list(self.script.plan(goals))


@settings(max_examples=examples(25), deadline=None)
@given(specs(), st.sampled_from([None, "raise", "pass", "illegal", "late"]), st.integers(1, 4))
def test_scripts_play_the_same_game_whether_they_are_waited_for_or_not(
    spec: GameSpec, mishap: str | None, at: int
) -> None:
    def scripts() -> list[Any]:
        made = [make_agent(name, why) for name, why in zip(spec.players, purposes(spec), strict=True)]
        decide, count = made[0].decide, iter(range(1, 10**9))

        def unreliable(observation: Any) -> Any:
            if next(count) != at or mishap is None:
                return decide(observation)
            if mishap == "pass":
                return None
            if mishap == "illegal":
                return Action("fly", {"to": "the moon"})
            raise TimeoutError if mishap == "late" else ValueError("no idea")

        made[0].decide = unreliable
        return made

    def outcome(agents: list[Any]) -> tuple[GameResult, bytes]:
        game = Game(spec, agents=agents)
        return asyncio.run(game.play()), record_lines(game.lines())

    assert outcome([adapted(script) for script in scripts()]) == outcome([Waiting(script) for script in scripts()])


class Thinking(Waiting):
    """It finishes after the players behind it, and thinks for so many seconds of a clock that it moves itself."""

    def __init__(self, script: Any, clock: list[float], seconds: float, pauses: int) -> None:
        super().__init__(script)
        self.clock, self.seconds, self.pauses = clock, seconds, pauses

    async def decide(self, observation: Any) -> Any:
        self.clock[0] += self.seconds
        found = await super().decide(observation)
        for _ in range(self.pauses):
            await asyncio.sleep(0)
            self.clock[0] += 100.0
        return found


def test_the_seconds_of_a_decision_are_those_of_its_own_thinking() -> None:
    clock, took = [0.0], {}
    slow, fast = (
        Thinking(make_agent("trader", "x"), clock, seconds, pauses) for seconds, pauses in ((0.0, 3), (2.0, 0))
    )
    spec = GameSpec("g", "statecraft", ["slow", "fast"], config={"turns": 1})
    game = Game(
        spec, agents=[slow, fast], seconds=lambda: clock[0],
        on_decision=lambda seat, _, seconds: took.update({seat: seconds}),
    )  # fmt: skip
    asyncio.run(game.play())
    assert took == {0: 302.0, 1: 2.0}  # the second one had to wait for the first
    assert [tally.seconds for tally in game.result().tallies] == [302.0, 2.0]


def test_the_time_in_which_a_script_s_action_is_performed_is_not_its_own() -> None:
    clock, took = [0.0], []
    spec = GameSpec("g", "nim", ["random", "random"], config={"stones": 3}, max_decisions=1)
    game = Game(spec, seconds=lambda: clock[0], on_decision=lambda _, __, seconds: took.append(seconds))
    act = game._seated[0].act

    async def slow(action: Action | None) -> Any:
        clock[0] += 7.0
        return await act(action)

    game._seated[0].act = slow
    asyncio.run(game.play())
    assert took == [0.0]


class SlowOnce:
    """Does not return from its second decision before it was given up."""

    def __init__(self, script: Any) -> None:
        self.script = script
        self.asked = 0
        self.given_up = threading.Event()

    def initialize(self, game_desc: str, action_space: Any) -> None: ...

    def decide(self, observation: Any) -> Any:
        self.asked += 1
        if self.asked == 2:
            assert self.given_up.wait(60)
        return self.script.decide(observation)

    def reflect(self, result: Any) -> None: ...

    def plan(self, goals: Any) -> list[str]:
        return []


def test_after_a_decision_that_was_too_late_the_next_one_waits_for_the_agent() -> None:
    agent = SlowOnce(make_agent("nim-master", "test"))

    def on_decision(player: int, decision: Any, seconds: float) -> None:
        if decision.outcome == "timeout":  # it returns only when the game waits for something again
            asyncio.get_running_loop().call_soon(agent.given_up.set)

    spec = GameSpec("g", "nim", ["slow", "random"], seconds=1.0, config={"stones": 21})
    game = Game(spec, agents=[adapted(agent), adapted(make_agent("random", "test"))], on_decision=on_decision)
    result = asyncio.run(game.play())
    assert result.tallies[0].outcomes == {"chosen": agent.asked - 1, "timeout": 1}
    assert agent.asked > 2


class SlowStart(SlowOnce):
    """Does not return from initialize before the first decision was given up."""

    begun = 0

    def initialize(self, game_desc: str, action_space: Any) -> None:
        self.begun += 1
        assert self.given_up.wait(60)

    def decide(self, observation: Any) -> Any:
        return self.script.decide(observation)


def test_an_agent_that_was_initialized_too_late_is_not_initialized_again() -> None:
    agent = SlowStart(make_agent("nim-master", "test"))

    def on_decision(player: int, decision: Any, seconds: float) -> None:
        if decision.outcome == "timeout":
            asyncio.get_running_loop().call_soon(agent.given_up.set)

    spec = GameSpec("g", "nim", ["slow", "random"], seconds=1.0, config={"stones": 21})
    game = Game(spec, agents=[adapted(agent), adapted(make_agent("random", "test"))], on_decision=on_decision)
    result = asyncio.run(game.play())
    assert result.tallies[0].outcomes["timeout"] == 1
    assert result.tallies[0].outcomes["chosen"] > 1
    assert agent.begun == 1
