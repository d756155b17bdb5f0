"""Using powers: where a player may aim them, what they cost, and their pulses."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from cohabit.errors import BadArgs, CohabitError
from cohabit.world import GameRejected, OutOfBounds
from cohabit.worlds.kingdoms.answers import PowerUsed
from cohabit.worlds.kingdoms.names import plural
from cohabit.worlds.kingdoms.powers.power import Cast, Power
from cohabit.worlds.kingdoms.powers.spawns import pay
from cohabit.worlds.kingdoms.powers.table import POWERS
from cohabit.worlds.kingdoms.sim import MAX_KINGDOM_ID, Kingdom, Sim


class PowerUse(Struct, frozen=True):
    """One use of a power, as requested."""

    power: Power
    x: int
    y: int
    radius: int | None
    pulses: int
    x2: int | None
    y2: int | None


# -- where a kingdom's player may aim -------------------------------------------------------------
def out_of_scope(sim: Sim, mine: Kingdom, action: str, args: Mapping[str, Any]) -> str | None:
    """Why this player may not aim the action there, or None if it may. Reveals nothing the player cannot see."""
    if action == "spawn":
        if args["entity_id"] in POWERS and args["entity_id"] != mine.race:
            return _only_own_race(mine)
        return _off_own_land(sim, mine, args["x"], args["y"])
    power = POWERS.get(args["power_id"]) if action == "invoke_power" else None
    if power is None or power.aim == "any":
        return None
    if power.aim == "god":
        return f"only gods can use {power.id}; kingdoms can use the powers with aim own or any"
    if power.family == "spawn" and power.id != mine.race:
        return _only_own_race(mine)
    ends = [(args["x"], args["y"])]
    if args.get("x2") is not None and args.get("y2") is not None:
        ends.append((args["x2"], args["y2"]))
    return next((why for x, y in ends if (why := _off_own_land(sim, mine, x, y))), None)


def _only_own_race(mine: Kingdom) -> str:
    return f"{mine.name} can only spawn {plural(mine.race)}; only gods can spawn other creatures"


def _off_own_land(sim: Sim, mine: Kingdom, x: int, y: int) -> str | None:
    if not sim.land.holds(x, y):
        return None  # the action itself refuses it
    owner = sim.cities.get(int(sim.land.city[sim.land.cell(x, y)]))
    if owner is not None and owner.kingdom == mine.id:
        return None
    return f"{x},{y} is not land of {mine.name}; aim at your own land, near one of your cities"


def on_map(sim: Sim, x: int, y: int) -> None:
    """OUT_OF_BOUNDS for a place that is not on the map."""
    if not sim.land.holds(x, y):
        raise OutOfBounds(f"{x},{y} is off the map, which is 0,0 to {sim.land.width - 1},{sim.land.height - 1}")


# -- using a power --------------------------------------------------------------------------------
def invoke(sim: Sim, mine: Kingdom | None, use: PowerUse) -> tuple[PowerUsed, str]:
    """Use a power, pulse by pulse; returns the result and a message."""
    _check(sim, use)
    cost = use.power.faith * use.pulses if mine is not None else 0
    if mine is not None:
        pay(mine, cost, use.power.id)
    answer = PowerUsed(
        use.power.id, use.x, use.y, _via(use), x2=use.x2, y2=use.y2, radius=use.radius,
        brush=f"circ_{use.radius}" if use.radius is not None else None,
    )  # fmt: skip
    accepted = applied = 0
    for pulse in range(use.pulses):
        try:
            accepted += use.power.run(sim, _cast(sim, mine, use, pulse))
        except CohabitError as refusal:
            if not pulse:  # nothing was done: a refusal leaves no trace
                _take_back(sim, mine, use)
                if mine is not None:
                    mine.faith += cost
                raise
            answer.stopped, answer.error_code, answer.error_message = "error", refusal.code, refusal.message
            break
        applied += 1
    if mine is not None:
        mine.faith += use.power.faith * (use.pulses - accepted)  # a pulse without an effect is free
        answer.faith_spent, answer.faith_left = use.power.faith * accepted, mine.faith
    answer.effect = use.power.description if accepted else None
    where = f"{use.power.id} at {use.x},{use.y}"
    free = "" if mine is None or accepted == use.pulses else "; the others cost no faith"
    if use.pulses == 1:
        answer.accepted = bool(accepted)
        return answer, where if accepted else f"{where}: no effect" + (", so it cost no faith" if free else "")
    answer.pulses, answer.pulses_applied, answer.accepted_count = use.pulses, applied, accepted
    return answer, f"{where}: {accepted} of {applied} pulses had an effect{free}"


def _check(sim: Sim, use: PowerUse) -> None:
    power = use.power
    on_map(sim, use.x, use.y)
    if (use.x2 is None) != (use.y2 is None):
        raise BadArgs("a drag needs both x2 and y2")
    if use.x2 is not None and use.y2 is not None:
        on_map(sim, use.x2, use.y2)
        if use.pulses == 1 and power.family != "order":
            raise BadArgs("a drag spreads pulses from x,y to x2,y2: give pulses of 2 or more")
    if power.toggle and use.pulses > 1:
        raise BadArgs(f"{power.id} is a switch, so pulses must be 1")
    if use.radius is not None and not power.brush:
        raise GameRejected(f"{power.id} takes no radius")


def _via(use: PowerUse) -> str:
    if use.power.toggle:
        return "toggle_action"
    return "click_power_brush_action" if use.radius is not None else "click_power_action"


def _cast(sim: Sim, mine: Kingdom | None, use: PowerUse, pulse: int) -> Cast:
    x, y = use.x, use.y
    if use.x2 is not None and use.y2 is not None and use.pulses > 1:
        x += _share(use.x2 - use.x, pulse, use.pulses - 1)
        y += _share(use.y2 - use.y, pulse, use.pulses - 1)
    cells = sim.land.disc(x, y, use.radius if use.radius is not None else 1 if use.power.brush else 0)
    by = mine.id if mine is not None else 0
    return Cast(x, y, cells, by, use.x2, use.y2, _pulse(sim, mine, x, y))


def _pulse(sim: Sim, mine: Kingdom | None, x: int, y: int) -> int:
    """A number for this pulse. No two pulses draw the same random numbers, not even in the same tick, and nothing in
    the numbers of a kingdom or of a place follows from what is done elsewhere."""
    if mine is not None:
        mine.casts += 1
        return mine.casts * (MAX_KINGDOM_ID + 1) + mine.id
    cell = sim.land.cell(x, y)
    sim.casts[cell] = sim.casts.get(cell, 0) + 1
    return (sim.casts[cell] * sim.land.size + cell) * (MAX_KINGDOM_ID + 1)


def _take_back(sim: Sim, mine: Kingdom | None, use: PowerUse) -> None:
    """Undo ``_pulse`` for the first pulse of this use."""
    if mine is not None:
        mine.casts -= 1
        return
    cell = sim.land.cell(use.x, use.y)
    sim.casts[cell] -= 1
    if not sim.casts[cell]:
        del sim.casts[cell]


def _share(length: int, part: int, parts: int) -> int:
    """``length * part / parts``, rounded to the nearest whole number."""
    return (2 * length * part + parts) // (2 * parts)
