"""What is kept of a round: everything the measures and the report need, in whole numbers, on one line of JSON."""

from typing import NamedTuple

from msgspec import Struct

Column = list[int]
"""One number per nation, nations in name order."""


class Attack(NamedTuple):
    """Mils that were really sent, after the clamp."""

    attacker: str
    target: str
    mils: int


class Pledge(NamedTuple):
    """A promise for the turn after the one it was made in. ``amount`` is 0 where the promise is not to attack."""

    by: str
    toward: str
    amount: int
    heard: list[str]


class Rating(NamedTuple):
    """What one nation says of another, 1 to 10; 0 where it said nothing."""

    rater: str
    rated: str
    keeps_word: int
    aggressor: int


class Played(Struct, frozen=True, kw_only=True):
    """One turn. Money: gross = burnt + arms + granted + kept, and welfare = kept + received x trade factor."""

    gross: Column
    burnt: Column  # income that damage took away; damage beyond the income is not in it
    arms: Column  # paid for upkeep and purchases
    granted: Column
    received: Column
    welfare: Column
    lost: Column  # mils lost in attacks
    mils: Column  # at the end of the turn
    land: Column
    dropped: Column  # how many things the nation handed in that did not count
    attacks: list[Attack]
    grants: list[tuple[str, str, int]]
    pledges: list[Pledge]
    ratings: list[Rating]


class Place(NamedTuple):
    """Which round of an experiment this is; the log knows it by that."""

    lineup: str
    seed: int
    number: int

    def __str__(self) -> str:
        return f"{self.lineup}, seed {self.seed}, round {self.number}"


class Round(Struct, frozen=True, kw_only=True):
    """A whole round."""

    place: Place
    plays: dict[str, str]  # nation -> what plays it; in name order
    factor: tuple[int, int]
    turns: list[Played]

    @property
    def nations(self) -> list[str]:
        return list(self.plays)
