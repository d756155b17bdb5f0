"""Redraws the parts of the planets that a body does not know.

Planets that it has never seen are made from another seed. On the others, columns that it has not been near look like
other columns of the planet, and rock that no open space has ever touched is other rock; only the line of the surface
stays. Creatures, bundles and bodies out of sight and hearing are elsewhere.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cohabit.model.stream import Stream
from cohabit.worlds.starbound.body import MAX_VITAL, Body
from cohabit.worlds.starbound.choices import Choice
from cohabit.worlds.starbound.game import SECTION, Game
from cohabit.worlds.starbound.items import limit
from cohabit.worlds.starbound.land import Creature, Land, across, make_land
from cohabit.worlds.starbound.planets import CREATURE, HEIGHT, SHIP, WIDTH
from cohabit.worlds.starbound.senses import HEARING, sight, view_of
from cohabit.worlds.starbound.terrain import make_terrain
from cohabit.worlds.starbound.tiles import AIR, ALTAR, LIQUIDS, OPEN, SOLID, TILES

CARRIED = ("wood", "stone", "dirt", "coal", "iron", "cooked_meat", "torch")
"""Items that a redrawn body may carry unseen."""
LOWEST_VITAL = 30
BEDROCK_ROWS = 2
_ROCK = np.array([SOLID[i] and not OPEN[i] and not t.light and not t.warm and i != ALTAR for i, t in enumerate(TILES)])
"""Tiles that look like nothing from outside, so that one can be in the place of another."""
_IS_OPEN = np.array(OPEN, bool)
Grid = NDArray[np.uint8]


def resample(game: Game, chosen: dict[str, Choice], body: Body | None, stream: Stream) -> None:
    """Redraw everything that this body does not know; with no body, everything that is not public."""
    seen = [] if body is None else [(thing.name, thing.x, thing.y) for thing in view_of(game, body).things]
    game.lands_seed = stream.bits64()
    for name, land in list(game.lands.items()):
        if body is None or not body.explored.get(name):
            game.lands[name] = _another(land, stream)
        else:
            _redraw_ground(land, body.explored[name], stream)
            _redraw_things(land, body if body.place == name else None, seen, stream)
    for other in game.bodies:
        if other is not body:
            _redraw_body(game, other, body, seen, stream)
    for seat in chosen:
        if body is None or seat != body.seat:
            tiles = {"direction": stream.choice(("left", "right")), "tiles": stream.between(1, 4)}
            chosen[seat] = Choice("move", tiles) if stream.chance(2, 3) else Choice("wait")


def _is_known(body: Body | None, seen: Sequence[tuple[str, int, int]], name: str, x: int, y: int) -> bool:
    """True if the body sees or hears this."""
    if body is None:
        return False
    dx, dy = across(body.x, x), y - body.y
    return (name, dx, dy) in seen or abs(dx) + abs(dy) <= HEARING


def _free_column(land: Land, body: Body | None, stream: Stream) -> int | None:
    """A column in which something can be that the body neither sees nor hears."""
    x = stream.below(WIDTH)
    if body is not None and abs(across(body.x, x)) <= max(sight(body)[0], HEARING) + 1:
        return None
    return None if land.at(x, land.top(x)) in LIQUIDS or land.at(x, land.top(x) + 1) in LIQUIDS else x


# -- the ground ---------------------------------------------------------------------------------------------
def _another(land: Land, stream: Stream) -> Land:
    """The same planet from another seed."""
    made = make_land(stream.bits64(), land.name)
    for creature in land.creatures:
        if (moved := _moved(made, creature, None, stream)) is not None:
            made.creatures.append(moved)
    return made


def _redraw_ground(land: Land, explored: int, stream: Stream) -> None:
    now = np.frombuffer(bytes(land.tiles), np.uint8).reshape(HEIGHT, WIDTH)
    drawn = np.where(_near(explored)[None, :], _other_rock(land, now, stream), _turned(land, stream))
    drawn[-BEDROCK_ROWS:] = now[-BEDROCK_ROWS:]
    for y, x in np.argwhere(drawn != now).tolist():
        land.put(x, y, int(drawn[y, x]))


def _near(explored: int) -> NDArray[np.bool_]:
    """The columns that a body can have seen: those of the sections that it has explored, and one more on each side."""
    sections = np.array([explored >> i & 1 for i in range(WIDTH // SECTION)], bool)
    return np.repeat(sections | np.roll(sections, 1) | np.roll(sections, -1), SECTION)


def _turned(land: Land, stream: Stream) -> Grid:
    """The planet as it was made, turned by a random angle; each column is moved up or down to its surface."""
    made = np.frombuffer(make_terrain(land.seed, land.name).tiles, np.uint8).reshape(HEIGHT, WIDTH)
    columns = np.arange(WIDTH)
    source = (columns + stream.between(1, WIDTH - 1)) % WIDTH
    surface = np.array(land.surface)
    rows = np.arange(HEIGHT)[:, None] + (surface[source] - surface)[None, :]
    turned = made[np.clip(rows, 0, HEIGHT - 1 - BEDROCK_ROWS), source[None, :]]
    return np.where(rows < 0, AIR, turned).astype(np.uint8)


def _other_rock(land: Land, now: Grid, stream: Stream) -> Grid:
    """Other rock in those places from which no open space can ever have been seen."""
    touched = _IS_OPEN[now]
    for cell in land.changes:
        touched[cell // WIDTH, cell % WIDTH] = True
    near = touched.copy()
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            moved = np.roll(np.roll(touched, dy, 0), dx, 1)
            near |= moved
    turned = _turned(land, stream)
    return np.where(~near & _ROCK[now] & _ROCK[turned], turned, now).astype(np.uint8)


# -- what is on it ------------------------------------------------------------------------------------------
def _redraw_things(land: Land, body: Body | None, seen: Sequence[tuple[str, int, int]], stream: Stream) -> None:
    creatures: list[Creature] = []
    for creature in land.creatures:
        kind = CREATURE[creature.kind]
        if kind.boss or _is_known(body, seen, kind.name, creature.x, creature.y):
            creatures.append(creature)
        elif (moved := _moved(land, creature, body, stream)) is not None:
            creatures.append(moved)
    land.creatures = creatures
    for bundle in list(land.bundles):
        if body is None or ("bundle", across(body.x, bundle.x), bundle.y - body.y) not in seen:
            x = _free_column(land, body, stream)
            if x is None or any(other.x == x for other in land.bundles):
                land.bundles.remove(bundle)
            else:
                bundle.x, bundle.y = x, land.top(x)
                bundle.items = _carried(stream) or {"wood": 1}


def _moved(land: Land, creature: Creature, body: Body | None, stream: Stream) -> Creature | None:
    """A creature somewhere else. None: there is none."""
    kind, x = CREATURE[creature.kind], _free_column(land, body, stream)
    if x is None or kind.where != "surface" or stream.chance(1, 4):
        return None
    y = max(1, land.top(x) - (4 if kind.flies else 0))
    return Creature(creature.number, creature.kind, x, y, stream.between(1, kind.health), stream.choice((-1, 1)))


def _redraw_body(
    game: Game, other: Body, body: Body | None, seen: Sequence[tuple[str, int, int]], stream: Stream
) -> None:
    """Redraw the hidden parts of a body: its state, its items, and its position."""
    land = game.land_of(other)
    here = body if body is not None and body.place == other.place != SHIP else None
    worn = dict(other.equipment)
    if other.place != SHIP and not _is_known(here, seen, f"player {other.name}", other.x, other.y):
        worn = {}
        x = None if other.fate is not None else _free_column(land, here, stream)
        if x is not None or not land.is_open(other.x, other.y):
            other.x = other.x if x is None else x
            other.y = land.top(other.x)
            other.facing, other.fallen, other.crouching = stream.choice((-1, 1)), 0, False
    other.items = {**_carried(stream), **dict.fromkeys(worn.values(), 1)}
    other.equipment = worn
    other.events = []
    other.locker = _carried(stream)
    other.fuel = stream.below(40)
    if other.alive:
        other.health = stream.between(min(LOWEST_VITAL, other.max_health), other.max_health)
        other.food, other.energy = (stream.between(LOWEST_VITAL, MAX_VITAL) for _ in range(2))


def _carried(stream: Stream) -> dict[str, int]:
    return {item: stream.between(1, min(9, limit(item))) for item in CARRIED if stream.chance(1, 3)}
