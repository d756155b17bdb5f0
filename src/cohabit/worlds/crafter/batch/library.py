"""The array library of a batch, with the few operations that the Array API standard lacks or that differ in speed."""

from typing import Any

import numpy as np

from cohabit.worlds.array_library import compatible

Array = Any
"""An array of any library that follows the Array API standard."""


class Library:
    """An array namespace and the device its arrays are on."""

    def __init__(self, xp: Any = np, device: Any = None) -> None:
        self.xp = compatible(xp)
        self.device = device
        name = self.xp.__name__
        self._can_put = "array_api_strict" not in name  # the standard has no assignment to an array of indices
        # Draws are computed in 32 bits. PyTorch has no arithmetic on them; there, 64 bits are used and cut off.
        self.has_words = "torch" not in name
        self.word = self.xp.uint32 if self.has_words else self.xp.int64
        self._has_bincount = hasattr(self.xp, "bincount")

    def array(self, values: Any, dtype: Any = None) -> Array:
        """An array on the device, from NumPy's or from numbers."""
        return self.xp.asarray(values, dtype=dtype, device=self.device)

    def zeros(self, size: int, dtype: Any) -> Array:
        return self.xp.zeros(size, dtype=dtype, device=self.device)

    def full(self, size: int, value: int, dtype: Any) -> Array:
        return self.xp.full(size, value, dtype=dtype, device=self.device)

    def arange(self, size: int) -> Array:
        return self.xp.arange(size, dtype=self.xp.int64, device=self.device)

    def copy(self, array: Array) -> Array:
        return self.xp.asarray(array, copy=True)

    def host(self, array: Array) -> Any:
        """The same values as an array of NumPy."""
        if isinstance(array, np.ndarray):
            return array
        for name in ("get", "cpu"):  # CuPy, PyTorch
            if hasattr(array, name):
                array = getattr(array, name)()
        return np.asarray(array)

    def where(self, mask: Array) -> Array:
        """The indices at which a one-dimensional mask is true."""
        return self.xp.nonzero(mask)[0]

    def put(self, array: Array, indices: Array, values: Any) -> None:
        """Assign to a one-dimensional array at indices that all differ."""
        if self.xp is not np and not isinstance(values, int):
            values = self.xp.astype(values, array.dtype)  # NumPy does that by itself
        if self._can_put:
            array[indices] = values
        elif indices.shape[0]:
            self._put_by_the_standard(array, indices, values)

    def _put_by_the_standard(self, array: Array, indices: Array, values: Any) -> None:
        xp = self.xp
        order = xp.argsort(indices)
        ordered = indices[order]
        places = self.arange(array.shape[0])
        at = xp.searchsorted(ordered, places)
        at = xp.where(at < ordered.shape[0], at, 0)
        hit = ordered[at] == places
        array[hit] = values if isinstance(values, int) else values[order][at[hit]]

    def look_up(self, table: Array, byte: Array) -> Array:
        """The entries of a table at these bytes, which PyTorch would take for a mask."""
        return table[byte] if self.xp is np else table[self.xp.astype(byte, self.xp.int64)]

    def counts(self, keys: Array, size: int) -> Array:
        """The number of times that each number below ``size`` is among the keys."""
        if not keys.shape[0]:
            return self.zeros(size, self.xp.int64)
        if self._has_bincount:
            return self.xp.bincount(keys, minlength=size)
        ordered = self.xp.sort(keys)
        ends = self.xp.searchsorted(ordered, self.arange(size + 1))
        return ends[1:] - ends[:-1]

    def rank_in_game(self, game: Array, games: int) -> Array:
        """For an ascending array of games: how many entries of the same game come before each."""
        first = self.xp.searchsorted(game, self.arange(games))
        return self.arange(game.shape[0]) - first[game]
