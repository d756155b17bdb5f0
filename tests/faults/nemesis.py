"""What is done to a cluster: one fault after another, now and then two at once, chosen by a seed.

A fault is a function that breaks something, says so, and returns when it is over: the cluster is on its own again.
"""

import asyncio
import random
import signal
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import psycopg
from msgspec import Struct

from .cluster import Cluster, HouseProcess, Tell, send
from .proxies import Way
from .proxy import Mode

SHORT_S, BEYOND_THE_LEASE_S = 1.5, 12.5
"""A lease ends after ten seconds."""
PAUSES_S = (SHORT_S, BEYOND_THE_LEASE_S)
STOPS_WITHIN_S = 60.0
SECOND_FAULT = 0.2
CUTS: Sequence[Mode] = ("stall", "swallow", "refuse")


class Attack(Struct, frozen=True):
    """What a fault is given. ``pauses_s``: how long it may take."""

    cluster: Cluster
    chance: random.Random
    pauses_s: Sequence[float]
    tell: Tell

    def house(self) -> HouseProcess:
        """One that runs, if there is one."""
        houses = self.cluster.houses
        return self.chance.choice([house for house in houses if house.runs] or houses)

    def pause_s(self) -> float:
        return self.chance.choice(self.pauses_s)


Fault = Callable[[Attack], Coroutine[Any, Any, None]]


# -- processes --------------------------------------------------------------------------------------
async def kill_a_worker(attack: Attack) -> None:
    house = attack.house()
    send(signal.SIGKILL, house.workers()[:1])
    attack.tell(f"kill -9 of a worker of {house.name}")


async def kill_a_front(attack: Attack) -> None:
    house = attack.house()
    send(signal.SIGKILL, house.processes()[:1])
    attack.tell(f"kill -9 of the front of {house.name}")


async def kill_a_house(attack: Attack) -> None:
    house, down_s = attack.house(), attack.pause_s()
    house.hold_down()
    send(signal.SIGKILL, house.processes())
    attack.tell(f"kill -9 of all processes of {house.name}, down for {down_s:g} s")
    await asyncio.sleep(down_s)
    house.let_run()


async def pause_a_worker(attack: Attack) -> None:
    house = attack.house()
    await _pause(house.workers()[:1], f"a worker of {house.name}", attack)


async def pause_a_front(attack: Attack) -> None:
    house = attack.house()
    await _pause(house.processes()[:1], f"the front of {house.name}", attack)


async def pause_a_house(attack: Attack) -> None:
    house = attack.house()
    await _pause(house.processes(), f"all processes of {house.name}", attack)


async def _pause(processes: Sequence[int], whose: str, attack: Attack) -> None:
    pause_s = attack.pause_s()
    send(signal.SIGSTOP, processes)
    attack.tell(f"SIGSTOP of {whose} for {pause_s:g} s")
    await asyncio.sleep(pause_s)
    send(signal.SIGCONT, processes)


async def restart_a_house(attack: Attack) -> None:
    house = attack.house()
    send(signal.SIGTERM, house.processes()[:1])
    attack.tell(f"SIGTERM of {house.name}, and a new start")
    try:
        async with asyncio.timeout(STOPS_WITHIN_S):
            await house.ended()
    except TimeoutError:
        attack.cluster.problems.append(f"{house.name} did not stop within {STOPS_WITHIN_S:g} s of SIGTERM")
        send(signal.SIGKILL, house.processes())


# -- the database -----------------------------------------------------------------------------------
async def kill_the_database(attack: Attack) -> None:
    down_s = attack.pause_s()
    await asyncio.to_thread(attack.cluster.server.kill)
    attack.tell(f"kill -9 of the database, down for {down_s:g} s")
    await asyncio.sleep(down_s)
    await asyncio.to_thread(attack.cluster.server.start)


async def restart_the_database(attack: Attack) -> None:
    attack.tell("an orderly restart of the database")
    await asyncio.to_thread(attack.cluster.server.stop, "fast")
    await asyncio.to_thread(attack.cluster.server.start)


async def pause_the_database(attack: Attack) -> None:
    await _pause(attack.cluster.server.processes(), "the database", attack)


async def end_sessions(attack: Attack) -> None:
    with suppress(psycopg.OperationalError):  # it is one of the sessions, or another fault has stopped the database
        await asyncio.to_thread(_end_sessions, attack.cluster.database)
    attack.tell("the end of all sessions in the database")


def _end_sessions(database: str) -> None:
    with psycopg.connect(database, autocommit=True, connect_timeout=2) as db:
        db.execute("select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'cohabit%'")


# -- the network ------------------------------------------------------------------------------------
async def cut_from_the_database(attack: Attack) -> None:
    house = attack.chance.choice(attack.cluster.houses)
    await _cut([attack.cluster.to_database[house.name]], f"{house.name} is cut off from the database", attack)


async def cut_between_houses(attack: Attack) -> None:
    """One of them is not reached by the others, or none is."""
    ways = attack.chance.choice(
        [list(attack.cluster.between.values()), [attack.chance.choice(list(attack.cluster.between.values()))]]
    )
    await _cut(ways, f"{len(ways)} of the ways between houses are cut", attack)


async def _cut(ways: Sequence[Way], what: str, attack: Attack) -> None:
    mode, cut_s = attack.chance.choice(CUTS), attack.pause_s()
    for way in ways:
        way.set(mode)
    attack.tell(f"{what} ({mode}) for {cut_s:g} s")
    await asyncio.sleep(cut_s)
    for way in ways:
        way.set()


async def slow_network(attack: Attack) -> None:
    delay_s = attack.chance.choice([0.02, 0.2])
    ways = [*attack.cluster.to_database.values(), *attack.cluster.between.values()]
    for way in ways:
        way.set(delay_s=delay_s)
    attack.tell(f"everything between houses and the database takes {delay_s:g} s longer")
    await asyncio.sleep(2 * SHORT_S)
    for way in ways:
        way.set()


# -- one after another ------------------------------------------------------------------------------
OF_PROCESSES: Sequence[Fault] = (
    kill_a_worker, kill_a_front, kill_a_house, pause_a_worker, pause_a_front, pause_a_house, restart_a_house,
)  # fmt: skip
OF_THE_DATABASE: Sequence[Fault] = (kill_the_database, restart_the_database, pause_the_database, end_sessions)
OF_THE_NETWORK: Sequence[Fault] = (cut_from_the_database, slow_network)
WITH_SEVERAL_HOUSES: Sequence[Fault] = (cut_between_houses,)
ONE_HOUSE = (OF_PROCESSES, OF_THE_DATABASE, OF_THE_NETWORK)
SEVERAL_HOUSES = (OF_PROCESSES, OF_THE_DATABASE, (*OF_THE_NETWORK, *WITH_SEVERAL_HOUSES))
Kinds = Sequence[Sequence[Fault]]


class Nemesis:
    """``kinds``: faults of one kind never happen at the same time. Every fault comes once before one comes again."""

    def __init__(self, cluster: Cluster, kinds: Kinds, pauses_s: Sequence[float], seed: int, tell: Tell) -> None:
        self._cluster, self._kinds, self._pauses_s, self._tell = cluster, kinds, pauses_s, tell
        self._chance = random.Random(seed)
        self._next: list[Fault] = []
        self.count = 0

    def _draw(self) -> Fault:
        if not self._next:
            self._next = [fault for kind in self._kinds for fault in kind]
            self._chance.shuffle(self._next)
        return self._next.pop()

    async def cause(self) -> None:
        """A fault, or two of different kinds. Returns when they are over."""
        faults = [self._draw()]
        others = [fault for kind in self._kinds if faults[0] not in kind for fault in kind]
        if others and self._chance.random() < SECOND_FAULT:
            faults.append(self._chance.choice(others))
        async with asyncio.TaskGroup() as group:
            for fault in faults:
                self.count += 1
                tell = partial(self._say, self.count)
                group.create_task(fault(Attack(self._cluster, self._chance, self._pauses_s, tell)))

    def _say(self, number: int, what: str) -> None:
        self._tell(f"fault {number}: {what}")
