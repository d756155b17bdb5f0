"""Working at night: tunnels through solid rock that nothing can enter."""

from cohabit.agents.brains.crafter.map import STRIDE, UNKNOWN, around
from cohabit.agents.brains.crafter.paths import cheapest
from cohabit.agents.brains.crafter.shelter import WATER_IS_OPEN, closed_region
from cohabit.agents.brains.crafter.situation import DIG, WALK, Situation
from cohabit.model.action import Action
from cohabit.worlds.crafter.rules import COAL, DIAMOND, IRON, STONE, VIEW_HEIGHT, VIEW_WIDTH

REACH = 12
"""It plans tunnels over cells that are no further away than this."""


def mine(s: Situation, wanted: frozenset[int]) -> Action | None:
    """Dig to something wanted, or to where unknown land comes into view, and stay closed in."""
    inside = closed_region(s)
    if not inside:
        return None
    way = s.planned(("mine", wanted), lambda: _tunnel(s, wanted, inside))
    if not way or not stays_closed(s, way[-1], inside):
        return None
    return s.advance(way[-1], "digs a tunnel")


def _tunnel(s: Situation, wanted: frozenset[int], inside: frozenset[int]) -> list[int]:
    costs = bytearray(len(s.map.cells))
    rock = {STONE, COAL}
    if s.has("stone_pickaxe"):
        rock.add(IRON)
    if s.has("iron_pickaxe"):
        rock.add(DIAMOND)
    for row in range(s.map.here - REACH * STRIDE, s.map.here + REACH * STRIDE + 1, STRIDE):
        for cell in range(row - REACH, row + REACH + 1):
            if s.map.cells[cell] in rock and cell not in s.kept and stays_closed(s, cell, inside):
                costs[cell] = DIG
    for cell in inside:
        if s.map.is_free(cell):
            costs[cell] = WALK
    cells = s.map.cells
    sights = (VIEW_WIDTH // 2, -(VIEW_WIDTH // 2), VIEW_HEIGHT // 2 * STRIDE, -(VIEW_HEIGHT // 2) * STRIDE)

    def is_goal(cell: int) -> bool:
        return cells[cell] in wanted or any(cells[cell + sight] == UNKNOWN for sight in sights)

    return cheapest(costs, s.map.here, is_goal)


def stays_closed(s: Situation, cell: int, inside: frozenset[int]) -> bool:
    """True if the tunnel is still closed when this cell is dug."""
    return all(s.map.cells[beside] not in WATER_IS_OPEN or beside in inside for beside in around(cell))
