"""Weather: rain, snow, lightning, heat and cold."""

import numpy as np

from cohabit.worlds.kingdoms.creatures import Effect
from cohabit.worlds.kingdoms.land import Cells
from cohabit.worlds.kingdoms.powers import ground, targets
from cohabit.worlds.kingdoms.powers.power import Cast, Powers
from cohabit.worlds.kingdoms.rules import life, vegetation
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.tiles import CAN_GROW, GROUND_ROW, TOP_BURNS, TOP_ROW

NONE, GRASS, SAVANNA, DESERT = (TOP_ROW[name] for name in ("none", "grass", "savanna", "desert"))
SNOW, SWAMP, BURNT, FARMLAND = (TOP_ROW[name] for name in ("snow", "swamp", "burnt", "farmland"))
WASTELAND, FIRE, ROAD, WALL = (TOP_ROW[name] for name in ("wasteland", "fire", "road", "wall"))
RIVER, SHALLOW, ICE = (GROUND_ROW[name] for name in ("river", "shallow_waters", "ice"))
FREEZES = tuple(GROUND_ROW[name] for name in ("close_ocean", "shallow_waters", "river"))
POWERS = Powers("weather")
LIGHTNING_DAMAGE, HAIL_DAMAGE, ACID_DAMAGE = 40, 6, 20


@POWERS.power("Light rain: puts out fires and lets grass grow.", "own", brush=True, faith=3)
def rain(sim: Sim, cast: Cast) -> bool:
    wet = targets.some_cells(sim, cast, "rain", targets.cells(sim, cast), 1, 3)
    cooled = targets.remove_effects(sim, targets.creatures_on(sim, cast, wet), Effect.BURNING)
    return bool(vegetation.put_out(sim, wet)) | cooled | _water(sim, wet)


def _water(sim: Sim, wet: Cells) -> bool:
    """Grass grows on bare soil, and grazed plants regrow."""
    land = sim.land
    bare = wet[CAN_GROW[land.ground[wet]] & np.isin(land.top[wet], (NONE, BURNT))]
    return ground.reshape(sim, bare, top=GRASS) + ground.regrow(sim, wet) > 0


@POWERS.power("Rain with lightning.", brush=True)
def storm(sim: Sim, cast: Cast) -> bool:
    wet = rain(sim, cast)
    struck = targets.some_cells(sim, cast, "storm", targets.cells(sim, cast), 1, 40)
    return _strike(sim, struck) | wet


@POWERS.power("A bolt that hurts the creatures it hits and starts a fire.")
def lightning(sim: Sim, cast: Cast) -> bool:
    return _strike(sim, targets.around(sim, cast, 1))


def _strike(sim: Sim, struck: Cells) -> bool:
    hit = targets.standing_on(sim, struck)
    life.hurt(sim, hit, LIGHTNING_DAMAGE, "lightning")
    return bool(vegetation.ignite(sim, struck)) | bool(hit.size)


@POWERS.power("Covers the land with snow and puts out fires.", brush=True)
def snow(sim: Sim, cast: Cast) -> bool:
    white = targets.some_cells(sim, cast, "snow", targets.cells(sim, cast), 1, 2)
    white = white[(sim.land.built[white] == 0) & ~np.isin(sim.land.top[white], (ROAD, WALL))]
    quenched = vegetation.put_out(sim, white)
    return quenched + ground.reshape(sim, white, top=SNOW) > 0


@POWERS.power("Freezes shallow water and one in eight creatures.", brush=True)
def cold(sim: Sim, cast: Cast) -> bool:
    land = sim.land
    cells = targets.cells(sim, cast)
    freezing = targets.some_cells(sim, cast, "cold", cells[np.isin(land.ground[cells], FREEZES)], 1, 2)
    frozen = ground.reshape(sim, freezing, ground=ICE)
    return targets.affect(sim, cast, Effect.FROZEN, "cold bites", one_in=8) | (frozen > 0)


@POWERS.power("Melts snow and ice and frees frozen creatures.", "own", brush=True, faith=3)
def thaw(sim: Sim, cast: Cast) -> bool:
    freed = targets.cure(sim, cast, Effect.FROZEN)
    return melt(sim, targets.cells(sim, cast)) | freed


def melt(sim: Sim, cells: Cells) -> bool:
    """Ice becomes the water that it was, and snow on soil becomes grass."""
    land = sim.land
    icy = cells[land.ground[cells] == ICE]
    was_river = land.chart[icy] == RIVER
    melted = ground.reshape(sim, icy[was_river], ground=RIVER)
    melted += ground.reshape(sim, icy[~was_river], ground=SHALLOW)
    snowy = cells[land.top[cells] == SNOW]
    soil = CAN_GROW[land.ground[snowy]]
    melted += ground.reshape(sim, snowy[soil], top=GRASS)
    melted += ground.reshape(sim, snowy[~soil], top=NONE)
    return melted > 0


@POWERS.power("Melts snow and ice, dries the land and starts a few fires.", brush=True)
def heat_wave(sim: Sim, cast: Cast) -> bool:
    land = sim.land
    cells = targets.cells(sim, cast)
    melted = melt(sim, cells)
    dried = _turn(sim, cast, "grass dries", cells, GRASS, SAVANNA, 6)
    dried += _turn(sim, cast, "swamp drains", cells, SWAMP, GRASS, 4)
    tinder = cells[TOP_BURNS[land.top[cells]]]
    lit = vegetation.ignite(sim, targets.some_cells(sim, cast, "heat kindles", tinder, 1, 60))
    return melted | (dried + lit > 0)


@POWERS.power("Leaves nothing to graze and spreads the desert.", brush=True)
def drought(sim: Sim, cast: Cast) -> bool:
    cells = targets.cells(sim, cast)
    withered = ground.strip(sim, cells)
    turned = _turn(sim, cast, "grass withers", cells, GRASS, SAVANNA, 4)
    turned += _turn(sim, cast, "savanna withers", cells, SAVANNA, DESERT, 4)
    return turned + withered > 0


def _turn(sim: Sim, cast: Cast, purpose: str, cells: Cells, old: int, new: int, one_in: int) -> int:
    """Replace the cover ``old`` by ``new`` on one in ``one_in`` of the cells."""
    chosen = targets.some_cells(sim, cast, purpose, cells[sim.land.top[cells] == old], 1, one_in)
    return ground.reshape(sim, chosen, top=new)


_FOG = "Makes one in six creatures invisible to attackers."
POWERS.add("fog", _FOG, targets.affecting("fog", Effect.INVISIBLE, one_in=6), "own", brush=True, faith=20)


@POWERS.power("Hurts one in three creatures and destroys fields.", brush=True)
def hail(sim: Sim, cast: Cast) -> bool:
    hit = targets.some_creatures(sim, cast, "hail", targets.creatures(sim, cast), 1, 3)
    life.hurt(sim, hit, HAIL_DAMAGE, "hail")
    flattened = _turn(sim, cast, "hail on fields", targets.cells(sim, cast), FARMLAND, GRASS, 4)
    return bool(hit.size) | (flattened > 0)


@POWERS.power("Spreads fires to what can burn beside them.", brush=True)
def wind(sim: Sim, cast: Cast) -> bool:
    cells = targets.cells(sim, cast)
    beside = sim.land.neighbours(cells[sim.land.top[cells] == FIRE])
    return vegetation.ignite(sim, targets.some_cells(sim, cast, "wind", beside, 2, 3)) > 0


@POWERS.power("Hurts creatures and turns plants into wasteland.", brush=True)
def acid(sim: Sim, cast: Cast) -> bool:
    wet = targets.some_cells(sim, cast, "acid", targets.cells(sim, cast), 1, 2)
    hit = targets.standing_on(sim, wet)
    life.hurt(sim, hit, ACID_DAMAGE, "acid")
    covered = wet[sim.land.top[wet] != NONE]
    return ground.reshape(sim, covered, top=WASTELAND) + len(hit) > 0
