"""Curses harm creatures, cities and kingdoms without violence. Gods only."""

import numpy as np

from cohabit.errors import GameRejected
from cohabit.worlds.kingdoms.creatures import Effect, Job
from cohabit.worlds.kingdoms.powers import targets
from cohabit.worlds.kingdoms.powers.power import Cast, Power
from cohabit.worlds.kingdoms.powers.targets import affecting
from cohabit.worlds.kingdoms.rules import realms
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.species import HEALTH, HUNGERS, LIFE, SPECIES_ROW

OLDER_TICKS, HUNGRY_FOOD = 1000, 5
LOYALTY_LOSS, WEARINESS_GAIN, FAITH_LOSS, OPINION_LOSS = 30, 30, 50, 30


def aging(sim: Sim, cast: Cast) -> bool:
    """Makes creatures older, except those past their maximum age."""
    c = sim.creatures
    rows = targets.creatures(sim, cast)
    rows = rows[sim.tick - c.born[rows] < LIFE[c.species[rows]]]
    c.born[rows] -= OLDER_TICKS
    return bool(rows.size)


def hunger(sim: Sim, cast: Cast) -> bool:
    """Leaves the creatures under the brush almost without food."""
    c = sim.creatures
    rows = targets.creatures(sim, cast)
    fed = rows[(c.food[rows] > HUNGRY_FOOD) & HUNGERS[c.species[rows]]]
    c.food[fed] = HUNGRY_FOOD
    return bool(fed.size)


def smite(sim: Sim, cast: Cast) -> bool:
    """Kills the creatures on the tile."""
    rows = targets.creatures(sim, cast)
    if not rows.size:
        raise GameRejected(f"There is no creature at {cast.x},{cast.y}. Aim at a creature.")
    sim.creatures.hp[rows] = 0
    return True


def undeath(sim: Sim, cast: Cast) -> bool:
    """Turns one in four creatures into a zombie without a kingdom."""
    c = sim.creatures
    zombie = SPECIES_ROW["zombie"]
    rows = targets.creatures(sim, cast)
    rows = targets.some_creatures(sim, cast, "undeath", rows[c.species[rows] != zombie], 1, 4)
    c.species[rows] = zombie
    c.hp[rows] = np.minimum(c.hp[rows], HEALTH[zombie])
    c.kingdom[rows] = c.city[rows] = c.effects[rows] = 0
    c.job[rows] = Job.NONE
    c.tx[rows] = c.ty[rows] = -1
    return bool(rows.size)


def desertion(sim: Sim, cast: Cast) -> bool:
    """Makes soldiers workers again."""
    c = sim.creatures
    rows = targets.creatures(sim, cast)
    soldiers = rows[c.job[rows] == Job.SOLDIER]
    c.job[soldiers] = Job.WORKER
    c.tx[soldiers] = c.ty[soldiers] = -1
    return bool(soldiers.size)


def famine(sim: Sim, cast: Cast) -> bool:
    """Destroys the stored food of a city."""
    city = targets.city(sim, cast)
    had, city.food = city.food, 0
    return had > 0


def poverty(sim: Sim, cast: Cast) -> bool:
    """Takes half of the wood, stone and gold of a city."""
    city = targets.city(sim, cast)
    had = city.wood + city.stone + city.gold
    city.wood, city.stone, city.gold = city.wood // 2, city.stone // 2, city.gold // 2
    return had > 0


def discord(sim: Sim, cast: Cast) -> bool:
    """Lowers the loyalty of a city."""
    city = targets.city(sim, cast)
    had, city.loyalty = city.loyalty, max(0, city.loyalty - LOYALTY_LOSS)
    return city.loyalty < had


def rebellion(sim: Sim, cast: Cast) -> bool:
    """Makes a city leave its kingdom."""
    city = targets.city(sim, cast)
    if len(sim.cities_of(city.kingdom)) < 2:
        raise GameRejected(f"{city.name} is the only city of its kingdom, so there is nobody to rebel against.")
    if sim.laws.get("no_rebellion"):
        raise GameRejected("The law no_rebellion is in force. End it first.")
    realms.rebel(sim, city)
    sim.refresh()  # views read wars at once, not at the next tick
    return True


def weariness(sim: Sim, cast: Cast) -> bool:
    """Raises the war weariness of a kingdom."""
    kingdom = targets.kingdom(sim, cast)
    had, kingdom.weariness = kingdom.weariness, min(100, kingdom.weariness + WEARINESS_GAIN)
    return kingdom.weariness > had


def doubt(sim: Sim, cast: Cast) -> bool:
    """Takes faith from a kingdom."""
    kingdom = targets.kingdom(sim, cast)
    had, kingdom.faith = kingdom.faith, max(0, kingdom.faith - FAITH_LOSS)
    return kingdom.faith < had


def oblivion(sim: Sim, cast: Cast) -> bool:
    """Takes half of the culture of a city."""
    city = targets.city(sim, cast)
    had, city.culture = city.culture, city.culture // 2
    return had > 0


def spite(sim: Sim, cast: Cast) -> bool:
    """Worsens the opinions of a kingdom."""
    return targets.change_opinions(sim, targets.kingdom(sim, cast).id, -OPINION_LOSS)


def regicide(sim: Sim, cast: Cast) -> bool:
    """Kills the king; the crown chooses the next one."""
    kingdom = targets.kingdom(sim, cast)
    row = sim.creatures.row(kingdom.king)
    if row is None:
        raise GameRejected(f"{kingdom.name} has no king.")
    sim.creatures.hp[row] = 0
    return True


POWERS = (
    Power(
        "curse",
        "curse",
        "Curses half of the creatures: they fight worse and lose health.",
        affecting("curse", Effect.CURSED, 2),
        brush=True,
    ),
    Power(
        "madness",
        "curse",
        "Makes one in three creatures mad: they attack anybody.",
        affecting("madness", Effect.MAD, 3),
        brush=True,
    ),
    Power(
        "frost",
        "curse",
        "Freezes half of the creatures where they stand.",
        affecting("frost", Effect.FROZEN, 2),
        brush=True,
    ),
    Power(
        "burning", "curse", "Sets half of the creatures on fire.", affecting("burning", Effect.BURNING, 2), brush=True
    ),
    Power("aging", "curse", f"Makes creatures {OLDER_TICKS} ticks older.", aging, brush=True),
    Power("hunger", "curse", "Leaves the creatures under the brush almost without food.", hunger, brush=True),
    Power("smite", "curse", "Kills the creatures on the tile.", smite),
    Power("undeath", "curse", "Turns one in four creatures into a zombie.", undeath, brush=True),
    Power("desertion", "curse", "Makes soldiers workers again.", desertion, brush=True),
    Power("famine", "curse", "Destroys the city's stored food.", famine),
    Power("poverty", "curse", "Takes half of the city's wood, stone and gold.", poverty),
    Power("discord", "curse", f"Lowers the city's loyalty by {LOYALTY_LOSS}.", discord),
    Power("rebellion", "curse", "Makes the city leave its kingdom.", rebellion),
    Power("weariness", "curse", f"Raises the kingdom's war weariness by {WEARINESS_GAIN}.", weariness),
    Power("doubt", "curse", f"Takes {FAITH_LOSS} faith from the kingdom.", doubt),
    Power("oblivion", "curse", "Takes half of the city's culture.", oblivion),
    Power("spite", "curse", f"Lowers all other kingdoms' opinions of the kingdom by {OPINION_LOSS}.", spite),
    Power("regicide", "curse", "Kills the king of the kingdom.", regicide),
)
