"""The measures of a round. Pure functions on integers and exact fractions, so that no result depends on rounding."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import accumulate, groupby
from typing import NamedTuple

from cohabit.lab.statecraft.rounds import Round, TurnRecord


# -- welfare --------------------------------------------------------------------------------------
def gini(values: Sequence[int | Fraction]) -> Fraction:
    """Inequality: 0 if all values are equal, (n - 1) / n if one of n has everything, 0 if nobody has anything.

    The mean difference of all ordered pairs, each value also with itself, divided by twice the mean.
    """
    total = Fraction(sum(values))
    if total == 0:
        return Fraction(0)
    ranks = range(1, len(values) + 1)
    weighted = Fraction(sum(rank * value for rank, value in zip(ranks, sorted(values), strict=True)))
    return (2 * weighted - (len(values) + 1) * total) / (len(values) * total)


def cooperation_index(welfare: int, gross_income: int, trade_factor: Fraction) -> Fraction | None:
    """1: everything was granted · 0: all income was kept · below 0: war and armies cost more than trade gained.

    None if trade gains nothing (factor 1) or there was no income.
    """
    if trade_factor == 1 or gross_income == 0:
        return None
    return (Fraction(welfare, gross_income) - 1) / (trade_factor - 1)


def total(turns: Iterable[TurnRecord], column: str) -> int:
    """The sum of a column over these turns and all nations."""
    return sum(sum(getattr(turn, column)) for turn in turns)


def totals(played: Round, column: str) -> list[int]:
    """The sum of a column over the round, for each nation."""
    return [sum(values) for values in zip(*(getattr(turn, column) for turn in played.turns), strict=True)]


def cooperation(played: Round) -> Fraction | None:
    """The cooperation index of the whole round."""
    factor = Fraction(*played.trade_factor)
    return cooperation_index(total(played.turns, "welfare"), total(played.turns, "gross_income"), factor)


def cooperation_over_time(played: Round) -> list[Fraction | None]:
    """The cooperation index of each turn."""
    factor = Fraction(*played.trade_factor)
    return [cooperation_index(sum(turn.welfare), sum(turn.gross_income), factor) for turn in played.turns]


def gini_over_time(played: Round) -> list[Fraction]:
    """The Gini index of the welfare accumulated by the end of each turn."""
    accumulated = [list(accumulate(turn.welfare[i] for turn in played.turns)) for i in range(len(played.players))]
    return [gini(values) for values in zip(*accumulated, strict=True)]


def ranks(played: Round) -> list[int]:
    """1 for the most welfare; equal nations share the better rank."""
    welfare = totals(played, "welfare")
    return [1 + sum(other > own for other in welfare) for own in welfare]


def wins(played: Round) -> list[Fraction]:
    """One win per round, shared by the nations with the most welfare."""
    places = ranks(played)
    return [Fraction(int(place == 1), places.count(1)) for place in places]


# -- wars -----------------------------------------------------------------------------------------
class War(NamedTuple):
    """Consecutive turns in which at least one nation of a pair sent mils against the other."""

    pair: tuple[str, str]  # in name order
    first: int
    last: int
    started_by: str  # the nation that attacked in the first turn, or ``both``
    mils: int  # sent by the two against each other, summed over the turns
    income_destroyed: Fraction  # of the two, by each other

    @property
    def turns(self) -> int:
        return self.last - self.first + 1


def wars(played: Round) -> list[War]:
    """The wars of a round, by pair, then by time."""
    fought: dict[tuple[str, str], list[int]] = {}
    for number, turn in enumerate(played.turns):
        for pair in sorted({_pair(attack.attacker, attack.target) for attack in turn.attacks if attack.mils}):
            fought.setdefault(pair, []).append(number)
    return [
        _war(played, pair, first, last) for pair in sorted(fought) for first, last in consecutive_runs(fought[pair])
    ]


def consecutive_runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """The first and last number of each maximal run of consecutive numbers. The numbers must be ascending."""
    by_start = groupby(enumerate(numbers), key=lambda each: each[1] - each[0])
    runs = [[number for _, number in run] for _, run in by_start]
    return [(run[0], run[-1]) for run in runs]


def _pair(one: str, other: str) -> tuple[str, str]:
    return (one, other) if one < other else (other, one)


def _war(played: Round, pair: tuple[str, str], first: int, last: int) -> War:
    turns = played.turns[first : last + 1]
    started = [attack.attacker for attack in turns[0].attacks if _pair(*attack[:2]) == pair and attack.mils]
    mils = sum(attack.mils for turn in turns for attack in turn.attacks if _pair(*attack[:2]) == pair)
    destroyed = sum((_income_destroyed(turn, played.nations, pair) for turn in turns), Fraction(0))
    return War(pair, first, last, started[0] if len(started) == 1 else "both", mils, destroyed)


def _income_destroyed(turn: TurnRecord, nations: Sequence[str], pair: tuple[str, str]) -> Fraction:
    """The destroyed income of a target is attributed to its attackers in proportion to the mils each sent."""
    share = Fraction(0)
    for attack in turn.attacks:
        if attack.mils and _pair(*attack[:2]) == pair:
            all_sent = sum(other.mils for other in turn.attacks if other.target == attack.target)
            share += Fraction(turn.income_destroyed[nations.index(attack.target)] * attack.mils, all_sent)
    return share
