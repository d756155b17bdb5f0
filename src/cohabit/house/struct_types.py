"""msgspec builds its knowledge of a type when the type is first used. Two threads that do so at the same time crash the
process (msgspec up to 0.22), so a house does it at its start, for every type that is loaded by then."""

from collections.abc import Iterator
from contextlib import suppress

import msgspec
from msgspec import Struct

_built: set[type] = set()


def build_struct_types() -> None:
    """Call it before there are threads. Again, it does only what is new."""
    for kind in _below(Struct):
        if kind not in _built:
            _built.add(kind)
            with suppress(TypeError, NameError):  # one that is never decoded
                msgspec.msgpack.Decoder(kind)


def _below(kind: type) -> Iterator[type]:
    below: list[type] = kind.__subclasses__()
    for each in below:
        yield each
        yield from _below(each)
