"""Adapters and worlds are the same thing for one seat: an adapter runs as a world, and a world as an adapter."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.adapter import as_world, is_adapter
from cohabit.agents.contract import adapted
from cohabit.errors import BadArgs, GameCrash
from cohabit.lab.game import Game, GameSpec
from cohabit.protocols.wsap import (
    Action,
    ActionDef,
    ActionResult,
    ActionSpace,
    Agent,
    GameAdapter,
    Goal,
    Observation,
    ParamDef,
)  # fmt: skip
from cohabit.protocols.wsap.one_seat import OneSeat, as_adapter
from cohabit.registry import find_world, make_world
from cohabit.room.room import Room
from cohabit.testing.checker import check_here, check_world
from cohabit.world import Eye, Outcome, Seat, Told, World, WorldSpec, action

EXAMPLE = Path(__file__).parents[2] / "examples" / "adapter.py"
SAMPLES = Path(__file__).parents[1] / "worlds_samples"
MOVES = [
    Action("noop"),
    Action("move", {"direction": "left"}),
    Action("move", {"direction": "right"}),
    Action("drink"),
    Action("eat"),
    Action("gather"),
]


def coast() -> Any:
    """The adapter class of the example."""
    return find_world(str(EXAMPLE)).adapter_class  # type: ignore[attr-defined]


class Lift(GameAdapter):
    """A lift."""

    def __init__(self, floors: int = 5, start: int = 1) -> None:
        self.floors, self.start = floors, start
        self.log: list[str] = []

    @property
    def game_description(self) -> str:
        return "A lift with doors."

    @property
    def action_space(self) -> ActionSpace:
        return ActionSpace(
            [
                ActionDef("go", "Go to a floor", [ParamDef("floor", "1-10")], [], "movement"),
                ActionDef("sit", "Sit down", [], [], "avatar"),
                ActionDef("Open Doors", "Open", [ParamDef("side", "front|back", optional=True)], [], "doors"),
                ActionDef("break", "Break", [], [], "doors"),
            ]
        )

    def observe(self) -> Observation:
        return Observation(status={"floor": self.floor, "log": self.log}, step=len(self.log))

    def reset(self, seed: int = 0) -> Observation:
        self.floor, self.log = self.start, [f"seed {seed}"]
        return self.observe()

    def act(self, action: Action) -> ActionResult:
        self.log.append(action.name)
        if action.name == "break":
            self.floor = 99
            raise RuntimeError("stuck")
        if action.name == "go":
            self.floor = int(action.parameters["floor"])
        return ActionResult(True, "Done.", 0.1, [], False, self.observe())


class SavedLift(Lift):
    """A lift that can be saved."""

    restored = 0

    def save(self) -> dict[str, Any]:
        return vars(self)

    def restore(self, state: dict[str, Any]) -> None:
        SavedLift.restored += 1
        vars(self).update(state)


class Shaky(Lift):
    """A lift that differs each time."""

    count = 0

    def observe(self) -> Observation:
        return msgspec.structs.replace(super().observe(), text=str(self.number))

    def reset(self, seed: int = 0) -> Observation:
        Shaky.count += 1
        self.number = Shaky.count
        return super().reset(seed)


@dataclass
class OwnObservation:
    status: dict[str, Any]
    inventory: dict[str, int] = field(default_factory=dict)


@dataclass
class OwnResult:
    success: bool
    message: str
    reward: float
    achievements: list[str]
    done: bool
    observation: OwnObservation


class OwnClasses:
    """An adapter that defines the protocol's classes itself."""

    game_description = "Counts."
    action_space = ActionSpace([ActionDef("count", "Count one", [], [], "count")])

    def reset(self) -> OwnObservation:
        self.n = 0
        return self.observe()

    def observe(self) -> OwnObservation:
        return OwnObservation({"n": self.n})

    def act(self, action: Action) -> OwnResult:
        self.n += 1
        return OwnResult(True, f"{self.n}", 1.0, [], self.n == 2, self.observe())


class Candle(World):
    """A candle."""

    spec = WorldSpec(name="candle", seats=(1, 4), pace="clock", tick_ms=1000)

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.order, self.wax = [seat.id for seat in seats], 6 + seed
        self.total = 0.0

    def to_move(self) -> Sequence[str]:
        return self.order if self.wax else []

    def advance(self, ticks: int) -> Sequence[Told]:
        burnt = min(self.wax, ticks)
        self.wax, self.total = self.wax - burnt, self.total + burnt
        return ()

    def observe(self, eye: Eye) -> Observation:
        return Observation(status={"wax": self.wax})

    def returns(self) -> Mapping[str, float]:
        return {self.order[0]: self.total}

    def legal(self, seat: Seat) -> Sequence[Action]:
        return [Action("trim")]

    @action()
    def trim(self, by: Seat) -> Outcome:
        """Trim the wick."""
        self.total += 0.5
        return Outcome("It burns steadily.")


def game_of(adapter: type, **config: Any) -> OneSeat:
    return as_adapter(as_world(adapter, frozenset({"sit"}))(**config))


def without_choices(seen: Observation) -> Observation:
    return msgspec.structs.replace(seen, choices=[])


# -- an adapter as a world ------------------------------------------------------------------------
def test_the_example_adapter_meets_the_contract_of_worlds(without_processes: None) -> None:
    report = check_here(str(EXAMPLE), seeds=(1,), steps=100)
    assert report.ok, report


@pytest.mark.soak
def test_the_example_adapter_meets_the_contract_of_worlds_also_in_other_processes() -> None:
    report = check_world(str(EXAMPLE), seeds=(1,), steps=100)
    assert report.ok, report


def test_an_adapter_in_a_file_is_found_beside_worlds_and_named_for_its_class() -> None:
    cls = find_world(str(EXAMPLE))
    assert (cls.spec.name, cls.spec.title, cls.spec.seats, cls.spec.pace) == ("coast", "Coast", 1, "step")
    assert issubclass(cls, World)
    assert not is_adapter(cls)
    assert find_world(f"{EXAMPLE}:CoastAdapter") is cls


def test_the_parameters_of_an_adapters_constructor_are_the_config_of_its_world() -> None:
    game = as_adapter(make_world(str(EXAMPLE), {"wood_needed": 7}))
    assert game.observe().current_goals[0].progress == "0/7 wood"
    with pytest.raises(BadArgs, match="wood_needed"):
        make_world(str(EXAMPLE), {"wood": 7})


@given(st.lists(st.sampled_from(MOVES), max_size=40))
def test_an_adapter_as_a_world_as_an_adapter_gives_the_same_results(moves: list[Action]) -> None:
    alone, game = coast()(), as_adapter(str(EXAMPLE))
    choices = [move.choice for move in MOVES]  # which the world lists, and the adapter does not
    assert game.reset() == msgspec.structs.replace(alone.reset(), choices=choices)
    for move in moves:
        expected, result = alone.act(move), game.act(move)
        seen = msgspec.structs.replace(expected.observation, choices=[] if expected.done else choices)
        assert result == msgspec.structs.replace(expected, observation=seen)
        assert game.observe() == seen
        if expected.done:
            return


def test_both_forms_describe_the_game_and_its_actions_alike() -> None:
    alone, game = coast()(), as_adapter(str(EXAMPLE))
    assert game.game_description.split() == alone.game_description.split()
    shown = [(a.name, a.category, a.preconditions) for a in game.action_space.actions]
    assert shown == [(a.name, a.category, a.preconditions) for a in alone.action_space.actions]
    move = game.action_space.get("move")
    assert move is not None
    assert move.parameters[0].options == ["left", "right"]  # `left|right` in the protocol's notation


def test_a_failed_action_is_an_outcome_because_time_may_have_passed() -> None:
    game = as_adapter(str(EXAMPLE))
    result = game.act(Action("drink"))
    assert (result.success, result.message) == (False, "There is no water here.")
    assert result.observation is not None
    assert result.observation.step == 1
    assert game.room.record.seq == 1  # the opening, and the action


def test_parameters_that_do_not_fit_are_refused_and_nothing_happens() -> None:
    game = as_adapter(str(EXAMPLE))
    for wrong in (
        Action("move"),
        Action("move", {"direction": "up"}),
        Action("move", {"direction": "left", "by": 2}),
        Action("fly"),
        Action("view"),
    ):
        result = game.act(wrong)
        assert not result.success
        assert result.observation == game.observe()
    assert game.observe().step == 0


def test_values_are_passed_on_as_they_came_within_the_limits_that_the_notation_gives() -> None:
    game = game_of(Lift)
    for floor in (3, "4"):
        assert game.act(Action("go", {"floor": floor})).observation.status["floor"] == int(floor)  # type: ignore[union-attr, call-overload]
    assert game.act(Action("go", {"floor": 11})).message == "[BAD_ARGS] go: floor must be a whole number from 1 to 10"
    assert game.act(Action("go", {"floor": 1})).reward == 0.1  # as it was given, not as a difference of totals


def test_names_that_a_room_uses_or_that_are_no_names_get_others() -> None:
    game = game_of(Lift)
    assert game.action_space.names() == ["go", "game_sit", "open_doors", "break"]
    assert game.act(Action("game_sit")).observation.status["log"][-1] == "sit"  # type: ignore[union-attr]


class Bridge(GameAdapter):
    """A bridge with planks. What can be done depends on where one stands."""

    def __init__(self) -> None:
        self.reset()

    @property
    def game_description(self) -> str:
        return "A bridge."

    @property
    def action_space(self) -> ActionSpace:
        back = [ActionDef("step back")] if self.at else []
        sizes = ParamDef("size", type="integer", minimum=1, maximum=2)
        aims = [ParamDef("at", "who to greet"), ParamDef("loudly", type="boolean", required=False)]
        jump = ActionDef("jump", "", [sizes, ParamDef("foot", "left|right")])
        return ActionSpace([jump, ActionDef("greet", "", aims), *back])

    def observe(self) -> Observation:
        return Observation(status={"at": self.at})

    def act(self, action: Action) -> ActionResult:
        self.at += int(action.parameters["size"]) if action.name == "jump" else -1
        return ActionResult(True, "", done=self.at >= 5)

    def reset(self) -> Observation:
        self.at = 1
        return self.observe()


class ListedBridge(Bridge):
    def legal_actions(self) -> list[Action]:
        return [Action("jump", {"size": 1, "foot": "left"}), Action("step back")][: 1 + self.at]


class SeenBridge(Bridge):
    def observe(self) -> Observation:
        return Observation(choices=[{"action": "step back", "params": {}}] if self.at else [])


def test_the_actions_of_an_adapter_with_their_values_are_examples_of_what_is_legal() -> None:
    game = game_of(Bridge)
    jumps = [Action("jump", {"size": n, "foot": foot}) for n in (1, 2) for foot in ("left", "right")]
    assert game.action_space.examples
    assert game.legal_actions() == [*jumps, Action("step_back")]  # whom to greet is not listed
    game.act(Action("step_back"))
    assert game.legal_actions() == jumps
    member = game.room.state.members["player"]
    assert "Examples of actions: jump" in game.room.view(member).text
    assert game.room.fallback(member) is None  # an example need not be harmless


def test_an_adapter_may_list_its_legal_actions_itself() -> None:
    game = game_of(ListedBridge)
    assert not game.action_space.examples
    assert game.legal_actions() == [Action("jump", {"size": 1, "foot": "left"}), Action("step_back")]
    assert game.room.fallback(game.room.state.members["player"]) == Action("jump", {"size": 1, "foot": "left"})
    seen = game_of(SeenBridge)
    assert seen.legal_actions() == [Action("step_back")]


def test_a_model_chooses_among_the_legal_actions_of_an_adapter() -> None:
    game = Game(GameSpec("g", f"{EXAMPLE}", ["random"], seed="1", max_decisions=30))
    result = asyncio.run(game.play())
    assert result.tallies[0].outcomes == {"chosen": result.decisions}
    assert result.decisions > 1


def test_an_adapter_may_go_on_changing_what_it_showed() -> None:
    game = game_of(Lift)
    before = game.observe()
    game.act(Action("go", {"floor": 2}))
    assert before.status["log"] == ["seed 0"]


def test_a_crash_of_an_adapter_is_rolled_back() -> None:
    for lift in (Lift, SavedLift):
        game = game_of(lift)
        game.act(Action("go", {"floor": 3}))
        before = game.observe()
        with pytest.raises(GameCrash):
            game.act(Action("break"))
        assert game.observe() == before
        assert game.act(Action("go", {"floor": 4})).success


@pytest.mark.parametrize("lift", [Lift, SavedLift])
def test_an_adapter_is_restored_from_its_actions_or_from_what_it_saves(lift: type) -> None:
    world = as_world(lift, frozenset({"sit"}))(start=2)
    game = as_adapter(world, seed=5)
    game.act(Action("go", {"floor": 3}))
    fresh = as_world(lift, frozenset({"sit"}))(start=2)
    SavedLift.restored = 0
    fresh.restore(world.snapshot())
    assert SavedLift.restored == (lift is SavedLift)
    assert fresh.snapshot() == world.snapshot()
    assert fresh.observe(game.room.eye_of(game.room.state.members["player"])) == without_choices(game.observe())
    assert game.observe().status == {"floor": 3, "log": ["seed 5", "go"]}


def test_an_adapter_that_does_not_play_the_same_again_says_so_when_it_is_restored() -> None:
    world = as_world(Shaky, frozenset({"sit"}))()
    as_adapter(world)
    with pytest.raises(ValueError, match="Shaky is not deterministic: the same actions gave another observation"):
        as_world(Shaky, frozenset({"sit"}))().restore(world.snapshot())


def test_a_record_of_an_adapter_replays() -> None:
    game = as_adapter(str(EXAMPLE), seed=3)
    for move in MOVES:
        game.act(move)
    again = Room.replay(game.room.record.tail, lambda _, config: make_world(str(EXAMPLE), config))
    assert again.digest() == game.room.digest()


def test_an_adapter_with_classes_of_its_own_runs() -> None:
    game = game_of(OwnClasses)
    choices = [{"action": "count", "params": {}}]
    assert game.act(Action("count")).observation == Observation(status={"n": 1}, choices=choices)
    result = game.act(Action("count"))
    assert (result.message, result.reward, result.done) == ("2", 1.0, True)
    assert not game.act(Action("count")).success  # the game is over
    assert game.reset() == Observation(status={"n": 0}, choices=choices)


# -- a world as an adapter ------------------------------------------------------------------------
def test_a_world_that_needs_two_seats_is_no_adapter() -> None:
    with pytest.raises(BadArgs, match="nim needs 2 seats; an adapter has one"):
        as_adapter("nim")


def test_in_a_real_time_world_each_action_lets_time_pass() -> None:
    game = as_adapter(Candle(), step_ticks=2)
    assert game.action_space.names()[0] == "wait"
    assert game.legal_actions() == [Action("wait"), Action("trim")]
    before, begun = game.room.state.tick, game.room.record.at
    result = game.act(Action("wait"))
    assert game.room.record.at == begun + 2 * game.world.spec.tick_ms
    assert (result.success, result.message) == (True, "Time passes.")
    assert game.room.state.tick == before + 2
    assert game.act(Action("trim")).reward == 2.5  # of the action, and of the time that passed
    last, late = game.act(Action("wait")), game.act(Action("wait"))
    assert (last.success, last.done, late.success, late.done) == (True, True, False, True)


def test_a_reset_world_begins_the_same_game() -> None:
    game = as_adapter(Candle(), seed=4)
    first = game.observe()
    game.act(Action("wait"))
    assert game.reset() == first


# -- an agent of the protocol ---------------------------------------------------------------------
class Notes(Agent):
    """A synchronous agent, written from the text of the protocol, that notes how it was called."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.results: list[ActionResult] = []

    def initialize(self, game_desc: str, action_space: ActionSpace) -> None:
        self.calls.append("initialize")
        assert "Coast" in game_desc
        assert action_space.get("gather")

    def decide(self, observation: Observation) -> Action:
        self.calls.append("decide")
        tree = next(entity for entity in observation.nearby_entities if entity.type == "tree")
        if tree.distance == 0:
            return Action("gather", {}, "the tree is here")
        return Action("move", {"direction": tree.direction}, "the tree is there")

    def reflect(self, result: ActionResult) -> None:
        self.calls.append("reflect")
        self.results.append(msgspec.structs.replace(result, observation=None))

    def plan(self, goals: list[Goal]) -> list[str]:  # type: ignore[override]
        self.calls.append("plan")
        return [goal.description for goal in goals]


def loop(game: Any, agent: Agent) -> Observation:
    """The loop of the protocol. Returns the last observation."""
    agent.initialize(game.game_description, game.action_space)
    seen: Observation = game.reset()
    agent.plan(seen.current_goals)
    while True:
        result = game.act(agent.decide(seen))
        agent.reflect(result)
        seen = result.observation
        if result.done:
            return seen


def test_an_agent_of_the_protocol_plays_alike_with_an_adapter_a_world_and_in_the_runner() -> None:
    alone, in_world, in_runner = Notes(), Notes(), Notes()
    assert loop(coast()(), alone) == loop(as_adapter(str(EXAMPLE)), in_world)
    game = Game(GameSpec("g", str(EXAMPLE), ["notes"]), agents=[adapted(in_runner)])
    played = asyncio.run(game.play())
    assert played.ended == "over"
    assert played.returns == {"1": 1.0}
    assert alone.results == in_world.results == in_runner.results
    assert alone.results[-1].achievements == ["warm_night"]
    assert alone.calls == in_world.calls == ["initialize", "plan", *["decide", "reflect"] * 5]
    assert [call for call in in_runner.calls if call != "plan"] == [call for call in alone.calls if call != "plan"]
    assert "plan" in in_runner.calls


def test_an_agent_that_only_decides_can_play() -> None:
    class OnlyDecides(Agent):
        def decide(self, observation: Observation) -> Action:
            return Action("gather")

    game = Game(GameSpec("g", str(EXAMPLE), ["it"]), agents=[adapted(OnlyDecides())])
    played = asyncio.run(game.play())
    assert played.tallies[0].outcomes == {"chosen": 27}  # until it dies of thirst
    assert played.returns == {"1": 0.0}
