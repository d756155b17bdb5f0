"""Blessings: what helps creatures, cities and kingdoms. Players have most of them, at the price of faith."""

import numpy as np

from cohabit.errors import GameRejected
from cohabit.worlds.kingdoms import life
from cohabit.worlds.kingdoms.creatures import Mark
from cohabit.worlds.kingdoms.powers import marks, reach
from cohabit.worlds.kingdoms.powers.marks import marking
from cohabit.worlds.kingdoms.powers.opinions import sway
from cohabit.worlds.kingdoms.powers.power import Cast, Power, Run
from cohabit.worlds.kingdoms.realms import FAITH_MOST
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.species import GROWN, HEALTH, HUNGERS

AILMENTS = Mark.BURNING | Mark.PLAGUE | Mark.FROZEN | Mark.MAD | Mark.CURSED
STORES_MOST = 1000  # of one good, in one city; a gift beyond that is lost
HEALS, YOUNGER, FULL = 25, 800, 100
CHILDREN = 3


def heal(sim: Sim, cast: Cast) -> bool:
    """Wounds close."""
    rows = reach.creatures(sim, cast)
    hurt = rows[sim.creatures.hp[rows] < HEALTH[sim.creatures.species[rows]]]
    life.heal(sim, hurt, HEALS)
    return bool(hurt.size)


def feast(sim: Sim, cast: Cast) -> bool:
    """Nobody under the brush is hungry any more."""
    c = sim.creatures
    rows = reach.creatures(sim, cast)
    hungry = rows[(c.food[rows] < FULL) & HUNGERS[c.species[rows]]]
    c.food[hungry] = FULL
    return bool(hungry.size)


def youth(sim: Sim, cast: Cast) -> bool:
    """The old are younger again; nobody becomes a child."""
    c = sim.creatures
    rows = reach.creatures(sim, cast)
    spared = sim.tick - c.born[rows] - GROWN[c.species[rows]]  # how long it has been grown up
    old = spared > 0
    c.born[rows[old]] += np.minimum(spared[old], YOUNGER).astype(np.int32)
    return bool(old.any())


def coming_of_age(sim: Sim, cast: Cast) -> bool:
    """Children are grown up at once."""
    c = sim.creatures
    rows = reach.creatures(sim, cast)
    grown_since = sim.tick - GROWN[c.species[rows]]
    young = c.born[rows] > grown_since
    c.born[rows[young]] = grown_since[young]
    return bool(young.any())


def fertility(sim: Sim, cast: Cast) -> bool:
    """Children are born in a city that has parents for them."""
    city = reach.city(sim, cast)
    c = sim.creatures
    parents = np.flatnonzero((c.city == city.id) & (c.hp > 0) & (sim.tick - c.born >= GROWN[c.species]))
    if len(parents) < 2:
        raise GameRejected(f"{city.name} has no two grown people left who could have children.")
    race = int(c.species[parents[0]])
    born = life.spawn(sim, race, city.x, city.y, CHILDREN, city.kingdom, city.id, grown=False)
    return bool(born.size)


def gift(good: str, amount: int) -> Run:
    """A power that fills the stores of the city whose land it is aimed at."""

    def run(sim: Sim, cast: Cast) -> bool:
        city = reach.city(sim, cast)
        had = getattr(city, good)
        if had >= STORES_MOST:
            raise GameRejected(f"{city.name} has {had} {good} and no room for more: give it to another city.")
        setattr(city, good, min(STORES_MOST, had + amount))
        return True

    return run


def inspiration(sim: Sim, cast: Cast) -> bool:
    """A city has new ideas."""
    reach.city(sim, cast).culture += 20
    return True


def loyalty(sim: Sim, cast: Cast) -> bool:
    """A city loves its king again."""
    city = reach.city(sim, cast)
    if city.loyalty >= 100:
        raise GameRejected(f"{city.name} is as loyal as can be already.")
    city.loyalty = min(100, city.loyalty + 25)
    return True


def relief(sim: Sim, cast: Cast) -> bool:
    """Those who besiege a city lose half of what they have gained."""
    city = reach.city(sim, cast)
    if not city.siege:
        raise GameRejected(f"Nobody besieges {city.name}.")
    city.siege //= 2
    return True


def spirit(sim: Sim, cast: Cast) -> bool:
    """A kingdom that is tired of war takes heart."""
    kingdom = reach.kingdom(sim, cast)
    if not kingdom.weariness:
        raise GameRejected(f"{kingdom.name} is not tired of war.")
    kingdom.weariness = max(0, kingdom.weariness - 25)
    return True


def faith(sim: Sim, cast: Cast) -> bool:
    """A kingdom gets faith to use powers with."""
    kingdom = reach.kingdom(sim, cast)
    if kingdom.faith >= FAITH_MOST:
        raise GameRejected(f"{kingdom.name} has all the faith it can hold, {FAITH_MOST}.")
    kingdom.faith = min(FAITH_MOST, kingdom.faith + 50)
    return True


def friendship(sim: Sim, cast: Cast) -> bool:
    """Everybody thinks better of a kingdom."""
    return sway(sim, reach.kingdom(sim, cast).id, 30)


def cure(sim: Sim, cast: Cast) -> bool:
    """Whatever ails them is gone."""
    return marks.lift(sim, cast, AILMENTS)


bless = marking("blessing", Mark.BLESSED, one_in=2)
shield = marking("shield", Mark.SHIELDED, one_in=2)
hide = marking("invisibility", Mark.INVISIBLE, one_in=4)

POWERS = (
    Power("blessing", "blessing", "Half of them heal, and fight better.", bless, "own", brush=True, faith=20),
    Power("shield", "blessing", "Half of them take only half the harm.", shield, "own", brush=True, faith=25),
    Power("invisibility", "blessing", "Nobody attacks one in four of them.", hide, "own", brush=True, faith=40),
    Power("heal", "blessing", "Closes wounds.", heal, "own", brush=True, faith=10),
    Power("cure", "blessing", "Takes away fire, plague, frost, madness and curses.", cure, "own", brush=True, faith=10),
    Power("feast", "blessing", "Fills the bellies of those under the brush.", feast, "own", brush=True, faith=8),
    Power("youth", "blessing", "Makes the old younger.", youth, "own", brush=True, faith=20),
    Power("coming_of_age", "blessing", "Children are grown up.", coming_of_age, "own", brush=True, faith=20),
    Power("fertility", "blessing", "Children are born in the city.", fertility, "own", faith=25),
    Power("bounty", "blessing", "The city gets 60 food.", gift("food", 60), "own", faith=12),
    Power("timber", "blessing", "The city gets 30 wood.", gift("wood", 30), "own", faith=12),
    Power("masonry", "blessing", "The city gets 30 stone.", gift("stone", 30), "own", faith=12),
    Power("treasure", "blessing", "The city gets 30 gold.", gift("gold", 30), "own", faith=12),
    Power("inspiration", "blessing", "The city gains 20 culture.", inspiration, "own", faith=15),
    Power("loyalty", "blessing", "The city loves its king again.", loyalty, "own", faith=20),
    Power("relief", "blessing", "Besiegers of the city lose half of their gains.", relief, "own", faith=40),
    Power("spirit", "blessing", "A kingdom that is tired of war takes heart.", spirit, "own", faith=20),
    Power("faith", "blessing", "The kingdom gets 50 faith to use powers with.", faith),
    Power("friendship", "blessing", "Everybody thinks better of the kingdom.", friendship),
)
