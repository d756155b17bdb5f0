"""Texts in many rooms of four: one process, beside a house with workers."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

from bench.common import Child, ask_all, child, core_count, folder, quotients, take_turns
from bench.many import tokens_of
from bench.report import Report

MEMBERS = 4
SIZE = 200
"""Bytes of a text."""
IN_FLIGHT = 32
"""Texts that each process of clients has under way."""
STORES = ("SQLite", "memory")
HOW = """
{rooms:,} rooms of {members}, each member with its own WebSocket. In each room one of them sends texts of {size} bytes
to everyone; {clients} processes of clients have {in_flight} texts each under way, in different rooms. The client
checks that every member receives every text of its room once and in order. *One process* is a house without workers.
With workers there is one process more, which accepts connections and has the store; *one worker* shows what that
costs. CPU is that of all processes of the house. Measured on {cores} cores, which the house shares with the clients:
nothing is bound to a core. *Busiest client* says how much of a core the busiest process of clients used; near 1 it
limits the rate.
"""


class Side:
    """A house, and the processes with its clients."""

    def __init__(self, house: Child, clients: list[Child], seconds: float) -> None:
        self.house, self.clients, self.seconds = house, clients, seconds
        self.cpu: list[float] = []
        self.p99: list[float] = []
        self.busiest: list[float] = []

    def round(self) -> float:
        """Texts per second."""
        before, clients_before = self.house.cpu, [client.cpu for client in self.clients]
        found = ask_all(self.clients, "in_flight", window=IN_FLIGHT, seconds=self.seconds)
        texts = sum(each["deliveries"] for each in found) / MEMBERS
        self.cpu.append((self.house.cpu - before) / texts * 1e6)
        self.p99.append(max(each["p99"] for each in found))
        used = [client.cpu - earlier for client, earlier in zip(self.clients, clients_before, strict=True)]
        self.busiest.append(max(used) / self.seconds)
        return float(sum(each["rate"] for each in found)) / MEMBERS


@contextmanager
def started(store: str, workers: int, rooms: int, clients: int, seconds: float) -> Iterator[Side]:
    with ExitStack() as stack:
        data = stack.enter_context(folder()) if store == "SQLite" else ""
        plan = {"workers": workers, "rooms": rooms, "members": MEMBERS, "data": data}
        house = stack.enter_context(child("bench.many:house", None, **plan))
        crowds = []
        for number in range(clients):
            own = range(number, rooms, clients)  # so that each process has rooms of every worker
            joining = {"side": "house", "url": house.hello["url"], "rooms": len(own), "members": MEMBERS, "size": SIZE}
            audience = child("bench.room_clients:Audience", None, tokens=tokens_of(own, MEMBERS), **joining)
            crowds.append(stack.enter_context(audience))
        ask_all(crowds, "check")
        yield Side(house, crowds, seconds)


def counts_of_workers(cores: int) -> list[int]:
    """One and two; on larger machines also more, as long as half of the cores are left for the rest."""
    return [1, 2, *(count for count in (4, 8, 16, 32) if count <= cores // 2)]


def name_of(workers: int) -> str:
    return {0: "one process", 1: "one worker"}.get(workers, f"{workers} workers")


def run(quick: bool) -> Report:
    rooms, seconds, rounds = (24, 0.4, 2) if quick else (400, 2.0, 5)
    cores = core_count()
    clients, counts = max(2, cores // 4), counts_of_workers(cores)
    how = HOW.format(rooms=rooms, members=MEMBERS, size=SIZE, clients=clients, in_flight=IN_FLIGHT, cores=cores).strip()
    report = Report("workers", "Workers beside one process", how)
    report.measure("cores that this run could use", [cores], "cores")
    for store in STORES:
        with ExitStack() as stack:
            sides = {
                workers: stack.enter_context(started(store, workers, rooms, clients, seconds))
                for workers in (0, *counts)
            }
            turns = {name_of(workers): side.round for workers, side in sides.items()}
            rates = take_turns(turns, rounds)
        for workers, side in sides.items():
            words = f"{store}, {name_of(workers)}"
            report.measure(words, rates[name_of(workers)], "texts / s")
            report.measure(f"{words}: CPU of the house", side.cpu[1:], "µs a text")
            report.measure(f"{words}: p99 of a delivery", side.p99[1:], "ms")
            report.measure(f"{words}: busiest client", side.busiest[1:], "cores")
        add_ratios(report, store, sides, rates, counts)
    return report


def add_ratios(
    report: Report, store: str, sides: dict[int, Side], rates: dict[str, list[float]], counts: list[int]
) -> None:
    """Each number of workers over one process, and over one worker."""
    for workers in counts:
        name, over = name_of(workers), partial(f"workers, {store}: {{}}, {{}} over {{}}".format)
        for base in (0, 1) if workers > 1 else (0,):
            theirs = name_of(base)
            report.ratio(over("texts a second", name, theirs), quotients(rates[name], rates[theirs]))
        cpu = quotients(sides[workers].cpu[1:], sides[0].cpu[1:])
        report.ratio(over("CPU of a text", name, name_of(0)), cpu)
