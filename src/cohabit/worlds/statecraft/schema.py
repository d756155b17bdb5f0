"""The JSON Schema of an answer, and the limits of its values."""

from typing import Any

MIN_RATING, MAX_RATING = 1, 10
MAX_ORDER = 10**12
"""Larger orders are capped. No nation can own as much, and every number derived from it can be encoded."""
MAX_REASONING_WORDS = 50
MAX_TEXT_CHARS = {"summary_last_turn": 2_048, "history_summary": 4_096, "reasoning": 2_048, "messages": 4_096}


def _count(description: str) -> dict[str, Any]:
    return {"type": "integer", "minimum": 0, "description": description}


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def _by_nation(value: dict[str, Any], description: str) -> dict[str, Any]:
    return {"type": "object", "description": description, "additionalProperties": value}


_AMOUNT = {"type": "integer", "minimum": 0}
_RATING = {"type": "integer", "minimum": MIN_RATING, "maximum": MAX_RATING}

AGENT_ACTION_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "purchase_mils": _count("Number of mils to buy this turn"),
        "attacks": _by_nation(_AMOUNT, "Mils to send against other nations"),
        "cede_territories": _by_nation(
            {"type": "array", "items": {"type": "string"}}, "Territories to cede to other nations"
        ),
        "money_grants": _by_nation(_AMOUNT, "Money to grant to other nations"),
        "messages": _by_nation({"type": "string"}, "Messages to other nations, or to 'all'"),
        "summary_last_turn": _text("Your summary of the turn that has just ended"),
        "history_summary": _text("Your compressed history of the game so far; it replaces the previous one"),
        "reasoning": _text(f"The reason for your decision, in at most {MAX_REASONING_WORDS} words"),
        "disband_mils": _count("Number of mils to disband at the end of the turn"),
        "keeps_word_report": _by_nation(_RATING, "How well each nation keeps its word, yourself included (1 to 10)"),
        "aggressor_report": _by_nation(_RATING, "How aggressive each nation is, yourself included (1 to 10)"),
    },
    "additionalProperties": False,
}
FIELDS: tuple[str, ...] = tuple(AGENT_ACTION_SCHEMA["properties"])
