"""What a cast reaches: cells and creatures under the brush, and for a player only those of its own kingdom.

Every power asks here, so that no power has to remember where a player's arm ends.
"""

import numpy as np

from cohabit.errors import GameRejected
from cohabit.worlds.kingdoms.land import Cells
from cohabit.worlds.kingdoms.near import Rows
from cohabit.worlds.kingdoms.powers.power import Cast
from cohabit.worlds.kingdoms.realms import City, Kingdom
from cohabit.worlds.kingdoms.sim import Sim

_PULSE = 1 << 40
"""Further apart than any two cells or creatures, so that no two pulses share their dice."""


def cells(sim: Sim, cast: Cast) -> Cells:
    """The cells under the brush; a player reaches those of its own land alone."""
    return _within_borders(sim, cast, cast.cells)


def around(sim: Sim, cast: Cast, radius: int) -> Cells:
    """The cells within ``radius`` of where the cast was aimed, for powers that bring a size of their own."""
    return _within_borders(sim, cast, sim.land.disc(cast.x, cast.y, radius))


def creatures(sim: Sim, cast: Cast) -> Rows:
    """The living under the brush; a player reaches its own people on its own land alone."""
    return creatures_on(sim, cast, cells(sim, cast))


def creatures_on(sim: Sim, cast: Cast, where: Cells) -> Rows:
    """The living on these cells; a player reaches its own people alone."""
    rows = on(sim, where)
    return rows[sim.creatures.kingdom[rows] == cast.by] if cast.by else rows


def on(sim: Sim, where: Cells) -> Rows:
    """The living that stand on these cells."""
    here = np.zeros(sim.land.size, np.bool_)
    here[where] = True
    c = sim.creatures
    return np.flatnonzero(here[sim.land.cells(c.x, c.y)] & (c.hp > 0))


def lucky(sim: Sim, cast: Cast, purpose: str, where: Cells, numerator: int, denominator: int) -> Cells:
    """Those of these cells for which the dice of this pulse fall well."""
    return where[sim.chance.hits(numerator, denominator, purpose, sim.tick, where + cast.pulse * _PULSE)]


def lucky_rows(sim: Sim, cast: Cast, purpose: str, rows: Rows, numerator: int, denominator: int) -> Rows:
    """Those of these creatures for whom the dice of this pulse fall well."""
    who = sim.creatures.id[rows] + cast.pulse * _PULSE
    return rows[sim.chance.hits(numerator, denominator, purpose, sim.tick, who)]


def city(sim: Sim, cast: Cast) -> City:
    """The city on whose land the cast was aimed."""
    found = sim.cities.get(int(sim.land.city[sim.land.cell(cast.x, cast.y)]))
    if found is None or (cast.by and found.kingdom != cast.by):
        whose = "a city of yours" if cast.by else "a city"
        raise GameRejected(f"The place {cast.x},{cast.y} is not on the land of {whose}: aim at the land of {whose}.")
    return found


def kingdom(sim: Sim, cast: Cast) -> Kingdom:
    """The kingdom on whose land the cast was aimed."""
    return sim.kingdoms[city(sim, cast).kingdom]


def cities(sim: Sim, where: Cells) -> list[City]:
    """The cities on whose land these cells lie, by id."""
    found = np.unique(sim.land.city[where]).tolist()
    return [sim.cities[number] for number in found if number]


def alarm(sim: Sim, where: Cells, what: str) -> None:
    """Tell everybody whose land this hit, once for each city and tick however many pulses there are."""
    told = [news.text for news in sim.news if news.tick == sim.tick]
    for hit in cities(sim, where):
        text = f"{what} {hit.name}."
        if text not in told:
            sim.tell(text, (hit.kingdom,), "danger")


def _within_borders(sim: Sim, cast: Cast, where: Cells) -> Cells:
    if not cast.by:
        return where
    own = np.array([city.id for city in sim.cities_of(cast.by)], np.int32)
    return where[np.isin(sim.land.city[where], own)]
