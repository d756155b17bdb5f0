"""What to do next, when nothing is urgent: collect, make, place, plant, hunt, explore."""

from cohabit.agents.brains.crafter.map import DIRECTIONS, DOWN, OPEN, RIGHT, UNKNOWN, around, distance, point
from cohabit.agents.brains.crafter.mining import mine
from cohabit.agents.brains.crafter.paths import cheapest
from cohabit.agents.brains.crafter.situation import Situation
from cohabit.agents.brains.crafter.survival import eat_plant, explore, shelter
from cohabit.model.action import Action
from cohabit.worlds.crafter.rules import (
    COAL,
    DIAMOND,
    FURNACE,
    GRASS,
    IRON,
    MOST,
    PATH,
    RIPE_AFTER,
    STONE,
    TABLE,
    TREE,
)

TABLE_WOOD, FURNACE_STONES = 2, 4
FAR = 12
"""It makes a new table rather than walk further than this to the old one."""
HALF_GROWN = 150
"""From this growth on it waits for the plant rather than go away."""
LATE = 0.75
"""Below this daylight it is too late to plant and to fence."""
FENCE = 4
"""Stones for the four sides of a plant."""
ENOUGH_STONES = 9
HUNTING_HEALTH = 7
"""It hunts only with at least this much health."""
TOOLS = ("wood_pickaxe", "wood_sword", "stone_pickaxe", "stone_sword", "iron_pickaxe", "iron_sword")


def pursue(s: Situation) -> Action:
    """The next step towards what is still missing."""
    action = _at_night(s) if s.zombies_out else _by_day(s)
    if action is None and s.zombies_out:
        s.dark = s.zombies_out = False  # there is no place to hide, so it goes on as by day
        action = _by_day(s)
    return action or Action("noop", {}, "everything is done")


def _by_day(s: Situation) -> Action | None:
    return (
        make(s)
        or plant(s)
        or (eat_plant(s) if "eat_plant" not in s.done else None)
        or hunt(s)
        or find_sapling(s)
        or (_near_plant(s) if s.plant_is_growing else None)
        or collect(s)
        or search(s)
    )


def _near_plant(s: Situation) -> Action | None:
    """Work near the plant, because it grows only then."""
    s.stay_near_plant()
    action = collect(s) or search(s)
    s.leash = 0
    if action is None and s.growth > HALF_GROWN:
        return shelter(s)
    return action


def _at_night(s: Situation) -> Action | None:
    """Make and mine what is possible inside the rock; else rest."""
    return (
        _make_here(s)
        or mine(s, frozenset(wanted(s)) - {TREE})
        or (s.health >= HUNTING_HEALTH and (collect(s) or explore(s, "explores the rock", (STONE, PATH))))
        or shelter(s)
    )


def search(s: Situation) -> Action | None:
    """Explore where the missing materials are to be expected."""
    signs = (GRASS, TREE) if TREE in wanted(s) else (STONE, PATH)
    return explore(s, "explores", signs)


def missing_tools(s: Situation) -> list[str]:
    return [tool for tool in TOOLS if f"make_{tool}" not in s.done]


# -- tools ---------------------------------------------------------------------------------------------------
USES = {"wood": {"wood": 1}, "stone": {"wood": 1, "stone": 1}, "iron": {"wood": 1, "coal": 1, "iron": 1}}


def make_at_once(s: Situation) -> Action | None:
    """Make a missing tool if everything for it is here."""
    if not s.map.is_near(TABLE, s.map.here):
        return None
    furnace = s.map.is_near(FURNACE, s.map.here)
    for tool in missing_tools(s):
        kind = tool.split("_")[0]
        if (kind != "iron" or furnace) and all(s.has(item, amount) for item, amount in USES[kind].items()):
            return Action(f"make_{tool}", {}, "the next tool")
    return None


def make(s: Situation) -> Action | None:
    """Go and make the next tools if the materials are there."""
    for tool in missing_tools(s):
        kind = tool.split("_")[0]
        if all(s.has(item, amount) for item, amount in USES[kind].items()) and _has_for_both(s, kind):
            action = _to_workshop(s, kind == "iron", USES[kind])
            if action:
                return action
    if "place_furnace" not in s.done and s.has("stone", FURNACE_STONES + 1) and s.has("stone_pickaxe"):
        return place(s, "place_furnace", "a furnace for iron")
    return None


def _has_for_both(s: Situation, kind: str) -> bool:
    """Whether it has the materials for all missing tools of a kind, so that one visit to a table is enough."""
    if kind == "iron":
        return True  # iron is rare
    tools = sum(tool.startswith(kind) for tool in missing_tools(s))
    return all(s.has(item, amount * tools) for item, amount in USES[kind].items())


def _make_here(s: Situation) -> Action | None:
    """Make a tool where the player is, with a new table and a furnace if necessary."""
    for tool in missing_tools(s):
        kind = tool.split("_")[0]
        table = s.map.is_near(TABLE, s.map.here)
        furnace = kind != "iron" or s.map.is_near(FURNACE, s.map.here)
        wood = USES[kind]["wood"] + (0 if table else TABLE_WOOD)
        stones = USES[kind].get("stone", 0) + (0 if furnace else FURNACE_STONES)
        others = all(s.has(item, amount) for item, amount in USES[kind].items() if item not in ("wood", "stone"))
        if others and s.has("wood", wood) and s.has("stone", stones):
            if not table:
                return _place_inside(s, "place_table", "a table")
            if not furnace:
                return _place_inside(s, "place_furnace", "a furnace")
            return Action(f"make_{tool}", {}, "the next tool")
    return None


def _place_inside(s: Situation, action: str, why: str) -> Action | None:
    """Place something ahead. In a tunnel it takes the place of a piece of the wall."""
    if s.map.is_free(s.map.ahead):
        return Action(action, {}, why)
    for cell in (s.map.ahead, *around(s.map.here)):
        if s.map.cells[cell] in (STONE, COAL) and cell not in s.kept:
            if cell == s.map.ahead:
                s.intended = Action(action, {}, why)
            return s.use(cell, f"makes room: {why}")
    return None


def _to_workshop(s: Situation, needs_furnace: bool, uses: dict[str, int]) -> Action | None:
    """Go to a table (and a furnace), or place them here."""
    x, y = point(s.map.here)
    if x == 0 or y == 0:  # nothing can be made at these edges
        return s.advance(s.map.here + (RIGHT if x == 0 else DOWN), "away from the edge")
    table_near = s.map.is_near(TABLE, s.map.here)
    if table_near and needs_furnace:
        if s.has("stone", FURNACE_STONES):
            return place(s, "place_furnace", "a furnace for iron")
        return None
    if s.map.knows(TABLE):
        way = s.way_to_material((TABLE,))
        if way and len(way) <= FAR:
            return s.advance(way[-1], "to the table")
    if s.has("wood", TABLE_WOOD + (2 if needs_furnace else 1)) or (
        not needs_furnace and s.has("wood", TABLE_WOOD + uses["wood"])
    ):
        return place(s, "place_table", "a table")
    return None


def place(s: Situation, action: str, why: str) -> Action | None:
    """Place something ahead, or make room for it: in the rock, else where the player can turn to a free cell."""
    inside = _place_inside(s, action, why)
    if inside is not None:
        return inside
    at_table = s.map.is_near(TABLE, s.map.here)
    for cell in around(s.map.here):
        beyond = 2 * cell - s.map.here
        if s.map.is_free(cell) and s.map.is_free(beyond) and (not at_table or s.map.is_near(TABLE, cell)):
            return s.turn(cell, why)
    return next((s.turn(cell, why) for cell in around(s.map.here) if s.map.is_free(cell)), None)


# -- plant ---------------------------------------------------------------------------------------------------
def find_sapling(s: Situation) -> Action | None:
    """Search grass for a sapling; one of ten tries succeeds."""
    if s.has("sapling") or s.plant is not None or "eat_plant" in s.done:
        return None
    ahead = s.map.ahead
    if s.map.cells[ahead] == GRASS and ahead not in s.map.things:
        return Action("do", {}, "searches the grass for a sapling")
    goals = frozenset((GRASS,))
    way = s.way_to_material(goals) if s.map.cells[s.map.here] != GRASS else []
    if way:
        return s.walk(way, "to grass, for a sapling")
    for d in DIRECTIONS:
        if s.map.is_free(s.map.here + d) and s.map.cells[s.map.here + d] == GRASS:
            return s.turn(s.map.here + d, "looks for grass")
    return None


def plant(s: Situation) -> Action | None:
    """Plant the sapling and fence it with stones, because creatures destroy it."""
    if s.plant is not None:
        return _fence(s)
    if "eat_plant" in s.done:
        return None
    if not s.has("sapling") or not s.has("stone", FENCE) or not s.has("wood_sword"):
        return None
    if s.getting_dark and s.daylight < LATE:
        return None
    site = _site(s)
    if site is None:
        return None
    if s.map.ahead == site:
        s.plant_at(site)
        return Action("place_plant", {}, "a good place for a plant")
    return s.face(site, "to a good place for a plant")


def _site(s: Situation) -> int | None:
    """Grass that is near, and of whose four sides many are blocked already."""
    costs = s.costs()
    for most_open, limit in ((1, 8), (2, 15), (3, 20), (4, 40)):

        def is_site(cell: int, most_open: int = most_open) -> bool:
            return (
                s.map.cells[cell] == GRASS
                and cell != s.map.here
                and cell not in s.map.things
                and all(s.map.cells[beside] != UNKNOWN for beside in around(cell))
                and 1 <= sum(s.map.cells[beside] in OPEN for beside in around(cell)) <= most_open
            )

        if is_site(s.map.ahead):
            return s.map.ahead
        way = cheapest(costs, s.map.here, is_site, limit)
        if way:
            return way[0]
    return None


def _fence(s: Situation) -> Action | None:
    assert s.plant is not None
    if distance(s.map.here, s.plant) <= 3 and s.plant not in s.map.things:
        s.forget_plant()
        return None
    gaps = [cell for cell in around(s.plant) if s.map.cells[cell] in OPEN and cell != s.map.here]
    if not gaps or not s.has("stone") or s.growth > RIPE_AFTER:
        return None
    if s.map.ahead in gaps:
        if s.map.ahead in s.map.things:
            return Action("do", {}, "drives it away from the plant")
        return Action("place_stone", {}, "a fence for the plant")
    s.kept = {s.plant}
    actions = None
    for gap in gaps:
        actions = s.face(gap, "fences the plant")
        if actions:
            break
    s.kept = {s.plant, *around(s.plant)}
    return actions


# -- hunting ------------------------------------------------------------------------------------------------
def hunt(s: Situation) -> Action | None:
    for name in ("zombie", "skeleton"):
        if f"defeat_{name}" in s.done or s.health < HUNTING_HEALTH or not s.has("stone_sword"):
            continue
        prey = s.map.nearest_thing(name)
        if prey is not None:
            way = s.way_to_cell(prey)
            if way and len(way) < 12:
                return s.follow(way, f"hunts a {name}")
    return None


# -- collecting and exploring ----------------------------------------------------------------------------------
def wanted(s: Situation) -> dict[int, str]:
    """Materials that it needs more of, and why."""
    tools = missing_tools(s)
    found: dict[int, str] = {}
    wood = len(tools) + (TABLE_WOOD if tools else 0)
    if "make_wood_pickaxe" in s.done:
        if s.count("wood") < min(wood, MOST) and not s.zombies_out:
            found[TREE] = "wood"
            if "make_wood_sword" not in s.done or ("make_stone_pickaxe" not in s.done and not s.has("wood", 2)):
                return found
        if not s.zombies_out and not s.has("stone", ENOUGH_STONES):
            found[STONE] = "stones"
        iron_tools = sum(tool.startswith("iron") for tool in tools)
        if s.count("coal") < iron_tools or "collect_coal" not in s.done:
            found[COAL] = "coal"
        if s.has("stone_pickaxe") and s.count("iron") < iron_tools:
            found[IRON] = "iron"
        if s.has("iron_pickaxe") and "collect_diamond" not in s.done:
            found[DIAMOND] = "a diamond"
    elif s.count("wood") < TABLE_WOOD + 2:
        found[TREE] = "wood"
    return found


def collect(s: Situation) -> Action | None:
    """Go to the nearest cell of something wanted."""
    materials = wanted(s)
    known = [material for material in materials if s.map.knows(material)]
    if not known:
        return None
    way = s.way_to_material(known)
    if not way:
        return None
    return s.follow(way, f"collects {materials.get(s.map.cells[way[0]], '')}")
