"""The durable part of a room: its newest entries in memory, older ones in the store, and a version to wait for."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Sequence
from functools import partial

from cohabit.errors import BadArgs
from cohabit.house.clock import Clock
from cohabit.house.store.contract import Row
from cohabit.house.threads import run_in_thread
from cohabit.model.record import decode_entry
from cohabit.room.record import Line, Record

PAGE = 1000
"""The number of entries that are read from the store at once, if they are not large."""
FIRST_PAGE = 100
"""The same of the first page that is read backwards. The next ones are as large as there is space for."""
RECENT_BYTES = 16 * 1024**2
"""The bytes of the entries of a room that stay in memory, and of those that are read at once."""


class History:
    """The durable entries of one room. ``version`` grows when there are more, or the room has stopped."""

    def __init__(
        self, room: str, record: Record, kept: int, lines_of: Callable[[str, int, int], Iterable[Row]], clock: Clock
    ) -> None:
        """``kept``: at most how many entries stay in memory. ``lines_of``: those of a room in the store, after a
        number."""
        self.recent: deque[Line] = deque()
        self._kept, self._bytes = kept, 0
        self._remember(record.tail[-kept:])
        self.seq, self.digest = record.seq, record.digest
        self.version = 0
        self._room = room
        self._lines_of = lines_of
        self._clock = clock
        self._waiters: dict[asyncio.Future[bool], None] = {}

    def add(self, lines: Sequence[Line]) -> None:
        """These are on disk now. Call ``wake`` when everybody has been told."""
        self.seq, self.digest = lines[-1].seq, lines[-1].digest
        self._remember(lines)

    def _remember(self, lines: Sequence[Line]) -> None:
        """Keep these lines in memory, and of earlier ones no more than there is space for."""
        recent = self.recent
        recent.extend(lines)
        self._bytes += sum([len(line.body) for line in lines])
        while len(recent) > self._kept or (self._bytes > RECENT_BYTES and len(recent) > len(lines)):
            self._bytes -= len(recent.popleft().body)

    # -- waiting for more --------------------------------------------------------------------------
    def wake(self) -> None:
        """Increment the version, and wake those who wait for it."""
        self.version += 1
        waiters, self._waiters = self._waiters, {}
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(True)

    async def changed_since(self, version: int, ends: int) -> bool:
        """Wait until the version is another one or ``ends`` has passed. Returns whether it is another one."""
        if version != self.version:
            return True
        if ends <= self._clock.now():
            return False
        waiter: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiters[waiter] = None
        over = self._clock.call_at(ends, lambda: None if waiter.done() else waiter.set_result(False))
        try:
            return await waiter
        finally:
            over.cancel()
            self._waiters.pop(waiter, None)

    # -- reading -----------------------------------------------------------------------------------
    async def after(self, seq: int) -> AsyncIterator[Line]:
        """The lines after a number: from memory if they are there, else from the store."""
        recent = list(self.recent)
        oldest = recent[0].seq if recent else self.seq + 1
        while seq + 1 < oldest:
            page = await self._page(seq, min(PAGE, oldest - seq - 1))
            if page and page[0].seq != seq + 1 and seq >= 0:
                raise BadArgs("this cursor is too old: its events were deleted. Omit it to start from the oldest event")
            for line in page:
                yield line
            if not page:
                break
            seq = page[-1].seq
        for line in recent:
            if line.seq > seq:
                yield line

    async def backwards(self, before: int | None = None) -> AsyncGenerator[list[Line], None]:
        """All lines in pages, or those ``before`` a number, the newest page first; each page is in order."""
        lines = [line for line in self.recent if before is None or line.seq < before]
        oldest = lines[0].seq if lines else min(self.seq + 1, before if before is not None else self.seq + 1)
        yield lines
        size = min(FIRST_PAGE, PAGE)
        while oldest > 0:
            lines = await self._page(max(-1, oldest - 1 - size), min(size, oldest), oldest)
            # As many as had space, or each page would read large entries that it cannot keep.
            size = min(PAGE, 2 * size) if len(lines) >= min(size, oldest) else max(1, len(lines))
            oldest = lines[0].seq if lines else 0
            yield lines

    async def _page(self, after: int, limit: int, before: int | None = None) -> list[Line]:
        return await run_in_thread("a page of the record", partial(self._stored, after, limit, before))

    def _stored(self, after: int, limit: int, before: int | None) -> list[Line]:
        """At most ``limit`` lines and ``RECENT_BYTES``: the first of them, or the newest ``before`` a number."""
        rows: deque[Row] = deque()
        size = 0
        for row in self._lines_of(self._room, after, limit):
            if before is not None and row[0] >= before:  # a pruned store has fewer before, and reads on
                break
            rows.append(row)
            size += len(row[1])
            if size > RECENT_BYTES and before is None:
                break
            while size > RECENT_BYTES and len(rows) > 1:
                size -= len(rows.popleft()[1])
        return [Line(seq, body, digest, decode_entry(body)) for seq, body, digest in rows]
