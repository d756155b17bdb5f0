"""Statecraft: nations that trade, threaten, promise and fight, in turns that everybody hands in at once."""

from cohabit.worlds.statecraft.cessions import legal_outbound
from cohabit.worlds.statecraft.compat import Agent, DefaultAgent, translate_agent_actions_to_intentions
from cohabit.worlds.statecraft.intake import take_in
from cohabit.worlds.statecraft.ledgers import Answers, Dropped, Ledgers, Standing, Turn
from cohabit.worlds.statecraft.resolve import resolve_document
from cohabit.worlds.statecraft.rules import Rules, rules_from
from cohabit.worlds.statecraft.schema import AGENT_ACTION_SCHEMA
from cohabit.worlds.statecraft.turn import run_turn

__all__ = [
    "AGENT_ACTION_SCHEMA", "Agent", "Answers", "DefaultAgent", "Dropped", "Ledgers", "Rules", "Standing", "Turn",
    "legal_outbound", "resolve_document", "rules_from", "run_turn", "take_in",
    "translate_agent_actions_to_intentions",
]  # fmt: skip
