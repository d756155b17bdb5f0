"""Saves of a world: what is in one, so that another room can take it up."""

import zlib
from collections.abc import Mapping
from hashlib import sha256

import msgspec
from msgspec import Struct

from cohabit.errors import CohabitError, GameRejected
from cohabit.world import World

MAGIC = b"COHABIT-SAVE\n"
MAX_UNPACKED = 256 * 1024 * 1024
"""What a save may unpack to."""


class Save(Struct):
    """The whole file, after the magic."""

    world: str
    version: int
    sha256: bytes  # of the body as it is here
    compressed: bool
    body: bytes
    game: str = ""  # see RoomState
    played: dict[str, str] = {}  # by identity: the seat it had taken in this game


_decode = msgspec.msgpack.Decoder(Save).decode


def pack(world: World, compress: bool = True, game: str = "", played: Mapping[str, str] | None = None) -> bytes:
    """A world as the bytes of a save. ``played``: who has taken which seat, and so knows what it knows."""
    body = world.save()
    if compress:
        body = zlib.compress(body, 6)
    save = Save(world.spec.name, world.spec.version, sha256(body).digest(), compress, body, game, dict(played or {}))
    return MAGIC + msgspec.msgpack.encode(save)


def load(world: World, data: bytes) -> Save:
    """Let a world load a save. GAME_REJECTED if it cannot, and nothing has changed."""
    save, body = _unpacked(world, data)
    before = world.snapshot()
    try:
        world.load(body)
    except CohabitError:
        raise
    except Exception as wrong:  # what a decoder may raise for bytes that are not its own
        world.restore(before)
        raise GameRejected(f"this is not a save of {world.spec.name}: {type(wrong).__name__}") from None
    return save


def _unpacked(world: World, data: bytes) -> tuple[Save, bytes]:
    try:
        if not data.startswith(MAGIC):
            raise ValueError("it does not begin like one")
        save = _decode(data[len(MAGIC) :])
        if sha256(save.body).digest() != save.sha256:
            raise ValueError("it is damaged")
        body = _inflated(save.body) if save.compressed else save.body
    except (ValueError, zlib.error) as wrong:  # msgspec's errors are ValueErrors
        raise GameRejected(f"this is not a save: {wrong}") from None
    spec = world.spec
    if (save.world, save.version) != (spec.name, spec.version):
        raise GameRejected(
            f"this is a save of {save.world} {save.version}, and this room plays {spec.name} {spec.version}"
        )
    return save, body


def _inflated(body: bytes) -> bytes:
    inflater = zlib.decompressobj()
    whole = inflater.decompress(body, MAX_UNPACKED)
    if not inflater.eof:
        raise ValueError("it is cut off, or too large")
    return whole
