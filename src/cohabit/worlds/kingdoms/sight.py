"""Fog of war: which cells a kingdom sees, and what an eye may see."""

import numpy as np
from numpy.typing import NDArray

from cohabit.worlds.kingdoms.creatures import Effect, Rows
from cohabit.worlds.kingdoms.sim import City, Sim

REACH = 8
"""The distance at which people see, in tiles."""
_SIDE = np.arange(-REACH, REACH + 1)
_DX, _DY = (a.ravel() for a in np.meshgrid(_SIDE, _SIDE))
_ROUND = _DX * _DX + _DY * _DY <= REACH * REACH
_DX, _DY = _DX[_ROUND], _DY[_ROUND]

Mask = NDArray[np.bool_]


def seen_by(sim: Sim, kingdom: int) -> Mask:
    """The cells that a kingdom sees: its own land, and those around its people."""
    land, c = sim.land, sim.creatures
    cities = [city.id for city in sim.cities_of(kingdom)]
    seen: Mask = np.isin(land.city, cities) if cities else np.zeros(land.size, np.bool_)
    standing = np.unique(land.cells(c.x, c.y)[c.kingdom == kingdom])
    if len(standing):
        x = standing[:, None] % land.width + _DX
        y = standing[:, None] // land.width + _DY
        inside = (x >= 0) & (x < land.width) & (y >= 0) & (y < land.height)
        seen[(y * land.width + x)[inside]] = True
    return seen


class View:
    """The parts of a simulation that one eye may see. Valid until the simulation changes.

    ``seen`` is None for an eye that sees everything, and has no cells for an eye without a kingdom.
    """

    def __init__(self, sim: Sim, kingdom: int | None, everything: bool) -> None:
        self.sim = sim
        self.kingdom = kingdom
        self.everything = everything
        if everything:
            self.seen: Mask | None = None
        elif kingdom is None:
            self.seen = np.zeros(sim.land.size, np.bool_)
        else:
            self.seen = seen_by(sim, kingdom)

    def sees(self, cell: int) -> bool:
        return self.seen is None or bool(self.seen[cell])

    def rows(self) -> Rows:
        """The creatures in sight. Invisible creatures are seen only by their own kingdom."""
        c = self.sim.creatures
        if self.seen is None:
            return np.arange(c.n)
        own = c.kingdom == (self.kingdom or -1)
        shown = self.seen[self.sim.land.cells(c.x, c.y)] & ((c.effects & Effect.INVISIBLE) == 0)
        return np.flatnonzero(own | shown)

    def sees_city(self, city: City) -> bool:
        """May this eye see this city: its own ones, and those whose centre is in sight?"""
        return self.knows(city.kingdom) or self.sees(self.sim.land.cell(city.x, city.y))

    def knows(self, kingdom: int) -> bool:
        """May this eye list the cities and people of this kingdom?"""
        return self.everything or kingdom == self.kingdom
