"""An agent in a process of its own: whatever it does, the run, the house and other players are not affected.

A crash fails one call. The next one starts another process with a new agent, which has to be introduced again. A call
that is given up, because its time is over, may still return for a while, so that a slow agent keeps what it remembers;
then the process is killed. What arrives late is not used.

Language models and built-in scripts are part of Cohabit and need no process: ``open_agent`` handles both.
"""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Raw
from msgspec.structs import replace

from cohabit.agents.brain import Brain, parse_brain
from cohabit.agents.contract import Agent, Exchange, Heard, Setting, Thought, Turn, adapted
from cohabit.agents.process import UNREADABLE, AgentCrashed, AgentProcess, keep_process, take_process
from cohabit.agents.program import ProgramEnded
from cohabit.agents.spending import Spending
from cohabit.agents.wire import AgentError, Call, Cancel, Facts, Reply, SentTurn, failure, unpacked
from cohabit.errors import BadArgs, UnknownAsset
from cohabit.model.action import Action, ActionResult, ActionSpace
from cohabit.model.observation import Goal, Observation
from cohabit.registry import BRAINS, absolute_brain, is_foreign, make_agent, use_backend

MAKE_S = 60.0
"""The time that making an agent may take: some packages take long to import."""
MIN_GRACE_S, MAX_GRACE_S = 5.0, 10.0
"""An agent whose time is over has as long again to return, within these limits. Then its process is killed."""
CLOSING_S = 5.0
"""The time that an agent may take to close."""

MAX_QUESTIONS = 1000
"""Questions to a language model at the same time. An agent with more of them is out of control, and killed."""

MAX_ENDS = 5
"""The number of times in a row that a program may end without an answer before it is not started again."""

Completing = Callable[[Raw], Awaitable[Raw]]
"""Answers a request to a language model; both are encoded."""


class TimedOutBefore(TimeoutError):
    """The decision timed out when this question was asked before, so it times out again, whatever the agent does."""


def open_agent(name: str, purpose: str, setting: Setting | None = None, *, reuse: bool = True) -> Agent:
    """The agent with this brain, ready to be called. Only this function makes players from names.

    ``reuse``: after the agent was closed, its process waits for the next one with the same code.
    """
    if name in BRAINS or not is_foreign(parse_brain(name)):
        return adapted(make_agent(name, purpose, setting=setting))
    facts = facts_of(name)
    if parse_brain(name).is_command:
        return IsolatedProgram(name, purpose, facts)
    kind = IsolatedThinker if "think" in facts.methods else IsolatedAgent
    agent = kind(name, purpose, facts, reuse=reuse)
    if facts.backend or facts.uncounted:
        use_backend(agent, setting)
    return agent


# -- what an agent is -------------------------------------------------------------------------------
def made_once(name: str) -> Any:
    """An agent with this brain, made to see whether it can be; of code that is not part of Cohabit, only its facts."""
    return facts_of(name) if is_foreign(parse_brain(name)) else make_agent(name, "check")


_known: dict[tuple[str, object], Facts] = {}


def facts_of(name: str, *, ask_ready: bool = False) -> Facts:
    """The facts about the agent with this brain. It is made once, in a process, and closed again.

    ``ask_ready``: ask it also whether its backend is available. Raises BAD_ARGS if it cannot be created.
    """
    name = absolute_brain(name, Path()) or name
    brain = parse_brain(name)
    key = name, _version(brain)
    if key in _known and not ask_ready:
        return _known[key]
    process = take_process(brain.kind)
    try:
        facts: Facts = process.ask("make", *_making(name, "check"), seconds=MAKE_S)
        try:
            if ask_ready and "ready" in facts.methods:
                process.ask("ready", seconds=MAKE_S)
        finally:
            with suppress(Exception):  # in a game that is logged, and no reason not to play
                process.ask("close", seconds=CLOSING_S)
    except (AgentCrashed, TimeoutError) as wrong:
        raise BadArgs(f"the brain {brain.label} cannot be created: {wrong}") from None
    finally:
        if process.is_alive:
            keep_process(brain.kind, process)
    if len(_known) > 1000:
        _known.clear()
    _known[key] = facts
    return facts


def _making(name: str, purpose: str) -> tuple[str, str, list[str], str]:
    """The arguments with which an agent's process makes it as this one would."""
    return name, purpose, sys.path, os.getcwd()


def _version(brain: Brain) -> object:
    """A value that changes when the file of a brain is edited."""
    if not brain.is_file:
        return None
    try:
        found = Path(brain.kind).stat()
    except OSError:
        raise UnknownAsset(f"file not found: {brain.kind}") from None
    return found.st_mtime_ns, found.st_size, found.st_ino


# -- the agent --------------------------------------------------------------------------------------
class IsolatedAgent:
    """See the module."""

    def __init__(self, name: str, purpose: str, facts: Facts, *, reuse: bool = True) -> None:
        self.facts = facts
        self.is_new = False  # the process has an agent that was not introduced to the world
        self.gave_up_on = ""  # the last method that did not return in time
        self.backend: Any = None  # the language model that it asks, with what is done here; see ``agents.llm.isolated``
        self.completing: Completing = self.complete
        self.spend_from: Callable[[Spending], None] = lambda _: None
        self.exchanges: list[Exchange] = []  # questions to the model since the last decision
        self.name, self._purpose = absolute_brain(name, Path()) or name, purpose
        self._kind = parse_brain(self.name).kind
        self._reuse = reuse
        self._process: AgentProcess | None = None
        self._starting: asyncio.Task[None] | None = None
        self._late: asyncio.Future[Any] | None = None  # the agent has not returned from a call that was given up
        self._questions: dict[int, asyncio.Task[None]] = {}  # to the language model, that are being answered
        self._context = copy_context()  # of the last call: what the agent asks meanwhile belongs to it
        self._initialized: Any = None  # arguments of an ``initialize`` that returned after it was given up
        self._closed = False

    # -- its process ------------------------------------------------------------------------------
    async def start(self) -> None:
        """Make the agent, unless it is there. If this is cancelled, it is made all the same.

        Raises AgentCrashed if it has crashed since it was last called: a crash is reported once."""
        if self._process is not None:
            if not self._process.is_alive:
                raise self._crashed(self._process)
            return
        if self._starting is None:
            self._starting = asyncio.get_running_loop().create_task(self._start())
            self._starting.add_done_callback(self._started)
        await asyncio.shield(self._starting)

    async def _start(self) -> None:
        process = take_process(self._kind)
        process.attach(self._on_call)
        try:
            async with asyncio.timeout(MAKE_S):
                await process.call("make", _making(self.name, self._purpose))[1]
        except BaseException:
            process.kill()
            raise
        self._process, self.is_new, self._initialized = process, True, None

    def _started(self, task: "asyncio.Task[None]") -> None:
        self._starting = None
        if not task.cancelled():
            task.exception()  # callers that wait for it have been told

    def _crashed(self, process: AgentProcess) -> AgentCrashed:
        """The process has ended, or is ended now: the next call starts another."""
        process.kill(process.how_it_ended())
        if self._process is process:
            self._process = None
        return AgentCrashed(process.how_it_ended())

    def kill(self) -> None:
        """End its process, as a crash would."""
        if self._process is not None:
            self._process.kill()

    async def settle(self) -> None:
        """Wait until the agent has returned from a call that was given up, or was killed, and has another process."""
        await self._returned()
        if self._process is None:
            with suppress(Exception):  # then the next call fails with the reason
                await self.start()

    async def _returned(self) -> None:
        while self._late is not None:
            await asyncio.wait([self._late])

    async def _call(self, method: str, *arguments: Any) -> Any:
        if method not in self.facts.methods:
            return None
        await self._returned()
        await self.start()
        process, loop = self._process, asyncio.get_running_loop()
        assert process is not None
        began, self._context = loop.time(), copy_context()
        number, answer = process.call(method, arguments)
        try:
            found = await answer
            if given_up := [question for question in self._questions.values() if question.cancelling()]:
                await asyncio.wait(given_up)  # they belong to this call
            return found
        except AgentCrashed:
            raise self._crashed(process) from None
        except (asyncio.CancelledError, TimeoutError):
            late = process.give_up(number)
            if late is not None:
                self.gave_up_on = method
                self._wait_for(late, process, min(MAX_GRACE_S, max(MIN_GRACE_S, loop.time() - began)))
                if method == "initialize":
                    late.add_done_callback(partial(self._initialized_late, arguments))
            await self._end_questions()
            raise

    def _wait_for(self, late: "asyncio.Future[Any]", process: AgentProcess, grace: float) -> None:
        """Let the agent return from a call that was given up, and kill it if it does not."""
        timer = asyncio.get_running_loop().call_later(grace, self._crashed, process)

        def returned(done: "asyncio.Future[Any]") -> None:
            timer.cancel()
            self._late = None
            if not done.cancelled():
                done.exception()  # what arrives late is not used

        self._late = late
        late.add_done_callback(returned)

    def _initialized_late(self, arguments: Any, done: "asyncio.Future[Any]") -> None:
        if not done.cancelled() and done.exception() is None:
            self._initialized = arguments

    async def close(self) -> None:
        """Close the agent, once. One that does not return is killed."""
        if self._closed:
            return
        self._closed = True
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.wait([self._starting])
        process, self._process = self._process, None
        await self._end_questions()
        if process is None:
            return
        reusable = False
        try:
            async with asyncio.timeout(CLOSING_S):
                await self._returned()
                await process.call("close", ())[1]
            reusable = self._reuse
        finally:
            process.detach()
            if reusable:
                keep_process(self._kind, process)
            else:
                process.kill()

    # -- its methods ------------------------------------------------------------------------------
    async def initialize(self, game_desc: str, action_space: ActionSpace) -> None:
        await self._returned()
        if self._initialized != (game_desc, action_space):
            await self._call("initialize", game_desc, action_space)
        self._initialized, self.is_new = None, False

    async def plan(self, goals: Sequence[Goal]) -> list[str]:
        await self._call("plan", list(goals))
        return []

    async def decide(self, observation: Observation) -> Action | None:
        chosen: Action | None = await self._call("decide", observation)
        return chosen

    async def reflect(self, result: ActionResult) -> None:
        await self._call("reflect", result)

    async def hear(self, message: Heard) -> None:
        await self._call("hear", message)

    async def talk(self, task: str, scene: str, heard: Sequence[Heard] = ()) -> str:
        try:
            text: str = await self._call("talk", task, scene, list(heard))
        finally:
            self.exchanges.clear()  # no decision has them
        return text

    # -- the language model that it asks ------------------------------------------------------------
    def unanswered(self) -> list[Exchange]:
        """Return the exchanges since its last decision. Each is returned once."""
        asked, self.exchanges = self.exchanges, []
        return asked

    async def complete(self, request: Raw) -> Raw:
        """Let the agent's own backend answer."""
        assert self._process is not None
        process = self._process
        number, answer = process.call("complete", (request,))
        try:
            completion: Raw = await answer
        except asyncio.CancelledError:
            process.send(Cancel(number))
            raise
        return completion

    def _on_call(self, call: Call | Cancel) -> None:
        if isinstance(call, Cancel):
            if (question := self._questions.get(call.id)) is not None:
                question.cancel()
            return
        if self._process is None or self._process.has_ended:
            return
        if call.id in self._questions:  # the agent has written into the connection
            self._process.kill(UNREADABLE)
            return
        if len(self._questions) >= MAX_QUESTIONS:
            self._process.kill(f"its process was killed: it asked {MAX_QUESTIONS} questions at the same time")
            return
        task = self._context.copy().run(asyncio.get_running_loop().create_task, self._answer(call))
        self._questions[call.id] = task
        task.add_done_callback(lambda _: self._questions.pop(call.id, None))

    async def _answer(self, call: Call) -> None:
        process = self._process
        assert process is not None
        try:
            completion = await self.completing(unpacked(call.arguments, tuple[Raw])[0])
        except TimedOutBefore as late:
            process.interrupt(late)
        except Exception as wrong:
            process.send(failure(call.id, wrong))
        except asyncio.CancelledError:
            raise
        except BaseException as stop:  # the run has to stop; the agent is not told
            process.fail(stop)
        else:
            process.send(Reply(call.id, completion))

    async def _end_questions(self) -> None:
        questions = list(self._questions.values())
        for question in questions:
            question.cancel()
        await asyncio.gather(*questions, return_exceptions=True)


class IsolatedThinker(IsolatedAgent):
    """One with ``think``."""

    async def think(self, turn: Turn, correction: str = "") -> Thought:
        thought: Thought = await self._call("think", SentTurn.of(turn), correction)
        asked = self.unanswered()  # a thought has its own exchanges, unless the agent does not report them
        return thought if thought.exchanges else replace(thought, exchanges=asked)


class IsolatedProgram(IsolatedThinker):
    """One that is a program (``agents.command``). Its process is not used again: what it has started ends with it.

    A program that has ended, or had to be killed, is started again for the next decision, but not without end.
    """

    def __init__(self, name: str, purpose: str, facts: Facts) -> None:
        super().__init__(name, purpose, facts, reuse=False)
        self._ends = 0  # since its last answer

    async def start(self) -> None:
        if self._ends >= MAX_ENDS:
            why = f"the program ended {MAX_ENDS} times in a row without an answer, and is not started again"
            raise AgentCrashed(why)
        await super().start()

    async def _call(self, method: str, *arguments: Any) -> Any:
        try:
            found = await super()._call(method, *arguments)
        except AgentError as wrong:
            if wrong.failure is not None and wrong.failure.name == ProgramEnded.__name__:
                self._ends += 1
            raise
        if method == "think":
            self._ends = 0
        return found

    def _crashed(self, process: AgentProcess) -> AgentCrashed:
        self._ends += 1
        return super()._crashed(process)
