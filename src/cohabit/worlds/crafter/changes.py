"""What has changed between two observations of a player, as text for a model.

Together with the earlier text it tells everything: the map shifts by the player's move, the edge that came into view is
given as a row of letters, and cells that changed are listed.
"""

from typing import Any

from cohabit.worlds.crafter.rules import ITEMS, VITALS
from cohabit.worlds.crafter.text import distance, facing_text, next_text, time_text
from cohabit.worlds.crafter.view import MATERIAL_OF
from cohabit.worlds.shifted_view import changed_cells, new_edges, offset


def changes_text(before: dict[str, Any], now: dict[str, Any]) -> str | None:
    """What is different. None if the player is too far from where it was: the whole text is shorter then."""
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
    facts = [f"{name} {now[name]}" for name in VITALS if now[name] != before[name]]
    if now["sleeping"] != before["sleeping"]:
        facts.append("asleep" if now["sleeping"] else "awake")
    if time_text(now) != time_text(before):
        facts.append(time_text(now))
    carried, held = now["inventory"], before["inventory"]
    return facts + [f"carry {carried.get(i, 0)} {i}" for i in ITEMS if carried.get(i, 0) != held.get(i, 0)]
