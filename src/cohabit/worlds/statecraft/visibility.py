"""The facts that a nation may know about the others. This is the only module of this world that hides information.

==========  =========================================================================================
full        every army, and everything that happened
own_army    everything that happened and the results of each nation, but only the nation's own army
fog         what the nation did and what was done to it; of the others only the map
==========  =========================================================================================

The intentions, notes and ratings of a nation are visible to itself only, and messages to their recipients.
"""

from typing import Any, Literal, TypeVar

from msgspec import Struct
from msgspec.structs import asdict

from cohabit.worlds.statecraft.rules import BROADCAST
from cohabit.worlds.statecraft.state import Amounts, Flows, Ledgers, Texts

Observability = Literal["full", "own_army", "fog"]
T = TypeVar("T")

PRIVATE_LEDGERS = (
    "d_mil_purchase_intent", "d_global_attacks", "d_territory_cession", "d_money_grants", "d_turn_summary",
    "d_history_summary", "d_reasoning", "d_mils_disband_intent", "d_keeps_word_report", "d_aggressor_report",
)  # fmt: skip
"""Each nation sees its own entry only."""
ARMY_LEDGERS = (
    "d_defense_mils", "d_upkeep_cost", "d_mils_disbanded_upkeep", "d_money_after_upkeep", "d_mil_purchased",
    "d_money_after_purchases", "d_mils_lost_by_attacker", "d_mils_disbanded_voluntary", "d_mils_disbanded_total",
)  # fmt: skip
"""These reveal the size of an army."""
FLOW_LEDGERS = ("d_attacks_clamped", "d_global_attacked", "d_damage_received", "d_grants_paid", "d_grants_received")


class Visibility(Struct, frozen=True):
    """The visibility rules of one viewer. ``nation`` is None for a viewer without a nation."""

    nation: str | None
    observability: Observability = "full"

    def armies(self, amounts: Amounts) -> Amounts:
        """Numbers that reveal how strong a nation is."""
        return amounts if self.observability == "full" else self._own(amounts)

    def outcomes(self, amounts: Amounts) -> Amounts:
        """Numbers that reveal the result of a turn for a nation."""
        return self._own(amounts) if self.observability == "fog" else amounts

    def flows(self, flows: Flows) -> Flows:
        """Amounts sent from one nation to another. Zero entries are left out."""
        found = {
            one: {other: n for other, n in to.items() if n and self.knows_dealings(one, other)}
            for one, to in flows.items()
        }
        return {one: to for one, to in found.items() if to}

    def knows_dealings(self, one: str, other: str) -> bool:
        """True if it knows what two nations do to each other."""
        return self.observability != "fog" or self.nation in (one, other)

    def messages(self, sent: dict[str, Texts], *, open_messages: bool = False) -> list[dict[str, str]]:
        """The messages that reach this viewer: sender, recipient (this nation or all) and text."""
        return [
            {"from": sender, "to": to, "text": texts[to]}
            for sender, texts in sorted(sent.items())
            for to in sorted(texts)
            if open_messages or to == BROADCAST or to == self.nation
        ]

    def ledgers(self, ledgers: Ledgers, *, open_messages: bool = False) -> dict[str, Any]:
        """All ledgers of a turn by name, limited to what this viewer may see."""
        return {name: self._ledger(name, ledger, open_messages) for name, ledger in asdict(ledgers).items()}

    def _ledger(self, name: str, ledger: Any, open_messages: bool) -> Any:
        if name == "d_messages_sent":
            return self.by_sender(ledger, open_messages=open_messages)
        if name in PRIVATE_LEDGERS:
            return self._own(ledger)
        if name in ARMY_LEDGERS:
            return self.armies(ledger)
        if name in FLOW_LEDGERS:
            return self.flows(ledger)
        return ledger if name == "d_gross_income" else self.outcomes(ledger)  # income follows from the public map

    def by_sender(self, sent: dict[str, dict[str, T]], *, open_messages: bool = False) -> dict[str, dict[str, T]]:
        """The messages that this viewer knows, by sender and recipient: those that reach it, and its own."""
        found = {
            sender: {to: text for to, text in texts.items() if self.reads(sender, to, open_messages=open_messages)}
            for sender, texts in sent.items()
        }
        return {sender: texts for sender, texts in found.items() if texts}

    def reads(self, sender: str, to: str, *, open_messages: bool = False) -> bool:
        """True if a message reaches it, or is its own."""
        return open_messages or self.nation == sender or to in (BROADCAST, self.nation)

    def _own(self, ledger: dict[str, Any]) -> dict[str, Any]:
        return {self.nation: ledger[self.nation]} if self.nation is not None and self.nation in ledger else {}
