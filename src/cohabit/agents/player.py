"""One player: asks an agent for each decision, within a time limit, and counts its outcome.

A usable answer is played. For an unreadable, illegal or refused one the agent is asked once more, with the reason and
the legal actions. Then, as after a timeout or a failure, the world's fallback is played. Every decision has one of the
outcomes in ``decision.OUTCOMES``; none is silently turned into a pass.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import nullcontext, suppress
from functools import lru_cache
from math import inf
from typing import Any, cast

from msgspec import Struct

from cohabit.agents import contract
from cohabit.agents.causes import what_was_tried
from cohabit.agents.contract import Agent, Exchange, Thought, Turn, awaited, checked_action, plan_lines
from cohabit.agents.decision import Outcome, PlayerDecision, Tally
from cohabit.agents.isolated import IsolatedAgent
from cohabit.agents.secrets import in_public
from cohabit.agents.spans import describe, span
from cohabit.errors import AskerError
from cohabit.model.action import Action, ActionResult, ActionSpace
from cohabit.model.observation import Goal, LastAction

log = logging.getLogger("cohabit.agents")

LATE = ("TURN_NOT_YOURS", "PERMISSION_DENIED")
"""Refusals that mean the turn is over: time ran out, or the player is back and plays its own seat."""
NOT_ABOUT_THE_ACTION = ("UNAUTHORIZED", "UNKNOWN_ROOM", "DISABLED", "BUSY")
"""Refusals that end the player's work or ask it to wait; the caller of ``move`` handles them."""
MAX_LOGGED = 100
"""The number of different problems of a player that the log has. The transcript has all of them."""
CLOSING_S = 8.0
"""The time that an agent may take to close, including the rest of a call that it has not returned from."""
CHOICES_QUOTED = 40
"""The number of legal actions that a correction quotes."""

Act = Callable[[Action | None], Awaitable[ActionResult | None]]
"""Performs an action in the world; None: do nothing. Raises the reason for refusing it."""
NO_ACTION = "no action was chosen, and the game waits for one"


class Limits(Struct, frozen=True, omit_defaults=True):
    """``seconds`` per decision, including the second question but not the time of others; None: no limit."""

    seconds: float | None = None
    corrections: int = 1


NO_LIMITS = Limits()
UNLIMITED = nullcontext()
NO_DECISION = PlayerDecision(0, "passed")


class MethodFailed(Exception):
    """The agent failed in a method other than ``decide`` or ``think``. The text says which, and how."""

    def __init__(self, method: str, bug: Exception | SystemExit) -> None:
        super().__init__(f"{method} failed: {_text(bug)}")


class Player:
    """Asks one agent. ``on_decision`` gets each decision and the seconds of thinking; ``seconds`` reads a clock."""

    __slots__ = (
        "_accounts", "_attempts", "_clock", "_closed", "_game", "_goals", "_is_introduced", "_isolated",
        "_listens", "_logged", "_name", "_not_introduced", "_on_decision", "_plays_on", "_reflects", "_script",
        "_time_limit", "_world", "agent", "awaits_result", "closes", "is_quick", "last", "limits", "looks",
        "reads_choices", "reads_text", "reward", "tally", "thinks",
    )  # fmt: skip

    def __init__(
        self,
        agent: Agent,
        limits: Limits = NO_LIMITS,
        *,
        tally: Tally | None = None,
        on_decision: Callable[[PlayerDecision, float], None] | None = None,
        seconds: Callable[[], float] | None = None,
        name: str = "an agent",
        plays_on: bool = False,
    ) -> None:
        """``plays_on``: if the agent cannot be initialized, its first decision fails, and the next one tries again.

        ``name`` is for the log. Each problem is logged once, not once for each decision.
        """
        self.agent = agent
        self.limits = limits
        self.tally = tally if tally is not None else Tally()
        self.last = NO_DECISION
        self.reward = 0.0  # what its actions earned
        self.awaits_result = False  # its last action happens when the round ends
        self._on_decision = on_decision
        self._clock = seconds or float  # float() is 0.0: decisions take no time
        self.thinks, self._listens, self.closes, self._accounts = _abilities(type(agent))
        self._script = agent.agent if isinstance(agent, contract.Direct) else None  # called without a detour
        if self._script is not None:
            self._listens, self.closes = hasattr(self._script, "hear"), hasattr(self._script, "close")
        self.is_quick = self._script is not None
        self._isolated = agent if isinstance(agent, IsolatedAgent) else None
        says = self._isolated.facts if self._isolated is not None else self._script
        # A script has no time limit: a busy machine must not change a game.
        self._time_limit = None if self.is_quick else limits.seconds
        self.reads_choices = getattr(says, "reads_choices", True)
        self.reads_text = getattr(says, "reads_text", True)
        self.looks = getattr(says, "looks", True)  # False: it decides without an observation
        asks_on = self.thinks and getattr(agent, "corrections", 0) is None  # until an answer is accepted
        self._attempts = inf if asks_on else 1 + limits.corrections if self.thinks else 1
        self._reflects = getattr(says, "reflects", True)  # False: it does not look at results
        self._goals: list[tuple[str, str]] = []  # those of the last plan
        self._game = 1
        self._name = name
        self._plays_on = plays_on
        self._world: tuple[str, ActionSpace] | None = None  # its description and its actions
        self._is_introduced = True  # False: it does not know the world yet
        self._not_introduced: Exception | SystemExit | None = None  # the reason, until it has failed a decision
        self._closed = False
        self._logged: set[str] = set()

    async def initialize(self, game_desc: str, action_space: ActionSpace) -> None:
        """Introduce the agent to the world. A failure is a failure of the agent, and raised, unless it plays on."""
        self._world, self._is_introduced = (game_desc, action_space), False
        try:
            if self._isolated is not None:
                await self._isolated.start()  # so that its imports do not use up the time of a decision
            introduction = self._introduce()
            await (introduction if self._time_limit is None else _in_time(introduction, self._time_limit))
        except (Exception, SystemExit) as bug:
            if not self._plays_on:
                raise
            self._not_introduced = bug

    async def _introduce(self) -> None:
        assert self._world is not None
        await self._tell("initialize", *self._world)
        self._goals = []
        await self._tell("plan", [])
        self._is_introduced = True

    async def _tell(self, method: str, *arguments: Any) -> None:
        """Call ``initialize``, ``plan`` or ``hear``, and name it if it fails; a timeout is reported elsewhere."""
        try:
            if self._script is not None:
                found = getattr(self._script, method)(*arguments)
            else:
                found = await awaited(getattr(self.agent, method), *arguments)
            if method == "plan":
                plan_lines(found)
        except TimeoutError:
            raise
        except (Exception, SystemExit) as bug:
            raise MethodFailed(method, bug) from bug

    def _log(self, problem: str) -> None:
        if problem not in self._logged and len(self._logged) < MAX_LOGGED:
            self._logged.add(problem)
            log.warning("%s failed: %s", self._name, problem)

    async def close(self) -> None:
        """Close the agent, once. If it fails or takes too long, that is logged: nothing depends on it."""
        if self._closed or not self.closes:
            return
        self._closed = True
        try:
            await _limited(cast(contract.Closing, self.agent).close(), None if self.is_quick else CLOSING_S)
        except Exception as bug:
            self._log(f"close failed: {_text(bug) or 'it took too long'}")

    async def settle(self) -> None:
        """In a world without a clock: before a decision, wait until the agent has returned from one that was too late.

        At most as long as a decision may take. Otherwise the next decisions would time out as well, at once.
        """
        if self._isolated is not None:
            await self._isolated.settle()
        elif isinstance(self.agent, contract.Threaded):
            with suppress(TimeoutError):
                await _limited(self.agent.settle(), self._time_limit)

    # -- a decision -------------------------------------------------------------------------------
    def move(self, turn: Turn, act: Act) -> Coroutine[Any, Any, PlayerDecision]:
        """Decide and act. Raises only what is not about this decision, such as a lost connection.

        A script is asked by the same code. It waits for nothing, so if ``act`` does not wait either, the event loop is
        not entered, and none is needed. It takes microseconds, so it has no span.
        """
        return self._move(turn, act) if self.is_quick else self._move_in_span(turn, act)

    async def _move_in_span(self, turn: Turn, act: Act) -> PlayerDecision:
        with span("decision", player=self._name, decision=turn.number, turn=turn.turn) as found:
            decision = await self._move(turn, act)
            describe(found, decision)
            return decision

    async def _move(self, turn: Turn, act: Act) -> PlayerDecision:
        exchanges: list[Exchange] = []
        first_problem = problem = ""
        outcome: Outcome = "unreadable"
        took = 0.0
        ends = None if self._time_limit is None else _loop_time() + self._time_limit
        attempt, script, clock = 0, self._script, self._clock
        while attempt < self._attempts:
            correction = _correction(turn, problem) if attempt else ""
            began = clock()
            try:
                if script is not None and self._is_prepared(turn):
                    action, problem = script.decide(turn.observation), ""
                    if type(action) is not Action:
                        action = checked_action(action)
                else:
                    thought = await self._think(turn, correction, ends)
                    action, problem = thought.action, thought.problem
                    exchanges += thought.exchanges
                    # It may have held up the event loop, so that nothing could stop it. Not in a process of its own.
                    if ends is not None and self._isolated is None and _loop_time() > ends:
                        raise TimeoutError
            except TimeoutError as late:
                exchanges += self._unanswered()
                outcome, first_problem = "timeout", self._too_late(late, exchanges)
                break
            except (Exception, SystemExit) as bug:  # of the agent or its backend; the game goes on
                exchanges += self._unanswered()
                outcome, first_problem = "failed", self._failure(bug, exchanges)
                break
            finally:
                took += clock() - began
            outcome = "unreadable"
            if action is None and not turn.may_pass:
                problem = problem or NO_ACTION
            if not problem:
                acts_at = _loop_time() if ends is not None else 0.0
                try:
                    result = await act(action)
                except AskerError as refusal:
                    if refusal.code in NOT_ABOUT_THE_ACTION:
                        raise
                    if ends is not None:  # the time that others took is not the agent's
                        ends += _loop_time() - acts_at
                    if refusal.code in LATE:
                        return self._made(turn, took, "late", None, refusal.as_text(), exchanges)
                    problem, outcome = refusal.as_text(), "refused"
                else:
                    outcome = "corrected" if attempt else "passed" if action is None else "chosen"
                    if result is not None and self._reflects and not result.pending:
                        began = clock()
                        if failure := await self._failure_to_reflect(result):
                            outcome, first_problem = "failed", failure
                        took += clock() - began
                    return self._made(turn, took, outcome, action, first_problem, exchanges, result)
            first_problem = first_problem or problem
            attempt += 1
        action, result, refusal_of_fallback = await self._fall_back(turn, act)
        return self._made(turn, took, outcome, action, first_problem + refusal_of_fallback, exchanges, result)

    async def _fall_back(self, turn: Turn, act: Act) -> tuple[Action | None, ActionResult | None, str]:
        """Play the world's fallback. Returns what was played and its result, or why it was refused."""
        action = turn.fallback() if turn.fallback is not None else None
        try:
            return action, await act(action), ""
        except AskerError as refusal:
            if refusal.code in NOT_ABOUT_THE_ACTION:
                raise
            return None, None, f"; the fallback was refused too: {refusal.as_text()}"

    def _made(
        self, turn: Turn, took: float, outcome: Outcome, action: Action | None, problem: str,
        exchanges: list[Exchange], result: ActionResult | None = None,
    ) -> PlayerDecision:  # fmt: skip
        """The decision, counted and reported. ``took``: seconds, without those in which the action was performed."""
        reward, message = (result.reward, result.message) if result is not None else (0.0, "")
        self.awaits_result = result is not None and result.pending
        decision = PlayerDecision(turn.number, outcome, action, problem, exchanges, reward, message, turn.turn)
        if self._on_decision is not None:
            try:
                self._on_decision(decision, took)
            except Exception as bug:  # it only listens: the game goes on
                self._log(f"a decision could not be reported: {_text(bug)}")
        self.tally.add(decision, took)  # last: what is counted is in the transcript
        self.last = decision
        self.reward += reward
        return decision

    async def learn(self, last: LastAction | None, *, over: bool = False) -> None:
        """In a world of rounds: the outcome of the action that it chose, if that is known. If the agent fails here,
        that is logged, because its decision was counted before."""
        if not self.awaits_result:
            return
        self.awaits_result = False
        if last is not None:
            self.reward += last.reward
            if self._reflects and self.last.outcome in ("chosen", "corrected"):
                achieved = list(last.achievements)
                await self._failure_to_reflect(ActionResult(last.success, last.message, last.reward, achieved, over))

    def _unanswered(self) -> list[Exchange]:
        """The exchanges of the agent with a model before it was interrupted or failed."""
        return cast(contract.Accountable, self.agent).unanswered() if self._accounts else []

    def _too_late(self, late: TimeoutError, exchanges: Sequence[Exchange]) -> str:
        limit, tried = self.limits.seconds, what_was_tried(exchanges)
        problem = str(late) or f"no answer in {'time' if limit is None else f'{limit:g} s'}"
        problem += f" ({tried})" if tried else ""
        self._log(problem)
        return problem

    def _failure(self, bug: Exception | SystemExit, exchanges: Sequence[Exchange]) -> str:
        problem = _text(bug)
        calls = exchanges[-1].calls if exchanges else []
        if len(calls) > 1 and calls[-1].cause:
            problem += f" ({len(calls)} requests failed)"
        self._log(problem)
        return problem

    async def _think(self, turn: Turn, correction: str, ends: float | None) -> Thought:
        async with asyncio.timeout_at(ends) if ends is not None else UNLIMITED:
            if not correction and not self._is_prepared(turn):
                await self._prepare(turn)
            if self.thinks:
                return await cast(contract.Thinker, self.agent).think(turn, correction)
            action = checked_action(await self.agent.decide(turn.observation))
            return Thought(action, self._unanswered())

    def _is_prepared(self, turn: Turn) -> bool:
        """True if the agent knows all that it has to know before this decision. If so, nothing has to be awaited."""
        if not self._is_introduced or turn.heard or turn.game != self._game or self._isolated is not None:
            return False
        goals = turn.observation.current_goals
        return not goals or _aims(goals) == self._goals

    async def _prepare(self, turn: Turn) -> None:
        """Tell it: the world, messages, new goals."""
        if self._not_introduced is not None:
            bug, self._not_introduced = self._not_introduced, None
            raise bug
        if self._isolated is not None:
            await self._isolated.start()
            if self._isolated.is_new and self._world is not None:
                self._is_introduced = False  # it has crashed since
        if not self._is_introduced:
            await self._introduce()
        if turn.game != self._game:
            self._game, self._goals = turn.game, []
        for message in turn.heard if self._listens else ():
            await self._tell("hear", message)
        goals = turn.observation.current_goals
        if goals and (aims := _aims(goals)) != self._goals:
            self._goals = aims
            await self._tell("plan", goals)

    async def _failure_to_reflect(self, result: ActionResult) -> str:
        """Tell the agent the outcome of its action. Returns why it failed: then the decision has failed, as after a
        failure of any other method. The action was performed all the same."""
        try:
            await _limited(self.agent.reflect(result), self._time_limit)
        except (Exception, SystemExit) as bug:
            problem = f"reflect failed: {_text(bug) or 'it took too long'}"
            self._log(problem)
            return problem
        return ""


def _loop_time() -> float:
    return asyncio.get_running_loop().time()


@lru_cache(256)
def _abilities(kind: type[Any]) -> tuple[bool, ...]:
    """For agents of a class, True for each of: thinks, listens, closes, and says what it asked a model."""
    return tuple(
        issubclass(kind, ability)
        for ability in (contract.Thinker, contract.Listener, contract.Closing, contract.Accountable)
    )


def _correction(turn: Turn, problem: str) -> str:
    choices = turn.observation.choices[:CHOICES_QUOTED]
    legal = " | ".join(Action(c["action"], c["params"]).text for c in choices)
    return f"{problem}. Legal actions: {legal}" if legal else problem


def _aims(goals: Sequence[Goal]) -> list[tuple[str, str]]:
    """Goals without their progress, which changes in every step and is no reason for a new plan."""
    return [(goal.id, goal.description) for goal in goals]


def _text(bug: Exception | SystemExit) -> str:
    if isinstance(bug, MethodFailed) or (isinstance(bug, TimeoutError) and not str(bug)):
        return str(bug)
    return f"{type(bug).__name__}: {in_public(bug)}"


def _limited(work: Awaitable[None], seconds: float | None) -> Awaitable[None]:
    """Only what has a limit needs the event loop."""
    return work if seconds is None else _in_time(work, seconds)


async def _in_time(work: Awaitable[None], seconds: float) -> None:
    async with asyncio.timeout(seconds):
        await work
