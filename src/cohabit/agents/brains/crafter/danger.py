"""Zombies, skeletons and arrows in view: which cells they make dangerous, and how to get out of the way."""

from cohabit.agents.brains.crafter.map import DIRECTIONS, DOWN, LEFT, OPEN, RIGHT, UP, Map, around
from cohabit.worlds.crafter.rules import LAVA, WATER

NEAR_A_ZOMBIE, IN_THE_LINE_OF_FIRE = 2, 5
"""The added cost of entering such a cell."""
SHOT = 6
"""Skeletons shoot from this distance or less."""
FORGET_SKELETON = 60
"""After this many steps a skeleton is somewhere else."""
EXPENSIVE = 100
"""Costs must stay below 256."""
FLIGHT = {"arrow left": LEFT, "arrow right": RIGHT, "arrow up": UP, "arrow down": DOWN}
_ARROWS_FLY = (*OPEN, WATER, LAVA)


def add_danger(land: Map, costs: bytearray, step: int) -> None:
    """Make dangerous cells more expensive."""
    for cell, name in land.things.items():
        if name == "zombie":
            for beside in around(cell):
                for near in (beside, *around(beside)):
                    if costs[near]:
                        costs[near] += NEAR_A_ZOMBIE
    for cell, seen in land.skeletons.items():
        if step - seen < FORGET_SKELETON:
            for d in DIRECTIONS:
                for shot in flight(land, cell, d, SHOT):
                    if 0 < costs[shot] < EXPENSIVE:
                        costs[shot] += IN_THE_LINE_OF_FIRE


def flight(land: Map, start: int, direction: int, length: int) -> list[int]:
    """The cells that an arrow from here would cross."""
    crossed = []
    cell = start
    for _ in range(length):
        cell += direction
        if land.cells[cell] not in _ARROWS_FLY:
            break
        crossed.append(cell)
        if cell in land.things:
            break
    return crossed


def arrow_cells(land: Map, length: int) -> set[int]:
    """The cells that arrows in view are going to cross next."""
    return {
        crossed
        for cell, name in land.things.items()
        if name in FLIGHT
        for crossed in flight(land, cell, FLIGHT[name], length)
    }


def is_in_danger(land: Map) -> bool:
    """True if an arrow is going to hit the player."""
    return land.here in arrow_cells(land, 2)


def way_out(land: Map) -> int | None:
    """A free cell beside the player that no arrow is going to cross."""
    hit = arrow_cells(land, 8)
    return next((cell for cell in around(land.here) if land.is_free(cell) and cell not in hit), None)
