"""Durable actions of 64 members on PostgreSQL, compared with SQLite."""

import sys
from contextlib import ExitStack
from functools import partial
from typing import Any

import psutil  # type: ignore[import-untyped]

from bench.clients import asked
from bench.common import ROOT, Child, child, folder, quotients, take_turns
from bench.report import Report

CLIENTS = 64
HOW = f"""
{CLIENTS} WebSocket connections, each with its own token, send `bump`, and again when it is answered, which means
synced: in one room, and each in a room of its own. SQLite (WAL, full sync) against a PostgreSQL of the same machine
with its usual settings, over a Unix socket. It runs beside the house, on the same core. The CPU of the database is that
of its processes; SQLite runs in the house. If other programs use the machine, the ratio of CPU is the reliable one.
""".strip()


class Acting:
    """All clients of one house. ``database``: the process of PostgreSQL."""

    def __init__(self, house: Child, crowd: Child, database: int | None, seconds: float) -> None:
        self.house, self.crowd, self.seconds = house, crowd, seconds
        self.database = psutil.Process(database) if database is not None else None
        self.p99: list[float] = []
        self.cpu: list[float] = []

    def round(self) -> float:
        before = self._used()
        found = self.crowd.ask("timed", text=asked("bump", {"by_n": 1}), seconds=self.seconds)
        self.cpu.append((self._used() - before) / found["all"] * 1e6)
        self.p99.append(found["p99"])
        return float(found["rate"])

    def _used(self) -> float:
        """CPU seconds of the house and of its database."""
        times = [process.cpu_times() for process in (self.database.children() if self.database else ())]
        return self.house.cpu + sum(float(each.user + each.system) for each in times)


def private_postgres(stack: ExitStack, pinned: bool = True) -> Any:
    """A private server. It listens on a Unix socket only. ``pinned``: on the core of the measured servers."""
    sys.path.append(str(ROOT / "tools"))
    import test_needs
    from tests.postgres import running

    found = test_needs.locate("postgres")
    assert found is not None, test_needs.reason("postgres")
    server = stack.enter_context(running(found.parent, fsync=True))
    if pinned:
        psutil.Process(server.pid).cpu_affinity([min(psutil.Process().cpu_affinity())])  # its children inherit it
    return server


def run(quick: bool) -> Report:
    seconds, rounds, fresh = (0.5, 2, 1) if quick else (1.5, 4, 2)
    report = Report("stores", f"PostgreSQL and SQLite, {CLIENTS} clients", HOW)
    with ExitStack() as outer:
        server = private_postgres(outer)
        for rooms, where in ((1, "one room"), (CLIENTS, f"{CLIENTS} rooms")):
            names = ("PostgreSQL", "SQLite")
            rate, p99, cpu = ({name: [] for name in names} for _ in range(3))  # type: ignore[var-annotated]
            for _ in range(fresh):
                with ExitStack() as stack:
                    house = partial(child, "bench.servers:house", 0, members=CLIENTS // rooms, rooms=rooms)
                    sides = {}
                    for name, store in zip(names, (server.new_database(), ""), strict=True):
                        data = stack.enter_context(folder())
                        ours = stack.enter_context(house(world="plaza.py", data=data, store=store))
                        crowd = child("bench.clients:Crowd", 1, url=ours.hello["url"], tokens=ours.hello["tokens"])
                        process = server.pid if store else None
                        sides[name] = Acting(ours, stack.enter_context(crowd), process, seconds)
                    found = take_turns({name: side.round for name, side in sides.items()}, rounds)
                for name, side in sides.items():
                    rate[name] += found[name]
                    p99[name] += side.p99[1:]
                    cpu[name] += side.cpu[1:]
            for name in names:
                report.measure(f"{name}, {where}", rate[name], "durable actions / s")
                report.measure(f"{name}, {where}, p99", p99[name], "ms")
                report.measure(f"{name}, {where}, CPU with the database", cpu[name], "µs an action")
            for what, values in (("a second", rate), ("p99", p99), ("CPU", cpu)):
                ratios = quotients(values["PostgreSQL"], values["SQLite"])
                report.ratio(f"stores, {where}: {what}, PostgreSQL over SQLite", ratios)
    return report
