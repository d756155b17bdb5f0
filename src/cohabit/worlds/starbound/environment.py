"""The effects of nature on a body in a step: gravity, liquids, temperature, hunger, breath; and plants that regrow."""

import numpy as np

from cohabit.worlds.starbound.body import MAX_BREATH, MAX_VITAL, Body
from cohabit.worlds.starbound.game import Game
from cohabit.worlds.starbound.harm import hurt
from cohabit.worlds.starbound.land import Land
from cohabit.worlds.starbound.motion import fall
from cohabit.worlds.starbound.planets import HEIGHT, WIDTH, PlanetKind, is_night
from cohabit.worlds.starbound.terrain import grow_tree
from cohabit.worlds.starbound.tiles import ACID, AIR, CACTUS, LAVA, LIQUIDS, OPEN, TREE, WATER

HUNGER_STEPS = 10
HEALING_STEPS = 4
HAZARD_STEPS = 4
HAZARD_DAMAGE = 3
_HAZARD_CAUSES = {"cold": "cold", "heat": "environmental", "poison": "poison"}
_HAZARD_WORDS = {"cold": "You are freezing", "heat": "The heat burns you", "poison": "The air is poison"}


def live(game: Game, body: Body) -> None:
    """One step of a body's life."""
    land = game.land_of(body)
    if damage := fall(land, body):
        hurt(game, body, damage, "fall", "You fell hard")
    if body.alive:
        _touch(game, land, body)
    if body.alive and land.kind is not None:
        _weather(game, land, land.kind, body)
    if body.alive:
        _breathe(game, land, body)
    if body.alive:
        _metabolise(game, land, body)


def _touch(game: Game, land: Land, body: Body) -> None:
    """The tile that a body is in."""
    here = land.at(body.x, body.y)
    if here == LAVA:
        hurt(game, body, 6 if body.is_protected("heat") else 15, "fire", "Lava burns you")
    elif here == ACID:
        hurt(game, body, 2 if body.is_protected("poison") else 6, "poison", "Acid burns you")
    elif here == CACTUS and body.presence == "awake":
        hurt(game, body, 2, "environmental", "A cactus pricks you")


def hazard_now(game: Game, land: Land, body: Body) -> str:
    """The hazard that this body is exposed to now, or nothing."""
    kind = land.kind
    if kind is None or not kind.hazard or not land.under_sky(body.x, body.y) or body.is_protected(kind.hazard):
        return ""
    if kind.hazard_by != "always" and is_night(kind, game.step_number) != (kind.hazard_by == "night"):
        return ""
    return "" if kind.hazard == "cold" and land.is_warm(body.x, body.y) else kind.hazard


def _weather(game: Game, land: Land, kind: PlanetKind, body: Body) -> None:
    step = game.step_number
    if step % HAZARD_STEPS == 0 and (hazard := hazard_now(game, land, body)):
        hurt(game, body, HAZARD_DAMAGE, _HAZARD_CAUSES[hazard], _HAZARD_WORDS[hazard])
    if is_night(kind, step - 1) and not is_night(kind, step) and body.presence == "awake":
        body.count("nights")


def is_submerged(land: Land, body: Body) -> bool:
    """True if a body cannot breathe: it is in a liquid, and there is no air above."""
    above = land.at(body.x, body.y - 1)
    return land.at(body.x, body.y) in LIQUIDS and (above in LIQUIDS or not OPEN[above])


def _breathe(game: Game, land: Land, body: Body) -> None:
    if not is_submerged(land, body):
        body.breath = min(MAX_BREATH, body.breath + 4)
    elif body.breath:
        body.breath -= 1
    else:
        hurt(game, body, 8, "drowning", "You are drowning")


def _metabolise(game: Game, land: Land, body: Body) -> None:
    """Hunger, poison, healing and energy. A sleeping body needs nothing and heals slowly."""
    step = game.step_number
    if body.poison:
        body.poison -= 1
        hurt(game, body, 1, "poison", "The poison hurts")
    if not body.alive:
        return
    if body.presence == "awake":
        if step % HUNGER_STEPS == 0 and body.food:
            body.food -= 1
        body.energy = min(MAX_VITAL, body.energy + 1)
    if body.food == 0:
        if step % 3 == 0:
            hurt(game, body, 1, "starvation", "You are starving")
    elif step % HEALING_STEPS == 0 and body.food > MAX_VITAL // 5 and not body.poison:
        body.health = min(body.max_health, body.health + 1)


# -- plants ---------------------------------------------------------------------------------------------
def grow(game: Game, land: Land) -> None:
    """Plants that were taken come again where there is space."""
    while land.growths and land.growths[0].at <= game.step_number:
        growth = land.growths.pop(0)
        x, y = growth.cell % WIDTH, growth.cell // WIDTH
        if land.at(x, y) != AIR or not 8 < y < HEIGHT - 1 or OPEN[land.at(x, y + 1)]:
            continue
        if growth.tile != TREE:
            land.put(x, y, growth.tile)
        elif all(land.at(x, y - up) == AIR for up in range(4)):
            _regrow_tree(land, x, y)


def _regrow_tree(land: Land, x: int, base: int) -> None:
    before = np.frombuffer(bytes(land.tiles), np.uint8).reshape(HEIGHT, WIDTH)
    grid = before.astype(np.int64)
    grow_tree(grid, x, base, 3 + x % 3)
    for y, column in np.argwhere(grid != before).tolist():
        land.put(column, y, int(grid[y, column]))


def fills(land: Land, x: int, y: int) -> int:
    """The content of a tile that was dug: a liquid above or beside it flows in."""
    for tile in (land.at(x, y - 1), land.at(x - 1, y), land.at(x + 1, y)):
        if tile in (WATER, LAVA, ACID):
            return tile
    return AIR
