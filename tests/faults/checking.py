"""What must be true of a history and the records that are left. Each function returns the problems, in words.

A room is an append-only log, for which these checks are exact: its history linearizes if every acknowledged call is in
the record once, no call is recorded before another that had returned when it was invoked, and every reading is a prefix
of the record that has all that was acknowledged before.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from math import inf

from .history import Call, Reading, Recorded, Revocation, Witnessed


def check_room(record: Sequence[Recorded], calls: Sequence[Call], readings: Sequence[Reading]) -> list[str]:
    """The record of one room, with the calls to it and its readings."""
    return [
        *_gaps(record), *_counts(record, calls), *_replies(record, calls), *_order(record, calls),
        *(problem for reading in readings for problem in _reading(record, calls, reading)),
    ]  # fmt: skip


def _gaps(record: Sequence[Recorded]) -> Iterator[str]:
    for expected, entry in enumerate(record):
        if entry.seq != expected:
            yield f"gap: entry {expected} is missing, the next one is {entry.seq}"
            return


def _counts(record: Sequence[Recorded], calls: Sequence[Call]) -> Iterator[str]:
    times = Counter(entry.key for entry in record if entry.key)
    for call in calls:
        count = times.pop(call.key, 0)
        if count > 1:
            yield f"doubled: {call.key} is in the record {count} times"
        elif count == 0 and call.outcome == "ok":
            yield f"lost: {call.key} was acknowledged, and is not in the record"
        elif count == 1 and call.outcome == "refused":
            yield f"refused, but done: {call.key} is in the record"
    yield from (f"unasked: {key} is in the record, and nobody called it" for key in times)


def _replies(record: Sequence[Recorded], calls: Sequence[Call]) -> Iterator[str]:
    events = {entry.key: entry.event for entry in record if entry.key}
    for call in calls:
        if call.outcome == "ok" and call.event and call.key in events and events[call.key] != call.event:
            yield f"wrong reply: {call.key} was told {call.event!r}, the record says {events[call.key]!r}"


def _order(record: Sequence[Recorded], calls: Sequence[Call]) -> Iterator[str]:
    by_key = {call.key: call for call in calls}
    first: Call | None = None  # of all that come later in the record, the one that was known first
    for entry in reversed(record):
        call = by_key.get(entry.key)
        if call is None:
            continue
        if first is not None and first.known_at < call.invoked:
            yield f"reordered: {call.key} is before {first.key}, which had returned when it was invoked"
        if first is None or call.known_at < first.known_at:
            first = call


def _reading(record: Sequence[Recorded], calls: Sequence[Call], reading: Reading) -> Iterator[str]:
    events = [entry.event for entry in record if entry.event]
    places = {entry.event: place for place, entry in enumerate(entry for entry in record if entry.event)}
    by_key = {entry.key: places[entry.event] for entry in record if entry.key and entry.event}
    known = sorted((call.known_at, by_key[call.key]) for call in calls if call.outcome == "ok" and call.key in by_key)
    reached = least = following = 0  # how many events were read, and how many are known when a page is asked for
    for page in sorted(reading.pages, key=lambda page: page.invoked):
        expected = events[reached : reached + len(page.events)]
        if list(page.events) != expected:
            pairs = list(zip_longest(page.events, expected, fillvalue="nothing"))
            at, (got, there) = next((place, pair) for place, pair in enumerate(pairs) if pair[0] != pair[1])
            yield f"another order: {reading.reader} got {got!r} at {reached + at}, where the record has {there!r}"
            return
        reached += len(page.events)
        while following < len(known) and known[following][0] < page.invoked:
            least, following = max(least, known[following][1] + 1), following + 1
        if page.is_complete and reached < least:
            yield f"stale: {reading.reader} read {reached} events, when {least} were acknowledged"


def check_writers(witnessed: Iterable[Witnessed]) -> list[str]:
    """No two writers: every entry was written by the house that had the room, and a room's epoch never goes back."""
    problems = []
    epochs: dict[str, Witnessed] = {}
    for entry in sorted(witnessed, key=lambda entry: (entry.room, entry.seq)):
        if entry.writer != entry.holder:
            problems.append(f"two writers: {entry.writer} wrote {entry.room} {entry.seq}, which {entry.holder} had")
        before = epochs.get(entry.room)
        if before is not None and entry.epoch < before.epoch:
            problems.append(f"an old epoch: {entry.room} {entry.seq} has {entry.epoch}, after {before.epoch}")
        if before is not None and entry.epoch == before.epoch and entry.holder != before.holder:
            problems.append(f"one epoch of two houses: {entry.room} {entry.seq}, {before.holder} and {entry.holder}")
        epochs[entry.room] = entry
    return problems


def check_revocation(found: Revocation, record: Sequence[Recorded], calls: Mapping[str, Call]) -> list[str]:
    """After the reply nothing more comes for a revoked token: no answer but refusals, and no event that came later.

    Events are judged by when they were said, not by when they arrived: bytes may have been on their way.
    """
    problems = [
        f"answered: {found.member} called after {found.how} had returned, through {attempt.house}"
        for attempt in found.attempts
        if attempt.invoked > found.done and attempt.answer == "ok"
    ]
    by_event = {entry.event: entry for entry in record if entry.event}
    for event in found.received:
        entry = by_event.get(event)
        if entry is None:
            problems.append(f"unknown event: {found.member} got {event!r}, which is not in the record")
        elif entry.key in calls and calls[entry.key].invoked > found.done:
            problems.append(f"told: {found.member} got {event!r}, said after {found.how} had returned")
        elif entry.seq > (inf if found.removed_at is None else found.removed_at):
            problems.append(f"told: {found.member} got {event!r}, entry {entry.seq}, after entry {found.removed_at}")
    return problems
