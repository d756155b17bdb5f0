"""What has changed between two observations of a player, as text for a model.

Together with the earlier text it tells everything: the map shifts by the body's move, edges that came into view are
given as rows of letters, and tiles that changed are listed.
"""

from typing import Any

from cohabit.worlds.starbound.land import across
from cohabit.worlds.starbound.text import legend, map_rows, offset, place_text, thing_text
from cohabit.worlds.starbound.tiles import NAME_OF_LETTER

MAX_SHIFT = 4
MAX_CHANGED = 10
_PLAIN_FIELDS = ("health", "energy", "food", "breath")


def changes_text(before: dict[str, Any], now: dict[str, Any]) -> str | None:
    """What is different; None if the whole text is better."""
    if not (before["alive"] and now["alive"]) or before["place"] != now["place"]:
        return None
    if len(before["map"]) != len(now["map"]) or before["max_health"] != now["max_health"]:
        return None
    dx, dy = across(before["position"][0], now["position"][0]), now["position"][1] - before["position"][1]
    if abs(dx) + abs(dy) > MAX_SHIFT:
        return None
    changed = _changed_tiles(before["map"], now["map"], dx, dy)
    if len(changed) > MAX_CHANGED:
        return None
    moved = f", you moved {offset(dx, dy)}" if dx or dy else ""
    where = f", {place_text(now)}" if place_text(now) != place_text(before) else ""
    lines = [f"Step {now['step']}{moved}{where}, facing {now['facing']}.", *_new_edges(map_rows(now), dx, dy)]
    if changed:
        lines.append(f"Now {', '.join(changed)}.")
    if new := [part for part in legend(now).split(", ") if part and part not in legend(before).split(", ")]:
        lines.append(f"Map: {', '.join(new)}.")
    stayed = [[name, x - dx, y - dy, state, health] for name, x, y, state, health in before["things"]]
    if sorted(stayed) != sorted(map(list, now["things"])):
        lines.append(f"See {', '.join(thing_text(thing) for thing in now['things']) or 'nobody'}.")
    if now["hears"] != before["hears"]:
        lines.append(f"Hear {', '.join(now['hears']) or 'nothing'}.")
    if facts := _facts(before, now):
        lines.append(f"{', '.join(facts)}.")
    if now["can_craft"] != before["can_craft"]:
        lines.append(f"Can craft {', '.join(now['can_craft']) or 'nothing'}.")
    if now["events"]:
        lines.append(" ".join(now["events"]))
    return "\n".join(lines)


def _new_edges(rows: list[str], dx: int, dy: int) -> list[str]:
    """The edges of the view that are new: columns from top to bottom, rows from left to right, the outer one last."""
    width, height = len(rows[0]), len(rows)
    columns = [width - step if dx > 0 else step - 1 for step in range(abs(dx), 0, -1)]
    lines = [height - step if dy > 0 else step - 1 for step in range(abs(dy), 0, -1)]
    right, bottom = ("right" if dx > 0 else "left"), ("bottom" if dy > 0 else "top")
    sides = [f"New {right} |{''.join(row[column] for row in rows)}|" for column in columns]
    return sides + [f"New {bottom} |{rows[line]}|" for line in lines]


def _changed_tiles(before: list[str], now: list[str], dx: int, dy: int) -> list[str]:
    """Tiles that are in both views and differ, with what they are now."""
    height, width = len(now), len(now[0])
    changed = []
    for row in range(max(0, -dy), min(height, height - dy)):
        for column in range(max(0, -dx), min(width, width - dx)):
            letter = now[row][column]
            if before[row + dy][column + dx] != letter:
                where = offset(column - width // 2, row - height // 2)
                changed.append(f"{where} {NAME_OF_LETTER.get(letter, 'unseen')}")
    return changed


def _facts(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Vitals, dangers, the time of day, equipment and inventory, where they differ."""
    facts = [f"{name} {now[name]}" for name in _PLAIN_FIELDS if now[name] != before[name]]
    if now["time"] != before["time"]:
        facts.append(str(now["time"]))
    for name, yes, no in (
        ("falling", "in the air", "on the ground"),
        ("poison", "poisoned", "no longer poisoned"),
        ("crouching", "crouching", "no longer crouching"),
    ):
        if bool(now[name]) != bool(before[name]):
            facts.append(yes if now[name] else no)
    if now["hazard"] != before["hazard"]:
        facts.append(f"exposed to {now['hazard']}" if now["hazard"] else f"no longer exposed to {before['hazard']}")
    if now["equipment"] != before["equipment"]:
        facts.append(f"equipped {', '.join(now['equipment'].values()) or 'nothing'}")
    if now.get("locker") != before.get("locker"):
        facts.append("locker " + (", ".join(f"{n} {item}" for item, n in now["locker"].items()) or "empty"))
    carried, held = now["inventory"], before["inventory"]
    both = [*held, *[item for item in carried if item not in held]]
    return facts + [f"carry {carried.get(i, 0)} {i}" for i in both if carried.get(i, 0) != held.get(i, 0)]
