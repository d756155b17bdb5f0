"""Prometheus metrics. Counts only, no content.

Even a count can reveal a hidden move, so members see none of it: the full text is for hosts of the house. Without a
credential, and only on the same machine, there is a short one that says whether the house is well.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final

from msgspec import Struct
from starlette.requests import Request

from cohabit.errors import PermissionDenied
from cohabit.faces.addresses import LOOPBACK
from cohabit.faces.guard import bearer
from cohabit.house.house import House
from cohabit.house.nodes.cluster import Cluster
from cohabit.house.nodes.numbers import Numbers, RoomNumbers, busiest, numbers_of
from cohabit.house.readiness import READY

Parts = Mapping[str, Numbers | None]
"""The numbers of each process by name; None: it has not answered in time."""
PROXY_HEADERS = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
"""Headers that reverse proxies add."""
OF_WORKERS: Final = (
    ("rooms", "gauge", "Open rooms, by worker."),
    ("watchers", "gauge", "Live subscriptions, by worker."),
    ("calls", "counter", "Calls since its start, by worker."),
    ("resident_bytes", "gauge", "Memory, by worker."),
    ("cpu_seconds", "counter", "CPU time, by worker."),
)
"""Fields of `Numbers`, their types and words."""
OF_ROOMS: Final = (
    ("calls", "counter", "Calls since the room was opened."),
    ("entries", "counter", "Entries on record."),
    ("members", "gauge", "Members."),
    ("watchers", "gauge", "Live subscriptions."),
)
"""The same, of `RoomNumbers`."""


async def metrics_for(house: House, request: Request) -> str:
    """The text exposition format, as far as this request may see it."""
    token = bearer(request.headers)
    if token is None and _is_local(house, request):
        return "\n".join(_public_lines(house, await numbers_by_worker(house))) + "\n"
    if not house.identities.is_host(house.identify(token)):
        raise PermissionDenied("metrics require a token of a house host: cohabit token new NAME --host")
    parts = await numbers_by_worker(house)
    rooms = busiest(answered(parts).busiest, house.settings.metrics_rooms)
    workers = _worker_lines(parts, house.readiness.workers())
    return "\n".join(chain(_public_lines(house, parts), _lines(parts), workers, _room_lines(rooms))) + "\n"


def _is_local(house: House, request: Request) -> bool:
    """True if the request comes from this machine, and not through a reverse proxy on it."""
    proxied = house.settings.public_url or any(name in request.headers for name in PROXY_HEADERS)
    client = request.client.host if request.client is not None else ""
    return not proxied and client in LOOPBACK and request.url.hostname in LOOPBACK


async def numbers_by_worker(house: House) -> Parts:
    """Of this process (""), and of each worker."""
    own = {"": numbers_of(house)}
    cluster = house.services.own.get(Cluster)
    return own if cluster is None else {**own, **await cluster.numbers()}


def answered(parts: Parts) -> Numbers:
    """The sums over the processes that have answered."""
    total = Numbers()
    for part in parts.values():
        if part is not None:
            total.add(part)
    return total


def unanswered(parts: Parts) -> list[str]:
    """The workers that have not answered in time. Without them, sums would be too small."""
    return [name for name, part in parts.items() if part is None]


def _public_lines(house: House, parts: Parts) -> Iterator[str]:
    late = unanswered(parts)
    if not late:
        total = answered(parts)
        yield from _one("cohabit_rooms", "gauge", "Open rooms.", total.rooms)
        words = "Rooms that are quarantined or could not be opened."
        yield from _one("cohabit_rooms_broken", "gauge", words, total.broken)
    if len(parts) > 1:
        words = "Workers that have not answered in time. If there are any, the sums are left out."
        yield from _one("cohabit_workers_unanswered", "gauge", words, len(late))
    up = (house.clock.now() - house.started_at) / 1000
    yield from _one("cohabit_uptime_seconds", "gauge", "Seconds since the start.", up)


def _lines(parts: Parts) -> Iterator[str]:
    if unanswered(parts):
        return
    total = answered(parts)
    yield from _one("cohabit_members", "gauge", "Members in all rooms.", total.members)
    yield from _one("cohabit_watchers", "gauge", "Live subscriptions.", total.watchers)
    yield from _one("cohabit_entries_total", "counter", "Entries on record.", total.entries)
    yield from _one("cohabit_calls_total", "counter", "Calls since the start.", total.calls)
    yield from _one("cohabit_commits_total", "counter", "Commits since the start.", total.commits)
    yield from _one("cohabit_resident_bytes", "gauge", "Memory of all processes.", total.resident_bytes)
    yield from _one("cohabit_cpu_seconds_total", "counter", "CPU time of all processes.", total.cpu_seconds)
    yield from _each("cohabit_refusals_total", "Calls that were refused, by code.", "code", total.refusals)
    yield from _each("cohabit_overload_total", "Refused under load, by kind.", "kind", total.overload)


def _worker_lines(parts: Parts, states: Mapping[str, str]) -> Iterator[str]:
    """The same in each worker, where there are any. The front is one of the processes that use memory."""
    if not states:
        return
    ready = {name: int(state == READY) for name, state in states.items()}
    yield from _each("cohabit_worker_ready", "Whether a worker runs rooms.", "worker", ready, "gauge")
    workers = {name: part for name, part in parts.items() if name and part is not None}
    yield from _of_each("worker", OF_WORKERS, workers)


def _room_lines(rooms: Sequence[RoomNumbers]) -> Iterator[str]:
    """Of the rooms with the most calls. Their number is bounded by the setting ``metrics_rooms``."""
    if rooms:
        yield from _of_each("room", OF_ROOMS, {numbers.room: numbers for numbers in rooms})


def _of_each(label: str, fields: Iterable[tuple[str, str, str]], things: Mapping[str, Struct]) -> Iterator[str]:
    for field, kind, words in fields:
        name = f"cohabit_{label}_{field}" + ("_total" if kind == "counter" else "")
        yield from _each(name, words, label, {key: getattr(thing, field) for key, thing in things.items()}, kind)


def _one(name: str, kind: str, words: str, value: float) -> Iterator[str]:
    yield f"# HELP {name} {words}"
    yield f"# TYPE {name} {kind}"
    yield f"{name} {value}"


def _each(name: str, words: str, label: str, counts: Mapping[str, float], kind: str = "counter") -> Iterator[str]:
    yield f"# HELP {name} {words}"
    yield f"# TYPE {name} {kind}"
    for value, count in sorted(counts.items()):
        yield f'{name}{{{label}="{value}"}} {count}'
