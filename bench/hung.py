"""The calls of one member while worlds in other rooms of the house hang, or are slow."""

import time

from bench.clients import asked
from bench.common import child, folder
from bench.report import Report

HOW = """
One client calls `whoami` and `send_message` by turns, every 10 ms, in a room of nim, with a data folder and the default
settings. In other rooms of the house a world from a file that declares `quick` does not return: it computes in Python,
or it blocks. A world that is slow computes for 100 ms in each call and is called without pause. The aim is 250 ms at
the 99th percentile. It has no aim for 20 worlds that compute at once: until they are stopped, the event loop takes its
turn with 20 threads. Native code that keeps Python's global interpreter lock, such as a regular expression that
backtracks, stops the whole house and is not measured.
""".strip()
LIMIT_MS = 250
PAUSE_S = 0.01
KINDS = {
    "spin-1": ("one world that computes for ever", "spin", 1),
    "spin-20": ("20 worlds that compute for ever", "spin", 20),
    "sleep-20": ("20 worlds that block for ever", "sleep", 20),
    "slow-4": ("four worlds that are slow", "plod", 4),
}


def run(quick: bool) -> Report:
    rounds, calls = (1, 100) if quick else (3, 600)
    report = Report("hung", "Calls while other worlds hang", HOW)
    texts = [asked("whoami"), asked("send_message", {"to": "*", "content": "still here"})]
    for kind, (words, action, rooms) in {"": ("no world that hangs", "", 1), **KINDS}.items():
        late: list[float] = []
        for _ in range(rounds):
            with folder() as data, child("bench.servers:hung_worlds", 0, rooms=rooms, data=data) as server:
                url, tokens = server.hello["url"], server.hello["tokens"]
                with (
                    child("bench.clients:Blocking", 1, url=url, token=tokens[0]) as member,
                    child("bench.clients:Callers", 1, url=url, tokens=tokens[1:], text=asked(action)) as callers,
                ):
                    member.ask("connect")
                    if kind:
                        callers.ask("start")
                        time.sleep(PAUSE_S)
                    late.append(member.ask("alternate", texts=texts, times=calls, pause_s=PAUSE_S)["p99"] / 1e3)
        report.measure(f"{words}: p99 of a call", late, "ms")
        if kind:
            over = [p99 / LIMIT_MS for p99 in late]
            report.ratio(f"hung: {kind}: p99 over {LIMIT_MS} ms", over, None if kind == "spin-20" else 1.0, "at most")
    return report
