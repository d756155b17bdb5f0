"""Saves: a world as bytes, and back. Loading is exact, and safe for bytes from any source.

::

    "cohabit kingdoms" 5          magic bytes, and the version of the format
    length of the header          four bytes; all numbers are little-endian
    header                        msgpack: everything that is not an array
    land layers, burning cells, creature columns
                                  raw numbers, as many as the header says

Nothing is compressed, so the size is checked against the header before any memory is allocated.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta, Struct
from msgspec.structs import fields
from numpy.typing import NDArray

from cohabit.errors import GameRejected
from cohabit.worlds.kingdoms.chance import Chance
from cohabit.worlds.kingdoms.creatures import COLUMNS
from cohabit.worlds.kingdoms.invariants import first_violation
from cohabit.worlds.kingdoms.land import LAYERS, ZONE, Land
from cohabit.worlds.kingdoms.sim import City, Kingdom, News, Sim, Storm, Tally, War

MAGIC = b"cohabit kingdoms\x05"
_LENGTH = 4
_ZONES = range(2, 17)
_BURNING = np.dtype(np.int64).newbyteorder("<")


class State(Struct, forbid_unknown_fields=True):
    """The attributes of a Sim that are neither arrays nor derived from others."""

    tick: int
    cities: dict[int, City]
    kingdoms: dict[int, Kingdom]
    wars: list[War]
    opinions: dict[tuple[int, int], int]
    storms: list[Storm]
    laws: dict[str, bool]
    casts: dict[int, int]
    tally: Tally
    news: list[News]
    pending_news: list[News]


class Header(Struct, forbid_unknown_fields=True):
    """Everything that is not an array, and the lengths and types of the arrays."""

    seed: Annotated[str, Meta(pattern="^[0-9a-f]{1,32}$")]  # 128 bits do not fit an integer of the format
    dice: Annotated[str, Meta(pattern="^[0-9a-f]{1,32}$")]
    zones: tuple[int, int]
    burning: int
    creatures: int
    next_id: int
    kinds: dict[str, str]
    state: State


def dump(sim: Sim) -> bytes:
    """The world as bytes. Equal worlds give equal bytes."""
    land, creatures = sim.land, sim.creatures
    header = Header(
        seed=f"{sim.seed:x}",
        dice=f"{sim.chance.dice:x}",
        zones=(land.width // ZONE, land.height // ZONE),
        burning=len(land.burning),
        creatures=creatures.n,
        next_id=creatures.next_id,
        kinds=_kinds(),
        state=State(**{field.name: getattr(sim, field.name) for field in fields(State)}),
    )
    written = msgspec.msgpack.encode(header)
    arrays = (*land.layers().values(), land.burning, *creatures.columns().values())
    numbers = (array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes() for array in arrays)
    return b"".join((MAGIC, len(written).to_bytes(_LENGTH, "little"), written, *numbers))


def load(data: bytes) -> Sim:
    """The world that ``dump`` wrote. Raises GameRejected for anything else, with the reason."""
    header, start = _header(data)
    if len(data) - start != _arrays_size(header):
        raise _refused(f"it should have {_arrays_size(header)} bytes after its header, but has {len(data) - start}")
    sim = _built(header, _arrays(data, start, header))
    violation = first_violation(sim)
    if violation:
        raise _refused(violation)
    sim.refresh()
    return sim


def _header(data: bytes) -> tuple[Header, int]:
    """The header, and the offset of the arrays."""
    start = len(MAGIC) + _LENGTH
    if len(data) < start or not data.startswith(MAGIC):
        raise _refused("it does not start with the magic bytes of this version")
    end = start + int.from_bytes(data[len(MAGIC) : start], "little")
    if len(data) < end:
        raise _refused("it is cut off within its header")
    try:
        header = msgspec.msgpack.decode(data[start:end], type=Header)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise _refused(f"its header cannot be read ({error})") from None
    if header.kinds != _kinds():
        raise _refused("its columns are from another version")
    if not all(zones in _ZONES for zones in header.zones):
        raise _refused("a map must have 2 to 16 zones on a side")
    if header.burning < 0 or header.creatures < 0:
        raise _refused("it has negative counts")
    return header, end


def _built(header: Header, arrays: Mapping[str, NDArray[Any]]) -> Sim:
    land = Land(*header.zones)
    for name in LAYERS:
        getattr(land, name)[:] = arrays[f"land.{name}"]
    land.burning = arrays["burning"].astype(np.int64)
    sim = Sim(int(header.seed, 16), land)
    sim.chance = Chance(sim.seed, int(header.dice, 16))
    sim.creatures.add(header.creatures, {name: arrays[f"creatures.{name}"] for name in COLUMNS})
    sim.creatures.id[:] = arrays["creatures.id"]
    sim.creatures.next_id = header.next_id
    for field in fields(State):
        setattr(sim, field.name, getattr(header.state, field.name))
    return sim


def _layout(header: Header) -> Iterator[tuple[str, np.dtype[Any], int]]:
    """Name, type and length of every array, in order."""
    cells = header.zones[0] * header.zones[1] * ZONE * ZONE
    for name, kind in LAYERS.items():
        yield f"land.{name}", np.dtype(kind).newbyteorder("<"), cells
    yield "burning", _BURNING, header.burning
    for name, kind in COLUMNS.items():
        yield f"creatures.{name}", np.dtype(kind).newbyteorder("<"), header.creatures


def _arrays_size(header: Header) -> int:
    """The size of all arrays in bytes."""
    return sum(kind.itemsize * length for _, kind, length in _layout(header))


def _arrays(data: bytes, start: int, header: Header) -> dict[str, NDArray[Any]]:
    arrays = {}
    for name, kind, length in _layout(header):
        arrays[name] = np.frombuffer(data, kind, length, start)
        start += kind.itemsize * length
    return arrays


def _kinds() -> dict[str, str]:
    """The number type of every layer and column, to recognise saves with other columns."""
    layers = {f"land.{name}": np.dtype(kind).name for name, kind in LAYERS.items()}
    return layers | {f"creatures.{name}": np.dtype(kind).name for name, kind in COLUMNS.items()}


def _refused(why: str) -> GameRejected:
    return GameRejected(f"this is not a save of Kingdoms: {why}")
