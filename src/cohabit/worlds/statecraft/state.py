"""The data of the engine: the state of a game between turns, and the ledgers of one turn under the seed's names."""

from typing import Any, Literal

from msgspec import Struct

Amounts = dict[str, int]
"""nation -> number"""
Flows = dict[str, dict[str, int]]
"""nation -> other nation -> number; a nation without entries has an empty dict"""
Texts = dict[str, str]
Territories = dict[str, list[str]]
"""nation -> its territories"""


class GameState(Struct):
    """The state that lasts from turn to turn. Money does not: money left at the end of a turn becomes welfare."""

    turn: int
    mils: Amounts
    territories: Territories  # each list sorted
    welfare: Amounts
    capitals: Texts = {}
    graph: dict[str, list[str]] | None = None  # territory -> its neighbours, symmetric and sorted; None: no map
    history: Texts = {}  # each nation's own compressed history
    summaries: dict[str, list[tuple[int, str]]] = {}  # each with the turn that it is about

    @property
    def nations(self) -> list[str]:
        """The nations in name order, which is the order of every phase."""
        return sorted(self.mils)


class Ledgers(Struct):
    """One turn. A phase reads the ledgers of earlier phases and writes its own. No ledger is written twice."""

    # phase 0: intentions of every nation
    d_mil_purchase_intent: Amounts = {}
    d_global_attacks: Flows = {}  # as ordered
    d_territory_cession: dict[str, dict[str, list[str]]] = {}
    d_money_grants: Flows = {}
    d_messages_sent: dict[str, Texts] = {}
    d_turn_summary: Texts = {}  # summary_last_turn
    d_history_summary: Texts = {}
    d_reasoning: Texts = {}
    d_mils_disband_intent: Amounts = {}
    d_keeps_word_report: Flows = {}
    d_aggressor_report: Flows = {}
    # phase 1
    d_gross_income: Amounts = {}
    # phase 2
    d_attacks_clamped: Flows = {}
    d_global_attacked: Flows = {}  # target -> attacker -> mils, after the clamp
    d_attacking_mils: Amounts = {}
    d_defense_mils: Amounts = {}
    # phase 3
    d_damage_received: Flows = {}  # target -> attacker -> damage
    d_total_damage_received: Amounts = {}
    d_available_money: Amounts = {}  # after damage
    # phase 4
    d_upkeep_cost: Amounts = {}
    d_mils_disbanded_upkeep: Amounts = {}
    d_money_after_upkeep: Amounts = {}
    # phase 5
    d_mil_purchased: Amounts = {}
    d_money_after_purchases: Amounts = {}
    # phase 6
    d_mils_lost_by_attacker: Amounts = {}
    # phase 7
    d_grants_paid: Flows = {}  # giver -> receiver
    d_grants_received: Flows = {}  # receiver -> giver
    d_trade_bonus: Amounts = {}
    d_total_welfare_this_turn: Amounts = {}
    # phase 8
    d_mils_disbanded_voluntary: Amounts = {}
    d_mils_disbanded_total: Amounts = {}


Drop = Literal["dropped", "cut", "changed"]


class DroppedInput(Struct, frozen=True):
    """A part of an answer that was dropped or changed. ``field`` is ``*`` if it concerns the whole answer."""

    nation: str
    field: str
    reason: str
    kind: Drop = "dropped"


class TurnResult(Struct):
    """The result of a turn."""

    end: GameState
    ledgers: Ledgers
    dropped: list[DroppedInput]
    cessions_done: list[tuple[str, str, str]]  # giver, receiver, territory
    cessions_refused: list[tuple[str, str, str, str]]  # giver, receiver, territory, reason


Answers = dict[str, Any]
"""nation -> its answer: an object, a JSON text or anything else; a missing nation orders nothing"""
