"""Disasters: explosions, earthquakes, floods and fires. Gods only."""

import numpy as np
from msgspec import Struct

from cohabit.errors import GameRejected
from cohabit.worlds.kingdoms.creatures import Effect
from cohabit.worlds.kingdoms.land import Cells
from cohabit.worlds.kingdoms.powers import ground, targets
from cohabit.worlds.kingdoms.powers.power import Cast, Powers
from cohabit.worlds.kingdoms.rules import life, vegetation
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.tiles import GROUND_ROW, IS_WATER, TOP_ROW

LAVA, SAND, SOIL_LOW = GROUND_ROW["lava1"], GROUND_ROW["sand"], GROUND_ROW["soil_low"]
PIT, DEEP_PIT, ABYSS = (GROUND_ROW[name] for name in ("pit_shallow_waters", "pit_close_ocean", "pit_deep_ocean"))
HEIGHTS = tuple(GROUND_ROW[name] for name in ("hills", "mountains", "summit"))
NONE, SNOW, SWAMP, FARMLAND, BURNT = (TOP_ROW[name] for name in ("none", "snow", "swamp", "farmland", "burnt"))
POWERS = Powers("disaster")


class Blast(Struct, frozen=True):
    """An explosion. Lengths are in tiles."""

    name: str  # with its article, as in "a bomb strikes"
    radius: int
    damage: int
    crater: int = -1  # the radius of the crater; less than 0: none
    floor: int = 0  # the ground of the crater
    cover: int = BURNT  # what replaces the plants


NUKE = Blast("a nuclear bomb", radius=14, damage=400, crater=3, floor=DEEP_PIT, cover=TOP_ROW["wasteland"])
FALLOUT_RADIUS, QUAKE_RADIUS, QUAKE_DAMAGE, CRACK_LENGTH = 20, 14, 15, 10
WAVE_RADIUS, SEA_WITHIN, WAVE_DAMAGE, FLOOD_DAMAGE = 18, 12, 60, 5
SINKHOLE_RADIUS, AVALANCHE_RADIUS, AVALANCHE_DAMAGE = 3, 8, 40


def explode(sim: Sim, cast: Cast, blast: Blast) -> bool:
    """Hurt, wreck and scorch everything within the radius. An explosion always has an effect."""
    land = sim.land
    hit = land.disc(cast.x, cast.y, blast.radius)
    targets.report(sim, hit, f"{blast.name[0].upper()}{blast.name[1:]} strikes")
    life.hurt(sim, targets.standing_on(sim, hit), blast.damage, blast.name)
    ground.wreck(sim, hit)
    ground.reshape(sim, hit[land.top[hit] != NONE], top=blast.cover)
    if blast.crater >= 0:
        ground.reshape(sim, land.disc(cast.x, cast.y, blast.crater), ground=blast.floor)
    rim = np.setdiff1d(land.disc(cast.x, cast.y, blast.radius + 1), hit)
    vegetation.ignite(sim, targets.some_cells(sim, cast, blast.name, rim, 1, 2))
    return True


def exploding(name: str, description: str, blast: Blast) -> None:
    """Adds a power that is nothing but this explosion."""
    POWERS.add(name, description, lambda sim, cast: explode(sim, cast, blast))


exploding("grenade", "A small explosion.", Blast("a grenade", radius=1, damage=30))
exploding("bomb", "An explosion that destroys the houses around it.", Blast("a bomb", radius=3, damage=60))
METEORITE = Blast("a meteorite", radius=5, damage=90, crater=1, floor=LAVA)
exploding("meteorite", "Strikes from the sky and leaves a crater of lava.", METEORITE)


@POWERS.power("Destroys a whole city and infects many creatures around it.")
def nuke(sim: Sim, cast: Cast) -> bool:
    explode(sim, cast, NUKE)
    near = targets.standing_on(sim, sim.land.disc(cast.x, cast.y, FALLOUT_RADIUS))
    targets.add_effect(sim, targets.some_creatures(sim, cast, "fallout", near, 1, 3), Effect.PLAGUE)
    return True


ANTIMATTER = Blast("an antimatter bomb", radius=8, damage=1000, crater=8, floor=ABYSS)
exploding("antimatter_bomb", "Leaves nothing but a deep pit.", ANTIMATTER)


@POWERS.power("Destroys houses and cracks the ground open.")
def earthquake(sim: Sim, cast: Cast) -> bool:
    shaken = sim.land.disc(cast.x, cast.y, QUAKE_RADIUS)
    targets.report(sim, shaken, "An earthquake shakes")
    fallen = targets.some_creatures(sim, cast, "quake", targets.standing_on(sim, shaken), 1, 3)
    life.hurt(sim, fallen, QUAKE_DAMAGE, "an earthquake")
    ground.wreck(sim, targets.some_cells(sim, cast, "quake", shaken, 1, 4))
    crack = _crack(sim, cast)
    ground.reshape(sim, crack[sim.land.is_dry(crack)], ground=PIT)
    return True


def _crack(sim: Sim, cast: Cast) -> Cells:
    """A line through the target, in a random direction."""
    here = sim.land.cell(cast.x, cast.y) + cast.pulse * sim.land.size
    lean = sim.chance.one(2 * CRACK_LENGTH + 1, "crack", sim.tick, here) - CRACK_LENGTH
    return sim.land.line(cast.x - CRACK_LENGTH, cast.y - lean, cast.x + CRACK_LENGTH, cast.y + lean)


@POWERS.power("The sea floods low land near the coast.")
def tsunami(sim: Sim, cast: Cast) -> bool:
    land = sim.land
    if not IS_WATER[land.ground[land.disc(cast.x, cast.y, SEA_WITHIN)]].any():
        raise GameRejected(f"A tsunami needs water. Aim within {SEA_WITHIN} tiles of water.")
    reached = land.disc(cast.x, cast.y, WAVE_RADIUS)
    low = reached[np.isin(land.ground[reached], (SAND, SOIL_LOW))]
    flooded = targets.some_cells(sim, cast, "tsunami", low, 2, 3)
    targets.report(sim, flooded, "A tsunami hits")
    _drown(sim, cast, flooded, WAVE_DAMAGE, 2)
    return bool(flooded.size)


@POWERS.power("Floods low land: fields turn into swamp and fires go out.", brush=True)
def flood(sim: Sim, cast: Cast) -> bool:
    cells = targets.cells(sim, cast)
    low = cells[np.isin(sim.land.ground[cells], (SAND, SOIL_LOW))]
    flooded = targets.some_cells(sim, cast, "flood", low, 1, 2)
    _drown(sim, cast, flooded, FLOOD_DAMAGE, 12)
    return bool(flooded.size)


def _drown(sim: Sim, cast: Cast, flooded: Cells, damage: int, one_house_in: int) -> None:
    land = sim.land
    life.hurt(sim, targets.standing_on(sim, flooded), damage, "a flood")
    vegetation.put_out(sim, flooded)
    ground.wreck(sim, targets.some_cells(sim, cast, "flood takes houses", flooded, 1, one_house_in))
    soil = land.ground[flooded] == SOIL_LOW
    ground.reshape(sim, flooded[soil], top=SWAMP)
    ground.reshape(sim, flooded[~soil], top=NONE)


@POWERS.power("Sets fire to half of the cells that can burn.", brush=True, called="fire")
def wildfire(sim: Sim, cast: Cast) -> bool:
    return vegetation.ignite(sim, targets.some_cells(sim, cast, "fire", targets.cells(sim, cast), 1, 2)) > 0


@POWERS.power("Sets fire to everything that can burn, and to creatures.", brush=True)
def napalm(sim: Sim, cast: Cast) -> bool:
    lit = vegetation.ignite(sim, targets.cells(sim, cast))
    return targets.affect(sim, cast, Effect.BURNING, "napalm") | (lit > 0)


@POWERS.power("Melts the ground; the lava cools to ash in time.", brush=True)
def lava(sim: Sim, cast: Cast) -> bool:
    return ground.reshape(sim, targets.cells(sim, cast), ground=LAVA) > 0


@POWERS.power("Infects half of the creatures under the brush; people spread it.", brush=True)
def plague(sim: Sim, cast: Cast) -> bool:
    sick = targets.affect(sim, cast, Effect.PLAGUE, "plague", one_in=2)
    if sick:
        targets.report(sim, targets.cells(sim, cast), "A plague has come to")
    return sick


@POWERS.power("Locusts strip pastures, fields and food stores.", brush=True)
def locusts(sim: Sim, cast: Cast) -> bool:
    cells = targets.cells(sim, cast)
    eaten = ground.strip(sim, cells)
    fields = targets.some_cells(sim, cast, "locusts", cells[sim.land.top[cells] == FARMLAND], 1, 2)
    stripped = ground.reshape(sim, fields, top=NONE)
    raided = [city for city in targets.cities(sim, cells) if city.food > 0]
    for city in raided:
        city.food -= -(-city.food // 4)
    targets.report(sim, cells, "Locusts attack")
    return stripped + eaten + len(raided) > 0


@POWERS.power("The ground collapses into a pit.")
def sinkhole(sim: Sim, cast: Cast) -> bool:
    hole = sim.land.disc(cast.x, cast.y, SINKHOLE_RADIUS)
    return ground.reshape(sim, hole[sim.land.is_dry(hole)], ground=PIT) > 0


@POWERS.power("Snow slides down from the heights and buries creatures.")
def avalanche(sim: Sim, cast: Cast) -> bool:
    land = sim.land
    if not np.isin(land.ground[land.disc(cast.x, cast.y, AVALANCHE_RADIUS)], HEIGHTS).any():
        raise GameRejected(f"An avalanche needs heights. Aim within {AVALANCHE_RADIUS} tiles of hills or mountains.")
    buried = targets.some_cells(sim, cast, "avalanche", land.disc(cast.x, cast.y, AVALANCHE_RADIUS), 2, 3)
    buried = buried[land.is_dry(buried)]
    hit = targets.standing_on(sim, buried)
    life.hurt(sim, hit, AVALANCHE_DAMAGE, "an avalanche")
    return ground.reshape(sim, buried, top=SNOW) + len(hit) > 0
