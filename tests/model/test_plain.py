"""What a world can store as its state, and that it is restored exactly."""

import os
import subprocess
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass, field
from datetime import date
from enum import IntEnum
from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.model.plain import dump, load
from cohabit.model.stream import Stream


@dataclass
class Heap:
    stones: int
    owners: list[Any] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Card:
    suit: str
    rank: Any


class Unit(msgspec.Struct, frozen=True):
    name: str
    place: tuple[Any, ...] = ()


class Doubling(msgspec.Struct):
    n: int

    def __post_init__(self) -> None:
        self.n *= 2


class Point(NamedTuple):
    x: int
    y: int


class Colour(IntEnum):
    RED = 1


CLASSES: dict[str, type] = {"Heap": Heap, "Card": Card, "Unit": Unit, "Doubling": Doubling}

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(2**200), 2**200)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.sampled_from(["$t", "$d", "$c", "$"])
    | st.binary()
)
keys = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=4)
streams = st.builds(Stream, st.integers(), st.text(), st.integers(0, 2**64 - 1))
values = st.recursive(
    scalars | streams,
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(st.text() | st.sampled_from(["$t", "$d"]), inner)
        | st.dictionaries(keys, inner)
        | st.builds(Heap, st.integers(), st.lists(inner))
        | st.builds(Card, st.text(), inner)
        | st.builds(Unit, st.text(), st.lists(inner).map(tuple))
    ),
    max_leaves=25,
)


def spelled(value: Any) -> str:
    """repr distinguishes 1, 1.0 and True, -0.0 and 0.0, tuples and lists, and the order of a dict."""
    return repr(value)


@given(values)
def test_every_plain_value_is_restored_exactly(value: Any) -> None:
    data = dump(value)
    back = load(data, CLASSES)
    assert spelled(back) == spelled(value)
    assert back == value
    assert dump(back) == dump(value) == data


@given(values)
def test_dumping_does_not_change_the_value(value: Any) -> None:
    before = spelled(value)
    dump(value)
    assert spelled(value) == before


def test_the_bytes_have_this_format() -> None:
    state = {
        "heaps": [3, 5],
        "at": (1, 2),
        7: True,
        "deck": Stream(1, "deck"),
        "big": 2**64,
        "card": Card("♠", 1.0),
    }
    assert dump(state).decode() == (
        '{"$d":[["heaps","at",7,"deck","big","card"],[[3,5],{"$t":[1,2]},true,{"$s":[1,"deck",0]},'
        '{"$i":"10000000000000000"},{"$c":["Card",{"suit":"♠","rank":1.0}]}]]}'
    )
    assert dump({"a": [1, 2], "b": "c"}) == b'{"a":[1,2],"b":"c"}'


def test_a_restored_stream_continues_from_its_counter() -> None:
    stream = Stream(9, "dice")
    for _ in range(11):
        stream.below(6)
    back = load(dump({"dice": stream}))["dice"]
    assert [back.below(6) for _ in range(20)] == [stream.below(6) for _ in range(20)]


def test_an_instance_is_restored_without_its_post_init_changing_it() -> None:
    assert load(dump(Doubling(3)), CLASSES).n == 6


def test_the_bytes_do_not_depend_on_the_hash_seed() -> None:
    program = (
        "import sys; from cohabit.model.plain import dump; from cohabit.model.stream import Stream\n"
        "state = {'b': {(1, 'x'): b'y', None: 2**80}, 'a': [1, 'z', 0.1], 's': Stream(1, 'd')}\n"
        "sys.stdout.buffer.write(dump(state))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert len(outputs) == 1
    assert outputs != {b""}


def with_extra() -> Heap:
    heap = Heap(1)
    heap.colour = "red"  # type: ignore[attr-defined]
    return heap


def without_field() -> Heap:
    heap = Heap(1)
    del heap.stones
    return heap


@pytest.mark.parametrize(
    ("invalid", "advice"),
    [
        ({1, 2}, "use a list, or a dict with None values"),
        (frozenset("a"), "use a list, or a dict with None values"),
        (float("nan"), "not a finite number"),
        (float("-inf"), "not a finite number"),
        (print, "code, not state"),
        (lambda: None, "code, not state"),
        (Heap, "code, not state"),
        (object(), "not plain"),
        (date(2020, 1, 1), "not plain"),
        (bytearray(b"x"), "use bytes"),
        (defaultdict(int), "plain dict"),
        (OrderedDict(), "plain dict"),
        (Counter("a"), "plain dict"),
        (deque([1]), "not plain"),
        (Point(1, 2), "plain tuple"),
        (Colour.RED, "use Colour.RED.value"),
        ("\ud800", "surrogate"),
        (with_extra(), "attribute 'colour'"),
        (without_field(), "no value for its field 'stones'"),
    ],
)
def test_a_value_that_is_not_plain_is_refused_with_its_path_and_what_to_use_instead(invalid: Any, advice: str) -> None:
    with pytest.raises(TypeError, match=advice) as refusal:
        dump({"units": [Unit("a"), Unit("b", (0, {5: invalid}))]})
    assert str(refusal.value).startswith("state['units'][1].place[1][5]: ")


def test_the_path_of_an_attribute_is_written_as_in_python() -> None:
    with pytest.raises(TypeError, match=r"^state\.owners\[2\]: a set "):
        dump(Heap(1, [0, 1, set()]))


def test_a_key_that_is_not_plain_is_refused() -> None:
    with pytest.raises(TypeError, match=r"^state key \(1, frozenset\(\)\)\[1\]: "):
        dump({(1, frozenset()): 1})


def test_a_state_that_contains_itself_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(TypeError, match="contains itself"):
        dump(loop)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b'{"$x":1}',
        b'{"$t":1}',
        b'{"$d":[[1],[]]}',
        b'{"$d":[[[1]],[2]]}',
        b'{"$i":"g"}',
        b'{"$b":"?"}',
        b'{"$s":[1]}',
        b'{"$c":["Card",{"suit":1}]}',
        b'{"$c":["Nobody",{}]}',
        b'{"$c":[["Card"],{}]}',
        b"[" * 100_000,
    ],
)
def test_damaged_bytes_raise_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        load(data, CLASSES)
