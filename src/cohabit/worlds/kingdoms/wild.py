"""Animals and monsters: grazing, straying, having young, and coming from nowhere."""

import numpy as np

from cohabit.worlds.kingdoms import life, walk
from cohabit.worlds.kingdoms.land import Cells
from cohabit.worlds.kingdoms.near import OWN, Near, Rows
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.species import (
    GRAZES,
    HERD,
    IS_CIVIL,
    IS_HUNTER,
    LITTER,
    LIVES_IN_WATER,
    SPECIES,
    SPECIES_ROW,
    Species,
)
from cohabit.worlds.kingdoms.tiles import GROUND_ROW, TOP_FOOD, TOP_ROW

GRAZES_BELOW = 70
"""An animal grazes when it has less food than this."""
REGROWS = 300
"""After so many ticks a cell that was eaten bare feeds again."""
PLANKTON = 30
"""What anybody who grazes finds in any cell of water."""
SCAVENGED = 20
"""What a beast of prey finds for itself when it is nearly starved,"""
SCAVENGES = 1, 6
"""with this chance in a thought."""
NEARLY_STARVED = 10
STROLLS = 1, 3
STROLL = 5
"""Whoever has nothing to do walks up to so many tiles, with this chance in a thought."""
BREEDS = 1, 40
BREEDS_ABOVE = 60
"""A grown female with more food than this has young with this chance in a thought, if its herd is not too big,"""
CROWD = 14
"""and fewer animals than this, of whatever kind, are near."""
COME_EVERY = 100
"""Every so many ticks animals of some kind may wander in, where too few are left,"""
FEWEST = 6
"""fewer than this."""
MONSTERS_EVERY = 1500
MONSTERS_COME = 1, 2
PACKS = (("bandit", 5), ("skeleton", 6), ("zombie", 6), ("snowman", 4), ("ghost", 4), ("fire_elemental", 2),
         ("bandit", 8), ("demon", 1), ("cold_one", 3), ("evil_mage", 1), ("necromancer", 2), ("dragon", 1))  # fmt: skip
"""Every so many ticks a pack of monsters may come; which, by chance."""
TRIES = 200
"""How many places are looked at for newcomers."""


def graze(sim: Sim, rows: Rows) -> None:
    """The hungry eat what grows where they stand; a beast of prey at its last finds carrion."""
    c, land = sim.creatures, sim.land
    hungry = rows[c.food[rows] < GRAZES_BELOW]
    eaters = hungry[GRAZES[c.species[hungry]] & (c.kingdom[hungry] == 0)]
    cells = land.cells(c.x[eaters], c.y[eaters])
    food = TOP_FOOD[land.top[cells]]
    fresh = (food > 0) & ((land.grazed[cells] == 0) | (sim.tick - land.grazed[cells] >= REGROWS))
    land.grazed[cells[fresh]] = sim.tick
    c.food[eaters[fresh]] = np.minimum(c.food[eaters[fresh]] + food[fresh], life.FULL)
    swimmers = eaters[LIVES_IN_WATER[c.species[eaters]]]
    c.food[swimmers] = np.minimum(c.food[swimmers] + PLANKTON, life.FULL)
    beasts = hungry[IS_HUNTER[c.species[hungry]] & (c.food[hungry] < NEARLY_STARVED)]
    lucky = beasts[sim.chance.hits(*SCAVENGES, "carrion", sim.tick, c.id[beasts])]
    c.food[lucky] += SCAVENGED


def stroll(sim: Sim, rows: Rows) -> None:
    """Who is wild and on no way may go for a walk."""
    c = sim.creatures
    idle = rows[(c.tx[rows] < 0) & (c.city[rows] == 0)]
    idle = idle[sim.chance.hits(*STROLLS, "stroll", sim.tick, c.id[idle])]
    walk.stroll(sim, idle, STROLL, "where to")


def breed(sim: Sim, rows: Rows, near: Near) -> None:
    """Wild females have young, while their herd is small enough."""
    c = sim.creatures
    kind = c.species[rows]
    able = (LITTER[kind] > 0) & ~IS_CIVIL[kind] & (c.sex[rows] == 0) & (c.food[rows] > BREEDS_ABOVE)
    mothers = rows[able & life.grown_up(sim, rows)]
    mothers = mothers[sim.chance.hits(*BREEDS, "breed", sim.tick, c.id[mothers])]
    if not len(mothers):
        return
    seen, full = near.look(mothers, "herd")
    full[:, :OWN] //= OWN  # its own block is looked into so many times
    kinds, others = c.species[seen], seen != mothers[:, None]
    herd = ((others & (kinds == c.species[mothers][:, None])) * full).sum(axis=1)
    crowd = ((others & ~IS_CIVIL[kinds]) * full).sum(axis=1)
    mothers = mothers[(herd < HERD[c.species[mothers]]) & (crowd < CROWD)]
    young = np.repeat(mothers, LITTER[c.species[mothers]])
    cells, kinds = sim.land.cells(c.x[young], c.y[young]), c.species[young]
    for species in np.unique(kinds).tolist():
        life.bear(sim, species, cells[kinds == species], grown=False)


def haunts(sim: Sim, kind: Species, tries: int, purpose: str) -> Cells:
    """Cells where this kind is found by itself, out of ``tries`` drawn by chance."""
    land = sim.land
    cells: Cells = sim.chance.below(land.size, purpose, sim.tick, np.arange(tries))
    fits = life.livable(sim, SPECIES_ROW[kind.id], cells) & (land.city[cells] == 0)
    if kind.haunts:
        tops = [TOP_ROW[top] for top in kind.haunts if top in TOP_ROW]
        grounds = [GROUND_ROW[ground] for ground in kind.haunts if ground in GROUND_ROW]
        bare = TOP_FOOD[land.top[cells]] == 0
        fits &= np.isin(land.top[cells], tops) | (np.isin(land.ground[cells], grounds) & bare)
    home: Cells = cells[fits]
    return home


def come(sim: Sim) -> None:
    """Where a kind of animal has nearly died out, a few wander in; now and then monsters come."""
    if sim.tick % COME_EVERY == 0:
        _wander_in(sim)
    if sim.tick % MONSTERS_EVERY == 0 and not sim.laws.get("no_monsters"):
        _monsters(sim)


def _wander_in(sim: Sim) -> None:
    counts = np.bincount(sim.creatures.species, minlength=len(SPECIES))
    rare = [row for row, kind in enumerate(SPECIES) if kind.haunts and counts[row] < FEWEST]
    if not rare:
        return
    species = rare[sim.chance.one(len(rare), "who wanders in", sim.tick)]
    cells = haunts(sim, SPECIES[species], TRIES, "wander in")
    if len(cells):
        x, y = sim.land.xy(int(cells[0]))
        life.spawn(sim, species, x, y, 3 + SPECIES[species].litter)


def _monsters(sim: Sim) -> None:
    if sim.chance.one(MONSTERS_COME[1], "monsters come", sim.tick) >= MONSTERS_COME[0]:
        return
    name, size = PACKS[sim.chance.one(len(PACKS), "which monsters", sim.tick)]
    species = SPECIES_ROW[name]
    cells = haunts(sim, SPECIES[species], TRIES, "monsters where")
    if len(cells):
        x, y = sim.land.xy(int(cells[0]))
        life.spawn(sim, species, x, y, size)
        what = name.replace("_", " ")
        sim.tell(
            f"A {what} has been seen in the wild." if size == 1 else f"A pack of {what}s roams the wild.",
            None,
            "danger",
        )


def settle_animals(sim: Sim, per_zone: int) -> None:
    """The animals a new world begins with: each kind in its haunts, as many as there is land like it."""
    kinds = [(row, kind) for row, kind in enumerate(SPECIES) if kind.haunts]
    zones = sim.land.size // 4096
    for row, kind in kinds:
        cells = haunts(sim, kind, zones * per_zone, f"first {kind.id}")
        herds = max(1, len(cells) // 12)
        for cell in cells[:herds].tolist():
            x, y = sim.land.xy(cell)
            life.spawn(sim, row, x, y, min(4, kind.herd))
