"""A question over WebSocket against a bare echo of the same sizes, by the same client."""

from functools import partial

from bench.clients import asked
from bench.common import Child, child, quotients, take_turns
from bench.report import Report

HOW = """
One connection asks `heap` and `view` of nim, again and again; the bare side is Starlette's WebSocket on the same
server settings (uvicorn, httptools, websockets-sansio, uvloop), taking and answering with messages of the same
sizes. The client is a plain blocking socket, so that nearly all of the time is the server's.
""".strip()


class Asking:
    """One client at one server."""

    def __init__(self, server: Child, client: Child, text: str, times: int) -> None:
        self.server, self.client, self.text, self.times = server, client, text, times
        self.p99: list[float] = []
        self.cpu: list[float] = []

    def round(self) -> float:
        before = self.server.cpu
        found = self.client.ask("round", text=self.text, times=self.times)
        self.cpu.append((self.server.cpu - before) / self.times * 1e6)
        self.p99.append(found["p99"])
        return float(found["p50"])


def run(quick: bool) -> Report:
    times, rounds = (200, 3) if quick else (1500, 15)
    report = Report("ws-read", "A read over WebSocket", HOW)
    reader = partial(child, "bench.clients:Blocking", 1)
    with child("bench.servers:house", 0, members=2, world="nim") as ours:
        for command in ("heap", "view"):
            text = asked(command)
            with reader(url=ours.hello["url"], token=ours.hello["tokens"][0]) as one:
                size = len(one.ask("answer", text=text).encode())
                with child("bench.servers:echo", 0, size=size) as bare, reader(url=bare.hello["url"]) as other:
                    mine, theirs = Asking(ours, one, text, times), Asking(bare, other, text, times)
                    found = take_turns({"ours": mine.round, "echo": theirs.round}, rounds)
            report.measure(f"{command}, p50 ({len(text)} bytes there, {size} back)", found["ours"], "µs")
            report.measure("bare echo, p50 (the same sizes)", found["echo"], "µs")
            for name, side in ((command, mine), ("bare echo", theirs)):
                report.measure(f"{name}, p99", side.p99[1:], "µs")
                report.measure(f"{name}, server CPU", side.cpu[1:], "µs a read")
            over = quotients(found["ours"], found["echo"])
            report.ratio(f"ws-read: p50 of {command} over a bare echo", over, 1.5, "at most")
            report.ratio(f"ws-read: server CPU of {command} over a bare echo", quotients(mine.cpu, theirs.cpu)[1:])
    return report
