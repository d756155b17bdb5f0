"""Blessings help creatures, cities and kingdoms. Players can use most of them, for faith."""

import numpy as np

from cohabit.errors import GameRejected
from cohabit.worlds.kingdoms.creatures import Effect
from cohabit.worlds.kingdoms.powers import targets
from cohabit.worlds.kingdoms.powers.power import Cast, Power, Run
from cohabit.worlds.kingdoms.powers.targets import affecting
from cohabit.worlds.kingdoms.rules import life
from cohabit.worlds.kingdoms.sim import MAX_FAITH, Sim
from cohabit.worlds.kingdoms.species import GROWN, HEALTH, HUNGERS

AILMENTS = Effect.BURNING | Effect.PLAGUE | Effect.FROZEN | Effect.MAD | Effect.CURSED
MAX_STORED = 1000  # of one good in one city, by gifts
HEALING, YOUNGER_TICKS, CHILDREN = 25, 800, 3
CULTURE_GIFT, LOYALTY_GIFT, WEARINESS_RELIEF, FAITH_GIFT, OPINION_GIFT = 20, 25, 25, 50, 30


def heal(sim: Sim, cast: Cast) -> bool:
    """Heals wounds."""
    rows = targets.creatures(sim, cast)
    hurt = rows[sim.creatures.hp[rows] < HEALTH[sim.creatures.species[rows]]]
    life.heal(sim, hurt, HEALING)
    return bool(hurt.size)


def feast(sim: Sim, cast: Cast) -> bool:
    """Fills the food of the creatures under the brush."""
    c = sim.creatures
    rows = targets.creatures(sim, cast)
    hungry = rows[(c.food[rows] < life.FULL) & HUNGERS[c.species[rows]]]
    c.food[hungry] = life.FULL
    return bool(hungry.size)


def youth(sim: Sim, cast: Cast) -> bool:
    """Makes adults younger, but no adult a child."""
    c = sim.creatures
    rows = targets.creatures(sim, cast)
    adult_for = sim.tick - c.born[rows] - GROWN[c.species[rows]]
    old = adult_for > 0
    c.born[rows[old]] += np.minimum(adult_for[old], YOUNGER_TICKS).astype(np.int32)
    return bool(old.any())


def coming_of_age(sim: Sim, cast: Cast) -> bool:
    """Makes children adults."""
    c = sim.creatures
    rows = targets.creatures(sim, cast)
    grown_since = sim.tick - GROWN[c.species[rows]]
    young = c.born[rows] > grown_since
    c.born[rows[young]] = grown_since[young]
    return bool(young.any())


def fertility(sim: Sim, cast: Cast) -> bool:
    """Adds children to a city that has at least two adults."""
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


def inspiration(sim: Sim, cast: Cast) -> bool:
    """Raises the culture of a city."""
    targets.city(sim, cast).culture += CULTURE_GIFT
    return True


def loyalty(sim: Sim, cast: Cast) -> bool:
    """Raises the loyalty of a city."""
    city = targets.city(sim, cast)
    if city.loyalty >= 100:
        raise GameRejected(f"{city.name} already has the maximum loyalty.")
    city.loyalty = min(100, city.loyalty + LOYALTY_GIFT)
    return True


def relief(sim: Sim, cast: Cast) -> bool:
    """Halves the progress of a siege."""
    city = targets.city(sim, cast)
    if not city.siege:
        raise GameRejected(f"{city.name} is not besieged.")
    city.siege //= 2
    return True


def spirit(sim: Sim, cast: Cast) -> bool:
    """Lowers the war weariness of a kingdom."""
    kingdom = targets.kingdom(sim, cast)
    if not kingdom.weariness:
        raise GameRejected(f"{kingdom.name} is not weary of war.")
    kingdom.weariness = max(0, kingdom.weariness - WEARINESS_RELIEF)
    return True


def faith(sim: Sim, cast: Cast) -> bool:
    """Gives faith to a kingdom."""
    kingdom = targets.kingdom(sim, cast)
    if kingdom.faith >= MAX_FAITH:
        raise GameRejected(f"{kingdom.name} already has the maximum of {MAX_FAITH} faith.")
    kingdom.faith = min(MAX_FAITH, kingdom.faith + FAITH_GIFT)
    return True


def friendship(sim: Sim, cast: Cast) -> bool:
    """Improves the opinions of a kingdom."""
    return targets.change_opinions(sim, targets.kingdom(sim, cast).id, OPINION_GIFT)


def cure(sim: Sim, cast: Cast) -> bool:
    """Removes harmful effects."""
    return targets.cure(sim, cast, AILMENTS)


bless = affecting("blessing", Effect.BLESSED, one_in=2)
shield = affecting("shield", Effect.SHIELDED, one_in=2)
hide = affecting("invisibility", Effect.INVISIBLE, one_in=4)

POWERS = (
    Power(
        "blessing",
        "blessing",
        "Blesses half of the creatures: they heal and fight better.",
        bless,
        "own",
        brush=True,
        faith=20,
    ),
    Power(
        "shield",
        "blessing",
        "Shields half of the creatures: they take half the damage.",
        shield,
        "own",
        brush=True,
        faith=25,
    ),
    Power(
        "invisibility",
        "blessing",
        "Makes one in four creatures invisible to attackers.",
        hide,
        "own",
        brush=True,
        faith=40,
    ),
    Power("heal", "blessing", "Heals wounds.", heal, "own", brush=True, faith=10),
    Power("cure", "blessing", "Removes fire, plague, frost, madness and curses.", cure, "own", brush=True, faith=10),
    Power("feast", "blessing", "Feeds the creatures under the brush.", feast, "own", brush=True, faith=8),
    Power("youth", "blessing", "Makes adults younger.", youth, "own", brush=True, faith=20),
    Power("coming_of_age", "blessing", "Makes children adults.", coming_of_age, "own", brush=True, faith=20),
    Power("fertility", "blessing", f"Adds {CHILDREN} children to the city.", fertility, "own", faith=25),
    Power("bounty", "blessing", "Gives the city 60 food.", gift("food", 60), "own", faith=12),
    Power("timber", "blessing", "Gives the city 30 wood.", gift("wood", 30), "own", faith=12),
    Power("masonry", "blessing", "Gives the city 30 stone.", gift("stone", 30), "own", faith=12),
    Power("treasure", "blessing", "Gives the city 30 gold.", gift("gold", 30), "own", faith=12),
    Power("inspiration", "blessing", f"Gives the city {CULTURE_GIFT} culture.", inspiration, "own", faith=15),
    Power("loyalty", "blessing", f"Raises the city's loyalty by {LOYALTY_GIFT}.", loyalty, "own", faith=20),
    Power("relief", "blessing", "Halves the progress of a siege of the city.", relief, "own", faith=40),
    Power("spirit", "blessing", f"Lowers the kingdom's war weariness by {WEARINESS_RELIEF}.", spirit, "own", faith=20),
    Power("faith", "blessing", f"Gives the kingdom {FAITH_GIFT} faith.", faith),
    Power(
        "friendship", "blessing", f"Raises all other kingdoms' opinions of the kingdom by {OPINION_GIFT}.", friendship
    ),
)
