"""Durable actions of 64 members in one room, against what the same clients get from a bare echo."""

from functools import partial

from bench.clients import asked
from bench.common import Child, child, folder, quotients, take_turns
from bench.report import Report

CLIENTS = 64
HOW = f"""
{CLIENTS} WebSocket connections, each with a token of its own, act in one room on SQLite (WAL, full sync): each
sends its next action when the last one is answered, that is: synced. The bare side answers the same clients
with messages of the same sizes and does nothing else. `bump` is an action of a small world, `send_message`
writes to another member. Where the clients' own core is what limits the echo, the ratio by the server's
processor time is the stricter one.
""".strip()


class Asking:
    """A crowd at one server."""

    def __init__(self, server: Child, crowd: Child, text: str, seconds: float) -> None:
        self.server, self.crowd, self.text, self.seconds = server, crowd, text, seconds
        self.cpu: list[float] = []

    def round(self) -> float:
        before = self.server.cpu
        found = self.crowd.ask("each", text=self.text, seconds=self.seconds)
        self.cpu.append((self.server.cpu - before) / found["all"] * 1e6)
        return float(found["rate"])


def run(quick: bool) -> Report:
    seconds, rounds = (0.5, 2) if quick else (2.0, 9)
    report = Report("durable", f"Durable actions, {CLIENTS} clients in one room", HOW)
    crowd = partial(child, "bench.clients:Crowd", 1)
    for name, args in (("bump", {"by_n": 1}), ("send_message", {"to": "m1", "content": "hello there"})):
        text = asked(name, args)
        with folder() as data, child("bench.servers:house", 0, members=CLIENTS, world="plaza.py", data=data) as ours:
            url, tokens = ours.hello["url"], ours.hello["tokens"]
            with child("bench.clients:Blocking", 1, url=url, token=tokens[0]) as one:
                size = len(one.ask("answer", text=text).encode())
            with (
                crowd(url=url, tokens=tokens) as actors,
                child("bench.servers:echo", 0, size=size) as bare,
                crowd(url=bare.hello["url"], tokens=tokens) as others,
            ):
                mine, theirs = Asking(ours, actors, text, seconds), Asking(bare, others, text, seconds)
                found = take_turns({"ours": mine.round, "echo": theirs.round}, rounds)
        report.measure(f"{name} ({len(text)} bytes there, {size} back)", found["ours"], "durable actions / s")
        report.measure("bare echo (the same sizes)", found["echo"], "answers / s")
        report.measure(f"{name}, server CPU", mine.cpu[1:], "µs an action")
        report.measure("bare echo, server CPU", theirs.cpu[1:], "µs an answer")
        report.ratio(f"durable: {name} a second over a bare echo", quotients(found["ours"], found["echo"]), 0.5)
        report.ratio(f"durable: {name} a server CPU-second over a bare echo", quotients(theirs.cpu, mine.cpu)[1:])
    return report
