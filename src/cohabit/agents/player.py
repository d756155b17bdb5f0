"""One player: asks an agent for each decision, within a time limit, and counts what came of it.

A usable answer is played. For an unreadable, illegal or refused one the agent is asked once more, with the reason and
the legal actions. Then, as after a timeout or a failure, the world's fallback is played. Every decision has one of the
outcomes in ``decision.OUTCOMES``; none is silently turned into a pass.
"""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import count
from typing import Any, cast

from msgspec import Struct
from msgspec.structs import replace

from cohabit.agents.causes import what_was_tried
from cohabit.agents.contract import (
    Accountable,
    Agent,
    Closing,
    Direct,
    Exchange,
    Heard,
    Listener,
    Thinker,
    Thought,
    Threaded,
    Turn,
    checked_action,
    plan_lines,
)
from cohabit.agents.decision import Decision, Outcome, Tally
from cohabit.agents.isolated import IsolatedAgent
from cohabit.agents.secrets import in_public
from cohabit.agents.spans import describe, span
from cohabit.errors import AskerError
from cohabit.model.action import Action, ActionResult, ActionSpace
from cohabit.model.observation import Goal

log = logging.getLogger("cohabit.agents")

LATE = ("TURN_NOT_YOURS", "PERMISSION_DENIED")
"""Refusals that mean the turn is over: time ran out, or the player is back and plays its own seat."""
NOT_ABOUT_THE_ACTION = ("UNAUTHORIZED", "UNKNOWN_ROOM", "DISABLED", "BUSY")
"""Refusals that end the player's work or ask it to wait; the caller of ``move`` handles them."""
MAX_LOGGED = 100
"""How many different problems of a player the log has. The transcript has all of them."""
CLOSING_S = 8.0
"""How long an agent may take to close, including the rest of a call that it has not returned from."""
CHOICES_QUOTED = 40
"""How many legal actions a correction quotes."""

Act = Callable[[Action | None], Awaitable[ActionResult | None]]
"""Performs an action in the world; None: do nothing. Raises the reason for refusing it."""
ActNow = Callable[[Action | None], ActionResult | None]
"""The same, where nothing has to be waited for."""
NO_ACTION = "no action was chosen, and the game waits for one"


class Limits(Struct, frozen=True, omit_defaults=True):
    """``seconds`` per decision, including the second question but not the time of others; None: no limit."""

    seconds: float | None = None
    corrections: int = 1


NO_LIMITS = Limits()


class MethodFailed(Exception):
    """The agent failed in a method other than ``decide`` or ``think``. The text says which, and how."""

    def __init__(self, method: str, bug: Exception | SystemExit) -> None:
        super().__init__(f"{method} failed: {_text(bug)}")


class Player:
    """Asks one agent. ``on_decision`` gets each decision and the seconds of thinking; ``seconds`` reads a clock."""

    def __init__(
        self,
        agent: Agent,
        limits: Limits = NO_LIMITS,
        *,
        tally: Tally | None = None,
        on_decision: Callable[[Decision, float], None] | None = None,
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
        self._on_decision = on_decision
        self._seconds = seconds
        self.thinks, self._listens, self.closes = _abilities(type(agent))
        self._script = agent.agent if isinstance(agent, Direct) else None  # called without a detour
        if self._script is not None:
            self.closes = hasattr(self._script, "close")
        self._isolated = agent if isinstance(agent, IsolatedAgent) else None
        self.is_quick = self._script is not None
        says = self._isolated.facts if self._isolated is not None else self._script
        self.reads_choices = getattr(says, "reads_choices", True)
        self.reads_text = getattr(says, "reads_text", True)
        self.looks = getattr(says, "looks", True)  # False: it decides without an observation
        self._asks_on = self.thinks and getattr(agent, "corrections", 0) is None  # until an answer is accepted
        self._reflects = getattr(says, "reflects", True)  # False: it does not look at results
        self._goals: list[tuple[str, str]] = []  # those of the last plan
        self._game = 1
        self._name = name
        self._plays_on = plays_on
        self._introduction: tuple[str, ActionSpace, list[Goal]] | None = None  # not done yet
        self._world: tuple[str, ActionSpace] | None = None
        self._not_introduced: Exception | SystemExit | None = None  # the reason, until it has failed a decision
        self._closed = False
        self._logged: set[str] = set()

    async def initialize(self, game_desc: str, action_space: ActionSpace, goals: Sequence[Goal] = ()) -> None:
        """Introduce the agent to the world. A failure is a failure of the agent, and raised, unless it plays on."""
        self._world = game_desc, action_space
        self._introduction = game_desc, action_space, list(goals)
        try:
            if self._isolated is not None:
                await self._isolated.start()  # so that its imports do not use up the time of a decision
            await self._limited(self._introduce())
        except (Exception, SystemExit) as bug:
            if not self._plays_on:
                raise
            self._not_introduced = bug

    def initialize_now(self, game_desc: str, action_space: ActionSpace) -> None:
        """The same for a quick script, where nothing has to be waited for."""
        self._introduction = game_desc, action_space, []
        try:
            self._introduce_now()
        except Exception as bug:
            if not self._plays_on:
                raise
            self._not_introduced = bug

    async def _introduce(self) -> None:
        assert self._introduction is not None
        game_desc, action_space, goals = self._introduction
        await _done("initialize", self.agent.initialize(game_desc, action_space))
        await self._plan(goals)
        self._introduction = None

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
            async with asyncio.timeout(CLOSING_S):
                await cast(Closing, self.agent).close()
        except Exception as bug:
            self._log(f"close failed: {_text(bug) or 'it took too long'}")

    async def settle(self) -> None:
        """Where time stands still: before a decision, wait until the agent has returned from one that was too late.

        At most as long as a decision may take. Otherwise the next decisions would time out as well, at once.
        """
        if self._isolated is not None:
            await self._isolated.settle()
        elif isinstance(self.agent, Threaded):
            with suppress(TimeoutError):
                await self._limited(self.agent.settle())

    # -- a decision -------------------------------------------------------------------------------
    async def move(self, turn: Turn, act: Act) -> Decision:
        """Decide and act. Raises only what is not about this decision, such as a lost connection."""
        if self.is_quick:
            return await self._timed_move(turn, act)
        with span("decision", player=self._name, decision=turn.number, turn=turn.turn) as found:
            decision = await self._timed_move(turn, act)
            describe(found, decision)
            return decision

    async def _timed_move(self, turn: Turn, act: Act) -> Decision:
        watch = Stopwatch(self._seconds) if self._seconds is not None else None
        decision = await self._move(turn, watch.leaving_out(act) if watch is not None else act)
        if turn.turn:
            decision = replace(decision, turn=turn.turn)
        return self._counted(decision, watch.read() if watch is not None else 0.0)

    def move_now(self, turn: Turn, act: ActNow) -> Decision:
        """The same for a quick script, where nothing has to be waited for. It saves half of the cost of a decision.

        A script is not asked twice, and has no time limit: a busy machine must not change a game.
        """
        script, seen, clock, took = self._script, turn.observation, self._seconds, 0.0
        assert script is not None
        began = clock() if clock is not None else 0.0
        try:
            if self._introduction is not None:
                self._raise_not_introduced()
                self._introduce_now()
            if seen.current_goals and _aims(seen.current_goals) != self._goals:
                self._plan_now(seen.current_goals)
            action = script.decide(seen)
            if type(action) is not Action:
                action = checked_action(action)
            if clock is not None:
                took = clock() - began
        except TimeoutError as late:
            return self._counted(self._fall_back_now(turn, act, "timeout", self._too_late(late)), took)
        except (Exception, SystemExit) as bug:
            return self._counted(self._fall_back_now(turn, act, "failed", self._failure(bug)), took)
        if action is None and not turn.may_pass:
            return self._counted(self._fall_back_now(turn, act, "unreadable", NO_ACTION), took)
        try:
            result = act(action)
        except AskerError as refusal:
            if refusal.code in NOT_ABOUT_THE_ACTION:
                raise
            return self._counted(self._refused_now(turn, act, refusal), took)
        outcome: Outcome = "passed" if action is None else "chosen"
        if result is None:
            return self._counted(Decision(turn.number, outcome, action), took)
        problem = ""
        if self._reflects:
            try:
                script.reflect(result)
            except (Exception, SystemExit) as bug:
                outcome, problem = "failed", self._failed_to_reflect(bug)
        played = Decision(turn.number, outcome, action, problem, [], result.reward, result.message)
        return self._counted(played, took)

    def _refused_now(self, turn: Turn, act: ActNow, refusal: AskerError) -> Decision:
        if refusal.code in LATE:
            return Decision(turn.number, "late", None, refusal.as_text())
        return self._fall_back_now(turn, act, "refused", refusal.as_text())

    def _counted(self, decision: Decision, took: float) -> Decision:
        if self._on_decision is not None:
            try:
                self._on_decision(decision, took)
            except Exception as bug:  # it only listens: the game goes on
                self._log(f"a decision could not be reported: {_text(bug)}")
        self.tally.add(decision, took)  # last: what is counted is in the transcript
        return decision

    async def _move(self, turn: Turn, act: Act) -> Decision:
        exchanges: list[Exchange] = []
        first_problem = correction = ""
        outcome: Outcome = "unreadable"
        ends = self._deadline()
        for attempt in count() if self._asks_on else range(1 + (self.limits.corrections if self.thinks else 0)):
            try:
                if ends is None:
                    thought = await self._think(turn, correction)
                else:
                    async with asyncio.timeout_at(ends):
                        thought = await self._think(turn, correction)
                    # It held up the event loop, so nothing could stop it. One in a process of its own cannot do that.
                    if _loop_time() > ends and not self.is_quick and self._isolated is None:
                        exchanges += thought.exchanges
                        raise TimeoutError
            except TimeoutError as late:
                exchanges += self._unanswered()
                outcome, first_problem = "timeout", self._too_late(late, exchanges)
                break
            except (Exception, SystemExit) as bug:  # of the agent or its backend; the game goes on
                exchanges += self._unanswered()
                outcome, first_problem = "failed", self._failure(bug, exchanges)
                break
            exchanges += thought.exchanges
            problem, outcome = thought.problem, "unreadable"
            if thought.action is None and not turn.may_pass:
                problem = problem or NO_ACTION
            if not problem:
                acts_at = _loop_time() if ends is not None else 0.0
                try:
                    result = await act(thought.action)
                except AskerError as refusal:
                    if refusal.code in NOT_ABOUT_THE_ACTION:
                        raise
                    if ends is not None:  # the time that others took is not the agent's
                        ends += _loop_time() - acts_at
                    if refusal.code in LATE:
                        return Decision(turn.number, "late", None, refusal.as_text(), exchanges)
                    problem, outcome = refusal.as_text(), "refused"
                else:
                    played: Outcome = "corrected" if attempt else "passed" if thought.action is None else "chosen"
                    return await self._played(turn, played, thought.action, result, first_problem, exchanges)
            first_problem = first_problem or problem
            correction = _correction(turn, problem)
        return await self._fall_back(turn, act, outcome, first_problem, exchanges)

    def _raise_not_introduced(self) -> None:
        if self._not_introduced is not None:
            bug, self._not_introduced = self._not_introduced, None
            raise bug

    def _introduce_now(self) -> None:
        """As ``_introduce`` with a script."""
        assert self._script is not None
        assert self._introduction is not None
        game_desc, action_space, goals = self._introduction
        try:
            self._script.initialize(game_desc, action_space)
        except (Exception, SystemExit) as bug:
            raise MethodFailed("initialize", bug) from bug
        self._plan_now(goals)
        self._introduction = None

    def _plan_now(self, goals: list[Goal]) -> None:
        assert self._script is not None
        self._goals = _aims(goals)
        try:
            plan_lines(self._script.plan(goals))
        except (Exception, SystemExit) as bug:
            raise MethodFailed("plan", bug) from bug

    def _fall_back_now(self, turn: Turn, act: ActNow, outcome: Outcome, problem: str) -> Decision:
        action = turn.fallback() if turn.fallback is not None else None
        try:
            result = act(action)
        except AskerError as refusal:
            return _no_fallback(turn, outcome, problem, [], refusal)
        return _fallen_back(turn, outcome, problem, [], action, result)

    def _unanswered(self) -> list[Exchange]:
        """What the agent asked a model before it was interrupted or failed."""
        return self.agent.unanswered() if isinstance(self.agent, Accountable) else []

    def _too_late(self, late: TimeoutError, exchanges: Sequence[Exchange] = ()) -> str:
        limit, tried = self.limits.seconds, what_was_tried(exchanges)
        problem = str(late) or f"no answer in {'time' if limit is None else f'{limit:g} s'}"
        problem += f" ({tried})" if tried else ""
        self._log(problem)
        return problem

    def _failure(self, bug: Exception | SystemExit, exchanges: Sequence[Exchange] = ()) -> str:
        problem = _text(bug)
        calls = exchanges[-1].calls if exchanges else []
        if len(calls) > 1 and calls[-1].cause:
            problem += f" ({len(calls)} requests failed)"
        self._log(problem)
        return problem

    def _failed_to_reflect(self, bug: Exception | SystemExit) -> str:
        problem = f"reflect failed: {_text(bug) or 'it took too long'}"
        self._log(problem)
        return problem

    def _deadline(self) -> float | None:
        if self.limits.seconds is None:
            return None
        return _loop_time() + self.limits.seconds

    async def _think(self, turn: Turn, correction: str) -> Thought:
        if not correction:
            if self._introduction is not None:
                self._raise_not_introduced()
            if self._isolated is not None:
                await self._isolated.start()
                if self._isolated.is_new and self._world is not None and self._introduction is None:
                    self._introduction = *self._world, []  # it has crashed since
            if self._introduction is not None:
                await self._introduce()
            if turn.game != self._game:
                self._game, self._goals = turn.game, []
            if self._listens:
                for message in turn.heard:
                    await _done("hear", self._hear(message))
            if turn.observation.current_goals and _aims(turn.observation.current_goals) != self._goals:
                await self._plan(turn.observation.current_goals)
        if self.thinks:
            return await cast(Thinker, self.agent).think(turn, correction)
        if self._script is not None:
            return Thought(checked_action(self._script.decide(turn.observation)))
        action = checked_action(await self.agent.decide(turn.observation))
        return Thought(action, self._unanswered())

    async def _plan(self, goals: list[Goal]) -> None:
        self._goals = _aims(goals)
        await _done("plan", self._ask_for_plan(goals))

    async def _ask_for_plan(self, goals: list[Goal]) -> None:
        plan_lines(await self.agent.plan(goals))

    async def _hear(self, message: Heard) -> None:
        found = cast(Listener, self.agent).hear(message)
        if inspect.isawaitable(found):
            await found

    async def _played(
        self,
        turn: Turn,
        outcome: Outcome,
        action: Action | None,
        result: ActionResult | None,
        problem: str,
        exchanges: list[Exchange],
    ) -> Decision:
        """Let the agent learn what came of its action. If that fails, the decision has failed, as it has if any other
        method fails; the action was performed all the same."""
        if result is None:
            return Decision(turn.number, outcome, action, problem, exchanges)
        try:
            if self._script is not None:
                self._script.reflect(result)
            elif self._reflects:
                await self._limited(self.agent.reflect(result))
        except (Exception, SystemExit) as bug:
            outcome, problem = "failed", self._failed_to_reflect(bug)
        return Decision(turn.number, outcome, action, problem, exchanges, result.reward, result.message)

    async def _fall_back(
        self, turn: Turn, act: Act, outcome: Outcome, problem: str, exchanges: list[Exchange]
    ) -> Decision:
        action = turn.fallback() if turn.fallback is not None else None
        try:
            result = await act(action)
        except AskerError as refusal:
            return _no_fallback(turn, outcome, problem, exchanges, refusal)
        return _fallen_back(turn, outcome, problem, exchanges, action, result)

    async def _limited(self, work: Awaitable[None]) -> None:
        if self.limits.seconds is None:
            await work
            return
        async with asyncio.timeout(self.limits.seconds):
            await work


class Stopwatch:
    """The time of a decision without that of performing it, which includes waiting for players before this one."""

    __slots__ = ("_began", "_seconds")

    def __init__(self, seconds: Callable[[], float]) -> None:
        self._seconds = seconds
        self._began = seconds()

    def read(self) -> float:
        return self._seconds() - self._began

    def leaving_out(self, act: Act) -> Act:
        async def untimed(action: Action | None) -> ActionResult | None:
            left = self._seconds()
            try:
                return await act(action)
            finally:
                self._began += self._seconds() - left

        return untimed


def _loop_time() -> float:
    return asyncio.get_running_loop().time()


@lru_cache(256)
def _abilities(kind: type[Any]) -> tuple[bool, bool, bool]:
    """Whether agents of a class think, listen and close."""
    return issubclass(kind, Thinker), issubclass(kind, Listener), issubclass(kind, Closing)


def _no_fallback(
    turn: Turn, outcome: Outcome, problem: str, exchanges: list[Exchange], refusal: AskerError
) -> Decision:
    if refusal.code in NOT_ABOUT_THE_ACTION:
        raise refusal
    problem = f"{problem}; the fallback was refused too: {refusal.as_text()}"
    return Decision(turn.number, outcome, None, problem, exchanges)


def _fallen_back(
    turn: Turn,
    outcome: Outcome,
    problem: str,
    exchanges: list[Exchange],
    action: Action | None,
    result: ActionResult | None,
) -> Decision:
    reward, message = (result.reward, result.message) if result is not None else (0.0, "")
    return Decision(turn.number, outcome, action, problem, exchanges, reward, message)


def _correction(turn: Turn, problem: str) -> str:
    choices = turn.observation.choices[:CHOICES_QUOTED]
    legal = " | ".join(Action(c["action"], c["params"]).text for c in choices)
    return f"{problem}. Legal actions: {legal}" if legal else problem


def _aims(goals: Sequence[Goal]) -> list[tuple[str, str]]:
    """Goals without their progress, which changes in every step and is no reason for a new plan."""
    return [(goal.id, goal.description) for goal in goals]


def _text(bug: Exception | SystemExit) -> str:
    if isinstance(bug, MethodFailed):
        return str(bug)
    return "" if isinstance(bug, TimeoutError) and not str(bug) else f"{type(bug).__name__}: {in_public(bug)}"


async def _done(method: str, work: Awaitable[object]) -> None:
    """Wait for a method, and name it if it fails. That it took too long is said elsewhere."""
    try:
        await work
    except TimeoutError:
        raise
    except (Exception, SystemExit) as bug:
        raise MethodFailed(method, bug) from bug
