"""Statecraft: nations trade, threaten, make promises and fight, in turns that are resolved simultaneously."""

from cohabit.worlds.statecraft.cessions import legal_cessions
from cohabit.worlds.statecraft.compat import Agent, DefaultAgent, translate_agent_actions_to_intentions
from cohabit.worlds.statecraft.intake import read_intentions
from cohabit.worlds.statecraft.rules import Rules, rules_from
from cohabit.worlds.statecraft.schema import AGENT_ACTION_SCHEMA
from cohabit.worlds.statecraft.state import Answers, DroppedInput, GameState, Ledgers, TurnResult
from cohabit.worlds.statecraft.turn import run_turn

__all__ = [
    "AGENT_ACTION_SCHEMA", "Agent", "Answers", "DefaultAgent", "DroppedInput", "GameState", "Ledgers", "Rules",
    "TurnResult", "legal_cessions", "read_intentions", "rules_from", "run_turn",
    "translate_agent_actions_to_intentions",
]  # fmt: skip
