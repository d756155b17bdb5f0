"""A small busy world, and the checks that hold for every world between two ticks."""

from functools import cache

import numpy as np

from cohabit.worlds.kingdoms import save
from cohabit.worlds.kingdoms.beginning import begin
from cohabit.worlds.kingdoms.invariants import first_violation
from cohabit.worlds.kingdoms.powers.ground import FITS, HOLDS_BUILDINGS, reshape
from cohabit.worlds.kingdoms.powers.power import Cast
from cohabit.worlds.kingdoms.powers.table import POWERS
from cohabit.worlds.kingdoms.rules import cities, diplomacy, life, tick, vegetation
from cohabit.worlds.kingdoms.sim import City, Sim
from cohabit.worlds.kingdoms.species import SPECIES_ROW
from cohabit.worlds.kingdoms.terrain import generate
from cohabit.worlds.kingdoms.tiles import BUILDINGS, CAN_GROW, GROUND_ROW, IS_LAVA, TOP_ROW


@cache
def _made() -> bytes:
    sim = Sim(5, generate(5, 2, 2))
    begin(sim, 3, 2)
    for _ in range(240):
        tick.step(sim)
    free = np.flatnonzero(CAN_GROW[sim.land.ground] & (sim.land.city == 0))
    cities.found_city(sim, 1, *sim.land.xy(int(free[len(free) // 3])), np.flatnonzero(sim.creatures.kingdom == 1)[:5])
    diplomacy.declare_war(sim, 1, 2, "a quarrel")
    for city in sim.cities.values():
        city.loyalty, city.siege = 60, 40
        race = SPECIES_ROW[sim.kingdoms[city.kingdom].race]
        life.spawn(sim, race, city.x, city.y, 3, city.kingdom, city.id)
    for kingdom in sim.alive:
        kingdom.weariness = 30
    home = first_city(sim)
    vegetation.ignite(sim, sim.land.disc(home.x, home.y, 6))
    reshape(sim, sim.land.disc(2, 2, 1), ground=GROUND_ROW["lava0"])
    return save.dump(sim)


def lively() -> Sim:
    """Three kingdoms, two of them with players, with farms, houses, beasts, a war, a fire and some lava."""
    return save.load(_made())


def first_city(sim: Sim, kingdom: int = 1) -> City:
    return sim.cities_of(kingdom)[0]


def cast(sim: Sim, power: str, x: int, y: int, radius: int | None = None, **more: int) -> bool:
    """Use a power as the world does; without a radius on one cell."""
    cells = sim.land.disc(x, y, radius or 0)
    return POWERS[power].run(sim, Cast(x, y, cells, **more))


def assert_valid(sim: Sim) -> None:
    """The invariants, and what else holds between two ticks."""
    assert first_violation(sim) is None
    land = sim.land
    assert_buildings_are_counted(sim)
    assert HOLDS_BUILDINGS[land.ground[land.built > 0]].all(), "no building is in water, lava or a pit"
    assert FITS[land.ground, land.top].all(), "nothing grows where it cannot"
    assert sorted(land.burning.tolist()) == np.flatnonzero(land.top == TOP_ROW["fire"]).tolist()
    assert land.molten.tolist() == np.flatnonzero(IS_LAVA[land.ground]).tolist()
    assert all(0 <= kingdom.faith <= 300 for kingdom in sim.alive)
    assert all(0 <= city.loyalty <= 100 and city.food >= 0 for city in sim.cities.values())
    assert all(-100 <= opinion <= 100 for opinion in sim.opinions.values())


def assert_buildings_are_counted(sim: Sim) -> None:
    for city in sim.cities.values():
        rows = sim.land.built[(sim.land.city == city.id) & (sim.land.built > 0)].tolist()
        found = {kind.id: rows.count(row) for row, kind in enumerate(BUILDINGS) if row in rows}
        assert found == {name: count for name, count in city.buildings.items() if count}, city.name
