"""The map in characters, several tiles to a character. What is not seen is drawn from the chart."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cohabit.worlds.kingdoms.creatures import Job
from cohabit.worlds.kingdoms.land import Land
from cohabit.worlds.kingdoms.sight import View
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.tiles import GROUND, IS_STONY, IS_WATER

MAP_COLUMNS, MAP_ROWS = 40, 18
LABELLED_COLUMNS = 8
"""The first of this many columns has its x above it."""
KINGDOM_CHARACTERS = "123456789abcdefghijklmnopqrstuvwxyz"
"""The character of the land of a kingdom, by its id; after the last it starts again."""
GROUND_LEGEND = {"~": "water", ".": "land", "^": "hills", "!": "deadly"}
MARKS = {"C": "my city", "E": "city of another kingdom", "X": "enemy soldiers"}


def _ground_characters() -> NDArray[np.str_]:
    characters = np.full(len(GROUND), ".")
    characters[IS_STONY] = "^"
    characters[IS_WATER] = "~"
    characters[[kind.deadly for kind in GROUND]] = "!"
    return characters


GROUND_CHARACTERS = _ground_characters()


class Sketch(NamedTuple):
    """The land in characters, and which of them are in sight; the others are from the chart."""

    picture: NDArray[np.str_]
    seen: NDArray[np.bool_]
    owners: set[int]  # kingdoms whose land is drawn


def scale_of(land: Land) -> tuple[int, int]:
    """The tiles of a character, across and down."""
    return -(-land.width // MAP_COLUMNS), -(-land.height // MAP_ROWS)


def sketch(view: View) -> Sketch:
    land, (across, down) = view.sim.land, scale_of(view.sim.land)
    xs, ys = np.arange(across // 2, land.width, across), np.arange(down // 2, land.height, down)
    cells = (ys[:, None] * land.width + xs[None, :]).ravel()
    seen = np.ones(len(cells), np.bool_) if view.seen is None else view.seen[cells]
    characters = GROUND_CHARACTERS[np.where(seen, land.ground[cells], land.chart[cells])]
    owner = view.sim.owners()[land.city[cells]]
    owned = seen & (owner > 0) & ~IS_WATER[land.ground[cells]]
    characters[owned] = np.array(list(KINGDOM_CHARACTERS))[(owner[owned] - 1) % len(KINGDOM_CHARACTERS)]
    shape = len(ys), len(xs)
    return Sketch(characters.reshape(shape), seen.reshape(shape), set(owner[owned].tolist()))


def text_map(view: View) -> str:
    """The map with its axes, and the meaning of the characters that occur in it."""
    across, down = scale_of(view.sim.land)
    picture, _, owners = sketch(view)
    _mark_enemies(view, picture, across, down)
    mark_cities(view, picture)
    labels = "".join(f"{x * across:<{LABELLED_COLUMNS}}" for x in range(0, picture.shape[1], LABELLED_COLUMNS)).rstrip()
    rows = [f"{y * down:>4} {''.join(row)}" for y, row in enumerate(picture)]
    title = f"MAP (a character is {across} x {down} tiles; x to the right, y down):"
    return "\n".join([title, f"{'':>5}{labels}", *rows, _legend(view, picture, owners)])


def _legend(view: View, picture: NDArray[np.str_], owners: set[int]) -> str:
    """The meanings of the characters in the picture."""
    drawn = set(picture.ravel().tolist())
    return ", ".join(
        f"{character} {meaning}" for character, meaning in meanings(view.sim, owners).items() if character in drawn
    )


def meanings(sim: Sim, owners: Iterable[int]) -> dict[str, str]:
    """The meaning of each character."""
    lands: dict[str, str] = {}
    for number in sorted(owners):
        character = KINGDOM_CHARACTERS[(number - 1) % len(KINGDOM_CHARACTERS)]
        name = sim.kingdoms[number].name
        lands[character] = f"{lands[character]} or {name}" if character in lands else f"land of {name}"
    return GROUND_LEGEND | lands | MARKS


def _mark_enemies(view: View, picture: NDArray[np.str_], across: int, down: int) -> None:
    sim = view.sim
    if view.kingdom is None:
        return
    height, width = picture.shape
    c, rows = sim.creatures, view.rows()
    foes = rows[sim.at_war[view.kingdom][c.kingdom[rows]] & (c.job[rows] == Job.SOLDIER)]
    picture[np.minimum(c.y[foes] // down, height - 1), np.minimum(c.x[foes] // across, width - 1)] = "X"


def mark_cities(view: View, picture: NDArray[np.str_]) -> list[tuple[int, int]]:
    """Draw the cities in sight. Returns the rows and columns where they are."""
    if view.kingdom is None:
        return []
    (height, width), (across, down) = picture.shape, scale_of(view.sim.land)
    places = []
    for city in filter(view.sees_city, view.sim.cities.values()):
        place = min(city.y // down, height - 1), min(city.x // across, width - 1)
        picture[place] = "C" if city.kingdom == view.kingdom else "E"
        places.append(place)
    return places
