"""What a nation may know of the others. The only place of this world where anything is withheld.

==========  =========================================================================================
full        every army, and everything that happened
own_army    what happened between nations and what each made of it; of armies only one's own
fog         what one did and what was done to one; of the others only the map
==========  =========================================================================================

What a nation *meant* (its orders, texts and ratings) is its own in all three; letters are for their addressees.
"""

from typing import Any, Literal

from msgspec import Struct

from cohabit.worlds.statecraft.ledgers import Amounts, Flows, Ledgers, Texts
from cohabit.worlds.statecraft.rules import EVERYBODY

Observability = Literal["full", "own_army", "fog"]

MEANT = (
    "d_mil_purchase_intent", "d_global_attacks", "d_territory_cession", "d_money_grants", "d_turn_summary",
    "d_history_summary", "d_reasoning", "d_mils_disband_intent", "d_keeps_word_report", "d_aggressor_report",
)  # fmt: skip
"""Ledgers of which each nation sees its own line."""
TELL_OF_ARMIES = (
    "d_defense_mils", "d_upkeep_cost", "d_mils_disbanded_upkeep", "d_money_after_upkeep", "d_mil_purchased",
    "d_money_after_purchases", "d_mils_lost_by_attacker", "d_mils_disbanded_voluntary", "d_mils_disbanded_total",
)  # fmt: skip
FLOWS = ("d_attacks_clamped", "d_global_attacked", "d_damage_received", "d_grants_paid", "d_grants_received")


class Sight(Struct, frozen=True):
    """How one nation looks at the others; ``nation`` is None for somebody who is none of them."""

    nation: str | None
    observability: Observability = "full"

    def armies(self, amounts: Amounts) -> Amounts:
        """Numbers that tell how strong a nation is."""
        return amounts if self.observability == "full" else self._own(amounts)

    def outcomes(self, amounts: Amounts) -> Amounts:
        """Numbers that tell what a nation made of a turn."""
        return self._own(amounts) if self.observability == "fog" else amounts

    def flows(self, flows: Flows) -> Flows:
        """What went from one to another, without the pairs between whom nothing went."""
        hidden = self.observability == "fog"
        found = {
            one: {other: n for other, n in to.items() if n and (not hidden or self.nation in (one, other))}
            for one, to in flows.items()
        }
        return {one: to for one, to in found.items() if to}

    def letters(self, sent: dict[str, Texts], *, opened: bool = False) -> list[dict[str, str]]:
        """The messages that reach this nation: from whom, to whom (to it or to all), and the text."""
        return [
            {"from": sender, "to": to, "text": texts[to]}
            for sender, texts in sorted(sent.items())
            for to in sorted(texts)
            if opened or to == EVERYBODY or to == self.nation
        ]

    def ledgers(self, ledgers: Ledgers, *, opened: bool = False) -> dict[str, Any]:
        """All ledgers of a turn by their names, as far as this nation may read them."""
        return {name: self._ledger(name, getattr(ledgers, name), opened) for name in ledgers.__struct_fields__}

    def _ledger(self, name: str, found: Any, opened: bool) -> Any:
        if name == "d_messages_sent":
            return self._sent(found, opened)
        if name in MEANT:
            return self._own(found)
        if name in TELL_OF_ARMIES:
            return self.armies(found)
        if name in FLOWS:
            return self.flows(found)
        return found if name == "d_gross_income" else self.outcomes(found)  # income follows from the open map

    def _sent(self, sent: dict[str, Texts], opened: bool) -> dict[str, Texts]:
        found = {
            sender: {
                to: t for to, t in texts.items() if opened or self.nation == sender or to in (EVERYBODY, self.nation)
            }
            for sender, texts in sent.items()
        }
        return {sender: texts for sender, texts in found.items() if texts}

    def _own(self, ledger: dict[str, Any]) -> dict[str, Any]:
        return {self.nation: ledger[self.nation]} if self.nation is not None and self.nation in ledger else {}


def everything(ledgers: Ledgers) -> dict[str, Any]:
    """All ledgers whole, for somebody who sees all."""
    return {name: getattr(ledgers, name) for name in ledgers.__struct_fields__}
