"""Prometheus metrics. Counts only, no content.

Even a count can reveal a hidden move, so members see none of it: the full text is for hosts of the house. Without a
credential, and only on the same machine, there is a short one that says whether the house is well.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain

from starlette.requests import Request

from cohabit.errors import PermissionDenied
from cohabit.faces.addresses import LOOPBACK
from cohabit.faces.guard import bearer
from cohabit.house.house import House

PROXY_HEADERS = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
"""Headers that reverse proxies add."""


def metrics_for(house: House, request: Request) -> str:
    """The text exposition format, as far as this request may see it."""
    token = bearer(request.headers)
    if token is None and _is_local(house, request):
        return "\n".join(_public_lines(house)) + "\n"
    if not house.identities.is_host(house.identify(token)):
        raise PermissionDenied("metrics require a token of a house host: cohabit token new NAME --host")
    return "\n".join(chain(_public_lines(house), _lines(house))) + "\n"


def _is_local(house: House, request: Request) -> bool:
    """Whether the request comes from this machine, and not through a reverse proxy on it."""
    proxied = house.settings.public_url or any(name in request.headers for name in PROXY_HEADERS)
    client = request.client.host if request.client is not None else ""
    return not proxied and client in LOOPBACK and request.url.hostname in LOOPBACK


def _public_lines(house: House) -> Iterator[str]:
    yield from _one("cohabit_rooms", "gauge", "Open rooms.", len(house.rooms))
    broken = len(house.rooms.problems)
    yield from _one("cohabit_rooms_broken", "gauge", "Rooms that are quarantined or could not be opened.", broken)
    up = (house.clock.now() - house.started_at) / 1000
    yield from _one("cohabit_uptime_seconds", "gauge", "Seconds since the start.", up)


def _lines(house: House) -> Iterator[str]:
    rooms = house.rooms.values()
    yield from _one("cohabit_members", "gauge", "Members in all rooms.", sum(len(h.room.state.members) for h in rooms))
    yield from _one("cohabit_watchers", "gauge", "Live subscriptions.", sum(len(h.fanout) for h in rooms))
    yield from _one("cohabit_entries_total", "counter", "Entries on record.", sum(h.room.record.seq + 1 for h in rooms))
    yield from _one("cohabit_calls_total", "counter", "Calls since the start.", house.door.calls)
    yield from _one("cohabit_commits_total", "counter", "Commits since the start.", house.writer.commits)
    yield from _each("cohabit_refusals_total", "Calls that were refused, by code.", "code", _refusals(house))
    yield from _each("cohabit_overload_total", "Refused under load, by kind.", "kind", house.overload.counts)


def _refusals(house: House) -> Counter[str]:
    total = Counter(house.door.refusals)
    for runner in house.rooms.values():
        total.update(runner.room.audit.totals)
    return total


def _one(name: str, kind: str, words: str, value: float) -> Iterator[str]:
    yield f"# HELP {name} {words}"
    yield f"# TYPE {name} {kind}"
    yield f"{name} {value}"


def _each(name: str, words: str, label: str, counts: Mapping[str, int]) -> Iterator[str]:
    yield f"# HELP {name} {words}"
    yield f"# TYPE {name} counter"
    for value, count in sorted(counts.items()):
        yield f'{name}{{{label}="{value}"}} {count}'
