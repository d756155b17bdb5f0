"""The Nexus: what a transit costs with many known identities, and planets with many players."""

import asyncio
import random
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from bench.common import folder, quotients, take_turns
from bench.report import Report

HOW = """
A house on SQLite that knows 10, 1,000 or 100,000 identities, each with a profile. *Transit*: an agent enters a game
from the Nexus, and leaves it again; both rooms record it, and its profile is stored. *Jack in*: an agent without the
Nexus takes its body in a room, and leaves it again. Each transit is of another identity, so profiles come from the
store. All on CPU time of the whole process. Cost growth is the CPU time with many identities over that with 10; a
cost that grows with the logarithm would be 5 times as high at 100,000.

Planets: steps of the whole world per CPU second, with 1, 10 and 100 players who all act (digging, walking, jumping,
beaming), without views. The cost per player is over that of one player alone.
""".strip()
KNOWN = (10, 1_000, 100_000)
MAX_GROWTH = 5.0
SEATS = (1, 10, 100)


class Nexus:
    """A house that knows this many identities."""

    def __init__(self, path: str, known: int) -> None:
        self.path, self.known = Path(path), known
        self.loop = asyncio.new_event_loop()
        self.number = 0
        self.loop.run_until_complete(self._open())

    async def _open(self) -> None:
        from cohabit.house.house import House
        from cohabit.house.settings import Settings
        from cohabit.house.store.contract import Write
        from cohabit.house.store.sqlite import SQLiteStore
        from cohabit.model.identity import Identity
        from cohabit.nexus.connector import NexusConnector
        from cohabit.nexus.values import Profile, Wishes
        from cohabit.scenario import AgentSpec, Scenario

        store = SQLiteStore(self.path)
        ids = [f"i-{number:06}" for number in range(self.known)]
        profile = Profile("", "agent", 1, {"survival": 0.3}, core_memories=["There is water in the east."] * 5)
        for begin in range(0, self.known, 10_000):
            part = ids[begin : begin + 10_000]
            rows = [(one, msgspec.msgpack.encode(msgspec.structs.replace(profile, agent_id=one))) for one in part]
            store.commit([Write(identities=[Identity(one, f"agent-{one}") for one in part], profiles=rows)])
        self._opened = House.open(Settings(data=str(self.path)), store=store)
        house = self.house = await self._opened.__aenter__()
        game = Scenario(
            world="crafter_shared",
            agents=[AgentSpec(id="host", role="host"), AgentSpec(id="ann", role="player")],
            config={"respawns": True, "size": 32},
        )
        _, tokens = await house.create_room(game, "camp", seed=1)
        await house.call(house.identify(tokens["host"]), "camp", "open_to_nexus", {"capacity": 60})
        await house.create_room(Scenario(world="nexus", agents=[AgentSpec(id="bob", role="player")]), "nexus", seed=1)
        self.ann = house.identify(tokens["ann"])
        connector = house.rooms.connectors["nexus"]
        assert isinstance(connector, NexusConnector)
        self.transit, self.wishes, self.ids = connector.transit, Wishes(), ids
        self.random = random.Random(1)

    def transits(self, number: int) -> float:
        """Transits into a game and back, per CPU second."""
        return self.loop.run_until_complete(self._transits(number))

    async def _transits(self, number: int) -> float:
        from cohabit.house.running.calls import Call

        began = time.process_time()
        for _ in range(number):
            self.number += 1
            who = self.random.choice(self.ids)
            _, receipt = await self.transit.enter(who, f"bench:{self.number}", "camp", self.wishes)
            runner = self.house.rooms["camp"]
            member = runner.room.member_of(who)
            assert member is not None
            await runner.submit(Call(member.id, "exit_game", {"mode": "suspend"}))
            await self.transit.at_rest()
            assert receipt.seat is not None
        return number / (time.process_time() - began)

    def jack_ins(self, number: int) -> float:
        """Jack-ins and jack-outs per CPU second."""
        return self.loop.run_until_complete(self._jack_ins(number))

    async def _jack_ins(self, number: int) -> float:
        began = time.process_time()
        for _ in range(number):
            await self.house.call(self.ann, "camp", "jack_in")
            await self.house.call(self.ann, "camp", "jack_out", {"mode": "suspend"})
        return number / (time.process_time() - began)

    def end(self) -> None:
        self.loop.run_until_complete(self._opened.__aexit__(None, None, None))
        self.loop.close()


class Planets:
    """A planet world with several players, who all act."""

    def __init__(self, seats: int) -> None:
        from cohabit.registry import make_world
        from cohabit.world import Seat

        self.world: Any = make_world("planet", {"length": 1_000_000, "respawn_after": 1})
        self.seats = [Seat(str(number + 1), f"p{number + 1}") for number in range(seats)]
        self.world.reset(3, self.seats)
        self.choose = random.Random(1).choice
        self.run = {spec.name: spec.run for spec in self.world.actions()}

    def steps(self, number: int) -> float:
        """Steps of the whole world per CPU second."""
        seconds = 0.0
        for _ in range(number):
            chosen = [(seat, self.choose(self.world.legal(seat))) for seat in self.seats]
            began = time.process_time()
            waiting = frozenset(self.world.to_move())
            for seat, action in chosen:
                if seat.id in waiting:
                    self.run[action.name](seat, **action.parameters)
            self.world.resolve()
            seconds += time.process_time() - began
        return number / seconds


def run(quick: bool) -> Report:
    report = Report("nexus", "The Nexus, and planets with many players", HOW)
    known = KNOWN[:2] if quick else KNOWN
    rounds = 2 if quick else 7
    with ExitStack() as ending:
        houses = {}
        for number in known:
            house = Nexus(ending.enter_context(folder()), number)
            ending.callback(house.end)
            houses[number] = house
        transits = take_turns(
            {f"transit, {n:,} identities": partial(h.transits, 3 if quick else 60) for n, h in houses.items()}
            | {f"jack in, {n:,} identities": partial(h.jack_ins, 3 if quick else 60) for n, h in houses.items()},
            rounds,
        )
    worlds = {seats: Planets(seats) for seats in SEATS}
    steps = take_turns(
        {
            f"planets, {n} player{'s' * (n > 1)}": partial(w.steps, 3 if quick else 300 // n + 5)
            for n, w in worlds.items()
        },
        rounds,
    )
    for name, values in transits.items():
        report.measure(name, values, "a CPU-s")
    for name, values in steps.items():
        report.measure(name, values, "steps/CPU-s")
    for what in ("transit", "jack in"):
        few = transits[f"{what}, {known[0]:,} identities"]
        for number in known[1:]:
            many = transits[f"{what}, {number:,} identities"]
            report.ratio(
                f"nexus: cost of a {what}, {number:,} identities over 10", quotients(few, many), MAX_GROWTH, "at most"
            )
    one, ten, hundred = steps.values()
    for seats, values in ((10, ten), (100, hundred)):
        report.ratio(f"planets: cost of {seats} players over one", quotients(one, values), seats * 1.1, "at most")
    return report
