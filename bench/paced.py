"""Calls at a steady rate, in two houses that differ in the number of one thing."""

import time
from collections.abc import Mapping
from functools import partial

from bench.clients import asked
from bench.common import Child, quotients, take_turns
from bench.report import Report

CALLS_PER_S = 200
CALLS = {"whoami": asked("whoami"), "send_message": asked("send_message", {"to": "*", "content": "hello there"})}
UNITS = {"p50": "ms", "p99": "ms", "longest": "ms", "CPU of the house": "µs a call"}


class Paced:
    """A house, and clients of it that make ``CALLS_PER_S`` calls a second in all."""

    def __init__(self, house: Child, clients: Child, seconds: float) -> None:
        self.house, self.clients, self.seconds = house, clients, seconds
        self.found: dict[str, list[float]] = {}

    def round(self, text: str) -> float:
        before = self.house.cpu
        found = self.clients.ask("paced", text=text, per_second=CALLS_PER_S, seconds=self.seconds)
        found["CPU of the house"] = (self.house.cpu - before) / found.pop("all") * 1e6
        for name, value in found.items():
            self.found.setdefault(name, []).append(value)
        return float(found["p50"])

    def idle(self) -> float:
        """The CPU of the house while nobody calls, in per cent of a core."""
        before = self.house.cpu
        time.sleep(self.seconds)
        return (self.house.cpu - before) / self.seconds * 100


def compare(report: Report, case: str, sides: Mapping[int, Paced], what: str, rounds: int) -> None:
    """Add CPU without calls, and each of ``CALLS``. ``sides``: by how many of ``what`` the house has."""
    few, most = sorted(sides)
    for count, side in sides.items():
        report.measure(f"{case}, {count:,} {what}, idle", [side.idle() for _ in range(rounds)], "% of a core")
    for command, text in CALLS.items():
        for side in sides.values():
            side.found = {}
        take_turns({str(count): partial(side.round, text) for count, side in sides.items()}, rounds)
        for count, side in sides.items():
            for name, unit in UNITS.items():
                report.measure(f"{case}, {count:,} {what}, {command}: {name}", side.found[name][1:], unit)
        for name in UNITS:
            over = quotients(sides[most].found[name][1:], sides[few].found[name][1:])
            report.ratio(f"{report.bench}, {case}, {command}: {name}, {most:,} {what} over {few:,}", over)
