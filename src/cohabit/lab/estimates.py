"""Means with confidence intervals by Student's t, computed here so that no result depends on a library's version.

The seeds, or the rounds of a line-up, are the sample. The interval is mean ± t x s / sqrt(n), with s² the sum of
squared deviations divided by n - 1, and t the 97.5 % quantile of Student's distribution with n - 1 degrees of freedom
(table below). Between two rows of the table the earlier one is used, which makes the interval slightly wider.
"""

from collections.abc import Collection, Hashable, Mapping, Sequence
from fractions import Fraction
from itertools import chain
from math import sqrt
from typing import NamedTuple, TypeVar

K = TypeVar("K", bound=Hashable)
Z_975 = 1.959963984540054
"""The 97.5 % quantile of the normal distribution."""

T_975 = {
    1: "12.706", 2: "4.303", 3: "3.182", 4: "2.776", 5: "2.571", 6: "2.447", 7: "2.365", 8: "2.306", 9: "2.262",
    10: "2.228", 11: "2.201", 12: "2.179", 13: "2.160", 14: "2.145", 15: "2.131", 16: "2.120", 17: "2.110", 18: "2.101",
    19: "2.093", 20: "2.086", 21: "2.080", 22: "2.074", 23: "2.069", 24: "2.064", 25: "2.060", 26: "2.056", 27: "2.052",
    28: "2.048", 29: "2.045", 30: "2.042", 40: "2.021", 60: "2.000", 120: "1.980", 1000: "1.962",
}  # fmt: skip


MIN_SAMPLE = 5
"""With fewer values no interval is shown. Scores such as 0 and 1 are often the same in two or three seeds by chance."""


class Estimate(NamedTuple):
    """A mean of ``n`` values, and t x s / sqrt(n); None for a single value."""

    mean: Fraction
    half_width: float | None
    n: int

    @property
    def interval(self) -> float | None:
        """The half-width of the 95 % interval; None if there is none, because there are too few values, or because all
        are the same: that says nothing about the next one."""
        return self.half_width if self.n >= MIN_SAMPLE and self.half_width else None

    def over_seeds(self, digits: int = 2) -> str:
        """The mean over seeds with its interval, or the reason why it has none."""
        mean = f"{float(self.mean):,.{digits}f}"
        if self.interval is not None:
            return f"{mean} ± {self.interval:,.{digits}f}"
        if self.n >= MIN_SAMPLE:
            return f"{mean} (all {self.n} seeds alike)"
        return f"{mean} ({'one seed' if self.n == 1 else f'{self.n} seeds: too few'})"

    def __str__(self) -> str:
        spread = "" if self.half_width is None else f" ± {self.half_width:.2f}"
        return f"{float(self.mean):.2f}{spread}"


def t_quantile(degrees_of_freedom: int) -> float:
    """The 97.5 % quantile of Student's t."""
    return float(T_975[max(row for row in T_975 if row <= degrees_of_freedom)])


def estimate(values: Sequence[int | Fraction]) -> Estimate | None:
    """The mean and its 95 % interval; None without values."""
    n = len(values)
    if n == 0:
        return None
    mean = Fraction(sum(values)) / n
    if n == 1:
        return Estimate(mean, None, 1)
    variance = sum(((value - mean) ** 2 for value in values), Fraction(0)) / (n - 1)
    return Estimate(mean, t_quantile(n - 1) * sqrt(variance / n), n)


def correlation(pairs: Sequence[tuple[Fraction, Fraction]]) -> float | None:
    """Pearson's r; None if one of the two variables is constant."""
    if len(pairs) < 2:
        return None
    n = len(pairs)
    mean_x, mean_y = (sum((pair[i] for pair in pairs), Fraction(0)) / n for i in (0, 1))
    covariation = sum(((x - mean_x) * (y - mean_y) for x, y in pairs), Fraction(0))
    variation_x = sum(((x - mean_x) ** 2 for x, _ in pairs), Fraction(0))
    variation_y = sum(((y - mean_y) ** 2 for _, y in pairs), Fraction(0))
    if variation_x == 0 or variation_y == 0:
        return None
    return float(covariation) / sqrt(variation_x * variation_y)


def share_interval(share: Fraction | float, n: float) -> tuple[float, float] | None:
    """The 95 % interval of a share by Wilson's formula, which stays within 0 and 1 also for few games or none won.

    ``n``: how many independent trials it is worth. None without trials. A draw may count as part of a success.
    """
    if n == 0:
        return None
    share, z2 = float(share), Z_975 * Z_975
    centre = share + z2 / (2 * n)
    spread = Z_975 * sqrt(max(0.0, share * (1 - share)) / n + z2 / (4 * n * n))
    whole = 1 + z2 / n
    return max(0.0, (centre - spread) / whole), min(1.0, (centre + spread) / whole)


def independent_games(by_seed: Collection[Sequence[Fraction]]) -> float:
    """How many independent games these are worth, to an interval of their mean: between the number of seeds and that of
    games, fewer the more the games of a seed end alike. Such games tell less than as many with seeds of their own."""
    seeds, n = len(by_seed), sum(map(len, by_seed))
    if n == 0:
        return 0
    share = sum(chain.from_iterable(by_seed), Fraction(0)) / n
    if seeds == 1 or share in (0, 1):
        return seeds
    spread = sum((sum(results) - share * len(results)) ** 2 for results in by_seed)
    variance = spread * seeds / ((seeds - 1) * n * n)  # of the share
    return float(max(seeds, min(n, share * (1 - share) / variance))) if variance else n


def paired_difference(first: Mapping[K, Fraction], second: Mapping[K, Fraction]) -> Estimate | None:
    """The mean of first - second over the keys that both have, such as seeds, with its interval. None: no such key."""
    return estimate([first[key] - second[key] for key in first if key in second])
