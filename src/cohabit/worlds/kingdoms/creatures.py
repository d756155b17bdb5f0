"""Everything that lives, as columns: row i of every column is one creature.

Rows 0 to n - 1 are alive and stand in the order of birth, so ``id`` is always sorted. Rules read and write whole
columns at once. Who dies gets ``hp`` 0 or less and is taken out by ``bury`` at the end of the tick.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

COLUMNS: dict[str, type[np.generic]] = {
    "id": np.int64,  # from 1, never used twice
    "species": np.int16,  # row of species.SPECIES
    "kingdom": np.int32,  # id of the kingdom; 0: wild
    "city": np.int32,  # id of the home city; 0: none
    "x": np.int16,
    "y": np.int16,
    "hp": np.int16,
    "food": np.int16,  # 100 is full; at 0 it starves
    "born": np.int32,  # tick of birth; may lie before the world's beginning
    "sex": np.int8,  # 0 female, 1 male
    "job": np.int8,  # one of Job
    "tx": np.int16,  # where it is going; -1: nowhere in particular
    "ty": np.int16,
    "ready": np.int32,  # the tick from which it can step again
    "marks": np.int32,  # bits of Mark
    "kills": np.int16,
}
FIRST_ROOM = 1024


class Job:
    """What a creature is at. Wild ones are NONE."""

    NONE, WORKER, SOLDIER, SETTLER, TRADER = range(5)
    NAMES = ("none", "worker", "soldier", "settler", "trader")


class Mark:
    """What lies on a creature. A creature can bear several."""

    BURNING, PLAGUE, FROZEN, MAD, BLESSED, CURSED, SHIELDED, INVISIBLE = (1 << i for i in range(8))
    NAMES = ("burning", "plague", "frozen", "mad", "blessed", "cursed", "shielded", "invisible")


class Creatures:
    """See the module. ``c.x`` is the column x of the living; writing ``c.x[rows] = …`` changes it."""

    id: NDArray[np.int64]
    species: NDArray[np.int16]
    kingdom: NDArray[np.int32]
    city: NDArray[np.int32]
    x: NDArray[np.int16]
    y: NDArray[np.int16]
    hp: NDArray[np.int16]
    food: NDArray[np.int16]
    born: NDArray[np.int32]
    sex: NDArray[np.int8]
    job: NDArray[np.int8]
    tx: NDArray[np.int16]
    ty: NDArray[np.int16]
    ready: NDArray[np.int32]
    marks: NDArray[np.int32]
    kills: NDArray[np.int16]

    def __init__(self) -> None:
        self.n = 0
        self.next_id = 1
        self._all: dict[str, NDArray[Any]] = {name: np.zeros(FIRST_ROOM, kind) for name, kind in COLUMNS.items()}
        self._show()

    def _show(self) -> None:
        for name, column in self._all.items():
            setattr(self, name, column[: self.n])

    def add(self, count: int, values: Mapping[str, Any]) -> NDArray[np.int64]:
        """Let ``count`` be born, with these values (one for all, or one each); their ids."""
        start, end = self.n, self.n + count
        room = len(self._all["id"])
        if end > room:
            grown = max(end, 2 * room)
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
        self._show()
        return ids

    def bury(self) -> None:
        """Take out everybody whose ``hp`` is 0 or less."""
        alive = self.hp > 0
        left = int(np.count_nonzero(alive))
        if left == self.n:
            return
        for column in self._all.values():
            column[:left] = column[: self.n][alive]
        self.n = left
        self._show()

    def row(self, who: int) -> int | None:
        """The row of a creature by its id, or None where it is not alive."""
        found = int(np.searchsorted(self.id, who))
        return found if found < self.n and self.id[found] == who else None

    def columns(self) -> dict[str, NDArray[Any]]:
        """Name and living part of every column, in order."""
        return {name: self._all[name][: self.n] for name in COLUMNS}
