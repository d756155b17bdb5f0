"""What a picture may show. Whatever an eye does not see is left out here, before anything is drawn.

A cell that is not seen keeps its ground from the chart that everybody knows, and nothing else.
"""

from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from cohabit.worlds.kingdoms.creatures import Mark
from cohabit.worlds.kingdoms.drawing.palette import FIRST_BUILDING, FIRST_TOP, KINGDOM_COLOURS
from cohabit.worlds.kingdoms.landscape.terrain import LAND, SEA
from cohabit.worlds.kingdoms.realms import City, Kingdom
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.tiles import GROUND, GROUND_ROW

Seen = NDArray[np.bool_]
_USUAL_LEVEL = np.full(len(GROUND), 128, np.uint8)
for _band in SEA + LAND:
    _USUAL_LEVEL[GROUND_ROW[_band.ground]] = _band.floor


class Scene(Struct, frozen=True):
    """Maps of rows and columns of tiles, and what stands on them."""

    cover: NDArray[np.uint8]  # row of palette.COVER_RGB
    ground: NDArray[np.uint8]
    level: NDArray[np.uint8]
    owner: NDArray[np.int32]  # id of the kingdom whose land it is; 0: nobody's
    hidden: NDArray[np.bool_]
    burning: NDArray[np.int64]  # cells
    rows: NDArray[np.int64]  # of the creatures that are seen
    cities: list[City]


def scene(sim: Sim, seen: Seen | None) -> Scene:
    """What is seen of a world; None: all of it. ``seen`` has a flag for every cell."""
    land, creatures = sim.land, sim.creatures
    shown = np.ones(land.size, np.bool_) if seen is None else seen
    ground = np.where(shown, land.ground, land.chart)
    rows = np.flatnonzero(shown[land.cells(creatures.x, creatures.y)])
    if seen is not None:
        rows = rows[(creatures.marks[rows] & Mark.INVISIBLE) == 0]

    def as_map(layer: NDArray[Any]) -> NDArray[Any]:
        return layer.reshape(land.height, land.width)

    return Scene(
        cover=as_map(_cover(ground, land.top * shown, land.built * shown)),
        ground=as_map(ground),
        level=as_map(np.where(shown, land.level, _USUAL_LEVEL[ground])),
        owner=as_map(_owners(sim) * shown),
        hidden=as_map(~shown),
        burning=land.burning[shown[land.burning]],
        rows=rows,
        cities=[city for city in sim.cities.values() if shown[land.cell(city.x, city.y)]],
    )


def colours_by_id(kingdoms: dict[int, Kingdom]) -> NDArray[np.int64]:
    """Row of the palette for every id of a kingdom."""
    rows = np.zeros(max(kingdoms, default=0) + 1, np.int64)
    for kingdom in kingdoms.values():
        rows[kingdom.id] = kingdom.colour % len(KINGDOM_COLOURS)
    return rows


def _cover(ground: NDArray[np.uint8], top: NDArray[np.uint8], built: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The uppermost thing on every cell."""
    cover = np.where(top > 0, top + np.uint8(FIRST_TOP), ground)
    return np.where(built > 0, built + np.uint8(FIRST_BUILDING), cover)


def _owners(sim: Sim) -> NDArray[np.int32]:
    """The kingdom of every cell."""
    kingdom = np.zeros(max(sim.cities, default=0) + 1, np.int32)
    for city in sim.cities.values():
        kingdom[city.id] = city.kingdom
    owners: NDArray[np.int32] = kingdom[sim.land.city]
    return owners
