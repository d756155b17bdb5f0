"""The plant: finding a sapling, planting it, fencing it with stones, and eating it when it is ripe.

Any creature next to a plant destroys it, so all four sides are closed. It grows only while the player is near.
"""

from cohabit.agents.brains.crafter.map import DIRECTIONS, OPEN, UNKNOWN, around, distance
from cohabit.agents.brains.crafter.paths import cheapest
from cohabit.agents.brains.crafter.situation import Situation
from cohabit.model.action import Action
from cohabit.worlds.crafter.rules import GRASS

SIDES = 4
LATE = 0.75
"""When it gets darker than this, it is too late to plant and to fence."""
SITES = ((1, 8), (2, 15), (3, 20), (4, 40))
"""The largest number of open sides of a place and the largest cost of the way to it, tried in this order."""
SURELY_IN_VIEW = 3  # cells away


def plant_before_night(s: Situation) -> Action | None:
    """Plant a first sapling even without a fence, when it is too late to build one."""
    on_grass = s.map.cells[s.map.ahead] == GRASS and s.map.is_free(s.map.ahead)
    if "place_plant" in s.done or not s.has("sapling") or not on_grass or not _is_late(s):
        return None
    return Action("place_plant", {}, "plants a sapling without a fence")


def find_sapling(s: Situation) -> Action | None:
    """Search grass for a sapling; one of ten tries succeeds."""
    if s.has("sapling") or s.plant is not None or "eat_plant" in s.done:
        return None
    if s.map.cells[s.map.ahead] == GRASS and s.map.is_free(s.map.ahead):
        return Action("do", {}, "searches the grass for a sapling")
    way = s.way_to_material((GRASS,)) if s.map.cells[s.map.here] != GRASS else []
    if way:
        return s.advance(way[-1], "to grass, for a sapling")
    grass = [s.map.here + d for d in DIRECTIONS if s.map.cells[s.map.here + d] == GRASS]
    return next((s.turn(cell, "looks for grass") for cell in grass if s.map.is_free(cell)), None)


def plant(s: Situation) -> Action | None:
    """Plant the sapling and fence it."""
    if s.plant is not None:
        return _fence(s)
    if _is_late(s) or "eat_plant" in s.done or not (s.has("sapling") and s.has("stone", SIDES) and s.has("wood_sword")):
        return None
    site = _site(s)
    if site is None:
        return None
    if s.map.ahead == site:
        s.plant_at(site)
        return Action("place_plant", {}, "a good place for a plant")
    return s.face(site, "to a good place for a plant")


def _is_late(s: Situation) -> bool:
    return s.getting_dark and s.daylight < LATE


def _site(s: Situation) -> int | None:
    """Grass that is near, and of whose four sides many are closed already."""
    costs = s.costs()
    for most_open, limit in SITES:

        def is_site(cell: int, most_open: int = most_open) -> bool:
            sides = [s.map.cells[beside] for beside in around(cell)]
            return (
                s.map.cells[cell] == GRASS
                and s.map.is_free(cell)
                and cell != s.map.here
                and UNKNOWN not in sides
                and 1 <= sum(side in OPEN for side in sides) <= most_open
            )

        if is_site(s.map.ahead):
            return s.map.ahead
        way = cheapest(costs, s.map.here, is_site, limit)
        if way:
            return way[0]
    return None


def _fence(s: Situation) -> Action | None:
    """Close the sides of the plant that are open."""
    assert s.plant is not None
    if distance(s.map.here, s.plant) <= SURELY_IN_VIEW and s.plant not in s.map.things:
        s.forget_plant()
        return None
    gaps = [cell for cell in around(s.plant) if s.map.cells[cell] in OPEN and cell != s.map.here]
    if not gaps or not s.has("stone") or not s.plant_is_growing:
        return None
    if s.map.ahead in gaps:
        if s.map.ahead in s.map.things:
            return Action("do", {}, "drives it away from the plant")
        return Action("place_stone", {}, "a fence for the plant")
    s.kept = {s.plant}  # the gaps may be walked on
    action = next((action for gap in gaps if (action := s.face(gap, "fences the plant"))), None)
    s.kept = {s.plant, *around(s.plant)}
    return action


def eat_plant(s: Situation) -> Action | None:
    """Go to the plant and eat it when it is ripe."""
    if s.plant is None or s.plant_is_growing:
        return None
    kept, s.kept = s.kept, set()  # the fence is opened
    way = s.way_to_cell(s.plant)
    s.kept = kept
    if not way:
        return None
    if s.map.ahead == s.plant:
        if s.map.things.get(s.plant) == "plant":
            return Action("noop", {}, "waits until the plant is ripe")
        s.growth = 0
    return s.follow(way, "to the ripe plant")
