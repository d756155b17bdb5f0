"""The table as numbers, for learners: made of the status, so it shows no more than that."""

from collections.abc import Iterator, Sequence
from typing import Any, get_args

from cohabit.world import ArraySpec
from cohabit.worlds.whist.rules import DECK, SEATS, SUITS, TRICKS
from cohabit.worlds.whist.status import Phase, Status

TABLE = "table"
PHASES: tuple[Phase, ...] = get_args(Phase)
PLACES = SEATS  # around the table, from one's own to the right-hand opponent's
CARD_PLANES = 3 + PLACES  # the hand, what was played, the trump card, and the trick by place
FORM = ArraySpec(
    shape=(CARD_PLANES * len(DECK) + len(SUITS) + PLACES + len(PHASES) + 4,), dtype="float32", low=0, high=1
)


def table(seen: Status) -> Any:
    """Each of 52 cards (``rules.DECK``) as 0 or 1: in the own hand; played in this hand; the trump card; on the table,
    played by the seat itself, the left-hand opponent, the partner, the right-hand opponent. Then the trump suit, who
    leads the trick by place, the phase, and the tricks and the points of the own team and of the other.

    Without a seat it is the table as north sees it, without a hand."""
    import numpy as np  # only learners need it

    return np.array([*_cards(seen), *_rest(seen)], np.float32)


def _cards(seen: Status) -> Iterator[bool]:
    by_place: list[list[str]] = [[] for _ in range(PLACES)]
    for play in seen.trick.plays:
        by_place[_place(seen, play.seat)].append(play.card)
    planes: list[Sequence[str | None]] = [seen.my_hand, seen.played, [seen.trump_card], *by_place]
    for cards in planes:
        for card in DECK:
            yield card in cards


def _rest(seen: Status) -> Iterator[float]:
    yield from (suit == seen.trump for suit in SUITS)
    leader = _place(seen, seen.trick.leader)
    yield from (place == leader for place in range(PLACES))
    yield from (phase == seen.phase for phase in PHASES)
    own = (seen.my_seat or 0) % 2
    for amounts, most in ((seen.tricks_won, TRICKS), (seen.scores, seen.game_points)):
        yield from (min(1, amounts[team] / most) for team in (own, 1 - own))


def _place(seen: Status, seat: int) -> int:
    return (seat - (seen.my_seat or 0)) % SEATS
