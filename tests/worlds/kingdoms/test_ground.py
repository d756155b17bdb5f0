"""Changing the map keeps buildings, plants, fires and lava consistent."""

import numpy as np
import pytest

from cohabit.worlds.kingdoms import save
from cohabit.worlds.kingdoms.powers.ground import LADDER, cool_lava, reshape, wreck
from cohabit.worlds.kingdoms.rules import life
from cohabit.worlds.kingdoms.species import SPECIES_ROW
from cohabit.worlds.kingdoms.tiles import CAN_GROW, GROUND_ROW, IS_WATER, TOP_ROW

from .lively import assert_valid, cast, first_city, lively

WATER, LAVA, SOIL = GROUND_ROW["shallow_waters"], GROUND_ROW["lava0"], GROUND_ROW["soil_low"]


def test_a_city_that_loses_its_last_building_is_razed() -> None:
    sim = lively()
    city = first_city(sim)
    stood = sum(city.buildings.values())
    assert wreck(sim, sim.land.disc(city.x, city.y, city.radius)) == stood
    assert city.id not in sim.cities
    assert not (sim.land.city == city.id).any()
    assert_valid(sim)


@pytest.mark.parametrize("ground", ["deep_ocean", "lava0", "pit_shallow_waters"])
def test_buildings_are_lost_with_their_ground_and_the_city_counts_the_rest(ground: str) -> None:
    sim = lively()
    city = first_city(sim)
    built = np.flatnonzero((sim.land.built > 0) & (sim.land.city == city.id))
    assert len(built) > 1
    reshape(sim, built[:1], ground=GROUND_ROW[ground])
    assert sum(city.buildings.values()) == len(built) - 1
    assert_valid(sim)


def test_painting_over_a_fire_puts_it_out() -> None:
    sim = lively()
    assert sim.land.burning.size
    reshape(sim, sim.land.burning, ground=WATER)
    assert not sim.land.burning.size
    assert_valid(sim)


def test_reshape_counts_the_cells_that_changed() -> None:
    sim = lively()
    cells = np.flatnonzero(CAN_GROW[sim.land.ground] & (sim.land.top == TOP_ROW["grass"]))[:20]
    assert reshape(sim, cells, ground=WATER) == 20
    assert reshape(sim, cells, ground=WATER) == 0
    assert reshape(sim, cells, top=TOP_ROW["forest"]) == 0, "nothing grows on water"
    assert reshape(sim, cells, ground=SOIL, top=TOP_ROW["forest"]) == 20


def test_a_fish_on_dry_land_dies() -> None:
    sim = lively()
    sea = np.flatnonzero(IS_WATER[sim.land.ground])
    x, y = sim.land.xy(int(sea[len(sea) // 2]))
    fish = sim.creatures.row(int(life.spawn(sim, SPECIES_ROW["fish"], x, y, 1)[0]))
    reshape(sim, sim.land.disc(x, y, 3), ground=SOIL)
    assert sim.creatures.hp[fish] <= 0


def test_lava_cools_to_ash_and_sets_fire_to_its_neighbours() -> None:
    sim = lively()
    meadow = np.flatnonzero((sim.land.top == TOP_ROW["grass"]) & (sim.land.city == 0))
    x, y = sim.land.xy(int(meadow[len(meadow) // 2]))
    reshape(sim, sim.land.disc(x, y, 2), ground=LAVA)
    kindled = False
    for _ in range(2000):
        sim.tick += 1
        cool_lava(sim)
        kindled |= sim.land.burning.size > 0
    assert kindled
    assert not sim.land.molten.size
    assert (sim.land.ground[sim.land.disc(x, y, 2)] == GROUND_ROW["ash"]).all()


def test_the_list_of_lava_follows_the_ground() -> None:
    sim = lively()
    old = sim.land.molten
    new = sim.land.disc(70, 70, 2)
    reshape(sim, new, ground=LAVA)
    assert sim.land.molten.tolist() == sorted([*old.tolist(), *new.tolist()])
    reshape(sim, new, ground=WATER)
    assert sim.land.molten.tolist() == old.tolist()


def test_the_list_of_lava_is_rebuilt_in_a_loaded_world() -> None:
    sim = lively()
    assert sim.land.molten.size
    assert save.load(save.dump(sim)).land.molten.tolist() == sim.land.molten.tolist()


def test_raising_and_lowering_go_one_step_at_a_time_and_end_at_the_top_and_the_bottom() -> None:
    sim = lively()
    reshape(sim, sim.land.disc(40, 40, 3), ground=LADDER[0])
    for row in LADDER[1:]:
        assert cast(sim, "raise", 40, 40, 3)
        assert (sim.land.ground[sim.land.disc(40, 40, 3)] == row).all()
    assert not cast(sim, "raise", 40, 40, 3)
    for row in LADDER[-2::-1]:
        assert cast(sim, "lower", 40, 40, 3)
        assert (sim.land.ground[sim.land.disc(40, 40, 3)] == row).all()
    assert not cast(sim, "lower", 40, 40, 3)


def test_a_line_runs_from_end_to_end_without_a_gap_and_stays_on_the_map() -> None:
    land = lively().land
    for ends in ((0, 0, 9, 4), (9, 4, 0, 0), (5, 5, 5, 5), (3, 20, 4, 2), (-5, 3, 200, 90)):
        cells = land.line(*ends)
        x, y = cells % land.width, cells // land.width
        assert (cells >= 0).all()
        assert (cells < land.size).all()
        by_way = np.argsort(x * 1000 if abs(ends[2] - ends[0]) >= abs(ends[3] - ends[1]) else y * 1000, kind="stable")
        steps = np.maximum(abs(np.diff(x[by_way])), abs(np.diff(y[by_way])))
        assert (steps == 1).all()
