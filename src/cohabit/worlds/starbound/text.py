"""A player's situation as text for a model: exact, short, and with its parts always in the same order.

The text is made of the structured observation, so it says nothing that a program could not read. ``R3U2`` is three
tiles right and two up.
"""

from functools import lru_cache
from typing import Any

from cohabit.worlds.starbound.planets import PLANET, SHIP
from cohabit.worlds.starbound.tiles import LETTER_OF_NAME, NAME_OF_LETTER
from cohabit.worlds.starbound.vision import nearest_tile

ME = "@"
_LISTED = (
    "tree", "bush", "cactus", "mushroom", "coal", "iron", "titanium", "diamond", "crystal", "lava", "acid", "water",
    "workbench", "furnace", "anvil", "campfire", "bed", "altar", "locker", "console", "teleporter",
)  # fmt: skip
"""Tiles of which the nearest is listed by its offset."""
_PLAIN = ("air",)
"""Tiles that the legend leaves out."""
_THING_LETTERS = {"bundle": "$", "player": "O"}


@lru_cache(2048)
def offset(x: int, y: int) -> str:
    """An offset in letters: R right, L left, U up, D down; ``here`` for the body's own place."""
    side = f"{'R' if x > 0 else 'L'}{abs(x)}" if x else ""
    down = f"{'D' if y > 0 else 'U'}{abs(y)}" if y else ""
    return side + down or "here"


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
    """What the letters of this map mean: only those that it shows."""
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


def counted(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


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
