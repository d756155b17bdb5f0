"""Animals and monsters: grazing, strolling, breeding, and arriving from outside the map."""

import numpy as np
from numpy.typing import NDArray

from cohabit.worlds.kingdoms import species
from cohabit.worlds.kingdoms.creatures import Rows
from cohabit.worlds.kingdoms.land import ZONE, Cells
from cohabit.worlds.kingdoms.names import plural, with_article
from cohabit.worlds.kingdoms.rules import life, walk
from cohabit.worlds.kingdoms.rules.neighbours import OWN_BLOCK, Neighbours
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.tiles import CAN_GROW, GROUND_ROW, TOP_FOOD, TOP_ROW

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
ARRIVALS = 4
ARRIVAL_RADIUS = 10
"""Once in this many ticks, this many species are drawn; a few animals of each arrive at a random place, if it suits
them and none of their species is within this radius."""
MONSTERS_EVERY = 1500
MONSTERS_CHANCE = 1, 2
"""Once in this many ticks monsters arrive with this chance."""
PACKS = (("bandit", 5), ("skeleton", 6), ("zombie", 6), ("snowman", 4), ("ghost", 4), ("fire_elemental", 2),
         ("bandit", 8), ("demon", 1), ("cold_one", 3), ("evil_mage", 1), ("necromancer", 2), ("dragon", 1))  # fmt: skip
"""The packs of monsters, one of which is chosen at random."""
ARRIVAL_PLACES = 200
"""How many random cells are considered for an arrival."""
_ANIMALS = [row for row, kind in enumerate(species.SPECIES) if kind.habitat]


def graze(sim: Sim, rows: Rows) -> None:
    """Hungry animals eat what grows under them; a starving beast of prey finds carrion."""
    c, land = sim.creatures, sim.land
    hungry = rows[c.food[rows] < GRAZES_BELOW]
    eaters = hungry[species.GRAZES[c.species[hungry]] & (c.kingdom[hungry] == 0)]
    cells = land.cells(c.x[eaters], c.y[eaters])
    food = TOP_FOOD[land.top[cells]]
    fresh = (food > 0) & ((land.grazed[cells] == 0) | (sim.tick - land.grazed[cells] >= REGROWS))
    land.grazed[cells[fresh]] = sim.tick
    c.food[eaters[fresh]] = np.minimum(c.food[eaters[fresh]] + food[fresh], life.FULL)
    swimmers = eaters[species.LIVES_IN_WATER[c.species[eaters]]]
    c.food[swimmers] = np.minimum(c.food[swimmers] + PLANKTON, life.FULL)
    starving = hungry[species.IS_HUNTER[c.species[hungry]] & (c.food[hungry] < CARRION_BELOW)]
    lucky = starving[sim.chance.hits(*CARRION_CHANCE, "carrion", sim.tick, c.public[starving])]
    c.food[lucky] += CARRION


def stroll(sim: Sim, rows: Rows) -> None:
    """Idle wild creatures sometimes go for a walk."""
    c = sim.creatures
    idle = rows[(c.tx[rows] < 0) & (c.city[rows] == 0)]
    idle = idle[sim.chance.hits(*STROLL_CHANCE, "stroll", sim.tick, c.public[idle])]
    walk.stroll(sim, idle, STROLL_RADIUS, "where to")


def breed(sim: Sim, rows: Rows, neighbours: Neighbours) -> None:
    """Wild females have young while their herd is small enough."""
    c = sim.creatures
    kind = c.species[rows]
    able = (species.LITTER[kind] > 0) & ~species.IS_CIVIL[kind] & (c.sex[rows] == 0) & (c.food[rows] > BREEDS_ABOVE)
    mothers = rows[able & life.grown_up(sim, rows)]
    mothers = mothers[sim.chance.hits(*BREED_CHANCE, "breed", sim.tick, c.public[mothers])]
    if not len(mothers):
        return
    seen, full = neighbours.sample(mothers, "herd")
    full[:, :OWN_BLOCK] //= OWN_BLOCK  # the sample has the own block that many times
    kinds, others = c.species[seen], seen != mothers[:, None]
    herd = ((others & (kinds == c.species[mothers][:, None])) * full).sum(axis=1)
    crowd = ((others & ~species.IS_CIVIL[kinds]) * full).sum(axis=1)
    mothers = mothers[(herd < species.HERD[c.species[mothers]]) & (crowd < CROWD)]
    young = np.repeat(mothers, species.LITTER[c.species[mothers]])
    cells, kinds = sim.land.cells(c.x[young], c.y[young]), c.species[young]
    for row in np.unique(kinds).tolist():
        life.add(sim, row, cells[kinds == row], grown=False)


def habitat(sim: Sim, kind: species.Species, tries: int, purpose: str) -> Cells:
    """Unowned cells of the habitat of a species, out of ``tries`` random cells."""
    cells: Cells = sim.chance.below(sim.land.size, purpose, sim.tick, np.arange(tries))
    return cells[_suits(sim, kind, cells)]


def _suits(sim: Sim, kind: species.Species, cells: Cells) -> NDArray[np.bool_]:
    """A mask of these cells: True for unowned ones in the habitat of the species."""
    land = sim.land
    fits: NDArray[np.bool_] = life.livable(sim, species.SPECIES_ROW[kind.id], cells) & (land.city[cells] == 0)
    if kind.habitat:
        tops = [TOP_ROW[top] for top in kind.habitat if top in TOP_ROW]
        grounds = [GROUND_ROW[ground] for ground in kind.habitat if ground in GROUND_ROW]
        bare = TOP_FOOD[land.top[cells]] == 0
        fits &= np.isin(land.top[cells], tops) | (np.isin(land.ground[cells], grounds) & bare)
    return fits


def _charted_place(sim: Sim, kind: species.Species, purpose: str) -> int | None:
    """A random cell that suits a species by the chart. What has changed since may be hidden: if a place were left out
    because of it, those who see the next place would learn of it."""
    cells = sim.chance.below(sim.land.size, purpose, sim.tick, np.arange(ARRIVAL_PLACES))
    ground = sim.land.chart[cells]
    fits = life.livable_ground(species.SPECIES_ROW[kind.id], ground)
    if kind.habitat:
        grounds = [GROUND_ROW[name] for name in kind.habitat if name in GROUND_ROW]
        grows = CAN_GROW if any(name in TOP_ROW for name in kind.habitat) else np.zeros_like(CAN_GROW)
        fits &= np.isin(ground, grounds) | grows[ground]
    found = cells[fits]
    return int(found[0]) if len(found) else None


def arrive(sim: Sim) -> None:
    """Animals come to places that have none of their species, and now and then monsters come."""
    if sim.tick % ARRIVALS_EVERY == 0:
        _animals_arrive(sim)
    if sim.tick % MONSTERS_EVERY == 0 and not sim.laws.get("no_monsters"):
        _monsters_arrive(sim)


def _animals_arrive(sim: Sim) -> None:
    c = sim.creatures
    for number in range(ARRIVALS):
        row = _ANIMALS[sim.chance.one(len(_ANIMALS), "who wanders in", sim.tick, number)]
        cell = _charted_place(sim, species.SPECIES[row], f"wander in {number}")
        if cell is None or not _suits(sim, species.SPECIES[row], np.array([cell]))[0]:
            continue
        x, y = sim.land.xy(cell)
        alike = c.species == row
        if not (alike & (abs(c.x - x) <= ARRIVAL_RADIUS) & (abs(c.y - y) <= ARRIVAL_RADIUS)).any():
            life.spawn(sim, row, x, y, 3 + species.SPECIES[row].litter)


def _monsters_arrive(sim: Sim) -> None:
    if sim.chance.one(MONSTERS_CHANCE[1], "monsters come", sim.tick) >= MONSTERS_CHANCE[0]:
        return
    name, size = PACKS[sim.chance.one(len(PACKS), "which monsters", sim.tick)]
    row = species.SPECIES_ROW[name]
    cell = _charted_place(sim, species.SPECIES[row], "monsters where")
    if cell is None:
        return
    if sim.land.city[cell] == 0:  # they avoid cities; the news is the same, because nobody else may learn of the city
        life.spawn(sim, row, *sim.land.xy(cell), size)
    sim.tell(monster_news(name, size), None, "danger")


def monster_news(kind: str, size: int) -> str:
    if size == 1:
        monster = with_article(kind)
        return f"{monster[0].upper()}{monster[1:]} has been seen in the wild."
    return f"A pack of {plural(kind)} roams the wild."


def place_first_animals(sim: Sim, per_zone: int) -> None:
    """The animals of a new world: each species in its habitat, in proportion to how much of it there is."""
    kinds = [(row, kind) for row, kind in enumerate(species.SPECIES) if kind.habitat]
    zones = sim.land.size // (ZONE * ZONE)
    for row, kind in kinds:
        cells = habitat(sim, kind, zones * per_zone, f"first {kind.id}")
        herds = max(1, len(cells) // 12)
        for cell in cells[:herds].tolist():
            x, y = sim.land.xy(cell)
            life.spawn(sim, row, x, y, min(4, kind.herd))
