"""Curses harm creatures, cities and kingdoms without violence. Gods only."""

import numpy as np

from cohabit.errors import GameRejected
from cohabit.worlds.kingdoms.creatures import Effect, Job
from cohabit.worlds.kingdoms.powers import targets
from cohabit.worlds.kingdoms.powers.power import Cast, Powers
from cohabit.worlds.kingdoms.powers.targets import affecting, changing
from cohabit.worlds.kingdoms.rules import realms
from cohabit.worlds.kingdoms.sim import MAX_FAITH, Sim
from cohabit.worlds.kingdoms.species import HEALTH, HUNGERS, LIFE, SPECIES_ROW

POWERS = Powers("curse")
OLDER_TICKS, HUNGRY_FOOD = 1000, 5
LOYALTY_LOSS, WEARINESS_GAIN, FAITH_LOSS, OPINION_LOSS = 30, 30, 50, 30

_CURSED = "Curses half of the creatures: they fight worse and lose health."
POWERS.add("curse", _CURSED, affecting("curse", Effect.CURSED, 2), brush=True)
_MAD = "Makes one in three creatures mad: they attack anybody."
POWERS.add("madness", _MAD, affecting("madness", Effect.MAD, 3), brush=True)
_FROZEN = "Freezes half of the creatures where they stand."
POWERS.add("frost", _FROZEN, affecting("frost", Effect.FROZEN, 2), brush=True)
POWERS.add("burning", "Sets half of the creatures on fire.", affecting("burning", Effect.BURNING, 2), brush=True)


@POWERS.power(f"Makes creatures {OLDER_TICKS} ticks older.", brush=True)
def aging(sim: Sim, cast: Cast) -> bool:
    c = sim.creatures
    rows = targets.creatures(sim, cast)
    rows = rows[sim.tick - c.born[rows] < LIFE[c.species[rows]]]
    c.born[rows] -= OLDER_TICKS
    return bool(rows.size)


@POWERS.power("Leaves the creatures under the brush almost without food.", brush=True)
def hunger(sim: Sim, cast: Cast) -> bool:
    c = sim.creatures
    rows = targets.creatures(sim, cast)
    fed = rows[(c.food[rows] > HUNGRY_FOOD) & HUNGERS[c.species[rows]]]
    c.food[fed] = HUNGRY_FOOD
    return bool(fed.size)


@POWERS.power("Kills the creatures on the tile.")
def smite(sim: Sim, cast: Cast) -> bool:
    rows = targets.creatures(sim, cast)
    if not rows.size:
        raise GameRejected(f"There is no creature at {cast.x},{cast.y}. Aim at a creature.")
    sim.creatures.hp[rows] = 0
    return True


@POWERS.power("Turns one in four creatures into a zombie.", brush=True)
def undeath(sim: Sim, cast: Cast) -> bool:
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


@POWERS.power("Makes soldiers workers again.", brush=True)
def desertion(sim: Sim, cast: Cast) -> bool:
    c = sim.creatures
    rows = targets.creatures(sim, cast)
    soldiers = rows[c.job[rows] == Job.SOLDIER]
    c.job[soldiers] = Job.WORKER
    c.tx[soldiers] = c.ty[soldiers] = -1
    return bool(soldiers.size)


@POWERS.power("Destroys the city's stored food.")
def famine(sim: Sim, cast: Cast) -> bool:
    city = targets.city(sim, cast)
    had, city.food = city.food, 0
    return had > 0


@POWERS.power("Takes half of the city's wood, stone and gold.")
def poverty(sim: Sim, cast: Cast) -> bool:
    city = targets.city(sim, cast)
    had = city.wood + city.stone + city.gold
    city.wood, city.stone, city.gold = city.wood // 2, city.stone // 2, city.gold // 2
    return had > 0


_DISLOYAL = changing(targets.city, "loyalty", -LOYALTY_LOSS)
POWERS.add("discord", f"Lowers the city's loyalty by {LOYALTY_LOSS}.", _DISLOYAL)


@POWERS.power("Makes the city leave its kingdom.")
def rebellion(sim: Sim, cast: Cast) -> bool:
    city = targets.city(sim, cast)
    if len(sim.cities_of(city.kingdom)) < 2:
        raise GameRejected(f"{city.name} is the only city of its kingdom, so there is nobody to rebel against.")
    if sim.laws.get("no_rebellion"):
        raise GameRejected("The law no_rebellion is in force. End it first.")
    realms.rebel(sim, city)
    sim.refresh()  # views read wars at once, not at the next tick
    return True


_WEARY = changing(targets.kingdom, "weariness", WEARINESS_GAIN)
POWERS.add("weariness", f"Raises the kingdom's war weariness by {WEARINESS_GAIN}.", _WEARY)
_DOUBTING = changing(targets.kingdom, "faith", -FAITH_LOSS, MAX_FAITH)
POWERS.add("doubt", f"Takes {FAITH_LOSS} faith from the kingdom.", _DOUBTING)


@POWERS.power("Takes half of the city's culture.")
def oblivion(sim: Sim, cast: Cast) -> bool:
    city = targets.city(sim, cast)
    had, city.culture = city.culture, city.culture // 2
    return had > 0


@POWERS.power(f"Lowers all other kingdoms' opinions of the kingdom by {OPINION_LOSS}.")
def spite(sim: Sim, cast: Cast) -> bool:
    return targets.change_opinions(sim, targets.kingdom(sim, cast).id, -OPINION_LOSS)


@POWERS.power("Kills the king of the kingdom.")
def regicide(sim: Sim, cast: Cast) -> bool:
    kingdom = targets.kingdom(sim, cast)
    row = sim.creatures.row(kingdom.king)
    if row is None:
        raise GameRejected(f"{kingdom.name} has no king.")
    sim.creatures.hp[row] = 0
    return True
