"""The calls of one member while others flood the house: how long they take, and how much memory the house uses."""

import time
from pathlib import Path

from bench.clients import asked
from bench.common import child, folder
from bench.report import Report

HOW = """
One client calls `whoami` and `send_message` by turns, every 10 ms, while another process floods the house in
one way, with a data folder and the default settings. The flooding clients have tokens of their own and come from the
same address. The aim is 250 ms at the 99th percentile. Clients share a core, so a part of the time is theirs.
""".strip()
LIMIT_MS = 250
FLOOD_STARTS_S = 0.5
"""Until a flood has reached its full rate."""
PAUSE_S = 0.01
"""Between two calls, so that they are spread over several seconds of a flood."""
FLOODS = {
    "valid_frames": "four WebSockets that send valid calls without pause",
    "malformed_frames": "four WebSockets that send malformed calls without pause",
    "pings": "four WebSockets that send pings without pause, two without reading",
    "writes": "four WebSockets that write messages of 4 KB without pause",
    "slow_readers": "the same, and 80 subscribers that never read",
    "headers": "four connections with endless headers",
    "addresses": "four connections with an endless address",
    "pipelined": "four connections with requests that do not wait for answers",
    "half_open": "as many connections as possible, each with half a request",
    "logins": "32 connections with wrong tokens",
}


WRITING = ("writes", "slow_readers")
MIN_STORED_BYTES = 1_000_000
"""A flood of writes that is refused would measure something else."""


def stored_bytes(data: str) -> int:
    return sum(path.stat().st_size for path in Path(data).glob("cohabit.db*"))


def run(quick: bool) -> Report:
    rounds, calls = (1, 50) if quick else (3, 200)
    report = Report("overload", "Calls during a flood", HOW)
    texts = [asked("whoami"), asked("send_message", {"to": "*", "content": "still here"})]
    for kind, words in {"": "no flood", **FLOODS}.items():
        late: list[float] = []
        memory: list[float] = []
        for _ in range(rounds):
            with (
                folder() as data,
                child(
                    "bench.servers:house",
                    0,
                    members=10,
                    world="nim",
                    seated=False,
                    role="narrator",  # may send to all
                    data=data,
                    limits=True,
                ) as server,
            ):
                url, tokens = server.hello["url"], server.hello["tokens"]
                before = server.memory
                with (
                    child("bench.clients:Blocking", 1, url=url, token=tokens[0]) as member,
                    child("bench.floods:Flood", 1, kind=kind or "logins", url=url, tokens=tokens[1:9]) as flood,
                ):
                    member.ask("connect")
                    if kind:
                        flood.ask("start")
                    time.sleep(FLOOD_STARTS_S)
                    late.append(member.ask("alternate", texts=texts, times=calls, pause_s=PAUSE_S)["p99"] / 1e3)
                    memory.append((server.memory - before) / 1e6)
                    flood.ask("stop")
                    if kind in WRITING:
                        assert stored_bytes(data) > MIN_STORED_BYTES, f"{kind}: the flood was refused"
        report.measure(f"{words}: p99 of a call", late, "ms")
        report.measure(f"{words}: memory of the house, more than before", memory, "MB")
        if kind:
            over = [p99 / LIMIT_MS for p99 in late]
            report.ratio(f"overload: {kind}: p99 over {LIMIT_MS} ms", over, 1.0, "at most")
    return report
