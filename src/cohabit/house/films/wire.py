"""The messages between a house and its film process: MessagePack, with the length before each message."""

import struct
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct

from cohabit.house.films.filming import Row, Watch
from cohabit.house.store.keyframes import Keyframe

LENGTH = struct.Struct("!I")
MAX_BYTES = 512 * 1024**2


class Begin(Struct, frozen=True, tag=True):
    """A new film."""

    watch: Watch
    source: str  # of the world
    features: list[str]  # to load, as in the settings
    keep: bool  # whether keyframes are of use


class Play(Struct, frozen=True, tag=True):
    """Replay these entries, from a keyframe if there is one."""

    rows: list[Row]
    start: Keyframe | None = None
    at: int | None = None  # a frame at the end, with this time
    prime: bool = False  # the frame at the end was shown before, and is left out
    each: int = 0  # or: a frame after every entry, until there are this many


class Played(Struct, frozen=True):
    """``frames`` are encoded as JSON."""

    seq: int  # the last entry that was replayed
    frames: list[tuple[int, bytes]] = []  # with their entries
    keyframes: list[Keyframe] = []
    code: str = ""  # of an error
    message: str = ""
    bad_start: bool = False  # the keyframe could not be used


Request = Begin | Play
requests = msgspec.msgpack.Decoder(Request)
replies = msgspec.msgpack.Decoder(Played)
_encode = msgspec.msgpack.Encoder().encode


def packed(message: Any) -> bytes:
    body = _encode(message)
    return LENGTH.pack(len(body)) + body


def read(take: Callable[[int], bytes]) -> bytes | None:
    """A message; None at the end. ``take`` reads this many bytes."""
    head = take(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (size,) = LENGTH.unpack(head)
    body = take(size)
    return body if len(body) == size else None
