"""The life of a creature: birth, hunger, age, wounds, healing and status effects."""

import numpy as np
from numpy.typing import NDArray

from cohabit.worlds.kingdoms import names
from cohabit.worlds.kingdoms.creatures import Effect, Job, Rows
from cohabit.worlds.kingdoms.land import Cells
from cohabit.worlds.kingdoms.rules.neighbours import Neighbours
from cohabit.worlds.kingdoms.sim import Kingdom, Sim
from cohabit.worlds.kingdoms.species import FIREPROOF, GROWN, HEALTH, HUNGERS, IS_CIVIL, LIFE, SPECIES
from cohabit.worlds.kingdoms.tiles import IS_DEADLY, IS_WATER, TOP_ROW

TURN_TICKS = 8
"""A creature has one turn in this many ticks."""
FULL = 100
"""Food of a creature that is full."""
BIRTH_FOOD = 80
"""Food of a new creature."""
HUNGER = 1
"""Food used per turn."""
STARVING_DAMAGE = 2
"""Health lost per turn without food."""
HEALING = 1
"""Health regained per turn by a fed creature."""
FED = 40
"""A creature with at least this much food counts as fed."""
OLD_AGE = 3, 4
"""After this part of its maximum age a creature may die of age."""
OLD_AGE_DEATH_CHANCE = 1, 300
"""The chance of that per turn. At its maximum age it dies for certain."""
SPAWN_RADIUS = 6
"""How far from the requested place new creatures may appear."""
MAX_DAMAGE = 2000

EFFECT_ENDS: dict[int, int] = {
    Effect.BURNING: 5,
    Effect.PLAGUE: 25,
    Effect.FROZEN: 12,
    Effect.MAD: 40,
    Effect.BLESSED: 150,
    Effect.CURSED: 150,
    Effect.SHIELDED: 100,
    Effect.INVISIBLE: 100,
}
"""A status effect has no timer: every turn it ends with a chance of one in this number."""
BURNING_DAMAGE = 4
PLAGUE_DAMAGE = 3
CURSE_DAMAGE = 2
BLESSING_HEALING = 2
"""Health lost per turn by the effect, or regained."""
PLAGUE_SPREAD_CHANCE = 1, 6
"""The chance per turn that the plague spreads to people nearby,"""
PLAGUE_REACH = 2
"""within this distance."""


# -- new creatures --------------------------------------------------------------------------------
def spawn(
    sim: Sim, species: int, x: int, y: int, count: int, kingdom: int = 0, city: int = 0, grown: bool = True
) -> NDArray[np.int64]:
    """Put creatures at and around a place, on cells they can live on; returns the ids of those that found room."""
    around = sim.land.disc(x, y, SPAWN_RADIUS)
    around = around[livable(sim, species, around)]
    if not len(around) or count <= 0:
        return np.zeros(0, np.int64)
    distance = (around % sim.land.width - x) ** 2 + (around // sim.land.width - y) ** 2
    around = around[np.argsort(distance, kind="stable")]
    cells = around[np.arange(count) % min(len(around), max(count, 9))]
    return add(sim, species, cells, kingdom, city, grown)


def add(sim: Sim, species: int, cells: Cells, kingdom: int = 0, city: int = 0, grown: bool = True) -> NDArray[np.int64]:
    """Add one creature on each of these cells."""
    kind, count = SPECIES[species], len(cells)
    numbers, public = _people(sim, sim.kingdoms[kingdom], count) if kingdom else _wild(sim, species, cells)
    age: NDArray[np.int64] = np.zeros(count, np.int64)
    if grown:
        age = kind.grown + sim.chance.below(max(1, kind.life // 4), "age", 0, public)
    sim.tally.born += count
    return sim.creatures.add(count, {
        "public": public, "number": numbers, "species": species, "kingdom": kingdom, "city": city,
        "x": cells % sim.land.width, "y": cells // sim.land.width,
        "hp": kind.health, "food": BIRTH_FOOD, "born": sim.tick - age,
        # a group of adults has as many women as men
        "sex": numbers % 2 if grown else sim.chance.below(2, "sex", 0, public),
        "job": Job.WORKER if kind.temper == "civil" and kingdom else Job.NONE,
    })  # fmt: skip


def _people(sim: Sim, realm: Kingdom, count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Numbers and public ids for new people. Each kingdom counts its own, so they tell nothing of any other."""
    realm.births += count
    numbers = np.arange(realm.births - count, realm.births, dtype=np.int64)
    purpose = f"people of {realm.id}"
    return numbers, np.array([names.public_id(sim, purpose, number) for number in numbers.tolist()], np.int64)


def _wild(sim: Sim, species: int, cells: Cells) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Numbers and public ids for new wild creatures. They follow from the tick, the species and the place: a count of
    all wild births would tell of those in the fog."""
    found: list[int] = []
    for cell in cells.tolist():
        purpose, number = f"wild {species} at {cell} in {sim.tick}", 0
        public = names.public_id(sim, purpose, number)
        while public in found or (sim.creatures.public == public).any():
            number += 1
            public = names.public_id(sim, purpose, number)
        found.append(public)
    first = found[0] & 0xFFFF if found else 0
    return np.arange(first, first + len(found), dtype=np.int64), np.array(found, np.int64)


def livable(sim: Sim, species: int, cells: Cells) -> NDArray[np.bool_]:
    """On which of these cells can the species live?"""
    return livable_ground(species, sim.land.ground[cells])


def livable_ground(species: int, ground: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """On which of these kinds of ground can the species live?"""
    kind = SPECIES[species]
    safe: NDArray[np.bool_] = ~IS_DEADLY[ground] | kind.fireproof
    if kind.home != "air":
        safe &= IS_WATER[ground] == (kind.home == "water")
    return safe


# -- health ---------------------------------------------------------------------------------------
def hurt(sim: Sim, rows: Rows, damage: int | NDArray[np.int64], cause: str) -> None:
    """Take health from creatures; a shield halves the damage. A row that occurs twice is hurt twice.

    Deaths with the cause "battle" are counted as losses of their kingdom.
    """
    c = sim.creatures
    rows = np.asarray(rows, np.int64)
    wound = np.broadcast_to(np.asarray(damage, np.int64), rows.shape)
    wound = np.where(c.effects[rows] & Effect.SHIELDED, (wound + 1) >> 1, wound)
    alive = c.hp[rows] > 0
    np.subtract.at(c.hp, rows, np.minimum(wound, MAX_DAMAGE).astype(np.int16))
    np.maximum(c.hp, -MAX_DAMAGE, out=c.hp)
    if cause == "battle":
        dead = np.unique(rows[alive & (c.hp[rows] <= 0)])
        for kingdom, lost in _counts(c.kingdom[dead]):
            if kingdom in sim.kingdoms:
                sim.kingdoms[kingdom].fallen += lost


def _counts(values: NDArray[np.int32]) -> list[tuple[int, int]]:
    """Each value that occurs, and how often."""
    counts = np.bincount(values) if len(values) else np.zeros(0, np.int64)
    return [(int(value), int(counts[value])) for value in np.flatnonzero(counts)]


def heal(sim: Sim, rows: Rows, amount: int) -> None:
    """Restore health, up to the maximum of the species. The dead stay dead."""
    c = sim.creatures
    rows = rows[c.hp[rows] > 0]
    c.hp[rows] = np.minimum(c.hp[rows] + np.int16(min(amount, MAX_DAMAGE)), HEALTH[c.species[rows]])


def age(sim: Sim, rows: Rows) -> None:
    """Creatures die at their maximum age, some a little earlier."""
    if sim.laws.get("no_aging"):
        return
    c = sim.creatures
    lived, life = sim.tick - c.born[rows], LIFE[c.species[rows]]
    old = rows[lived * OLD_AGE[1] > life * OLD_AGE[0]]
    if not len(old):
        return
    spent = sim.tick - c.born[old] >= LIFE[c.species[old]]
    c.hp[old[spent | sim.chance.hits(*OLD_AGE_DEATH_CHANCE, "old age", sim.tick, c.public[old])]] = 0


def hunger(sim: Sim, rows: Rows) -> None:
    """Creatures use up food; the fed heal, the starving lose health."""
    c = sim.creatures
    if not sim.laws.get("no_hunger"):
        hungry = rows[HUNGERS[c.species[rows]]]
        c.food[hungry] = np.maximum(c.food[hungry] - HUNGER, 0)
        starving = hungry[c.food[hungry] == 0]
        if len(starving):
            hurt(sim, starving, STARVING_DAMAGE, "hunger")
    heal(sim, rows[(c.food[rows] >= FED) & (c.hp[rows] < HEALTH[c.species[rows]])], HEALING)


def suffer_ground(sim: Sim, rows: Rows) -> None:
    """Deadly ground kills creatures that are not fireproof."""
    c = sim.creatures
    deadly = IS_DEADLY[sim.land.ground[sim.land.cells(c.x[rows], c.y[rows])]]
    if deadly.any():
        there = rows[deadly]
        c.hp[there[~FIREPROOF[c.species[there]]]] = 0


# -- status effects -------------------------------------------------------------------------------
def apply_effects(sim: Sim, rows: Rows, neighbours: Neighbours) -> None:
    """One turn of the status effects of these creatures."""
    _catch_fire(sim, rows)
    c = sim.creatures
    affected = rows[c.effects[rows] != 0]
    if not len(affected):
        return
    effects = c.effects[affected]
    hurt(sim, affected[effects & Effect.BURNING != 0], BURNING_DAMAGE, "fire")
    hurt(sim, affected[effects & Effect.PLAGUE != 0], PLAGUE_DAMAGE, "plague")
    hurt(sim, affected[effects & Effect.CURSED != 0], CURSE_DAMAGE, "curse")
    heal(sim, affected[effects & Effect.BLESSED != 0], BLESSING_HEALING)
    _spread_plague(sim, affected[effects & Effect.PLAGUE != 0], neighbours)
    for effect, one_in in EFFECT_ENDS.items():
        bearers = affected[c.effects[affected] & effect != 0]
        if len(bearers):
            over = sim.chance.hits(1, one_in, f"mark {effect} ends", sim.tick, c.public[bearers])
            c.effects[bearers[over]] &= ~effect
    wet = affected[IS_WATER[sim.land.ground[sim.land.cells(c.x[affected], c.y[affected])]]]
    c.effects[wet] &= ~Effect.BURNING


def _catch_fire(sim: Sim, rows: Rows) -> None:
    if not len(sim.land.burning):
        return
    c = sim.creatures
    on_fire = rows[sim.land.top[sim.land.cells(c.x[rows], c.y[rows])] == TOP_ROW["fire"]]
    c.effects[on_fire[~FIREPROOF[c.species[on_fire]]]] |= Effect.BURNING


def _spread_plague(sim: Sim, sick: Rows, neighbours: Neighbours) -> None:
    """Only people catch the plague."""
    c = sim.creatures
    sick = sick[sim.chance.hits(*PLAGUE_SPREAD_CHANCE, "plague catches", sim.tick, c.public[sick])]
    if not len(sick):
        return
    others, _ = neighbours.sample(sick, "who catches it")
    distance = np.maximum(abs(c.x[others] - c.x[sick][:, None]), abs(c.y[others] - c.y[sick][:, None]))
    caught = others[(distance <= PLAGUE_REACH) & IS_CIVIL[c.species[others]]]
    c.effects[caught] |= Effect.PLAGUE


# -- groups of creatures --------------------------------------------------------------------------
def grown_up(sim: Sim, rows: Rows) -> NDArray[np.bool_]:
    c = sim.creatures
    grown: NDArray[np.bool_] = sim.tick - c.born[rows] >= GROWN[c.species[rows]]
    return grown


def people_of(sim: Sim, city: int) -> Rows:
    """The rows of the people of a city."""
    return np.flatnonzero(sim.creatures.city == city)


def is_person(sim: Sim, rows: Rows) -> NDArray[np.bool_]:
    person: NDArray[np.bool_] = IS_CIVIL[sim.creatures.species[rows]]
    return person
