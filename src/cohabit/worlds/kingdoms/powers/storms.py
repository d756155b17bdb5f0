"""Powers that continue by themselves: drifting clouds, tornadoes and volcanoes.

A storm has a place, which may drift, and strikes the cells around it again and again until its time is over.
"""

from functools import partial

import numpy as np
from msgspec import Struct

from cohabit.errors import GameRejected
from cohabit.worlds.kingdoms.creatures import Rows
from cohabit.worlds.kingdoms.land import Cells
from cohabit.worlds.kingdoms.powers import disasters, ground, targets, weather
from cohabit.worlds.kingdoms.powers.power import Cast, Family, Power, Run
from cohabit.worlds.kingdoms.rules import life
from cohabit.worlds.kingdoms.sim import Sim, Storm, StormKind
from cohabit.worlds.kingdoms.species import FLIES, LIVES_IN_WATER
from cohabit.worlds.kingdoms.tiles import GROUND_ROW, IS_LAVA, TOP_ROW, TOP_WOOD

MAX_STORMS = 32
THROW_TILES = 5
TORNADO_DAMAGE = 12
CONE_RADIUS = 5  # of a volcano
MOUNTAINS = GROUND_ROW["mountains"]


class Kind(Struct, frozen=True):
    """A kind of storm."""

    id: StormKind
    family: Family
    description: str
    strike: Run
    radius: int
    lasts: int  # ticks
    every: int = 6  # ticks between two strikes
    drifts: bool = True
    news: str = ""  # what the cities on whose land it begins are told; empty: nothing


def whirl(sim: Sim, cast: Cast) -> bool:
    """Destroys trees and houses and throws creatures about."""
    land = sim.land
    woods = cast.cells[TOP_WOOD[land.top[cast.cells]] > 0]
    ground.reshape(sim, targets.some_cells(sim, cast, "tornado in the wood", woods, 1, 3), top=TOP_ROW["grass"])
    ground.wreck(sim, targets.some_cells(sim, cast, "tornado on houses", cast.cells, 1, 5))
    caught = targets.some_creatures(sim, cast, "tornado", targets.standing_on(sim, cast.cells), 2, 3)
    life.hurt(sim, caught, TORNADO_DAMAGE, "a tornado")
    _throw(sim, caught)
    return True


def _throw(sim: Sim, rows: Rows) -> None:
    """Move creatures a few tiles away, if they can stand there."""
    c, land = sim.creatures, sim.land
    far = 2 * THROW_TILES + 1
    x = c.x[rows] + sim.chance.below(far, "thrown across", sim.tick, c.public[rows]) - THROW_TILES
    y = c.y[rows] + sim.chance.below(far, "thrown along", sim.tick, c.public[rows]) - THROW_TILES
    x, y = np.clip(x, 0, land.width - 1), np.clip(y, 0, land.height - 1)
    lands = FLIES[c.species[rows]] | (land.is_dry(land.cells(x, y)) & ~LIVES_IN_WATER[c.species[rows]])
    c.x[rows[lands]], c.y[rows[lands]] = x[lands], y[lands]


def erupt(sim: Sim, cast: Cast) -> bool:
    """Raises a mountain and pours lava from its top."""
    land = sim.land
    cone = land.disc(cast.x, cast.y, CONE_RADIUS)
    ground.reshape(sim, cone[~IS_LAVA[land.ground[cone]]], ground=MOUNTAINS)
    ground.reshape(sim, land.disc(cast.x, cast.y, 1), ground=ground.HOTTEST_LAVA)
    running = targets.some_cells(sim, cast, "volcano", cast.cells, 1, 8)
    return ground.reshape(sim, running, ground=disasters.LAVA) > 0


KINDS: dict[StormKind, Kind] = {
    kind.id: kind
    for kind in (
        Kind("cloud_rain", "weather", "A drifting rain cloud.", weather.rain, 4, 300),
        Kind("cloud_snow", "weather", "A drifting snow cloud.", weather.snow, 4, 300),
        Kind("cloud_storm", "weather", "A drifting thundercloud.", weather.storm, 4, 240),
        Kind("cloud_acid", "weather", "A drifting cloud of acid rain.", weather.acid, 3, 150, every=10),
        Kind("cloud_fire", "disaster", "A drifting cloud that rains fire.", disasters.wildfire, 3, 150, every=10),
        Kind(
            "tornado",
            "weather",
            "Destroys houses and throws creatures about.",
            whirl,
            2,
            200,
            3,
            news="A tornado comes to",
        ),
        Kind("volcano", "disaster", "A volcano that pours out lava.", erupt, 7, 240, 20, False, "A volcano erupts at"),
    )
}


def begin(sim: Sim, cast: Cast, kind: Kind) -> bool:
    """Start a storm, which strikes at once."""
    if len(sim.storms) >= MAX_STORMS:
        raise GameRejected(f"There are already {MAX_STORMS} storms, the maximum. Wait until some of them are over.")
    if kind.news:
        targets.report(sim, sim.land.disc(cast.x, cast.y, kind.radius), kind.news)
    luck = sim.chance.one(1 << 30, "storm", sim.tick, cast.pulse)
    storm = Storm(kind.id, cast.x, cast.y, sim.tick + kind.lasts, luck)
    sim.storms.append(storm)
    _strike(sim, storm)
    return True


def step(sim: Sim) -> None:
    """One tick of all storms and of the lava that powers have left."""
    ground.cool_lava(sim)
    for storm in sim.storms:
        kind = KINDS[storm.kind]
        if sim.tick % kind.every == 0:
            if kind.drifts:
                _drift(sim, storm)
            _strike(sim, storm)
    sim.storms = [storm for storm in sim.storms if storm.ends > sim.tick]


def _drift(sim: Sim, storm: Storm) -> None:
    x = storm.x + sim.chance.one(3, "drift across", sim.tick, storm.luck) - 1
    y = storm.y + sim.chance.one(3, "drift along", sim.tick, storm.luck) - 1
    storm.x, storm.y = min(max(x, 0), sim.land.width - 1), min(max(y, 0), sim.land.height - 1)


def _strike(sim: Sim, storm: Storm) -> None:
    kind = KINDS[storm.kind]
    under: Cells = sim.land.disc(storm.x, storm.y, kind.radius)
    kind.strike(sim, Cast(storm.x, storm.y, under, pulse=storm.luck))


POWERS = tuple(Power(kind.id, kind.family, kind.description, partial(begin, kind=kind)) for kind in KINDS.values())
