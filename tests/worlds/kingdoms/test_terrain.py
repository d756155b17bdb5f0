"""The land of a seed: deterministic, surrounded by sea, with rivers that reach it and plants on soil."""

from hashlib import blake2b

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from cohabit.worlds.kingdoms.land import Land
from cohabit.worlds.kingdoms.terrain import HILLS, SHORE, generate
from cohabit.worlds.kingdoms.tiles import CAN_GROW, GROUND, GROUND_ROW, IS_WATER, TOP_ROW, TOPS

RIVER = GROUND_ROW["river"]
seeds = st.integers(0, 2**63 - 1)
zones = st.integers(2, 4)
a_few = settings(max_examples=10)


def digest(land: Land) -> str:
    hashed = blake2b(digest_size=16)
    for name, layer in land.layers().items():
        hashed.update(name.encode() + layer.astype(layer.dtype.newbyteorder("<")).tobytes())
    return hashed.hexdigest()


def spread(start: NDArray[np.bool_], allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The part of ``allowed`` that can be reached from ``start`` by steps across and down."""
    reached = start & allowed
    while True:
        grown = reached.copy()
        grown[1:] |= reached[:-1]
        grown[:-1] |= reached[1:]
        grown[:, 1:] |= reached[:, :-1]
        grown[:, :-1] |= reached[:, 1:]
        grown &= allowed
        if np.array_equal(grown, reached):
            return reached
        reached = grown


def as_map(land: Land, layer: NDArray[np.generic]) -> NDArray[np.generic]:
    return layer.reshape(land.height, land.width)


def touching(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The cells that share a side with the mask."""
    near = np.zeros_like(mask)
    near[1:] |= mask[:-1]
    near[:-1] |= mask[1:]
    near[:, 1:] |= mask[:, :-1]
    near[:, :-1] |= mask[:, 1:]
    return near


@a_few
@given(seeds, zones, zones)
def test_the_same_seed_makes_the_same_land(seed: int, zones_x: int, zones_y: int) -> None:
    assert digest(generate(seed, zones_x, zones_y)) == digest(generate(seed, zones_x, zones_y))


def test_other_seeds_make_other_lands() -> None:
    assert len({digest(generate(seed, 2, 2)) for seed in range(20)}) == 20


@a_few
@given(seeds, zones, zones)
def test_every_tile_is_a_known_kind_and_the_chart_shows_the_ground(seed: int, zones_x: int, zones_y: int) -> None:
    land = generate(seed, zones_x, zones_y)
    assert (land.width, land.height) == (64 * zones_x, 64 * zones_y)
    assert land.ground.max() < len(GROUND)
    assert land.top.max() < len(TOPS)
    assert np.array_equal(land.chart, land.ground)
    assert not land.built.any()
    assert not land.city.any()


@a_few
@given(seeds, zones, zones)
def test_plants_grow_only_on_soil_and_snow_may_lie_on_rock(seed: int, zones_x: int, zones_y: int) -> None:
    land = generate(seed, zones_x, zones_y)
    soil = CAN_GROW[land.ground]
    rock = np.isin(land.ground, [GROUND_ROW["hills"], GROUND_ROW["mountains"]])
    assert (land.top[soil] > 0).all(), "no soil is bare"
    assert (land.top[rock & (land.top > 0)] == TOP_ROW["snow"]).all()
    assert not land.top[~soil & ~rock].any()


@a_few
@given(seeds, zones, zones)
def test_about_half_of_the_map_is_dry_and_the_rim_is_sea(seed: int, zones_x: int, zones_y: int) -> None:
    land = generate(seed, zones_x, zones_y)
    water = as_map(land, IS_WATER[land.ground])
    assert 40 <= 100 * np.count_nonzero(~water) // land.size <= 60
    for rim in (water[:4], water[-4:], water[:, :4], water[:, -4:]):
        assert rim.all()


@pytest.mark.parametrize(("zones_x", "zones_y"), [(2, 2), (4, 4), (2, 9), (9, 2)])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_most_of_the_land_is_in_a_few_big_pieces(seed: int, zones_x: int, zones_y: int) -> None:
    land = generate(seed, zones_x, zones_y)
    left = as_map(land, land.level >= SHORE)
    whole = np.count_nonzero(left)
    pieces = []
    while left.any() and sum(pieces) < whole * 9 // 10:
        somewhere = np.zeros_like(left)
        somewhere.flat[np.argmax(left)] = True
        piece = spread(somewhere, left)
        pieces.append(int(np.count_nonzero(piece)))
        left = left & ~piece
    assert sum(sorted(pieces)[-4:]) >= whole * 3 // 4


@a_few
@given(seeds, zones, zones)
def test_every_river_runs_from_the_hills_into_the_sea(seed: int, zones_x: int, zones_y: int) -> None:
    land = generate(seed, zones_x, zones_y)
    river = as_map(land, land.ground == RIVER)
    sea = as_map(land, IS_WATER[land.ground]) & ~river
    assert river.any()
    assert np.array_equal(spread(touching(sea), river), river), "every stretch leads to the sea"
    springs = river & as_map(land, land.level >= HILLS)
    assert np.array_equal(spread(springs, river), river), "every stretch comes from the hills"


@a_few
@given(seeds)
def test_rivers_reach_the_sea_without_climbing(seed: int) -> None:
    land = generate(seed, 2, 2)
    river = as_map(land, land.ground == RIVER)
    level = as_map(land, land.level)
    sea = as_map(land, IS_WATER[land.ground]) & ~river
    reached = np.zeros_like(river)
    for height in range(SHORE, 256):  # the sea rises: a cell is reached only over cells that lie no higher
        reached = spread(reached | touching(sea), river & (level <= height))
        assert np.array_equal(reached, river & (level <= height))


@a_few
@given(seeds)
def test_a_land_has_every_kind_of_ground_and_many_kinds_of_plants(seed: int) -> None:
    land = generate(seed, 4, 4)
    assert set(range(9)) <= set(np.unique(land.ground).tolist())
    assert np.count_nonzero(np.bincount(land.top, minlength=len(TOPS))[1:]) >= 7


def test_the_largest_map_can_be_generated() -> None:
    land = generate(5, 16, 16)
    assert land.size == 1024 * 1024
    assert 40 <= 100 * np.count_nonzero(~IS_WATER[land.ground]) // land.size <= 60


def test_the_land_of_a_seed_is_the_same_on_every_machine() -> None:
    """After an intended change of the terrain, raise the version of the world and update the digest."""
    assert digest(generate(20260101, 3, 4)) == "cdbbb5224304354c9dc2d3056316555f"
