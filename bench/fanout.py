"""One room with a thousand connected members, compared with a bare broadcast of the same frames."""

import json
from functools import partial
from typing import Any

from bench.clients import asked
from bench.common import Child, child, folder, quotients, take_turns
from bench.report import Report

HOW = """
{n} members of one room, each with its own token and subscribed WebSocket. One of them acts, and acts again when all
have received their frames. The store is SQLite. *Same for all*: watchers who get the event and the new view (two
frames per action). *Every view differs*: seats that each see their own counter; only the view is sent. The bare side
is raw ASGI on the same server settings that sends the same number of frames of the same sizes to all clients, in the
faster of two ways: directly, or through a queue and a writer task per client. The house writes its frames on a faster
path than ASGI's (`faces/direct.py`).
""".strip()


class Sending:
    """Many clients of one server, one of which acts."""

    def __init__(self, server: Child, crowd: Child, text: str, frames: int, seconds: float) -> None:
        self.server, self.crowd, self.text, self.frames, self.seconds = server, crowd, text, frames, seconds
        self.found: dict[str, list[float]] = {"p50": [], "p99": [], "cpu": []}

    def round(self) -> float:
        before = self.server.cpu
        found = self.crowd.ask("broadcasts", text=self.text, frames=self.frames, seconds=self.seconds)
        self.found["cpu"].append((self.server.cpu - before) / (found["count"] * self.frames) * 1e6)
        self.found["p50"].append(found["p50"])
        self.found["p99"].append(found["p99"])
        return float(found["rate"])


def probed(answers: list[str], people: int) -> tuple[list[int], int]:
    """The sizes of the frames that each client gets for one action, and the total number of frames."""
    lengths: dict[str, list[int]] = {}
    for frame in answers:
        push = json.loads(frame).get("push")
        if push is not None:
            lengths.setdefault(push, []).append(len(frame.encode()))
    sizes = [round(sum(all_of) / len(all_of)) for all_of in lengths.values() if len(all_of) > people / 2]
    return sizes, len(answers)


def case(report: Report, name: str, people: int, seconds: float, rounds: int, aim: float | None, **plan: Any) -> None:
    text = asked("bump", {"by_n": 1})
    with (
        folder() as data,
        child("bench.servers:house", 0, world="plaza.py", data=data, **plan) as ours,
        child("bench.clients:Crowd", 1, url=ours.hello["url"], tokens=ours.hello["tokens"]) as crowd,
    ):
        crowd.ask("everybody", text=asked("subscribe"))
        crowd.ask("quiet", for_s=1.5)
        crowd.ask("probe", text=text)
        sizes, frames = probed(crowd.ask("probe", text=text), people)
        crowds = partial(child, "bench.clients:Crowd", 1, tokens=["x"] * people)
        with (
            child("bench.servers:broadcast", 0, frames=sizes, how="direct") as direct,
            child("bench.servers:broadcast", 0, frames=sizes, how="queue") as queue,
            crowds(url=direct.hello["url"]) as at_direct,
            crowds(url=queue.hello["url"]) as at_queue,
        ):
            everywhere = {
                "ours": Sending(ours, crowd, text, frames, seconds),
                "straight": Sending(direct, at_direct, "go", len(sizes) * people, seconds),
                "queues": Sending(queue, at_queue, "go", len(sizes) * people, seconds),
            }
            found = take_turns({n: s.round for n, s in everywhere.items()}, rounds)
    faster = max(("straight", "queues"), key=lambda n: sorted(found[n])[len(found[n]) // 2])
    for n, words in (("ours", name), ("straight", "bare broadcast, straight"), ("queues", "bare broadcast, queues")):
        side = everywhere[n].found
        report.measure(f"{words} ({' + '.join(map(str, sizes))} bytes)", found[n], "deliveries / s")
        report.measure(f"{words}: server CPU", side["cpu"][1:], "µs a delivery")
        report.measure(f"{words}: p50 after the act", side["p50"][1:], "ms")
        report.measure(f"{words}: p99 after the act", side["p99"][1:], "ms")
    cpu, bare = everywhere["ours"].found["cpu"], everywhere[faster].found["cpu"]
    over = quotients(found["ours"], found[faster])
    report.ratio(f"fanout, {name}: a second, over a bare broadcast", over, aim)
    report.ratio(f"fanout, {name}: a server CPU-second, over a bare broadcast", quotients(bare, cpu)[1:])


def run(quick: bool) -> Report:
    people, seconds, rounds = (100, 0.5, 2) if quick else (1000, 2.0, 7)
    report = Report("fanout", f"Fan-out to {people} members of one room", HOW.format(n=f"{people:,}"))
    same = {"members": 1, "watchers": people - 1, "config": {"aloud": True}}
    case(report, "same for all", people, seconds, rounds, 0.8, **same)
    case(report, "every view differs", people, seconds, rounds, 0.5, members=people, config={"one_moves": True})
    return report
