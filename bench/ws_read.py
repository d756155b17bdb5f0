"""A read over WebSocket, compared with a bare echo server with the same sizes and the same client."""

from functools import partial

from bench.clients import asked
from bench.common import Child, child, quotients, take_turns
from bench.report import Report

HOW = """
One connection repeatedly calls `heap` and `view` of nim. The bare side is Starlette's WebSocket on the same server
settings (uvicorn, httptools, websockets-sansio, uvloop), with requests and answers of the same
sizes. It is plain Starlette; the house receives WebSocket messages on a faster path than ASGI's
(`faces/direct.py`). The client is a plain blocking socket, so nearly all of the time is the server's. Servers are
restarted several times, because two processes of the same program differ by a tenth.
""".strip()


class Asking:
    """One client of one server."""

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


class Sides:
    """The results of both sides, over all processes."""

    def __init__(self) -> None:
        self.p50: dict[str, list[float]] = {"ours": [], "echo": []}
        self.p99: dict[str, list[float]] = {"ours": [], "echo": []}
        self.cpu: dict[str, list[float]] = {"ours": [], "echo": []}
        self.size = 0

    def meet(self, text: str, times: int, rounds: int) -> None:
        """Measure a new house and a new echo server, alternating."""
        reader = partial(child, "bench.clients:Blocking", 1)
        with (
            child("bench.servers:house", 0, members=2, world="nim") as ours,
            reader(url=ours.hello["url"], token=ours.hello["tokens"][0]) as one,
        ):
            self.size = len(one.ask("answer", text=text).encode())
            with child("bench.servers:echo", 0, size=self.size) as bare, reader(url=bare.hello["url"]) as other:
                sides = {"ours": Asking(ours, one, text, times), "echo": Asking(bare, other, text, times)}
                found = take_turns({name: side.round for name, side in sides.items()}, rounds)
        for name, side in sides.items():
            self.p50[name] += found[name]
            self.p99[name] += side.p99[1:]
            self.cpu[name] += side.cpu[1:]


def run(quick: bool) -> Report:
    times, rounds, fresh = (200, 3, 1) if quick else (1500, 5, 4)
    report = Report("ws-read", "A read over WebSocket", HOW)
    for command in ("heap", "view"):
        text, sides = asked(command), Sides()
        for _ in range(fresh):
            sides.meet(text, times, rounds)
        sizes = f"{len(text)} bytes there, {sides.size} back"
        for name, words in (("ours", f"{command} ({sizes})"), ("echo", "bare echo (the same sizes)")):
            report.measure(f"{words}: p50", sides.p50[name], "µs")
            report.measure(f"{words}: p99", sides.p99[name], "µs")
            report.measure(f"{words}: server CPU", sides.cpu[name], "µs a read")
        over = quotients(sides.p50["ours"], sides.p50["echo"])
        report.ratio(f"ws-read: p50 of {command} over a bare echo", over, 1.5, "at most")
    return report
