"""What a nation may hand in: the schema of its answer, and the few numbers that go with it."""

from typing import Any

WORST, BEST = 1, 10
"""Ratings."""
LARGEST_ORDER = 10**12
"""More than this is counted as this: more than anybody can own, and small enough for every number that is written."""
REASONING_WORDS = 50
SUMMARY_LIMIT = 2_048
TEXT_LIMITS = {"summary_last_turn": SUMMARY_LIMIT, "history_summary": 4_096, "reasoning": 2_048, "messages": 4_096}
"""Characters kept of each text."""


def _count(description: str) -> dict[str, Any]:
    return {"type": "integer", "minimum": 0, "description": description}


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def _by_nation(value: dict[str, Any], description: str) -> dict[str, Any]:
    return {"type": "object", "description": description, "additionalProperties": value}


_AMOUNT = {"type": "integer", "minimum": 0}
_RATING = {"type": "integer", "minimum": WORST, "maximum": BEST}

AGENT_ACTION_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "purchase_mils": _count("How many mils to buy this turn"),
        "attacks": _by_nation(_AMOUNT, "Mils to send against other nations"),
        "cede_territories": _by_nation(
            {"type": "array", "items": {"type": "string"}}, "Territories to hand over to other nations"
        ),
        "money_grants": _by_nation(_AMOUNT, "Money to give to other nations"),
        "messages": _by_nation({"type": "string"}, "Messages to other nations, or to 'all'"),
        "summary_last_turn": _text("Your summary of the turn that has just ended"),
        "history_summary": _text("Your own history of the game so far, compressed; it replaces the last one"),
        "reasoning": _text(f"Why you do this, in at most {REASONING_WORDS} words"),
        "disband_mils": _count("How many mils to dismiss when the turn is over"),
        "keeps_word_report": _by_nation(_RATING, "How well each nation keeps its word, yourself included (1 to 10)"),
        "aggressor_report": _by_nation(_RATING, "How aggressive each nation is, yourself included (1 to 10)"),
    },
    "additionalProperties": False,
}
FIELDS: tuple[str, ...] = tuple(AGENT_ACTION_SCHEMA["properties"])
