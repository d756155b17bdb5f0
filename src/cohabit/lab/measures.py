"""What a round is measured by. Pure functions; numbers are whole or exact fractions, so that a sum has no order."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import NamedTuple

from cohabit.lab.record import Played, Round


# -- how much, and how equally --------------------------------------------------------------------
def gini(values: Sequence[int | Fraction]) -> Fraction:
    """Inequality: 0 where all have the same, (n - 1) / n where one of n has everything. 0 where nobody has anything.

    The mean difference between two of them, each pair both ways and everybody with itself, over twice the mean.
    """
    total = Fraction(sum(values))
    if total == 0:
        return Fraction(0)
    ranks = range(1, len(values) + 1)
    weighted = Fraction(sum(rank * value for rank, value in zip(ranks, sorted(values), strict=True)))
    return (2 * weighted - (len(values) + 1) * total) / (len(values) * total)


def cooperation(welfare: int, gross: int, factor: Fraction) -> Fraction | None:
    """1: everything was granted · 0: everybody kept what it had · below 0: war and arms took more than trade gave.

    None where trade gains nothing (factor 1) or there was no income: then there is nothing to measure.
    """
    if factor == 1 or gross == 0:
        return None
    return (Fraction(welfare, gross) - 1) / (factor - 1)


def total(turns: Iterable[Played], column: str) -> int:
    """The sum of a column over these turns and all nations."""
    return sum(sum(getattr(turn, column)) for turn in turns)


def totals(played: Round, column: str) -> list[int]:
    """The sum of a column over the round, for each nation."""
    return [sum(values) for values in zip(*(getattr(turn, column) for turn in played.turns), strict=True)]


def cooperation_of(played: Round) -> Fraction | None:
    return cooperation(total(played.turns, "welfare"), total(played.turns, "gross"), Fraction(*played.factor))


def cooperation_over_time(played: Round) -> list[Fraction | None]:
    """The index of each turn by itself."""
    return [cooperation(sum(turn.welfare), sum(turn.gross), Fraction(*played.factor)) for turn in played.turns]


def gini_over_time(played: Round) -> list[Fraction]:
    """Of the welfare gathered up to the end of each turn."""
    gathered = [list(accumulate(turn.welfare[i] for turn in played.turns)) for i in range(len(played.plays))]
    return [gini(values) for values in zip(*gathered, strict=True)]


def ranks(played: Round) -> list[int]:
    """1 for the most welfare; equals share the better rank."""
    welfare = totals(played, "welfare")
    return [1 + sum(other > own for other in welfare) for own in welfare]


def wins(played: Round) -> list[Fraction]:
    """One win per round, shared where several have the most."""
    places = ranks(played)
    return [Fraction(int(place == 1), places.count(1)) for place in places]


# -- war ------------------------------------------------------------------------------------------
class War(NamedTuple):
    """Turns without a gap in which one of a pair, or both, sent mils at the other."""

    pair: tuple[str, str]  # in name order
    first: int
    last: int
    began: str  # who sent mils in the first turn; ``both`` where both did
    mils: int  # sent by the two at each other, summed over the turns
    burnt: Fraction  # income of the two that went up in it

    @property
    def turns(self) -> int:
        return self.last - self.first + 1


def wars(played: Round) -> list[War]:
    """By pair, then by time."""
    fought: dict[tuple[str, str], list[int]] = {}
    for number, turn in enumerate(played.turns):
        for pair in sorted({_pair(attack.attacker, attack.target) for attack in turn.attacks if attack.mils}):
            fought.setdefault(pair, []).append(number)
    return [_war(played, pair, first, last) for pair in sorted(fought) for first, last in runs(fought[pair])]


def runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """The maximal runs of consecutive numbers: first and last of each. The numbers come in ascending order."""
    found: list[tuple[int, int]] = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found


def _pair(one: str, other: str) -> tuple[str, str]:
    return (one, other) if one < other else (other, one)


def _war(played: Round, pair: tuple[str, str], first: int, last: int) -> War:
    turns = played.turns[first : last + 1]
    started = [attack.attacker for attack in turns[0].attacks if _pair(*attack[:2]) == pair and attack.mils]
    mils = sum(attack.mils for turn in turns for attack in turn.attacks if _pair(*attack[:2]) == pair)
    burnt = sum((_burnt(turn, played.nations, pair) for turn in turns), Fraction(0))
    return War(pair, first, last, started[0] if len(started) == 1 else "both", mils, burnt)


def _burnt(turn: Played, nations: Sequence[str], pair: tuple[str, str]) -> Fraction:
    """A target's burnt income is laid at its attackers' doors in proportion to the mils each sent."""
    share = Fraction(0)
    for attack in turn.attacks:
        if attack.mils and _pair(*attack[:2]) == pair:
            all_sent = sum(other.mils for other in turn.attacks if other.target == attack.target)
            share += Fraction(turn.burnt[nations.index(attack.target)] * attack.mils, all_sent)
    return share
