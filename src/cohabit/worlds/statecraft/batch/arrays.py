"""The arrays of a batch: what all games share, their state, the orders of a turn, and its ledgers.

Shapes have the games first, but memory has them last, so that an operation runs over one long column of games instead
of many short rows of nations. ``by_nation`` and ``by_pair`` create arrays with this layout, and operations keep it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from cohabit.worlds.array_library import namespace_of

Array = Any
"""An int64 (or bool) array of any library that follows the Array API standard."""
NONE = -1
"""The index for no nation or no territory."""


class Board(Struct, frozen=True):
    """The constants that all games of a batch share."""

    nations: tuple[str, ...]  # in name order
    territories: tuple[str, ...]  # in name order
    neighbours: Array  # territories x most neighbours, padded with the territory itself
    has_map: bool = True  # False: every nation counts as adjacent to every territory

    @property
    def xp(self) -> Any:
        """The array namespace."""
        return namespace_of(self.neighbours)

    @property
    def size(self) -> int:
        return len(self.nations)


class BatchState(Struct, frozen=True):
    """The state that lasts from turn to turn, for every game."""

    board: Board
    turn: int
    mils: Array  # games x nations
    welfare: Array  # games x nations
    owner: Array  # games x territories: a nation or NONE
    capitals: Array  # games x nations: a territory or NONE

    @property
    def xp(self) -> Any:
        """The array namespace."""
        return namespace_of(self.mils)

    @property
    def games(self) -> int:
        return int(self.mils.shape[0])


class BatchOrders(Struct, frozen=True):
    """The orders of all nations. Amounts are not negative, no nation targets itself, and no cession is repeated."""

    purchase: Array  # games x nations
    attacks: Array  # games x nations x targets
    grants: Array  # games x nations x receivers
    disband: Array  # games x nations
    ceded: Array  # games x nations x slots: a territory or NONE; slots are processed in order
    ceded_to: Array  # games x nations x slots: a nation
    keeps_word: Array | None = None  # games x nations x rated: 1 to 10, 0 for no rating; not used by the engine
    aggressor: Array | None = None


class BatchLedgers(Struct, frozen=True):
    """The ledgers of one turn, named as in the plain engine without ``d_``."""

    orders: BatchOrders
    gross_income: Array
    attacks_clamped: Array  # attacker x target
    attacking_mils: Array
    defense_mils: Array
    total_damage_received: Array
    available_money: Array
    upkeep_cost: Array
    mils_disbanded_upkeep: Array
    money_after_upkeep: Array
    mil_purchased: Array
    money_after_purchases: Array
    mils_lost_by_attacker: Array
    grants_paid: Array  # giver x receiver
    trade_bonus: Array
    total_welfare_this_turn: Array
    mils_disbanded_voluntary: Array
    cessions_done: Array  # games x nations x slots: true if the cession was carried out


def by_nation(xp: Any, columns: Sequence[Array]) -> Array:
    """games x nations (or slots, or territories) from one column of games each."""
    return xp.permute_dims(xp.stack(list(columns), axis=0), (1, 0))


def by_pair(xp: Any, tables: Sequence[Array]) -> Array:
    """games x nations x others from one table of games x others per nation."""
    columns = [column for table in tables for column in xp.unstack(table, axis=1)]
    games, others = tables[0].shape
    stacked = xp.reshape(xp.stack(columns, axis=0), (len(tables), others, games))
    return xp.permute_dims(stacked, (2, 0, 1))


def games_last(xp: Any, array: Array) -> Array:
    """The same values and shape, with the games last in memory."""
    parts = xp.unstack(array, axis=1)
    return by_nation(xp, parts) if array.ndim == 2 else by_pair(xp, parts)
