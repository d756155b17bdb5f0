"""What goes on by itself after a power was used: clouds that drift, whirlwinds, a volcano that pours. And lava cools.

A storm is a place that moves, and a touch that falls around it again and again until its time is over.
"""

import numpy as np
from msgspec import Struct

from cohabit.errors import GameRejected
from cohabit.worlds.kingdoms import life
from cohabit.worlds.kingdoms.land import Cells
from cohabit.worlds.kingdoms.near import Rows
from cohabit.worlds.kingdoms.powers import disasters, ground, lava, reach, weather
from cohabit.worlds.kingdoms.powers.power import Cast, Family, Power, Run
from cohabit.worlds.kingdoms.realms import Storm, StormKind
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.species import FLIES, LIVES_IN_WATER
from cohabit.worlds.kingdoms.tiles import GROUND_ROW, IS_LAVA, TOP_ROW, TOP_WOOD

STORMS_MOST = 32
THROWS = 5  # tiles
TORNADO_HURTS = 12
MOUNTAINS = GROUND_ROW["mountains"]
CONE = 5  # how far a volcano raises the ground around it


class Kind(Struct, frozen=True):
    """A kind of storm."""

    id: StormKind
    family: Family
    words: str
    touch: Run
    radius: int
    lasts: int  # ticks
    every: int = 6  # ticks from one touch to the next
    drifts: bool = True
    alarm: str = ""  # what the cities are told on whose land it begins; empty: nothing


def whirl(sim: Sim, cast: Cast) -> bool:
    """Trees and houses fall, and creatures are thrown about."""
    land = sim.land
    woods = cast.cells[TOP_WOOD[land.top[cast.cells]] > 0]
    ground.reshape(sim, reach.lucky(sim, cast, "tornado in the wood", woods, 1, 3), top=TOP_ROW["grass"])
    ground.wreck(sim, reach.lucky(sim, cast, "tornado on houses", cast.cells, 1, 5))
    caught = reach.lucky_rows(sim, cast, "tornado", reach.on(sim, cast.cells), 2, 3)
    life.hurt(sim, caught, TORNADO_HURTS, "a tornado")
    _throw(sim, caught)
    return True


def _throw(sim: Sim, rows: Rows) -> None:
    """Set creatures down a few tiles away, wherever that is a place they can stand."""
    c, land = sim.creatures, sim.land
    far = 2 * THROWS + 1
    x = c.x[rows] + sim.chance.below(far, "thrown across", sim.tick, c.id[rows]) - THROWS
    y = c.y[rows] + sim.chance.below(far, "thrown along", sim.tick, c.id[rows]) - THROWS
    x, y = np.clip(x, 0, land.width - 1), np.clip(y, 0, land.height - 1)
    lands = FLIES[c.species[rows]] | (land.is_dry(land.cells(x, y)) & ~LIVES_IN_WATER[c.species[rows]])
    c.x[rows[lands]], c.y[rows[lands]] = x[lands], y[lands]


def erupt(sim: Sim, cast: Cast) -> bool:
    """The cone rises, and lava runs down from its mouth."""
    land = sim.land
    cone = land.disc(cast.x, cast.y, CONE)
    ground.reshape(sim, cone[~IS_LAVA[land.ground[cone]]], ground=MOUNTAINS)
    ground.reshape(sim, land.disc(cast.x, cast.y, 1), ground=lava.HOTTEST)
    running = reach.lucky(sim, cast, "volcano", cast.cells, 1, 8)
    return ground.reshape(sim, running, ground=disasters.LAVA) > 0


KINDS: dict[StormKind, Kind] = {
    kind.id: kind
    for kind in (
        Kind("cloud_rain", "weather", "A cloud that drifts and rains.", weather.rain, 4, 300),
        Kind("cloud_snow", "weather", "A cloud that drifts and snows.", weather.snow, 4, 300),
        Kind("cloud_storm", "weather", "A thundercloud that drifts about.", weather.storm, 4, 240),
        Kind("cloud_acid", "weather", "A cloud that drifts and rains acid.", weather.acid, 3, 150, every=10),
        Kind("cloud_fire", "disaster", "A cloud that drifts and rains fire.", disasters.wildfire, 3, 150, every=10),
        Kind("tornado", "weather", "Throws about whatever it meets.", whirl, 2, 200, 3, alarm="A tornado comes to"),
        Kind("volcano", "disaster", "A mountain that pours lava.", erupt, 7, 240, 20, False, "A volcano breaks out at"),
    )
}


def begin(sim: Sim, cast: Cast, kind: Kind) -> bool:
    """Start a storm; its first touch falls at once."""
    if len(sim.storms) >= STORMS_MOST:
        raise GameRejected(f"There are {STORMS_MOST} storms already: wait until some of them are over.")
    if kind.alarm:
        reach.alarm(sim, sim.land.disc(cast.x, cast.y, kind.radius), kind.alarm)
    storm = Storm(kind.id, cast.x, cast.y, sim.tick + kind.lasts)
    sim.storms.append(storm)
    _touch(sim, storm, cast.pulse)
    return True


def step(sim: Sim) -> None:
    """One tick of everything that powers have left behind."""
    lava.cool(sim)
    for number, storm in enumerate(sim.storms):
        kind = KINDS[storm.kind]
        if sim.tick % kind.every == 0:
            if kind.drifts:
                _drift(sim, storm, number)
            _touch(sim, storm, number)
    sim.storms = [storm for storm in sim.storms if storm.ends > sim.tick]


def _drift(sim: Sim, storm: Storm, number: int) -> None:
    x = storm.x + sim.chance.one(3, "drift across", sim.tick, number) - 1
    y = storm.y + sim.chance.one(3, "drift along", sim.tick, number) - 1
    storm.x, storm.y = min(max(x, 0), sim.land.width - 1), min(max(y, 0), sim.land.height - 1)


def _touch(sim: Sim, storm: Storm, number: int) -> None:
    kind = KINDS[storm.kind]
    under: Cells = sim.land.disc(storm.x, storm.y, kind.radius)
    kind.touch(sim, Cast(storm.x, storm.y, under, pulse=number))


def _starter(kind: Kind) -> Run:
    return lambda sim, cast: begin(sim, cast, kind)


POWERS = tuple(Power(kind.id, kind.family, kind.words, _starter(kind)) for kind in KINDS.values())
