"""Terraforming: the ``paint_tile`` action, and powers for heights, water, plants, roads, walls and every tile."""

from collections.abc import Mapping

import numpy as np

from cohabit.errors import BadArgs, UnknownAsset
from cohabit.model.suggest import nearest
from cohabit.worlds.kingdoms.answers import Painted, Point
from cohabit.worlds.kingdoms.land import Cells
from cohabit.worlds.kingdoms.powers import ground, targets
from cohabit.worlds.kingdoms.powers.ground import LADDER
from cohabit.worlds.kingdoms.powers.power import Cast, Powers, Run
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.tiles import CAN_GROW, GROUND_ROW, IS_WATER, TOP_ROW

NONE, GRASS, FLOWERS = TOP_ROW["none"], TOP_ROW["grass"], TOP_ROW["flowers"]
ROAD, WALL, FARMLAND = TOP_ROW["road"], TOP_ROW["wall"], TOP_ROW["farmland"]
SOIL, RIVER = GROUND_ROW["soil_low"], GROUND_ROW["river"]
PIT_OF = {GROUND_ROW[name]: GROUND_ROW[f"pit_{name}"] for name in ("deep_ocean", "close_ocean", "shallow_waters")}
SEEDS = ("grass", "forest", "jungle", "savanna", "swamp", "taiga", "flowers", "mushrooms", "crystal", "candy")
SEEDS_FOR_PLAYERS = {"grass": 2, "forest": 3, "flowers": 2}
"""The seeds that a kingdom may plant on its own land, and the faith that each costs."""
SPENT_SOIL = tuple(TOP_ROW[name] for name in ("none", "burnt", "wasteland", "desert"))
POWERS = Powers("terraform")
FAR_AWAY = 10**6
"""Beyond every map."""


# -- the paint_tile action ------------------------------------------------------------------------
def paint(sim: Sim, x: int, y: int, tile_id: str | None, top_id: str | None, radius: int) -> tuple[Painted, str]:
    """Change the tiles of a disc; those off the map are counted as skipped."""
    if tile_id is None and top_id is None:
        raise BadArgs("give a tile_id, a top_id, or both")
    new_ground = _row(tile_id, GROUND_ROW, "tile")
    new_top = _row(top_id, TOP_ROW, "top tile")
    cells = sim.land.disc(min(max(x, -FAR_AWAY), FAR_AWAY), min(max(y, -FAR_AWAY), FAR_AWAY), radius)
    ground.reshape(sim, cells, new_ground, new_top)
    painted = len(cells)
    answer = Painted(Point(x, y), radius, painted, _disc_size(radius) - painted, tile_id, top_id)
    return answer, f"{painted} {'tile' if painted == 1 else 'tiles'} painted around {x},{y}"


def _row(name: str | None, rows: Mapping[str, int], what: str) -> int | None:
    if name is None:
        return None
    if name not in rows:
        raise UnknownAsset(f"there is no {what} {name[:60]!r}", did_you_mean=nearest(name[:60], rows))
    return rows[name]


def _disc_size(radius: int) -> int:
    side = np.arange(-radius, radius + 1)
    return int(np.count_nonzero(side[:, None] ** 2 + side[None, :] ** 2 <= radius * radius))


# -- powers ---------------------------------------------------------------------------------------
def _replace(sim: Sim, cells: Cells, grounds: dict[int, int]) -> bool:
    """Replace kinds of ground by others, one after the other; returns whether any cell changed."""
    return sum([ground.reshape(sim, cells[sim.land.ground[cells] == old], new) for old, new in grounds.items()]) > 0


def replacing(grounds: dict[int, int]) -> Run:
    """A power that replaces kinds of ground by others."""
    return lambda sim, cast: _replace(sim, targets.cells(sim, cast), grounds)


# Each kind and the next one, starting at the far end, so that no cell moves by two steps.
_HIGHER = dict(zip(LADDER[-2::-1], LADDER[:0:-1], strict=True))
_LOWER = dict(zip(LADDER[1:], LADDER[:-1], strict=True))
POWERS.add("raise", "Turns every cell into the next higher kind of ground.", replacing(_HIGHER), brush=True)
POWERS.add("lower", "Turns every cell into the next lower kind of ground.", replacing(_LOWER), brush=True)


@POWERS.power("Digs pits, and makes pits deeper.", brush=True)
def dig(sim: Sim, cast: Cast) -> bool:
    cells = targets.cells(sim, cast)
    rock = cells[ground.HOLDS_BUILDINGS[sim.land.ground[cells]]]
    shallow, close, deep = (GROUND_ROW[f"pit_{name}"] for name in ("shallow_waters", "close_ocean", "deep_ocean"))
    deeper = _replace(sim, cells, {close: deep, shallow: close})
    return (ground.reshape(sim, rock, shallow) > 0) | deeper


_FILLED = dict.fromkeys((*PIT_OF.values(), GROUND_ROW["ash"]), SOIL)
POWERS.add("fill", "Turns pits and ash into soil.", replacing(_FILLED), "own", brush=True, faith=4)
_FLOODED = {pit: water for water, pit in PIT_OF.items()}
POWERS.add("flood_pits", "Fills pits with water.", replacing(_FLOODED), brush=True)
POWERS.add("sponge", "Removes water.", replacing({**PIT_OF, RIVER: SOIL}), brush=True)


@POWERS.power("Makes a river to the end of a drag, or under the brush.", brush=True)
def river(sim: Sim, cast: Cast) -> bool:
    cells = targets.cells(sim, cast)
    if cast.x2 is not None and cast.y2 is not None:
        cells = sim.land.line(cast.x, cast.y, cast.x2, cast.y2)
    return ground.reshape(sim, cells[~IS_WATER[sim.land.ground[cells]]], RIVER) > 0


def sow(top: str) -> Run:
    """A power that plants this on half of the cells where it can grow, except fields, roads and walls."""
    row = TOP_ROW[top]

    def run(sim: Sim, cast: Cast) -> bool:
        cells = targets.cells(sim, cast)
        soil = cells[CAN_GROW[sim.land.ground[cells]] & (sim.land.built[cells] == 0)]
        soil = soil[~np.isin(sim.land.top[soil], (row, ROAD, WALL, FARMLAND))]
        return ground.reshape(sim, targets.some_cells(sim, cast, f"seeds of {top}", soil, 1, 2), top=row) > 0

    return run


@POWERS.power("Makes bare soil flower and pastures regrow.", "own", brush=True, faith=4, called="fertilizer")
def fertilise(sim: Sim, cast: Cast) -> bool:
    land = sim.land
    cells = targets.cells(sim, cast)
    regrown = ground.regrow(sim, cells)
    bare = cells[CAN_GROW[land.ground[cells]] & np.isin(land.top[cells], SPENT_SOIL) & (land.built[cells] == 0)]
    return ground.reshape(sim, bare, top=FLOWERS) + regrown > 0


def lay(top: int) -> Run:
    """A power that puts this cover on every cell where it fits and nothing is built."""

    def run(sim: Sim, cast: Cast) -> bool:
        cells = targets.cells(sim, cast)
        return ground.reshape(sim, cells[sim.land.built[cells] == 0], top=top) > 0

    return run


POWERS.add("road", "Lays one tile of road.", lay(ROAD), "own", faith=1)
POWERS.add("wall", "Builds one tile of wall.", lay(WALL), "own", faith=3)


def painting(**change: int) -> Run:
    """A power that gives every cell this ground, or where it fits this cover."""
    return lambda sim, cast: ground.reshape(sim, targets.cells(sim, cast), **change) > 0


POWERS.add("clear", "Removes what covers the ground.", painting(top=NONE), "own", brush=True, faith=2)


@POWERS.power("Removes buildings.", brush=True)
def demolish(sim: Sim, cast: Cast) -> bool:
    return ground.wreck(sim, targets.cells(sim, cast)) > 0


for _top in SEEDS:
    _text, _faith = f"Plants {_top} on half of the suitable soil.", SEEDS_FOR_PLAYERS.get(_top, 0)
    POWERS.add(f"seeds_{_top}", _text, sow(_top), "own" if _faith else "god", brush=True, faith=_faith)
for _name, _number in GROUND_ROW.items():
    _text = f"Paints the ground: {_name.replace('_', ' ')}."
    POWERS.add(f"tile_{_name}", _text, painting(ground=_number), brush=True)
for _name, _number in TOP_ROW.items():
    _text = f"Paints the cover of the ground: {_name.replace('_', ' ')}."
    POWERS.add(f"top_{_name}", _text, painting(top=_number), brush=True)
