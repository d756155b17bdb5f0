"""A house with 10,000 open rooms: how long it takes to open them, their memory, and calls in a tenth of them."""

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

from bench.clients import asked
from bench.common import Child, child, core_count, folder, quotients
from bench.many import AT_ONCE, token_of, tokens_of
from bench.needs import lacking
from bench.paced import CALLS_PER_S, Paced, compare
from bench.report import Report
from bench.stores import private_postgres

FEW = 100
POSTGRES = ("psycopg",), ("postgres",)
CASES = {"SQLite": (0, 2), "PostgreSQL": (0, 2)}
"""With how many workers a house is measured on each store."""
QUICK_CASES = {"SQLite": (0,), "PostgreSQL": (2,)}
HOW = f"""
Rooms of one member. *Open*: a house starts with all of them in its store; the time counts until every room is open,
with the start of workers, but not of the first process. It is measured with half of the rooms, too: *twice the rooms*
should cost twice as much. *Memory of a room*: what a house with all rooms uses more than one with {FEW}, all
processes together, divided by the difference. *Calls*: {CALLS_PER_S} a second in all, at a steady rate, spread over a
tenth of the rooms, each on a WebSocket of its own, in a house with all rooms and in one with {FEW}. `whoami` changes
nothing; `send_message` is answered when it is on disk. *Idle*: the CPU that a house uses while nobody calls. *Renew
the leases*: what a house does every three seconds, for all its rooms at once. PostgreSQL runs on the same machine,
with its usual settings. Measured on {{cores}} cores, which the house shares with its clients and the database.
"""


class Place(NamedTuple):
    """Where rooms are stored: a data folder, and the address of a database; empty: SQLite in that folder."""

    data: str
    store: str


@contextmanager
def serving(place: Place, workers: int, rooms: int) -> Iterator[Child]:
    plan = {"workers": workers, "rooms": rooms, "members": 1, "house_wide": [0], **place._asdict()}
    with child("bench.many:house", None, **plan) as house:
        yield house


def name_of(workers: int) -> str:
    return f"{workers} workers" if workers else "one process"


def opening(report: Report, store: str, counts: Sequence[int], places: dict[int, Place]) -> None:
    """Create the rooms of each place, by their number, and open them once. ``counts``: of workers."""
    half, whole = sorted(places)
    for rooms, place in places.items():
        with serving(place, 0, rooms) as house:
            report.measure(f"{store}, create {rooms:,} rooms, {AT_ONCE} at a time", [house.hello["made_s"]], "s")
    one_process: list[float] = []
    for workers in counts:
        took: dict[int, list[float]] = {half: [], whole: []}
        for rooms in (half, whole):
            with serving(places[rooms], workers, rooms) as house:
                took[rooms].append(house.hello["opened_s"])
        for rooms, seconds in took.items():
            report.measure(f"{store}, {name_of(workers)}: open {rooms:,} rooms", seconds, "s")
        ratios = quotients(took[whole], took[half])
        report.ratio(f"many-rooms, {store}, {name_of(workers)}: open twice the rooms", ratios, 2.3, "at most")
        if not workers:
            one_process = took[whole]
        elif one_process:
            ratios = quotients(took[whole], one_process)
            report.ratio(f"many-rooms, {store}: open {whole:,} rooms, {name_of(workers)} over one process", ratios)


@contextmanager
def calling(place: Place, workers: int, rooms: int, seconds: float) -> Iterator[Paced]:
    """Calls in a tenth of the rooms."""
    with serving(place, workers, rooms) as house:
        tokens = tokens_of(range(1, rooms, 10), 1)  # without that of `house_wide`
        with child("bench.clients:Crowd", None, url=house.hello["url"], tokens=tokens) as clients:
            yield Paced(house, clients, seconds)


def calls(report: Report, store: str, workers: int, places: dict[int, Place], seconds: float, rounds: int) -> None:
    """In the house with the fewest and in that with the most rooms."""
    few, most = min(places), max(places)
    case = f"{store}, {name_of(workers)}"
    with ExitStack() as stack:
        sides = {rooms: stack.enter_context(calling(places[rooms], workers, rooms, seconds)) for rooms in (few, most)}
        memory = (sides[most].house.memory - sides[few].house.memory) / (most - few) / 1024
        report.measure(f"{case}: memory of a room", [memory], "KiB")
        compare(report, case, sides, "rooms", rounds)
        listing(report, case, sides[most].house, most)


def listing(report: Report, case: str, house: Child, rooms: int) -> None:
    """`rooms`, for somebody who is in one of them and may be in others."""
    with child("bench.clients:Blocking", None, url=house.hello["url"], token=token_of(0, 0)) as client:
        found = client.ask("round", text=asked("rooms"), times=20)
        report.measure(f"{case}, {rooms:,} rooms: list those that one is in", [found["p50"] / 1e3], "ms")


def leases(report: Report, url: str, rooms: int, times: int) -> None:
    from cohabit.house.store.contract import NO_ROOM
    from cohabit.house.store.postgres import PostgresStore

    store = PostgresStore(url)
    try:
        took: dict[int, list[float]] = {rooms // 2: [], rooms: []}
        for count, values in took.items():
            names = [f"bench-{number}" for number in range(count)]
            began = time.perf_counter()
            epoch = store.lease(names, "bench", 60_000)[NO_ROOM]
            report.measure(f"PostgreSQL: lease {count:,} rooms", [(time.perf_counter() - began) * 1e3], "ms")
            for _ in range(times):
                began = time.perf_counter()
                store.lease(names, "bench", 60_000, epoch)
                values.append((time.perf_counter() - began) * 1e3)
            report.measure(f"PostgreSQL: renew the leases of {count:,} rooms", values, "ms")
    finally:
        store.close()
    ratios = quotients(took[rooms], took[rooms // 2])
    report.ratio("many-rooms, PostgreSQL: renew the leases of twice the rooms", ratios, 2.3, "at most")


def run(quick: bool) -> Report:
    rooms, few, times, seconds = (60, 20, 1, 0.5) if quick else (10_000, FEW, 2, 5.0)
    report = Report("many-rooms", "Many open rooms", HOW.format(cores=core_count()).strip())
    cases = QUICK_CASES if quick else CASES
    with ExitStack() as stack:
        if lacks := lacking(*POSTGRES):
            sys.stderr.write(f"many-rooms: PostgreSQL is not measured: {lacks}\n")
            cases = {store: counts for store, counts in cases.items() if store != "PostgreSQL"}
        else:
            server = private_postgres(stack, pinned=False)
            leases(report, server.new_database(), rooms, 2 if quick else 20)
        for store, counts in cases.items():
            places = {
                count: Place(stack.enter_context(folder()), server.new_database() if store == "PostgreSQL" else "")
                for count in (few, rooms // 2, rooms)
            }
            opening(report, store, counts, {count: place for count, place in places.items() if count != few})
            for workers in counts:
                calls(report, store, workers, places, seconds, times)
    return report
