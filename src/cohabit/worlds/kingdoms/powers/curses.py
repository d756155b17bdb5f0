"""Curses: what harms creatures, cities and kingdoms without a blow. Gods only."""

import numpy as np

from cohabit.errors import GameRejected
from cohabit.worlds.kingdoms import crowns
from cohabit.worlds.kingdoms.creatures import Job, Mark
from cohabit.worlds.kingdoms.powers import reach
from cohabit.worlds.kingdoms.powers.marks import marking
from cohabit.worlds.kingdoms.powers.opinions import sway
from cohabit.worlds.kingdoms.powers.power import Cast, Power
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.species import HEALTH, HUNGERS, LIFE, SPECIES_ROW

OLDER, HUNGRY = 1000, 5


def aging(sim: Sim, cast: Cast) -> bool:
    """They grow old at once; whoever has lived its time already does not notice."""
    c = sim.creatures
    rows = reach.creatures(sim, cast)
    rows = rows[sim.tick - c.born[rows] < LIFE[c.species[rows]]]
    c.born[rows] -= OLDER
    return bool(rows.size)


def hunger(sim: Sim, cast: Cast) -> bool:
    """Their bellies are empty."""
    c = sim.creatures
    rows = reach.creatures(sim, cast)
    fed = rows[(c.food[rows] > HUNGRY) & HUNGERS[c.species[rows]]]
    c.food[fed] = HUNGRY
    return bool(fed.size)


def smite(sim: Sim, cast: Cast) -> bool:
    """Whoever stands there dies."""
    rows = reach.creatures(sim, cast)
    if not rows.size:
        raise GameRejected(f"Nobody stands at {cast.x},{cast.y}: aim at a creature.")
    sim.creatures.hp[rows] = 0
    return True


def undeath(sim: Sim, cast: Cast) -> bool:
    """One in four becomes a zombie, and forgets its city and its king."""
    c = sim.creatures
    zombie = SPECIES_ROW["zombie"]
    rows = reach.creatures(sim, cast)
    rows = reach.lucky_rows(sim, cast, "undeath", rows[c.species[rows] != zombie], 1, 4)
    c.species[rows] = zombie
    c.hp[rows] = np.minimum(c.hp[rows], HEALTH[zombie])
    c.kingdom[rows] = c.city[rows] = c.marks[rows] = 0
    c.job[rows] = Job.NONE
    c.tx[rows] = c.ty[rows] = -1
    return bool(rows.size)


def desertion(sim: Sim, cast: Cast) -> bool:
    """Soldiers throw their arms away."""
    c = sim.creatures
    rows = reach.creatures(sim, cast)
    soldiers = rows[c.job[rows] == Job.SOLDIER]
    c.job[soldiers] = Job.WORKER
    c.tx[soldiers] = c.ty[soldiers] = -1
    return bool(soldiers.size)


def famine(sim: Sim, cast: Cast) -> bool:
    """The stores of a city rot."""
    city = reach.city(sim, cast)
    had, city.food = city.food, 0
    return had > 0


def poverty(sim: Sim, cast: Cast) -> bool:
    """A city loses half of its wood, stone and gold."""
    city = reach.city(sim, cast)
    had = city.wood + city.stone + city.gold
    city.wood, city.stone, city.gold = city.wood // 2, city.stone // 2, city.gold // 2
    return had > 0


def discord(sim: Sim, cast: Cast) -> bool:
    """A city thinks less of its king."""
    city = reach.city(sim, cast)
    had, city.loyalty = city.loyalty, max(0, city.loyalty - 30)
    return city.loyalty < had


def rebellion(sim: Sim, cast: Cast) -> bool:
    """A city leaves its kingdom, now."""
    city = reach.city(sim, cast)
    if len(sim.cities_of(city.kingdom)) < 2:
        raise GameRejected(f"{city.name} is all that its kingdom has: there is nobody to rebel against.")
    if sim.laws.get("no_rebellion"):
        raise GameRejected("The law no_rebellion holds: lift it first.")
    crowns.rebel(sim, city)
    sim.refresh()  # views look wars up at once, not at the next tick
    return True


def weariness(sim: Sim, cast: Cast) -> bool:
    """A kingdom grows tired of war."""
    kingdom = reach.kingdom(sim, cast)
    had, kingdom.weariness = kingdom.weariness, min(100, kingdom.weariness + 30)
    return kingdom.weariness > had


def doubt(sim: Sim, cast: Cast) -> bool:
    """A kingdom loses faith."""
    kingdom = reach.kingdom(sim, cast)
    had, kingdom.faith = kingdom.faith, max(0, kingdom.faith - 50)
    return kingdom.faith < had


def oblivion(sim: Sim, cast: Cast) -> bool:
    """A city forgets half of what it knew."""
    city = reach.city(sim, cast)
    had, city.culture = city.culture, city.culture // 2
    return had > 0


def spite(sim: Sim, cast: Cast) -> bool:
    """Everybody thinks worse of a kingdom."""
    return sway(sim, reach.kingdom(sim, cast).id, -30)


def regicide(sim: Sim, cast: Cast) -> bool:
    """The king dies; who comes after is the crown's affair."""
    kingdom = reach.kingdom(sim, cast)
    row = sim.creatures.row(kingdom.king)
    if row is None:
        raise GameRejected(f"{kingdom.name} has no king.")
    sim.creatures.hp[row] = 0
    return True


POWERS = (
    Power("curse", "curse", "The cursed fight worse and sicken.", marking("curse", Mark.CURSED, 2), brush=True),
    Power("madness", "curse", "The mad attack whoever is near.", marking("madness", Mark.MAD, 3), brush=True),
    Power("frost", "curse", "Freezes creatures where they stand.", marking("frost", Mark.FROZEN, 2), brush=True),
    Power("burning", "curse", "Sets creatures on fire.", marking("burning", Mark.BURNING, 2), brush=True),
    Power("aging", "curse", "Makes creatures older by 1000 ticks.", aging, brush=True),
    Power("hunger", "curse", "Empties the bellies of those under the brush.", hunger, brush=True),
    Power("smite", "curse", "Kills whoever stands there.", smite),
    Power("undeath", "curse", "Turns one in four into a zombie.", undeath, brush=True),
    Power("desertion", "curse", "Soldiers throw their arms away.", desertion, brush=True),
    Power("famine", "curse", "Rots the food that the city has stored.", famine),
    Power("poverty", "curse", "Takes half of the city's wood, stone and gold.", poverty),
    Power("discord", "curse", "The city thinks less of its king.", discord),
    Power("rebellion", "curse", "The city leaves its kingdom.", rebellion),
    Power("weariness", "curse", "Makes the kingdom tired of war.", weariness),
    Power("doubt", "curse", "Takes 50 faith from the kingdom.", doubt),
    Power("oblivion", "curse", "The city loses half of its culture.", oblivion),
    Power("spite", "curse", "Everybody thinks worse of the kingdom.", spite),
    Power("regicide", "curse", "Kills the king of the land.", regicide),
)
