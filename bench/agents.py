"""The calls of one member while agents of the same house wait for a model server."""

import time

from bench.clients import asked
from bench.common import child
from bench.report import Report

HOW = """
{n} agents, two to a room, think with a model server that answers each question after {delay:g} s, over HTTP with
OpenAI's client. One member in a room of its own calls `whoami` and `send_message` by turns, every 10 ms. The aim is
that the 99th percentile of its calls is at most 20 ms later than in the same house without agents. The model server
and the member share a core.
""".strip()
LIMIT_MS = 20
DELAY_S = 2.0
PAUSE_S = 0.01
STARTING_S = 8.0
"""Until all agents have connected and asked their first question."""


def run(quick: bool) -> Report:
    agents, rounds, calls = (10, 1, 100) if quick else (100, 3, 600)
    report = Report("agents", f"Calls while {agents} agents wait", HOW.format(n=agents, delay=DELAY_S))
    texts = [asked("whoami"), asked("send_message", {"to": "*", "content": "still here"})]
    found: dict[int, list[float]] = {0: [], agents: []}
    with child("bench.servers:slow_model", 1, delay_s=DELAY_S) as model:
        for _ in range(rounds):
            for count, p99 in found.items():
                with (
                    child("bench.servers:waiting_agents", 0, agents=count, model=model.hello["url"]) as server,
                    child("bench.clients:Blocking", 1, url=server.hello["url"], token=server.hello["tokens"][0]) as me,
                ):
                    me.ask("connect")
                    time.sleep(1 if quick or not count else STARTING_S)
                    p99.append(me.ask("alternate", texts=texts, times=calls, pause_s=PAUSE_S)["p99"] / 1e3)
    for count, p99 in found.items():
        report.measure(f"{count} agents that wait: p99 of another member's call", p99, "ms")
    later = [(busy - idle) / LIMIT_MS for idle, busy in zip(*found.values(), strict=True)]
    report.ratio(f"agents: {agents} that wait: delay of a call at p99, over {LIMIT_MS} ms", later, 1.0, "at most")
    return report
