"""Places where cows may be: large pieces of grass that were not in view for some time."""

from cohabit.agents.brains.crafter.map import BLOCK, MARGIN, STRIDE, UNKNOWN, Map, block, distance
from cohabit.worlds.crafter.rules import GRASS

FORGET = 150
"""After this many steps there may be cows again."""
UNKNOWN_HOPE = 0.4
"""The part of the unknown land that is taken for grass."""
NEAR = 8
"""Added to a distance, so that a large pasture is worth a few steps more."""
_SIDES = (BLOCK, -BLOCK, BLOCK * STRIDE, -BLOCK * STRIDE)


def best_pasture(land: Map, step: int) -> int:
    """The cell to go to in search of cows: much unseen grass around it, and near."""
    hopes = {
        corner: _hope(land, corner)
        for corner in _corners(land)
        if step - land.seen.get(block(corner), -FORGET) >= FORGET
    }
    best, best_value = land.here, 0.0
    for corner, hope in hopes.items():
        if hope:
            hope += sum(hopes.get(corner + side, 0) for side in _SIDES)
            value = hope / (distance(land.here, corner) + NEAR)
            if value > best_value:
                best, best_value = _cell_in(land, corner), value
    return best


def _corners(land: Map) -> list[int]:
    """The upper left cells of all blocks in rows that it has seen something of."""
    return [
        row + column
        for row in range(0, len(land.cells), BLOCK * STRIDE)
        if land.cells.count(GRASS, row, row + BLOCK * STRIDE)
        for column in range(0, STRIDE, BLOCK)
        if column < MARGIN + land.width
    ]


def _hope(land: Map, corner: int) -> float:
    rows = [land.cells[row : row + BLOCK] for row in range(corner, corner + BLOCK * STRIDE, STRIDE)]
    return sum(row.count(GRASS) + UNKNOWN_HOPE * row.count(UNKNOWN) for row in rows)


def _cell_in(land: Map, corner: int) -> int:
    """A cell of grass or unknown land in a block."""
    return next(
        cell
        for row in range(corner, corner + BLOCK * STRIDE, STRIDE)
        for cell in range(row, row + BLOCK)
        if land.cells[cell] in (GRASS, UNKNOWN)
    )
