"""Animals and monsters: grazing, strolling, breeding, and arriving from outside the map."""

import numpy as np

from cohabit.worlds.kingdoms.creatures import Rows
from cohabit.worlds.kingdoms.land import ZONE, Cells
from cohabit.worlds.kingdoms.names import plural, with_article
from cohabit.worlds.kingdoms.rules import life, walk
from cohabit.worlds.kingdoms.rules.neighbours import OWN_BLOCK, Neighbours
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
"""A grazed cell feeds again after this many ticks."""
PLANKTON = 30
"""Food that a grazing water animal finds in any cell of water."""
CARRION = 20
CARRION_BELOW = 10
CARRION_CHANCE = 1, 6
"""A beast of prey with less food than CARRION_BELOW finds CARRION food, with this chance per turn."""
STROLL_CHANCE = 1, 3
STROLL_RADIUS = 5
"""An idle wild creature walks to a place within this radius, with this chance per turn."""
BREED_CHANCE = 1, 40
BREEDS_ABOVE = 60
"""An adult female with more food than this has young with this chance per turn, if its herd is not too large"""
CROWD = 14
"""and fewer animals than this, of any species, are near."""
ARRIVALS_EVERY = 100
RARE_BELOW = 6
"""Once in this many ticks a few animals arrive, of a species of which fewer than this are left."""
MONSTERS_EVERY = 1500
MONSTERS_CHANCE = 1, 2
"""Once in this many ticks monsters arrive with this chance."""
PACKS = (("bandit", 5), ("skeleton", 6), ("zombie", 6), ("snowman", 4), ("ghost", 4), ("fire_elemental", 2),
         ("bandit", 8), ("demon", 1), ("cold_one", 3), ("evil_mage", 1), ("necromancer", 2), ("dragon", 1))  # fmt: skip
"""The packs of monsters, one of which is chosen at random."""
ARRIVAL_PLACES = 200
"""How many random cells are considered for an arrival."""


def graze(sim: Sim, rows: Rows) -> None:
    """Hungry animals eat what grows under them; a starving beast of prey finds carrion."""
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
    starving = hungry[IS_HUNTER[c.species[hungry]] & (c.food[hungry] < CARRION_BELOW)]
    lucky = starving[sim.chance.hits(*CARRION_CHANCE, "carrion", sim.tick, c.id[starving])]
    c.food[lucky] += CARRION


def stroll(sim: Sim, rows: Rows) -> None:
    """Idle wild creatures sometimes go for a walk."""
    c = sim.creatures
    idle = rows[(c.tx[rows] < 0) & (c.city[rows] == 0)]
    idle = idle[sim.chance.hits(*STROLL_CHANCE, "stroll", sim.tick, c.id[idle])]
    walk.stroll(sim, idle, STROLL_RADIUS, "where to")


def breed(sim: Sim, rows: Rows, neighbours: Neighbours) -> None:
    """Wild females have young while their herd is small enough."""
    c = sim.creatures
    kind = c.species[rows]
    able = (LITTER[kind] > 0) & ~IS_CIVIL[kind] & (c.sex[rows] == 0) & (c.food[rows] > BREEDS_ABOVE)
    mothers = rows[able & life.grown_up(sim, rows)]
    mothers = mothers[sim.chance.hits(*BREED_CHANCE, "breed", sim.tick, c.id[mothers])]
    if not len(mothers):
        return
    seen, full = neighbours.sample(mothers, "herd")
    full[:, :OWN_BLOCK] //= OWN_BLOCK  # the sample has the own block that many times
    kinds, others = c.species[seen], seen != mothers[:, None]
    herd = ((others & (kinds == c.species[mothers][:, None])) * full).sum(axis=1)
    crowd = ((others & ~IS_CIVIL[kinds]) * full).sum(axis=1)
    mothers = mothers[(herd < HERD[c.species[mothers]]) & (crowd < CROWD)]
    young = np.repeat(mothers, LITTER[c.species[mothers]])
    cells, kinds = sim.land.cells(c.x[young], c.y[young]), c.species[young]
    for species in np.unique(kinds).tolist():
        life.add(sim, species, cells[kinds == species], grown=False)


def habitat(sim: Sim, kind: Species, tries: int, purpose: str) -> Cells:
    """Unowned cells of the habitat of a species, out of ``tries`` random cells."""
    land = sim.land
    cells: Cells = sim.chance.below(land.size, purpose, sim.tick, np.arange(tries))
    fits = life.livable(sim, SPECIES_ROW[kind.id], cells) & (land.city[cells] == 0)
    if kind.habitat:
        tops = [TOP_ROW[top] for top in kind.habitat if top in TOP_ROW]
        grounds = [GROUND_ROW[ground] for ground in kind.habitat if ground in GROUND_ROW]
        bare = TOP_FOOD[land.top[cells]] == 0
        fits &= np.isin(land.top[cells], tops) | (np.isin(land.ground[cells], grounds) & bare)
    found: Cells = cells[fits]
    return found


def arrive(sim: Sim) -> None:
    """Species that are nearly extinct get newcomers, and now and then monsters come."""
    if sim.tick % ARRIVALS_EVERY == 0:
        _animals_arrive(sim)
    if sim.tick % MONSTERS_EVERY == 0 and not sim.laws.get("no_monsters"):
        _monsters_arrive(sim)


def _animals_arrive(sim: Sim) -> None:
    counts = np.bincount(sim.creatures.species, minlength=len(SPECIES))
    rare = [row for row, kind in enumerate(SPECIES) if kind.habitat and counts[row] < RARE_BELOW]
    if not rare:
        return
    species = rare[sim.chance.one(len(rare), "who wanders in", sim.tick)]
    cells = habitat(sim, SPECIES[species], ARRIVAL_PLACES, "wander in")
    if len(cells):
        x, y = sim.land.xy(int(cells[0]))
        life.spawn(sim, species, x, y, 3 + SPECIES[species].litter)


def _monsters_arrive(sim: Sim) -> None:
    if sim.chance.one(MONSTERS_CHANCE[1], "monsters come", sim.tick) >= MONSTERS_CHANCE[0]:
        return
    name, size = PACKS[sim.chance.one(len(PACKS), "which monsters", sim.tick)]
    species = SPECIES_ROW[name]
    cells = habitat(sim, SPECIES[species], ARRIVAL_PLACES, "monsters where")
    if len(cells):
        x, y = sim.land.xy(int(cells[0]))
        life.spawn(sim, species, x, y, size)
        sim.tell(monster_news(name, size), None, "danger")


def monster_news(species: str, size: int) -> str:
    if size == 1:
        monster = with_article(species)
        return f"{monster[0].upper()}{monster[1:]} has been seen in the wild."
    return f"A pack of {plural(species)} roams the wild."


def place_first_animals(sim: Sim, per_zone: int) -> None:
    """The animals of a new world: each species in its habitat, in proportion to how much of it there is."""
    kinds = [(row, kind) for row, kind in enumerate(SPECIES) if kind.habitat]
    zones = sim.land.size // (ZONE * ZONE)
    for row, kind in kinds:
        cells = habitat(sim, kind, zones * per_zone, f"first {kind.id}")
        herds = max(1, len(cells) // 12)
        for cell in cells[:herds].tolist():
            x, y = sim.land.xy(cell)
            life.spawn(sim, row, x, y, min(4, kind.herd))
