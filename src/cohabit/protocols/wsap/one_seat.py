"""A world as a ``GameAdapter``: the one-seat form of a world, without a house.

It plays in a room of its own, so calls are checked and recorded, and a crash is rolled back, as everywhere.
"""

from typing import Any

import msgspec

from cohabit.errors import AskerError, BadArgs
from cohabit.model.action import Action, ActionDef, ActionResult, ActionSpace
from cohabit.model.observation import Observation
from cohabit.registry import make_world
from cohabit.room.opening import opening_state
from cohabit.room.room import Room
from cohabit.scenario import AgentSpec, Scenario
from cohabit.world import World

STEP_TICKS = 50
"""By how many ticks a real-time world advances with each action, unless the caller says otherwise."""
PLAYER = "player"
WAIT = "wait"


def as_adapter(world: World | str, *, seed: int = 0, step_ticks: int = STEP_TICKS) -> "OneSeat":
    """A world with one seat, or its name or file, as an adapter. ``reset`` begins the same game again."""
    return OneSeat(make_world(world, {}) if isinstance(world, str) else world, seed, step_ticks)


class PlayedWorld:
    """A world in a room of its own, and what every adapter of a world says about its game."""

    world: World
    room: Room
    _at = 0  # the time in the room, in milliseconds

    def _open(self, room: str, agents: list[AgentSpec], seed: int) -> None:
        """Begin the game."""
        spec = self.world.spec
        scenario = Scenario(world=spec.name, agents=agents, partial_intel=spec.fog)
        self._at = 0
        self.room = Room.create(opening_state(scenario, self.world, spec.name, room, seed, "00" * 16), self.world, 0)

    def _call(self, member: str, name: str, args: dict[str, Any] | None = None, look: bool = True) -> Any:
        self._at += 1
        return self.room.call(member, name, args, at=self._at, look=look)

    @property
    def name(self) -> str:
        return self.world.spec.title or self.world.spec.name

    @property
    def game_description(self) -> str:
        return self.world.describe()


class OneSeat(PlayedWorld):
    """The five members of ``GameAdapter``. In a real-time world each action lets ``step_ticks`` pass, and the action
    ``wait`` does nothing else."""

    def __init__(self, world: World, seed: int, step_ticks: int) -> None:
        fewest, most = world.spec.seat_range
        if fewest > 1 or most < 1:
            raise BadArgs(f"{world.spec.name} needs {fewest} seats; an adapter has one")
        self.world = world
        self._seed = seed
        self._step_ticks = step_ticks
        self.reset()

    @property
    def action_space(self) -> ActionSpace:
        space = ActionSpace(self.room.commands.action_space().actions, self.world.spec.examples)
        if self._waits:
            waiting = ActionDef(WAIT, "Do nothing and let time pass.", [], [], "wait")
            return ActionSpace([waiting, *space.actions], space.examples)
        return space

    def observe(self) -> Observation:
        """The view of the player, with its legal actions as ``choices`` where the world lists them."""
        seen = self.room.observe_with_choices(self.room.state.members[PLAYER])
        if self._waits and seen.choices:
            return msgspec.structs.replace(seen, choices=[Action(WAIT).choice, *seen.choices])
        return seen

    def legal_actions(self) -> list[Action]:
        """The actions that are possible now, or some of them (``action_space.examples``)."""
        return [Action(choice["action"], choice["params"]) for choice in self.observe().choices]

    def act(self, action: Action) -> ActionResult:
        """Execute an action. A refusal is a result without success; the message says what to do instead."""
        try:
            result = self._act(action)
        except AskerError as refusal:
            result = ActionResult(False, refusal.as_text())
        return msgspec.structs.replace(result, done=self.room.is_over(), observation=self.observe())

    def reset(self) -> Observation:
        self._open("adapter", [AgentSpec(id=PLAYER, role="player", claim="auto:0")], self._seed)
        return self.observe()

    @property
    def _waits(self) -> bool:
        return self.room.pace == "clock" and WAIT not in self.room.commands

    def _act(self, action: Action) -> ActionResult:
        if self._waits and action.name == WAIT:
            over = self.room.is_over()
            return (
                ActionResult(False, "the game is over") if over else self._pass_time(ActionResult(True, "Time passes."))
            )
        result = self._call(PLAYER, "act", {**action.choice, "reasoning": action.reasoning}, look=False)
        if not isinstance(result, ActionResult):
            raise BadArgs(f"{action.name} is not an action of this game")
        return self._pass_time(result) if self.room.pace == "clock" else result

    def _pass_time(self, result: ActionResult) -> ActionResult:
        """Let time pass, and add the reward that it brings."""
        if self.room.is_over():
            return result
        before = self.room.state.returns
        self._at += self._step_ticks * self.world.spec.tick_ms
        self.room.system("ticks", {"n": self._step_ticks}, self._at)
        seat = self.room.state.members[PLAYER].seat
        gain = self.room.state.returns.get(seat or "", 0.0) - before.get(seat or "", 0.0)
        return msgspec.structs.replace(result, reward=result.reward + gain)
