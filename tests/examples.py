"""How much of a claim is tried: a third in `make test`, where it is the same one every time, and everything in `make soak`.

A property asks for a number of examples:

    @settings(max_examples=examples(60))

A parametrized test has many cases that differ little:

    @pytest.mark.sampled
    @pytest.mark.parametrize("power", POWERS)

The cases that `make test` leaves out get the mark `soak`. With several parameters those that are kept are distributed over
the values of each. With `kind`, a function of the parameters, the first case of each kind is kept, and then every third:

    @pytest.mark.sampled(kind=lambda power: POWERS[power].family)

Where some cases are quicker than others, or say more, the test names those that are kept:

    @pytest.mark.parametrize("world", soak_except(WORLDS, "nim", "lounge"))

Tests with the same cases begin at different ones, so that each case is in one of the samples:

    @pytest.mark.sampled(start=1)
"""

from __future__ import annotations

import inspect
import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

NEW_CASES = "COHABIT_NEW_CASES" in os.environ
SHARE = 3


def examples(many: int) -> int:
    return many if NEW_CASES else max(many // SHARE, 1)


def soak_except(cases: Iterable[str], *kept: str) -> list[Any]:
    """Parameters of which `make test` tries these, and `make soak` the others."""
    return [pytest.param(case, marks=() if case in kept else pytest.mark.soak) for case in cases]


def leave_out_of_samples(items: list[pytest.Item]) -> None:
    """Mark the cases of sampled tests that only `make soak` runs."""
    samples: defaultdict[tuple[str, object], Sample] = defaultdict(Sample)
    for item in items:
        mark = item.get_closest_marker("sampled")
        if mark is None:
            continue
        assert isinstance(item, pytest.Function), f"{item.nodeid} has no cases"
        kind, of_kind = mark.kwargs.get("kind"), None
        if kind is not None:
            of_kind = kind(**{name: item.callspec.params[name] for name in inspect.signature(kind).parameters})
        number = samples[item.nodeid.partition("[")[0], of_kind].number(item.callspec._idlist)
        if (number - mark.kwargs.get("start", 0)) % SHARE:
            item.add_marker(pytest.mark.soak)


class Sample:
    """The cases of a test, or those of one kind, in a table: one side for each decorator `parametrize`."""

    def __init__(self) -> None:
        self._sides: defaultdict[int, dict[str, int]] = defaultdict(dict)

    def number(self, ids: Sequence[str]) -> int:
        """The sum of its places on all sides: cases with every third number are diagonals through the table."""
        return sum(self._sides[side].setdefault(value, len(self._sides[side])) for side, value in enumerate(ids))
