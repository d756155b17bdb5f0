"""The start of all games of a batch, calculated with arrays: capitals far apart, then territories taken in turn.

The rules are those of ``setup.assign_territories``, except that an enclosed nation takes nothing from its neighbours.
Instead each game is dealt several times, and the deal with the most equal numbers of territories is used.
"""

from collections.abc import Mapping, Sequence
from hashlib import shake_256
from typing import Any

import numpy as np

from cohabit.worlds.statecraft.batch.arrays import NONE, Array
from cohabit.worlds.statecraft.maps import distances

DEALS = 4
"""The number of times that each game is dealt."""
GAMES_PER_PART = 4096
"""On a processor, arrays that fit into its cache are several times as fast."""


def random_numbers(seed: int, purpose: str, games: int, each: int) -> Any:
    """games x each, from 0 to 2**31 - 1. The numbers of a game do not depend on how many games there are."""
    name = f"{seed:x}\0statecraft batch/{purpose}".encode()
    words = np.frombuffer(shake_256(name).digest(4 * games * each), dtype="<u4")
    return np.reshape((words >> 1).astype(np.int32), (games, each))


def deal(xp: Any, graph: Mapping[str, Sequence[str]], nations: int, games: int, seed: int) -> tuple[Array, Array]:
    """games x territories: the owners, and games x nations: the capitals. Unreachable territories stay unowned."""
    land = _Land(xp, graph)
    drawn = [random_numbers(seed, f"deal {number}", games, land.size + nations) for number in range(DEALS)]
    step = GAMES_PER_PART if xp is np else games
    parts = [_deal_part(land, nations, [d[i : i + step] for d in drawn]) for i in range(0, games, step)]
    owner, capitals = (xp.concat(tables, axis=1) for tables in zip(*parts, strict=True))
    return xp.permute_dims(xp.astype(owner, xp.int64), (1, 0)), xp.permute_dims(xp.astype(capitals, xp.int64), (1, 0))


# In the arrays below the games come last, so that an operation runs over one long row of games.
class _Land:
    """The map: which territories are neighbours, the distance between two, and a number for each."""

    def __init__(self, xp: Any, graph: Mapping[str, Sequence[str]]) -> None:
        names = sorted(graph)
        plain = {name: list(graph[name]) for name in names}
        rows = [distances(plain, name) for name in names]
        self.xp = xp
        self.size = len(names)
        touching = [[int(other in plain[name]) for other in names] for name in names]
        self.neighbours = xp.asarray(touching, dtype=xp.int8)
        self.distance = xp.asarray([[row.get(name, self.size) for name in names] for row in rows], dtype=xp.int32)
        self.index = xp.arange(self.size, dtype=xp.int32)[:, None]
        self.index16 = xp.astype(self.index, xp.int16)
        self.draws = min(2**16, (2**31 - 2) // (self.size * (self.size + 1)) - 1)  # every key fits into 32 bits
        self.rank_span = self.draws * self.size

    def ranks(self, drawn: Any) -> Array:
        """A random number for each territory and game, all different within a game."""
        numbers = self.xp.asarray(np.ascontiguousarray(drawn.T % self.draws))
        return numbers * self.size + self.index

    def best(self, value: Array, ranks: Array, possible: Array) -> Array:
        """territories x games: true for the possible territory with the largest value; ties go by rank."""
        xp = self.xp
        key = (value * self.rank_span + ranks + 1) * xp.astype(possible, xp.int32)
        largest = xp.max(key, axis=0)
        return (key == largest) & (largest > 0)

    def around(self, chosen: Array) -> Array:
        """territories x games: 1 for the neighbours of the chosen territory, if there is one."""
        xp = self.xp
        found = xp.astype(xp.any(chosen, axis=0), xp.int8)
        return xp.take(self.neighbours, self.number(chosen), axis=1) * found

    def number(self, chosen: Array) -> Array:
        """For each game the index of the chosen territory."""
        xp = self.xp
        return xp.sum(xp.astype(chosen, xp.int16) * self.index16, axis=0, dtype=xp.int16)


def _deal_part(land: _Land, nations: int, drawn: Sequence[Any]) -> tuple[Array, Array]:
    """The fairest of several deals for each game."""
    xp = land.xp
    best: tuple[Array, ...] = ()
    for numbers in drawn:
        ranks = land.ranks(numbers[:, : land.size])
        order = xp.argsort(xp.asarray(np.ascontiguousarray(numbers[:, land.size :].T)), axis=0)
        capitals = _choose_capitals(land, ranks, nations)
        taken_by = _take_in_turn(land, ranks, capitals)
        place = xp.astype(xp.maximum(taken_by, 0), xp.int64)
        owner = xp.where(taken_by < 0, NONE, xp.take_along_axis(order, place, axis=0))
        chosen = xp.astype(xp.stack([land.number(capital) for capital in capitals], axis=0), xp.int64)
        dealt = (_spread(xp, taken_by, nations), owner, xp.take_along_axis(chosen, xp.argsort(order, axis=0), axis=0))
        best = tuple(xp.where(dealt[0] < best[0], b, a) for a, b in zip(best, dealt, strict=True)) if best else dealt
    return best[1], best[2]


def _choose_capitals(land: _Land, ranks: Array, count: int) -> list[Array]:
    """One territory for each place in the order. Each is as far as possible from the nearest one before it."""
    xp = land.xp
    nearest = xp.full(ranks.shape, land.size, dtype=xp.int32)
    chosen: list[Array] = []
    for _ in range(count):
        chosen.append(land.best(nearest, ranks, nearest > 0))
        nearest = xp.minimum(nearest, xp.take(land.distance, land.number(chosen[-1]), axis=1))
    return chosen


def _take_in_turn(land: _Land, ranks: Array, capitals: Sequence[Array]) -> Array:
    """territories x games: which place in the order took it. Each takes a neighbour with the most free neighbours."""
    xp = land.xp
    taken_by = xp.full(ranks.shape, NONE, dtype=xp.int16)
    free_neighbours = xp.full(ranks.shape, 0, dtype=xp.int32) + xp.sum(land.neighbours, axis=1, dtype=xp.int32)[:, None]
    borders = []
    for place, capital in enumerate(capitals):
        around = land.around(capital)
        taken_by = taken_by + xp.astype(capital, xp.int16) * (place - NONE)
        free_neighbours = free_neighbours - around
        borders.append(around > 0)
    growing = True
    while growing:
        growing = False
        for place in range(len(capitals)):
            chosen = land.best(free_neighbours, ranks, borders[place] & (taken_by < 0))
            around = land.around(chosen)
            taken_by = taken_by + xp.astype(chosen, xp.int16) * (place - NONE)
            free_neighbours = free_neighbours - around
            borders[place] = borders[place] | (around > 0)
            growing = growing or bool(xp.any(chosen))
    return taken_by


def _spread(xp: Any, taken_by: Array, nations: int) -> Array:
    """For each game: how many territories the largest nation has more than the smallest."""
    counts = xp.stack([xp.sum(xp.astype(taken_by == place, xp.int32), axis=0) for place in range(nations)], axis=0)
    return xp.max(counts, axis=0) - xp.min(counts, axis=0)
