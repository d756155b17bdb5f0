"""Lanterns for learners: its actions by number, and what a keeper sees as numbers."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from cohabit.model.action import Action
from cohabit.world import ArraySpec
from cohabit.worlds.island import LAND, ROCK, Island

Forms = Mapping[str, ArraySpec]
MAX_TOWERS = 9  # with four keepers
TOWERS = tuple(f"T{i + 1}" for i in range(MAX_TOWERS))
HALT, GATHER = Action("halt"), Action("gather")
LIGHT, DOUSE, GO = (
    {tower: Action(name, {key: tower}) for tower in TOWERS}
    for name, key in (("light", "tower"), ("douse", "tower"), ("go", "to"))
)
PLANES = ("land", "rock", "light", "oil", "keepers", "you", "your destination")
TOWER_COLUMNS = ("there", "to the right", "down", "yours", "your oil in it", "burns")
"""Its place is relative to the keeper."""
SCALARS = ("oil", "reach of the lantern", "time until dawn", "land", "land of the best rival")


@lru_cache(8)
def walks(size: int) -> tuple[Action, ...]:
    """To each cell of an island, row by row."""
    return tuple(Action("walk", {"x": x, "y": y}) for y in range(size) for x in range(size))


def numbered(size: int) -> list[Action]:
    return [HALT, GATHER, *LIGHT.values(), *DOUSE.values(), *GO.values(), *walks(size)]


def forms(size: int) -> Forms:
    length = len(PLANES) * size**2 + len(TOWER_COLUMNS) * MAX_TOWERS + len(SCALARS)
    return {"chart": ArraySpec(shape=(length,), dtype="float32", low=-1, high=1)}


def chart(
    island: Island,
    lit: Sequence[bool],
    *,
    oil: Sequence[int],
    keepers: Sequence[int],
    you: Sequence[int],
    destination: Sequence[int],
    towers: Sequence[tuple[int, bool, float, bool]],
    scalars: Sequence[float],
) -> Any:
    """The array of an eye: ``PLANES``, each row by row; for each tower ``TOWER_COLUMNS``; ``scalars``.

    Places are cells of the island. ``towers``: its place, whether it is yours, your oil in it, and whether it burns."""
    import numpy as np  # only learners need it

    ground = island.ground
    planes = [[cell == LAND for cell in ground], [cell == ROCK for cell in ground], lit]
    planes += [[cell in places for cell in range(len(ground))] for places in (oil, keepers, you, destination)]
    x, y = island.xy(you[0]) if you else (0, 0)
    rows: list[float] = []
    for at, *state in towers:
        right, down = island.xy(at)
        rows += [1, (right - x) / island.size, (down - y) / island.size, *state]
    rows += [0] * (len(TOWER_COLUMNS) * MAX_TOWERS - len(rows))
    return np.array([*(cell for plane in planes for cell in plane), *rows, *scalars], np.float32)
