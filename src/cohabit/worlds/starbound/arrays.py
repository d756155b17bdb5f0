"""The view of a body as numbers, for learners: the tiles and things in view, and its own state."""

import numpy as np
from numpy.typing import NDArray

from cohabit.world import ArraySpec
from cohabit.worlds.starbound.body import MAX_BREATH, MAX_VITAL, Body
from cohabit.worlds.starbound.environment import hazard_now
from cohabit.worlds.starbound.game import Game
from cohabit.worlds.starbound.items import ITEM_NAMES
from cohabit.worlds.starbound.planets import HEIGHT, PLANET, PLANET_NAMES, SHIP, time_of_day
from cohabit.worlds.starbound.quests import ACHIEVEMENTS, QUEST, open_quests, progress
from cohabit.worlds.starbound.senses import SIGHT_ACROSS, SIGHT_DOWN, Seen, View, view_of
from cohabit.worlds.starbound.tiles import TILES

VIEW = "view"
WIDTH, HIGH = 2 * SIGHT_ACROSS + 1, 2 * SIGHT_DOWN + 1
"""Of the part of a view that is shown. A scanner sees further; that is not shown."""
HOSTILE, OTHER_CREATURE, PLAYER, BUNDLE = range(len(TILES), len(TILES) + 4)
PLANES = len(TILES) + 4
PLACES = (SHIP, *PLANET_NAMES)
TIMES = ("day", "dusk", "night", "dawn")
MANY_ITEMS, MUCH_FUEL = 10, 100
"""More of them is shown as 1."""
STATE = 10
LENGTH = (
    PLANES * WIDTH * HIGH + STATE + len(TIMES) + len(PLACES) + len(PLANET_NAMES) + 2 * len(ITEM_NAMES)
    + len(ACHIEVEMENTS) + 2 * len(QUEST)
)  # fmt: skip
FORM = ArraySpec(shape=(LENGTH,), dtype="float32", low=0, high=1)
_NUMBER = {tile.letter: number for number, tile in enumerate(TILES)}


def nothing() -> NDArray[np.float32]:
    """The array of somebody who sees nothing."""
    return np.zeros(LENGTH, np.float32)


def array_of(game: Game, body: Body) -> NDArray[np.float32]:
    """A plane for each kind of tile (``tiles.TILES``) and for hostile creatures, other creatures, players and bundles:
    1 where one is in view, in rows around the body. Then its own state (``_state``)."""
    return np.concatenate([_planes(view_of(game, body)).ravel(), np.array(_state(game, body), np.float32)])


def _planes(view: View) -> NDArray[np.float32]:
    planes = np.zeros((PLANES, HIGH, WIDTH), np.float32)
    down, across = len(view.rows) // 2 - SIGHT_DOWN, len(view.rows[0]) // 2 - SIGHT_ACROSS
    for y, row in enumerate(view.rows[down : down + HIGH]):
        for x, letter in enumerate(row[across : across + WIDTH]):
            if letter in _NUMBER:
                planes[_NUMBER[letter], y, x] = 1
    for thing in view.things:
        if abs(thing.x) <= SIGHT_ACROSS and abs(thing.y) <= SIGHT_DOWN:
            planes[_plane_of(thing), thing.y + SIGHT_DOWN, thing.x + SIGHT_ACROSS] = 1
    return planes


def _plane_of(thing: Seen) -> int:
    if thing.name == "bundle":
        return BUNDLE
    if thing.name.startswith("player "):
        return PLAYER
    return HOSTILE if thing.state == "hostile" else OTHER_CREATURE


def _state(game: Game, body: Body) -> list[float]:
    """Health, energy, food, breath, whether it is poisoned, in a hazard, crouching, falling, facing right, and its
    depth; the time of day; the place, and the planet below the ship; each item carried, and whether it is worn; each
    achievement; each quest, whether it is done, and how far it is if it is open."""
    land = game.land_of(body)
    planet = PLANET[body.orbit if body.place == SHIP else body.place]
    worn, time = body.equipment.values(), time_of_day(planet, game.step_number)
    open_now = {quest.id: progress(body, quest) / quest.times for quest in open_quests(body)}
    return [
        min(1, body.health / body.max_health), min(1, body.energy / MAX_VITAL), min(1, body.food / MAX_VITAL),
        min(1, body.breath / MAX_BREATH), body.poison > 0, bool(hazard_now(game, land, body)), body.crouching,
        not land.is_supported(body.x, body.y), body.facing > 0,
        0 if land.kind is None else max(0, body.y - land.surface[body.x]) / HEIGHT,
        *(time == name for name in TIMES),
        *(body.place == place for place in PLACES),
        *(min(1, body.fuel / MUCH_FUEL) if body.orbit == name else 0 for name in PLANET_NAMES),
        *(min(1, body.items.get(item, 0) / MANY_ITEMS) for item in ITEM_NAMES),
        *(item in worn for item in ITEM_NAMES),
        *(name in body.achievements for name in ACHIEVEMENTS),
        *(quest in body.quests for quest in QUEST),
        *(open_now.get(quest, 0) for quest in QUEST),
    ]  # fmt: skip
