"""One explosion: whatever it is made of, it hurts, breaks and scorches in the same order."""

import numpy as np
from msgspec import Struct

from cohabit.worlds.kingdoms import fire, life
from cohabit.worlds.kingdoms.powers import ground, reach
from cohabit.worlds.kingdoms.powers.power import Cast
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.tiles import TOP_ROW

NONE, BURNT = TOP_ROW["none"], TOP_ROW["burnt"]


class Blast(Struct, frozen=True):
    """What an explosion does, within how many tiles."""

    name: str  # as in: it was killed by …
    radius: int
    damage: int
    crater: int = -1  # how far the ground itself is changed; less than 0: not at all
    floor: int = 0  # the ground of the crater
    cover: int = BURNT  # what is left of whatever grew


def explode(sim: Sim, cast: Cast, blast: Blast) -> bool:
    """Let it happen. There is always something left of it to see, so it always counts as accepted."""
    land = sim.land
    hit = land.disc(cast.x, cast.y, blast.radius)
    reach.alarm(sim, hit, f"{blast.name[0].upper()}{blast.name[1:]} strikes")
    life.hurt(sim, reach.on(sim, hit), blast.damage, blast.name)
    ground.wreck(sim, hit)
    ground.reshape(sim, hit[land.top[hit] != NONE], top=blast.cover)
    if blast.crater >= 0:
        ground.reshape(sim, land.disc(cast.x, cast.y, blast.crater), ground=blast.floor)
    rim = np.setdiff1d(land.disc(cast.x, cast.y, blast.radius + 1), hit)
    fire.ignite(sim, reach.lucky(sim, cast, blast.name, rim, 1, 2))
    return True
