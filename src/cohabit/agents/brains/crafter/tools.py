"""Making tools: what they need, where they are made, and how to place a table or a furnace."""

from cohabit.agents.brains.crafter.map import DOWN, RIGHT, around, point
from cohabit.agents.brains.crafter.situation import Situation
from cohabit.model.action import Action
from cohabit.worlds.crafter.rules import ACTIONS, COAL, FURNACE, ITEMS, MAKE, PLACE, STONE, TABLE

TOOLS = ("wood_pickaxe", "wood_sword", "stone_pickaxe", "stone_sword", "iron_pickaxe", "iron_sword")
"""In the order in which they are made."""
USES = {
    ITEMS[making.gives]: {ITEMS[item]: amount for item, amount in making.uses} for making in MAKE.values()
}  # fmt: skip
"""The materials of each tool."""
TABLE_WOOD = PLACE[ACTIONS.index("place_table")].amount
FURNACE_STONES = PLACE[ACTIONS.index("place_furnace")].amount
FAR = 12
"""It places a new table rather than walk further than this to an old one."""


def missing_tools(s: Situation) -> list[str]:
    return [tool for tool in TOOLS if f"make_{tool}" not in s.done]


def make_at_once(s: Situation) -> Action | None:
    """Make a missing tool if everything for it is here."""
    if not s.map.is_near(TABLE, s.map.here):
        return None
    furnace = s.map.is_near(FURNACE, s.map.here)
    for tool in missing_tools(s):
        if (furnace or not _needs_furnace(tool)) and s.has_all(USES[tool]):
            return Action(f"make_{tool}", {}, "the next tool")
    return None


def make(s: Situation) -> Action | None:
    """Go and make the next tools if the materials are there."""
    for tool in missing_tools(s):
        if s.has_all(USES[tool]) and _is_worth_the_way(s, tool):
            action = _to_workshop(s, tool)
            if action is not None:
                return action
    return _place(s, "place_furnace", "the first furnace") if _wants_first_furnace(s) else None


def make_here(s: Situation) -> Action | None:
    """Make a tool without going anywhere, with a new table and a new furnace if necessary."""
    table, furnace = s.map.is_near(TABLE, s.map.here), s.map.is_near(FURNACE, s.map.here)
    for tool in missing_tools(s):
        needs = dict(USES[tool])
        if not table:
            needs["wood"] += TABLE_WOOD
        if _needs_furnace(tool) and not furnace:
            needs["stone"] = FURNACE_STONES
        if s.has_all(needs):
            return _place_inside(s, "place_furnace" if table else "place_table", "a workshop in the rock")
    return _place_inside(s, "place_furnace", "the first furnace") if _wants_first_furnace(s) else None


def _wants_first_furnace(s: Situation) -> bool:
    """True if it can spare the stones for a furnace before it has found iron."""
    return "place_furnace" not in s.done and s.has("stone_pickaxe") and s.has("stone", FURNACE_STONES + 1)


def _needs_furnace(tool: str) -> bool:
    return FURNACE in MAKE[ACTIONS.index(f"make_{tool}")].nearby


def _is_worth_the_way(s: Situation, tool: str) -> bool:
    """True if it has enough for all missing tools of the same material. For iron, which is rare, one is enough."""
    kind = tool.split("_")[0]
    others = sum(other.startswith(kind) for other in missing_tools(s))
    return kind == "iron" or all(s.has(item, amount * others) for item, amount in USES[tool].items())


def _to_workshop(s: Situation, tool: str) -> Action | None:
    """Go to a table and a furnace, or place them."""
    x, y = point(s.map.here)
    if x == 0 or y == 0:  # nothing can be made at these edges
        return s.advance(s.map.here + (RIGHT if x == 0 else DOWN), "away from the edge")
    if s.map.is_near(TABLE, s.map.here):
        return _place(s, "place_furnace", "a furnace for iron") if s.has("stone", FURNACE_STONES) else None
    way = s.way_to_material((TABLE,)) if s.map.knows(TABLE) else []
    if way and len(way) <= FAR:
        return s.advance(way[-1], "to the table")
    if s.has("wood", TABLE_WOOD + USES[tool]["wood"]):
        return _place(s, "place_table", "a table")
    return None


def _place(s: Situation, action: str, why: str) -> Action | None:
    """Place something ahead, or make room for it: in the rock, else by a step after which a free cell is ahead."""
    inside = _place_inside(s, action, why)
    if inside is not None:
        return inside
    at_table = s.map.is_near(TABLE, s.map.here)
    free = [cell for cell in around(s.map.here) if s.map.is_free(cell)]
    for cell in free:
        beyond = 2 * cell - s.map.here
        if s.map.is_free(beyond) and (not at_table or s.map.is_near(TABLE, cell)):
            return s.turn(cell, why)
    return s.turn(free[0], why) if free else None


def _place_inside(s: Situation, action: str, why: str) -> Action | None:
    """Place something ahead. In the rock it takes the place of a piece of the wall."""
    if s.map.is_free(s.map.ahead):
        return Action(action, {}, why)
    for cell in (s.map.ahead, *around(s.map.here)):
        if s.map.cells[cell] in (STONE, COAL) and cell not in s.kept:
            if cell == s.map.ahead:
                s.intended = Action(action, {}, why)
            return s.use(cell, f"makes room: {why}")
    return None
