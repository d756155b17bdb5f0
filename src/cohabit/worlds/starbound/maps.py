"""The parts of each planet that each body has seen."""

from typing import Final

import numpy as np

from cohabit.errors import GameRejected
from cohabit.worlds.seen_map import ExploredMap, Letters, SavedMap, SeenMap
from cohabit.worlds.starbound.body import Body
from cohabit.worlds.starbound.game import Game
from cohabit.worlds.starbound.planets import HEIGHT, PLANET, PLANET_NAMES, SHIP, WIDTH
from cohabit.worlds.starbound.senses import seen_tiles
from cohabit.worlds.starbound.tiles import NAME_OF_LETTER, OPEN, TILES, TO_LETTERS

CODES: Final = len(TILES) + 1
"""The code of a tile is its number and 1: 0 was never seen."""
LETTERS: Final = Letters(
    " " + bytes(range(len(TILES))).translate(TO_LETTERS).decode(),
    NAME_OF_LETTER,
    frozenset(number + 1 for number in range(len(TILES)) if OPEN[number]),
)


def new_map() -> SeenMap:
    return SeenMap((WIDTH, HEIGHT), is_round=True)


def loaded_map(saved: SavedMap) -> SeenMap:
    seen = new_map()
    seen.load(saved, CODES)
    return seen


def look_around(game: Game, body: Body) -> None:
    """The body remembers what it sees now. Its ship is always the same."""
    if body.place == SHIP or not body.here:
        return
    key = body.number, body.place
    seen = game.seen.get(key)
    if seen is None:
        seen = game.seen[key] = new_map()
    tiles = seen_tiles(game, body)
    cells = np.flatnonzero(np.frombuffer(tiles.seen, np.uint8))
    width = 2 * tiles.wide + 1
    ys = body.y - tiles.high + cells // width
    inside = (ys >= 0) & (ys < HEIGHT)
    cells, ys = cells[inside], ys[inside]
    xs = (body.x - tiles.wide + cells % width) % WIDTH
    seen.see_cells(xs, ys, np.frombuffer(tiles.window, np.uint8)[cells] + np.uint8(1), game.step_number)


def forget(game: Game, body: Body) -> None:
    """The body has seen nothing yet."""
    for key in [key for key in game.seen if key[0] == body.number]:
        del game.seen[key]


def map_of(game: Game, body: Body, planet: str) -> ExploredMap:
    """The parts of a planet that a body has seen; "": the planet where it or its ship is."""
    if planet and planet not in PLANET:
        raise GameRejected(f"planets: {', '.join(PLANET_NAMES)}")
    place = planet or (body.orbit if body.place == SHIP else body.place)
    you = (body.x, body.y) if body.place == place else None
    seen = game.seen.get((body.number, place)) or new_map()
    return seen.explored(LETTERS, game.step_number, you, you or body.landed.get(place), place)
