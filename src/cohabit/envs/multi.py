"""All seats of a world as environments of PettingZoo: ``ParallelEnv`` and ``AECEnv``."""

from collections.abc import Iterable, Mapping
from typing import Any

from gymnasium.spaces import Space
from pettingzoo import AECEnv, ParallelEnv

from cohabit.envs.actions import Given
from cohabit.envs.episodes import Setup
from cohabit.envs.playing import Frame, Playing
from cohabit.errors import BadArgs
from cohabit.model.seat import ALL

AgentName = str
Observations = dict[AgentName, Any]
Infos = dict[AgentName, dict[str, Any]]


class Seats(Playing):
    """The parts of both kinds of environment: agents ``player_1``, ``player_2`` … on the seats of a world."""

    agents: list[AgentName]
    possible_agents: list[AgentName]

    def __init__(self, setup: Setup, observe: str | None, render_mode: str | None) -> None:
        world = self._open(setup, observe, render_mode)
        self._places = {f"player_{i + 1}": i for i in self._episodes.learners}
        self.possible_agents = list(self._places)
        self.agents = []
        self.metadata |= {"name": world.spec.name, "is_parallelizable": world.pace != "turns"}
        self.observation_spaces = {agent: self._interface.observation_space() for agent in self._places}
        self.action_spaces = {agent: self._interface.action_space() for agent in self._places}

    def observation_space(self, agent: AgentName) -> Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: AgentName) -> Space[Any]:
        return self.action_spaces[agent]

    def render(self) -> Frame | None:
        """The whole world: a text (``ansi``) or a picture (``rgb_array``)."""
        return self._drawn(ALL)

    def _begin(self, seed: int | None) -> tuple[Observations, Infos]:
        self._episodes.reset(seed)
        self.agents = list(self.possible_agents)
        observations, infos = self._perceive(self.agents)
        return observations, {agent: {**info, "seed": self._episodes.seed} for agent, info in infos.items()}

    def _perceive(self, agents: Iterable[AgentName]) -> tuple[Observations, Infos]:
        found = {agent: self._interface.perceive(self._episodes, self._places[agent]) for agent in agents}
        return {agent: of[0] for agent, of in found.items()}, {agent: of[1] for agent, of in found.items()}

    def _read(self, actions: Mapping[AgentName, Any]) -> dict[int, Given]:
        if unknown := [agent for agent in actions if agent not in self._places]:
            raise BadArgs(f"there is no agent {unknown[0]!r}; there are {', '.join(self.possible_agents)}")
        return {self._places[agent]: self._interface.read(action) for agent, action in actions.items()}

    def _rewards(self) -> dict[AgentName, float]:
        return {agent: self._episodes.reward(self._places[agent]) for agent in self.agents}

    def _ended(self, agent: AgentName) -> tuple[bool, bool]:
        """The pair (terminated, truncated): True if the agent's game is over, and if it was stopped before that."""
        over = self._episodes.has_ended(self._places[agent])
        return over, self._episodes.is_truncated() and not over


class SimultaneousEnv(Seats, ParallelEnv[AgentName, Any, Any]):
    """All agents act at once. The actions of those that are not to move are ignored."""

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observations, Infos]:
        """Begin a game. The seed is that of the world; without one, the next of the last seed's sequence."""
        return self._begin(seed)

    def step(
        self, actions: dict[AgentName, Any]
    ) -> tuple[Observations, dict[AgentName, float], dict[AgentName, bool], dict[AgentName, bool], Infos]:
        self._episodes.step(self._read(actions))
        agents = self.agents
        observations, infos = self._perceive(agents)
        rewards = self._rewards()
        ends = {agent: self._ended(agent) for agent in agents}
        self.agents = [agent for agent in agents if not any(ends[agent])]
        over = {agent: end[0] for agent, end in ends.items()}
        return observations, rewards, over, {agent: end[1] for agent, end in ends.items()}, infos


class SequentialEnv(Seats, AECEnv[AgentName, Any, Any]):
    """One agent acts at a time: of those that are to move, each once; then their actions are applied together."""

    agent_selection: AgentName

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a game. The seed is that of the world; without one, the next of the last seed's sequence."""
        self._observations, self.infos = self._begin(seed)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self._note_ends()
        self._given: dict[AgentName, Any] = {}
        self._skip_agent_selection = None
        self._next_round()

    def observe(self, agent: AgentName) -> Any:
        """The view of this agent when its last round began."""
        return self._observations[agent]

    def step(self, action: Any) -> None:
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self._given[agent] = action
        self._waiting.remove(agent)
        if self._waiting:
            self.agent_selection = self._waiting[0]
            return
        self._episodes.step(self._read(self._given))
        self._given = {}
        self._observations, self.infos = self._perceive(self.agents)
        self.rewards = self._rewards()
        self._note_ends()
        self._accumulate_rewards()
        self._next_round()

    def _note_ends(self) -> None:
        ends = {agent: self._ended(agent) for agent in self.agents}
        self.terminations = {agent: end[0] for agent, end in ends.items()}
        self.truncations = {agent: end[1] for agent, end in ends.items()}

    def _next_round(self) -> None:
        """Select the first agent that is to move; before it, agents whose game has ended."""
        playing = [agent for agent in self.agents if not self.terminations[agent]]
        self._waiting = [agent for agent in playing if self._episodes.is_to_move(self._places[agent])]
        self.agent_selection = (self._waiting or self.agents)[0]
        self._deads_step_first()
