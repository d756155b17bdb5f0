"""The answers of unfinished games, logged as they come, so that a resumed run uses them again.

Scripted players give the same answers again and are not logged. A language model is logged at its backend: the agent
around it runs again on the same completions, so its memory is the same. Any other agent is asked again, because it may
keep memory of its own, but its logged answer counts. A logged timeout is a timeout again.
"""

import asyncio
import os
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from hashlib import blake2b
from itertools import takewhile
from pathlib import Path
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from cohabit.agents.contract import Agent, Call, Direct, Thought, Turn, Usage, checked_action
from cohabit.agents.isolated import TimedOutBefore
from cohabit.agents.llm.backend import Backend, BackendError, Completion, Request, SpendingCapReached, WrappedBackend
from cohabit.agents.llm.calls import gathered, note
from cohabit.agents.llm.metered import MeteredBackend
from cohabit.agents.secrets import in_public
from cohabit.agents.spending import Spending
from cohabit.errors import RecordCorrupt
from cohabit.lab.files import Log
from cohabit.model.action import Action
from cohabit.model.observation import Observation


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
    cause: str = ""  # of the BackendError
    calls: list[Call] = []  # the requests of a backend, also if the decision timed out


def _paid(usage: Usage) -> float:
    return 0.0 if usage.cached else max(0.0, usage.dollars or 0.0)


_decode = msgspec.json.Decoder(Answer).decode


class CapReached(BaseException):
    """The run may not spend more. Not an Exception, so that it ends the game and is no player's failure."""


class OtherQuestion(BaseException):
    """The game cannot be resumed. Not an Exception: it ends the game and is no player's failure."""

    def __init__(self, log: object) -> None:
        super().__init__(
            f"a logged answer in {log} belongs to another question, so the game cannot be resumed. The world or a "
            "player is not deterministic; `cohabit check` tests either. Delete the file to play this game again"
        )


class Answers(Protocol):
    """The storage of the lines of a log. Its text names the file, for messages."""

    def read(self) -> bytes:
        """The lines that are there. An incomplete last one is removed."""

    def append(self, line: bytes) -> None:
        """Add a line. It survives the end of this process when this returns."""

    def close(self) -> None: ...


class AnswerFile:
    """Lines in a file of this machine."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._log: Log | None = None

    def __str__(self) -> str:
        return str(self._path)

    def read(self) -> bytes:
        if not self._path.exists():
            return b""
        text = self._path.read_bytes()
        whole = text[: text.rfind(b"\n") + 1]  # a killed process leaves an incomplete last line
        if len(whole) < len(text):
            os.truncate(self._path, len(whole))
        return whole

    def append(self, line: bytes) -> None:
        self._log = self._log or Log(self._path)
        self._log.append(line)

    def close(self) -> None:
        if self._log is not None:
            self._log.close()
            self._log = None


class AnswerLog:
    """The log of one game. Without a place nothing is kept. What it has was counted against the cap when it came."""

    def __init__(self, spending: Spending, place: Path | Answers | None = None) -> None:
        self.spending = spending
        self._answers = AnswerFile(place) if isinstance(place, Path) else place
        self._given_up: dict[int, list[Call]] = {}  # the requests of a question that a seat no longer waits for
        self._known: dict[int, deque[Answer]] = {}
        self._timeouts: set[int] = set()  # seats whose logged timeout is being repeated
        self._answered: set[int] = set()  # seats with an answer in the decision that they make now
        if self._answers is not None:
            self._read(self._answers)

    def take(self, seat: int, asked: str) -> Answer | None:
        """The next logged answer of this seat."""
        if not self.knows(seat):
            return None
        if self.times_out(seat):
            self._timeouts.add(seat)
            return self._pop(seat)
        answer = self._answer_to(seat, asked)
        if answer is None:
            raise OtherQuestion(self._answers)
        if self.times_out(seat) and self._known[seat][0].late:
            return self.take(seat, asked)
        return answer

    def knows(self, seat: int) -> bool:
        """True if there is a logged answer of this seat."""
        return bool(self._known.get(seat))

    def times_out(self, seat: int) -> bool:
        """True if the next logged answer of this seat is a timeout."""
        return self.knows(seat) and self._known[seat][0].timeout

    def add(self, answer: Answer) -> Answer:
        """Append an answer. It survives the end of this process when this returns.

        Returns it as it will be read, so that the first use and a later one are alike in every detail.
        """
        line = msgspec.json.encode(answer)
        if self._answers is not None:
            self._answers.append(line + b"\n")
        self._answered.add(answer.seat)
        return _decode(line)

    def give_up(self, seat: int, calls: list[Call]) -> None:
        """A question was given up. It is logged if the decision timed out, and not if the run was stopped."""
        self._given_up[seat] = calls

    def timed_out(self, seat: int) -> None:
        """Log that a decision timed out."""
        calls = self._given_up.pop(seat, None)
        late = calls is None and seat in self._answered
        if seat in self._timeouts:
            self._timeouts.remove(seat)
        elif self.times_out(seat):
            self._pop(seat)
        else:
            self.add(Answer(seat, timeout=True, late=late, calls=calls or []))

    def decided(self, seat: int) -> None:
        """A decision is made."""
        self._answered.discard(seat)
        self._given_up.pop(seat, None)

    def close(self) -> None:
        if self._answers is not None:
            self._answers.close()

    def _answer_to(self, seat: int, asked: str) -> Answer | None:
        """The logged answer to this question. Of questions that were asked at the same time, any may have been answered
        first."""
        for answer in takewhile(lambda answer: not answer.timeout, self._known[seat]):
            if answer.asked == asked:
                self._known[seat].remove(answer)
                return answer
        return None

    def _pop(self, seat: int) -> Answer:
        return self._known[seat].popleft()

    def _read(self, answers: Answers) -> None:
        try:
            for answer in map(_decode, answers.read().splitlines()):
                self._known.setdefault(answer.seat, deque()).append(answer)
        except msgspec.MsgspecError as wrong:
            raise RecordCorrupt(f"{answers} cannot be read: {wrong}. Delete it to play this game again") from None


# -- agents whose answers are logged ----------------------------------------------------------------
def logged(agent: Any, seat: int, log: AnswerLog) -> Agent:
    """An agent that was opened, which uses the log unless it is quick."""
    if isinstance(agent, Direct):
        return agent
    if hasattr(getattr(agent, "backend", None), "complete"):
        if hasattr(agent, "spend_from"):
            agent.spend_from(log.spending)
        else:  # a backend that is not behind ours
            agent.backend = MeteredBackend(agent.backend, log.spending)
        agent.backend = LoggedBackend(agent.backend, seat, log)
    else:
        _log_decisions(agent, seat, log)
    opened: Agent = agent
    return opened


class LoggedBackend(WrappedBackend):
    """A backend whose completions are logged."""

    def __init__(self, backend: Backend, seat: int, log: AnswerLog) -> None:
        super().__init__(backend)
        self._seat, self._log = seat, log

    async def complete(self, request: Request) -> Completion:
        asked = _hash(request)
        known = self._log.take(self._seat, asked)
        if known is not None:
            for call in known.calls:
                note(call)
            if known.completion is None:
                raise _again(known)
            return known.completion
        with gathered() as calls:
            try:
                completion = await self.backend.complete(request)
            except SpendingCapReached as reached:
                raise CapReached(str(reached)) from None
            except (asyncio.CancelledError, TimeoutError):
                self._log.give_up(self._seat, calls)
                raise
            except Exception as bug:
                kept = self._log.add(self._failed(bug, asked, calls))
                raise _again(kept) from bug
        kept = self._log.add(Answer(self._seat, asked, completion, calls=calls))
        assert kept.completion is not None
        return kept.completion

    def _failed(self, bug: Exception, asked: str, calls: list[Call]) -> Answer:
        of_backend = isinstance(bug, BackendError)
        cause = bug.cause if isinstance(bug, BackendError) else ""
        error = type(bug).__name__, in_public(bug)
        return Answer(self._seat, asked, error=error, of_backend=of_backend, cause=cause, calls=calls)


def _log_decisions(agent: Any, seat: int, log: AnswerLog) -> None:
    """Log the decisions of an adapted agent that has no backend of ours."""
    if hasattr(agent, "think"):
        think = agent.think

        async def logged_think(turn: Turn, correction: str = "") -> Thought:
            return await _logged(partial(think, turn, correction), (turn.observation, correction), seat, log)

        agent.think = logged_think  # of this one agent
        return
    decide = agent.decide

    async def thought(observation: Observation) -> Thought:
        return Thought(checked_action(await decide(observation)))

    async def logged_decide(observation: Observation) -> Action | None:
        return (await _logged(partial(thought, observation), observation, seat, log)).action

    agent.decide = logged_decide


async def _logged(ask: Callable[[], Awaitable[Thought]], question: object, seat: int, log: AnswerLog) -> Thought:
    """Ask, so that the agent's memory is the same again; a logged answer counts for the given one."""
    if not log.knows(seat) and log.spending.is_over:
        raise CapReached(f"${log.spending.spent:.2f} has been spent")
    asked, made = _hash(question), Thought()
    failure: Exception | None = None
    try:
        made = await ask()
    except (asyncio.CancelledError, TimeoutError):
        if not log.knows(seat) or log.times_out(seat):
            log.give_up(seat, [])
            raise
    except Exception as bug:
        failure = bug
    known = log.take(seat, asked)
    if known is not None:
        if known.thought is None:
            raise _again(known)
        return known.thought
    if failure is not None:
        log.add(Answer(seat, asked, error=(type(failure).__name__, in_public(failure))))
        raise failure
    kept = log.add(Answer(seat, asked, thought=made)).thought
    assert kept is not None
    log.spending.add(sum(_paid(exchange.usage) for exchange in kept.exchanges))
    return kept


def _again(answer: Answer) -> Exception:
    """A logged failure, as an exception of the same name and text."""
    if answer.timeout:
        return TimedOutBefore()
    name, text = answer.error or ("RuntimeError", "no answer")
    if answer.of_backend:
        made: BackendError = type(name, (BackendError,), {})(text, cause=answer.cause)
        return made
    other: Exception = type(name, (Exception,), {})(text)
    return other


def _hash(question: object) -> str:
    return blake2b(msgspec.json.encode(question), digest_size=8).hexdigest()
