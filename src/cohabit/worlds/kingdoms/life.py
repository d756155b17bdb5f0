"""Being alive: coming into the world, hunger, age, wounds and healing."""

import numpy as np
from numpy.typing import NDArray

from cohabit.worlds.kingdoms.creatures import Job, Mark
from cohabit.worlds.kingdoms.land import Cells
from cohabit.worlds.kingdoms.near import Rows
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.species import FIREPROOF, GROWN, HEALTH, HUNGERS, IS_CIVIL, LIFE, SPECIES
from cohabit.worlds.kingdoms.tiles import IS_DEADLY, IS_WATER

THINK = 8
"""Every creature thinks once in so many ticks; numbers called "a thought" below count once in that time."""
FULL = 100
BORN_WITH = 80
"""How full of food whoever comes into the world is."""
HUNGER = 1
"""Food that a thought costs."""
STARVING = 2
"""Health lost in a thought by whoever has no food left."""
HEALING = 1
"""Health won back in a thought by whoever is fed."""
FED = 40
"""From this much food on one counts as fed."""
OLD_AGE = 3, 4
"""From this part of its life on a creature may die of age,"""
OLD_AGE_DIES = 1, 300
"""with this chance in a thought; at its end it does."""
SPAWN_REACH = 6
"""How far around the wanted place newcomers may stand."""


def spawn(
    sim: Sim, species: int, x: int, y: int, count: int, kingdom: int = 0, city: int = 0, grown: bool = True
) -> NDArray[np.int64]:
    """Put creatures at and around a place, on cells they can live on; the ids of those that found room."""
    around = sim.land.disc(x, y, SPAWN_REACH)
    around = around[livable(sim, species, around)]
    if not len(around) or count <= 0:
        return np.zeros(0, np.int64)
    far = (around % sim.land.width - x) ** 2 + (around // sim.land.width - y) ** 2
    around = around[np.argsort(far, kind="stable")]
    cells = around[np.arange(count) % min(len(around), max(count, 9))]
    return bear(sim, species, cells, kingdom, city, grown)


def bear(
    sim: Sim, species: int, cells: Cells, kingdom: int = 0, city: int = 0, grown: bool = True
) -> NDArray[np.int64]:
    """One newcomer on each of these cells."""
    kind, count = SPECIES[species], len(cells)
    coming = np.arange(sim.creatures.next_id, sim.creatures.next_id + count)
    age: NDArray[np.int64] = np.zeros(count, np.int64)
    if grown:
        age = kind.grown + sim.chance.below(max(1, kind.life // 4), "age", 0, coming)
    sim.tally.born += count
    return sim.creatures.add(count, {
        "species": species, "kingdom": kingdom, "city": city,
        "x": cells % sim.land.width, "y": cells // sim.land.width,
        "hp": kind.health, "food": BORN_WITH, "born": sim.tick - age,
        "sex": coming % 2 if grown else sim.chance.below(2, "sex", 0, coming),  # a band is half and half
        "job": Job.WORKER if kind.temper == "civil" and kingdom else Job.NONE,
    })  # fmt: skip


def livable(sim: Sim, species: int, cells: Cells) -> NDArray[np.bool_]:
    """On which of these cells can it live?"""
    ground, kind = sim.land.ground[cells], SPECIES[species]
    safe: NDArray[np.bool_] = ~IS_DEADLY[ground] | kind.fireproof
    if kind.home != "air":
        safe &= IS_WATER[ground] == (kind.home == "water")
    return safe


def hurt(sim: Sim, rows: Rows, damage: int | NDArray[np.int64], cause: str) -> None:
    """Take health from creatures; a shield halves it. Who stands in ``rows`` twice is hurt twice.

    ``cause`` is what those who keep a count of it want to know: "battle" makes kingdoms weary.
    """
    c = sim.creatures
    rows = np.asarray(rows, np.int64)
    wound = np.broadcast_to(np.asarray(damage, np.int64), rows.shape)
    wound = np.where(c.marks[rows] & Mark.SHIELDED, (wound + 1) >> 1, wound)
    alive = c.hp[rows] > 0
    np.subtract.at(c.hp, rows, np.minimum(wound, 2000).astype(np.int16))
    np.maximum(c.hp, -2000, out=c.hp)
    if cause == "battle":
        dead = np.unique(rows[alive & (c.hp[rows] <= 0)])
        for kingdom, lost in _counted(c.kingdom[dead]):
            if kingdom in sim.kingdoms:
                sim.kingdoms[kingdom].fallen += lost


def heal(sim: Sim, rows: Rows, amount: int) -> None:
    """Give health back, up to what its kind can have. The dead stay dead."""
    c = sim.creatures
    rows = rows[c.hp[rows] > 0]
    c.hp[rows] = np.minimum(c.hp[rows] + np.int16(min(amount, 2000)), HEALTH[c.species[rows]])


def age(sim: Sim, rows: Rows) -> None:
    """Whoever has lived its time dies, and some a little earlier."""
    if sim.laws.get("no_aging"):
        return
    c = sim.creatures
    lived, life = sim.tick - c.born[rows], LIFE[c.species[rows]]
    old = rows[lived * OLD_AGE[1] > life * OLD_AGE[0]]
    if not len(old):
        return
    spent = sim.tick - c.born[old] >= LIFE[c.species[old]]
    c.hp[old[spent | sim.chance.hits(*OLD_AGE_DIES, "old age", sim.tick, c.id[old])]] = 0


def hunger(sim: Sim, rows: Rows) -> None:
    """Everybody grows hungry; the fed heal, the starving waste away."""
    c = sim.creatures
    if not sim.laws.get("no_hunger"):
        hungry = rows[HUNGERS[c.species[rows]]]
        c.food[hungry] = np.maximum(c.food[hungry] - HUNGER, 0)
        starving = hungry[c.food[hungry] == 0]
        if len(starving):
            hurt(sim, starving, STARVING, "hunger")
    heal(sim, rows[(c.food[rows] >= FED) & (c.hp[rows] < HEALTH[c.species[rows]])], HEALING)


def suffer_ground(sim: Sim, rows: Rows) -> None:
    """Deadly ground kills whoever is not fireproof."""
    c = sim.creatures
    deadly = IS_DEADLY[sim.land.ground[sim.land.cells(c.x[rows], c.y[rows])]]
    if deadly.any():
        there = rows[deadly]
        c.hp[there[~FIREPROOF[c.species[there]]]] = 0


def grown_up(sim: Sim, rows: Rows) -> NDArray[np.bool_]:
    c = sim.creatures
    grown: NDArray[np.bool_] = sim.tick - c.born[rows] >= GROWN[c.species[rows]]
    return grown


def people_of(sim: Sim, city: int) -> Rows:
    """The rows of those whose home this city is."""
    return np.flatnonzero(sim.creatures.city == city)


def is_person(sim: Sim, rows: Rows) -> NDArray[np.bool_]:
    person: NDArray[np.bool_] = IS_CIVIL[sim.creatures.species[rows]]
    return person


def _counted(values: NDArray[np.int32]) -> list[tuple[int, int]]:
    """Which values occur, and how often."""
    counts = np.bincount(values) if len(values) else np.zeros(0, np.int64)
    return [(int(value), int(counts[value])) for value in np.flatnonzero(counts)]
