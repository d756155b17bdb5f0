"""Laying marks on creatures, and taking them off."""

import numpy as np

from cohabit.worlds.kingdoms.near import Rows
from cohabit.worlds.kingdoms.powers import reach
from cohabit.worlds.kingdoms.powers.power import Cast, Run
from cohabit.worlds.kingdoms.sim import Sim


def lay(sim: Sim, cast: Cast, mark: int, purpose: str, one_in: int = 1) -> bool:
    """Mark the creatures under the brush, or one in so many of them; did anybody get it who had not?"""
    rows = reach.lucky_rows(sim, cast, purpose, reach.creatures(sim, cast), 1, one_in)
    return lay_on(sim, rows, mark)


def lay_on(sim: Sim, rows: Rows, mark: int) -> bool:
    """Mark these creatures."""
    fresh = rows[sim.creatures.marks[rows] & mark == 0]
    sim.creatures.marks[fresh] |= np.int32(mark)
    return bool(fresh.size)


def lift(sim: Sim, cast: Cast, marks: int) -> bool:
    """Take these marks from the creatures under the brush; did anybody bear one?"""
    return lift_from(sim, reach.creatures(sim, cast), marks)


def lift_from(sim: Sim, rows: Rows, marks: int) -> bool:
    """Take these marks from these creatures."""
    bearers = rows[sim.creatures.marks[rows] & marks != 0]
    sim.creatures.marks[bearers] &= np.int32(~marks)
    return bool(bearers.size)


def marking(purpose: str, mark: int, one_in: int = 1) -> Run:
    """A power that marks creatures under the brush, one in so many of them."""
    return lambda sim, cast: lay(sim, cast, mark, purpose, one_in)
