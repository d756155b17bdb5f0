"""The seed's own interface: agents with ``act``, and its lenient translation of answers into six ledgers.

The engine does not use the translation (``intake.take_in`` reads all eleven fields, and says what it dropped). It
is here for programs that were written for it, with everything it does: numbers in texts count, so does ``True``;
an infinite number resets everything its agent asked for; summaries are read from ``summary``.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

Intentions = tuple[
    dict[str, int],
    dict[str, dict[str, int]],
    dict[str, dict[str, list[str]]],
    dict[str, dict[str, int]],
    dict[str, dict[str, str]],
    dict[str, str],
]


class Agent:
    """Whatever plays a nation: it is shown its input, and answers with what it intends."""

    def act(self, agent_input: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError


class DefaultAgent(Agent):
    """Does nothing, and says its summary again. Two fields are lists, as they always were; intake drops those."""

    def __init__(self, max_summary_len: int = 512) -> None:
        self.summary = ""
        self.max_summary_len = max_summary_len

    def act(self, agent_input: dict[str, Any]) -> dict[str, Any]:
        self.summary = self.summary[: self.max_summary_len]
        return {
            "purchase_mils": 0, "attacks": {}, "cede_territories": {},
            "money_grants": [], "messages": [], "summary": self.summary,
        }  # fmt: skip


def translate_agent_actions_to_intentions(
    agent_actions: dict[str, dict[str, Any]],
    *,
    known_agents: set[str],
    agent_territories: dict[str, set[str]],
    max_summary_len: int = 2048,
) -> Intentions:
    """Purchases, attacks, cessions, grants, messages and summaries, of every known agent that answered.

    Whatever is wrong is left out; nothing is raised. A negative ``max_summary_len`` means no limit.
    """
    ledgers: Intentions = ({}, {}, {}, {}, {}, {})
    for agent, answer in _object(agent_actions).items():
        if agent not in known_agents:
            continue
        intended: tuple[Any, ...] = (0, {}, {}, {}, {}, "")
        with suppress(Exception):
            owned = agent_territories.get(agent, set())
            intended = _intended(_object(answer), agent, known_agents, owned, max_summary_len)
        for ledger, value in zip(ledgers, intended, strict=True):
            ledger[agent] = value  # type: ignore[index]  # six ledgers, each with a value of its own type
    return ledgers


def _intended(action: dict[Any, Any], agent: str, known: set[str], owned: set[str], longest: int) -> tuple[Any, ...]:
    """The six values of one agent, in the order of the ledgers."""
    said = _object(action.get("messages", {})).items()
    summary = action.get("summary", "")
    text = summary if isinstance(summary, str) else ""
    return (
        _number(action.get("purchase_mils", 0)),
        dict(_amounts(action, "attacks", agent, known)),
        dict(_cessions(action, agent, known, owned)),
        dict(_amounts(action, "money_grants", agent, known)),
        {to: words for to, words in said if isinstance(words, str) and (to == "all" or to in known)},
        text[:longest] if longest >= 0 else text,
    )


def _object(value: Any) -> dict[Any, Any]:
    return value if isinstance(value, dict) else {}


def _number(value: Any) -> int:
    """At least 0. An infinite one is not caught here, and takes the whole answer with it."""
    try:
        return max(int(value), 0)
    except (TypeError, ValueError):
        return 0


def _to_others(action: dict[Any, Any], field: str, agent: str, known: set[str]) -> Iterator[tuple[str, Any]]:
    for name, value in _object(action.get(field, {})).items():
        if isinstance(name, str) and name != agent and name in known:
            yield name, value


def _amounts(action: dict[Any, Any], field: str, agent: str, known: set[str]) -> Iterator[tuple[str, int]]:
    for name, value in _to_others(action, field, agent, known):
        amount = _number(value)
        if amount > 0:
            yield name, amount


def _cessions(action: dict[Any, Any], agent: str, known: set[str], owned: set[str]) -> Iterator[tuple[str, list[str]]]:
    for name, value in _to_others(action, "cede_territories", agent, known):
        listed = value if isinstance(value, list) else []
        ceded = [each for each in listed if isinstance(each, str) and each in owned]
        if ceded:
            yield name, ceded
