"""Weather: what falls from the sky, and what heat and cold do to the land."""

import numpy as np

from cohabit.worlds.kingdoms import fire, life
from cohabit.worlds.kingdoms.creatures import Mark
from cohabit.worlds.kingdoms.land import Cells
from cohabit.worlds.kingdoms.powers import ground, marks, reach, shapes
from cohabit.worlds.kingdoms.powers.power import Cast, Power
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.tiles import CAN_GROW, GROUND_ROW, TOP_BURNS, TOP_ROW

NONE, GRASS, SAVANNA, DESERT = (TOP_ROW[name] for name in ("none", "grass", "savanna", "desert"))
SNOW, SWAMP, BURNT, FARMLAND = (TOP_ROW[name] for name in ("snow", "swamp", "burnt", "farmland"))
WASTELAND, FIRE, ROAD, WALL = (TOP_ROW[name] for name in ("wasteland", "fire", "road", "wall"))
RIVER, SHALLOW, ICE = (GROUND_ROW[name] for name in ("river", "shallow_waters", "ice"))
FREEZES = tuple(GROUND_ROW[name] for name in ("close_ocean", "shallow_waters", "river"))
LIGHTNING_HURTS, HAIL_HURTS, ACID_HURTS = 40, 6, 20


def rain(sim: Sim, cast: Cast) -> bool:
    """Each drop puts out a fire, or lets something grow where it falls."""
    wet = reach.lucky(sim, cast, "rain", reach.cells(sim, cast), 1, 3)
    cooled = marks.lift_from(sim, reach.creatures_on(sim, cast, wet), Mark.BURNING)
    return bool(fire.put_out(sim, wet)) | cooled | _water(sim, wet)


def _water(sim: Sim, wet: Cells) -> bool:
    """Grass grows on bare soil, and what was grazed stands again."""
    land = sim.land
    bare = wet[CAN_GROW[land.ground[wet]] & np.isin(land.top[wet], (NONE, BURNT))]
    return ground.reshape(sim, bare, top=GRASS) + ground.regrow(sim, wet) > 0


def storm(sim: Sim, cast: Cast) -> bool:
    """Rain, with a bolt of lightning here and there."""
    wet = rain(sim, cast)
    struck = reach.lucky(sim, cast, "storm", reach.cells(sim, cast), 1, 40)
    return _strike(sim, struck) | wet


def lightning(sim: Sim, cast: Cast) -> bool:
    """One bolt: whoever stands at its foot is hurt, and what can burn burns."""
    return _strike(sim, reach.around(sim, cast, 1))


def _strike(sim: Sim, struck: Cells) -> bool:
    hit = reach.on(sim, struck)
    life.hurt(sim, hit, LIGHTNING_HURTS, "lightning")
    return bool(fire.ignite(sim, struck)) | bool(hit.size)


def snow(sim: Sim, cast: Cast) -> bool:
    """Snow puts out fires and covers the soil and the rock; people keep their roads and houses free."""
    white = reach.lucky(sim, cast, "snow", reach.cells(sim, cast), 1, 2)
    white = white[(sim.land.built[white] == 0) & ~np.isin(sim.land.top[white], (ROAD, WALL))]
    quenched = fire.put_out(sim, white)
    return quenched + ground.reshape(sim, white, top=SNOW) > 0


def cold(sim: Sim, cast: Cast) -> bool:
    """Shallow water freezes over, and so does one creature in eight."""
    land = sim.land
    cells = reach.cells(sim, cast)
    freezing = reach.lucky(sim, cast, "cold", cells[np.isin(land.ground[cells], FREEZES)], 1, 2)
    frozen = ground.reshape(sim, freezing, ground=ICE)
    return marks.lay(sim, cast, Mark.FROZEN, "cold bites", one_in=8) | (frozen > 0)


def thaw(sim: Sim, cast: Cast) -> bool:
    """Snow and ice melt, and whoever was frozen can move again."""
    freed = marks.lift(sim, cast, Mark.FROZEN)
    return melt(sim, reach.cells(sim, cast)) | freed


def melt(sim: Sim, cells: Cells) -> bool:
    """Ice becomes the water that it was, and snow makes room for grass."""
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
    """Snow and ice melt, grass dries up, swamps drain, and here and there a fire breaks out."""
    land = sim.land
    cells = reach.cells(sim, cast)
    melted = melt(sim, cells)
    dried = _turn(sim, cast, "grass dries", cells, GRASS, SAVANNA, 6)
    dried += _turn(sim, cast, "swamp drains", cells, SWAMP, GRASS, 4)
    tinder = cells[TOP_BURNS[land.top[cells]]]
    lit = fire.ignite(sim, reach.lucky(sim, cast, "heat kindles", tinder, 1, 60))
    return melted | (dried + lit > 0)


def drought(sim: Sim, cast: Cast) -> bool:
    """Nothing is left to graze, and grassland begins to turn into desert."""
    cells = reach.cells(sim, cast)
    withered = ground.strip(sim, cells)
    turned = _turn(sim, cast, "grass withers", cells, GRASS, SAVANNA, 4)
    turned += _turn(sim, cast, "savanna withers", cells, SAVANNA, DESERT, 4)
    return turned + withered > 0


def _turn(sim: Sim, cast: Cast, purpose: str, cells: Cells, old: int, new: int, one_in: int) -> int:
    """One in so many of the cells covered with ``old`` gets the cover ``new``."""
    chosen = reach.lucky(sim, cast, purpose, cells[sim.land.top[cells] == old], 1, one_in)
    return ground.reshape(sim, chosen, top=new)


def fog(sim: Sim, cast: Cast) -> bool:
    """One in six of those in it cannot be seen by whoever would attack them."""
    return marks.lay(sim, cast, Mark.INVISIBLE, "fog", one_in=6)


def hail(sim: Sim, cast: Cast) -> bool:
    """Hailstones hurt one in three and beat down the fields."""
    hit = reach.lucky_rows(sim, cast, "hail", reach.creatures(sim, cast), 1, 3)
    life.hurt(sim, hit, HAIL_HURTS, "hail")
    flattened = _turn(sim, cast, "hail on fields", reach.cells(sim, cast), FARMLAND, GRASS, 4)
    return bool(hit.size) | (flattened > 0)


def wind(sim: Sim, cast: Cast) -> bool:
    """Every fire under the brush jumps to what can burn beside it."""
    cells = reach.cells(sim, cast)
    beside = shapes.neighbours(sim.land, cells[sim.land.top[cells] == FIRE])
    return fire.ignite(sim, reach.lucky(sim, cast, "wind", beside, 2, 3)) > 0


def acid(sim: Sim, cast: Cast) -> bool:
    """Acid burns whoever it falls on and eats what grows; then it is used up."""
    wet = reach.lucky(sim, cast, "acid", reach.cells(sim, cast), 1, 2)
    hit = reach.on(sim, wet)
    life.hurt(sim, hit, ACID_HURTS, "acid")
    covered = wet[sim.land.top[wet] != NONE]
    return ground.reshape(sim, covered, top=WASTELAND) + len(hit) > 0


POWERS = (
    Power("rain", "weather", "Drizzle: puts out fires, lets grass grow again.", rain, "own", brush=True, faith=3),
    Power("storm", "weather", "Rain with lightning in it.", storm, brush=True),
    Power("lightning", "weather", "A bolt that hurts whoever it hits and starts a fire.", lightning),
    Power("snow", "weather", "Covers the land with snow and smothers fires.", snow, brush=True),
    Power("cold", "weather", "Freezes shallow water, and a creature here and there.", cold, brush=True),
    Power("thaw", "weather", "Melts snow and ice and frees the frozen.", thaw, "own", brush=True, faith=3),
    Power("heat_wave", "weather", "Melts, dries, and sets the odd fire.", heat_wave, brush=True),
    Power("drought", "weather", "Leaves nothing to graze and spreads the desert.", drought, brush=True),
    Power("fog", "weather", "Hides one in six from attackers.", fog, "own", brush=True, faith=20),
    Power("hail", "weather", "Hurts one in three and beats down fields.", hail, brush=True),
    Power("wind", "weather", "Drives fires on to what stands beside them.", wind, brush=True),
    Power("acid", "weather", "Burns creatures and turns what grows into wasteland.", acid, brush=True),
)
