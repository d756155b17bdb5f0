"""Reading the past of a room from the store: pages have a limit in entries, and one in bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from cohabit.house.running import history
from cohabit.house.running.history import History
from cohabit.model.record import Entry
from cohabit.room.record import Line, Record
from cohabit.testing.clock import FakeClock

ENTRIES = 200
PAGE_BYTES = 4_000


class Reads:
    """A store with the lines of one room, which notes how much was in memory at once at most."""

    def __init__(self) -> None:
        record = Record()
        self.lines = [
            record.append(Entry(seq, seq, "shout", "ann", {"text": "x" * (400 if seq % 3 else 3_000)}))
            for seq in range(ENTRIES)
        ]

    def rows(self, room: str, after: int, limit: int) -> Iterator[tuple[int, bytes, bytes]]:
        for line in self.lines[after + 1 : after + 1 + limit]:
            yield line.seq, line.body, line.digest


@pytest.fixture
def past(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A room whose newest entry alone is in memory."""
    monkeypatch.setattr(history, "RECENT_BYTES", PAGE_BYTES)
    store, record = Reads(), Record(ENTRIES - 1)
    record.tail = store.lines[-1:]
    return History("den", record, 1, store.rows, FakeClock())


def size(lines: list[Line]) -> int:
    return sum(len(line.body) for line in lines)


async def test_all_entries_are_read_in_order_from_pages_of_few_bytes(
    past: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages: list[list[Line]] = []
    page = past._page

    async def noted(*args: Any, **more: Any) -> list[Line]:
        pages.append(await page(*args, **more))
        return pages[-1]

    monkeypatch.setattr(past, "_page", noted)
    assert [line.seq async for line in past.after(-1)] == list(range(ENTRIES))
    assert len(pages) > 10
    assert all(size(one) - len(one[-1].body) <= PAGE_BYTES for one in pages)


async def test_backwards_no_entry_is_read_many_times(past: History) -> None:
    store_rows, read = past._lines_of, []

    def counted(*args: Any) -> Iterator[Any]:
        for row in store_rows(*args):
            read.append(row[0])
            yield row

    past._lines_of = counted
    assert [page async for page in past.backwards()]
    assert len(read) < 4 * ENTRIES


@pytest.mark.parametrize("before", [None, ENTRIES - 1, 57, 1])
async def test_backwards_every_entry_is_in_one_page_the_newest_first(past: History, before: int | None) -> None:
    pages = [page async for page in past.backwards(before)]
    assert all(size(page) <= max(PAGE_BYTES, 3_100) for page in pages)
    found = [line.seq for page in reversed(pages) for line in page]
    assert found == list(range(ENTRIES if before is None else before))
