"""Prometheus metrics. Counts only, no content."""

from collections import Counter
from collections.abc import Iterator

from cohabit.house.house import House


def metrics_text(house: House) -> str:
    """The text exposition format."""
    return "\n".join(_lines(house)) + "\n"


def _lines(house: House) -> Iterator[str]:
    rooms = house.rooms.values()
    yield from _one("cohabit_rooms", "gauge", "Open rooms.", len(house.rooms))
    broken = house.broken_count
    yield from _one("cohabit_rooms_broken", "gauge", "Rooms that are quarantined or could not be opened.", broken)
    yield from _one("cohabit_members", "gauge", "Members in all rooms.", sum(len(h.room.state.members) for h in rooms))
    yield from _one("cohabit_watchers", "gauge", "Live subscriptions.", sum(len(h.fanout) for h in rooms))
    yield from _one("cohabit_entries_total", "counter", "Entries on record.", sum(h.room.record.seq + 1 for h in rooms))
    yield from _one("cohabit_calls_total", "counter", "Calls since the start.", house.door.calls)
    yield from _one("cohabit_commits_total", "counter", "Commits since the start.", house.writer.commits)
    up = (house.clock.now() - house.started_at) / 1000
    yield from _one("cohabit_uptime_seconds", "gauge", "Seconds since the start.", up)
    yield "# HELP cohabit_refusals_total Calls that were refused, by code."
    yield "# TYPE cohabit_refusals_total counter"
    for code, count in sorted(_refusals(house).items()):
        yield f'cohabit_refusals_total{{code="{code}"}} {count}'


def _refusals(house: House) -> Counter[str]:
    total = Counter(house.door.refusals)
    for runner in house.rooms.values():
        total.update(runner.room.audit.totals)
    return total


def _one(name: str, kind: str, words: str, value: float) -> Iterator[str]:
    yield f"# HELP {name} {words}"
    yield f"# TYPE {name} {kind}"
    yield f"{name} {value}"
