"""The changes in a view of letters that has moved with its player, as text for a model."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from cohabit.model.observation import Observation


def facts_of(observation: Observation) -> dict[str, Any]:
    """The facts by which the texts of two observations are compared."""
    return {**observation.status, "inventory": observation.inventory, "step": observation.step}


@lru_cache(2048)
def offset(x: int, y: int) -> str:
    """An offset in letters: R right, L left, U up, D down; ``here`` for the player's own place."""
    across = f"{'R' if x > 0 else 'L'}{abs(x)}" if x else ""
    down = f"{'D' if y > 0 else 'U'}{abs(y)}" if y else ""
    return across + down or "here"


def new_edges(rows: Sequence[str], dx: int, dy: int, around: str = "") -> list[str]:
    """The edges of the view that are new: columns from top to bottom, rows from left to right, the outer one last."""
    width, height = len(rows[0]), len(rows)
    columns = [width - step if dx > 0 else step - 1 for step in range(abs(dx), 0, -1)]
    lines = [height - step if dy > 0 else step - 1 for step in range(abs(dy), 0, -1)]
    right, bottom = ("right" if dx > 0 else "left"), ("bottom" if dy > 0 else "top")
    sides = [f"New {right} {around}{''.join(row[column] for row in rows)}{around}" for column in columns]
    return sides + [f"New {bottom} {around}{rows[line]}{around}" for line in lines]


def changed_cells(
    before: Sequence[str], now: Sequence[str], dx: int, dy: int, name_of: Callable[[str], str]
) -> list[str]:
    """Cells that are in both views and differ, with the name of what they are now."""
    height, width = len(now), len(now[0])
    return [
        f"{offset(column - width // 2, row - height // 2)} {name_of(now[row][column])}"
        for row in range(max(0, -dy), min(height, height - dy))
        for column in range(max(0, -dx), min(width, width - dx))
        if before[row + dy][column + dx] != now[row][column]
    ]
