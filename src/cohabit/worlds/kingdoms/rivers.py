"""Rivers run from springs in the hills downhill to the sea.

A flood from the sea covers a coarse grid of points, always the lowest point next to it first, and each point stores
the point it was reached from. Following that back leads to the sea from everywhere, also out of a hollow. A river is
such a course, drawn tile by tile and dug deeper where it would have to climb.
"""

from collections.abc import Iterator
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from cohabit.worlds.kingdoms.chance import U64, Chance
from cohabit.worlds.kingdoms.land import Land
from cohabit.worlds.kingdoms.tiles import GROUND_ROW

BLOCK = 4
"""Tiles on a side of a block. The coarse grid has one point in each block, at a random cell."""
DRY_TILES_PER_RIVER = 2800
MIN_LENGTH = 6  # in points of the grid
SPRINGS_APART = 8  # in points of the grid
_RIVER = GROUND_ROW["river"]


def carve(chance: Chance, land: Land, shore: int, hills: int) -> None:
    """Dig rivers from land at level ``hills`` and above down to below ``shore``."""
    points = _points(chance, land)
    level = land.level[points]
    across = land.width // BLOCK
    rough = chance.below(24, "river ground", 0, points)  # otherwise rivers cross plains in straight lines
    next_point = _downstream((level * np.int64(4) + rough).tolist(), (level < shore).tolist(), across)
    wanted = int(np.count_nonzero(land.level >= shore)) // DRY_TILES_PER_RIVER
    for spring in _springs(chance, level, next_point, across, hills, wanted):
        _dig(land, [int(points[point]) for point in _course(spring, next_point)], shore)


def _points(chance: Chance, land: Land) -> NDArray[np.int64]:
    """One cell of every block, row by row."""
    across, down = land.width // BLOCK, land.height // BLOCK
    block = np.arange(across * down)
    jitter = (chance.bits("river bends", 0, block) >> U64(60)).astype(np.int64)
    x = block % across * BLOCK + jitter % BLOCK
    y = block // across * BLOCK + jitter // BLOCK
    return land.cells(x, y)


def _downstream(level: list[int], reached: list[bool], across: int) -> list[int]:
    """For every point the next one on the course to the sea; -1 in the sea, which is ``reached`` at first."""
    next_point = [-1] * len(level)
    rising: list[tuple[int, int, int]] = []  # water level, a number that keeps the order, the point
    for point, wet in enumerate(reached):
        if wet and not all(reached[near] for near in _around(point, across, len(level))):
            heappush(rising, (0, point, point))
    order = len(level)
    while rising:
        water, _, point = heappop(rising)
        for near in _around(point, across, len(level)):
            if not reached[near]:
                reached[near] = True
                next_point[near] = point
                order += 1
                heappush(rising, (max(water, level[near]), order, near))
    return next_point


def _around(point: int, across: int, count: int) -> Iterator[int]:
    """The up to eight neighbours of a point. They wrap around at the edge, which is harmless: the edge is sea."""
    for near in (
        point - 1, point + 1, point - across, point + across,
        point - across - 1, point - across + 1, point + across - 1, point + across + 1,
    ):  # fmt: skip
        if 0 <= near < count:
            yield near


def _springs(
    chance: Chance, level: NDArray[np.uint8], next_point: list[int], across: int, hills: int, wanted: int
) -> list[int]:
    """Random points in the hills that are not too close to each other or to the coast."""
    high = np.flatnonzero(level >= hills)
    shuffled = high[np.argsort(chance.bits("springs", 0, high), kind="stable")]
    springs: list[int] = []
    for point in shuffled.tolist():
        if len(springs) == wanted:
            break
        x, y = point % across, point // across
        alone = all(max(abs(x - other % across), abs(y - other // across)) >= SPRINGS_APART for other in springs)
        if alone and len(_course(point, next_point)) > MIN_LENGTH:
            springs.append(point)
    return springs


def _course(point: int, next_point: list[int]) -> list[int]:
    """All points from here to the sea."""
    course = [point]
    while next_point[point] >= 0:
        point = next_point[point]
        course.append(point)
    return course


def _dig(land: Land, corners: list[int], shore: int) -> None:
    """Dig a river along these corners, up to the first cell below sea level."""
    cells = list(_line(land, corners))
    level = land.level[cells]
    length = int(np.argmax(level < shore))
    bed = cells[:length]
    land.ground[bed] = _RIVER
    land.top[bed] = 0
    land.level[bed] = np.minimum.accumulate(level[:length])


def _line(land: Land, corners: list[int]) -> Iterator[int]:
    """The cells from corner to corner. Each shares a side with the next, so a river has no gaps."""
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
