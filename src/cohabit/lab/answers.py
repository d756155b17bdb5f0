"""The answers of unfinished games, logged as they come, so that a resumed run uses them again.

Scripted players give the same answers again and are not logged. A language model is logged at its backend: the agent
around it runs again on the same completions, so its memory is the same. Any other agent is asked again, because it may
keep memory of its own, but its logged answer counts. A logged timeout is a timeout again.
"""

import asyncio
import os
from collections import deque
from collections.abc import Awaitable, Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

import msgspec
from msgspec import Raw, Struct

from cohabit.agents.contract import Agent, Direct, Thinker, Thought, Turn, Usage, checked_action
from cohabit.agents.isolated import IsolatedAgent
from cohabit.agents.llm.backend import Backend, BackendError, Completion, Request
from cohabit.agents.llm.capped import estimate
from cohabit.agents.llm.isolated import IsolatedBackend
from cohabit.agents.secrets import in_public
from cohabit.agents.wire import packed, unpacked
from cohabit.errors import Conflict, RecordCorrupt
from cohabit.model.action import Action
from cohabit.model.observation import Observation

T = TypeVar("T")


class Answer(Struct, frozen=True, omit_defaults=True):
    """One answer of the player on a seat: a completion of its backend, its thought, a failure or a timeout."""

    seat: int
    asked: str = ""  # a hash of the question
    completion: Completion | None = None
    thought: Thought | None = None
    error: tuple[str, str] | None = None  # the type of the exception, and its text
    timeout: bool = False
    late: bool = False  # a timeout although the question before it was answered: that came too late
    of_backend: bool = False  # the exception was a BackendError, after which an agent may go on
    estimate: float = 0.0  # dollars that a request without a completion may have cost

    @property
    def cost(self) -> float:
        """What counts against the spending cap, in dollars."""
        if self.completion is not None:
            return _paid(self.completion.usage)
        if self.thought is not None:
            return sum(_paid(exchange.usage) for exchange in self.thought.exchanges)
        return self.estimate


def _paid(usage: Usage) -> float:
    return 0.0 if usage.cached else max(0.0, usage.dollars or 0.0)


_decode = msgspec.json.Decoder(Answer).decode


class CapReached(BaseException):
    """The run has spent what it may spend. Not an Exception, so that it ends the game and is no player's failure."""


class Budget(Protocol):
    """What the games of a run may spend together."""

    def check(self) -> None:
        """Raise CapReached if nothing is left."""

    def add(self, dollars: float) -> None: ...


class AnswerLog:
    """The log of one game. Without a path nothing is kept.

    ``charged`` has the cost of the answers of each seat: the same sums in a resumed game as in one that was played at
    once, because each answer is added in its turn.
    """

    def __init__(self, budget: Budget, path: Path | None = None) -> None:
        self.budget = budget
        self._path = path
        self.charged: dict[int, float] = {}
        self._given_up: dict[int, float] = {}  # the estimate of a request that a seat no longer waits for
        self._handle: int | None = None
        self._known: dict[int, deque[Answer]] = {}
        self._timeouts: set[int] = set()  # seats whose logged timeout is being repeated
        self._answered: set[int] = set()  # seats with an answer in the decision that they make now
        if path is not None and path.exists():
            self._read(path)

    def take(self, seat: int, asked: str) -> Answer | None:
        """The next logged answer of this seat, and count it again."""
        if not self.knows(seat):
            return None
        answer = self._pop(seat)
        if answer.timeout:
            self._timeouts.add(seat)
        elif answer.asked != asked:
            raise _other_question(self._path)
        elif self.times_out(seat) and self._known[seat][0].late:
            return self.take(seat, asked)
        return answer

    def knows(self, seat: int) -> bool:
        """Whether there is a logged answer of this seat."""
        return bool(self._known.get(seat))

    def times_out(self, seat: int) -> bool:
        """Whether the next logged answer of this seat is a timeout."""
        return self.knows(seat) and self._known[seat][0].timeout

    def add(self, answer: Answer) -> Answer:
        """Append an answer. It survives the end of this process when this returns.

        Returns it as it will be read, so that the first use and a later one are alike in every detail. The caller adds
        its cost to the budget, which may have an estimate already.
        """
        line = msgspec.json.encode(answer)
        if self._path is not None:
            if self._handle is None:
                self._handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            os.write(self._handle, line + b"\n")
        kept = _decode(line)
        self._charge(kept)
        self._answered.add(answer.seat)
        return kept

    def give_up(self, seat: int, estimate: float) -> None:
        """A request was given up. It is logged if the decision timed out, and not if the run was stopped."""
        self._given_up[seat] = estimate

    def timed_out(self, seat: int) -> None:
        """Log that a decision timed out."""
        estimate = self._given_up.pop(seat, None)
        late = estimate is None and seat in self._answered
        if seat in self._timeouts:
            self._timeouts.remove(seat)
        elif self.times_out(seat):
            self._pop(seat)
        else:
            self.add(Answer(seat, timeout=True, late=late, estimate=estimate or 0.0))

    def decided(self, seat: int) -> None:
        """A decision is made."""
        self._answered.discard(seat)
        self._given_up.pop(seat, None)

    def close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def _pop(self, seat: int) -> Answer:
        answer = self._known[seat].popleft()
        self.budget.add(answer.cost)
        self._charge(answer)
        return answer

    def _charge(self, answer: Answer) -> None:
        self.charged[answer.seat] = self.charged.get(answer.seat, 0.0) + answer.cost

    def _read(self, path: Path) -> None:
        text = path.read_bytes()
        whole = text[: text.rfind(b"\n") + 1]  # a killed process leaves an incomplete last line
        if len(whole) < len(text):
            os.truncate(path, len(whole))
        try:
            for answer in map(_decode, whole.splitlines()):
                self._known.setdefault(answer.seat, deque()).append(answer)
        except msgspec.MsgspecError as wrong:
            raise RecordCorrupt(f"{path} cannot be read: {wrong}. Delete it to play this game again") from None


def _other_question(path: Path | None) -> Conflict:
    return Conflict(
        f"a logged answer in {path} belongs to another question, so the game cannot be resumed. The world or a player "
        "does not repeat itself: `cohabit check WORLD` finds out. Delete the file to play this game again"
    )


# -- agents whose answers are logged ----------------------------------------------------------------
def logged(agent: Any, seat: int, log: AnswerLog) -> Agent:
    """An agent that was opened, which uses the log unless it is quick."""
    if isinstance(agent, IsolatedAgent) and agent.facts.backend:
        backend = LoggedBackend(IsolatedBackend(agent), seat, log)

        async def complete(request: Raw) -> Raw:
            return packed(await backend.complete(unpacked(request, Request)))

        agent.completing = complete
    elif hasattr(getattr(agent, "backend", None), "complete"):
        agent.backend = LoggedBackend(agent.backend, seat, log)
    elif not isinstance(agent, Direct):
        _log_decisions(agent, seat, log)
    opened: Agent = agent
    return opened


class LoggedBackend:
    """A backend whose completions are logged, and which spends the budget of the run."""

    def __init__(self, backend: Backend, seat: int, log: AnswerLog) -> None:
        self.backend = backend
        self.name, self.constrains = backend.name, backend.constrains
        self._seat, self._log, self._budget = seat, log, log.budget

    async def complete(self, request: Request) -> Completion:
        asked = _hash(request)
        known = self._log.take(self._seat, asked)
        if known is not None:
            if known.completion is None:
                raise _again(known)
            return known.completion
        self._budget.check()
        reserved = estimate(self.name, request)
        self._budget.add(reserved)  # a request that is given up is paid for, too
        try:
            completion = await self.backend.complete(request)
        except (asyncio.CancelledError, TimeoutError):
            self._log.give_up(self._seat, reserved)
            raise
        except Exception as bug:
            kept = self._log.add(self._failed(bug, asked, reserved))
            self._budget.add(kept.cost - reserved)
            raise _again(kept) from bug
        kept = self._log.add(Answer(self._seat, asked, completion))
        self._budget.add(kept.cost - reserved)
        assert kept.completion is not None
        return kept.completion

    def _failed(self, bug: Exception, asked: str, reserved: float) -> Answer:
        of_backend = isinstance(bug, BackendError)
        unpaid = isinstance(bug, BackendError) and bug.unpaid
        error = type(bug).__name__, in_public(bug)
        return Answer(self._seat, asked, error=error, of_backend=of_backend, estimate=0.0 if unpaid else reserved)

    async def close(self) -> None:
        await self.backend.close()


def _log_decisions(agent: Any, seat: int, log: AnswerLog) -> None:
    """Log the decisions of an adapted agent that has no backend of ours."""
    if isinstance(agent, Thinker):
        think = agent.think

        async def logged_think(turn: Turn, correction: str = "") -> Thought:
            asked = _hash((turn.observation, correction))
            return await _logged(lambda: think(turn, correction), asked, seat, log, lambda t: t, lambda t: t)

        agent.think = logged_think  # type: ignore[method-assign]  # of this one agent
        return
    decide = agent.decide

    async def logged_decide(observation: Observation) -> Action | None:
        asked = _hash(observation)

        async def ask() -> Action | None:
            return checked_action(await decide(observation))

        return await _logged(ask, asked, seat, log, Thought, lambda t: t.action)

    agent.decide = logged_decide


async def _logged(
    ask: Callable[[], Awaitable[T]],
    asked: str,
    seat: int,
    log: AnswerLog,
    thought: Callable[[T], Thought],
    answer: Callable[[Thought], T],
) -> T:
    """Ask, so that the agent's memory is the same again; a logged answer counts for the given one."""
    if not log.knows(seat):
        log.budget.check()
    failure: Exception | None = None
    made: T | None = None
    try:
        made = await ask()
    except (asyncio.CancelledError, TimeoutError):
        if not log.knows(seat) or log.times_out(seat):
            log.give_up(seat, 0.0)
            raise
    except Exception as bug:
        failure = bug
    known = log.take(seat, asked)
    if known is not None:
        if known.thought is None:
            raise _again(known)
        return answer(known.thought)
    if failure is not None:
        log.add(Answer(seat, asked, error=(type(failure).__name__, in_public(failure))))
        raise failure
    kept = log.add(Answer(seat, asked, thought=thought(cast(T, made))))
    log.budget.add(kept.cost)
    assert kept.thought is not None
    return answer(kept.thought)


def _again(answer: Answer) -> Exception:
    """A logged failure, as an exception of the same name and text."""
    if answer.timeout:
        return TimeoutError()
    name, text = answer.error or ("RuntimeError", "no answer")
    kind = BackendError if answer.of_backend else Exception
    made: Exception = type(name, (kind,), {})(text)
    return made


def _hash(question: object) -> str:
    return blake2b(msgspec.json.encode(question), digest_size=8).hexdigest()
