"""Thousands of games at once: the rules of a turn as whole-array arithmetic, with the results of the plain engine.

Shapes are games x nations, and games x nations x nations where one nation does something to another. Nations and
territories stand in name order, so an index says the same as a name and ties go to the smaller one. Everything is
int64 and written against the Array API standard: hand in NumPy arrays, or those of another library that keeps to it.
"""

from cohabit.worlds.statecraft.batch.arrays import BatchOrders, BatchStanding, BatchTurn, Board
from cohabit.worlds.statecraft.batch.engine import step
from cohabit.worlds.statecraft.batch.playing import Played, play
from cohabit.worlds.statecraft.batch.policies import POLICIES

__all__ = ["POLICIES", "BatchOrders", "BatchStanding", "BatchTurn", "Board", "Played", "play", "step"]
