"""Using powers: where one may be aimed, what it costs, and the pulses of it."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from msgspec import Struct

from cohabit.errors import BadArgs, CohabitError
from cohabit.model.suggest import nearest
from cohabit.world import GameRejected, OutOfBounds, UnknownAsset
from cohabit.worlds.kingdoms import life
from cohabit.worlds.kingdoms.answers import Painted, Point, PowerUsed, Spawned
from cohabit.worlds.kingdoms.names import many, name_of
from cohabit.worlds.kingdoms.powers.ground import reshape
from cohabit.worlds.kingdoms.powers.power import Cast, Power
from cohabit.worlds.kingdoms.powers.spawns import SETTLER_COSTS
from cohabit.worlds.kingdoms.powers.table import POWERS
from cohabit.worlds.kingdoms.realms import Kingdom
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.species import SPECIES
from cohabit.worlds.kingdoms.tiles import GROUND_ROW, TOP_ROW

NAMES_SHOWN = 20
FAR = 10**6
"""Further away than any map reaches."""


class Use(Struct, frozen=True):
    """One use of a power, as it was asked for."""

    power: Power
    x: int
    y: int
    radius: int | None
    pulses: int
    x2: int | None
    y2: int | None


# -- where a kingdom's player may aim -------------------------------------------------------------
def beyond(sim: Sim, mine: Kingdom, action: str, args: Mapping[str, Any]) -> str | None:
    """Why this player may not aim that there, or None where it may. Says nothing about what it cannot see."""
    if action == "spawn":
        if args["entity_id"] in POWERS and args["entity_id"] != mine.race:
            return f"{mine.name} can only call {many(mine.race)}; other creatures are for gods"
        return _off_own_land(sim, mine, args["x"], args["y"])
    power = POWERS.get(args["power_id"]) if action == "invoke_power" else None
    if power is None or power.aim == "any":
        return None
    if power.aim == "god":
        return f"{power.id} is for gods; list_powers shows what kingdoms can use (aim own or any)"
    if power.family == "spawn" and power.id != mine.race:
        return f"{mine.name} can only call {many(mine.race)}; other creatures are for gods"
    ends = [(args["x"], args["y"])]
    if args.get("x2") is not None and args.get("y2") is not None:
        ends.append((args["x2"], args["y2"]))
    return next((why for x, y in ends if (why := _off_own_land(sim, mine, x, y))), None)


def _off_own_land(sim: Sim, mine: Kingdom, x: int, y: int) -> str | None:
    if not sim.land.holds(x, y):
        return None  # the action says so in its own words
    owner = sim.cities.get(int(sim.land.city[sim.land.cell(x, y)]))
    if owner is not None and owner.kingdom == mine.id:
        return None
    return f"{x},{y} is not land of {mine.name}; aim at your own land (list_cities shows where your cities are)"


def on_map(sim: Sim, x: int, y: int) -> None:
    """OUT_OF_BOUNDS for a place that is not on the map."""
    if not sim.land.holds(x, y):
        raise OutOfBounds(f"{x},{y} is off the map; it goes from 0,0 to {sim.land.width - 1},{sim.land.height - 1}")


# -- powers ---------------------------------------------------------------------------------------
def invoke(sim: Sim, mine: Kingdom | None, use: Use) -> tuple[PowerUsed, str]:
    """Use a power, pulse by pulse; what came of it, as values and in words."""
    _check(sim, use)
    cost = use.power.faith * use.pulses if mine is not None else 0
    if mine is not None:
        _pay(mine, cost, use.power.id)
    answer = PowerUsed(
        use.power.id, use.x, use.y, _via(use), x2=use.x2, y2=use.y2, radius=use.radius,
        brush=f"circ_{use.radius}" if use.radius is not None else None,
    )  # fmt: skip
    accepted = applied = 0
    for pulse in range(use.pulses):
        try:
            accepted += use.power.run(sim, _cast(sim, mine, use, pulse))
        except CohabitError as refusal:
            if not pulse:
                if mine is not None:
                    mine.faith += cost
                raise
            answer.stopped, answer.error_code, answer.error_message = "error", refusal.code, refusal.message
            break
        applied += 1
    if use.pulses == 1:
        answer.accepted = bool(accepted)
        return answer, f"{use.power.id} at {use.x},{use.y}" + ("" if accepted else ": nothing came of it")
    answer.pulses, answer.pulses_applied, answer.accepted_count = use.pulses, applied, accepted
    return answer, f"{use.power.id} at {use.x},{use.y}: {accepted} of {applied} pulses did something"


def _check(sim: Sim, use: Use) -> None:
    power = use.power
    on_map(sim, use.x, use.y)
    if (use.x2 is None) != (use.y2 is None):
        raise BadArgs("a drag needs both x2 and y2")
    if use.x2 is not None and use.y2 is not None:
        on_map(sim, use.x2, use.y2)
        if use.pulses == 1 and power.family != "order":
            raise BadArgs("a drag spreads pulses from x,y to x2,y2: give pulses of 2 or more")
    if power.toggle and use.pulses > 1:
        raise BadArgs(f"{power.id} is a switch; pulses make no sense")
    if use.radius is not None and not power.brush:
        raise GameRejected(f"{power.id} takes no radius")


def _via(use: Use) -> str:
    if use.power.toggle:
        return "toggle_action"
    return "click_power_brush_action" if use.radius is not None else "click_power_action"


def _cast(sim: Sim, mine: Kingdom | None, use: Use, pulse: int) -> Cast:
    x, y = use.x, use.y
    if use.x2 is not None and use.y2 is not None and use.pulses > 1:
        x += _share(use.x2 - use.x, pulse, use.pulses - 1)
        y += _share(use.y2 - use.y, pulse, use.pulses - 1)
    cells = sim.land.disc(x, y, use.radius if use.radius is not None else 1 if use.power.brush else 0)
    sim.tally.casts += 1  # no two casts roll the same dice, not even in the same tick
    return Cast(x, y, cells, mine.id if mine is not None else 0, use.x2, use.y2, sim.tally.casts)


def _share(way: int, part: int, parts: int) -> int:
    """``way * part / parts``, rounded to the nearest whole number."""
    return (2 * way * part + parts) // (2 * parts)


def _pay(mine: Kingdom, cost: int, what: str) -> None:
    if mine.faith < cost:
        raise GameRejected(f"{what} costs {cost} faith, and {mine.name} has {mine.faith}; it grows by itself")
    mine.faith -= cost


# -- spawning and painting ------------------------------------------------------------------------
def spawn(sim: Sim, mine: Kingdom | None, kind: int, x: int, y: int, count: int, adult: bool) -> tuple[Spawned, str]:
    """Let creatures appear: a god's are wild, a kingdom's are its own people."""
    city = sim.cities.get(int(sim.land.city[sim.land.cell(x, y)])) if mine is not None else None
    if mine is not None:
        _pay(mine, SETTLER_COSTS * count, f"calling {count} {many(SPECIES[kind].id)}")
    ids = life.spawn(
        sim, kind, x, y, count, kingdom=mine.id if mine is not None else 0, city=city.id if city else 0, grown=adult
    )
    if mine is not None:
        mine.faith += SETTLER_COSTS * (count - len(ids))
    if not len(ids):
        raise GameRejected(f"no {SPECIES[kind].id} can live at {x},{y} or near it")
    names = [name_of(int(who), kind) for who in ids[:NAMES_SHOWN]]
    answer = Spawned(SPECIES[kind].id, x, y, count, len(ids), count - len(ids), names)
    return answer, f"{len(ids)} {SPECIES[kind].id} at {x},{y}"


def paint(sim: Sim, x: int, y: int, tile_id: str | None, top_id: str | None, radius: int) -> tuple[Painted, str]:
    """Make the tiles of a disc into others; those off the map are counted as skipped."""
    if tile_id is None and top_id is None:
        raise BadArgs("give a tile_id, a top_id, or both")
    ground = _row(tile_id, GROUND_ROW, "tile", "list_tiles")
    top = _row(top_id, TOP_ROW, "top tile", "list_top_tiles")
    cells = sim.land.disc(min(max(x, -FAR), FAR), min(max(y, -FAR), FAR), radius)
    reshape(sim, cells, ground, top)
    painted = len(cells)
    answer = Painted(Point(x, y), radius, painted, _disc_size(radius) - painted, tile_id, top_id)
    return answer, f"{painted} tiles painted around {x},{y}"


def _row(name: str | None, rows: Mapping[str, int], what: str, where: str) -> int | None:
    if name is None:
        return None
    if name not in rows:
        raise UnknownAsset(f"there is no {what} {name[:60]!r}; see {where}", did_you_mean=nearest(name[:60], rows))
    return rows[name]


def _disc_size(radius: int) -> int:
    side = np.arange(-radius, radius + 1)
    return int(np.count_nonzero(side[:, None] ** 2 + side[None, :] ** 2 <= radius * radius))
