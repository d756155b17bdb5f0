"""A decision of a player, its outcome, and the sum of many."""

from collections.abc import Sequence
from typing import Literal, get_args

from msgspec import Struct

from cohabit.agents.causes import cause_of_failure
from cohabit.agents.contract import Exchange
from cohabit.model.action import Action

Outcome = Literal["chosen", "passed", "corrected", "unreadable", "refused", "timeout", "failed", "late"]
"""``chosen``: the first answer was played. ``passed``: the agent chose to do nothing. ``corrected``: the second answer
was played. ``unreadable``, ``refused``: neither answer could be read, or the world refused it. ``timeout``: no answer
in time. ``failed``: the agent or its backend failed. ``late``: the turn was over before the answer came."""
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
FAILURES: tuple[Outcome, ...] = ("unreadable", "refused", "timeout", "failed")
"""The outcomes after which the fallback was played. The exception is a failure of ``reflect``: the agent's own
action had been performed before."""


class PlayerDecision(Struct, frozen=True, omit_defaults=True, gc=False):
    """One decision of a player, as the transcript keeps it. Timings are kept apart."""

    number: int
    outcome: Outcome
    action: Action | None = None  # what was played
    problem: str = ""  # what was wrong with the first answer, or why there was none
    exchanges: list[Exchange] = []
    reward: float = 0.0
    message: str = ""  # of the world
    turn: int = 0  # the turn of the game, from 1, in which it was made; 0: not counted

    @property
    def cause(self) -> str:
        """Why it failed, as in ``causes.CAUSES``; empty if it did not."""
        return cause_of_failure(self.outcome, self.exchanges) if self.failed else ""

    @property
    def failed(self) -> bool:
        return self.outcome in FAILURES

    @property
    def was_refused(self) -> bool:
        """The answer was refused, and there was no fallback or it was refused, too."""
        return self.outcome == "refused" and self.action is None


class Tally(Struct, gc=False):
    """The outcomes, tokens, costs and time of a player's decisions, added up."""

    outcomes: dict[str, int] = {}
    prompt_tokens: int = 0
    completion_tokens: int = 0
    dollars: float = 0.0
    charged: float = 0.0  # dollars, with the most that requests whose cost is not known may have cost
    unpriced: int = 0  # answers whose price is unknown
    tool_calls: int = 0
    seconds: float = 0.0  # of thinking, without the time in which actions were performed
    requests: int = 0  # to a model, including those that failed
    causes: dict[str, int] = {}  # of the failures

    @property
    def decisions(self) -> int:
        return sum(self.outcomes.values())

    @property
    def failures(self) -> int:
        return sum(self.outcomes.get(outcome, 0) for outcome in FAILURES)

    def add(self, decision: PlayerDecision, seconds: float = 0.0) -> None:
        outcome, outcomes = decision.outcome, self.outcomes
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
        self.seconds += seconds
        if decision.exchanges:
            self._add_exchanges(decision.exchanges)
        if outcome in FAILURES:
            cause = decision.cause
            self.causes[cause] = self.causes.get(cause, 0) + 1

    def _add_exchanges(self, exchanges: Sequence[Exchange]) -> None:
        for exchange in exchanges:
            usage = exchange.usage
            self.prompt_tokens += usage.prompt_tokens
            self.completion_tokens += usage.completion_tokens
            self.tool_calls += bool(exchange.tool)
            calls = exchange.calls
            answered = not calls or not calls[-1].cause
            if usage.dollars is None:
                self.unpriced += answered
            elif not calls and not usage.cached:  # the agent does not say what it asked
                self.dollars += usage.dollars
                self.charged += usage.dollars
            self.requests += len(calls)
            self.dollars += sum(call.paid for call in calls)
            self.charged += sum(call.charged for call in calls)
