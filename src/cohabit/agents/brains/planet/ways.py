"""Finding a way over and through the known land: walking, falling a little, digging, and building pillars."""

import heapq
from collections.abc import Callable, Iterator

from msgspec import Struct

from cohabit.agents.brains.planet.chart import CARRIES, DEADLY, LIQUID, Chart, Spot, distance, is_solid, tier_of
from cohabit.worlds.starbound.motion import JUMP_REACH
from cohabit.worlds.starbound.planets import HEIGHT, WIDTH

MAX_NODES = 900
MAX_FALL = 4
DIG_COST, UNKNOWN_COST, WATER_COST, PILLAR_COST, FLOOD_COST, JUMP_COST, BRIDGE_COST = 1.3, 0.6, 3.0, 3.0, 8.0, 2.5, 2.6


class Leg(Struct, frozen=True, gc=False):
    """One leg of a way: the place that it leads to, and the tiles to dig before, as offsets."""

    kind: str  # side, down, bridge, jump, pillar, swim
    start: Spot
    to: Spot
    way: int = 0
    digs: tuple[Spot, ...] = ()


class Walker(Struct, frozen=True):
    """The abilities of the player on its way."""

    tier: int
    blocks: int
    jump: int
    surface: int  # the row of the surface where it is: pillars hold only below


def find_way(
    chart: Chart, start: Spot, is_goal: Callable[[Spot], bool], walker: Walker, towards: Spot | None = None
) -> list[Leg] | None:
    """The cheapest way to a goal; None if there is none within reach. Empty: the start is a goal."""
    best: dict[Spot, float] = {start: 0.0}
    came: dict[Spot, tuple[Spot, Leg]] = {}
    waiting: list[tuple[float, float, Spot]] = [(0.0, 0.0, start)]
    done = 0
    while waiting and done < MAX_NODES:
        _, cost, spot = heapq.heappop(waiting)
        if cost > best[spot]:
            continue
        if is_goal(spot):
            return _trace(came, spot)
        done += 1
        for leg, price in _legs(chart, spot, walker):
            new = cost + price
            if new < best.get(leg.to, 1e9):
                best[leg.to] = new
                came[leg.to] = (spot, leg)
                guess = distance(leg.to, towards) * 0.9 if towards is not None else 0.0
                heapq.heappush(waiting, (new + guess, new, leg.to))
    return None


def _trace(came: dict[Spot, tuple[Spot, Leg]], spot: Spot) -> list[Leg]:
    legs = []
    while spot in came:
        spot, leg = came[spot]
        legs.append(leg)
    return legs[::-1]


def _dig_cost(chart: Chart, x: int, y: int, walker: Walker) -> float | None:
    """The cost of making a tile open; 0 if it is open, None if that is impossible or dangerous."""
    letter = chart.at(x, y)
    if letter in DEADLY or not 1 <= y < HEIGHT - 3:
        return None
    if not is_solid(letter):
        return WATER_COST if letter in LIQUID else 2.0 if letter == "y" else 0.0
    if tier_of(letter) > walker.tier:
        return None
    if any(chart.at(x + dx, y + dy) in DEADLY for dx, dy in ((0, -1), (1, 0), (-1, 0))):
        return None
    wet = any(chart.at(x + dx, y + dy) in LIQUID for dx, dy in ((0, -1), (1, 0), (-1, 0)))  # it would flow in
    return DIG_COST + (UNKNOWN_COST if letter == " " else 0.0) + (FLOOD_COST if wet else 0.0)


def landing(chart: Chart, x: int, y: int) -> int | None:
    """The row where a body comes to rest; None if it falls too far, into danger or into the unknown."""
    for fallen in range(MAX_FALL + 1):
        here, below = chart.at(x, y + fallen), chart.at(x, y + fallen + 1)
        if below in DEADLY:
            return None
        if here in LIQUID or below in CARRIES or (below == " " and is_solid(here)):  # rock: it will be seen when dug
            return y + fallen
        if below == " ":
            return None
    return None


def _jump(chart: Chart, spot: Spot, height: int, way: int) -> Spot | None:
    """The place where a jump to a side ends; None if it is not known, too deep, or of no use."""
    x, y = spot[0], spot[1] - height
    for _ in range(JUMP_REACH):
        if is_solid(chart.at(x + way, y)):
            break
        x = (x + way) % WIDTH
        if chart.at(x, y + 1) in CARRIES:
            break
    row = landing(chart, x, y)
    return (x, row) if row is not None and x != spot[0] and row < spot[1] else None


def _legs(chart: Chart, spot: Spot, walker: Walker) -> Iterator[tuple[Leg, float]]:
    x, y = spot
    for way in (-1, 1):
        side = (x + way) % WIDTH
        level = _dig_cost(chart, side, y, walker)
        if level is not None and (landed := landing(chart, side, y)) is not None:
            digs: tuple[Spot, ...] = ((way, 0),) if is_solid(chart.at(side, y)) else ()
            yield Leg("side", spot, (side, landed), way, digs), 1.0 + level
        elif level == 0.0 and walker.blocks and chart.at(side, y + 1) not in CARRIES:
            yield Leg("bridge", spot, (side, y), way), BRIDGE_COST
        if is_solid(chart.at(side, y)):  # a step up
            over, above = _dig_cost(chart, side, y - 1, walker), _dig_cost(chart, x, y - 1, walker)
            if over is not None and above is not None:
                digs = tuple(dig for dig in ((0, -1), (way, -1)) if is_solid(chart.at(x + dig[0], y + dig[1])))
                yield Leg("side", spot, (side, y - 1), way, digs), 1.2 + over + above
        under = _dig_cost(chart, side, y + 1, walker)
        landed = landing(chart, side, y + 1)
        if level is not None and under and landed is not None and is_solid(chart.at(side, y + 1)):  # a step down
            digs = tuple(dig for dig in ((way, 0), (way, 1)) if is_solid(chart.at(x + dig[0], y + dig[1])))
            yield Leg("side", spot, (side, landed), way, digs), 1.0 + level + under
    below = _dig_cost(chart, x, y + 1, walker)
    if below and is_solid(chart.at(x, y + 1)) and chart.at(x, y + 2) in CARRIES:
        yield Leg("down", spot, (x, y + 1), 0, ((0, 1),)), 0.2 + below
    height = 0
    while height < walker.jump and not is_solid(chart.at(x, y - height - 1)):
        height += 1
    if walker.blocks and height and y > walker.surface + 1 and chart.at(x, y - height) not in DEADLY:
        yield Leg("pillar", spot, (x, y - height)), PILLAR_COST
    if height:
        for way in (-1, 1):
            if (reached := _jump(chart, spot, height, way)) is not None:
                yield Leg("jump", spot, reached, way), JUMP_COST
    if chart.at(x, y) in LIQUID and chart.at(x, y - 1) in LIQUID:
        yield Leg("swim", spot, (x, y - 1)), 1.5
