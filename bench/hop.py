"""A call about a room of another process of the house, compared with one that goes straight to the process of the
room."""

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

from bench.clients import asked, posted
from bench.common import Child, child, folder, quotients, take_turns
from bench.many import token_of
from bench.report import Report

HOW = """
A house with two workers on SQLite; one client at a time, a plain blocking socket. *Direct*: the front has passed the
connection on to the worker of the room, so a call costs what it costs in one process. *Relayed*: the connection is in
another process of the house, which sends each call on. Over HTTP and MCP the connection belongs to the other worker,
because its first request was about a room there; over WebSocket it is in the front, where tokens that are not bound to
a room connect. `whoami` changes nothing, so what remains is mostly the way; `send_message` is answered when it is on
disk. CPU is that of all processes of the house.
""".strip()
ROOMS = 8
HOUSE_WIDE = range(0, ROOMS, 2)
"""Rooms whose tokens are not bound to them."""
CALLS = {"whoami": {}, "send_message": {"to": "*", "content": "hello there"}}
INTERFACES = ("HTTP", "WebSocket", "MCP")


class Way(NamedTuple):
    """How a connection comes to a room. ``first``: the room of its first request, over HTTP. ``room``: of its calls."""

    url: str
    first: int
    room: int


class Places(NamedTuple):
    """Two rooms of one worker, of which one has a token that is bound to it, and a room of the other worker."""

    house_wide: int
    bound: int
    elsewhere: int

    @classmethod
    def among(cls, nodes: Mapping[str, str]) -> "Places":
        """``nodes``: by room."""
        node = {number: nodes[f"bench-{number}"] for number in range(ROOMS)}
        chosen = next(
            (wide, bound)
            for wide in HOUSE_WIDE
            for bound in node
            if bound not in HOUSE_WIDE and node[bound] == node[wide]
        )
        return cls(*chosen, next(number for number in node if node[number] != node[chosen[0]]))


class Calling:
    """One client, which repeats a call."""

    def __init__(self, house: Child, client: Child, times: int, text: str | None) -> None:
        self.house, self.client, self.times = house, client, times
        self._args = {} if text is None else {"text": text}
        self.p99: list[float] = []
        self.cpu: list[float] = []

    def round(self) -> float:
        """p50, in microseconds."""
        before = self.house.cpu
        found = self.client.ask("round", times=self.times, **self._args)
        self.cpu.append((self.house.cpu - before) / self.times * 1e6)
        self.p99.append(found["p99"])
        return float(found["p50"])


@contextmanager
def calling(house: Child, interface: str, way: Way, command: str, times: int) -> Iterator[Calling]:
    room, token, args = f"bench-{way.room}", token_of(way.room, 0), CALLS[command]
    if interface == "WebSocket":
        text = asked(command, args, room)
        target, given = "bench.clients:Blocking", {"url": way.url, "token": token}
    else:
        text = None
        first = posted(way.url, f"/api/rooms/bench-{way.first}/whoami", token, "")
        if interface == "HTTP":
            request = posted(way.url, f"/api/rooms/{room}/{command}", token, json.dumps(args))
            target, given = "bench.clients:KeptAlive", {"url": way.url, "request": request, "first": first}
        else:
            tool = {"path": f"/mcp/{room}?profile=full", "token": token, "tool": command, "args": args}
            target, given = "bench.clients:Posting", {"url": way.url, "first": first, **tool}
    with child(target, None, **given) as client:
        found = client.ask("answer", **({} if text is None else {"text": text}))
        assert not any(word in str(found) for word in ('"ok":false', "'error'", "'isError': True")), found
        yield Calling(house, client, times, text)


def ways(interface: str, url: str, places: Places) -> dict[str, Way]:
    """One entry per way to the same process. The first is the one that the others are compared with."""
    wide, bound, elsewhere = places
    if interface == "WebSocket":
        return {"direct": Way(url, bound, bound), "relayed": Way(url, wide, wide)}
    return {"direct": Way(url, wide, wide), "relayed": Way(url, elsewhere, wide)}


def run(quick: bool) -> Report:
    times, rounds = (60, 2) if quick else (500, 7)
    report = Report("hop", "A call through another process of the house", HOW)
    with folder() as data:
        plan = {"workers": 2, "rooms": ROOMS, "members": 1, "house_wide": [*HOUSE_WIDE], "mcp": True, "data": data}
        with child("bench.many:house", None, **plan) as house:
            for interface in INTERFACES:
                for command in CALLS:
                    compare(report, house, interface, command, times, rounds)
    return report


def compare(report: Report, house: Child, interface: str, command: str, times: int, rounds: int) -> None:
    with ExitStack() as stack:
        sides = {
            name: stack.enter_context(calling(house, interface, way, command, times))
            for name, way in ways(interface, house.hello["url"], Places.among(house.hello["nodes"])).items()
        }
        p50 = take_turns({name: side.round for name, side in sides.items()}, rounds)
    base, *others = sides
    case = f"{interface}, {command}"
    for name, side in sides.items():
        report.measure(f"{case}, {name}: p50", p50[name], "µs")
        report.measure(f"{case}, {name}: p99", side.p99[1:], "µs")
        report.measure(f"{case}, {name}: CPU of the house", side.cpu[1:], "µs a call")
    for name in others:
        report.ratio(f"hop, {case}: p50, {name} over {base}", quotients(p50[name], p50[base]))
        report.ratio(f"hop, {case}: p99, {name} over {base}", quotients(sides[name].p99[1:], sides[base].p99[1:]))
        report.ratio(f"hop, {case}: CPU, {name} over {base}", quotients(sides[name].cpu[1:], sides[base].cpu[1:]))
