"""Keyframes: snapshots of rooms beside their records, so that any point of a record is quickly reached.

``keyframes/ROOM/SEQ-COST-DIGEST`` in the data folder has the state after entry SEQ, which the record reaches with this
digest of its chain; COST is the CPU time, in ms, that a replay needs until there. Keyframes follow from the record, so
they can be deleted at any time, and one that is damaged, or of another record, is deleted when it is read. They are
spaced by CPU time. When those of a room have more bytes than ``MAX_BYTES``, every second one is deleted and the
distance is doubled: so they are spread over the whole record, however long it is.
"""

import os
import re
import shutil
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from threading import Lock

from msgspec import Struct

from cohabit.errors import CohabitError
from cohabit.house.store.contract import Store
from cohabit.house.threads import Worker
from cohabit.room.record import Snapshot

EVERY_MS = 200
"""CPU time between two keyframes, at first."""
MAX_BYTES = 64 * 1024**2
"""Of all keyframes of a room."""
MAX_QUEUED = 4
"""Keyframes of running rooms that wait to be written; more are left out."""
MAX_KEYFRAME = 16 * 1024**2
"""A larger one is not kept: it takes as long to read as to replay."""
FOLDER = "keyframes"
_NAME = re.compile(r"(\d{1,15})-(\d{1,15})-([0-9a-f]{64})")


class Keyframe(Struct, frozen=True):
    """The state of a room after entry ``seq``, compressed."""

    seq: int
    cost_ms: int
    digest: bytes
    data: bytes

    @classmethod
    def of(cls, snapshot: Snapshot, cost_ms: int) -> "Keyframe":
        return cls(snapshot.seq, cost_ms, snapshot.digest, zlib.compress(snapshot.encode(), 1))

    def snapshot(self) -> Snapshot | None:
        """None if it is damaged, or not what its name says."""
        try:
            found = Snapshot.decode(zlib.decompress(self.data))
        except (zlib.error, CohabitError):
            return None
        return found if (found.seq, found.digest) == (self.seq, self.digest) else None


class Place(Struct, frozen=True, order=True):
    """A stored keyframe."""

    seq: int
    cost_ms: int
    digest: bytes
    bytes: int

    @property
    def name(self) -> str:
        return f"{self.seq}-{self.cost_ms}-{self.digest.hex()}"


class Keyframes:
    """The keyframes of all rooms. ``folder``: of the house; without one nothing is kept. All methods may use the disk:
    call them off the event loop. Several processes may use the same folder."""

    def __init__(self, folder: Path | None, max_bytes: int = MAX_BYTES) -> None:
        self._folder = folder / FOLDER if folder is not None else None
        self._max_bytes = max_bytes
        self._lock = Lock()
        self._kept: dict[str, list[Place]] = {}  # what was found, and added by this process
        self._forgotten: dict[str, int] = {}  # how often
        self._writer: Worker | None = None
        self._queued = 0

    @property
    def are_kept(self) -> bool:
        return self._folder is not None

    def places(self, room: str) -> list[Place]:
        """The keyframes of a room, by entry."""
        if self._folder is None:
            return []
        found = []
        with suppress(OSError), os.scandir(self._folder / room) as files:
            for file in files:
                if named := _NAME.fullmatch(file.name):
                    with suppress(OSError):  # deleted meanwhile
                        place = Place(int(named[1]), int(named[2]), bytes.fromhex(named[3]), file.stat().st_size)
                        found.append(place)
        return sorted(found)

    def before(self, room: str, seq: int, digest_at: Callable[[int], bytes | None]) -> Keyframe | None:
        """The last readable keyframe at or before an entry. ``digest_at``: of the record; others are deleted."""
        for place in reversed(self.places(room)):
            if place.seq > seq:
                continue
            made = self._read(room, place) if digest_at(place.seq) == place.digest else None
            if made is not None and made.snapshot() is not None:
                return made
            self.drop(room, place.seq)
        return None

    def at(self, room: str, seq: int) -> Keyframe | None:
        """The keyframe at an entry."""
        return next((self._read(room, place) for place in self.places(room) if place.seq == seq), None)

    def _read(self, room: str, place: Place) -> Keyframe | None:
        assert self._folder is not None
        try:
            return Keyframe(place.seq, place.cost_ms, place.digest, (self._folder / room / place.name).read_bytes())
        except OSError:
            return None

    def cost_ms(self, room: str) -> int:
        """The CPU time until the last keyframe of a room."""
        return max((place.cost_ms for place in self.places(room)), default=0)

    def every_ms(self, room: str) -> int:
        """The CPU time between two keyframes of a room now."""
        with self._lock:
            return _distance(self._kept.get(room, ()))

    def add_later(self, room: str, snapshot: Snapshot, cost_ms: int) -> None:
        """Keep a keyframe of a running room, without letting the room wait for the disk."""
        with self._lock:
            if self._folder is None or self._queued >= MAX_QUEUED:
                return
            self._queued += 1
            self._writer = self._writer or Worker("keyframes")
            was = self._forgotten.get(room, 0)
        self._writer.submit(lambda: self._add_queued(room, snapshot, cost_ms, was))

    def _add_queued(self, room: str, snapshot: Snapshot, cost_ms: int, was: int) -> None:
        made = Keyframe.of(snapshot, cost_ms)
        self.add(room, made, was)
        with self._lock:
            self._queued -= 1

    def forgotten(self, room: str) -> int:
        """The number of times that the keyframes of a room were forgotten. What was read of its record before is of no
        use then."""
        return self._forgotten.get(room, 0)

    def add(self, room: str, made: Keyframe, forgotten: int | None = None) -> None:
        """Keep a keyframe, unless another one is near. ``forgotten``: as it was when the record was read."""
        if self._folder is None or len(made.data) > MAX_KEYFRAME:
            return
        with self._lock, suppress(OSError):  # a full disk: the record is what counts
            if forgotten is not None and forgotten != self._forgotten.get(room, 0):
                return
            kept = self._kept.get(room)
            if kept is None:
                kept = self._kept[room] = self.places(room)
            if any(abs(place.cost_ms - made.cost_ms) < _distance(kept) // 2 or place.seq == made.seq for place in kept):
                return
            self._write(room, made)
            kept.append(Place(made.seq, made.cost_ms, made.digest, len(made.data)))
            kept.sort()
            if sum(place.bytes for place in kept) > self._max_bytes:
                self._kept[room] = self._thinned(room)

    def _write(self, room: str, made: Keyframe) -> None:
        assert self._folder is not None
        folder = self._folder / room
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        name = Place(made.seq, made.cost_ms, made.digest, 0).name
        part = folder / f"{name}.{os.getpid()}.part"
        try:
            with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(made.data)
            part.replace(folder / name)
        finally:
            part.unlink(missing_ok=True)

    def _thinned(self, room: str) -> list[Place]:
        """Delete keyframes until half of the bytes are left."""
        assert self._folder is not None
        kept = self.places(room)
        while len(kept) > 1 and sum(place.bytes for place in kept) > self._max_bytes // 2:
            distance, last, left = 2 * _distance(kept), -1, []
            for place in kept:
                if last < 0 or place.cost_ms - last >= distance:
                    left.append(place)
                    last = place.cost_ms
            if len(left) == len(kept):
                left = kept[::2]
            for place in set(kept) - set(left):
                (self._folder / room / place.name).unlink(missing_ok=True)
            kept = left
        return kept

    def drop(self, room: str, seq: int) -> None:
        """Delete the keyframes at an entry: they are damaged, or belong to another record."""
        with self._lock:
            for place in self.places(room):
                if place.seq == seq and self._folder is not None:
                    with suppress(OSError):
                        (self._folder / room / place.name).unlink(missing_ok=True)
            self._kept.pop(room, None)

    def forget(self, room: str) -> None:
        """Delete all keyframes of a room: it was deleted, or its record is written again."""
        if self._folder is not None:
            with self._lock:
                shutil.rmtree(self._folder / room, ignore_errors=True)
                self._kept.pop(room, None)
                self._forgotten[room] = self._forgotten.get(room, 0) + 1

    def sweep(self, store: Store) -> None:
        """Delete the keyframes of rooms that are gone, or whose records were written again: by a process that was
        stopped in between, or in another house of the cluster."""
        if self._folder is None or not self._folder.is_dir():
            return
        for room in sorted(os.listdir(self._folder)):
            head = store.head(room)
            newest = next((place for place in reversed(self.places(room)) if place.seq <= head), None)
            if head < 0 or (newest is not None and digest_at(store, room, newest.seq) != newest.digest):
                self.forget(room)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


def digest_at(store: Store, room: str, seq: int) -> bytes | None:
    """The digest of the chain up to an entry; None if there is none of this number."""
    row = next(iter(store.lines(room, seq - 1, 1)), None)
    return row[2] if row is not None and row[0] == seq else None


def _distance(kept: Sequence[Place]) -> int:
    """``EVERY_MS``, doubled as often as the keyframes are thinned: as most of them are apart."""
    gaps = sorted(after.cost_ms - before.cost_ms for before, after in pairwise(kept))
    usual, distance = gaps[len(gaps) // 2] if gaps else 0, EVERY_MS
    while usual >= 2 * distance:
        distance *= 2
    return distance
