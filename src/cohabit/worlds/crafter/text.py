"""A player's situation as text for a model: exact, short, and with its parts always in the same order.

Positions are offsets from the player: ``R3U2`` is three cells right and two up. The text is made of the structured
observation and of what happened in the last step, so it says nothing that a program could not read as well.
"""

from collections.abc import Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any

from cohabit.worlds.crafter.player import Player
from cohabit.worlds.crafter.rules import (
    ACHIEVEMENTS,
    ACTIONS,
    ITEMS,
    MATERIALS,
    NAMES,
    RUNGS,
    VIEW_HEIGHT,
    VIEW_WIDTH,
    VITALS,
    Rung,
)
from cohabit.worlds.crafter.view import MATERIAL_OF

_CENTRE = VIEW_WIDTH // 2, VIEW_HEIGHT // 2
_CELLS = sorted(
    ((column - _CENTRE[0], row - _CENTRE[1]) for row in range(VIEW_HEIGHT) for column in range(VIEW_WIDTH)),
    key=lambda cell: (abs(cell[0]) + abs(cell[1]), cell[1], cell[0]),
)
"""The cells of a view as offsets, the nearest first."""
_by_distance = itemgetter(*((y + _CENTRE[1]) * VIEW_WIDTH + x + _CENTRE[0] for x, y in _CELLS))
_LISTED = {"coal": 3, "iron": 3, "diamond": 3, "table": 2, "furnace": 2, "lava": 3}
"""Materials of which more than the nearest cell is given, because one goes to them, or must not."""
_MAX_RUNGS = 3
_CARRIED = [item for item in ITEMS if "_" not in item]
_TOOLS = {
    tool: [(item, item.partition("_")[0]) for item in ITEMS if item.endswith(f"_{tool}")]
    for tool in ("pickaxe", "sword")
}
"""Of a tool it matters only whether one has it."""
_WAYS = {(-1, 0): "left", (1, 0): "right", (0, -1): "up", (0, 1): "down"}


@lru_cache(1024)
def offset(x: int, y: int) -> str:
    """An offset in letters: R right, L left, U up, D down; ``here`` for the player's own cell."""
    across = f"{'R' if x > 0 else 'L'}{abs(x)}" if x else ""
    down = f"{'D' if y > 0 else 'U'}{abs(y)}" if y else ""
    return across + down or "here"


_OFFSETS = tuple(offset(x, y) for x, y in _CELLS)


def view_text(status: dict[str, Any]) -> str:
    """What is in the view: what one faces, creatures and other things, then each material with its nearest cells and
    the number of all."""
    ground = "".join(status["ground"])
    things = [f"{name} {offset(x, y)}" for name, x, y in sorted(status["things"], key=_distance)]
    near = "".join(_by_distance(ground))
    materials = [_material(letter, near) for letter in sorted(set(near), key=near.index) if letter != " "]
    return f"{around_text(status)}\nSee {', '.join(things + materials)}."


def around_text(status: dict[str, Any]) -> str:
    """The four cells next to the player, first the one that it faces."""
    facing = tuple(status["facing"])
    others = [f"{word} {_at(status, *way)}" for way, word in _WAYS.items() if way != facing]
    return f"Facing {_WAYS[facing]}: {_at(status, *facing)}; {', '.join(others)}."


def _distance(thing: Sequence[Any]) -> tuple[int, int, int]:
    return abs(thing[1]) + abs(thing[2]), thing[2], thing[1]


def _material(letter: str, near: str) -> str:
    """A material, its nearest cells, and how many cells of it there are in all."""
    name, count = MATERIAL_OF[letter], near.count(letter)
    at = near.index(letter)
    words = f"{name} {_OFFSETS[at]}"
    listed = min(count, _LISTED.get(name, 1))
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
    vitals = " ".join([f"{name} {status[name]}" for name in VITALS])
    return f"{vitals}. Asleep." if status["sleeping"] else f"{vitals}."


def inventory_text(inventory: dict[str, int]) -> str:
    """What one has: materials with their amounts, then the kinds of tools."""
    parts = [f"{inventory[item]} {item}" for item in _CARRIED if item in inventory]
    for tool, items in _TOOLS.items():
        kinds = [kind for item, kind in items if item in inventory]
        if kinds:
            parts.append(f"{'/'.join(kinds)} {tool}")
    return ", ".join(parts) or "nothing"


def time_text(status: dict[str, Any]) -> str:
    """How light it is, in a word."""
    light = status["daylight"]
    return "day" if light >= 0.75 else "dusk" if light >= 0.5 else "night"


def progress_text(done: Sequence[str], inventory: dict[str, int]) -> str:
    """The achievements that are done and the next ones, or, if that is shorter, all that are left."""
    if not done:
        return f"Done 0/22. Next {next_text(done, inventory)}."
    left = [rung.name for rung in RUNGS if rung.name not in done]
    if len(left) > len(done):
        return f"Done {len(done)}/22: {', '.join(done)}.\nNext {next_text(done, inventory)}."
    if not left:
        return "Done 22/22."
    described = [_rung(rung, inventory) for rung in _open_rungs(done)]
    known = [name.partition(" ")[0] for name in described]
    return f"Done {len(done)}/22, left {'; '.join([*described, *(name for name in left if name not in known)])}."


def next_text(done: Sequence[str], inventory: dict[str, int]) -> str:
    """The next achievements that can be worked for, with what they need and what is missing."""
    return "; ".join([_rung(rung, inventory) for rung in _open_rungs(done)])


def _open_rungs(done: Sequence[str]) -> list[Rung]:
    known = set(done)
    return [rung for rung in RUNGS if rung.name not in known and known.issuperset(rung.after)][:_MAX_RUNGS]


def _rung(rung: Rung, inventory: dict[str, int]) -> str:
    needs = [f"{amount} {item}" for item, amount in rung.uses if inventory.get(item, 0) < amount]
    needs += rung.needs
    return f"{rung.name} ({', '.join(needs)})" if needs else rung.name


# -- what happened --------------------------------------------------------------------------------------
_WHY = {
    "asleep": "you are asleep until your energy is 9",
    "rested": "you can sleep only if your energy is below 9",
    "unripe": "the plant is not ripe yet",
    "unlucky": "no sapling this time; one in ten tries finds one",
    "peace": "fighting is not allowed here",
    "nobody": "nobody is in front of you",
}
_DEATHS = {
    "lava": "died in lava", "want": "died of hunger, thirst or tiredness", "zombie": "died: a zombie",
    "arrow": "died: an arrow",
}  # fmt: skip
_TAKEN = {"zombie": "a zombie hit you", "arrow": "an arrow hit you", "want": "hunger, thirst or tiredness hurts"}


def failure_text(player: Player) -> str:
    """Why the last action had no effect; empty if it had."""
    if player.failure is None:
        return ""
    reason, *about = player.failure
    if reason in _WHY:
        return _WHY[reason]
    if reason == "tool":
        return f"you need a {ITEMS[about[0]]}"
    if reason == "short":
        return f"you need {about[1]} {ITEMS[about[0]]} and have {player.items[about[0]]}"
    if reason == "nearby":
        return f"there is no {' and no '.join(MATERIALS[material] for material in about)} within one cell"
    if reason == "full":
        return f"{about[0]} cannot carry more of it"
    name = NAMES[about[0]] or "the edge of the map"
    if reason == "blocked":
        return f"{name} is in the way"
    if reason == "where":
        return f"it cannot be placed on {name}"
    return f"there is nothing to do with {name}"


def death_text(player: Player) -> str:
    """How a player died."""
    return _DEATHS.get(player.hurt_by, f"died: {player.hurt_by}")


def action_text(number: int, player: Player) -> str:
    """The reply to an action: what came of it."""
    return events_text(player) or f"{ACTIONS[number]}: done."


def events_text(player: Player) -> str:
    """What happened to a player in the last step, as a sentence; empty if nothing worth telling did."""
    parts = []
    why = failure_text(player)
    if why:
        parts.append(f"No effect: {why}")
    if player.struck is not None:
        kind, health = player.struck
        parts.append(f"you hit the {NAMES[kind]}, {health} health left" if health else f"you killed the {NAMES[kind]}")
    for by, damage in player.hits:
        parts.append(f"{_TAKEN.get(by, f'{by} hit you')}, -{damage} health")
    if player.gave is not None:
        item, amount, to = player.gave
        parts.append(f"you gave {amount} {ITEMS[item]} to {to}" if to else f"you dropped {amount} {ITEMS[item]}")
    for item, amount, by in player.received:
        parts.append(f"{by} gave you {amount} {ITEMS[item]}")
    if player.new:
        parts.append(f"achieved {', '.join(ACHIEVEMENTS[number] for number in player.new)}")
    if not player.alive:
        parts.append(f"you {death_text(player)}")
    return f"{parts[0][0].upper()}{'; '.join(parts)[1:]}." if parts else ""


def whole_text(step: int, status: dict[str, Any], inventory: dict[str, int]) -> str:
    """The whole observation."""
    done = status["achievements"]
    x, y = status["position"]
    lines = [
        f"Step {step}, {time_text(status)}, at {x},{y}. {vitals_text(status)}",
        view_text(status),
        f"Carry {inventory_text(inventory)}.",
        progress_text(done, inventory),
    ]
    if status["events"]:
        lines.append(status["events"])
    return "\n".join(lines)


# -- what has changed ---------------------------------------------------------------------------------------
def changes_text(before: dict[str, Any], now: dict[str, Any]) -> str:
    """What is different from an earlier observation: where the player went, what came into view, what moved.

    Things and cells that are not mentioned are where they were, so their offsets change as the player moves.
    """
    dx, dy = (now["position"][axis] - before["position"][axis] for axis in (0, 1))
    moved = f", you moved {offset(dx, dy)}" if dx or dy else ""
    lines = [f"Step {now['step']}{moved}. Facing {_WAYS[tuple(now['facing'])]}: {_at(now, *now['facing'])}."]
    new, changed = _ground_changes(before, now, dx, dy)
    if new:
        lines.append(f"New {', '.join(new)}.")
    if changed:
        lines.append(f"Now {', '.join(changed)}.")
    stayed = sorted([name, x - dx, y - dy] for name, x, y in before["things"])
    if stayed != sorted(map(list, now["things"])):
        things = [f"{name} {offset(x, y)}" for name, x, y in sorted(now["things"], key=_distance)]
        lines.append(f"Creatures {', '.join(things) or 'none'}.")
    facts = [f"{name} {now[name]}" for name in VITALS if now[name] != before[name]]
    if now["sleeping"] != before["sleeping"]:
        facts.append("asleep" if now["sleeping"] else "awake")
    if time_text(now) != time_text(before):
        facts.append(time_text(now))
    carried, held = now["inventory"], before["inventory"]
    facts += [f"carry {carried.get(item, 0)} {item}" for item in ITEMS if carried.get(item, 0) != held.get(item, 0)]
    if facts:
        lines.append(f"{', '.join(facts)}.")
    if now["achievements"] != before["achievements"]:
        following = next_text(now["achievements"], carried)
        lines.append(f"Done {len(now['achievements'])}/22." + (f" Next {following}." if following else ""))
    if now["events"]:
        lines.append(now["events"])
    return "\n".join(lines)


def _ground_changes(before: dict[str, Any], now: dict[str, Any], dx: int, dy: int) -> tuple[list[str], list[str]]:
    """The cells that came into view, by material, and those that changed in it."""
    new: dict[str, list[str]] = {}
    changed = []
    for (x, y), where in zip(_CELLS, _OFFSETS, strict=True):
        letter = now["ground"][y + _CENTRE[1]][x + _CENTRE[0]]
        column, row = x + dx + _CENTRE[0], y + dy + _CENTRE[1]
        if not (0 <= column < VIEW_WIDTH and 0 <= row < VIEW_HEIGHT):
            if letter != " ":
                new.setdefault(MATERIAL_OF[letter], []).append(where)
        elif before["ground"][row][column] != letter:
            changed.append(f"{where} {MATERIAL_OF[letter]}")
    return [_new_cells(material, cells) for material, cells in new.items()], changed


def _new_cells(material: str, cells: list[str]) -> str:
    listed = _LISTED.get(material, 1)
    more = f" x{len(cells)}" if len(cells) > listed else ""
    return f"{material} {' '.join(cells[:listed])}{more}"


# -- for those who watch many players -------------------------------------------------------------------------
def crowd_text(step: int, status: dict[str, Any]) -> str:
    """The players of a shared land, the most successful first."""
    rows = sorted(status["players"], key=lambda row: -row["achievements"])
    lines = [f"Step {step}, {time_text(status)}."]
    for row in rows:
        line = f"{row['name']}: {row['achievements']}/22" + ("" if row["alive"] else ", dead")
        if "position" in row and row["alive"]:
            x, y = row["position"]
            vitals = ", ".join(f"{name} {row[name]}" for name in VITALS)
            line += f", at {x},{y}, {vitals}, carries {inventory_text(row['inventory'])}"
        lines.append(line)
    return "\n".join(lines) if rows else f"{lines[0]} Nobody is here."
