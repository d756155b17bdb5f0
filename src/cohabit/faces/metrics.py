"""Prometheus metrics. Counts only, no content.

Even a count can reveal a hidden move, so members see none of it: the full text is for hosts of the house. Without a
credential, and only on the same machine, there is a short one that says whether the house is well.
"""

from collections.abc import Iterator, Mapping
from itertools import chain

from starlette.requests import Request

from cohabit.errors import PermissionDenied
from cohabit.faces.addresses import LOOPBACK
from cohabit.faces.guard import bearer
from cohabit.house.house import House
from cohabit.house.nodes.cluster import Cluster
from cohabit.house.nodes.numbers import Numbers, numbers_of

PROXY_HEADERS = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
"""Headers that reverse proxies add."""


async def metrics_for(house: House, request: Request) -> str:
    """The text exposition format, as far as this request may see it."""
    token = bearer(request.headers)
    if token is None and _is_local(house, request):
        return "\n".join(_public_lines(house, summed(await numbers_by_worker(house)))) + "\n"
    if not house.identities.is_host(house.identify(token)):
        raise PermissionDenied("metrics require a token of a house host: cohabit token new NAME --host")
    parts = await numbers_by_worker(house)
    total = summed(parts)
    return "\n".join(chain(_public_lines(house, total), _lines(total), _worker_lines(parts))) + "\n"


def _is_local(house: House, request: Request) -> bool:
    """Whether the request comes from this machine, and not through a reverse proxy on it."""
    proxied = house.settings.public_url or any(name in request.headers for name in PROXY_HEADERS)
    client = request.client.host if request.client is not None else ""
    return not proxied and client in LOOPBACK and request.url.hostname in LOOPBACK


async def numbers_by_worker(house: House) -> dict[str, Numbers]:
    """Of this process (""), and of each worker."""
    own = {"": numbers_of(house)}
    cluster = house.services.own.get(Cluster)
    return own if cluster is None else {**own, **await cluster.numbers()}


def summed(parts: Mapping[str, Numbers]) -> Numbers:
    total = Numbers()
    for part in parts.values():
        total.add(part)
    return total


def _public_lines(house: House, total: Numbers) -> Iterator[str]:
    yield from _one("cohabit_rooms", "gauge", "Open rooms.", total.rooms)
    words = "Rooms that are quarantined or could not be opened."
    yield from _one("cohabit_rooms_broken", "gauge", words, total.broken)
    up = (house.clock.now() - house.started_at) / 1000
    yield from _one("cohabit_uptime_seconds", "gauge", "Seconds since the start.", up)


def _lines(total: Numbers) -> Iterator[str]:
    yield from _one("cohabit_members", "gauge", "Members in all rooms.", total.members)
    yield from _one("cohabit_watchers", "gauge", "Live subscriptions.", total.watchers)
    yield from _one("cohabit_entries_total", "counter", "Entries on record.", total.entries)
    yield from _one("cohabit_calls_total", "counter", "Calls since the start.", total.calls)
    yield from _one("cohabit_commits_total", "counter", "Commits since the start.", total.commits)
    yield from _each("cohabit_refusals_total", "Calls that were refused, by code.", "code", total.refusals)
    yield from _each("cohabit_overload_total", "Refused under load, by kind.", "kind", total.overload)


def _worker_lines(parts: Mapping[str, Numbers]) -> Iterator[str]:
    """The same in each worker, where there are any."""
    workers = {name: part for name, part in parts.items() if name}
    if workers:
        rooms, calls = ({name: getattr(part, what) for name, part in workers.items()} for what in ("rooms", "calls"))
        yield from _each("cohabit_worker_rooms", "Open rooms, by worker.", "worker", rooms, "gauge")
        yield from _each("cohabit_worker_calls_total", "Calls since its start, by worker.", "worker", calls)


def _one(name: str, kind: str, words: str, value: float) -> Iterator[str]:
    yield f"# HELP {name} {words}"
    yield f"# TYPE {name} {kind}"
    yield f"{name} {value}"


def _each(name: str, words: str, label: str, counts: Mapping[str, int], kind: str = "counter") -> Iterator[str]:
    yield f"# HELP {name} {words}"
    yield f"# TYPE {name} {kind}"
    for value, count in sorted(counts.items()):
        yield f'{name}{{{label}="{value}"}} {count}'
