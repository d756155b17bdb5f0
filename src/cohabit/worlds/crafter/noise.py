"""OpenSimplex noise in three dimensions for whole arrays of points, bit for bit as the reference computes it.

The value at a point is a sum over the lattice points near it: four or six that are fixed by the region of the unit
cell (two tetrahedra with an octahedron between them), and two extra ones that depend on which corners are closest.
Sums are taken in the reference's order, because floating-point addition is not associative.
"""

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Vertex = tuple[int, int, int]

_STRETCH, _SQUISH, _NORM = -1.0 / 6, 1.0 / 3, 103
_GRADIENTS = np.array(
    [
        (x * (11 if axis == 0 else 4), y * (11 if axis == 1 else 4), z * (11 if axis == 2 else 4))
        for z in (1, -1)
        for y in (1, -1)
        for x in (-1, 1)
        for axis in range(3)
    ],
    dtype=np.float64,
)
_LCG, _INCREMENT, _WORD = 6364136223846793005, 1442695040888963407, 1 << 64
_FAR = 2.0  # a distance at which the weight is 0

_LOW: tuple[Vertex, ...] = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))
_HIGH: tuple[Vertex, ...] = ((1, 1, 0), (1, 0, 1), (0, 1, 1), (1, 1, 1))
_MIDDLE: tuple[Vertex, ...] = ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (1, 0, 1), (0, 1, 1))


class Field:
    """Fixed points, prepared for noise of any seed, because only the gradients of the lattice points depend on it.

    ``value = sum of weight * (gradient . away)`` over the lattice points near a point, its neighbours. On a CPU one
    neighbour of all points is computed after the other, so that the arrays fit into its cache; on a device all at once,
    so that there are few operations. Arrays are of any library."""

    def __init__(self, x: Floats, y: Floats, z: float) -> None:
        vertices, away = _near(x, y, z)
        dx, dy, dz = away
        weight = np.maximum(2 - dx * dx - dy * dy - dz * dz, 0.0)
        weight *= weight
        weight *= weight
        # Most points have fewer neighbours than there is room for, and some of those are too far away to count.
        order = np.argsort(weight == 0, axis=0, kind="stable")
        most = int((weight != 0).sum(axis=0).max(initial=1))
        weight, dx, dy, dz, *axes = (
            np.ascontiguousarray(np.take_along_axis(table, order, axis=0)[:most])
            for table in (weight, dx, dy, dz, *vertices)
        )
        vertex = (axes[0] & 0xFF) << 16 | (axes[1] & 0xFF) << 8 | axes[2] & 0xFF
        lattice, corner = np.unique(vertex, return_inverse=True)
        self.lattice: Any = lattice >> 16, lattice >> 8 & 0xFF, lattice & 0xFF
        self.blocks = [
            _Block(1, 0, *rows) for rows in zip(corner.reshape(weight.shape), weight, dx, dy, dz, strict=True)
        ]
        self.directions: Any = tuple(np.ascontiguousarray(_GRADIENTS.T))
        self.xp: Any = np

    def moved_to(self, xp: Any, array: Callable[[Any], Any]) -> "Field":
        """The same for another array library; the function makes its arrays."""
        made = copy(self)
        made.xp = xp
        made.lattice, made.directions = (tuple(map(array, tables)) for tables in (self.lattice, self.directions))
        number, points = len(self.blocks), len(self.blocks[0].corner)
        tables = (array(np.concatenate(rows)) for rows in zip(*(block[2:] for block in self.blocks), strict=True))
        made.blocks = [_Block(number, array(np.arange(number)[:, None] * points), *tables)]
        return made

    def gradients(self, permutation: Any) -> tuple[Any, ...]:
        """The three parts of the gradients at the lattice points. ``permutation``: of each seed, seeds x 256."""
        xp = self.xp
        seeds = permutation.shape[0]
        flat = xp.reshape(permutation, (-1,))
        x, y, z = (axis[None, :] for axis in self.lattice)
        start = 256 * xp.cumulative_sum(xp.ones_like(permutation[:, 0]))[:, None] - 256
        value = flat[xp.reshape(start + x, (-1,))]
        for axis in (y, z):
            place = start + ((xp.reshape(value, (seeds, -1)) + axis) & 0xFF)
            value = flat[xp.reshape(place, (-1,))]
        return tuple(xp.reshape(part[value % len(_GRADIENTS)], (seeds, -1)) for part in self.directions)

    def everywhere(self, gradients: tuple[Any, ...]) -> Any:
        """The noise at all points: seeds x points."""
        xp = self.xp
        seeds = gradients[0].shape[0]
        total: Any = None
        for block in self.blocks:
            value: Any = None
            for gradient, away in zip(gradients, block.away, strict=True):
                part = xp.take(gradient, block.corner, axis=1)
                part *= away
                value = _plus(value, part)
            value *= block.weight
            if block.neighbours > 1:
                value = xp.reshape(value, (seeds, block.neighbours, -1))
                for number in range(block.neighbours):
                    total = _plus(total, value[:, number, :])
            else:
                total = _plus(total, value)
        total /= _NORM
        return total

    def at(self, gradients: tuple[Any, ...], seed: Any, point: Any) -> Any:
        """The noise for pairs of a seed and a point."""
        xp = self.xp
        flat = [xp.reshape(gradient, (-1,)) for gradient in gradients]
        start = seed * gradients[0].shape[1]
        total: Any = None
        for block in self.blocks:
            points = point if block.neighbours == 1 else point[None, :] + block.first
            corners = block.corner[points] + start
            value: Any = None
            for gradient, away in zip(flat, block.away, strict=True):
                part = gradient[corners]
                part *= away[points]
                value = _plus(value, part)
            value *= block.weight[points]
            if block.neighbours > 1:
                for number in range(block.neighbours):
                    total = _plus(total, value[number, :])
            else:
                total = _plus(total, value)
        total /= _NORM
        return total


class _Block(NamedTuple):
    """Some neighbours of all points; the arrays have the points of the first one, then those of the second, …"""

    neighbours: int
    first: Any  # where the points of each neighbour start, as a column
    corner: Any  # the neighbour, as a number of a lattice point
    weight: Any
    away_x: Any
    away_y: Any
    away_z: Any

    @property
    def away(self) -> tuple[Any, ...]:
        return self[-3:]


def _plus(total: Any, part: Any) -> Any:
    """The sum, in the memory of the first array."""
    if total is None:
        return part
    total += part
    return total


def _near(x: Floats, y: Floats, z: float) -> tuple[Ints, Floats]:
    """The lattice points near each point, and the way from them: axis x neighbour x point. Far ones fill the gaps."""
    stretch = (x + y + z) * _STRETCH
    stretched = x + stretch, y + stretch, z + stretch
    cell = tuple(np.floor(axis) for axis in stretched)
    inside = tuple(a - b for a, b in zip(stretched, cell, strict=True))
    squish = (cell[0] + cell[1] + cell[2]) * _SQUISH
    offset = x - (cell[0] + squish), y - (cell[1] + squish), z - (cell[2] + squish)
    total = inside[0] + inside[1] + inside[2]
    most = len(_MIDDLE) + len(_EXTRA_VERTICES)
    vertices = np.zeros((3, most, len(x)), np.int64)
    away = np.full((3, most, len(x)), _FAR)
    for where, corners, extras in (
        (total <= 1, _LOW, _low_extras),
        ((total > 1) & (total < 2), _MIDDLE, _middle_extras),
        ((total > 1) & (total >= 2), _HIGH, _high_extras),
    ):
        chosen = np.flatnonzero(where)
        here = tuple(axis[chosen] for axis in inside)
        extra = extras(here, total[chosen])
        for a in range(3):
            base, way = cell[a][chosen].astype(np.int64), offset[a][chosen]
            for number, corner in enumerate(corners):
                vertices[a, number, chosen] = base + corner[a]
                away[a, number, chosen] = way - corner[a] - sum(corner) * _SQUISH
            for number, (first, rest) in enumerate(_EXTRA_VERTICES, len(corners)):
                steps = first + rest
                distance = (steps.sum(0) * _SQUISH)[extra]
                vertices[a, number, chosen] = base + steps[a][extra]
                away[a, number, chosen] = way - first[a][extra] - distance - rest[a][extra]
    return vertices, away


def permutations(seeds: Sequence[int]) -> Ints:
    """A permutation of 0 to 255 for each seed."""
    state = np.array([seed % _WORD for seed in seeds], np.uint64)[:, None] * _POWERS + _SUMS
    choices = (state.view(np.int64) % _SIZES + 31) % _SIZES  # of signed numbers
    return np.array([_shuffled(row) for row in choices.tolist()])


def _shuffled(choices: list[int]) -> list[int]:
    source = list(range(256))
    made = []
    for last, choice in zip(range(255, -1, -1), choices, strict=True):
        made.append(source[choice])
        source[choice] = source[last]
    return made[::-1]


def _powers() -> Iterator[tuple[int, int]]:
    """The state of a linear congruential generator after n steps is the first state * power + sum."""
    power, total = 1, 0
    while True:
        yield power, total
        power, total = power * _LCG % _WORD, (total * _LCG + _INCREMENT) % _WORD


_POWERS, _SUMS = np.array(list(islice(_powers(), 4, 260)), np.uint64).T
_SIZES = np.arange(256, 0, -1)


# -- the two extra vertices ----------------------------------------------------------------------------
# Corners of a cell are sets of axes: 1 = x, 2 = y, 4 = z. A row of the table holds, for both vertices, the steps from
# the cell's origin in two parts (first, rest): the reference subtracts some steps late, which shows in the last bit.
_rows: list[list[tuple[Vertex, Vertex]]] = []
_NONE = (0, 0, 0)


def _row(one: Vertex, two: Vertex, one_rest: Vertex = _NONE, two_rest: Vertex = _NONE) -> int:
    _rows.append([(one, one_rest), (two, two_rest)])
    return len(_rows) - 1


def _steps(corner: int, set_axis: int, other: int) -> Vertex:
    x, y, z = (set_axis if corner & bit else other for bit in (1, 2, 4))
    return x, y, z


def _table(rows: dict[int, int]) -> Ints:
    table = np.zeros(8, np.int64)
    for corner, row in rows.items():
        table[corner] = row
    return table


_LOW_NEAR = _table({
    1: _row((1, -1, 0), (1, 0, -1)), 2: _row((-1, 1, 0), (0, 1, -1)), 4: _row((-1, 0, 1), (0, -1, 1)),
})  # fmt: skip
_LOW_FAR = _table({corner: _row(_steps(corner, 1, 0), _steps(corner, 1, -1)) for corner in (3, 5, 6)})
_HIGH_NEAR = _table({
    3: _row((2, 1, 0), (1, 1, 0), two_rest=(0, 1, 0)),
    5: _row((2, 0, 1), (1, 0, 2)),
    6: _row((0, 1, 1), (0, 1, 2), one_rest=(0, 1, 0)),
})  # fmt: skip
_HIGH_FAR = _table({corner: _row(_steps(corner, 1, 0), _steps(corner, 2, 0)) for corner in (1, 2, 4)})
_BOTH_FAR = _table({corner: _row((1, 1, 1), _steps(corner, 2, 0)) for corner in (1, 2, 4)})
_BOTH_NEAR = _table({corner: _row((0, 0, 0), _steps(corner, 1, -1)) for corner in (3, 5, 6)})
_MIXED = np.zeros((8, 8), np.int64)
for _far in (3, 5, 6):
    for _close in (1, 2, 4):
        _MIXED[_far, _close] = _row(_steps(_far, 1, -1), (0, 0, 0), two_rest=_steps(_close, 2, 0))
_EXTRA_VERTICES = np.ascontiguousarray(np.array(_rows).transpose(1, 2, 3, 0))  # vertex, (first, rest), axis, row


def _low_extras(inside: tuple[Floats, ...], total: Floats) -> Ints:
    """The tetrahedron at (0, 0, 0)."""
    x, y, z = inside
    z_for_b = (x >= y) & (z > y)
    z_for_a = (x < y) & (z > x)
    a, a_score = np.where(z_for_a, 4, 1), np.where(z_for_a, z, x)
    b, b_score = np.where(z_for_b, 4, 2), np.where(z_for_b, z, y)
    origin = 1 - total
    near = (origin > a_score) | (origin > b_score)
    return np.where(near, _LOW_NEAR[np.where(b_score > a_score, b, a)], _LOW_FAR[a | b])


def _high_extras(inside: tuple[Floats, ...], total: Floats) -> Ints:
    """The tetrahedron at (1, 1, 1)."""
    x, y, z = inside
    z_for_b = (x <= y) & (z < y)
    z_for_a = (x > y) & (z < x)
    a, a_score = np.where(z_for_a, 3, 6), np.where(z_for_a, z, x)
    b, b_score = np.where(z_for_b, 3, 5), np.where(z_for_b, z, y)
    corner = 3 - total
    near = (corner < a_score) | (corner < b_score)
    return np.where(near, _HIGH_NEAR[np.where(b_score < a_score, b, a)], _HIGH_FAR[a & b])


def _middle_extras(inside: tuple[Floats, ...], total: Floats) -> Ints:
    """The octahedron between the two tetrahedra."""
    x, y, z = inside
    a_far, b_far, c_far = x + y > 1, x + z > 1, y + z > 1
    a, a_score = np.where(a_far, 3, 4), np.where(a_far, x + y - 1, 1 - (x + y))
    b, b_score = np.where(b_far, 5, 2), np.where(b_far, x + z - 1, 1 - (x + z))
    c, c_score = np.where(c_far, 6, 1), np.where(c_far, y + z - 1, 1 - (y + z))
    for_a = (a_score <= b_score) & (a_score < c_score)
    for_b = (a_score > b_score) & (b_score < c_score)
    a, a_far = np.where(for_a, c, a), np.where(for_a, c_far, a_far)
    b, b_far = np.where(for_b, c, b), np.where(for_b, c_far, b_far)
    mixed = _MIXED[np.where(a_far, a, b), np.where(a_far, b, a)]
    same = np.where(a_far, _BOTH_FAR[a & b], _BOTH_NEAR[a | b])
    return np.where(a_far == b_far, same, mixed)
