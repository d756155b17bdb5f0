"""The map in characters, several tiles to a character. What is not seen is drawn from the chart."""

import numpy as np
from numpy.typing import NDArray

from cohabit.worlds.kingdoms.creatures import Job
from cohabit.worlds.kingdoms.sight import View
from cohabit.worlds.kingdoms.tiles import GROUND, IS_STONY, IS_WATER

MAP_COLUMNS, MAP_ROWS = 40, 18
LABELLED_COLUMNS = 8
"""The first of this many columns has its x above it."""
KINGDOM_CHARACTERS = "123456789abcdefghijklmnopqrstuvwxyz"
"""How the land of a kingdom is drawn, by its id; after the last it starts again."""
GROUND_LEGEND = {"~": "water", ".": "land", "^": "hills", "!": "deadly"}
MARKS = {"C": "my city", "E": "city of another kingdom", "X": "enemy soldiers"}


def _ground_characters() -> NDArray[np.str_]:
    characters = np.full(len(GROUND), ".")
    characters[IS_STONY] = "^"
    characters[IS_WATER] = "~"
    characters[[kind.deadly for kind in GROUND]] = "!"
    return characters


GROUND_CHARACTERS = _ground_characters()


def text_map(view: View) -> str:
    """The map with its axes, and the meaning of the characters that occur in it."""
    land = view.sim.land
    across, down = -(-land.width // MAP_COLUMNS), -(-land.height // MAP_ROWS)
    xs, ys = np.arange(across // 2, land.width, across), np.arange(down // 2, land.height, down)
    cells = (ys[:, None] * land.width + xs[None, :]).ravel()
    seen = np.ones(len(cells), np.bool_) if view.seen is None else view.seen[cells]
    characters = GROUND_CHARACTERS[np.where(seen, land.ground[cells], land.chart[cells])]
    owner = view.sim.owners()[land.city[cells]]
    owned = seen & (owner > 0) & ~IS_WATER[land.ground[cells]]
    characters[owned] = np.array(list(KINGDOM_CHARACTERS))[(owner[owned] - 1) % len(KINGDOM_CHARACTERS)]
    picture = characters.reshape(len(ys), len(xs))
    _mark_cities_and_enemies(view, picture, across, down)
    labels = "".join(f"{x * across:<{LABELLED_COLUMNS}}" for x in range(0, len(xs), LABELLED_COLUMNS)).rstrip()
    rows = [f"{y * down:>4} {''.join(row)}" for y, row in enumerate(picture)]
    title = f"MAP (a character is {across} x {down} tiles; x to the right, y down):"
    return "\n".join([title, f"{'':>5}{labels}", *rows, _legend(view, picture, set(owner[owned].tolist()))])


def _legend(view: View, picture: NDArray[np.str_], owners: set[int]) -> str:
    """What the characters mean; only those that occur."""
    lands: dict[str, str] = {}
    for number in sorted(owners):
        character = KINGDOM_CHARACTERS[(number - 1) % len(KINGDOM_CHARACTERS)]
        name = view.sim.kingdoms[number].name
        lands[character] = f"{lands[character]} or {name}" if character in lands else f"land of {name}"
    meanings = GROUND_LEGEND | lands | MARKS
    drawn = set(picture.ravel().tolist())
    return ", ".join(f"{character} {meaning}" for character, meaning in meanings.items() if character in drawn)


def _mark_cities_and_enemies(view: View, picture: NDArray[np.str_], across: int, down: int) -> None:
    sim = view.sim
    if view.kingdom is None:
        return
    height, width = picture.shape
    c, rows = sim.creatures, view.rows()
    foes = rows[sim.at_war[view.kingdom][c.kingdom[rows]] & (c.job[rows] == Job.SOLDIER)]
    picture[np.minimum(c.y[foes] // down, height - 1), np.minimum(c.x[foes] // across, width - 1)] = "X"
    for city in filter(view.sees_city, sim.cities.values()):
        mark = "C" if city.kingdom == view.kingdom else "E"
        picture[min(city.y // down, height - 1), min(city.x // across, width - 1)] = mark
