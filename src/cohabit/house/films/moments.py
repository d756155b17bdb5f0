"""Finds entries of a stored record by their times. Everything here reads the store: call it off the event loop."""

import msgspec
from msgspec import Struct

from cohabit.house.store.contract import Store

PAGE = 500
TIME_PASSES = ("ticks", "turn_advance", "turn_timeout")
"""Entries by which time passes, also with a stepped clock. Everybody notices these; the times of others stay hidden."""


class _Head(Struct):
    at: int
    do: str


_read = msgspec.json.Decoder(_Head).decode


def oldest(store: Store, room: str) -> int:
    """The first entry that was not deleted."""
    return next(iter(store.lines(room, -1, 1)))[0]


def seq_at(store: Store, room: str, head: int, at: int) -> int:
    """The last entry at or before a time, by bisection; the oldest one, if all are later."""
    low, high = oldest(store, room), head
    while low < high:
        middle = (low + high + 1) // 2
        if _entry(store, room, middle).at <= at:
            low = middle
        else:
            high = middle - 1
    return low


def span(store: Store, room: str, head: int) -> tuple[int, int]:
    """The times between which a room with a clock was running: its first entry, and the last by which time passed."""
    first = _entry(store, room, oldest(store, room)).at
    for end in range(head, -1, -PAGE):
        for _, body, _ in reversed([*store.lines(room, max(-1, end - PAGE), min(PAGE, end + 1))]):
            entry = _read(body)
            if entry.do in TIME_PASSES:
                return first, entry.at
    return first, first


def _entry(store: Store, room: str, seq: int) -> _Head:
    return _read(next(iter(store.lines(room, seq - 1, 1)))[1])
