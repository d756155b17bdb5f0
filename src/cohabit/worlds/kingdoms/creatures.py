"""All living creatures, as NumPy columns: row i of every column describes one creature.

Rows 0 to n - 1 are the living in order of birth, so ``id`` is always sorted. Rules read and write whole columns at
once. A creature that dies gets ``hp`` 0 or less; ``remove_dead`` takes it out at the end of the tick.

``id`` counts the births of the whole world, so nothing that a kingdom can notice may follow from it: dice are keyed by
``public``, and turns and trades come from ``number``.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cohabit.worlds.kingdoms.land import number_types

Rows = NDArray[np.int64]
"""Row numbers of some creatures."""
INITIAL_CAPACITY = 1024


class Job:
    """The occupation of a person. Wild creatures have NONE."""

    NONE, WORKER, SOLDIER, SETTLER, TRADER = range(5)
    NAMES = ("none", "worker", "soldier", "settler", "trader")


class Effect:
    """Status effects, one bit each. A creature can have several."""

    BURNING, PLAGUE, FROZEN, MAD, BLESSED, CURSED, SHIELDED, INVISIBLE = (1 << i for i in range(8))
    NAMES = ("burning", "plague", "frozen", "mad", "blessed", "cursed", "shielded", "invisible")


class Creatures:
    """The columns. ``c.x`` is column x of the living; ``c.x[rows] = …`` changes it."""

    id: NDArray[np.int64]  # from 1, never reused; finds the row, and nothing else
    public: NDArray[np.int64]  # the id under which members know it, and the key of its dice
    number: NDArray[np.int32]  # its number among the births of its kingdom, or in its group of wild creatures
    species: NDArray[np.int16]  # row of species.SPECIES
    kingdom: NDArray[np.int32]  # id of the kingdom; 0: wild
    city: NDArray[np.int32]  # id of the home city; 0: none
    x: NDArray[np.int16]
    y: NDArray[np.int16]
    hp: NDArray[np.int16]
    food: NDArray[np.int16]  # 100 is full; at 0 it starves
    born: NDArray[np.int32]  # tick of birth; may be negative
    sex: NDArray[np.int8]  # 0 female, 1 male
    job: NDArray[np.int8]  # one of Job
    tx: NDArray[np.int16]  # the target it walks to; -1: none
    ty: NDArray[np.int16]
    ready: NDArray[np.int32]  # the tick from which it can take its next step
    effects: NDArray[np.int32]  # bits of Effect
    kills: NDArray[np.int16]

    def __init__(self) -> None:
        self.n = 0
        self.next_id = 1
        self._all: dict[str, NDArray[Any]] = {name: np.zeros(INITIAL_CAPACITY, kind) for name, kind in COLUMNS.items()}
        self._expose_living()

    def _expose_living(self) -> None:
        for name, column in self._all.items():
            setattr(self, name, column[: self.n])

    def add(self, count: int, values: Mapping[str, Any]) -> NDArray[np.int64]:
        """Append ``count`` creatures with these values (one for all, or one each) and return their ids."""
        start, end = self.n, self.n + count
        capacity = len(self._all["id"])
        if end > capacity:
            grown = max(end, 2 * capacity)
            for name, column in self._all.items():
                bigger = np.zeros(grown, column.dtype)
                bigger[:start] = column[:start]
                self._all[name] = bigger
        for name, column in self._all.items():
            column[start:end] = values.get(name, -1 if name in ("tx", "ty") else 0)
        ids = np.arange(self.next_id, self.next_id + count, dtype=np.int64)
        self._all["id"][start:end] = ids
        self.next_id += count
        self.n = end
        self._expose_living()
        return ids

    def remove_dead(self) -> None:
        """Remove every creature whose ``hp`` is 0 or less."""
        alive = self.hp > 0
        left = int(np.count_nonzero(alive))
        if left == self.n:
            return
        for column in self._all.values():
            column[:left] = column[: self.n][alive]
        self.n = left
        self._expose_living()

    def row(self, creature: int) -> int | None:
        """The row of the creature with this id, or None if it is not alive."""
        found = int(np.searchsorted(self.id, creature))
        return found if found < self.n and self.id[found] == creature else None

    def columns(self) -> dict[str, NDArray[Any]]:
        """The living part of every column, by name, in order."""
        return {name: self._all[name][: self.n] for name in COLUMNS}


COLUMNS = number_types(Creatures)
