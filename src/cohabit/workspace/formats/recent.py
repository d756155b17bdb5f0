"""A cache of values derived from recent texts, so that the same text is not read or parsed again.

The key is the text itself, or the id that git derives from it, so a value is never out of date and never that of
another clone. The size is bounded: when the newer half is full, the older half is dropped.
"""

import threading
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Recent(Generic[K, V]):
    """Holds values with a total weight of at most twice ``half``. May be used from several threads."""

    def __init__(self, half: int) -> None:
        self._half = half
        self._new: dict[K, tuple[V, int]] = {}
        self._old: dict[K, tuple[V, int]] = {}
        self._weight = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._new) + len(self._old)

    def get(self, key: K) -> V | None:
        """The value, which counts as new again; None if it is not there."""
        found = self._new.get(key)
        if found is None:
            found = self._old.get(key)
            if found is None:
                return None
            self.put(key, *found)
        return found[0]

    def put(self, key: K, value: V, weight: int) -> None:
        """Keep a value, unless it is too heavy."""
        if weight > self._half:
            return
        with self._lock:
            if self._weight + weight > self._half:
                self._old, self._new, self._weight = self._new, {}, 0
            if key not in self._new:
                self._weight += weight
            self._new[key] = value, weight

    def clear(self) -> None:
        with self._lock:
            self._new, self._old, self._weight = {}, {}, 0
