"""A player's situation as text for a model: exact, short, and with its parts always in the same order.

The text is made of the structured observation, so it says nothing that a program could not read. ``R3U2`` is three
tiles right and two up. What has changed between two observations is a text of its own. Together with the earlier text
it tells everything: the map shifts by the body's move, edges that came into view are given as rows of letters, and
tiles that changed are listed.
"""

from typing import Any

from cohabit.worlds.shifted_view import changed_cells, new_edges, offset
from cohabit.worlds.starbound.land import across
from cohabit.worlds.starbound.planets import PLANET, SHIP
from cohabit.worlds.starbound.senses import nearest_tile
from cohabit.worlds.starbound.tiles import LETTER_OF_NAME, NAME_OF_LETTER
from cohabit.worlds.words import counted

ME = "@"
_LISTED = (
    "tree", "bush", "cactus", "mushroom", "coal", "iron", "titanium", "diamond", "crystal", "lava", "acid", "water",
    "workbench", "furnace", "anvil", "campfire", "bed", "altar", "locker", "console", "teleporter",
)  # fmt: skip
"""Tiles of which the nearest is listed by its offset."""
_PLAIN = ("air",)
"""Tiles that the legend leaves out."""
MAX_SHIFT = 4
MAX_CHANGED = 10
_PLAIN_FIELDS = ("health", "energy", "food", "breath")
_THING_LETTERS = {"bundle": "$", "player": "O"}


def thing_letter(name: str, state: str) -> str:
    return _THING_LETTERS.get(name.partition(" ")[0]) or ("E" if state == "hostile" else "a")


def map_rows(status: dict[str, Any]) -> list[str]:
    """The view with everything on it."""
    rows = [list(row) for row in status["map"]]
    high, wide = len(rows) // 2, len(rows[0]) // 2
    for name, x, y, state, _ in reversed(status["things"]):
        rows[y + high][x + wide] = thing_letter(name, state)
    rows[high][wide] = ME
    return ["".join(row) for row in rows]


def legend(status: dict[str, Any]) -> str:
    """The meanings of the letters of this map: only those that it shows."""
    used = sorted(set("".join(status["map"])) - {" "}, key=list(NAME_OF_LETTER).index)
    parts = [f"{letter} {NAME_OF_LETTER[letter]}" for letter in used if NAME_OF_LETTER[letter] not in _PLAIN]
    return ", ".join(parts)


def seen_text(status: dict[str, Any]) -> str:
    """Things in sight and the nearest of each useful tile."""
    parts = [thing_text(thing) for thing in status["things"]]
    letters = "".join(status["map"])
    for name in _LISTED:
        count = letters.count(LETTER_OF_NAME[name])
        if count and (at := nearest_tile(status["map"], name)) is not None:
            parts.append(f"{name} {offset(*at)}" + (f" x{count}" if count > 1 else ""))
    return ", ".join(parts)


def thing_text(thing: list[Any]) -> str:
    name, x, y, state, health = thing
    words = " ".join(part for part in (state if state != "passive" else "", health) if part)
    return f"{name} {offset(x, y)}" + (f" ({words})" if words else "")


def place_text(status: dict[str, Any]) -> str:
    if status["place"] == SHIP:
        return f"aboard your ship at {PLANET[status['orbit']].title}, fuel {status['fuel']}"
    depth = f", {status['depth']} below the surface" if status["depth"] > 1 else ""
    return f"on {PLANET[status['place']].title} ({status['biome']}){depth}"


def vitals_text(status: dict[str, Any]) -> str:
    words = f"Health {status['health']}/{status['max_health']} energy {status['energy']} food {status['food']}"
    if status["breath"] < 12:
        words += f" breath {status['breath']}"
    if status["poison"]:
        words += ", poisoned"
    if status["hazard"]:
        words += f", exposed to {status['hazard']}"
    if status["falling"]:
        words += ", in the air"
    if status["crouching"]:
        words += ", crouching"
    return words + "."


def items_text(items: dict[str, int]) -> str:
    return ", ".join(f"{count} {item}" for item, count in items.items()) or "nothing"


def whole_text(step: int, status: dict[str, Any], inventory: dict[str, int]) -> str:
    """The whole situation of a player."""
    x, y = status["position"]
    lines = [f"Step {step}, {status['time']}, {place_text(status)}, at {x},{y} facing {status['facing']}."]
    if not status["alive"]:
        lines.append(f"You are dead ({status['death']}). Respawn, or wait to wake up aboard your ship.")
    else:
        lines.append(vitals_text(status))
        lines += [row.rstrip() for row in map_rows(status) if row.strip()]
        lines.append(f"Map: {legend(status)}.")
        if seen := seen_text(status):
            lines.append(f"See {seen}.")
        if status["hears"]:
            lines.append(f"Hear {', '.join(status['hears'])}.")
    worn = ", ".join(status["equipment"].values())
    lines.append(f"Carry {items_text(inventory)}." + (f" Equipped {worn}." if worn else ""))
    if status["can_craft"] and status["alive"]:
        lines.append(f"Can craft {', '.join(status['can_craft'])}.")
    if status.get("locker"):
        lines.append(f"Locker {items_text(status['locker'])}.")
    if status["events"]:
        lines.append(" ".join(status["events"]))
    return "\n".join(lines)


def crowd_text(step: int, status: dict[str, Any]) -> str:
    """The players, the most successful first."""
    rows = sorted(status["players"], key=lambda row: -(row["achievements"] + row["quests"]))
    lines = [f"Step {step}."]
    for row in rows:
        line = f"{row['name']}: {counted(row['quests'], 'quest')}, {counted(row['achievements'], 'achievement')}"
        line += "" if row["alive"] else ", dead"
        if "place" in row:
            x, y = row["position"]
            line += f", {row['place']} {x},{y}, health {row['health']}, carries {items_text(row['inventory'])}"
        lines.append(line)
    return "\n".join(lines) if rows else f"{lines[0]} Nobody is here."


# -- what has changed ------------------------------------------------------------------------------------
def changes_text(before: dict[str, Any], now: dict[str, Any]) -> str | None:
    """The changes as text; None if the whole text is better."""
    if not (before["alive"] and now["alive"]) or before["place"] != now["place"]:
        return None
    if len(before["map"]) != len(now["map"]) or before["max_health"] != now["max_health"]:
        return None
    dx, dy = across(before["position"][0], now["position"][0]), now["position"][1] - before["position"][1]
    if abs(dx) + abs(dy) > MAX_SHIFT:
        return None
    changed = changed_cells(before["map"], now["map"], dx, dy, lambda letter: NAME_OF_LETTER.get(letter, "unseen"))
    if len(changed) > MAX_CHANGED:
        return None
    moved = f", you moved {offset(dx, dy)}" if dx or dy else ""
    where = f", {place_text(now)}" if place_text(now) != place_text(before) else ""
    lines = [f"Step {now['step']}{moved}{where}, facing {now['facing']}.", *new_edges(map_rows(now), dx, dy, "|")]
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
    told = before["events"] if before["step"] == now["step"] else ()  # no step has passed, so they are no news
    if events := [event for event in now["events"] if event not in told]:
        lines.append(" ".join(events))
    return "\n".join(lines)


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
