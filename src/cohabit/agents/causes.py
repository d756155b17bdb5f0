"""Why a model gave no usable answer: the names of the causes, and the text for people."""

from collections.abc import Sequence
from typing import Literal

from cohabit.agents.contract import Call, Exchange

Cause = Literal[
    "rate_limit", "server_error", "rejected", "unreachable", "broken_reply", "unreadable_reply", "no_reply",
    "spending_cap", "refusal", "tool_call", "empty", "cut_off", "too_large", "no_action", "illegal", "time",
    "exception",
]  # fmt: skip
CAUSES: dict[str, str] = {
    "rate_limit": "the server answered with HTTP 429: too many requests, or no quota",
    "server_error": "the server answered with HTTP 408, 409 or 5xx",
    "rejected": "the server answered with another error: the key, the model or the request is wrong",
    "unreachable": "there was no connection to the server",
    "broken_reply": "the connection ended before the reply was complete",
    "unreadable_reply": "the reply is not one of a model server: HTML, broken JSON, another shape, too long",
    "no_reply": "the request was given up before a reply came",
    "spending_cap": "the request was not sent, because it could have cost more than the cap leaves",
    "refusal": "the model, or a filter of its service, refused to answer",
    "tool_call": "the model called a tool that it was not offered, or used up its tool calls",
    "empty": "the answer is empty",
    "cut_off": "the answer was cut off at `max_tokens`",
    "too_large": "the answer is longer or more deeply nested than any action needs",
    "no_action": "there is no action in the answer",
    "illegal": "the world refused the action",
    "time": "the agent did not return in time",
    "exception": "the agent raised an exception",
}
"""Every cause with its meaning: eight of a request, six of an answer, and three of any agent."""


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
