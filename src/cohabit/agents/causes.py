"""Why a model gave no usable answer: the names of the causes, and the text for people."""

from collections.abc import Sequence
from typing import Literal

from cohabit.agents.contract import Call, Exchange
from cohabit.model.table_files import read_table

Cause = Literal[
    "rate_limit", "server_error", "rejected", "unreachable", "broken_reply", "unreadable_reply", "no_reply",
    "spending_cap", "refusal", "tool_call", "empty", "cut_off", "too_large", "no_action", "illegal", "time",
    "exception",
]  # fmt: skip
CAUSES = read_table(__file__, dict[str, str])
"""Every cause with its meaning."""


def cause_of_failure(outcome: str, exchanges: Sequence[Exchange]) -> str:
    """The cause of a failed decision: what was wrong with the last answer, or else with the last request."""
    if outcome == "refused":
        return "illegal"
    if exchanges:
        last = exchanges[-1]
        if found := last.cause or _of_calls(last.calls):
            return found
    return {"timeout": "time", "unreadable": "no_action"}.get(outcome, "exception")


def what_was_tried(exchanges: Sequence[Exchange]) -> str:
    """For a timeout: how many requests got no answer, and the last error. Empty if nothing is known."""
    calls = exchanges[-1].calls if exchanges else []
    if not calls or not calls[-1].cause:
        return ""
    requests = "1 request" if len(calls) == 1 else f"{len(calls)} requests"
    error = _last_error(calls)
    if error is None:
        return f"{requests}, no reply"
    waiting = ", no reply to the last one" if calls[-1] is not error else ""
    return f"{requests}{waiting}; the last error: {error.problem}"


def _last_error(calls: Sequence[Call]) -> Call | None:
    return next((call for call in reversed(calls) if call.cause and call.cause != "no_reply"), None)


def _of_calls(calls: Sequence[Call]) -> str:
    """An error says more than that the request after it was given up."""
    if not calls or not calls[-1].cause:
        return ""
    error = _last_error(calls)
    return calls[-1].cause if error is None else error.cause
