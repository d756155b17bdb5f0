"""Every world that environments are tested with, a player for all of them, and a room in which its actions are repeated."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from gymnasium.spaces import Discrete, Space

from cohabit import envs
from cohabit.envs.actions import actions_of
from cohabit.errors import AskerError
from cohabit.model.action import Action
from cohabit.model.stream import Stream
from cohabit.registry import known_games, make_world
from cohabit.room.decide import by_grant
from cohabit.room.opening import opening_state
from cohabit.room.room import Room
from cohabit.room.state import Member
from cohabit.room.timers import can_skip
from cohabit.scenario import AgentSpec, Scenario
from cohabit.testing.samples import sample_args

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "tests" / "worlds_samples"
WORLDS = {
    **{name: name for name in known_games()},
    **{file.stem: str(file) for file in [*sorted(SAMPLES.glob("*.py")), ROOT / "examples" / "pig.py"]},
}
"""The sources of all worlds, by name: those of the registry, the samples and the example."""
CONFIG: dict[str, dict[str, Any]] = {
    "kingdoms": {"zones_x": 2, "zones_y": 2, "kingdoms": 2}, "lanterns": {"ticks": 30}, "statecraft": {"turns": 3},
}  # fmt: skip
"""Settings under which games are small."""
STEPS = {"kingdoms": 3}
Info = Mapping[str, Any]


def gym(name: str, **options: Any) -> Any:
    return envs.gym(WORLDS[name], config=CONFIG.get(name), **options)


def parallel(name: str, **options: Any) -> Any:
    return envs.parallel(WORLDS[name], config=CONFIG.get(name), **options)


def aec(name: str, **options: Any) -> Any:
    return envs.aec(WORLDS[name], config=CONFIG.get(name), **options)


class Policy:
    """Gives legal actions where they are known; where they are not, anything; and anything in one of ``careless``."""

    def __init__(self, room: Room, seed: int, careless: int = 6) -> None:
        self.stream = Stream(seed, "policy")
        self.careless = careless
        self.commands = [c for c in room.commands if c.is_action and by_grant(Member("p1", role="player"), c)]

    def choose(self, space: Space[Any], info: Info) -> Any:
        draw, anything = self.stream, self.careless > 0 and self.stream.chance(1, self.careless)
        if isinstance(space, Discrete):
            mask = info.get("action_mask")
            return draw.choice(range(int(space.n)) if mask is None or anything else np.flatnonzero(mask).tolist())
        choices = info["observation"]["choices"]
        if choices and not anything:
            return msgspec.json.encode(draw.choice(choices)).decode()
        command = draw.choice(self.commands)
        args = sample_args(command.schema, draw)
        return draw.choice(["", "take a stone", msgspec.json.encode({"action": command.name, "params": args}).decode()])


class SameRoom:
    """A room with the same world and seed, in which the test itself does what an environment says it does."""

    def __init__(self, name: str, seed: int, seats: int, step_ticks: int) -> None:
        source = WORLDS[name]
        world = make_world(source, CONFIG.get(name, {}))
        agents = [AgentSpec(id=f"p{i + 1}", role="player", claim=f"auto:{i}") for i in range(seats)]
        scenario = Scenario(world=source, config=CONFIG.get(name, {}), agents=agents)
        self.room = Room.create(opening_state(scenario, world, source, "same", seed, "00" * 16), world, 0)
        self.actions, self.step_ticks, self.at = actions_of(world), step_ticks, 0

    def member(self, i: int) -> Member:
        return self.room.state.members[f"p{i + 1}"]

    def step(self, given: Mapping[int, Any]) -> dict[int, str]:
        """Those that are to move act, in the order of the seats. Returns the codes of refusals."""
        room, idle = self.room, []
        movers = [i for i in range(len(room.state.members)) if self.member(i).seat in room.to_move()]
        refused: dict[int, str] = {}
        for i in movers:
            action = self.actions.read(given.get(i))
            if action is None and room.pace == "clock":
                continue
            problem = self._problem(i, action)
            if problem is not None:
                refused[i] = problem
                if self._problem(i, room.fallback(self.member(i))) is not None:
                    idle.append(i)
        if room.pace == "clock":
            self.at += self.step_ticks * room.world.spec.tick_ms
            room.system("ticks", {"n": self.step_ticks}, self.at)
        elif idle and (room.pace == "rounds" or (room.pace == "turns" and can_skip(room.world))):
            self.at += 1
            room.system("turn_timeout", {}, self.at)
        return refused

    def _problem(self, i: int, action: Action | AskerError | None) -> str | None:
        """Act. Returns the code of the refusal."""
        if not isinstance(action, Action):
            return "BAD_ARGS" if action is None else action.code
        self.at += 1
        try:
            self.room.call(self.member(i).id, "act", action.choice, at=self.at)
        except AskerError as refusal:
            return refusal.code
        return None
