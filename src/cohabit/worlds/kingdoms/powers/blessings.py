"""Blessings help creatures, cities and kingdoms. Players can use most of them, for faith."""

import numpy as np

from cohabit.errors import GameRejected
from cohabit.worlds.kingdoms.creatures import Effect
from cohabit.worlds.kingdoms.powers import targets
from cohabit.worlds.kingdoms.powers.power import Cast, Powers, Run
from cohabit.worlds.kingdoms.powers.targets import affecting, changing
from cohabit.worlds.kingdoms.rules import life
from cohabit.worlds.kingdoms.sim import MAX_FAITH, Sim
from cohabit.worlds.kingdoms.species import GROWN, HEALTH, HUNGERS

POWERS = Powers("blessing")
AILMENTS = Effect.BURNING | Effect.PLAGUE | Effect.FROZEN | Effect.MAD | Effect.CURSED
MAX_STORED = 1000  # of one good in one city, by gifts
HEALING, YOUNGER_TICKS, CHILDREN = 25, 800, 3
CULTURE_GIFT, LOYALTY_GIFT, WEARINESS_RELIEF, FAITH_GIFT, OPINION_GIFT = 20, 25, 25, 50, 30

_BLESSED = "Blesses half of the creatures: they heal and fight better."
POWERS.add("blessing", _BLESSED, affecting("blessing", Effect.BLESSED, one_in=2), "own", brush=True, faith=20)
_SHIELDED = "Shields half of the creatures: they take half the damage."
POWERS.add("shield", _SHIELDED, affecting("shield", Effect.SHIELDED, one_in=2), "own", brush=True, faith=25)
_INVISIBLE = "Makes one in four creatures invisible to attackers."
POWERS.add("invisibility", _INVISIBLE, affecting("invisibility", Effect.INVISIBLE, 4), "own", brush=True, faith=40)


@POWERS.power("Heals wounds.", "own", brush=True, faith=10)
def heal(sim: Sim, cast: Cast) -> bool:
    rows = targets.creatures(sim, cast)
    hurt = rows[sim.creatures.hp[rows] < HEALTH[sim.creatures.species[rows]]]
    life.heal(sim, hurt, HEALING)
    return bool(hurt.size)


@POWERS.power("Removes fire, plague, frost, madness and curses.", "own", brush=True, faith=10)
def cure(sim: Sim, cast: Cast) -> bool:
    return targets.cure(sim, cast, AILMENTS)


@POWERS.power("Feeds the creatures under the brush.", "own", brush=True, faith=8)
def feast(sim: Sim, cast: Cast) -> bool:
    c = sim.creatures
    rows = targets.creatures(sim, cast)
    hungry = rows[(c.food[rows] < life.FULL) & HUNGERS[c.species[rows]]]
    c.food[hungry] = life.FULL
    return bool(hungry.size)


@POWERS.power("Makes adults younger.", "own", brush=True, faith=20)
def youth(sim: Sim, cast: Cast) -> bool:
    c = sim.creatures
    rows = targets.creatures(sim, cast)
    adult_for = sim.tick - c.born[rows] - GROWN[c.species[rows]]
    old = adult_for > 0
    c.born[rows[old]] += np.minimum(adult_for[old], YOUNGER_TICKS).astype(np.int32)
    return bool(old.any())


@POWERS.power("Makes children adults.", "own", brush=True, faith=20)
def coming_of_age(sim: Sim, cast: Cast) -> bool:
    c = sim.creatures
    rows = targets.creatures(sim, cast)
    grown_since = sim.tick - GROWN[c.species[rows]]
    young = c.born[rows] > grown_since
    c.born[rows[young]] = grown_since[young]
    return bool(young.any())


@POWERS.power(f"Adds {CHILDREN} children to the city.", "own", faith=25)
def fertility(sim: Sim, cast: Cast) -> bool:
    city = targets.city(sim, cast)
    c = sim.creatures
    parents = np.flatnonzero((c.city == city.id) & (c.hp > 0) & (sim.tick - c.born >= GROWN[c.species]))
    if len(parents) < 2:
        raise GameRejected(f"{city.name} has fewer than two adults, so no children can be born there.")
    race = int(c.species[parents[0]])
    born = life.spawn(sim, race, city.x, city.y, CHILDREN, city.kingdom, city.id, grown=False)
    return bool(born.size)


def gift(good: str, amount: int) -> Run:
    """A power that adds goods to the stores of the target city."""

    def run(sim: Sim, cast: Cast) -> bool:
        city = targets.city(sim, cast)
        had = getattr(city, good)
        if had >= MAX_STORED:
            raise GameRejected(f"{city.name} has {had} {good} and no room for more. Choose another city.")
        setattr(city, good, min(MAX_STORED, had + amount))
        return True

    return run


POWERS.add("bounty", "Gives the city 60 food.", gift("food", 60), "own", faith=12)
POWERS.add("timber", "Gives the city 30 wood.", gift("wood", 30), "own", faith=12)
POWERS.add("masonry", "Gives the city 30 stone.", gift("stone", 30), "own", faith=12)
POWERS.add("treasure", "Gives the city 30 gold.", gift("gold", 30), "own", faith=12)


@POWERS.power(f"Gives the city {CULTURE_GIFT} culture.", "own", faith=15)
def inspiration(sim: Sim, cast: Cast) -> bool:
    targets.city(sim, cast).culture += CULTURE_GIFT
    return True


_LOYAL = changing(targets.city, "loyalty", LOYALTY_GIFT, refusal="already has the maximum loyalty.")
POWERS.add("loyalty", f"Raises the city's loyalty by {LOYALTY_GIFT}.", _LOYAL, "own", faith=20)


@POWERS.power("Halves the progress of a siege of the city.", "own", faith=40)
def relief(sim: Sim, cast: Cast) -> bool:
    city = targets.city(sim, cast)
    if not city.siege:
        raise GameRejected(f"{city.name} is not besieged.")
    city.siege //= 2
    return True


_RESTED = changing(targets.kingdom, "weariness", -WEARINESS_RELIEF, refusal="is not weary of war.")
POWERS.add("spirit", f"Lowers the kingdom's war weariness by {WEARINESS_RELIEF}.", _RESTED, "own", faith=20)
_FULL = f"already has the maximum of {MAX_FAITH} faith."
_DEVOUT = changing(targets.kingdom, "faith", FAITH_GIFT, MAX_FAITH, _FULL)
POWERS.add("faith", f"Gives the kingdom {FAITH_GIFT} faith.", _DEVOUT)


@POWERS.power(f"Raises all other kingdoms' opinions of the kingdom by {OPINION_GIFT}.")
def friendship(sim: Sim, cast: Cast) -> bool:
    return targets.change_opinions(sim, targets.kingdom(sim, cast).id, OPINION_GIFT)
