"""The reach of a cast, and the changes that several powers share.

Every power takes its cells and creatures from here, so the limits of a player's reach (its own land, its own people)
are enforced in one place.
"""

from collections.abc import Callable

import numpy as np

from cohabit.errors import GameRejected
from cohabit.worlds.kingdoms.creatures import Rows
from cohabit.worlds.kingdoms.land import Cells
from cohabit.worlds.kingdoms.powers.power import Cast, Run
from cohabit.worlds.kingdoms.sim import City, Kingdom, Sim


# -- cells and creatures --------------------------------------------------------------------------
def cells(sim: Sim, cast: Cast) -> Cells:
    """The cells under the brush; for a player only those of its own land."""
    return _within_borders(sim, cast, cast.cells)


def around(sim: Sim, cast: Cast, radius: int) -> Cells:
    """The cells within ``radius`` of the target, for powers with a fixed size; for a player only its own land."""
    return _within_borders(sim, cast, sim.land.disc(cast.x, cast.y, radius))


def _within_borders(sim: Sim, cast: Cast, where: Cells) -> Cells:
    if not cast.by:
        return where
    own = np.array([city.id for city in sim.cities_of(cast.by)], np.int32)
    return where[np.isin(sim.land.city[where], own)]


def creatures(sim: Sim, cast: Cast) -> Rows:
    """The creatures under the brush; for a player only its own people on its own land."""
    return creatures_on(sim, cast, cells(sim, cast))


def creatures_on(sim: Sim, cast: Cast, where: Cells) -> Rows:
    """The creatures on these cells; for a player only its own people."""
    rows = standing_on(sim, where)
    return rows[sim.creatures.kingdom[rows] == cast.by] if cast.by else rows


def standing_on(sim: Sim, where: Cells) -> Rows:
    """All creatures on these cells, also those that the caster may not affect."""
    here = np.zeros(sim.land.size, np.bool_)
    here[where] = True
    c = sim.creatures
    return np.flatnonzero(here[sim.land.cells(c.x, c.y)] & (c.hp > 0))


def some_cells(sim: Sim, cast: Cast, purpose: str, where: Cells, numerator: int, denominator: int) -> Cells:
    """A random part of these cells, drawn for this pulse."""
    return where[sim.chance.hits(numerator, denominator, purpose, _moment(sim, cast), where)]


def some_creatures(sim: Sim, cast: Cast, purpose: str, rows: Rows, numerator: int, denominator: int) -> Rows:
    """A random part of these creatures, drawn for this pulse."""
    who = sim.creatures.public[rows]
    return rows[sim.chance.hits(numerator, denominator, purpose, _moment(sim, cast), who)]


def _moment(sim: Sim, cast: Cast) -> int:
    """The tick and the pulse, so that no two pulses draw the same random numbers."""
    return cast.pulse << 32 | sim.tick


# -- cities and kingdoms --------------------------------------------------------------------------
def city(sim: Sim, cast: Cast) -> City:
    """The city that owns the target."""
    found = sim.cities.get(int(sim.land.city[sim.land.cell(cast.x, cast.y)]))
    if found is None or (cast.by and found.kingdom != cast.by):
        whose = "one of your cities" if cast.by else "a city"
        raise GameRejected(f"{cast.x},{cast.y} is not land of {whose}. Aim at the land of {whose}.")
    return found


def kingdom(sim: Sim, cast: Cast) -> Kingdom:
    """The kingdom that owns the target."""
    return sim.kingdoms[city(sim, cast).kingdom]


def cities(sim: Sim, where: Cells) -> list[City]:
    """The cities that own any of these cells, by id."""
    found = np.unique(sim.land.city[where]).tolist()
    return [sim.cities[number] for number in found if number]


def report(sim: Sim, where: Cells, what: str) -> None:
    """Tell the owners of these cells, once per city and tick however many pulses there are."""
    told = [(news.text, news.kingdoms) for news in sim.news if news.tick == sim.tick]
    for hit in cities(sim, where):
        text = f"{what} {hit.name}."
        if (text, (hit.kingdom,)) not in told:
            sim.tell(text, (hit.kingdom,), "danger")


def change_opinions(sim: Sim, of: int, change: int) -> bool:
    """Change every other kingdom's opinion of a kingdom; returns whether any changed."""
    changed = False
    for other in sim.alive:
        if other.id == of:
            continue
        old = sim.opinions.get((other.id, of), 0)
        new = min(100, max(-100, old + change))
        sim.opinions[other.id, of] = new
        changed |= new != old
    return changed


def changing(
    whose: Callable[[Sim, Cast], City | Kingdom], what: str, by: int, most: int = 100, refusal: str = ""
) -> Run:
    """A power that changes a number of a city or a kingdom, which is from 0 to ``most``. At its limit it has no effect,
    or is refused."""

    def run(sim: Sim, cast: Cast) -> bool:
        thing = whose(sim, cast)
        had = getattr(thing, what)
        now = min(most, max(0, had + by))
        if now == had and refusal:
            raise GameRejected(f"{thing.name} {refusal}")
        setattr(thing, what, now)
        return bool(now != had)

    return run


# -- status effects -------------------------------------------------------------------------------
def affect(sim: Sim, cast: Cast, effect: int, purpose: str, one_in: int = 1) -> bool:
    """Give an effect to one in ``one_in`` creatures under the brush; returns whether any did not have it."""
    rows = some_creatures(sim, cast, purpose, creatures(sim, cast), 1, one_in)
    return add_effect(sim, rows, effect)


def add_effect(sim: Sim, rows: Rows, effect: int) -> bool:
    """Give an effect to these creatures; returns whether any did not have it."""
    new = rows[sim.creatures.effects[rows] & effect == 0]
    sim.creatures.effects[new] |= np.int32(effect)
    return bool(new.size)


def cure(sim: Sim, cast: Cast, effects: int) -> bool:
    """Remove effects from the creatures under the brush; returns whether any had one."""
    return remove_effects(sim, creatures(sim, cast), effects)


def remove_effects(sim: Sim, rows: Rows, effects: int) -> bool:
    """Remove effects from these creatures; returns whether any had one."""
    bearers = rows[sim.creatures.effects[rows] & effects != 0]
    sim.creatures.effects[bearers] &= np.int32(~effects)
    return bool(bearers.size)


def affecting(purpose: str, effect: int, one_in: int = 1) -> Run:
    """A power that gives an effect to one in ``one_in`` creatures under the brush."""
    return lambda sim, cast: affect(sim, cast, effect, purpose, one_in)
