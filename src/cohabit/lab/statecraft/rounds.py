"""The data of a round: everything that the measures and the report need, as integers on one line of JSON."""

from typing import NamedTuple

from msgspec import Struct

Column = list[int]
"""One number per nation, in name order."""


class Attack(NamedTuple):
    """Mils that were sent, after the clamp."""

    attacker: str
    target: str
    mils: int


class Grant(NamedTuple):
    """Money that was paid."""

    giver: str
    receiver: str
    amount: int


class Pledge(NamedTuple):
    """A promise for the next turn. ``amount`` is 0 for a pledge not to attack."""

    author: str
    target: str
    amount: int
    recipients: list[str]


class Rating(NamedTuple):
    """The ratings of one nation by another, 1 to 10; 0 for no rating."""

    rater: str
    rated: str
    keeps_word: int
    aggressor: int


class TurnRecord(Struct, frozen=True, kw_only=True):
    """One turn. Unspent money = gross_income - income_destroyed - military_spending - grants_paid.

    Welfare = unspent money + grants_received x trade factor.
    """

    gross_income: Column
    income_destroyed: Column  # by damage; damage beyond the income is not included
    military_spending: Column  # upkeep and purchases
    grants_paid: Column
    grants_received: Column
    welfare: Column
    mils_lost: Column  # in attacks
    mils: Column  # at the end of the turn
    territories: Column
    dropped: Column  # how many parts of the nation's answer were dropped or changed
    attacks: list[Attack]
    grants: list[Grant]
    pledges: list[Pledge]
    ratings: list[Rating]


class Place(NamedTuple):
    """The place of a round in its experiment, which identifies the round."""

    lineup: str
    seed: int
    number: int

    def __str__(self) -> str:
        return f"{self.lineup}, seed {self.seed}, round {self.number}"


class Round(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A whole round."""

    place: Place
    players: dict[str, str]  # nation -> the player's name in the line-up; in name order
    trade_factor: tuple[int, int]  # numerator, denominator
    turns: list[TurnRecord]
    failures: dict[str, int] = {}  # nation -> how many of its decisions failed; in name order

    @property
    def nations(self) -> list[str]:
        return list(self.players)
