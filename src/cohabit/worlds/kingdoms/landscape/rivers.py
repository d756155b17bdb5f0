"""Rivers: from springs in the hills, always downhill, to the sea.

The sea is let rise over a coarse grid of points, always over the lowest point next to it, and each point remembers from
where it was reached: following that back leads to the sea from anywhere, out of every hollow. A river is such a way,
drawn tile by tile and cut in where it would have to climb.
"""

from collections.abc import Iterator
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from cohabit.worlds.kingdoms.chance import U64, Chance
from cohabit.worlds.kingdoms.land import Land
from cohabit.worlds.kingdoms.tiles import GROUND_ROW

BLOCK = 4
"""Tiles from one point of the coarse grid to the next, about: points stand anywhere in their block."""
DRY_TILES_PER_RIVER = 2800
SHORTEST = 6  # in points; a shorter brook is not worth its place
APART = 8  # springs stand at least this many points from each other
_RIVER = GROUND_ROW["river"]


def carve(chance: Chance, land: Land, shore: int, hills: int) -> None:
    """Let rivers run from land at level ``hills`` and above to where it is below ``shore``."""
    points = _points(chance, land)
    level = land.level[points]
    across = land.width // BLOCK
    rough = chance.below(24, "river ground", 0, points)  # or rivers would cross plains in straight lines
    down_to = _ways_to_sea((level * np.int64(4) + rough).tolist(), (level < shore).tolist(), across)
    wanted = int(np.count_nonzero(land.level >= shore)) // DRY_TILES_PER_RIVER
    for spring in _springs(chance, level, down_to, across, hills, wanted):
        _dig(land, [int(points[point]) for point in _way(spring, down_to)], shore)


def _points(chance: Chance, land: Land) -> NDArray[np.int64]:
    """One cell of every block, row by row."""
    across, down = land.width // BLOCK, land.height // BLOCK
    block = np.arange(across * down)
    jitter = (chance.bits("river bends", 0, block) >> U64(60)).astype(np.int64)
    x = block % across * BLOCK + jitter % BLOCK
    y = block // across * BLOCK + jitter // BLOCK
    return land.cells(x, y)


def _ways_to_sea(level: list[int], reached: list[bool], across: int) -> list[int]:
    """For every point the next one on its way to the sea; -1 in the sea, which is what is ``reached`` at first."""
    down_to = [-1] * len(level)
    rising: list[tuple[int, int, int]] = []  # how high the water stands there, a number that keeps the order, the point
    for point, wet in enumerate(reached):
        if wet and not all(reached[near] for near in _around(point, across, len(level))):
            heappush(rising, (0, point, point))
    order = len(level)
    while rising:
        water, _, point = heappop(rising)
        for near in _around(point, across, len(level)):
            if not reached[near]:
                reached[near] = True
                down_to[near] = point
                order += 1
                heappush(rising, (max(water, level[near]), order, near))
    return down_to


def _around(point: int, across: int, count: int) -> Iterator[int]:
    """The up to eight neighbours of a point. The rim of the map is sea, so going round its edge harms nobody."""
    for near in (
        point - 1, point + 1, point - across, point + across,
        point - across - 1, point - across + 1, point + across - 1, point + across + 1,
    ):  # fmt: skip
        if 0 <= near < count:
            yield near


def _springs(
    chance: Chance, level: NDArray[np.uint8], down_to: list[int], across: int, hills: int, wanted: int
) -> list[int]:
    """Points in the hills, in an order of chance, that are apart from each other and not at the very coast."""
    high = np.flatnonzero(level >= hills)
    shuffled = high[np.argsort(chance.bits("springs", 0, high), kind="stable")]
    springs: list[int] = []
    for point in shuffled.tolist():
        if len(springs) == wanted:
            break
        x, y = point % across, point // across
        alone = all(max(abs(x - other % across), abs(y - other // across)) >= APART for other in springs)
        if alone and len(_way(point, down_to)) > SHORTEST:
            springs.append(point)
    return springs


def _way(point: int, down_to: list[int]) -> list[int]:
    """All the points from here to the sea."""
    way = [point]
    while down_to[point] >= 0:
        point = down_to[point]
        way.append(point)
    return way


def _dig(land: Land, corners: list[int], shore: int) -> None:
    """Make a river along these cells, up to the first one under the sea."""
    cells = list(_line(land, corners))
    level = land.level[cells]
    length = int(np.argmax(level < shore))
    bed = cells[:length]
    land.ground[bed] = _RIVER
    land.top[bed] = 0
    land.level[bed] = np.minimum.accumulate(level[:length])


def _line(land: Land, corners: list[int]) -> Iterator[int]:
    """The cells from corner to corner; each shares a side with the next, so that a river has no gaps."""
    x, y = land.xy(corners[0])
    yield corners[0]
    for corner in corners[1:]:
        to_x, to_y = land.xy(corner)
        while (x, y) != (to_x, to_y):
            if abs(to_x - x) >= abs(to_y - y):
                x += 1 if to_x > x else -1
            else:
                y += 1 if to_y > y else -1
            yield land.cell(x, y)
