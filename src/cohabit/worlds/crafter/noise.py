"""OpenSimplex noise in three dimensions for whole arrays of points, bit for bit as the reference computes it.

The value at a point is a sum over the lattice points near it: four or six that are fixed by the region of the unit
cell (two tetrahedra with an octahedron between them), and two extra ones that depend on which corners are closest.
Sums are taken in the reference's order, because floating-point addition is not associative.
"""

from typing import NamedTuple

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

_LOW: tuple[Vertex, ...] = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))
_HIGH: tuple[Vertex, ...] = ((1, 1, 0), (1, 0, 1), (0, 1, 1), (1, 1, 1))
_MIDDLE: tuple[Vertex, ...] = ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (1, 0, 1), (0, 1, 1))


class Noise:
    """A noise function, given by its seed."""

    def __init__(self, seed: int) -> None:
        self.permutation, self.gradients = _permutation(seed)

    def __call__(self, x: Floats, y: Floats, z: float) -> Floats:
        """The noise at each point (x, y, z)."""
        stretch = (x + y + z) * _STRETCH
        stretched = x + stretch, y + stretch, z + stretch
        cell = tuple(np.floor(axis) for axis in stretched)
        inside = tuple(a - b for a, b in zip(stretched, cell, strict=True))
        squish = (cell[0] + cell[1] + cell[2]) * _SQUISH
        offset = x - (cell[0] + squish), y - (cell[1] + squish), z - (cell[2] + squish)
        total = inside[0] + inside[1] + inside[2]
        value = np.zeros(x.shape)
        for where, corners, extras in (
            (total <= 1, _LOW, _low_extras),
            ((total > 1) & (total < 2), _MIDDLE, _middle_extras),
            ((total > 1) & (total >= 2), _HIGH, _high_extras),
        ):
            chosen = np.flatnonzero(where)
            if len(chosen):
                near = _Near(
                    tuple(axis[chosen].astype(np.int64) for axis in cell), tuple(axis[chosen] for axis in offset)
                )
                here = tuple(axis[chosen] for axis in inside)
                value[chosen] = self._sum(near, corners, extras(here, total[chosen]))
        normed: Floats = value / _NORM
        return normed

    def _sum(self, near: "_Near", corners: tuple[Vertex, ...], extras: Ints) -> Floats:
        value = np.zeros(near.offset[0].shape)
        for i, j, k in corners:
            distance = (i + j + k) * _SQUISH
            away = tuple(offset - step - distance for offset, step in zip(near.offset, (i, j, k), strict=True))
            value += self._contribution(tuple(c + s for c, s in zip(near.cell, (i, j, k), strict=True)), away)
        for first, rest in _EXTRA_VERTICES:
            steps = (first + rest)[:, extras]
            distance = ((first + rest).sum(0) * _SQUISH)[extras]
            early, late = first[:, extras], rest[:, extras]
            away = tuple(offset - early[a] - distance - late[a] for a, offset in enumerate(near.offset))
            value += self._contribution(tuple(c + steps[a] for a, c in enumerate(near.cell)), away)
        return value

    def _contribution(self, vertex: tuple[Ints, ...], away: tuple[Floats, ...]) -> Floats:
        dx, dy, dz = away
        weight = np.maximum(2 - dx * dx - dy * dy - dz * dz, 0.0)
        weight *= weight
        permutation = self.permutation
        xy = permutation.take((permutation.take(vertex[0] & 0xFF) + vertex[1]) & 0xFF)
        xyz = (xy + vertex[2]) & 0xFF
        gx, gy, gz = (axis.take(xyz) for axis in self.gradients)
        value: Floats = weight * weight * (gx * dx + gy * dy + gz * dz)
        return value


class _Near(NamedTuple):
    """Points by the lattice cell they are in and their offset from its origin, one array per axis."""

    cell: tuple[Ints, ...]
    offset: tuple[Floats, ...]


def _permutation(seed: int) -> tuple[Ints, Floats]:
    """A permutation of 0 to 255, and the gradient of each entry as three arrays."""
    source = list(range(256))
    permutation = np.zeros(256, np.int64)
    for _ in range(3):
        seed = _next(seed)
    for i in range(255, -1, -1):
        seed = _next(seed)
        r = (seed + 31) % (i + 1)
        permutation[i] = source[r]
        source[r] = source[i]
    return permutation, np.ascontiguousarray(_GRADIENTS[permutation % 24].T)


def _next(seed: int) -> int:
    """The next number of a linear congruential generator, as a signed word of 64 bits."""
    seed = (seed * _LCG + _INCREMENT) % _WORD
    return seed - _WORD if seed >= _WORD >> 1 else seed


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
