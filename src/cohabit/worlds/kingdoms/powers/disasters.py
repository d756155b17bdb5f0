"""Disasters: what breaks, burns and drowns. Gods only."""

import numpy as np

from cohabit.errors import GameRejected
from cohabit.worlds.kingdoms import fire, life
from cohabit.worlds.kingdoms.creatures import Mark
from cohabit.worlds.kingdoms.land import Cells
from cohabit.worlds.kingdoms.powers import ground, marks, reach, shapes
from cohabit.worlds.kingdoms.powers.blast import Blast, explode
from cohabit.worlds.kingdoms.powers.power import Cast, Power
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.tiles import GROUND_ROW, IS_WATER, TOP_ROW

LAVA, SAND, SOIL_LOW = GROUND_ROW["lava1"], GROUND_ROW["sand"], GROUND_ROW["soil_low"]
PIT, DEEP_PIT, ABYSS = (GROUND_ROW[name] for name in ("pit_shallow_waters", "pit_close_ocean", "pit_deep_ocean"))
HEIGHTS = tuple(GROUND_ROW[name] for name in ("hills", "mountains", "summit"))
NONE, SNOW, SWAMP, FARMLAND = (TOP_ROW[name] for name in ("none", "snow", "swamp", "farmland"))

GRENADE = Blast("a grenade", radius=1, damage=30)
BOMB = Blast("a bomb", radius=3, damage=60)
METEORITE = Blast("a meteorite", radius=5, damage=90, crater=1, floor=LAVA)
NUKE = Blast("a nuclear bomb", radius=14, damage=400, crater=3, floor=DEEP_PIT, cover=TOP_ROW["wasteland"])
ANTIMATTER = Blast("an antimatter bomb", radius=8, damage=1000, crater=8, floor=ABYSS)
FALLOUT_REACHES, QUAKE_REACHES, CRACK = 20, 14, 10
WAVE_REACHES, SEA_WITHIN, WAVE_HURTS = 18, 12, 60
SINKHOLE_REACHES, AVALANCHE_REACHES, AVALANCHE_HURTS = 3, 8, 40


def grenade(sim: Sim, cast: Cast) -> bool:
    """A small blast."""
    return explode(sim, cast, GRENADE)


def bomb(sim: Sim, cast: Cast) -> bool:
    """A blast that takes a house and those around it."""
    return explode(sim, cast, BOMB)


def meteorite(sim: Sim, cast: Cast) -> bool:
    """A blast from above; what fell goes on glowing in its crater."""
    return explode(sim, cast, METEORITE)


def nuke(sim: Sim, cast: Cast) -> bool:
    """A blast that takes a city, and sickness for many around it."""
    explode(sim, cast, NUKE)
    near = reach.on(sim, sim.land.disc(cast.x, cast.y, FALLOUT_REACHES))
    marks.lay_on(sim, reach.lucky_rows(sim, cast, "fallout", near, 1, 3), Mark.PLAGUE)
    return True


def antimatter_bomb(sim: Sim, cast: Cast) -> bool:
    """Nothing is left but a hole."""
    return explode(sim, cast, ANTIMATTER)


def earthquake(sim: Sim, cast: Cast) -> bool:
    """One house in four falls, one creature in three is hurt, and the ground cracks open."""
    shaken = sim.land.disc(cast.x, cast.y, QUAKE_REACHES)
    reach.alarm(sim, shaken, "An earthquake shakes")
    life.hurt(sim, reach.lucky_rows(sim, cast, "quake", reach.on(sim, shaken), 1, 3), 15, "an earthquake")
    ground.wreck(sim, reach.lucky(sim, cast, "quake", shaken, 1, 4))
    crack = _crack(sim, cast)
    ground.reshape(sim, crack[sim.land.is_dry(crack)], ground=PIT)
    return True


def _crack(sim: Sim, cast: Cast) -> Cells:
    """A line through the place, in a direction of its own."""
    here = sim.land.cell(cast.x, cast.y) + cast.pulse * sim.land.size
    lean = sim.chance.one(2 * CRACK + 1, "crack", sim.tick, here) - CRACK
    return shapes.line(sim.land, cast.x - CRACK, cast.y - lean, cast.x + CRACK, cast.y + lean)


def tsunami(sim: Sim, cast: Cast) -> bool:
    """The sea runs over the low land around: whoever stands there may drown, and houses fall."""
    land = sim.land
    if not IS_WATER[land.ground[land.disc(cast.x, cast.y, SEA_WITHIN)]].any():
        raise GameRejected(f"A tsunami comes from the sea: aim within {SEA_WITHIN} tiles of water.")
    reached = land.disc(cast.x, cast.y, WAVE_REACHES)
    low = reached[np.isin(land.ground[reached], (SAND, SOIL_LOW))]
    flooded = reach.lucky(sim, cast, "tsunami", low, 2, 3)
    reach.alarm(sim, flooded, "A tsunami breaks over")
    _drown(sim, cast, flooded, WAVE_HURTS, 2)
    return bool(flooded.size)


def flood(sim: Sim, cast: Cast) -> bool:
    """Low land stands under water for a while: fields are lost, fires go out, a house in twelve falls."""
    cells = reach.cells(sim, cast)
    low = cells[np.isin(sim.land.ground[cells], (SAND, SOIL_LOW))]
    flooded = reach.lucky(sim, cast, "flood", low, 1, 2)
    _drown(sim, cast, flooded, 5, 12)
    return bool(flooded.size)


def _drown(sim: Sim, cast: Cast, flooded: Cells, damage: int, one_house_in: int) -> None:
    land = sim.land
    life.hurt(sim, reach.on(sim, flooded), damage, "a flood")
    fire.put_out(sim, flooded)
    ground.wreck(sim, reach.lucky(sim, cast, "flood takes houses", flooded, 1, one_house_in))
    soil = land.ground[flooded] == SOIL_LOW
    ground.reshape(sim, flooded[soil], top=SWAMP)
    ground.reshape(sim, flooded[~soil], top=NONE)


def wildfire(sim: Sim, cast: Cast) -> bool:
    """Sets fire to half of what can burn."""
    return fire.ignite(sim, reach.lucky(sim, cast, "fire", reach.cells(sim, cast), 1, 2)) > 0


def napalm(sim: Sim, cast: Cast) -> bool:
    """Everything that can burn burns, creatures too."""
    lit = fire.ignite(sim, reach.cells(sim, cast))
    return marks.lay(sim, cast, Mark.BURNING, "napalm") | (lit > 0)


def lava(sim: Sim, cast: Cast) -> bool:
    """The ground melts."""
    return ground.reshape(sim, reach.cells(sim, cast), ground=LAVA) > 0


def plague(sim: Sim, cast: Cast) -> bool:
    """Half of them fall ill, and will give it to those around them."""
    sick = marks.lay(sim, cast, Mark.PLAGUE, "plague", one_in=2)
    if sick:
        reach.alarm(sim, reach.cells(sim, cast), "A plague has come to")
    return sick


def locusts(sim: Sim, cast: Cast) -> bool:
    """They strip what can be grazed, half of the fields, and a quarter of what the cities there have stored."""
    cells = reach.cells(sim, cast)
    eaten = ground.strip(sim, cells)
    fields = reach.lucky(sim, cast, "locusts", cells[sim.land.top[cells] == FARMLAND], 1, 2)
    stripped = ground.reshape(sim, fields, top=NONE)
    raided = [city for city in reach.cities(sim, cells) if city.food > 0]
    for city in raided:
        city.food -= -(-city.food // 4)
    reach.alarm(sim, cells, "Locusts fall upon")
    return stripped + eaten + len(raided) > 0


def sinkhole(sim: Sim, cast: Cast) -> bool:
    """The ground gives way, and what is built on it goes with it."""
    hole = sim.land.disc(cast.x, cast.y, SINKHOLE_REACHES)
    return ground.reshape(sim, hole[sim.land.is_dry(hole)], ground=PIT) > 0


def avalanche(sim: Sim, cast: Cast) -> bool:
    """Snow comes down from the heights and buries whoever is in its way."""
    land = sim.land
    if not np.isin(land.ground[land.disc(cast.x, cast.y, AVALANCHE_REACHES)], HEIGHTS).any():
        raise GameRejected(f"An avalanche needs heights: aim within {AVALANCHE_REACHES} tiles of hills or mountains.")
    buried = reach.lucky(sim, cast, "avalanche", land.disc(cast.x, cast.y, AVALANCHE_REACHES), 2, 3)
    buried = buried[land.is_dry(buried)]
    hit = reach.on(sim, buried)
    life.hurt(sim, hit, AVALANCHE_HURTS, "an avalanche")
    return ground.reshape(sim, buried, top=SNOW) + len(hit) > 0


POWERS = (
    Power("grenade", "disaster", "A small blast.", grenade),
    Power("bomb", "disaster", "A blast that takes a house and those around it.", bomb),
    Power("meteorite", "disaster", "Strikes from the sky and leaves a crater that glows.", meteorite),
    Power("nuke", "disaster", "Takes a whole city and makes many around it ill.", nuke),
    Power("antimatter_bomb", "disaster", "Leaves nothing but a deep hole.", antimatter_bomb),
    Power("earthquake", "disaster", "Shakes down houses and cracks the ground open.", earthquake),
    Power("tsunami", "disaster", "The sea runs over low land near the coast.", tsunami),
    Power("flood", "disaster", "Puts low land under water for a while.", flood, brush=True),
    Power("fire", "disaster", "Sets fire to half of what can burn.", wildfire, brush=True),
    Power("napalm", "disaster", "Sets fire to everything that can burn, creatures too.", napalm, brush=True),
    Power("lava", "disaster", "Melts the ground; it cools to ash in time.", lava, brush=True),
    Power("plague", "disaster", "Half of those it touches fall ill, and spread it.", plague, brush=True),
    Power("locusts", "disaster", "Strip pastures, fields and stores of food.", locusts, brush=True),
    Power("sinkhole", "disaster", "The ground gives way under whatever stands on it.", sinkhole),
    Power("avalanche", "disaster", "Snow comes down from the heights and buries people.", avalanche),
)
