"""Dividing whole numbers in proportion, exactly: largest remainder, ties to the smaller name."""

from typing import Any

from cohabit.worlds.statecraft.batch.arrays import Array

PAIRWISE_UP_TO = 24
"""With more parts than this, sorting them beats comparing each with each."""


def divided(xp: Any, parts: Array, whole: Array, axis: int) -> Array:
    """``whole`` divided along ``axis`` in proportion to ``parts``; nothing where all parts are 0.

    Whole units first; what is left goes, one each, to the largest remainders. There are always fewer units left
    than parts with a remainder, so a part that divides exactly never gets one.
    """
    total = xp.sum(parts, axis=axis, keepdims=True)
    whole = xp.where(total > 0, xp.expand_dims(whole, axis=axis), 0)
    scaled = parts * whole
    total = xp.maximum(total, 1)
    units = scaled // total
    spare = whole - xp.sum(units, axis=axis, keepdims=True)
    return units + xp.astype(_is_among_largest(xp, scaled - units * total, spare, axis), xp.int64)


def _is_among_largest(xp: Any, remainders: Array, count: Array, axis: int) -> Array:
    """True for the ``count`` largest; of equal ones, those that come first."""
    n = remainders.shape[axis]
    shape = [1] * remainders.ndim
    shape[axis] = n
    last_first = xp.reshape(xp.arange(n - 1, -1, -1, dtype=xp.int64), tuple(shape))
    keys = remainders * n + last_first  # all different, so that there are no ties left
    if n > PAIRWISE_UP_TO:
        # Ascending: NumPy's own sort does not know the standard's `descending`.
        least = xp.take_along_axis(xp.sort(keys, axis=axis), xp.minimum(n - count, n - 1), axis=axis)
        return (keys >= least) & (count > 0)
    first, *others = (xp.astype(xp.expand_dims(key, axis=axis) > keys, xp.int8) for key in xp.unstack(keys, axis=axis))
    return sum(others, start=first) < count
