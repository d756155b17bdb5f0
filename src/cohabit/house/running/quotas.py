"""Storage quotas: how much the members of a room add to its record, how much of that waits for the disk, and how large
the record is.

The runner counts bytes as entries are stored and reports them from time to time. The size of the whole record is
measured only in a room that has written much since the start, because that reads all of it.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from cohabit.errors import CohabitError
from cohabit.house.overload import OverloadLog
from cohabit.house.settings import Settings
from cohabit.house.threads import run_in_thread
from cohabit.model.grant import Capability
from cohabit.model.refusals import Refusal
from cohabit.room.decision import ALLOWED, Decision
from cohabit.room.record import Line
from cohabit.room.room import Room
from cohabit.room.state import Member

log = logging.getLogger("cohabit")
HOUR_MS = 3_600_000
MANAGING = frozenset((Capability.MANAGE_MEMBERS, Capability.CONTROL_WORLD))
REPORT_EVERY = 256 * 1024
"""The runner reports after this many bytes, or earlier if a quota is small."""
MEASURE_AFTER = 16 * 1024 * 1024
"""The record is measured after this many bytes, or earlier if its limit is small."""
FAIR_BYTES = 1024 * 1024
"""Bytes that the members of a room may have waiting for the disk, in equal parts. Every reply waits for all of them."""


class StorageQuota:
    """Limits the bytes that each member may add to the record per hour, and the size of the record.

    ``exceeded`` is a quick check: if it is False, nothing is refused.
    """

    def __init__(self) -> None:
        self.per_hour = 0  # by each member; 0: no limit
        self.full = ""  # why nothing more may be added
        self.exceeded = False
        self._hour = -1
        self._written: dict[str, int] = {}

    def add(self, member: str, size: int, at: int) -> None:
        """Count what a member has added."""
        if at // HOUR_MS != self._hour:
            self._hour = at // HOUR_MS
            self._written = {}
            self.exceeded = bool(self.full)
        written = self._written[member] = self._written.get(member, 0) + size
        if self.per_hour and written > self.per_hour:
            self.exceeded = True

    def set_full(self, reason: str) -> None:
        """Refuse to add anything, except to members who can do something about it; an empty reason allows it again."""
        self.full = reason
        self.exceeded = bool(reason) or self.exceeded

    def decide(self, member: Member, category: str, at: int) -> Decision:
        """True if the member may run a command of this category, which adds to the record."""
        if self.full and not (category in ("host", "control") and member.held & MANAGING):
            return Decision("TOO_LARGE", self.full)
        if self._written.get(member.id, 0) > self.per_hour > 0 and at // HOUR_MS == self._hour:
            return Decision("BUSY", self.reason)
        return ALLOWED

    @property
    def reason(self) -> str:
        return f"you have written more than {self.per_hour} bytes to this room this hour; try again in the next hour"


class WriteShares:
    """The bytes of each member that wait to be written for a room. It is counted only when asked for."""

    def __init__(self) -> None:
        self.writing: Sequence[Line] = ()  # the batch that is being written, set by the runner
        self.by_member: dict[str | None, int] | None = None  # the runner sets it to None when the batch changes
        self._pending: int  # how many pending lines are counted, once it was asked for

    def is_used_up(self, member: str, pending: Sequence[Line]) -> bool:
        """True if a member has its part of ``FAIR_BYTES`` waiting. A member without any may always add an entry."""
        if self.by_member is None:
            self.by_member, self._pending = {}, 0
            self._count(self.by_member, self.writing)
        by_member = self.by_member
        self._count(by_member, pending[self._pending :])
        self._pending = len(pending)
        return by_member.get(member, 0) * len(by_member) >= FAIR_BYTES

    @staticmethod
    def _count(by_member: dict[str | None, int], lines: Sequence[Line]) -> None:
        for line in lines:
            by_member[line.entry.by] = by_member.get(line.entry.by, 0) + len(line.body)


class RoomQuotas:
    """The storage quotas of one room."""

    def __init__(
        self,
        room: Room,
        settings: Settings,
        size_of: Callable[[str], int],
        now: Callable[[], int],
        overload: OverloadLog,
    ) -> None:
        self.quota = StorageQuota()
        self.quota.per_hour = settings.member_bytes_per_hour
        self._room = room
        self._limit = settings.room_bytes
        self._size_of = size_of
        self._now = now
        self._overload = overload
        self._size: int | None = None  # of the record; None: not measured yet
        self._written = 0  # since the start, or since the last measurement of a full record
        self._measuring: asyncio.Future[None] | None = None
        self._counted: dict[int, int] = {}  # how often a refusal was counted, by id
        self._stored: dict[str, int] = {}  # bytes by member since the last report
        self._stored_bytes = 0
        limits = [limit for limit in (settings.member_bytes_per_hour, settings.room_bytes) if limit]
        self.report_every = min(REPORT_EVERY, *(limit // 16 for limit in limits))

    def count(self, lines: Sequence[Line]) -> int:
        """Count the bytes of a batch, and report them when they are many. Returns the bytes of the batch."""
        stored, total = self._stored, 0
        for line in lines:
            size, by = len(line.body), line.entry.by
            total += size
            if by is not None:
                stored[by] = stored.get(by, 0) + size
        self._stored_bytes += total
        if self._stored_bytes >= self.report_every:
            self.stored(stored, self._stored_bytes)
            self._stored, self._stored_bytes = {}, 0
        return total

    def stored(self, by_member: Mapping[str, int], total: int) -> None:
        """Count what was added since the last report."""
        at = self._now()
        for member, size in by_member.items():
            self.quota.add(member, size, at)
        self._apply()
        self._written += total
        if self._size is not None:
            self._size += total
        if not self._limit or (self._measuring is not None and not self._measuring.done()):
            return
        due = min(MEASURE_AFTER, self._limit // 16)
        if self._written >= due and (self._size is None or self._size > self._limit):
            self._written = 0
            self._measuring = asyncio.ensure_future(self._measure())

    async def _measure(self) -> None:
        """Measure the record. It may have become smaller, if old entries are pruned."""
        try:
            self._size = await run_in_thread("the store", partial(self._size_of, self._room.id))
        except CohabitError as failed:
            log.warning("room %s: the size of its record is unknown: %s", self._room.id, failed.as_text())
            return
        full = self._size > self._limit
        reason = f"the record of this room has reached its limit of {self._limit} bytes; ask the host of this server"
        self.quota.set_full(reason if full else "")
        self._apply()

    def _apply(self) -> None:
        """Let the room ask the quota only while somebody exceeds it."""
        self._room.storage_limit = self.quota.decide if self.quota.exceeded else None

    def refused(self, refusals: Sequence[Refusal]) -> None:
        """Count the refusals that are due to a quota or the rate limit."""
        quota, rate = self.quota, self._room.budget.refusal.reason
        for line in refusals:
            kinds = {quota.full: "room_bytes", quota.reason: "member_bytes", rate: "calls"}
            kind = kinds.get(line.reason) if line.reason else None
            if kind is not None:
                new = line.count - self._counted.get(line.id, 0)
                self._counted[line.id] = line.count
                self._overload.add(kind, self._room.id, new)
        if len(self._counted) > 1_000:
            self._counted = {line.id: line.count for line in self._room.audit.kept}
