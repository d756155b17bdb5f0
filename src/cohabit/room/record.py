"""The record: entries in order, each chained to the digest of the previous one; and snapshots."""

from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import TypeVar

import msgspec
from msgspec import Struct

from cohabit.errors import RecordCorrupt
from cohabit.model.record import Entry, decode_entry, encode_entry
from cohabit.room.state import RoomState

GENESIS = bytes(32)
"""The digest before the first entry."""


class Line(Struct, frozen=True, gc=False):
    """A stored entry: its exact bytes, and the chain digest up to and including it."""

    seq: int
    body: bytes
    digest: bytes
    entry: Entry


class Snapshot(Struct, frozen=True):
    """The state of a room after entry ``seq``, with the chain digest at that point."""

    seq: int
    digest: bytes
    at: int
    room: bytes  # the encoded RoomState (immutable)
    world: bytes

    @property
    def state(self) -> RoomState:
        """The state of the room; a new copy on each access."""
        return _read(self.room, RoomState)

    def encode(self) -> bytes:
        """The snapshot as bytes, prefixed with their digest."""
        body = _encode(self)
        return sha256(body).digest() + body

    @classmethod
    def decode(cls, data: bytes) -> "Snapshot":
        body = data[32:]
        if sha256(body).digest() != data[:32]:
            raise RecordCorrupt("a snapshot is damaged: its checksum does not match")
        return _read(body, cls)


_encode = msgspec.msgpack.Encoder().encode
_Kept = TypeVar("_Kept")


def _read(data: bytes, kind: type[_Kept]) -> _Kept:
    try:
        return msgspec.msgpack.decode(data, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as wrong:
        raise RecordCorrupt(f"a snapshot cannot be read: {wrong}") from None


def chained(previous: bytes, body: bytes) -> bytes:
    """The digest of an entry that follows ``previous``."""
    return sha256(previous + body).digest()


class Record:
    """The chain of one room: its head, the lines since the last snapshot, and the lines not yet stored."""

    def __init__(self, seq: int = -1, digest: bytes = GENESIS, at: int = 0) -> None:
        self.seq = seq
        self.digest = digest
        self.at = at
        self.tail: list[Line] = []
        self.pending: list[Line] = []
        self.pending_bytes = 0

    def append(self, entry: Entry) -> Line:
        body = encode_entry(entry)
        digest = self.digest = sha256(self.digest + body).digest()  # inlined `chained`
        seq = self.seq = entry.seq
        self.at = entry.at
        line = Line(seq, body, digest, entry)
        self.tail.append(line)
        self.pending.append(line)
        self.pending_bytes += len(body)
        return line

    def take_pending(self) -> list[Line]:
        """Return the lines that are not stored yet, and clear the list."""
        lines, self.pending, self.pending_bytes = self.pending, [], 0
        return lines


def read_lines(rows: Iterable[tuple[int, bytes, bytes]], seq: int, digest: bytes) -> Iterator[Line]:
    """Decode stored rows and verify the chain, which continues from ``digest`` at ``seq``."""
    for number, body, stored in rows:
        seq += 1
        digest = chained(digest, body)
        if number != seq or digest != stored:
            what = "is missing" if number != seq else "was changed"
            raise RecordCorrupt(f"the record is damaged: entry {seq} {what}", seq=seq)
        try:
            entry = decode_entry(body)
        except (msgspec.MsgspecError, UnicodeDecodeError) as wrong:
            raise RecordCorrupt(f"entry {seq} cannot be read: {wrong}", seq=seq) from None
        yield Line(number, body, digest, entry)
