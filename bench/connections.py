"""10,000 WebSockets on which nothing happens: the memory of each, and calls beside them."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from bench.clients import asked
from bench.common import ask_all, child, core_count
from bench.many import tokens_of
from bench.paced import CALLS_PER_S, Paced, compare
from bench.report import Report

PER_ROOM = 100
CLIENTS = 4
"""Processes with idle connections: together they may open more files than one."""
WORKERS = (0, 2)
HOW = f"""
Rooms of {PER_ROOM} members in memory, each member with a WebSocket, subscribed without views. In one room nobody is
subscribed: its members make {CALLS_PER_S} calls a second in all, at a steady rate, beside {{most:,}} idle connections
and beside {{few}}. Idle connections are answered pings, and nothing else is sent on them. *Memory of a connection*:
of all processes of the house, with all connections minus with {{few}}, divided by the number of connections between;
without what the kernel needs for sockets. *Idle*: the CPU that a house uses with all of them while nobody calls.
Measured on {{cores}} cores, which the house shares with its clients.
"""
QUIET_S = 1.0


@contextmanager
def started(workers: int, idle: int, seconds: float) -> Iterator[Paced]:
    """A house with this many idle connections, and one room more for those who call."""
    rooms = max(1, idle // PER_ROOM)
    with ExitStack() as stack:
        house = stack.enter_context(
            child("bench.many:house", None, workers=workers, rooms=rooms + 1, members=min(idle, PER_ROOM))
        )
        tokens = tokens_of(range(rooms), min(idle, PER_ROOM))
        crowds = [
            stack.enter_context(child("bench.clients:Crowd", None, url=house.hello["url"], tokens=part))
            for number in range(CLIENTS)
            if (part := tokens[number::CLIENTS])
        ]
        ask_all(crowds, "everybody", text=asked("subscribe", {"views": False}))
        ask_all(crowds, "quiet", for_s=QUIET_S)
        calling = child("bench.clients:Crowd", None, url=house.hello["url"], tokens=tokens_of([rooms], 10))
        yield Paced(house, stack.enter_context(calling), seconds)


def run(quick: bool) -> Report:
    most, few, seconds, rounds = (200, 20, 0.5, 2) if quick else (10_000, 100, 5.0, 3)
    how = HOW.format(most=most, few=few, cores=core_count()).strip()
    report = Report("connections", f"{most:,} idle connections", how)
    for workers in WORKERS:
        case = f"{workers} workers" if workers else "one process"
        with ExitStack() as stack:
            sides = {idle: stack.enter_context(started(workers, idle, seconds)) for idle in (few, most)}
            memory = (sides[most].house.memory - sides[few].house.memory) / (most - few) / 1024
            report.measure(f"{case}: memory of a connection", [memory], "KiB")
            compare(report, case, sides, "connections", rounds)
    return report
