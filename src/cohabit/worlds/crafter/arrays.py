"""The view of a player as numbers, for learners: the cells with the things on them, and the player's own state."""

import numpy as np
from numpy.typing import NDArray

from cohabit.world import ArraySpec
from cohabit.worlds.crafter.drawing.stock import stock_picture
from cohabit.worlds.crafter.drawing.stock_textures import has_textures
from cohabit.worlds.crafter.game import Game
from cohabit.worlds.crafter.player import Player
from cohabit.worlds.crafter.rules import ACHIEVEMENTS, DIRECTIONS, ITEMS, NAMES, VIEW_HEIGHT, VIEW_WIDTH, VITALS

SYMBOLS, PICTURE = "symbols", "picture"
LENGTH = VIEW_WIDTH * VIEW_HEIGHT + len(VITALS) + len(ITEMS) + 3 + len(ACHIEVEMENTS)
LIGHT_LEVELS = 10
PICTURE_SIZE = 64  # pixels, as in the original
_WAYS = {way: number for number, way in enumerate(DIRECTIONS.values())}


def array_forms() -> dict[str, ArraySpec]:
    """The arrays that are offered; the picture only if its textures are installed."""
    forms = {SYMBOLS: ArraySpec(shape=(LENGTH,), high=max(len(NAMES) - 1, LIGHT_LEVELS))}
    if has_textures():
        forms[PICTURE] = ArraySpec(shape=(PICTURE_SIZE, PICTURE_SIZE, 3))
    return forms


def array_of(game: Game, player: Player, form: str) -> NDArray[np.uint8]:
    """The view of a player, in one of these forms."""
    return symbols(game, player) if form == SYMBOLS else stock_picture(game, player, (PICTURE_SIZE, PICTURE_SIZE))


def symbols(game: Game, player: Player) -> NDArray[np.uint8]:
    """The view row by row, each cell as the number of its thing or else of its material (``rules.NAMES``); health,
    food, drink, energy; the twelve items; the direction it faces (left, right, up, down), whether it sleeps, how light
    it is in tenths; and for each achievement whether it is done."""
    land = game.land
    first = player.cell - VIEW_WIDTH // 2 * land.stride - VIEW_HEIGHT // 2
    numbers: list[int] = []
    for start in range(first, first + VIEW_HEIGHT):
        end = start + (VIEW_WIDTH - 1) * land.stride + 1
        cells = zip(land.at[start : end : land.stride], land.material[start : end : land.stride], strict=True)
        numbers += [material if thing is None else thing.kind for thing, material in cells]
    numbers += [player.health, player.food, player.drink, player.energy, *player.items]
    numbers += [_WAYS[player.dx, player.dy], player.sleeping, int(game.daylight * LIGHT_LEVELS)]
    numbers += [times > 0 for times in player.achievements]
    return np.array(numbers, np.uint8)


def nothing(form: str) -> NDArray[np.uint8]:
    """The array of somebody who sees nothing."""
    return np.zeros(array_forms()[form].shape, np.uint8)
