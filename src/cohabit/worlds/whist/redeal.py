"""The hidden cards of a hand dealt otherwise: as they could be, given what has been seen."""

from collections.abc import Collection, Sequence

from cohabit.model.stream import Stream
from cohabit.worlds.whist.rules import SEATS, Hands, Table, sorted_hand, suit_of

EXCHANGES = 400
"""Enough that every arrangement of 52 cards is about equally likely."""


def redealt(table: Table, seen: Collection[int], lacks: Sequence[str], stream: Stream) -> Hands:
    """The hands of a table after an exchange of the cards that nobody in ``seen`` has.

    Seats keep the number of their cards, and the dealer the trump card. ``lacks``: the suits that each seat has shown
    not to have, by not following them. Two to four seats at a time pass a card around, if none of them gets a suit that
    it lacks, so hands that nobody could tell from the true ones come up equally often.
    """
    hands = [list(hand) for hand in table.hands]
    free = [_movable(table, seat) if seat not in seen else [] for seat in range(SEATS)]
    ring = [seat for seat in range(SEATS) if free[seat]]
    for _ in range(EXCHANGES if len(ring) > 1 else 0):
        stream.shuffle(ring)
        chosen = [(seat, stream.choice(free[seat])) for seat in ring[: stream.between(2, len(ring))]]
        cards = [hands[seat][place] for seat, place in chosen]
        given = [cards[-1], *cards[:-1]]
        if all(suit_of(card) not in lacks[seat] for (seat, _), card in zip(chosen, given, strict=True)):
            for (seat, place), card in zip(chosen, given, strict=True):
                hands[seat][place] = card
    north, east, south, west = map(sorted_hand, hands)
    return north, east, south, west


def with_played(hands: Hands, before: Hands, dealt: Hands) -> Hands:
    """The hands as they would have been dealt: ``hands`` instead of ``before``, and the cards that were played."""
    north, east, south, west = (
        sorted_hand([*now, *(card for card in first if card not in held)])
        for now, held, first in zip(hands, before, dealt, strict=True)
    )
    return north, east, south, west


def _movable(table: Table, seat: int) -> list[int]:
    """The places of the cards in a hand that others do not know."""
    return [place for place, card in enumerate(table.hands[seat]) if card != table.trump_card]
