"""What an agent is: the four methods of WSAP, and what the runner passes to agents that want to know more.

The contract is async. An agent with synchronous methods, as in the WSAP document, is adapted by ``adapted``: a *quick*
one (a script) is called directly, any other runs on a thread of its own pool, so that it never delays a house.
"""

import asyncio
import inspect
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from msgspec import Struct

from cohabit.agents.spending import Spending
from cohabit.model.action import Action, ActionResult, ActionSpace
from cohabit.model.observation import Goal, Observation

MAX_THINKING_THREADS = 64
"""How many synchronous agents can think at the same time in one process."""


class Heard(Struct, frozen=True):
    """A message to an agent. ``seat`` is the seat of its sender, if it has one."""

    sender: str
    content: str
    seat: str | None = None


class Turn(Struct, frozen=True, omit_defaults=True):
    """What an agent knows when it decides."""

    observation: Observation
    text: str  # the whole view: the observation, whose turn it is, legal actions, objectives
    number: int = 1  # of this agent's decisions, from 1
    game: int = 1  # of the games in this room
    heard: list[Heard] = []  # messages since the last decision
    fallback: Callable[[], Action | None] | None = None  # what is done if the agent gives no usable answer


class Usage(Struct, frozen=True, omit_defaults=True):
    """What one answer of a model took. ``dollars`` is None if the price is unknown."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    dollars: float | None = None
    cached: bool = False  # the answer came from the cache of this run, at no cost


class Exchange(Struct, frozen=True, omit_defaults=True):
    """One question to a model and its answer, as they are kept in the transcript. Never contains an API key."""

    messages: list[dict[str, str]]  # role and content
    answer: str = ""  # as the model wrote it, without its thinking
    thinking: str = ""
    usage: Usage = Usage()
    problem: str = ""  # why the answer could not be used
    tool: str = ""  # the tool that the answer called, instead of deciding


class Thought(Struct, frozen=True, omit_defaults=True):
    """What an agent decided. ``problem`` says why there is no usable action."""

    action: Action | None = None
    exchanges: list[Exchange] = []
    problem: str = ""


class Setting(Struct, frozen=True):
    """What surrounds an agent: where it keeps its memory and cached answers, and what it may spend."""

    memory: Path | None = None  # a file
    cache: Path | None = None  # a folder
    spending: Spending | None = None


class Agent(Protocol):
    """A mind that plays through observations and actions. What it thinks with is its own affair."""

    async def initialize(self, game_desc: str, action_space: ActionSpace) -> None:
        """Called once, with what the world is and what can be done in it."""

    async def decide(self, observation: Observation) -> Action | None:
        """Choose an action; None: nothing now."""

    async def reflect(self, result: ActionResult) -> None:
        """Learn what came of the action."""

    async def plan(self, goals: Sequence[Goal]) -> list[str]:
        """Say how to reach the goals. Called at the start of a game and when the goals change."""


@runtime_checkable
class Thinker(Protocol):
    """An agent that reads the whole turn and can be told that its answer was not accepted, such as a language model.

    The runner calls ``think`` instead of ``decide``.
    """

    async def think(self, turn: Turn, correction: str = "") -> Thought:
        """Decide. ``correction``: why the last answer in this turn was not accepted, and what would be."""


@runtime_checkable
class Listener(Protocol):
    """An agent that reads its messages."""

    def hear(self, message: Heard) -> Any:
        """Called once for every message, before the next decision. May be async."""


@runtime_checkable
class Closing(Protocol):
    """An agent that holds something open."""

    async def close(self) -> None:
        """Called once, at the end."""


How = Literal["async", "quick", "thread"]


def kind_of(agent: Any) -> How:
    """How the methods of an agent have to be called."""
    if inspect.iscoroutinefunction(getattr(agent, "think", None) or agent.decide):
        return "async"
    return "quick" if getattr(agent, "quick", False) else "thread"


def adapted(agent: Any) -> Agent:
    """The agent with async methods."""
    match kind_of(agent):
        case "async":
            return agent  # type: ignore[no-any-return]
        case "quick":
            return Direct(agent)
        case "thread":
            return Threaded(agent)


class Direct:
    """A quick synchronous agent, called on the spot."""

    def __init__(self, agent: Any) -> None:
        self.agent = agent

    async def initialize(self, game_desc: str, action_space: ActionSpace) -> None:
        self.agent.initialize(game_desc, action_space)

    async def decide(self, observation: Observation) -> Action | None:
        chosen: Action | None = self.agent.decide(observation)
        return chosen

    async def reflect(self, result: ActionResult) -> None:
        self.agent.reflect(result)

    async def plan(self, goals: Sequence[Goal]) -> list[str]:
        return list(self.agent.plan(goals))

    def hear(self, message: Heard) -> None:
        if isinstance(self.agent, Listener):
            self.agent.hear(message)


class Threaded:
    """A synchronous agent that may take its time, on a thread of the pool for agents."""

    def __init__(self, agent: Any) -> None:
        self.agent = agent

    async def initialize(self, game_desc: str, action_space: ActionSpace) -> None:
        await _on_thread(self.agent.initialize, game_desc, action_space)

    async def decide(self, observation: Observation) -> Action | None:
        chosen: Action | None = await _on_thread(self.agent.decide, observation)
        return chosen

    async def reflect(self, result: ActionResult) -> None:
        await _on_thread(self.agent.reflect, result)

    async def plan(self, goals: Sequence[Goal]) -> list[str]:
        return list(await _on_thread(self.agent.plan, goals))

    async def hear(self, message: Heard) -> None:
        if isinstance(self.agent, Listener):
            await _on_thread(self.agent.hear, message)


@cache
def _pool() -> ThreadPoolExecutor:
    """Separate from the default pool of asyncio, which a house uses."""
    return ThreadPoolExecutor(MAX_THINKING_THREADS, "agent")


async def _on_thread(method: Any, *args: Any) -> Any:
    return await asyncio.get_running_loop().run_in_executor(_pool(), method, *args)
