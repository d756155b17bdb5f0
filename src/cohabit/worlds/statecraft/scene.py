"""The layers of the front end besides the view: the last turn, and the nation's own orders, as numbers."""

from typing import Any

from cohabit.worlds.statecraft.intake import read_intentions
from cohabit.worlds.statecraft.report import refusals
from cohabit.worlds.statecraft.rules import Rules
from cohabit.worlds.statecraft.state import Amounts, GameState, TurnResult
from cohabit.worlds.statecraft.visibility import Visibility

ORDERS = {
    "purchase_mils": "d_mil_purchase_intent", "disband_mils": "d_mils_disband_intent", "attacks": "d_global_attacks",
    "money_grants": "d_money_grants", "cede_territories": "d_territory_cession", "messages": "d_messages_sent",
    "keeps_word_report": "d_keeps_word_report", "aggressor_report": "d_aggressor_report",
    "summary_last_turn": "d_turn_summary", "history_summary": "d_history_summary", "reasoning": "d_reasoning",
}  # fmt: skip
"""The ledger of each field of an answer."""


def read_orders(state: GameState, nation: str, answer: str, rules: Rules) -> dict[str, Any]:
    """The orders that a nation has submitted, as they are understood. Fields that order nothing are left out."""
    ledgers, _ = read_intentions(state, {nation: answer}, rules)
    read = {field: getattr(ledgers, ledger)[nation] for field, ledger in ORDERS.items()}
    return {field: value for field, value in read.items() if value}


def last_turn(turn: TurnResult, missed: list[str], viewer: Visibility) -> dict[str, Any]:
    """The last turn as far as this viewer knows it, and the spending of its own money."""
    ledgers = turn.ledgers
    shown: dict[str, Any] = {
        "turn": turn.end.turn - 1,
        "missed": missed,
        "attacks": viewer.flows(ledgers.d_attacks_clamped),
        "grants": viewer.flows(ledgers.d_grants_paid),
        "cessions": [list(cession) for cession in turn.cessions_done],
        "damage": _some(viewer.outcomes(ledgers.d_total_damage_received)),
        "gained": viewer.outcomes(ledgers.d_total_welfare_this_turn),
        "lost": _some(viewer.armies(ledgers.d_mils_lost_by_attacker)),
        "bought": _some(viewer.armies(ledgers.d_mil_purchased)),
        "unpaid": _some(viewer.armies(ledgers.d_mils_disbanded_upkeep)),
        "disbanded": _some(viewer.armies(ledgers.d_mils_disbanded_voluntary)),
    }
    return shown if viewer.nation is None else {**shown, "own": _own(turn, viewer.nation)}


def _own(turn: TurnResult, nation: str) -> dict[str, Any]:
    ledgers = turn.ledgers
    money, after_upkeep = ledgers.d_available_money[nation], ledgers.d_money_after_upkeep[nation]
    after_purchases = ledgers.d_money_after_purchases[nation]
    granted = sum(ledgers.d_grants_paid[nation].values())
    gross = ledgers.d_gross_income[nation]
    return {
        "income": gross,
        "damage": gross - money,
        "upkeep": money - after_upkeep,
        "purchases": after_upkeep - after_purchases,
        "granted": granted,
        "kept": after_purchases - granted,
        "received": sum(ledgers.d_grants_received[nation].values()),
        "welfare": ledgers.d_total_welfare_this_turn[nation],
        "problems": refusals(turn, nation),
    }


def _some(amounts: Amounts) -> Amounts:
    return {name: n for name, n in amounts.items() if n}
