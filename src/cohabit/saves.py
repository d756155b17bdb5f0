"""World saves: the file format."""

import zlib
from collections.abc import Mapping
from hashlib import sha256

import msgspec
from msgspec import Struct

from cohabit.errors import CohabitError, GameRejected
from cohabit.world import World

MAGIC = b"COHABIT-SAVE\n"
MAX_UNPACKED = 256 * 1024 * 1024
"""Maximum uncompressed size."""


class Save(Struct):
    """The file content after the magic bytes."""

    world: str
    version: int
    sha256: bytes  # of the body as stored
    compressed: bool
    body: bytes
    game: str = ""  # see RoomState
    played: dict[str, str] = {}  # identity to the seat it took in this game
    seq: int = -1  # the last entry of the record before the save


_decode = msgspec.msgpack.Decoder(Save).decode


def pack(
    world: World, compress: bool = True, game: str = "", played: Mapping[str, str] | None = None, seq: int = -1
) -> bytes:
    """Encode a world as a save. ``played``: identity to the seat it took, whose hidden information it has seen."""
    body = world.save()
    if compress:
        body = zlib.compress(body, 6)
    spec, digest = world.spec, sha256(body).digest()
    save = Save(spec.name, spec.version, digest, compress, body, game, dict(played or {}), seq)
    return MAGIC + msgspec.msgpack.encode(save)


def read(data: bytes) -> Save:
    """A save whose content is not checked yet."""
    try:
        if not data.startswith(MAGIC):
            raise ValueError("the file header is wrong")
        return _decode(data[len(MAGIC) :])
    except ValueError as wrong:  # msgspec's errors are ValueErrors
        raise GameRejected(f"this is not a Cohabit save file: {wrong}") from None


def load(world: World, data: bytes) -> Save:
    """Load a save into a world. Raises GAME_REJECTED, without changes, if it is invalid."""
    save, body = _unpacked(world, data)
    before = world.snapshot()
    try:
        world.load(body)
    except CohabitError:
        raise
    except Exception as wrong:  # whatever a decoder raises for foreign bytes
        world.restore(before)
        raise GameRejected(f"this is not a save of {world.spec.name}: {type(wrong).__name__}") from None
    return save


def _unpacked(world: World, data: bytes) -> tuple[Save, bytes]:
    save = read(data)
    try:
        if sha256(save.body).digest() != save.sha256:
            raise ValueError("it is damaged")
        body = _inflated(save.body) if save.compressed else save.body
    except (ValueError, zlib.error) as wrong:
        raise GameRejected(f"this is not a Cohabit save file: {wrong}") from None
    spec = world.spec
    if (save.world, save.version) != (spec.name, spec.version):
        raise GameRejected(
            f"this save is for {save.world} version {save.version}, "
            f"but this room runs {spec.name} version {spec.version}"
        )
    return save, body


def _inflated(body: bytes) -> bytes:
    inflater = zlib.decompressobj()
    whole = inflater.decompress(body, MAX_UNPACKED)
    if not inflater.eof:
        raise ValueError("it is truncated or too large")
    return whole
