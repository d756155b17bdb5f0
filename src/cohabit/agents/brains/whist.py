"""A brain for Whist that uses only its observations."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from cohabit.agents.brains.scripted import Scripted
from cohabit.model.action import Action
from cohabit.model.observation import Observation
from cohabit.worlds.whist.rules import TRUMP_VALUE, Suit, card_value, partner_of, rank_of, suit_of


class WhistPlayer(Scripted):
    """Leads the highest card of its longest suit, wins tricks as cheaply as it can, and leaves them to its partner."""

    reads_choices = False
    reads_text = False

    def decide(self, observation: Observation) -> Action | None:
        seen = observation.status
        if seen.get("mySeat") is None:  # this player has no seat yet
            return None
        if seen["phase"] in ("cut", "reveal"):
            return before_the_deal(seen)
        if not seen["legal"]:
            return None
        card, why = choose_card(seen)
        return Action("play", {"card": card}, why)


def before_the_deal(seen: dict[str, Any]) -> Action | None:
    """Cut and add nothing: a bot trusts its house. If somebody else has committed on its seat, nobody can reveal."""
    deal, seat = seen["deal"], seen["mySeat"]
    if seen["phase"] == "cut":
        return None if deal["cut"][seat] else Action("cut", {}, "it trusts the house")
    if deal["commitments"][seat] is None or deal["revealed"][seat]:
        return None
    return Action("reveal", {}, "the nonce is known only to the player that committed to it")


def choose_card(seen: dict[str, Any]) -> tuple[str, str]:
    """The card to play, and why."""
    legal: list[str] = seen["legal"]
    trump: Suit = seen["trump"]
    if len(legal) == 1:
        return legal[0], "the only legal card"
    plays = seen["trick"]["plays"]
    if not plays:
        return lead(legal, trump)
    led = suit_of(plays[0]["card"])
    if seen["trick"]["winner"] == partner_of(seen["mySeat"]):
        return _lowest(legal, trump), "the partner is winning"
    best = max(card_value(play["card"], led, trump) for play in plays)
    winners = [card for card in legal if card_value(card, led, trump) > best]
    if winners:
        return _lowest(winners, trump), "the cheapest card that wins"
    return _lowest(legal, trump), "no card wins, so the lowest"


def lead(hand: Sequence[str], trump: Suit) -> tuple[str, str]:
    """The highest card of the longest suit, the first one of equals. Trumps are led only if they come first."""
    suits = [list(cards) for _, cards in groupby(hand, key=suit_of)]
    suits = [cards for i, cards in enumerate(suits) if i == 0 or suit_of(cards[0]) != trump]
    return max(suits, key=len)[0], "the highest card of the longest suit"


def _lowest(cards: Sequence[str], trump: Suit) -> str:
    """The card that is least worth keeping: any trump is worth more than other cards."""
    return min(cards, key=lambda card: rank_of(card) + (TRUMP_VALUE if suit_of(card) == trump else 0))
