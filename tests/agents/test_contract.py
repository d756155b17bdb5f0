"""What every agent can rely on, synchronous or not, as an object in the same process: the same in every game."""

import asyncio
import sys
import time
from collections.abc import Coroutine
from typing import Any

import pytest
from msgspec.structs import replace

from cohabit.agents.contract import Thought, Turn, adapted, kind_of
from cohabit.agents.player import Limits, Player
from cohabit.lab.game import Game, GameSpec
from cohabit.model.action import Action, ActionResult, ActionSpace
from cohabit.model.observation import Observation
from cohabit.registry import make_agent

from .minds import played

KINDS = ("async", "quick", "thread")


def agent_of(kind: str, **methods: Any) -> Any:
    """An agent whose methods do this. ``decide`` takes one stone unless it is given."""
    called: list[str] = []

    def sync(name: str, work: Any) -> Any:
        def method(self: Any, *arguments: Any) -> Any:
            called.append(name)
            return work(*arguments) if work is not None else None

        async def method_async(self: Any, *arguments: Any) -> Any:
            return method(self, *arguments)

        return method_async if kind == "async" else method

    methods = {"decide": lambda seen: Action("take", {"n": 1}), "close": None, **methods}
    body = {name: sync(name, work) for name, work in methods.items()}
    made = type("Made", (), {"quick": kind == "quick", **body})()
    made.called = called
    return made


def fail(*_: Any) -> Any:
    raise ZeroDivisionError("a bug")


def too_late(*_: Any) -> Any:
    raise TimeoutError("a backend did not answer")


async def accept(action: Action | None) -> None: ...


def without_event_loop(work: Coroutine[Any, Any, Any]) -> Any:
    """What a coroutine returns that waits for nothing."""
    with pytest.raises(StopIteration) as done:
        work.send(None)
    return done.value.value


@pytest.mark.parametrize("kind", KINDS)
async def test_an_agent_is_closed_once_at_the_end_of_a_game(kind: str) -> None:
    agent = agent_of(kind)
    assert kind_of(agent) == kind
    game, _ = await played(adapted(agent))
    await game.close()
    assert agent.called.count("close") == 1
    assert agent.called[-1] == "close"


@pytest.mark.parametrize("kind", KINDS)
async def test_an_agent_is_closed_if_the_game_fails(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = agent_of(kind)
    game = Game(GameSpec("g", "nim", ["x", "random"]), agents=[adapted(agent), adapted(make_agent("random", "r"))])
    monkeypatch.setattr(game, "_turn", fail)
    with pytest.raises(ZeroDivisionError):
        await game.play()
    assert agent.called.count("close") == 1


async def test_an_agent_is_closed_if_the_game_is_cancelled() -> None:
    asked, closed = asyncio.Event(), asyncio.Event()

    class Waits:
        async def decide(self, observation: Any) -> Any:
            asked.set()
            await asyncio.Event().wait()

        def close(self) -> None:  # a synchronous method of an asynchronous agent
            closed.set()

    task = asyncio.create_task(played(adapted(Waits())))
    await asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert closed.is_set()


@pytest.mark.parametrize("kind", KINDS)
async def test_an_agent_that_cannot_be_closed_ends_no_game(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    game, _ = await played(adapted(agent_of(kind, close=fail)))
    assert game.decisions == 3
    assert "close failed: ZeroDivisionError: a bug" in caplog.text


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", ["initialize", "plan", "reflect"])
async def test_an_exception_in_any_method_is_a_failure_that_names_it(method: str, kind: str) -> None:
    _, made = await played(adapted(agent_of(kind, **{method: fail})))
    assert {decision.outcome for decision in made} == {"failed"}
    assert {decision.problem for decision in made} == {f"{method} failed: ZeroDivisionError: a bug"}
    assert all(decision.action is not None for decision in made)


@pytest.mark.parametrize("kind", KINDS)
async def test_after_a_failure_to_reflect_the_action_of_the_agent_stands(kind: str) -> None:
    agent = agent_of(kind, decide=lambda seen: Action("take", {"n": 2}), reflect=fail)
    _, made = await played(adapted(agent), decisions=1)
    assert [decision.action for decision in made] == [Action("take", {"n": 2})]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_plan_that_is_no_list_is_a_failure(kind: str) -> None:
    _, made = await played(adapted(agent_of(kind, plan=lambda goals: 5)))
    assert made[0].problem == "plan failed: TypeError: plan returned int, not a list of lines"
    _, made = await played(adapted(agent_of(kind, plan=lambda goals: None)))
    assert made[0].outcome == "chosen"


@pytest.mark.parametrize("kind", ["async", "thread"])
async def test_an_answer_after_the_time_limit_does_not_count(kind: str) -> None:
    def slow(seen: Any) -> Action:
        time.sleep(0.2)
        return Action("take", {"n": 1})

    game, made = await played(adapted(agent_of(kind, decide=slow)), seconds=0.05)
    assert {decision.outcome for decision in made} == {"timeout"}
    assert made[0].problem == "no answer in 0.05 s"
    assert game.players[0].tally.failures == len(made)


async def test_a_busy_machine_does_not_make_a_script_late() -> None:
    """One that is called directly is trusted to be quick. Code of others runs in processes of its own."""

    def slow(seen: Any) -> Action:
        time.sleep(0.02)
        return Action("take", {"n": 1})

    player = Player(adapted(agent_of("quick", decide=slow)), Limits(0.001))
    assert (await player.move(Turn(Observation(), ""), accept)).outcome == "chosen"


def test_a_script_needs_no_event_loop_in_any_part_of_a_game() -> None:
    agent = agent_of("quick", initialize=None, plan=None, reflect=None)
    player = Player(adapted(agent), Limits(1.0), seconds=lambda: 0.0)
    without_event_loop(player.initialize("Nim", ActionSpace()))

    async def act(action: Action | None) -> ActionResult:
        return ActionResult(True, reward=2.0)

    decision = without_event_loop(player.move(Turn(Observation(), ""), act))
    without_event_loop(player.close())
    assert (decision.outcome, decision.reward) == ("chosen", 2.0)
    assert agent.called == ["initialize", "plan", "decide", "reflect", "close"]


FAULTS: dict[str, dict[str, Any]] = {
    "none": {},
    "initialize": {"initialize": fail},
    "initialize too late": {"initialize": too_late},
    "plan": {"plan": fail},
    "decide": {"decide": fail},
    "decide too late": {"decide": too_late},
    "reflect": {"reflect": fail},
    "reflect too late": {"reflect": too_late},
    "no action": {"decide": lambda seen: None},
    "no such action": {"decide": lambda seen: Action("fly")},
    "another type": {"decide": lambda seen: "take"},
    "an illegal action": {"decide": lambda seen: Action("take", {"n": 99})},
    "exit": {"decide": lambda seen: sys.exit(1)},
}


@pytest.mark.parametrize("world", ["nim", "statecraft"])
@pytest.mark.parametrize("fault", FAULTS)
async def test_a_script_and_an_asynchronous_agent_are_treated_alike(fault: str, world: str) -> None:
    """In the same game, with the same fault: the same decisions, and the same record."""
    found = []
    for kind in ("quick", "async"):
        game, made = await played(adapted(agent_of(kind, **FAULTS[fault])), world)
        found.append(([replace(decision, turn=0) for decision in made], game.result().tallies[0], game.lines()))
    assert found[0][0]
    assert found[0] == found[1]


async def test_methods_may_be_synchronous_and_asynchronous_in_one_agent() -> None:
    called: list[str] = []

    class Mixed:
        def decide(self, observation: Any) -> Any:
            return Action("take", {"n": 1})

        async def initialize(self, game_desc: str, action_space: Any) -> None:
            called.append("initialize")

        async def reflect(self, result: Any) -> None:
            called.append("reflect")

        async def close(self) -> None:
            called.append("close")

    class Thinks(Mixed):
        def think(self, turn: Any, correction: str = "") -> Thought:
            return Thought(Action("take", {"n": 1}))

    for kind in (Mixed, type("Quick", (Mixed,), {"quick": True}), Thinks):
        called.clear()
        _, made = await played(adapted(kind()), decisions=1)
        assert made[0].outcome == "chosen"
        assert called == ["initialize", "reflect", "close"]
