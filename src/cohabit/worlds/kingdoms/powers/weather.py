"""Weather: rain, snow, lightning, heat and cold."""

import numpy as np

from cohabit.worlds.kingdoms.creatures import Effect
from cohabit.worlds.kingdoms.land import Cells
from cohabit.worlds.kingdoms.powers import ground, targets
from cohabit.worlds.kingdoms.powers.power import Cast, Power
from cohabit.worlds.kingdoms.rules import life, vegetation
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.tiles import CAN_GROW, GROUND_ROW, TOP_BURNS, TOP_ROW

NONE, GRASS, SAVANNA, DESERT = (TOP_ROW[name] for name in ("none", "grass", "savanna", "desert"))
SNOW, SWAMP, BURNT, FARMLAND = (TOP_ROW[name] for name in ("snow", "swamp", "burnt", "farmland"))
WASTELAND, FIRE, ROAD, WALL = (TOP_ROW[name] for name in ("wasteland", "fire", "road", "wall"))
RIVER, SHALLOW, ICE = (GROUND_ROW[name] for name in ("river", "shallow_waters", "ice"))
FREEZES = tuple(GROUND_ROW[name] for name in ("close_ocean", "shallow_waters", "river"))
LIGHTNING_DAMAGE, HAIL_DAMAGE, ACID_DAMAGE = 40, 6, 20


def rain(sim: Sim, cast: Cast) -> bool:
    """Puts out fires and lets plants grow on one cell in three."""
    wet = targets.some_cells(sim, cast, "rain", targets.cells(sim, cast), 1, 3)
    cooled = targets.remove_effects(sim, targets.creatures_on(sim, cast, wet), Effect.BURNING)
    return bool(vegetation.put_out(sim, wet)) | cooled | _water(sim, wet)


def _water(sim: Sim, wet: Cells) -> bool:
    """Grass grows on bare soil, and grazed plants regrow."""
    land = sim.land
    bare = wet[CAN_GROW[land.ground[wet]] & np.isin(land.top[wet], (NONE, BURNT))]
    return ground.reshape(sim, bare, top=GRASS) + ground.regrow(sim, wet) > 0


def storm(sim: Sim, cast: Cast) -> bool:
    """Rain, with lightning on one cell in forty."""
    wet = rain(sim, cast)
    struck = targets.some_cells(sim, cast, "storm", targets.cells(sim, cast), 1, 40)
    return _strike(sim, struck) | wet


def lightning(sim: Sim, cast: Cast) -> bool:
    """One bolt: hurts the creatures it hits and sets fire to what can burn."""
    return _strike(sim, targets.around(sim, cast, 1))


def _strike(sim: Sim, struck: Cells) -> bool:
    hit = targets.standing_on(sim, struck)
    life.hurt(sim, hit, LIGHTNING_DAMAGE, "lightning")
    return bool(vegetation.ignite(sim, struck)) | bool(hit.size)


def snow(sim: Sim, cast: Cast) -> bool:
    """Puts out fires and covers soil and rock with snow; roads, walls and buildings stay free."""
    white = targets.some_cells(sim, cast, "snow", targets.cells(sim, cast), 1, 2)
    white = white[(sim.land.built[white] == 0) & ~np.isin(sim.land.top[white], (ROAD, WALL))]
    quenched = vegetation.put_out(sim, white)
    return quenched + ground.reshape(sim, white, top=SNOW) > 0


def cold(sim: Sim, cast: Cast) -> bool:
    """Freezes shallow water and one creature in eight."""
    land = sim.land
    cells = targets.cells(sim, cast)
    freezing = targets.some_cells(sim, cast, "cold", cells[np.isin(land.ground[cells], FREEZES)], 1, 2)
    frozen = ground.reshape(sim, freezing, ground=ICE)
    return targets.affect(sim, cast, Effect.FROZEN, "cold bites", one_in=8) | (frozen > 0)


def thaw(sim: Sim, cast: Cast) -> bool:
    """Melts snow and ice and frees frozen creatures."""
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


def heat_wave(sim: Sim, cast: Cast) -> bool:
    """Melts snow and ice, dries grass and swamps, and starts a few fires."""
    land = sim.land
    cells = targets.cells(sim, cast)
    melted = melt(sim, cells)
    dried = _turn(sim, cast, "grass dries", cells, GRASS, SAVANNA, 6)
    dried += _turn(sim, cast, "swamp drains", cells, SWAMP, GRASS, 4)
    tinder = cells[TOP_BURNS[land.top[cells]]]
    lit = vegetation.ignite(sim, targets.some_cells(sim, cast, "heat kindles", tinder, 1, 60))
    return melted | (dried + lit > 0)


def drought(sim: Sim, cast: Cast) -> bool:
    """Leaves nothing to graze and turns some grassland towards desert."""
    cells = targets.cells(sim, cast)
    withered = ground.strip(sim, cells)
    turned = _turn(sim, cast, "grass withers", cells, GRASS, SAVANNA, 4)
    turned += _turn(sim, cast, "savanna withers", cells, SAVANNA, DESERT, 4)
    return turned + withered > 0


def _turn(sim: Sim, cast: Cast, purpose: str, cells: Cells, old: int, new: int, one_in: int) -> int:
    """Replace the cover ``old`` by ``new`` on one in ``one_in`` of the cells."""
    chosen = targets.some_cells(sim, cast, purpose, cells[sim.land.top[cells] == old], 1, one_in)
    return ground.reshape(sim, chosen, top=new)


def fog(sim: Sim, cast: Cast) -> bool:
    """Makes one in six creatures invisible to attackers."""
    return targets.affect(sim, cast, Effect.INVISIBLE, "fog", one_in=6)


def hail(sim: Sim, cast: Cast) -> bool:
    """Hurts one in three creatures and destroys one field in four."""
    hit = targets.some_creatures(sim, cast, "hail", targets.creatures(sim, cast), 1, 3)
    life.hurt(sim, hit, HAIL_DAMAGE, "hail")
    flattened = _turn(sim, cast, "hail on fields", targets.cells(sim, cast), FARMLAND, GRASS, 4)
    return bool(hit.size) | (flattened > 0)


def wind(sim: Sim, cast: Cast) -> bool:
    """Spreads the fires under the brush to what can burn beside them."""
    cells = targets.cells(sim, cast)
    beside = sim.land.neighbours(cells[sim.land.top[cells] == FIRE])
    return vegetation.ignite(sim, targets.some_cells(sim, cast, "wind", beside, 2, 3)) > 0


def acid(sim: Sim, cast: Cast) -> bool:
    """Hurts creatures and turns plants into wasteland."""
    wet = targets.some_cells(sim, cast, "acid", targets.cells(sim, cast), 1, 2)
    hit = targets.standing_on(sim, wet)
    life.hurt(sim, hit, ACID_DAMAGE, "acid")
    covered = wet[sim.land.top[wet] != NONE]
    return ground.reshape(sim, covered, top=WASTELAND) + len(hit) > 0


POWERS = (
    Power("rain", "weather", "Light rain: puts out fires and lets grass grow.", rain, "own", brush=True, faith=3),
    Power("storm", "weather", "Rain with lightning.", storm, brush=True),
    Power("lightning", "weather", "A bolt that hurts the creatures it hits and starts a fire.", lightning),
    Power("snow", "weather", "Covers the land with snow and puts out fires.", snow, brush=True),
    Power("cold", "weather", "Freezes shallow water and one in eight creatures.", cold, brush=True),
    Power("thaw", "weather", "Melts snow and ice and frees frozen creatures.", thaw, "own", brush=True, faith=3),
    Power("heat_wave", "weather", "Melts snow and ice, dries the land and starts a few fires.", heat_wave, brush=True),
    Power("drought", "weather", "Leaves nothing to graze and spreads the desert.", drought, brush=True),
    Power("fog", "weather", "Makes one in six creatures invisible to attackers.", fog, "own", brush=True, faith=20),
    Power("hail", "weather", "Hurts one in three creatures and destroys fields.", hail, brush=True),
    Power("wind", "weather", "Spreads fires to what can burn beside them.", wind, brush=True),
    Power("acid", "weather", "Hurts creatures and turns plants into wasteland.", acid, brush=True),
)
