"""Where cows may be: large pieces of grass that were not in view for some time."""

from cohabit.agents.brains.crafter.map import BLOCK, STRIDE, Map, block, distance
from cohabit.worlds.crafter.rules import GRASS

FORGET = 150
"""After this many steps there may be cows again."""
NEAR = 8
"""Added to a distance, so that a large pasture is worth a few steps more."""


def best_pasture(land: Map, step: int) -> int:
    """The cell to go to in search of cows: much unseen grass around it, and near."""
    grass = {
        corner: _unseen_grass(land, corner)
        for corner in _corners(land)
        if step - land.seen.get(block(corner), -FORGET) >= FORGET
    }
    best, best_value = land.here, 0.0
    for corner, count in grass.items():
        if count:
            sides = (BLOCK, -BLOCK, BLOCK * STRIDE, -BLOCK * STRIDE)
            count += sum(grass.get(corner + side, 0) for side in sides)
            value = count / (distance(land.here, corner) + NEAR)
            if value > best_value:
                best, best_value = _cell_in(land, corner), value
    return best


def _corners(land: Map) -> range | list[int]:
    """The upper left cells of all blocks that are near something known."""
    rows = range(0, STRIDE, BLOCK)
    return [
        row * STRIDE + column
        for row in rows
        if any(land.cells[r * STRIDE : (r + 1) * STRIDE].count(GRASS) for r in range(row, row + BLOCK))
        for column in range(0, STRIDE, BLOCK)
    ]


def _unseen_grass(land: Map, corner: int) -> int:
    return sum(
        land.cells[row : row + BLOCK].count(GRASS) for row in range(corner, corner + BLOCK * STRIDE, STRIDE)
    )


def _cell_in(land: Map, corner: int) -> int:
    """A cell of grass in a block."""
    return next(
        cell
        for row in range(corner, corner + BLOCK * STRIDE, STRIDE)
        for cell in range(row, row + BLOCK)
        if land.cells[cell] == GRASS
    )
