"""The scene of Kingdoms: what the front end draws is what the eye may see, in layers of which few change."""

from base64 import b64decode
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from cohabit.model.seat import Eye
from cohabit.room.room import Room
from cohabit.worlds.kingdoms import history
from cohabit.worlds.kingdoms.creatures import Job
from cohabit.worlds.kingdoms.drawing.map import FIRST_BUILDING, FIRST_TOP
from cohabit.worlds.kingdoms.scene import HIDDEN
from cohabit.worlds.kingdoms.sight import View, seen_by
from cohabit.worlds.kingdoms.sim import Sim

from .twins import ATHENA, opened, scramble, twin

HERS, PUBLIC, ALL = Eye(seat=str(ATHENA)), Eye(), Eye(sees="all")


def layer(scene: Any, name: str, size: int) -> NDArray[np.uint8]:
    """The chunks of a layer put together."""
    chunk = scene["frame"]["chunk"]
    whole = np.zeros((size, size), np.uint8)
    for down in range(size // chunk):
        for across in range(size // chunk):
            cells = b64decode(scene.get(f"{name} {across},{down}", ""))
            if cells:
                part = np.frombuffer(cells, np.uint8).reshape(chunk, chunk)
                whole[down * chunk : (down + 1) * chunk, across * chunk : (across + 1) * chunk] = part
    return whole.ravel()


def soldiers_drawn(scene: Any) -> dict[int, int]:
    """By kingdom: how many creatures are drawn as soldiers."""
    return {kingdom: count for kingdom, _, armed, count in scene["creatures"]["groups"] if armed}


def test_worlds_that_differ_only_in_the_fog_have_the_same_scene() -> None:
    one = opened()
    other = twin(one)
    one = twin(one)
    scramble(other.world)
    for eye, alike in ((HERS, True), (PUBLIC, True), (ALL, False)):
        scenes = [msgspec.json.encode(room.world.scene(eye)) for room in (one, other)]
        assert (scenes[0] == scenes[1]) == alike, eye


def test_the_land_in_sight_is_as_it_is_and_the_rest_is_from_the_chart() -> None:
    sim: Sim = (room := opened()).world.sim
    scene, land = room.world.scene(HERS), sim.land
    cover, owner = (layer(scene, name, land.width) for name in ("cover", "owner"))
    seen = seen_by(sim, ATHENA)
    assert np.array_equal(cover >= HIDDEN, ~seen)
    assert np.array_equal(cover[~seen] - HIDDEN, land.chart[~seen])
    top = seen & (land.top > 0) & (land.built == 0)
    assert np.array_equal(cover[top], land.top[top] + FIRST_TOP)
    built = seen & (land.built > 0)
    assert built.any()
    assert np.array_equal(cover[built], land.built[built] + FIRST_BUILDING)
    assert np.array_equal(np.array(scene["owners"])[owner], sim.owners()[land.city] * seen)
    assert not layer(scene, "level", land.width)[~seen].any()


def test_exactly_the_creatures_in_sight_are_drawn_each_at_its_place() -> None:
    sim: Sim = (room := opened()).world.sim
    drawn = room.world.scene(HERS)["creatures"]
    rows, c = View(sim, ATHENA, everything=False).rows(), sim.creatures
    places = np.frombuffer(b64decode(drawn["places"]), np.uint8).reshape(-1, 2)
    ids = np.frombuffer(b64decode(drawn["ids"]), "<u2")
    kinds = [(kingdom, species) for kingdom, species, _, count in drawn["groups"] for _ in range(count)]
    found = sorted((*kind, int(i), *map(int, at)) for kind, i, at in zip(kinds, ids, places, strict=True))
    columns = (c.kingdom, c.species, c.public & 0xFFFF, c.x, c.y)
    assert found == sorted(tuple(int(column[row]) for column in columns) for row in rows)
    assert 0 < len(rows) < c.n


def test_strangers_are_drawn_as_soldiers_only_in_a_war() -> None:
    """Athena is at war with kingdom 2 and at peace with kingdom 3; soldiers of both stand in her capital."""
    sim: Sim = (room := opened()).world.sim
    city, c = sim.cities[sim.kingdoms[ATHENA].capital], sim.creatures
    for kingdom in (2, 3):
        rows = np.flatnonzero(c.kingdom == kingdom)[:4]
        c.x[rows], c.y[rows], c.job[rows] = city.x, city.y, Job.SOLDIER
    room.world._changed()
    hers, everybody = room.world.scene(HERS), room.world.scene(ALL)
    assert soldiers_drawn(hers)[2] == 4
    assert 3 not in soldiers_drawn(hers)
    assert soldiers_drawn(everybody)[3] >= 4
    assert {army["kingdom"] for army in hers["armies"]} == {2}
    assert {army["kingdom"] for army in everybody["armies"]} >= {2, 3}


def marches(room: Room, eye: Eye) -> list[tuple[int, int, int, str]]:
    return [(m["kingdom"], m["x"], m["y"], m["kind"]) for m in room.world.scene(eye)["marches"]]


def test_a_road_of_march_ends_where_the_player_sees_or_has_named_the_place() -> None:
    room = opened()
    target = room.world.sim.cities_of(2)[0]
    assert not seen_by(room.world.sim, ATHENA)[room.world.sim.land.cell(target.x, target.y)]
    room.call("athena", "raid", {"kingdom_id": 2}, at=2000)
    assert (ATHENA, target.x, target.y, "attack") in marches(room, ALL)
    assert marches(room, HERS) == []
    home = room.world.sim.cities_of(ATHENA)[0]
    room.call("athena", "rally", {"x": home.x + 1, "y": home.y}, at=2001)
    assert marches(room, HERS) == [(ATHENA, home.x + 1, home.y, "rally")]
    assert marches(room, Eye(seat="2")) == []


def test_only_what_is_public_is_told_of_other_kingdoms() -> None:
    room = opened()
    public, hers, everything = ({k["id"]: k for k in room.world.scene(eye)["kingdoms"]} for eye in (PUBLIC, HERS, ALL))
    assert [set(shown) & {"soldiers", "faith"} for shown in public.values()] == [set()] * 3
    assert "faith" in hers[ATHENA]
    assert "faith" not in hers[2]
    assert all("faith" in shown for shown in everything.values())
    assert room.world.scene(PUBLIC)["cities"] == []
    assert {city["kingdom"] for city in room.world.scene(HERS)["cities"]} == {ATHENA}


def test_a_change_in_one_place_changes_one_chunk_of_the_land() -> None:
    room = opened()
    before = room.world.scene(ALL)
    room.call("zeus", "paint_tile", {"x": 70, "y": 40, "tile_id": "lava0"}, at=2000)
    after = room.world.scene(ALL)
    assert {name for name in after if after[name] != before.get(name)} <= {"cover 2,1", "level 2,1"}
    assert after["cover 2,1"] != before["cover 2,1"]


def test_the_history_stays_small_and_reaches_back_to_the_beginning() -> None:
    sim: Sim = opened(ticks=0).world.sim
    kept = history.History()
    for year in range(1_000):
        sim.tick = year * history.YEAR
        kept.note(sim)
    layers = kept.layers(everything=False, own=ATHENA)
    samples = [sample for name in layers for sample in layers[name]]
    assert history.MAX_SAMPLES // 2 <= len(samples) <= history.MAX_SAMPLES
    assert samples[0][0] == 0
    assert samples[-1][0] > 990 * history.YEAR - 8 * history.YEAR
    gaps = np.diff([tick for tick, _ in samples])
    assert len(set(gaps.tolist())) == 1
    assert {kingdom: soldiers is None for kingdom, _, soldiers in samples[0][1]} == {1: False, 2: True, 3: True}
