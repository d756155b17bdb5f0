"""Durable actions of 64 members in one room, compared with a bare echo server."""

from functools import partial
from typing import Any

from bench.clients import asked
from bench.common import Child, child, folder, quotients, take_turns
from bench.report import Report

CLIENTS = 64
HOW = f"""
{CLIENTS} WebSocket connections, each with its own token, act in one room on SQLite (WAL, full sync). Each sends its
next action when the last one is answered, which means synced. The bare side answers the same clients with messages
of the same sizes and does nothing else. It is plain Starlette; the house receives WebSocket messages on a faster
path than ASGI's (`faces/direct.py`). `bump` is an action of a small world, `send_message` writes to another member.
Servers are restarted several times, because two processes of the same program differ by a tenth. If other programs
use the machine, the ratio by the server's CPU time is the reliable one.
""".strip()


class Asking:
    """Many clients of one server."""

    def __init__(self, server: Child, crowd: Child, text: str, seconds: float) -> None:
        self.server, self.crowd, self.text, self.seconds = server, crowd, text, seconds
        self.cpu: list[float] = []

    def round(self) -> float:
        before = self.server.cpu
        found = self.crowd.ask("each", text=self.text, seconds=self.seconds)
        self.cpu.append((self.server.cpu - before) / found["all"] * 1e6)
        return float(found["rate"])


class Sides:
    """The results of both sides, over all processes."""

    def __init__(self) -> None:
        self.rate: dict[str, list[float]] = {"ours": [], "echo": []}
        self.cpu: dict[str, list[float]] = {"ours": [], "echo": []}
        self.size = 0

    def meet(self, text: str, seconds: float, rounds: int) -> None:
        """Measure a new house and a new echo server, alternating."""
        crowd = partial(child, "bench.clients:Crowd", 1)
        with folder() as data, child("bench.servers:house", 0, members=CLIENTS, world="plaza.py", data=data) as ours:
            url, tokens = ours.hello["url"], ours.hello["tokens"]
            with child("bench.clients:Blocking", 1, url=url, token=tokens[0]) as one:
                self.size = len(one.ask("answer", text=text).encode())
            with (
                crowd(url=url, tokens=tokens) as actors,
                child("bench.servers:echo", 0, size=self.size) as bare,
                crowd(url=bare.hello["url"], tokens=tokens) as others,
            ):
                sides = {"ours": Asking(ours, actors, text, seconds), "echo": Asking(bare, others, text, seconds)}
                found = take_turns({name: side.round for name, side in sides.items()}, rounds)
        for name, side in sides.items():
            self.rate[name] += found[name]
            self.cpu[name] += side.cpu[1:]


def run(quick: bool) -> Report:
    seconds, rounds, fresh = (0.5, 2, 1) if quick else (1.5, 4, 4)
    report = Report("durable", f"Durable actions, {CLIENTS} clients in one room", HOW)
    calls: dict[str, dict[str, Any]] = {"bump": {"by_n": 1}, "send_message": {"to": "m1", "content": "hello there"}}
    for name, args in calls.items():
        text, sides = asked(name, args), Sides()
        for _ in range(fresh):
            sides.meet(text, seconds, rounds)
        report.measure(
            f"{name} ({len(text)} bytes there, {sides.size} back)", sides.rate["ours"], "durable actions / s"
        )
        report.measure("bare echo (the same sizes)", sides.rate["echo"], "answers / s")
        report.measure(f"{name}, server CPU", sides.cpu["ours"], "µs an action")
        report.measure("bare echo, server CPU", sides.cpu["echo"], "µs an answer")
        report.ratio(
            f"durable: {name} a second over a bare echo", quotients(sides.rate["ours"], sides.rate["echo"]), 0.5
        )
        over = quotients(sides.cpu["echo"], sides.cpu["ours"])
        report.ratio(f"durable: {name} a server CPU-second over a bare echo", over)
    return report
