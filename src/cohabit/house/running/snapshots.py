"""Decides when a room needs a snapshot: often enough to bound the replay at the next start, not so often that it costs
much."""

import logging

from cohabit.house.store.keyframes import Keyframes
from cohabit.room.record import Snapshot
from cohabit.room.room import Room

log = logging.getLogger("cohabit")
AFTER_CPU_S = 2.0
"""Take a snapshot after this much world CPU time."""
QUICK_REPLAY_CPU_S = 0.2
"""A replay since the last snapshot that takes longer is not quick. At shutdown, a snapshot is taken then."""
LARGE_BATCH = 64 * 1024
"""Bytes of a batch with which no snapshot is written, if that can wait: their replies would wait for it."""
MAX_TAIL_BYTES = 32 * 1024**2
"""The entries since the last snapshot stay in memory. With more bytes, the next one is due, however few they are."""
MAX_DELAY = 3
"""A snapshot waits for a smaller batch during at most this many times the entries between two snapshots."""


class KeyframeSchedule:
    """Keyframes of a running room, so that its past is quickly reached when somebody wants to see it. A snapshot is
    taken where the world runs; it is compressed and written elsewhere."""

    def __init__(self, room: Room, keyframes: Keyframes) -> None:
        self._room = room
        self._keyframes = keyframes
        self._cost_ms: float | None = None  # CPU time since the beginning of the record
        self._last_ms = 0.0

    def add_cpu(self, seconds: float) -> None:
        """Count CPU time of the world, and take a keyframe if one is due. Called where the world runs."""
        if not self._keyframes.are_kept:
            return
        if self._cost_ms is None:
            self._cost_ms = self._last_ms = self._keyframes.cost_ms(self._room.id)
        self._cost_ms += seconds * 1000
        if self._cost_ms - self._last_ms < self._keyframes.every_ms(self._room.id):
            return
        self._last_ms = self._cost_ms
        try:
            self._keyframes.add_later(self._room.id, self._room.snapshot(), int(self._cost_ms))
        except Exception:
            log.exception("room %s: keyframe failed", self._room.id)


class SnapshotSchedule:
    """A snapshot is due after ``every`` entries, but only once they have as many bytes as the last snapshot. So large
    rooms are not copied too often. A world that computes for long is due earlier. While much is being written, a
    snapshot waits for a quieter moment."""

    def __init__(self, room: Room, every: int) -> None:
        self._room = room
        self._every = every
        self._last_seq = room.record.seq - len(room.record.tail)
        self._last_bytes = 0
        self._written = 0  # bytes of the entries since then, up to _counted_seq
        self._counted_seq = self._last_seq
        self._tail_bytes = sum([len(line.body) for line in room.record.tail])
        self._cpu_s = 0.0  # world CPU time since the last snapshot
        self._cpu_is_known = len(room.record.tail) <= 1  # not if the room was restored with entries after its snapshot
        self.next_seq = self._last_seq + every
        """One may be due from this entry on. The runner compares it, so most batches need no call."""

    def add_cpu(self, seconds: float) -> None:
        """Count CPU time of the world, which a replay would need again."""
        self._cpu_s += seconds
        if self._cpu_s >= AFTER_CPU_S:
            self.next_seq = self._last_seq

    def add_bytes(self, size: int) -> None:
        """Count the bytes of new entries."""
        self._tail_bytes += size
        if self._tail_is_full:
            self.next_seq = self._last_seq

    @property
    def _tail_is_full(self) -> bool:
        return self._tail_bytes >= max(MAX_TAIL_BYTES, self._last_bytes)

    def take_if_due(self, batch_bytes: int = 0) -> Snapshot | None:
        """A snapshot of the room if one is due, else None. ``batch_bytes``: of the entries that it is written with."""
        record = self._room.record
        may_wait = not self._tail_is_full and record.seq < self.next_seq + self._every * MAX_DELAY
        if batch_bytes > LARGE_BATCH and may_wait:
            return None
        self.next_seq = record.seq + self._every
        if self._cpu_s < AFTER_CPU_S:
            new = max(0, record.seq - self._counted_seq)  # the tail ends with the last entry and has no gaps
            self._written += sum([len(line.body) for line in record.tail[len(record.tail) - new :]])
            self._counted_seq = record.seq
            if self._written < self._last_bytes:
                return None
        try:
            snapshot = self._room.snapshot()
        except Exception:
            log.exception("room %s: snapshot failed", self._room.id)
            return None
        self._last_seq = self._counted_seq = snapshot.seq
        self._written = self._tail_bytes = 0
        self._last_bytes = len(snapshot.room) + len(snapshot.world)
        self._cpu_s, self._cpu_is_known = 0.0, True
        return snapshot

    @property
    def due_at_close(self) -> bool:
        """True if the next start would be slow without a snapshot."""
        return self._cpu_s >= QUICK_REPLAY_CPU_S

    @property
    def replay_is_quick(self) -> bool:
        """True if the entries since the last snapshot can be replayed in a moment."""
        return self._cpu_is_known and self._cpu_s < QUICK_REPLAY_CPU_S
