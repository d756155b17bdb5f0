"""Reopening a room with a long record, verifying the record, and the memory of idle rooms and members."""

import gc
import random
import resource
import time
from functools import partial
from pathlib import Path
from typing import Any

from bench.clients import asked
from bench.common import child, folder, median, quotients, take_turns
from bench.report import Report

HOW = """
A room in which tic-tac-toe is played repeatedly, on SQLite, with a snapshot every 1,000 entries, as in a house.
*Reopen*: the store, the newest snapshot and the entries after it (900 here, near the worst case). *Verify*: the whole
chain of digests, and every entry replayed from the first. Memory is the growth of the server process's own memory
(USS), divided by the number of added rooms or members.
""".strip()
SNAPSHOT_EVERY = 1000
TAIL = 900


class Keeper:
    """A store in a folder, with a long record."""

    def __init__(self, path: str) -> None:
        self.path = Path(path)

    def build(self, events: int) -> None:
        """Play until there are this many entries, with the last snapshot ``TAIL`` entries before the end."""
        from cohabit.house.store.contract import Write
        from cohabit.house.store.sqlite import SQLiteStore
        from cohabit.registry import make_world
        from cohabit.room.opening import opening_state
        from cohabit.room.room import Room
        from cohabit.scenario import AgentSpec, Scenario

        store = SQLiteStore(self.path)
        agents = [AgentSpec(id=f"m{i}", role="player", claim=f"auto:{i}") for i in range(2)]
        plan = Scenario(world="tictactoe", agents=[*agents, AgentSpec(id="host", role="host")])
        world = make_world("tictactoe", {})
        at, choose = 1_000_000, random.Random(1).choice
        room = Room.create(opening_state(plan, world, "tictactoe", "long", 1, "00" * 16), world, at)
        first = room.snapshot()
        store.commit([Write("long", room.record.take_pending(), (first.seq, first.encode()))])
        room.stored(first)
        move, snapshot_at = 0, (events - TAIL) % SNAPSHOT_EVERY
        while room.record.seq + 1 < events:
            at += 1
            free = [i for i, mark in enumerate(world.board) if mark.isdigit()]  # type: ignore[attr-defined]
            over = room.call(f"m{move % 2}", "mark", {"cell": choose(free)}, at=at).done
            move += 1
            if over:
                room.call("host", "rematch", at=at)
                move = 0
            if room.record.seq >= snapshot_at:
                snapshot = room.snapshot()
                store.commit([Write("long", room.record.take_pending(), (snapshot.seq, snapshot.encode()))])
                room.stored(snapshot)
                snapshot_at += SNAPSHOT_EVERY
        store.commit([Write("long", room.record.take_pending())])
        store.close()

    def load(self) -> float:
        """Open the store and the room. Returns milliseconds."""
        from cohabit.house.store.loading import load_room
        from cohabit.house.store.sqlite import SQLiteStore

        gc.collect()
        began = time.perf_counter()
        store = SQLiteStore(self.path)
        room = load_room(store, "long")
        took = time.perf_counter() - began
        assert room.record.seq > 0
        store.close()
        return took * 1000

    def verify(self) -> float:
        """Verify the whole record. Returns entries per CPU second."""
        from cohabit.house.store.sqlite import SQLiteStore
        from cohabit.registry import make_world
        from cohabit.room.record import GENESIS, read_lines
        from cohabit.room.room import Room

        store = SQLiteStore(self.path)
        began, count = time.process_time(), 0
        for _ in Room.replaying(read_lines(store.lines("long", -1), -1, GENESIS), make_world):
            count += 1
        took = time.process_time() - began
        store.close()
        return count / took

    def peak(self) -> float:
        """The peak memory of this process, in MiB."""
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def memory(report: Report, quick: bool) -> None:
    rooms, members, connected = (50, 200, 50) if quick else (400, 3000, 1000)
    two: dict[str, Any] = {"members": 2, "world": "nim", "seated": True}

    def weight(**plan: Any) -> int:
        with folder() as data, child("bench.servers:house", 0, data=data, **plan) as server:
            return server.memory

    few, many = weight(**two, rooms=1), weight(**two, rooms=1 + rooms)
    report.measure("memory of an idle room (nim, two members)", [(many - few) / rooms / 1024], "KiB")
    crowd = {"world": "plaza.py", "config": {"one_moves": True}, "members": 1}
    few, many = weight(**crowd), weight(**crowd, watchers=members)
    report.measure("memory of a member who is not connected", [(many - few) / members / 1024], "KiB")
    with folder() as data, child("bench.servers:house", 0, data=data, **crowd, watchers=connected) as server:
        before = server.memory
        with child("bench.clients:Crowd", 1, url=server.hello["url"], tokens=server.hello["tokens"]) as people:
            people.ask("everybody", text=asked("subscribe"))
            people.ask("quiet", for_s=1.0)
            each = (server.memory - before) / connected / 1024
    report.measure("memory of a member who is connected and idle", [each], "KiB")


def run(quick: bool) -> Report:
    small, rounds = (3_000, 2) if quick else (100_000, 9)
    sizes = (small, 2 * small)
    report = Report("reopen", "Reopening, and what is idle", HOW)
    with (
        folder() as one,
        folder() as two,
        child("bench.reopen:Keeper", 0, path=one) as short,
        child("bench.reopen:Keeper", 0, path=two) as long,
    ):
        for keeper, events in zip((short, long), sizes, strict=True):
            keeper.ask("build", events=events)
        opening = take_turns({"1": partial(short.ask, "load"), "2": partial(long.ask, "load")}, rounds)
        proofs = {"1": partial(short.ask, "verify"), "2": partial(long.ask, "verify")}
        proving = take_turns(proofs, max(1, rounds // 4))
        peaks = [keeper.ask("peak") for keeper in (short, long)]
        stored = [sum(f.stat().st_size for f in Path(path).iterdir()) / 2**20 for path in (one, two)]
    for events, times, rates, mib, peak in zip(sizes, opening.values(), proving.values(), stored, peaks, strict=True):
        report.measure(f"reopen a room of {events:,} entries ({mib:.0f} MiB on disk)", times, "ms")
        report.measure(f"verify a room of {events:,} entries", rates, "entries / CPU-s")
        report.measure(f"verify a room of {events:,} entries, in all", [events / median(rates)], "CPU-s")
        report.measure("the most memory that took", [peak], "MiB")
    report.ratio("reopen: cost of twice the entries", quotients(opening["2"], opening["1"]))
    report.ratio("verify: cost of twice the entries", [2 * q for q in quotients(proving["1"], proving["2"])])
    memory(report, quick)
    return report
