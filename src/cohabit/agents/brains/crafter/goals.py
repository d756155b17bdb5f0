"""The goals of the expert when nothing is urgent: make, plant, hunt, collect, explore."""

from cohabit.agents.brains.crafter.mining import mine
from cohabit.agents.brains.crafter.needs import explore
from cohabit.agents.brains.crafter.planting import eat_plant, find_sapling, plant
from cohabit.agents.brains.crafter.rest import shelter
from cohabit.agents.brains.crafter.situation import Situation
from cohabit.agents.brains.crafter.tools import TABLE_WOOD, make, make_here, missing_tools
from cohabit.model.action import Action
from cohabit.worlds.crafter.rules import COAL, DIAMOND, GRASS, IRON, MOST, PATH, STONE, TREE

HALF_GROWN = 150
"""From this growth on it waits for the plant rather than go away."""
HUNTING_HEALTH, HUNTING_DISTANCE = 7, 12
"""It hunts with at least this health, and at most so far."""
NIGHT_WORK_HEALTH = 5
"""With less it does not leave a shelter at night."""
FIRST_TOOLS = 2
"""Wood for the first visit to a table, besides the table."""


def pursue(s: Situation) -> Action:
    """The next step towards what is still missing."""
    action = _at_night(s) if s.zombies_out else _by_day(s)
    if action is None and s.zombies_out:
        s.dark = s.zombies_out = False  # there is no place to hide, so it goes on as by day
        action = _by_day(s)
    return action or Action("noop", {}, "there is nothing left to do")


def _by_day(s: Situation) -> Action | None:
    return (
        make(s)
        or plant(s)
        or (eat_plant(s) if "eat_plant" not in s.done else None)
        or _hunt(s)
        or find_sapling(s)
        or (_near_plant(s) if s.plant_is_growing else None)
        or _collect(s)
        or _search(s)
    )


def _at_night(s: Situation) -> Action | None:
    """Make and mine what is possible in the rock; else rest."""
    action = make_here(s) or mine(s, frozenset(_wanted(s)) - {TREE})
    if action is None and s.health >= NIGHT_WORK_HEALTH:
        action = _collect(s) or explore(s, "explores the rock", (STONE, PATH))
    return action or shelter(s)


def _near_plant(s: Situation) -> Action | None:
    """Work near the plant, because it grows only then."""
    s.stay_near_plant()
    action = _collect(s) or _search(s)
    s.leash = 0
    if action is None and s.growth > HALF_GROWN:
        return shelter(s)
    return action


def _hunt(s: Situation) -> Action | None:
    """Go for a zombie or a skeleton in view, once each."""
    if s.health < HUNTING_HEALTH or not s.has("stone_sword"):
        return None
    for name in ("zombie", "skeleton"):
        prey = s.map.nearest_thing(name) if f"defeat_{name}" not in s.done else None
        way = s.way_to_cell(prey) if prey is not None else []
        if 0 < len(way) < HUNTING_DISTANCE:
            return s.follow(way, f"hunts a {name}")
    return None


def _wanted(s: Situation) -> dict[int, str]:
    """Materials that it needs more of, and what it collects there."""
    if "make_wood_pickaxe" not in s.done:
        return {} if s.has("wood", TABLE_WOOD + FIRST_TOOLS) else {TREE: "wood"}
    tools = missing_tools(s)
    iron_tools = sum(tool.startswith("iron") for tool in tools)
    found: dict[int, str] = {}
    if tools and not s.zombies_out and not s.has("wood", min(len(tools) + TABLE_WOOD, MOST)):
        found[TREE] = "wood"
        if "make_wood_sword" not in s.done or ("make_stone_pickaxe" not in s.done and not s.has("wood", 2)):
            return found
    if not s.zombies_out and not s.has("stone", MOST):
        found[STONE] = "stones"
    if not s.has("coal", iron_tools) or "collect_coal" not in s.done:
        found[COAL] = "coal"
    if s.has("stone_pickaxe") and not s.has("iron", iron_tools):
        found[IRON] = "iron"
    if s.has("iron_pickaxe") and "collect_diamond" not in s.done:
        found[DIAMOND] = "a diamond"
    return found


def _collect(s: Situation) -> Action | None:
    """Go to the nearest cell of something wanted."""
    materials = _wanted(s)
    known = [material for material in materials if s.map.knows(material)]
    way = s.way_to_material(known) if known else []
    return s.follow(way, f"collects {materials[s.map.cells[way[0]]]}") if way else None


def _search(s: Situation) -> Action | None:
    """Explore where the missing materials are to be expected."""
    return explore(s, "explores", (GRASS, TREE) if TREE in _wanted(s) else (STONE, PATH))
