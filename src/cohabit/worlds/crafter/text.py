"""A player's situation as text for a model: exact, short, and with its parts always in the same order.

A map shows every cell. What matters is listed as well, by its offset from the player: ``R3U2`` is three cells right and
two up. The text is made of the structured observation, so it says nothing that a program could not read.

What has changed between two observations is a text of its own. Together with the earlier text it tells everything: the
map shifts by the player's move, the edge that came into view is given as a row of letters, and cells that changed are
listed.
"""

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

from cohabit.worlds.crafter import rules
from cohabit.worlds.crafter.view import MATERIAL_OF, ME, thing_letter
from cohabit.worlds.shifted_view import changed_cells, new_edges, offset

_CENTRE = rules.VIEW_WIDTH // 2, rules.VIEW_HEIGHT // 2
_CELLS = sorted(
    ((column - _CENTRE[0], row - _CENTRE[1]) for row in range(rules.VIEW_HEIGHT) for column in range(rules.VIEW_WIDTH)),
    key=lambda cell: (abs(cell[0]) + abs(cell[1]), cell[1], cell[0]),
)
"""The cells of a view as offsets, the nearest first."""
by_distance = itemgetter(*((y + _CENTRE[1]) * rules.VIEW_WIDTH + x + _CENTRE[0] for x, y in _CELLS))
_LISTED = {"water": 1, "tree": 1, "coal": 2, "iron": 2, "diamond": 2, "table": 1, "furnace": 1, "lava": 2}
"""Materials that one goes to, or must not, and of how many cells the offset is given. The map shows the rest."""
_MAX_RUNGS = 3
_CARRIED = [item for item in rules.ITEMS if "_" not in item]
_TOOLS = {
    tool: [(item, item.partition("_")[0]) for item in rules.ITEMS if item.endswith(f"_{tool}")]
    for tool in ("pickaxe", "sword")
}
"""Of a tool it matters only whether one has it."""
WAYS = {(-1, 0): "left", (1, 0): "right", (0, -1): "up", (0, 1): "down"}
_OFFSETS = tuple(offset(x, y) for x, y in _CELLS)


def view_text(status: dict[str, Any]) -> str:
    """The view as text: a map, the cell in front, then things and materials with their nearest cells and the number of
    all."""
    near = "".join(by_distance("".join(status["ground"])))
    seen = [f"{name} {offset(x, y)}" for name, x, y in sorted(status["things"], key=distance)]
    seen += [_material(letter, near) for letter in sorted(set(near), key=near.index) if MATERIAL_OF[letter] in _LISTED]
    lines = [*map_rows(status), f"Facing {facing_text(status)}."]
    if seen:
        lines.append(f"See {', '.join(seen)}.")
    return "\n".join(lines)


def map_rows(status: dict[str, Any]) -> list[str]:
    """The rows of the view, with the player and all things on it."""
    rows = [list(row) for row in status["ground"]]
    rows[_CENTRE[1]][_CENTRE[0]] = ME
    for name, x, y in status["things"]:
        rows[y + _CENTRE[1]][x + _CENTRE[0]] = thing_letter(name)
    return ["".join(row) for row in rows]


def facing_text(status: dict[str, Any]) -> str:
    """The direction one faces, and what is there."""
    dx, dy = status["facing"]
    return f"{WAYS[dx, dy]}: {_at(status, dx, dy)}"


def distance(thing: Sequence[Any]) -> tuple[int, int, int]:
    return abs(thing[1]) + abs(thing[2]), thing[2], thing[1]


def _material(letter: str, near: str) -> str:
    """A material, its nearest cells, and how many cells of it there are in all."""
    name, count = MATERIAL_OF[letter], near.count(letter)
    at = near.index(letter)
    words = f"{name} {_OFFSETS[at]}"
    listed = min(count, _LISTED[name])
    for _ in range(listed - 1):
        at = near.index(letter, at + 1)
        words += f" {_OFFSETS[at]}"
    return f"{words} x{count}" if count > listed else words


def _at(status: dict[str, Any], dx: int, dy: int) -> str:
    """The thing or the material at an offset from the player."""
    for name, x, y in status["things"]:
        if x == dx and y == dy:
            return str(name)
    return MATERIAL_OF[status["ground"][_CENTRE[1] + dy][_CENTRE[0] + dx]] or "edge of the map"


def vitals_text(status: dict[str, Any]) -> str:
    """Health and the rest, out of nine."""
    vitals = " ".join([f"{name} {status[name]}" for name in rules.VITALS])
    return f"{vitals}. Asleep." if status["sleeping"] else f"{vitals}."


def inventory_text(inventory: dict[str, int]) -> str:
    """The inventory as text: materials with their amounts, then the kinds of tools."""
    parts = [f"{inventory[item]} {item}" for item in _CARRIED if item in inventory]
    for tool, items in _TOOLS.items():
        kinds = [kind for item, kind in items if item in inventory]
        if kinds:
            parts.append(f"{'/'.join(kinds)} {tool}")
    return ", ".join(parts) or "nothing"


def time_text(status: dict[str, Any]) -> str:
    """The daylight in a word: day, dusk or night."""
    light = status["daylight"]
    return "day" if light >= 0.75 else "dusk" if light >= 0.5 else "night"


def progress_text(done: Sequence[str], inventory: dict[str, int], is_over: bool = False) -> str:
    """The achievements that are done and the next ones, or, if that is shorter, all that are left."""
    left = [rung.name for rung in rules.RUNGS if rung.name not in done]
    if not left:
        return "Done 22/22."
    if len(left) <= len(done):
        return f"Done {len(done)}/22, left {_grouped(left, _needs(done, inventory))}."
    names = f": {_grouped(done, {})}" if done else ""
    following = "" if is_over else f"\nNext {next_text(done, inventory)}."
    return f"Done {len(done)}/22{names}.{following}"


def next_text(done: Sequence[str], inventory: dict[str, int]) -> str:
    """The next achievements that can be worked for, with what they need and what is missing."""
    needs = _needs(done, inventory)
    return _grouped(list(needs), needs)


def _needs(done: Sequence[str], inventory: dict[str, int]) -> dict[str, str]:
    """The missing requirements of each of the next achievements."""
    known = set(done)
    following = [rung for rung in rules.RUNGS if rung.name not in known and known.issuperset(rung.after)]
    return {rung.name: _missing(rung, inventory) for rung in following[:_MAX_RUNGS]}


def _missing(rung: rules.Rung, inventory: dict[str, int]) -> str:
    needs = [f"{amount} {item}" for item, amount in rung.uses.items() if inventory.get(item, 0) < amount]
    return ", ".join([*needs, *rung.needs])


def _grouped(names: Sequence[str], needs: dict[str, str]) -> str:
    """Names of achievements by their verbs: ``collect coal, iron; place table (2 wood)``."""
    verbs: dict[str, list[str]] = {}
    for name in names:
        verb, _, what = name.partition("_")
        verbs.setdefault(verb, []).append(f"{what} ({needs[name]})" if needs.get(name) else what)
    return "; ".join([f"{verb} {', '.join(what)}" for verb, what in verbs.items()])


def whole_text(step: int, status: dict[str, Any], inventory: dict[str, int]) -> str:
    """The whole observation."""
    x, y = status["position"]
    lines = [
        f"Step {step}/{status['length']}, {time_text(status)}, at {x},{y}. {vitals_text(status)}",
        view_text(status),
        f"Carry {inventory_text(inventory)}.",
        progress_text(status["achievements"], inventory, is_over=step >= status["length"] or not status["health"]),
    ]
    if status["events"]:
        lines.append(status["events"])
    return "\n".join(lines)


# -- for those who watch many players -------------------------------------------------------------------------
def crowd_text(step: int, status: dict[str, Any]) -> str:
    """The players of a shared land, the most successful first."""
    rows = sorted(status["players"], key=lambda row: -row["achievements"])
    lines = [f"Step {step}/{status['length']}, {time_text(status)}."]
    for row in rows:
        line = f"{row['name']}: {row['achievements']}/22" + ("" if row["alive"] else ", dead")
        if "position" in row and row["alive"]:
            x, y = row["position"]
            vitals = ", ".join(f"{name} {row[name]}" for name in rules.VITALS)
            line += f", at {x},{y}, {vitals}, carries {inventory_text(row['inventory'])}"
        lines.append(line)
    return "\n".join(lines) if rows else f"{lines[0]} Nobody is here."


# -- what has changed -----------------------------------------------------------------------------------------
def changes_text(before: dict[str, Any], now: dict[str, Any]) -> str | None:
    """The changes as text. None if the player is too far from where it was: the whole text is shorter then."""
    dx, dy = (now["position"][axis] - before["position"][axis] for axis in (0, 1))
    if abs(dx) + abs(dy) > 2:
        return None
    moved = f", you moved {offset(dx, dy)}" if dx or dy else ""
    lines = [f"Step {now['step']}{moved}. Facing {facing_text(now)}.", *new_edges(now["ground"], dx, dy)]
    changed = changed_cells(before["ground"], now["ground"], dx, dy, MATERIAL_OF.__getitem__)
    if changed:
        lines.append(f"Now {', '.join(changed)}.")
    stayed = sorted([name, x - dx, y - dy] for name, x, y in before["things"])
    if stayed != sorted(map(list, now["things"])):
        things = [f"{name} {offset(x, y)}" for name, x, y in sorted(now["things"], key=distance)]
        lines.append(f"Things {', '.join(things) or 'none'}.")
    facts = _facts(before, now)
    if facts:
        lines.append(f"{', '.join(facts)}.")
    if now["achievements"] != before["achievements"]:
        following = next_text(now["achievements"], now["inventory"])
        lines.append(f"Done {len(now['achievements'])}/22." + (f" Next {following}." if following else ""))
    if now["events"]:
        lines.append(now["events"])
    return "\n".join(lines)


def _facts(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Vitals, the time of day and the inventory, where they differ."""
    facts = [f"{name} {now[name]}" for name in rules.VITALS if now[name] != before[name]]
    if now["sleeping"] != before["sleeping"]:
        facts.append("asleep" if now["sleeping"] else "awake")
    if time_text(now) != time_text(before):
        facts.append(time_text(now))
    carried, held = now["inventory"], before["inventory"]
    return facts + [f"carry {carried.get(i, 0)} {i}" for i in rules.ITEMS if carried.get(i, 0) != held.get(i, 0)]
