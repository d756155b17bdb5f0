"""The arrays that a batch is made of: what all games share, what lasts, what is ordered, and what came of it.

Shapes put games first, memory puts them last: so each operation runs down one long column of games instead of many
short rows of nations. ``by_nation`` and ``by_pair`` build arrays that way, and what is computed from them stays so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

Array = Any
"""An int64 (or bool) array of any library that keeps to the Array API standard."""
NOBODY = -1
"""In the place of a nation or a territory: there is none."""


class Board(Struct, frozen=True):
    """What all games of a batch share."""

    xp: Any  # the array namespace
    nations: tuple[str, ...]  # in name order
    territories: tuple[str, ...]  # in name order
    neighbours: Array | None  # territories x most neighbours, padded with the territory itself; None: no map

    @property
    def size(self) -> int:
        return len(self.nations)


class BatchStanding(Struct, frozen=True):
    """What lasts from turn to turn, of every game."""

    board: Board
    turn: int
    mils: Array  # games x nations
    welfare: Array  # games x nations
    owner: Array  # games x territories: a nation, or NOBODY
    capitals: Array  # games x nations: a territory, or NOBODY

    @property
    def games(self) -> int:
        return int(self.mils.shape[0])


class BatchOrders(Struct, frozen=True):
    """What the nations want. Never negative, nothing aimed at oneself, no territory ceded twice to the same nation."""

    purchase: Array  # games x nations
    attacks: Array  # games x nations x targets
    grants: Array  # games x nations x receivers
    disband: Array  # games x nations
    ceded: Array  # games x nations x slots: a territory, or NOBODY; slots are taken in order
    ceded_to: Array  # games x nations x slots: a nation
    keeps_word: Array | None = None  # games x nations x rated: 1 to 10, 0 for no rating; kept, never read
    aggressor: Array | None = None


class BatchTurn(Struct, frozen=True):
    """The ledgers of one turn, under the names of the plain engine less their ``d_``."""

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
    cessions_done: Array  # games x nations x slots: true where the order was carried out


def by_nation(xp: Any, columns: Sequence[Array]) -> Array:
    """games x nations (or slots, or territories) from one column of games each."""
    return xp.permute_dims(xp.stack(list(columns), axis=0), (1, 0))


def by_pair(xp: Any, tables: Sequence[Array]) -> Array:
    """games x nations x others from one table games x others per nation."""
    columns = [column for table in tables for column in xp.unstack(table, axis=1)]
    games, others = tables[0].shape
    together = xp.reshape(xp.stack(columns, axis=0), (len(tables), others, games))
    return xp.permute_dims(together, (2, 0, 1))


def games_last(xp: Any, array: Array) -> Array:
    """The same values and the same shape, with the games of one place side by side in memory."""
    parts = xp.unstack(array, axis=1)
    return by_nation(xp, parts) if array.ndim == 2 else by_pair(xp, parts)


def nothing_ordered(board: Board, games: int, slots: int = 0) -> BatchOrders:
    """Orders of nations that do nothing at all."""
    xp, n = board.xp, board.size
    none = by_nation(xp, [xp.zeros(games, dtype=xp.int64)] * n)
    pairs = by_pair(xp, [none] * n)
    cessions = xp.full((games, n, slots), NOBODY, dtype=xp.int64)
    return BatchOrders(none, pairs, pairs, none, cessions, cessions)
