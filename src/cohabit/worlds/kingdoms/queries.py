"""The answers of the read commands. They contain only what the given view may see."""

from typing import TypeVar

import numpy as np

from cohabit.worlds.kingdoms import answers
from cohabit.worlds.kingdoms.arguments import Rect
from cohabit.worlds.kingdoms.creatures import Job, Rows
from cohabit.worlds.kingdoms.names import city_id, name_of
from cohabit.worlds.kingdoms.powers.table import POWERS
from cohabit.worlds.kingdoms.sight import View
from cohabit.worlds.kingdoms.sim import City, Kingdom, Sim
from cohabit.worlds.kingdoms.species import HEALTH, SPECIES, SPECIES_ROW
from cohabit.worlds.kingdoms.tiles import BUILDINGS, GROUND, TOPS

T = TypeVar("T")
WILD_KINGDOMS = {"nomads": 1_000_001, "animals": 1_000_002, "monsters": 1_000_003}
"""Ids of the kingdoms under which wild creatures are listed."""
MAX_NAMES = 20
"""The number of names that the answer about a tile has at most."""
_WILD_NAMES = {"civil": "nomads", "monster": "monsters", "undead": "monsters"}
_WILD_KINGDOM = np.array([WILD_KINGDOMS[_WILD_NAMES.get(kind.temper, "animals")] for kind in SPECIES])


def _listed(items: list[T]) -> answers.Listed[T]:
    return answers.Listed(items, len(items))


# -- kinds of things ------------------------------------------------------------------------------
def tile_kinds() -> answers.Listed[answers.TileKind]:
    return _listed([answers.TileKind(g.id, g.colour, g.edge, g.biome) for g in GROUND])


def top_kinds() -> answers.Listed[answers.TopKind]:
    return _listed([answers.TopKind(t.id, t.colour, t.burns, t.food) for t in TOPS[1:]])


def actor_kinds() -> answers.Listed[answers.ActorKind]:
    return _listed(
        [answers.ActorKind(s.id, s.id, s.temper, s.health, s.damage, 60 // s.pace, s.home != "land") for s in SPECIES]
    )


def power_kinds(for_kings: bool, race: str | None = None) -> answers.Listed[answers.PowerKind]:
    """All powers, or those for kings; with a race, without the powers that spawn other races."""
    items = [
        answers.PowerKind(
            p.id, p.family, "world" if p.toggle else "tile", p.description, p.aim, p.faith, p.brush, p.toggle
        )
        for p in POWERS.values()
        if not for_kings or (p.aim != "god" and (p.family != "spawn" or race in (None, p.id)))
    ]
    return _listed(items)


# -- the world through a view ---------------------------------------------------------------------
def world_state(view: View, paused: bool) -> answers.WorldState:
    """The counts that an eye may see: with fog, wild creatures are not counted."""
    sim = view.sim
    people = sum(k.people for k in sim.alive)
    return answers.WorldState(
        width=sim.land.width,
        height=sim.land.height,
        seed=sim.seed & 2**53 - 1 if view.everything else 0,  # with the seed the whole world could be reproduced
        tick=sim.tick,
        paused=paused,
        population_alive=sim.creatures.n if view.everything else people,
        population_lifetime=sim.tally.born if view.everything else people,
        kingdoms_alive=len(sim.alive),
        kingdoms_ever_created=sim.tally.kingdoms,
        cities_alive=sum(k.cities for k in sim.alive),
        cities_ever_created=sim.tally.cities if view.everything else sum(k.cities for k in sim.alive),
    )


def tile(view: View, x: int, y: int) -> answers.Tile:
    """One tile. If it is not seen, the answer is taken from the chart."""
    sim = view.sim
    land, cell = sim.land, sim.land.cell(x, y)
    if not view.sees(cell):
        height = int(land.chart[cell]) * 255 // (len(GROUND) - 1)  # by the chart: the true height may have changed
        return answers.Tile(x, y, GROUND[land.chart[cell]].id, height, [], 0, visible=False)
    rows = view.rows()
    c = sim.creatures
    here = rows[(c.x[rows] == x) & (c.y[rows] == y)]
    city = sim.cities.get(int(land.city[cell]))
    return answers.Tile(
        x,
        y,
        GROUND[land.ground[cell]].id,
        int(land.level[cell]),
        [name_of(sim, int(row)) for row in here[:MAX_NAMES]],
        len(here),
        top_id=TOPS[land.top[cell]].id if land.top[cell] else None,
        building=BUILDINGS[land.built[cell]].id if land.built[cell] else None,
        kingdom_id=city.kingdom if city else None,
        city_id=city_id(sim, city) if city else None,
    )


def kingdoms(view: View, include_wild: bool) -> answers.Listed[answers.KingdomLine]:
    """Every kingdom. Public on purpose: diplomacy needs to know who exists."""
    sim = view.sim
    items = [_kingdom(view, k) for k in sim.alive]
    if include_wild:
        c = sim.creatures
        wild = _WILD_KINGDOM[c.species[c.kingdom == 0]] if view.everything else np.zeros(0, np.int64)
        items += [
            answers.KingdomLine(number, f"the {name}", name, 0, int(np.count_nonzero(wild == number)), True)
            for name, number in WILD_KINGDOMS.items()
        ]
    return _listed(items)


def _kingdom(view: View, k: Kingdom) -> answers.KingdomLine:
    sim = view.sim
    capital = sim.cities.get(k.capital)
    king = sim.creatures.row(k.king)
    return answers.KingdomLine(
        k.id,
        k.name,
        k.race,
        k.cities,
        k.people,
        False,
        king_name=name_of(sim, king) if king is not None else None,
        capital_id=city_id(sim, capital) if capital and view.sees_city(capital) else None,
        claimed=k.claimed,
    )


def cities(view: View, kingdom_id: int | None) -> answers.Listed[answers.CityLine]:
    sim = view.sim
    found = [c for c in sim.cities.values() if view.knows(c.kingdom) and kingdom_id in (None, c.kingdom)]
    return _listed([_city(sim, city) for city in found])


def _city(sim: Sim, city: City) -> answers.CityLine:
    leader = sim.creatures.row(city.leader)
    return answers.CityLine(
        city_id(sim, city),
        city.name,
        city.kingdom,
        sim.kingdoms[city.kingdom].name,
        sum(city.buildings.values()),
        city.people,
        city.x,
        city.y,
        city.soldiers,
        city.food,
        city.loyalty,
        leader_name=name_of(sim, leader) if leader is not None else None,
        besieged_by=city.besieger or None,
    )


def actors(
    view: View, race: str | None, kingdom_id: int | None, in_rect: Rect | None, limit: int, offset: int
) -> answers.Actors:
    """The creatures that this eye may list: with fog, its own people."""
    c = view.sim.creatures
    rows: Rows = np.arange(c.n) if view.everything else np.flatnonzero(c.kingdom == (view.kingdom or -1))
    scanned = len(rows)
    if race is not None:
        rows = rows[c.species[rows] == SPECIES_ROW.get(race, -1)]
    if kingdom_id is not None:
        own = np.where(c.kingdom[rows] == 0, _WILD_KINGDOM[c.species[rows]], c.kingdom[rows])
        rows = rows[own == kingdom_id]
    if in_rect is not None:
        rows = _within(view.sim, rows, in_rect)
    page = rows[offset : offset + limit]
    return answers.Actors(
        [_actor(view.sim, int(row)) for row in page],
        matched=len(rows),
        returned=len(page),
        offset=offset,
        limit=limit,
        total_scanned=scanned,
        has_more=offset + len(page) < len(rows),
    )


def _within(sim: Sim, rows: Rows, rect: Rect) -> Rows:
    if rect.x is None or rect.y is None or rect.w is None or rect.h is None:
        return rows
    x, y = sim.creatures.x[rows].astype(np.int64), sim.creatures.y[rows].astype(np.int64)
    inside = (x >= rect.x) & (x - rect.x < rect.w) & (y >= rect.y) & (y - rect.y < rect.h)
    return rows[inside]


def _actor(sim: Sim, row: int) -> answers.ActorLine:
    c = sim.creatures
    species = int(c.species[row])
    return answers.ActorLine(
        name_of(sim, row),
        SPECIES[species].id,
        int(c.x[row]),
        int(c.y[row]),
        int(c.public[row]),
        kingdom_id=int(c.kingdom[row]) or int(_WILD_KINGDOM[species]),
        city_id=city_id(sim, sim.cities[int(c.city[row])]) if c.city[row] else None,
        age=sim.tick - int(c.born[row]),
        health=100 * int(c.hp[row]) // int(HEALTH[species]),
        hunger=100 - int(c.food[row]),
        sex="male" if c.sex[row] else "female",
        job=Job.NAMES[c.job[row]],
    )
