"""The parts of the world that each kingdom has seen, in the characters of the text map.

It is noted once a year, because to find what a large kingdom sees takes milliseconds. A reply also has what is in sight
now.
"""

from typing import Final

import numpy as np

from cohabit.worlds.kingdoms.land import Land
from cohabit.worlds.kingdoms.sight import View
from cohabit.worlds.kingdoms.text_map import (
    GROUND_LEGEND,
    KINGDOM_CHARACTERS,
    MARKS,
    mark_cities,
    meanings,
    scale_of,
    sketch,
)  # fmt: skip
from cohabit.worlds.seen_map import ExploredMap, Letters, SavedMap, SeenMap

CHARACTERS: Final = " " + "".join(GROUND_LEGEND) + KINGDOM_CHARACTERS + "".join(MARKS)
"""The characters of the map, by their codes."""
CODE_OF: Final = {character: code for code, character in enumerate(CHARACTERS)}
OPEN: Final = frozenset(code for character, code in CODE_OF.items() if character not in " ~!")
BLOCK: Final = 4

_codes = np.vectorize(CODE_OF.__getitem__, otypes=[np.uint8])


def new_map(land: Land) -> SeenMap:
    return SeenMap((land.width, land.height), block=BLOCK, scale=scale_of(land))


def loaded_map(land: Land, saved: SavedMap) -> SeenMap:
    seen = new_map(land)
    seen.load(saved, len(CHARACTERS))
    return seen


def look_around(seen: SeenMap, view: View) -> None:
    """Note what is in sight. Soldiers move, so they are not noted."""
    picture, in_sight, _ = sketch(view)
    for place in mark_cities(view, picture):
        in_sight[place] = True
    ys, xs = np.nonzero(in_sight)
    if len(ys):
        seen.see_cells(xs, ys, _codes(picture[ys, xs]), view.sim.tick)


def map_of(before: SeenMap | None, view: View) -> ExploredMap:
    """The map of all that a kingdom has seen, including its current view."""
    sim = view.sim
    seen = before.copy() if before is not None else new_map(sim.land)
    look_around(seen, view)
    drawn = Letters(CHARACTERS, meanings(sim, sim.kingdoms), OPEN)
    home = next(((city.x, city.y) for city in sim.cities_of(view.kingdom or 0)), None)
    return seen.explored(drawn, sim.tick, None, home)
