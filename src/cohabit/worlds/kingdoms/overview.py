"""A small map in letters, for whoever reads instead of looking."""

import numpy as np
from numpy.typing import NDArray

from cohabit.worlds.kingdoms.creatures import Job
from cohabit.worlds.kingdoms.sight import View
from cohabit.worlds.kingdoms.tiles import GROUND, IS_WATER

COLUMNS, ROWS = 48, 24
LETTERS = "123456789abcdefghijklmnopqrstuvwxyz"
"""How land of a kingdom is drawn, by its id; beyond that it begins again."""


def _letter_of(row: int) -> str:
    kind = GROUND[row]
    if kind.deadly:
        return "!"
    if kind.water:
        return "~"
    return "^" if kind.id in ("hills", "mountains", "summit") else "."


GROUND_LETTERS = np.array([_letter_of(row) for row in range(len(GROUND))])


def overview(view: View) -> str:
    """The map, so many tiles to a letter. What is not seen is drawn from the chart."""
    land = view.sim.land
    across, down = -(-land.width // COLUMNS), -(-land.height // ROWS)
    xs, ys = np.arange(across // 2, land.width, across), np.arange(down // 2, land.height, down)
    cells = (ys[:, None] * land.width + xs[None, :]).ravel()
    seen = np.ones(len(cells), np.bool_) if view.seen is None else view.seen[cells]
    letters = GROUND_LETTERS[np.where(seen, land.ground[cells], land.chart[cells])]
    owner = _owners(view)[land.city[cells]]
    owned = seen & (owner > 0) & ~IS_WATER[land.ground[cells]]
    letters[owned] = np.array(list(LETTERS))[(owner[owned] - 1) % len(LETTERS)]
    picture = letters.reshape(len(ys), len(xs))
    _put_marks(view, picture, across, down)
    legend = f"one letter is {across} x {down} tiles: ~ water . land ^ hills ! deadly 1-9 land of that kingdom"
    if view.kingdom is not None:
        legend += " C my city X enemy soldiers"
    return "\n".join(["MAP (0,0 is the upper left corner):", *("".join(row) for row in picture), legend])


def _owners(view: View) -> NDArray[np.int64]:
    """The kingdom of a city, by the city's id."""
    cities = view.sim.cities
    table = np.zeros(max(cities, default=0) + 1, np.int64)
    for city in cities.values():
        table[city.id] = city.kingdom
    return table


def _put_marks(view: View, picture: NDArray[np.str_], across: int, down: int) -> None:
    sim = view.sim
    if view.kingdom is None:
        return
    c, rows = sim.creatures, view.rows()
    foes = rows[sim.at_war[view.kingdom][c.kingdom[rows]] & (c.job[rows] == Job.SOLDIER)]
    picture[np.minimum(c.y[foes] // down, len(picture) - 1), np.minimum(c.x[foes] // across, picture.shape[1] - 1)] = (
        "X"
    )
    for city in sim.cities_of(view.kingdom):
        picture[min(city.y // down, len(picture) - 1), min(city.x // across, picture.shape[1] - 1)] = "C"
