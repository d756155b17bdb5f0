"""Thousands of games at once: the rules of a turn as array arithmetic, with the same results as the plain engine.

Shapes are games x nations, and games x nations x nations for what one nation does to another. Nations and territories
are in name order, so an index stands for a name and ties go to the smaller one. All numbers are int64. The code follows
the Array API standard, and the library is that of the arrays: NumPy, or another one through ``array-api-compat``.
"""

from cohabit.worlds.statecraft.batch.arrays import BatchLedgers, BatchOrders, BatchState, Board
from cohabit.worlds.statecraft.batch.engine import step
from cohabit.worlds.statecraft.batch.games import BatchResult, play
from cohabit.worlds.statecraft.batch.policies import POLICIES

__all__ = ["POLICIES", "BatchLedgers", "BatchOrders", "BatchResult", "BatchState", "Board", "play", "step"]
