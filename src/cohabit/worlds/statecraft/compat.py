"""The seed's own interface: agents with ``act``, and its lenient translation of answers into six ledgers.

The engine uses ``intake.read_intentions`` instead, which reads all eleven fields and logs what it drops. This module is
for programs written for the seed, and behaves as it does: numeric strings and ``True`` count as numbers, a non-finite
number resets the whole answer of its agent, and summaries are read from ``summary``.
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
    """A player of a nation: it gets an input object and answers with its intentions."""

    def act(self, agent_input: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError


class DefaultAgent(Agent):
    """Does nothing and repeats its summary. Two fields are lists, as in the seed; the intake drops them."""

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
    """Purchases, attacks, cessions, grants, messages and summaries of every known agent that answered.

    Invalid values are left out; nothing is raised. A negative ``max_summary_len`` means no limit.
    """
    ledgers: Intentions = ({}, {}, {}, {}, {}, {})
    for agent, answer in _object(agent_actions).items():
        if agent not in known_agents:
            continue
        values: tuple[Any, ...] = (0, {}, {}, {}, {}, "")
        with suppress(Exception):
            owned = agent_territories.get(agent, set())
            values = _intentions(_object(answer), agent, known_agents, owned, max_summary_len)
        for ledger, value in zip(ledgers, values, strict=True):
            ledger[agent] = value  # type: ignore[index]  # six ledgers, each with values of its own type
    return ledgers


def _intentions(
    action: dict[Any, Any], agent: str, known: set[str], owned: set[str], max_summary_len: int
) -> tuple[Any, ...]:
    """The six values of one agent, in the order of the ledgers."""
    messages = _object(action.get("messages", {})).items()
    summary = action.get("summary", "")
    text = summary if isinstance(summary, str) else ""
    return (
        _number(action.get("purchase_mils", 0)),
        dict(_amounts(action, "attacks", agent, known)),
        dict(_cessions(action, agent, known, owned)),
        dict(_amounts(action, "money_grants", agent, known)),
        {to: message for to, message in messages if isinstance(message, str) and (to == "all" or to in known)},
        text[:max_summary_len] if max_summary_len >= 0 else text,
    )


def _object(value: Any) -> dict[Any, Any]:
    return value if isinstance(value, dict) else {}


def _number(value: Any) -> int:
    """At least 0. Infinity raises OverflowError, which resets the whole answer."""
    try:
        return max(int(value), 0)
    except (TypeError, ValueError):
        return 0


def _entries_for_others(action: dict[Any, Any], field: str, agent: str, known: set[str]) -> Iterator[tuple[str, Any]]:
    for name, value in _object(action.get(field, {})).items():
        if isinstance(name, str) and name != agent and name in known:
            yield name, value


def _amounts(action: dict[Any, Any], field: str, agent: str, known: set[str]) -> Iterator[tuple[str, int]]:
    for name, value in _entries_for_others(action, field, agent, known):
        amount = _number(value)
        if amount > 0:
            yield name, amount


def _cessions(action: dict[Any, Any], agent: str, known: set[str], owned: set[str]) -> Iterator[tuple[str, list[str]]]:
    for name, value in _entries_for_others(action, "cede_territories", agent, known):
        listed = value if isinstance(value, list) else []
        ceded = [territory for territory in listed if isinstance(territory, str) and territory in owned]
        if ceded:
            yield name, ceded
