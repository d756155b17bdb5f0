"""Terraforming: heights, waters, every ground and every cover as a brush, seeds, roads and walls."""

import numpy as np

from cohabit.worlds.kingdoms.land import Cells
from cohabit.worlds.kingdoms.powers import ground, reach, shapes
from cohabit.worlds.kingdoms.powers.ground import LADDER
from cohabit.worlds.kingdoms.powers.power import Cast, Power, Run
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.tiles import CAN_GROW, GROUND, GROUND_ROW, IS_WATER, TOP_ROW, TOPS

NONE, GRASS, FLOWERS = TOP_ROW["none"], TOP_ROW["grass"], TOP_ROW["flowers"]
ROAD, WALL, FARMLAND = TOP_ROW["road"], TOP_ROW["wall"], TOP_ROW["farmland"]
SOIL, RIVER = GROUND_ROW["soil_low"], GROUND_ROW["river"]
PIT_OF = {GROUND_ROW[name]: GROUND_ROW[f"pit_{name}"] for name in ("deep_ocean", "close_ocean", "shallow_waters")}
SEEDS = ("grass", "forest", "jungle", "savanna", "swamp", "taiga", "flowers", "mushrooms", "crystal", "candy")
SEEDS_FOR_PLAYERS = {"grass": 2, "forest": 3, "flowers": 2}
"""What a kingdom may sow on its own land, and the faith it costs."""
SPENT = tuple(TOP_ROW[name] for name in ("none", "burnt", "wasteland", "desert"))


def raise_land(sim: Sim, cast: Cast) -> bool:
    """Every cell becomes the next higher kind of ground."""
    return _climb(sim, reach.cells(sim, cast), LADDER)


def lower_land(sim: Sim, cast: Cast) -> bool:
    """Every cell becomes the next lower kind of ground."""
    return _climb(sim, reach.cells(sim, cast), LADDER[::-1])


def _climb(sim: Sim, cells: Cells, ladder: tuple[int, ...]) -> bool:
    # From the far end, so that nobody climbs two rungs.
    return _replace(sim, cells, dict(zip(ladder[-2::-1], ladder[:0:-1], strict=True)))


def _replace(sim: Sim, cells: Cells, grounds: dict[int, int]) -> bool:
    """Exchange grounds for others, one kind after the other; did any cell change?"""
    return sum([ground.reshape(sim, cells[sim.land.ground[cells] == old], new) for old, new in grounds.items()]) > 0


def dig(sim: Sim, cast: Cast) -> bool:
    """Dry ground becomes a pit; a pit that is dug at gets deeper."""
    cells = reach.cells(sim, cast)
    rock = cells[ground.HOLDS_BUILDINGS[sim.land.ground[cells]]]
    shallow, close, deep = (GROUND_ROW[f"pit_{name}"] for name in ("shallow_waters", "close_ocean", "deep_ocean"))
    deeper = _replace(sim, cells, {close: deep, shallow: close})
    return (ground.reshape(sim, rock, shallow) > 0) | deeper


def fill(sim: Sim, cast: Cast) -> bool:
    """Pits and ash become soil again."""
    spoiled = (*PIT_OF.values(), GROUND_ROW["ash"])
    return _replace(sim, reach.cells(sim, cast), dict.fromkeys(spoiled, SOIL))


def flood_pits(sim: Sim, cast: Cast) -> bool:
    """Pits fill with water."""
    return _replace(sim, reach.cells(sim, cast), {pit: water for water, pit in PIT_OF.items()})


def sponge(sim: Sim, cast: Cast) -> bool:
    """Water is soaked up; the sea leaves pits, a river leaves soil."""
    return _replace(sim, reach.cells(sim, cast), {**PIT_OF, RIVER: SOIL})


def river(sim: Sim, cast: Cast) -> bool:
    """Water runs from here to where the drag ends, or through the brush where there was no drag."""
    cells = reach.cells(sim, cast)
    if cast.x2 is not None and cast.y2 is not None:
        cells = shapes.line(sim.land, cast.x, cast.y, cast.x2, cast.y2)
    return ground.reshape(sim, cells[~IS_WATER[sim.land.ground[cells]]], RIVER) > 0


def sow(top: str) -> Run:
    """A power that lets this grow on half of the cells where it can. Fields, roads and walls are left alone."""
    row = TOP_ROW[top]

    def run(sim: Sim, cast: Cast) -> bool:
        cells = reach.cells(sim, cast)
        soil = cells[CAN_GROW[sim.land.ground[cells]] & (sim.land.built[cells] == 0)]
        soil = soil[~np.isin(sim.land.top[soil], (row, ROAD, WALL, FARMLAND))]
        return ground.reshape(sim, reach.lucky(sim, cast, f"seeds of {top}", soil, 1, 2), top=row) > 0

    return run


def fertilise(sim: Sim, cast: Cast) -> bool:
    """What was grazed stands again, and bare or spoiled soil is in flower."""
    land = sim.land
    cells = reach.cells(sim, cast)
    regrown = ground.regrow(sim, cells)
    bare = cells[CAN_GROW[land.ground[cells]] & np.isin(land.top[cells], SPENT) & (land.built[cells] == 0)]
    return ground.reshape(sim, bare, top=FLOWERS) + regrown > 0


def clear(sim: Sim, cast: Cast) -> bool:
    """Whatever covers the ground is gone."""
    return ground.reshape(sim, reach.cells(sim, cast), top=NONE) > 0


def demolish(sim: Sim, cast: Cast) -> bool:
    """Whatever is built there is gone."""
    return ground.wreck(sim, reach.cells(sim, cast)) > 0


def lay(top: int) -> Run:
    """A power that puts this cover on every cell where it can lie and nothing is built."""

    def run(sim: Sim, cast: Cast) -> bool:
        cells = reach.cells(sim, cast)
        return ground.reshape(sim, cells[sim.land.built[cells] == 0], top=top) > 0

    return run


def paint_ground(row: int) -> Run:
    """A power that makes every cell this ground."""
    return lambda sim, cast: ground.reshape(sim, reach.cells(sim, cast), row) > 0


def paint_top(row: int) -> Run:
    """A power that covers every cell with this, where it can lie."""
    return lambda sim, cast: ground.reshape(sim, reach.cells(sim, cast), top=row) > 0


def _seeds(top: str) -> Power:
    words = f"Lets {top} grow where it can."
    if top in SEEDS_FOR_PLAYERS:
        return Power(f"seeds_{top}", "terraform", words, sow(top), "own", brush=True, faith=SEEDS_FOR_PLAYERS[top])
    return Power(f"seeds_{top}", "terraform", words, sow(top), brush=True)


def _tile_brush(row: int, name: str) -> Power:
    words = f"Paints the ground: {name.replace('_', ' ')}."
    return Power(f"tile_{name}", "terraform", words, paint_ground(row), brush=True)


def _top_brush(row: int, name: str) -> Power:
    words = f"Paints what covers the ground: {name.replace('_', ' ')}."
    return Power(f"top_{name}", "terraform", words, paint_top(row), brush=True)


TOOLS = (
    Power("raise", "terraform", "Makes every cell the next higher kind of ground.", raise_land, brush=True),
    Power("lower", "terraform", "Makes every cell the next lower kind of ground.", lower_land, brush=True),
    Power("dig", "terraform", "Digs pits, and makes pits deeper.", dig, brush=True),
    Power("fill", "terraform", "Makes soil of pits and ash.", fill, "own", brush=True, faith=4),
    Power("flood_pits", "terraform", "Fills pits with water.", flood_pits, brush=True),
    Power("sponge", "terraform", "Soaks up water.", sponge, brush=True),
    Power("river", "terraform", "Lets water run from here to the end of a drag.", river, brush=True),
    Power("fertilizer", "terraform", "Bare soil flowers, pastures stand again.", fertilise, "own", brush=True, faith=4),
    Power("road", "terraform", "Lays one tile of road.", lay(ROAD), "own", faith=1),
    Power("wall", "terraform", "Builds one tile of wall.", lay(WALL), "own", faith=3),
    Power("clear", "terraform", "Takes away what covers the ground.", clear, "own", brush=True, faith=2),
    Power("demolish", "terraform", "Takes away what is built there.", demolish, brush=True),
)
POWERS = (
    *TOOLS,
    *(_seeds(top) for top in SEEDS),
    *(_tile_brush(row, kind.id) for row, kind in enumerate(GROUND)),
    *(_top_brush(row, kind.id) for row, kind in enumerate(TOPS)),
)
