"""The knowledge of a kingdom beyond its sight: the chart, and the foreign cities that its people have seen.

Settlers and traders choose where to go by this. If they went by the truth, their routes would show a player what the
fog hides.
"""

import numpy as np
from numpy.typing import NDArray

from cohabit.worlds.kingdoms.land import Cells
from cohabit.worlds.kingdoms.sight import REACH, seen_by
from cohabit.worlds.kingdoms.sim import Kingdom, Sim
from cohabit.worlds.kingdoms.tiles import CAN_GROW


def notice_cities(sim: Sim, kingdom: Kingdom) -> None:
    """Remember the foreign cities in sight, and forget those that are gone from a place in sight."""
    there = {c.id: (c.x, c.y, c.kingdom) for c in sim.cities.values()}
    places = list({**kingdom.known, **there}.items())  # a city never moves
    for (number, place), seen in zip(places, _in_sight(sim, kingdom, [at[:2] for _, at in places]), strict=True):
        if number in there and place[2] == kingdom.id:
            kingdom.known.pop(number, None)
        elif seen and number in there:
            kingdom.known[number] = place
        elif seen:
            del kingdom.known[number]


def _in_sight(sim: Sim, kingdom: Kingdom, places: list[tuple[int, int]]) -> list[bool]:
    """For each of these places, True if its people see it."""
    c = sim.creatures
    own = np.flatnonzero(c.kingdom == kingdom.id)
    at = np.array(places, np.int32).reshape(-1, 2)
    dx, dy = c.x[own] - at[:, :1], c.y[own] - at[:, 1:]
    seen: list[bool] = np.any(dx * dx + dy * dy <= REACH * REACH, axis=1).tolist()
    return seen


class Survey:
    """The land as a kingdom knows it now: the truth where it sees, the chart elsewhere."""

    def __init__(self, sim: Sim, kingdom: Kingdom) -> None:
        self.sim = sim
        self.seen = seen_by(sim, kingdom.id)
        self.cities = [(city.x, city.y) for city in sim.cities_of(kingdom.id)]
        self.cities += [(x, y) for x, y, _ in kingdom.known.values()]

    def is_free_soil(self, cells: Cells) -> NDArray[np.bool_]:
        """A mask of these cells: True for those that could become fields of a new city, as far as the kingdom knows."""
        land, seen = self.sim.land, self.seen[cells]
        free: NDArray[np.bool_] = CAN_GROW[np.where(seen, land.ground[cells], land.chart[cells])]
        return free & ~(seen & (land.city[cells] > 0))

    def distance_to_city(self, x: int, y: int) -> int:
        """The distance to the nearest city that the kingdom knows of."""
        return min((max(abs(x - a), abs(y - b)) for a, b in self.cities), default=10_000)
