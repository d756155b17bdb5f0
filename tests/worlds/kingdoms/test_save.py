"""A save restores the world exactly, and any other bytes are refused."""

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import fields
from tests.examples import examples

from cohabit.errors import GameRejected
from cohabit.worlds.kingdoms.beginning import begin
from cohabit.worlds.kingdoms.creatures import COLUMNS
from cohabit.worlds.kingdoms.invariants import first_violation
from cohabit.worlds.kingdoms.land import LAYERS, Land
from cohabit.worlds.kingdoms.rules.tick import step
from cohabit.worlds.kingdoms.save import MAGIC, State, dump, load
from cohabit.worlds.kingdoms.sim import Kingdom, Sim
from cohabit.worlds.kingdoms.terrain import generate

from .settled import settled

SAVE = dump(settled())
START = len(MAGIC) + 4
HEADER = msgspec.msgpack.decode(SAVE[START : START + int.from_bytes(SAVE[len(MAGIC) : START], "little")], strict=False)
BODY = START + int.from_bytes(SAVE[len(MAGIC) : START], "little")
DERIVED = {"at_war", "city_place", "stale", "chance"}
"""What a Sim derives from the rest."""


def with_header(header: dict[str, Any], body: bytes = SAVE[BODY:]) -> bytes:
    """A save with another header."""
    written = msgspec.msgpack.encode(header)
    return MAGIC + len(written).to_bytes(4, "little") + written + body


def changed(path: str, value: Any) -> bytes:
    """The save with one value of its header changed: ``changed("state.tick", -1)``."""
    header = msgspec.msgpack.decode(msgspec.msgpack.encode(HEADER), strict=False)
    *way, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    place = header
    for part in way:
        place = place[part]
    place[last] = value
    return with_header(header)


def assert_refused_or_valid(data: bytes) -> None:
    """``load`` refuses the bytes, or returns a world that keeps its invariants."""
    try:
        sim = load(data)
    except GameRejected as refusal:
        assert "is not a save of Kingdoms: " in refusal.message
    else:
        for _ in range(3):
            step(sim)
        assert first_violation(sim) is None


def test_a_world_is_restored_exactly() -> None:
    sim = load(SAVE)
    assert dump(sim) == SAVE
    original = settled()
    for name, layer in original.land.layers().items():
        assert np.array_equal(getattr(sim.land, name), layer), name
        assert getattr(sim.land, name).dtype == layer.dtype
    for name, column in original.creatures.columns().items():
        assert np.array_equal(getattr(sim.creatures, name), column), name
    for field in fields(State):
        assert getattr(sim, field.name) == getattr(original, field.name)
    assert sim.seed == original.seed
    assert sim.at_war[1, 2]
    assert sim.at_war[2, 1]


def test_an_empty_world_is_restored() -> None:
    sim = Sim(2**63 - 1, Land(2, 3))
    assert dump(load(dump(sim))) == dump(sim)


def test_every_attribute_of_a_world_is_saved() -> None:
    """If this fails, a Sim has a new attribute: add it to save.State, or to DERIVED."""
    sim = settled()
    assert kept(sim) - DERIVED == {field.name for field in fields(State)} | {"seed", "land", "creatures"}
    assert kept(sim.land) == {*LAYERS, "width", "height", "burning"}
    assert kept(sim.creatures) == {*COLUMNS, "n", "next_id"}


def kept(thing: object) -> set[str]:
    """The attributes that matter; those with an underscore are caches."""
    return {name for name in vars(thing) if not name.startswith("_")}


def test_a_loaded_world_continues_like_the_original() -> None:
    sim = Sim(3, generate(3, 2, 2))
    begin(sim, 3, 1)
    for _ in range(60):
        step(sim)
    twin = load(dump(sim))
    for _ in range(150):
        step(sim)
        step(twin)
    assert dump(twin) == dump(sim)
    assert first_violation(sim) is None


def test_the_arrays_of_a_loaded_world_are_its_own() -> None:
    data = bytearray(SAVE)
    sim = load(bytes(data))
    sim.land.ground[:] = 3
    sim.land.burning += 1
    sim.creatures.x[:] = 1
    assert dump(load(bytes(data))) == SAVE


def test_creatures_can_be_born_in_a_loaded_world() -> None:
    sim = load(SAVE)
    born = sim.creatures.add(3, {"public": [7, 8, 9], "x": 5, "y": 5, "hp": 10})
    assert born.tolist() == [201, 202, 203]
    assert sim.creatures.row(202) == 201


def test_a_save_has_exactly_the_size_of_its_arrays() -> None:
    sim = load(SAVE)
    numbers = sum(np.dtype(kind).itemsize for kind in LAYERS.values()) * sim.land.size
    numbers += sum(np.dtype(kind).itemsize for kind in COLUMNS.values()) * sim.creatures.n + 8 * len(sim.land.burning)
    assert len(SAVE) - BODY == numbers


@given(st.integers(0, len(SAVE) - 1))
@example(0)
@example(len(MAGIC) - 1)
@example(len(MAGIC))
@example(START)
@example(BODY - 1)
@example(BODY)
@example(len(SAVE) - 1)
def test_a_truncated_save_is_refused(length: int) -> None:
    with pytest.raises(GameRejected, match="is not a save of Kingdoms"):
        load(SAVE[:length])


@given(st.binary(min_size=1, max_size=64))
def test_a_save_with_trailing_bytes_is_refused(more: bytes) -> None:
    with pytest.raises(GameRejected):
        load(SAVE + more)


@given(st.binary(max_size=400))
def test_garbage_is_refused(data: bytes) -> None:
    for prefix in (b"", MAGIC, MAGIC + len(data).to_bytes(4, "little")):
        with pytest.raises(GameRejected):
            load(prefix + data)


@settings(max_examples=examples(300))
@given(st.lists(st.tuples(st.integers(0, BODY - 1), st.integers(1, 255)), min_size=1, max_size=4))
def test_flipped_bytes_in_the_header_are_refused_or_harmless(flips: list[tuple[int, int]]) -> None:
    data = bytearray(SAVE)
    for place, flip in flips:
        data[place] ^= flip
    assert_refused_or_valid(bytes(data))


@settings(max_examples=examples(100))
@given(st.lists(st.tuples(st.integers(BODY, len(SAVE) - 1), st.integers(1, 255)), min_size=1, max_size=4))
def test_flipped_bytes_in_the_numbers_are_refused_or_harmless(flips: list[tuple[int, int]]) -> None:
    data = bytearray(SAVE)
    for place, flip in flips:
        data[place] ^= flip
    assert_refused_or_valid(bytes(data))


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text(max_size=5) | st.binary(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5) | st.integers(0, 9), inner, max_size=3)
    ),
    max_leaves=5,
)


@settings(max_examples=examples(200))
@given(st.sampled_from(sorted({*HEADER, *(f"state.{name}" for name in HEADER["state"])})), plain)
def test_any_value_in_the_header_is_refused_or_harmless(path: str, value: Any) -> None:
    assert_refused_or_valid(changed(path, value))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("seed", -1),
        ("seed", "-1"),
        ("seed", "f" * 33),
        ("zones", [1, 2]),
        ("zones", [2, 17]),
        ("zones", [2, 10**18]),
        ("burning", -1),
        ("burning", 2**63),
        ("creatures", -200),
        ("creatures", 2**64 - 1),
        ("next_id", 200),
        ("next_id", 2**40),
        ("kinds", {}),
        ("kinds", HEADER["kinds"] | {"land.ground": "int64"}),
        ("state.tick", -1),
        ("state.tick", 2**40),
        ("state.cities", {}),
        ("state.kingdoms", {}),
        ("state.cities.1.id", 2),
        ("state.cities.1.name", "long" * 100),
        ("state.cities.1.x", 128),
        ("state.cities.1.y", -1),
        ("state.cities.1.kingdom", 9),
        ("state.cities.1.besieger", 9),
        ("state.cities.1.radius", 10**6),
        ("state.cities.1.buildings", {"castle in the air": 1}),
        ("state.cities.1.food", 2**50),
        ("state.kingdoms.1.id", 0),
        ("state.kingdoms.1.name", "Two\nlines"),
        ("state.kingdoms.1.race", "sofa"),
        ("state.kingdoms.1.colour", -1),
        ("state.kingdoms.1.capital", 77),
        ("state.kingdoms.1.orders.rally", [-1, 3]),
        ("state.kingdoms.1.orders.settle", [3, 128]),
        ("state.wars.0.attacker", 8),
        ("state.wars.0.defender", 1),
        ("state.storms.0.kind", "frogs"),
        ("state.storms.0.x", 500),
        ("state.news.0.kind", "gossip"),
        ("state.tally.cities", 2),
        ("state.tally.kingdoms", 2),
        ("state.more", 1),
    ],
)
def test_an_inconsistent_header_is_refused(path: str, value: Any) -> None:
    with pytest.raises(GameRejected, match="is not a save of Kingdoms"):
        load(changed(path, value))


def put(layer: str, value: int) -> Callable[[Sim], None]:
    return lambda sim: getattr(sim.land, layer).__setitem__(17, value)


def give(column: str, value: int) -> Callable[[Sim], None]:
    return lambda sim: getattr(sim.creatures, column).__setitem__(17, value)


def burn(cell: int) -> Callable[[Sim], None]:
    return lambda sim: setattr(sim.land, "burning", np.array([cell]))


@pytest.mark.parametrize(
    "change",
    [
        put("chart", 20),
        put("ground", 255),
        put("top", 21),
        put("built", 10),
        put("city", 10),
        put("city", -1),
        put("grazed", -(2**31)),
        burn(128 * 128),
        burn(-1),
        give("id", 0),
        give("id", 17),
        give("id", 19),
        give("id", 2**62),
        give("species", -1),
        give("species", 2**15 - 1),
        give("kingdom", 4),
        give("city", 10),
        give("x", 128),
        give("y", -1),
        give("tx", 128),
        give("ty", -2),
        give("tx", 5),
        give("sex", 2),
        give("job", 99),
        give("effects", -1),
        give("born", 2**31 - 1),
        give("ready", 2**31 - 1),
    ],
)
def test_array_values_out_of_range_are_refused(change: Callable[[Sim], None]) -> None:
    sim = settled()
    change(sim)
    with pytest.raises(GameRejected, match="is not a save of Kingdoms"):
        load(dump(sim))


def test_a_small_save_cannot_allocate_much_memory() -> None:
    """Loading creates tables by id, so a huge id would allocate a huge table."""
    sim = Sim(1, Land(2, 2))
    sim.kingdoms = {2**28: Kingdom(2**28, "Far", "human", 0, 0)}
    sim.tally.kingdoms = 2**29
    with pytest.raises(GameRejected, match="a kingdom cannot have the id"):
        load(dump(sim))


@pytest.mark.parametrize(
    "before",
    [b"", b"\x81\xa4seed", b"\x81\xa5state\x81\xa6cities\x81\x01\x81\xa8whatever"],
    ids=["bare", "field", "city"],
)
def test_a_deeply_nested_header_is_refused(before: bytes) -> None:
    header = before + b"\x91" * 100_000
    with pytest.raises(GameRejected):
        load(MAGIC + len(header).to_bytes(4, "little") + header)


def test_a_list_with_a_huge_claimed_length_is_refused() -> None:
    for claim in (b"\xdd\xff\xff\xff\xff", b"\xdf\xff\xff\xff\xff", b"\xdb\xff\xff\xff\xff"):
        for field in (b"news", b"cities", b"laws"):
            state = b"\x81" + bytes([0xA0 + len(field)]) + field + claim
            header = b"\x81\xa5state" + state
            with pytest.raises(GameRejected):
                load(MAGIC + len(header).to_bytes(4, "little") + header)
