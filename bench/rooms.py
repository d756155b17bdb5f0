"""Chat in rooms of 10, 100 and 1,000 members, and in 1,000 rooms of four, compared with Colyseus."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager

from bench.common import Child, child, folder, quotients, take_turns
from bench.report import Report
from bench.small_rooms import add_steps

SIZE = 200
"""Bytes of a text."""
SIDES = {"durable": "ours", "memory": "ours, in memory", "colyseus": "Colyseus", "bare": "bare broadcast in C"}
HOUSE_AND_PEER = ("durable", "memory", "colyseus")
WINDOWS = {"one at a time": 1, "8 in flight": 8}
CPU_TICK_S = 0.01
"""The unit in which CPU time is counted. It is too long for one round, so rounds are added up."""
ACROSS_ROOMS = 64
"""Texts in flight over many rooms."""
HOW = f"""
Members of a room, each with its own WebSocket. One of them sends texts of {SIZE} bytes to everyone, and all, including
the sender, receive them. *One at a time*: the next text is sent when the last one has reached all members. *8 in
flight*: always eight texts are on their way. A delivery is one text received by one member; its delay counts from the
moment the text was sent. The client is the same for all sides (picows). It checks that every member receives every text
of its room once and in order; one text before each measurement is decoded completely.

*Ours* is `send_message` to everyone in a house on SQLite (WAL, full sync): a text is authorized, recorded in the hash
chain, put into the inboxes and synced before anybody receives it. *Ours, in memory* is the same without SQLite, which
shows the price of durability. The members are subscribed without views. *Colyseus* is 0.18 on Node 22
(`@colyseus/core` and `@colyseus/ws-transport`; the package `colyseus` also needs a transport that is not on npm): a
room that broadcasts what a client sends and keeps nothing; its timer for state changes runs once a second instead of 20
times, in its favour. *Bare broadcast in C* is picows' server, which sends messages of the size of ours and does nothing
else.

If several texts arrive together or wait for the disk, a house sends them to a member in one WebSocket message. Colyseus
sends one for each. *Texts per message* says how many. In {{rooms}} rooms of four the senders take turns. *Memory of a
room* is what a room adds to the server with its four connected members. The last ratios show single steps of a message
in a small room, beside the same step done in the simple way: CPU time in one process, without a server.

Room for improvement: with one text at a time each delivery is one system call on every side, and these calls take more
than half of the time, ours and Colyseus'. The rest of ours is Python in uvicorn's event loop and in the path of a frame
(`Subscription.push_event`, `DirectProtocol.write`). *1.5 times* Colyseus needs a WebSocket server in C, such as picows,
behind the same interface: `faces/direct.py` uses little of uvicorn's protocol (a message has arrived, write a frame,
the buffer is full or free again, the connection is lost), and the row of the bare broadcast is the limit of that
approach. *3 times* needs fewer system calls on the core of the room: several texts in one message, as with 8 in flight;
writes to many connections in one call (`io_uring`); or connections in other processes, which get each frame once from
the process of the room and write it to their own clients.
""".strip()


class Sending:
    """The members of all rooms of one server."""

    def __init__(self, server: Child, audience: Child) -> None:
        self.server, self.audience = server, audience
        self.found: dict[str, list[float]] = {}

    def round(self, window: int, seconds: float) -> float:
        before = self.server.cpu
        found = self.audience.ask("in_flight", window=window, seconds=seconds)
        found["cpu"] = max(CPU_TICK_S, self.server.cpu - before)
        for name, value in found.items():
            self.found.setdefault(name, []).append(value)
        return float(found["rate"])


@contextmanager
def started(side: str, rooms: int, members: int, size: int = SIZE) -> Iterator[Sending]:
    """A server with these rooms, and all members in them. ``size``: of the messages of a bare broadcast."""
    with ExitStack() as stack:
        if side == "colyseus":
            server = stack.enter_context(child("bench.servers:colyseus", 0))
        elif side == "bare":
            server = stack.enter_context(child("bench.servers:broadcast_in_c", 0, size=size))
        else:
            data = stack.enter_context(folder()) if side == "durable" else ""
            plan = {"members": 0, "people": members, "rooms": rooms, "world": "plaza.py", "data": data}
            server = stack.enter_context(child("bench.servers:house", 0, **plan))
        joining = {"side": side, "rooms": rooms, "members": members, "size": SIZE, **server.hello}
        yield Sending(server, stack.enter_context(child("bench.room_clients:Audience", 1, **joining)))


class Found:
    """The measurements of each side, over all of its processes."""

    def __init__(self) -> None:
        self.by_side: dict[str, dict[str, list[float]]] = {}

    def rounds(self, sides: dict[str, Sending], window: int, seconds: float, rounds: int) -> None:
        for side in sides.values():
            side.found = {}
        take_turns({name: _round(side, window, seconds) for name, side in sides.items()}, rounds)
        for name, side in sides.items():
            for what, values in side.found.items():
                self.by_side.setdefault(name, {}).setdefault(what, []).extend(values[1:])  # without the warm-up

    def show(
        self, report: Report, case: str, *, aims: bool = False, of_cpu: Mapping[str, float | None] | None = None
    ) -> None:
        """``of_cpu``: what a CPU-second of a side has to do of what one of Colyseus does."""
        cpu = {side: sum(f["cpu"]) / sum(f["deliveries"]) * 1e6 for side, f in self.by_side.items()}
        for side, found in self.by_side.items():
            words = SIDES[side]
            report.measure(f"{case}: {words}", found["rate"], "deliveries / s")
            report.measure(f"{case}: {words}: p99", found["p99"], "ms")
            report.measure(f"{case}: {words}: server CPU", [cpu[side]], "µs a delivery")
            if side == "durable":
                per_message = quotients(found["deliveries"], found["messages"])
                report.measure(f"{case}: {words}: texts per message", per_message, "texts")
        theirs = self.by_side["colyseus"]
        for side, found in self.by_side.items():
            if side == "colyseus":
                continue
            words, aim = SIDES[side], aims and side == "durable"
            over = quotients(found["rate"], theirs["rate"])
            report.ratio(f"rooms, {case}: {words}, over Colyseus", over, 1.2 if aim else None)
            late = quotients(found["p99"], theirs["p99"])
            report.ratio(f"rooms, {case}: p99 of {words}, over Colyseus", late, 1.0 if aim else None, "at most")
        for side, aim_of_side in (of_cpu or {"durable": None}).items():
            over = [cpu["colyseus"] / cpu[side]]
            report.ratio(f"rooms, {case}: {SIDES[side]}, a server CPU-second, over Colyseus", over, aim_of_side)


def _round(side: Sending, window: int, seconds: float) -> Callable[[], float]:
    return lambda: side.round(window, seconds)


def one_room(report: Report, members: int, seconds: float, rounds: int, fresh: int) -> None:
    found = {words: Found() for words in WINDOWS}
    for _ in range(fresh):
        with ExitStack() as stack:
            sides = {side: stack.enter_context(started(side, 1, members)) for side in HOUSE_AND_PEER}
            size = sides["durable"].audience.ask("check")
            sides["bare"] = stack.enter_context(started("bare", 1, members, size))
            for words, window in WINDOWS.items():
                for side in sides.values():
                    side.audience.ask("check")
                found[words].rounds(sides, window, seconds, rounds)
    for words, of_window in found.items():
        of_window.show(report, f"{members:,} members, {words}", aims=members == 1000 and words == "8 in flight")


def many_rooms(report: Report, rooms: int, members: int, seconds: float, times: int) -> None:
    found, memory = Found(), {}
    with ExitStack() as stack:
        sides = {}
        for side in HOUSE_AND_PEER:
            with started(side, 1, members) as one:
                base = one.server.memory
            sides[side] = stack.enter_context(started(side, rooms, members))
            memory[side] = (sides[side].server.memory - base) / (rooms - 1) / 1024
            sides[side].audience.ask("check")
        found.rounds(sides, ACROSS_ROOMS, seconds, times)
    case = f"{rooms:,} rooms of {members}"
    found.show(report, f"{case}, {ACROSS_ROOMS} in flight", of_cpu={"durable": 0.42, "memory": 0.5})
    for side in HOUSE_AND_PEER:
        report.measure(f"{case}: memory of a room, {SIDES[side]}", [memory[side]], "KiB")
    for side in ("durable", "memory"):
        over = [memory[side] / memory["colyseus"]]
        report.ratio(f"rooms, {case}: memory of a room, {SIDES[side]}, over Colyseus", over, 1.6, "at most")


def run(quick: bool) -> Report:
    sizes, seconds, rounds, fresh = ((50,), 0.3, 2, 1) if quick else ((10, 100, 1000), 1.5, 4, 2)
    rooms = 20 if quick else 1000
    report = Report("rooms", "Chat in rooms, beside Colyseus", HOW.format(rooms=f"{rooms:,}"))
    for members in sizes:
        one_room(report, members, seconds, rounds, fresh)
    many_rooms(report, rooms, 4, seconds, rounds * fresh)
    add_steps(report, quick)
    return report
