"""The rules of Whist as pure functions on frozen values. They need no room and draw nothing at random.

Seats are numbered 0 to 3 clockwise: north, east, south, west. Partners sit opposite, so the team of a seat is its
number modulo 2. A card is its suit and its rank, such as ``H14``, the ace of hearts.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

Card = str
Suit = Literal["C", "D", "H", "S"]
Hands = tuple[tuple[Card, ...], tuple[Card, ...], tuple[Card, ...], tuple[Card, ...]]
ByTeam = tuple[int, int]
Phase = Literal["playing", "trickComplete", "handOver", "gameOver"]

SUITS: tuple[Suit, ...] = ("C", "D", "H", "S")
SUIT_OF: dict[Card, Suit] = {f"{suit}{rank}": suit for suit in SUITS for rank in range(2, 15)}
DECK: tuple[Card, ...] = tuple(SUIT_OF)
HAND_ORDER = "SHCD"
"""The suits of a sorted hand."""
SEATS = 4
TRICKS = 13
BOOK = 6
"""A team scores its tricks above this number."""
GAME_POINTS = 5
FIRST_DEALER = 3
"""Of a game, so seat 0 leads first."""
TRUMP_VALUE = 100
"""Puts every trump above every other card."""


class Play(Struct, frozen=True):
    """A card on the table, and the seat that played it."""

    seat: int
    card: Card


class Trick(Struct, frozen=True):
    """The cards of one round, in the order they were played."""

    leader: int
    plays: tuple[Play, ...] = ()

    @property
    def led(self) -> Suit | None:
        """The suit that was led."""
        return suit_of(self.plays[0].card) if self.plays else None


class Table(Struct, frozen=True, kw_only=True):
    """A hand of Whist at one moment, and the score of the game."""

    dealer: int
    trump: Suit
    trump_card: Card
    hands: Hands
    turn: int
    trick: Trick
    last_trick: Trick | None = None
    tricks_won: ByTeam = (0, 0)
    scores: ByTeam = (0, 0)
    hand_number: int = 1
    phase: Phase = "playing"
    winner: int | None = None  # the team that won the game
    game_points: int = GAME_POINTS


# -- seats and cards --------------------------------------------------------------------------------
def partner_of(seat: int) -> int:
    return (seat + 2) % SEATS


def team_of(seat: int) -> int:
    return seat % 2


def next_seat(seat: int) -> int:
    return (seat + 1) % SEATS


def suit_of(card: Card) -> Suit:
    return SUIT_OF[card]


def rank_of(card: Card) -> int:
    return int(card[1:])


def sorted_hand(cards: Iterable[Card]) -> tuple[Card, ...]:
    """Spades, hearts, clubs, diamonds, and the highest card of each suit first."""
    return tuple(sorted(cards, key=lambda card: (HAND_ORDER.index(suit_of(card)), -rank_of(card))))


def card_value(card: Card, led: Suit | None, trump: Suit | None) -> int:
    """The worth of a card in a trick; a discard is worth nothing."""
    if suit_of(card) == trump:
        return TRUMP_VALUE + rank_of(card)
    return rank_of(card) if suit_of(card) == led else -1


def winning_play(trick: Trick, trump: Suit | None) -> Play | None:
    """The play that takes the trick if no card follows."""
    return max(trick.plays, key=lambda play: card_value(play.card, trick.led, trump), default=None)


# -- a hand, from the deal to the score --------------------------------------------------------------
def deal(
    deck: Sequence[Card],
    dealer: int,
    *,
    scores: ByTeam = (0, 0),
    hand_number: int = 1,
    game_points: int = GAME_POINTS,
) -> Table:
    """Deal the cards one by one from the dealer's left. The last one is the dealer's, and its suit is trump."""
    eldest = next_seat(dealer)
    north, east, south, west = (sorted_hand(deck[(seat - eldest) % SEATS :: SEATS]) for seat in range(SEATS))
    return Table(
        dealer=dealer, trump=suit_of(deck[-1]), trump_card=deck[-1], hands=(north, east, south, west), turn=eldest,
        trick=Trick(eldest), scores=scores, hand_number=hand_number, game_points=game_points,
    )  # fmt: skip


def legal_cards(table: Table, seat: int) -> tuple[Card, ...]:
    """The cards that a seat may play now: of the led suit if it has any, else any of its cards."""
    if table.phase != "playing" or seat != table.turn:
        return ()
    hand = table.hands[seat]
    return tuple([card for card in hand if suit_of(card) == table.trick.led]) or hand


def is_legal(table: Table, seat: int, card: Card) -> bool:
    return card in legal_cards(table, seat)


def play(table: Table, seat: int, card: Card) -> Table:
    """Play a card. An illegal play returns the same table.

    The fourth card completes the trick, which stays on the table until ``resolve``.
    """
    if not is_legal(table, seat, card):
        return table
    trick = Trick(table.trick.leader, (*table.trick.plays, Play(seat, card)))
    north, east, south, west = (
        tuple([held for held in hand if held != card]) if holder == seat else hand
        for holder, hand in enumerate(table.hands)
    )
    hands = north, east, south, west
    if len(trick.plays) < SEATS:
        return replace(table, hands=hands, trick=trick, turn=next_seat(seat))
    return replace(table, hands=hands, trick=trick, turn=_taker(trick, table.trump), phase="trickComplete")


def resolve(table: Table) -> Table:
    """Give a complete trick to its winner, who leads the next one. The last trick of a hand is scored."""
    if table.phase != "trickComplete":
        return table
    won = _added(table.tricks_won, team_of(table.turn), 1)
    after = replace(table, trick=Trick(table.turn), last_trick=table.trick, tricks_won=won, phase="playing")
    return after if any(after.hands) else _scored(after)


def hand_points(tricks_won: ByTeam) -> ByTeam:
    """The points of each team for its tricks."""
    return max(0, tricks_won[0] - BOOK), max(0, tricks_won[1] - BOOK)


def next_hand(table: Table, deck: Sequence[Card]) -> Table:
    """Deal the next hand, if this one is over and the game is not."""
    if table.phase != "handOver":
        return table
    return deal(
        deck, next_seat(table.dealer), scores=table.scores, hand_number=table.hand_number + 1,
        game_points=table.game_points,
    )  # fmt: skip


def _taker(trick: Trick, trump: Suit) -> int:
    best = winning_play(trick, trump)
    assert best is not None
    return best.seat


def _scored(table: Table) -> Table:
    points = hand_points(table.tricks_won)
    scores = table.scores[0] + points[0], table.scores[1] + points[1]
    winner = next((team for team in (0, 1) if scores[team] >= table.game_points), None)
    return replace(table, scores=scores, phase="handOver" if winner is None else "gameOver", winner=winner)


def _added(numbers: ByTeam, team: int, n: int) -> ByTeam:
    return (numbers[0] + n, numbers[1]) if team == 0 else (numbers[0], numbers[1] + n)
