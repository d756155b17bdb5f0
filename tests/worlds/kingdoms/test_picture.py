"""Pictures have the right size and show only what is seen."""

from collections.abc import Callable
from io import BytesIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image

from cohabit.worlds.kingdoms.creatures import Effect
from cohabit.worlds.kingdoms.drawing.legend import LEGEND_FROM, frame
from cohabit.worlds.kingdoms.drawing.map import KINGDOM_COLOURS, KINGDOM_RGB, colour_of
from cohabit.worlds.kingdoms.drawing.picture import draw, encode
from cohabit.worlds.kingdoms.land import Land
from cohabit.worlds.kingdoms.save import dump
from cohabit.worlds.kingdoms.sim import City, Kingdom, Sim
from cohabit.worlds.kingdoms.terrain import generate
from cohabit.worlds.kingdoms.tiles import GROUND_ROW, TOP_ROW

from .settled import settled

SIZE = 640
zones = st.integers(2, 16)


def west(sim: Sim) -> NDArray[np.bool_]:
    """An eye that sees the western half of the map."""
    return np.arange(sim.land.size) % sim.land.width < sim.land.width // 2


def points(image: Image.Image) -> NDArray[np.uint8]:
    return np.asarray(image)


def same(one: Image.Image, other: Image.Image) -> bool:
    return one.size == other.size and bool(np.array_equal(points(one), points(other)))


@given(zones, zones, st.integers(16, 3000), st.booleans())
def test_the_longest_edge_has_exactly_the_requested_size(zones_x: int, zones_y: int, size: int, legend: bool) -> None:
    place = frame(64 * zones_x, 64 * zones_y, size, legend)
    assert max(place.width, place.height) == size
    assert 0 < place.map_width <= place.width
    assert 0 < place.map_height <= place.height
    assert (place.legend != "none") == (legend and size >= LEGEND_FROM)
    if place.legend == "none":
        assert (place.width, place.height) == (place.map_width, place.map_height)
    else:
        strip = (place.width - place.map_width) if place.legend == "beside" else (place.height - place.map_height)
        assert strip >= size // 5


@pytest.mark.parametrize(("zones_x", "zones_y"), [(2, 2), (4, 2), (2, 5)])
@pytest.mark.parametrize("size", [1, 100, 333, 640, 1280])
@pytest.mark.parametrize("legend", [True, False])
def test_a_picture_of_any_map_has_the_size_of_its_frame(zones_x: int, zones_y: int, size: int, legend: bool) -> None:
    image = draw(Sim(1, generate(1, zones_x, zones_y)), None, size, legend)
    place = frame(64 * zones_x, 64 * zones_y, size, legend)
    assert image.size == (place.width, place.height)
    assert max(image.size) == size
    assert image.mode == "RGB"


def test_a_map_of_the_usual_size_gets_whole_points_per_tile() -> None:
    place = frame(256, 256, 1280, legend=True)
    assert (place.map_width, place.map_height, place.width, place.legend) == (1024, 1024, 1280, "beside")


def test_png_and_jpeg_can_be_read_again() -> None:
    image = draw(settled(), None, SIZE)
    png = Image.open(BytesIO(encode(image, "png")))
    assert png.format == "PNG"
    assert same(png, image), "PNG loses nothing"
    fine, coarse = encode(image, "jpg", 90), encode(image, "jpg", 30)
    jpeg = Image.open(BytesIO(fine))
    assert jpeg.format == "JPEG"
    assert jpeg.size == image.size
    assert len(coarse) < len(fine)


def test_drawing_changes_nothing_and_is_repeatable() -> None:
    sim = settled()
    before = dump(sim)
    first = draw(sim, west(sim), SIZE)
    assert same(first, draw(sim, west(sim), SIZE))
    draw(sim, None, SIZE)
    assert dump(sim) == before


def raise_a_mountain(sim: Sim, hidden: NDArray[np.int64]) -> None:
    sim.land.ground[hidden] = GROUND_ROW["mountains"]
    sim.land.level[hidden] = 230


def burn(sim: Sim, hidden: NDArray[np.int64]) -> None:
    sim.land.top[hidden] = TOP_ROW["fire"]
    sim.land.burning = np.unique(np.concatenate([sim.land.burning, hidden]))


def strip_the_land(sim: Sim, hidden: NDArray[np.int64]) -> None:
    sim.land.top[hidden] = 0


def pull_down(sim: Sim, hidden: NDArray[np.int64]) -> None:
    sim.land.built[hidden] = 3


def move_borders(sim: Sim, hidden: NDArray[np.int64]) -> None:
    sim.land.city[hidden] = 4


def fill_with_people(sim: Sim, hidden: NDArray[np.int64]) -> None:
    y, x = np.divmod(hidden, sim.land.width)
    sim.creatures.add(len(hidden), {"x": x, "y": y, "hp": 10, "kingdom": 2, "city": 4})


def found_a_city(sim: Sim, hidden: NDArray[np.int64]) -> None:
    x, y = sim.land.xy(int(hidden[len(hidden) // 2]))
    sim.cities[99] = City(99, 99, "Nowhere", 1, x, y, 1, people=10_000)


SECRETS = (raise_a_mountain, burn, strip_the_land, pull_down, move_borders, fill_with_people, found_a_city)
Secret = Callable[[Sim, NDArray[np.int64]], None]


@pytest.mark.sampled
@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("size", [128, 333, 640])
def test_worlds_that_differ_only_in_the_fog_give_the_same_picture(secret: Secret, size: int) -> None:
    one, other = settled(), settled()
    seen = west(one)
    secret(other, np.flatnonzero(~seen))
    assert dump(one) != dump(other)
    assert same(draw(one, seen, size), draw(other, seen, size))
    assert not same(draw(one, None, size), draw(other, None, size)), "an eye that sees everything sees the difference"


def test_a_pattern_of_single_hidden_cells_hides_as_well() -> None:
    one, other = settled(), settled()
    seen = np.arange(one.land.size) % 3 > 0
    for secret in SECRETS[:-1]:
        secret(other, np.flatnonzero(~seen))
    assert same(draw(one, seen, SIZE), draw(other, seen, SIZE))


def test_fog_shows_the_land_as_it_was_when_the_world_began() -> None:
    sim = settled()
    raise_a_mountain(sim, np.arange(sim.land.size))
    nothing = np.zeros(sim.land.size, np.bool_)
    charted = Sim(sim.seed, Land(2, 2))
    charted.land.chart[:] = sim.land.chart
    assert same(draw(sim, nothing, 300, legend=False), draw(charted, nothing, 300, legend=False))


def test_fog_is_darker_than_what_is_seen() -> None:
    sim = settled()
    bright = points(draw(sim, None, 256, legend=False)).mean()
    dark = points(draw(sim, np.zeros(sim.land.size, np.bool_), 256, legend=False)).mean()
    assert dark < bright * 2 / 3


def test_invisible_creatures_are_drawn_only_for_an_eye_that_sees_everything() -> None:
    sim, without = settled(people=0, animals=0), settled(people=0, animals=0)
    ids = sim.creatures.add(1, {"x": 60, "y": 60, "hp": 10, "kingdom": 1, "effects": Effect.INVISIBLE})
    everything = np.ones(sim.land.size, np.bool_)
    assert len(ids) == 1
    assert same(draw(sim, everything, SIZE), draw(without, everything, SIZE))
    assert not same(draw(sim, None, SIZE), draw(without, None, SIZE))


def test_the_legend_is_the_same_for_everybody() -> None:
    sim = settled()
    place = frame(sim.land.width, sim.land.height, SIZE, legend=True)
    strips = [points(draw(sim, seen, SIZE))[:, place.map_width :] for seen in (None, west(sim), ~west(sim))]
    assert np.array_equal(strips[0], strips[1])
    assert np.array_equal(strips[0], strips[2])


def test_the_legend_has_the_colours_of_living_kingdoms_only() -> None:
    sim = settled()
    sim.kingdoms[3].alive = False
    place = frame(sim.land.width, sim.land.height, SIZE, legend=True)
    strip = points(draw(sim, None, SIZE))[:, place.map_width :].reshape(-1, 3)
    assert [bool((strip == KINGDOM_RGB[row]).all(1).any()) for row in range(3)] == [True, True, False]


@pytest.mark.parametrize("count", [0, 1, 9, 60])
@pytest.mark.parametrize("size", [480, 1280])
def test_a_legend_holds_any_number_of_kingdoms(count: int, size: int) -> None:
    for width, height in ((2, 2), (6, 2)):
        sim = Sim(1, generate(1, width, height))
        sim.kingdoms = {k.id: k for k in crowd(count)}
        assert max(draw(sim, None, size).size) == size


def crowd(count: int) -> list[Kingdom]:
    names = ("A", "Long Names Of Very Old And Proud Kingdoms Never Fit")
    return [Kingdom(n, names[n % 2], "human", n, 0, people=n * (n % 2) * 1000) for n in range(1, count + 1)]


def test_people_are_drawn_in_the_colour_of_their_kingdom() -> None:
    sim = settled(people=0, animals=0)
    sim.creatures.add(1, {"x": 3, "y": 3, "hp": 10, "kingdom": 2})
    tile = points(draw(sim, None, 1280, legend=False))[30:40, 30:40].reshape(-1, 3)
    assert (tile == KINGDOM_RGB[sim.kingdoms[2].colour]).all(1).any()


def test_borders_run_along_the_land_of_a_kingdom() -> None:
    sim = Sim(1, Land(2, 2))
    home = settled()
    sim.kingdoms, sim.cities = {1: home.kingdoms[1]}, {1: home.cities[1]}
    area = np.zeros((128, 128), np.bool_)
    area[20:40, 60:90] = True
    sim.land.city[area.ravel()] = 1
    sim.cities[1].x, sim.cities[1].y = 5, 100
    drawn = (points(draw(sim, None, 1280, legend=False)) == KINGDOM_RGB[0]).all(2)
    assert drawn[200, 600:900].all()
    assert drawn[399, 600:900].all()
    assert drawn[200:400, 600].all()
    assert drawn[200:400, 899].all()
    assert not drawn[210:390, 610:890].any(), "only along the edge"
    assert not drawn[199, 600:900].any()


def test_the_colours_of_kingdoms_are_distinct() -> None:
    assert len({*KINGDOM_COLOURS}) == len(KINGDOM_COLOURS) >= 16
    assert colour_of(3) == colour_of(3 + len(KINGDOM_COLOURS)) == KINGDOM_COLOURS[3]
    apart = KINGDOM_RGB.astype(int)[:, None] - KINGDOM_RGB.astype(int)[None, :]
    nearest = np.abs(apart).sum(2) + 1000 * np.eye(len(KINGDOM_COLOURS), dtype=int)
    assert nearest.min() > 60
