"""A world's own figures over many games, such as the Crafter score, with intervals by bootstrap over the seeds."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from cohabit.errors import UnknownAsset
from cohabit.lab.estimates import MIN_SAMPLE
from cohabit.model.stream import Stream
from cohabit.registry import find_world, is_code_source
from cohabit.world import World, overridden

RESAMPLES = 1000
Measures = Mapping[str, Mapping[str, Sequence[Fraction]]]
"""By name and seed."""


class Summary(NamedTuple):
    """A figure, and the range that holds 95 % of its values in resampled seeds; None if there are too few seeds."""

    value: float
    interval: tuple[float, float] | None

    def __str__(self) -> str:
        if self.interval is None:
            return f"{self.value:,.1f}"
        low, high = self.interval
        return f"{self.value:,.1f} ({low:,.1f} to {high:,.1f})"


def with_summary(world: str) -> type[World] | None:
    """The world, if it has figures of its own. A folder of results can come from anybody: worlds in files are not
    loaded, and others may not be installed."""
    if is_code_source(world):
        return None
    try:
        found = find_world(world)
    except UnknownAsset:
        return None
    return found if "summary" in overridden(found) else None


def summaries(world: str, measures: Measures) -> dict[str, Summary]:
    """The figures of one player."""
    if (cls := with_summary(world)) is None:
        return {}
    seeds = sorted({seed for by_seed in measures.values() for seed in by_seed})
    by_seed = {
        name: [float(sum(values[seed]) / len(values[seed])) if values.get(seed) else None for seed in seeds]
        for name, values in measures.items()
    }
    found = _over(cls, by_seed, range(len(seeds)))
    if len(seeds) < MIN_SAMPLE:
        return {name: Summary(value, None) for name, value in found.items()}
    stream = Stream(0, "bootstrap")
    again = [_over(cls, by_seed, [stream.below(len(seeds)) for _ in seeds]) for _ in range(RESAMPLES)]
    return {name: Summary(value, _middle([each[name] for each in again])) for name, value in found.items()}


def _over(cls: type[World], by_seed: Mapping[str, Sequence[float | None]], chosen: Sequence[int]) -> dict[str, float]:
    means = {}
    for name, values in by_seed.items():
        present = [value for number in chosen if (value := values[number]) is not None]
        if present:
            means[name] = sum(present) / len(present)
    return dict(cls.summary(means))


def _middle(values: Sequence[float]) -> tuple[float, float]:
    """The range without the lowest and the highest 2.5 %."""
    ranked = sorted(values)
    cut = len(ranked) // 40
    return ranked[cut], ranked[-cut - 1]
