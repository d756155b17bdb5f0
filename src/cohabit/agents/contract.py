"""The agent contract: the four methods of WSAP, and what the runner passes to agents that want to know more.

The contract is async. An agent with synchronous methods, as in the WSAP document, is adapted by ``adapted``: a *quick*
one (a script) is called directly, any other runs on a thread of its own, so that it delays neither a house nor others.
An agent that is not part of Cohabit runs in a process of its own (see ``agents.isolated``).
"""

import asyncio
import inspect
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, Literal, Protocol, TypeVar, cast, runtime_checkable

from msgspec import Struct

from cohabit.agents.spending import Spending
from cohabit.model.action import Action, ActionResult, ActionSpace
from cohabit.model.observation import Goal, Observation

T = TypeVar("T")


class Heard(Struct, frozen=True):
    """A message to an agent. ``seat`` is the seat of its sender, if it has one."""

    sender: str
    content: str
    seat: str | None = None


class Turn(Struct, frozen=True, omit_defaults=True, gc=False):
    """Everything that an agent knows when it decides."""

    observation: Observation
    text: str  # the whole view: the observation, whose turn it is, legal actions, objectives
    number: int = 1  # of this agent's decisions, from 1
    game: int = 1  # of the games in this room
    heard: list[Heard] = []  # messages since the last decision
    fallback: Callable[[], Action | None] | None = None  # what is done if the agent gives no usable answer
    may_pass: bool = True  # False: the game waits for this agent, so doing nothing is no answer
    turn: int = 0  # the turn of the game, from 1, in which it decides; 0: not counted


class Usage(Struct, frozen=True, omit_defaults=True):
    """The cost of one answer of a model. ``dollars`` is None if the price is unknown."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    dollars: float | None = None
    cached: bool = False  # the answer came from the cache of this run, at no cost
    counted: bool = True  # False: the server sent no count of tokens, so they are guessed from the texts


class Call(Struct, frozen=True, omit_defaults=True):
    """One request to a model. A question needs several if the first ones fail."""

    cause: str = ""  # why there was no answer, as in ``causes.CAUSES``; empty: there was one
    problem: str = ""  # the same in words
    paid: float = 0.0  # dollars
    reserved: float = 0.0  # dollars that it may have cost, if that is not known

    @property
    def charged(self) -> float:
        """The amount that counts against a spending cap."""
        return self.paid + self.reserved


class Exchange(Struct, frozen=True, omit_defaults=True):
    """One question to a model and its answer, as they are kept in the transcript. Never contains an API key."""

    messages: list[dict[str, str]]  # role and content
    answer: str = ""  # as the model wrote it, without its thinking
    thinking: str = ""
    usage: Usage = Usage()
    problem: str = ""  # why the answer could not be used
    tool: str = ""  # the tool that the answer called, instead of deciding
    cause: str = ""  # the name of the problem, as in ``causes.CAUSES``
    calls: list[Call] = []  # the requests; none if the answer came from a cache or the agent does not say


class Thought(Struct, frozen=True, omit_defaults=True, gc=False):
    """The decision of an agent. ``problem`` says why there is no usable action."""

    action: Action | None = None
    exchanges: list[Exchange] = []
    problem: str = ""


class PlayerLeft(BaseException):
    """Raised by an agent that will decide nothing more, such as a person whose input has ended. The text says why.

    Not an Exception, because it is no failure of a decision: nothing is played for it."""


class AnswerCache(Protocol):
    """Keeps answers of language models by the hash of what was asked."""

    def get(self, key: str) -> bytes | None: ...

    def put(self, key: str, answer: bytes) -> None: ...


class Setting(Struct, frozen=True):
    """The surroundings of an agent: where it keeps its memory and cached answers, and what it may spend."""

    memory: Path | None = None  # a file
    cache: Path | AnswerCache | None = None  # a path is that of a folder
    spending: Spending | None = None


NO_SETTING = Setting()


class Agent(Protocol):
    """A mind that plays through observations and actions. What it thinks with is its own affair.

    Only ``decide`` must be written; ``adapted`` adds the others, which do nothing.
    """

    async def initialize(self, game_desc: str, action_space: ActionSpace) -> None:
        """Called once, with what the world is and what can be done in it."""

    async def decide(self, observation: Observation) -> Action | None:
        """Choose an action; None: nothing now."""

    async def reflect(self, result: ActionResult) -> None:
        """Learn the outcome of the action."""

    async def plan(self, goals: Sequence[Goal]) -> list[str]:
        """Say how to reach the goals. Called at the start of a game and when the goals change."""


def checked_action(found: Any) -> Action | None:
    """The result of ``decide``. Raises TypeError if it is something else."""
    if found is None or isinstance(found, Action):
        return found
    raise TypeError(f"decide returned {type(found).__name__}, not an Action or None")


@runtime_checkable
class Thinker(Protocol):
    """An agent that reads the whole turn and can be told that its answer was not accepted, such as a language model.

    The runner calls ``think`` instead of ``decide``.
    """

    async def think(self, turn: Turn, correction: str = "") -> Thought:
        """Decide. ``correction``: why the last answer in this turn was not accepted, and what would be."""


@runtime_checkable
class Accountable(Protocol):
    """An agent that can say what it asked a model when it was interrupted or failed."""

    def unanswered(self) -> list[Exchange]:
        """The questions since the last thought. Each exchange is returned once."""


@runtime_checkable
class Listener(Protocol):
    """An agent that reads its messages."""

    def hear(self, message: Heard) -> Any:
        """Called once for every message, before the next decision. May be async."""


@runtime_checkable
class Talker(Protocol):
    """An agent that can be asked for a text, such as a language model."""

    async def talk(self, task: str, scene: str, heard: Sequence[Heard] = ()) -> str:
        """Write what the task asks for. ``scene``: what there is to see; ``heard``: what others said about it."""


@runtime_checkable
class Closing(Protocol):
    """An agent that holds something open."""

    def close(self) -> Any:
        """Called once, at the end, even after a failure. May be async."""


@runtime_checkable
class Ready(Protocol):
    """An agent that can say whether its backend is available."""

    async def ready(self) -> None:
        """Raise BAD_ARGS, with what to do, if it is not."""


How = Literal["async", "quick", "thread"]
_OTHERS = ("initialize", "plan", "reflect", "hear", "close")
"""The methods besides ``decide`` and ``think``. Each may be left out, and be synchronous or not."""


def kind_of(agent: Any) -> How:
    """The way the methods of an agent have to be called."""
    kind: type = type(agent)
    if _is_async(kind):
        return "async"
    return "quick" if getattr(agent, "quick", False) and _is_plain(kind) else "thread"


def is_async(agent: Any) -> bool:
    """True if an agent decides asynchronously."""
    kind: type = type(agent)
    return _is_async(kind)


@lru_cache(256)
def _is_async(kind: type) -> bool:
    return inspect.iscoroutinefunction(getattr(kind, "think", None) or getattr(kind, "decide", None))


@lru_cache(256)
def _is_plain(kind: type) -> bool:
    """True if no method of an agent has to be awaited, and it has no ``think``."""
    others = (getattr(kind, name, None) for name in _OTHERS)
    return not hasattr(kind, "think") and not any(map(inspect.iscoroutinefunction, others))


@lru_cache(256)
def _left_out(kind: type) -> list[str]:
    return [name for name in ("initialize", "reflect", "plan") if not hasattr(kind, name)]


@lru_cache(256)
def _synchronous(kind: type) -> list[str]:
    """The synchronous methods of an asynchronous agent."""
    methods = ((name, getattr(kind, name, None)) for name in _OTHERS if name != "hear")
    return [name for name, method in methods if method is not None and not inspect.iscoroutinefunction(method)]


def _nothing(*_: Any) -> list[str]:
    return []


async def _nothing_async(*_: Any) -> list[str]:
    return []


def plan_lines(found: object) -> list[str]:
    """The result of ``plan``. Raises TypeError if it is something else."""
    if found is None or isinstance(found, list | tuple):
        return list(found or ())
    raise TypeError(f"plan returned {type(found).__name__}, not a list of lines")


def adapted(agent: Any) -> Agent:
    """The agent with async methods. All but ``decide`` or ``think`` may be left out, and each may be synchronous."""
    kind: type = type(agent)
    for name in _left_out(kind):
        if not hasattr(agent, name):
            setattr(agent, name, _nothing_async if _is_async(kind) else _nothing)
    match kind_of(agent):
        case "async":
            for name in _synchronous(kind):
                setattr(agent, name, partial(awaited, getattr(agent, name)))
            return cast(Agent, agent)
        case "quick":
            return Direct(agent)
        case "thread":
            return ThreadedThinker(agent) if hasattr(agent, "think") else Threaded(agent)


async def awaited(method: Callable[..., Any], *arguments: Any) -> Any:
    """Call a method that may be synchronous, also one that only returns something to await."""
    found = method(*arguments)
    return await found if inspect.isawaitable(found) else found


class Adapted:
    """A synchronous agent behind async methods."""

    def __init__(self, agent: Any) -> None:
        self.agent = agent

    async def _run(self, work: Callable[[], Any]) -> Any:
        return work()

    async def initialize(self, game_desc: str, action_space: ActionSpace) -> None:
        await self._run(partial(self.agent.initialize, game_desc, action_space))

    async def decide(self, observation: Observation) -> Action | None:
        chosen: Action | None = await self._run(partial(self.agent.decide, observation))
        return chosen

    async def reflect(self, result: ActionResult) -> None:
        await self._run(partial(self.agent.reflect, result))

    async def plan(self, goals: Sequence[Goal]) -> list[str]:
        return plan_lines(await self._run(partial(self.agent.plan, goals)))

    async def hear(self, message: Heard) -> None:
        if isinstance(self.agent, Listener):
            await self._run(partial(self.agent.hear, message))

    async def close(self) -> None:
        if isinstance(self.agent, Closing):
            await awaited(self.agent.close)


class Direct(Adapted):
    """A quick one, called on the spot."""


class Threaded(Adapted):
    """One that may take its time, on a thread of its own."""

    def __init__(self, agent: Any) -> None:
        super().__init__(agent)
        self._thread = AgentThread()
        self._initialized: tuple[str, ActionSpace] | None = None  # by a call that was given up before it returned

    async def initialize(self, game_desc: str, action_space: ActionSpace) -> None:
        about = game_desc, action_space
        if self._initialized != about:
            await self._run(partial(self._initialize, *about))
        self._initialized = None

    def _initialize(self, game_desc: str, action_space: ActionSpace) -> None:
        finished(self.agent.initialize(game_desc, action_space))
        self._initialized = game_desc, action_space

    async def _run(self, work: Callable[[], Any]) -> Any:
        return await self._thread.run(work)

    async def settle(self) -> None:
        """Wait until the agent has returned from a call that was given up."""
        await self._thread.settle()

    async def close(self) -> None:
        """Close the agent. One that has not returned from an earlier call is closed when it has."""
        try:
            if isinstance(self.agent, Closing):
                await self._thread.last(self.agent.close)
        finally:
            self._thread.close()


class ThreadedThinker(Threaded):
    """One with ``think``, which may be synchronous, too."""

    async def think(self, turn: Turn, correction: str = "") -> Thought:
        thought: Thought = await self._run(partial(self.agent.think, turn, correction))
        return thought


class AgentThread:
    """A daemon thread that runs one thing at a time: an agent that never returns keeps no process from ending."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Callable[[], None] | None] | None = None
        self._busy = False
        self._settled: asyncio.Event | None = None  # somebody waits until it is not busy

    async def settle(self) -> None:
        """Wait until it is not busy."""
        if self._busy:
            self._settled = asyncio.Event()
            await self._settled.wait()

    async def run(self, work: Callable[[], Any]) -> Any:
        """Run ``work`` there. While it is busy with something earlier that was given up, this is a TimeoutError."""
        if self._busy:
            raise TimeoutError("the agent has not returned from an earlier call")
        if self._jobs is None:
            self._jobs = SimpleQueue()
            Thread(target=_work_off, args=(self._jobs,), name="agent", daemon=True).start()
        done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._busy = True
        self._jobs.put(partial(settle_from_thread, done, lambda: finished(work()), self._returned))
        return await done

    def _returned(self) -> None:
        self._busy = False
        if self._settled is not None:
            self._settled.set()

    async def last(self, work: Callable[[], Any]) -> None:
        """Run ``work`` there, after what it is doing. Waits for the end of ``work`` only if the thread is idle."""
        if self._busy and self._jobs is not None:
            self._jobs.put(partial(_ignoring_failures, work))
        else:
            await self.run(work)

    def close(self) -> None:
        """End the thread after what it is doing."""
        if self._jobs is not None:
            self._jobs.put(None)
            self._jobs = None


def settle_from_thread(
    done: "asyncio.Future[T]", work: Callable[[], T], on_return: Callable[[], None] = lambda: None
) -> None:
    """Do something on this thread, for a future of an event loop on another. ``on_return`` is called there first, also
    if nobody waits any more."""
    found: list[T] = []
    wrong: Exception | None = None
    try:
        found.append(work())
    except Exception as bug:
        wrong = bug if not isinstance(bug, StopIteration) else RuntimeError("StopIteration")
    except BaseException as bug:  # such as SystemExit, which must not end more than this call
        wrong = RuntimeError(f"{type(bug).__name__} was raised")

    def finish() -> None:
        on_return()
        if done.done():
            return
        if wrong is None:
            done.set_result(found[0])
        else:
            done.set_exception(wrong)

    with suppress(RuntimeError):  # the loop is closed
        done.get_loop().call_soon_threadsafe(finish)


def finished(found: Any) -> Any:
    """The result of a method. A thread has no event loop, so what has to be awaited gets one."""
    return asyncio.run(awaited(lambda: found)) if inspect.isawaitable(found) else found


def _ignoring_failures(work: Callable[[], Any]) -> None:
    with suppress(BaseException):  # nobody waits for it
        finished(work())


def _work_off(jobs: "SimpleQueue[Callable[[], None] | None]") -> None:
    while (job := jobs.get()) is not None:
        job()
