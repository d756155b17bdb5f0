"""One run: rooms in a database, a cluster, clients, faults, and what is left to check."""

import asyncio
import json
import random
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path

import psycopg
from msgspec import Struct

from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.house.store.postgres import PostgresStore
from cohabit.model.record import Entry, decode_entry
from cohabit.scenario import parse_scenario
from tests.faces.workers.serving import HOSTILE
from tests.postgres import Server

from .checking import check_revocation, check_room, check_writers
from .clients import FACES, Caller, Reader, Runs, Subscriber, Writer, event_in, working
from .cluster import Cluster, Tell, running_cluster
from .history import History, Recorded, Witnessed
from .nemesis import ONE_HOUSE, PAUSES_S, Kinds, Nemesis
from .revoking import Revoker

VICTIMS = 60
"""Members whose tokens are revoked."""
RECOVERS_WITHIN_S = 120.0
"""So long after a fault is over, every room must answer again. It takes seconds, and more on a busy machine, on which
a house takes long to start."""
CALLS_BETWEEN = 5
"""How many calls each room acknowledges before the next fault."""


class Plan(Struct, frozen=True):
    """What is run. ``clustered``: several houses serve one database together; else the second is a stand-by."""

    houses: int = 1
    workers: int = 2
    rooms: int = 3
    clustered: bool = False
    seed: int = 1
    faults: int = 10
    kinds: Kinds = ONE_HOUSE
    pauses_s: Sequence[float] = PAUSES_S
    revokes: bool = False

    @property
    def names(self) -> list[str]:
        return [f"room-{number}" for number in range(self.rooms)]


class Experiment:
    """A cluster with rooms and clients, and the history that they make."""

    def __init__(self, plan: Plan, cluster: Cluster, tokens: dict[str, dict[str, str]], tell: Tell) -> None:
        self.plan, self.cluster, self.tokens, self.tell = plan, cluster, tokens, tell
        self.history = History()
        self.chance = random.Random(plan.seed)

    def caller(self, room: str, who: str, face: str) -> Caller:
        return Caller(face, self.tokens[room][who], room, self.cluster.urls, self._new_chance())

    def clients(self) -> list[Runs]:
        """For each room, a writer and a reader over every interface, and a subscriber."""
        found: list[Runs] = []
        for room in self.plan.names:
            for face in FACES:
                name, writes = f"writer-{face}", self.caller(room, f"writer-{face}", face)
                found.append(Writer(name, writes, self.history, self._new_chance(), counts=face == FACES[0]))
            face = self.chance.choice(FACES)
            found.append(Reader("reader", self.caller(room, "reader", face), self.history))
            token = self.tokens[room]["reader"]
            found.append(Subscriber("reader", token, room, self.cluster.urls, self.history, self._new_chance()))
        return found

    def revokers(self) -> list[Runs]:
        """One for each room."""
        return [
            Revoker(
                self.caller(room, "hostess", self.chance.choice(FACES)),
                {who: token for who, token in self.tokens[room].items() if who.startswith("victim")},
                self.cluster.urls, self.history, self._new_chance(),
            )
            for room in self.plan.names
        ]  # fmt: skip

    def _new_chance(self) -> random.Random:
        return random.Random(self.chance.random())

    async def disturb(self) -> None:
        """Cause the faults. After each, every room must answer again."""
        nemesis = Nemesis(self.cluster, self.plan.kinds, self.plan.pauses_s, self.plan.seed, self.tell)
        await self.recovered("at the start")
        while nemesis.count < self.plan.faults:
            await nemesis.cause()
            await self.recovered(f"after fault {nemesis.count}")

    async def recovered(self, when: str) -> None:
        """Wait until every room has acknowledged some calls that were invoked from now on."""
        began, seen = time.monotonic(), len(self.history.calls)
        waiting = dict.fromkeys(self.plan.names, CALLS_BETWEEN)
        while waiting:
            for call in self.history.calls[seen:]:
                if call.outcome == "ok" and call.invoked > began and call.room in waiting:
                    waiting[call.room] -= 1
            seen = len(self.history.calls)
            waiting = {room: left for room, left in waiting.items() if left > 0}
            if time.monotonic() > began + RECOVERS_WITHIN_S:
                raise AssertionError(f"{', '.join(waiting)} did not answer for {RECOVERS_WITHIN_S:g} s {when}")
            await asyncio.sleep(0.05)
        self.tell(f"    all rooms answer after {time.monotonic() - began:.1f} s")

    # -- afterwards -------------------------------------------------------------------------------
    def problems(self) -> list[str]:
        """What is wrong, by the records as they are in the database now."""
        found = [*self.cluster.problems, *self.history.surprises]
        found += [bug for house in self.cluster.houses for bug in house.bugs()]
        with closing(PostgresStore(self.cluster.database, read_only=True)) as store:
            records = {room: [decode_entry(row[1]) for row in store.lines(room, -1)] for room in self.plan.names}
        for room, entries in records.items():
            record, calls = _recorded(entries), [call for call in self.history.calls if call.room == room]
            readings = [reading for reading in self.history.readings if reading.room == room]
            found += check_room(record, calls, readings)
            by_key = {call.key: call for call in calls}
            for revocation in self.history.revocations:
                if revocation.room == room:
                    revocation.removed_at = _removal(entries, revocation.member)
                    found += check_revocation(revocation, record, by_key)
        with psycopg.connect(self.cluster.database) as db:
            rows = db.execute("select room, seq, writer, holder, epoch from witnessed").fetchall()
        found += check_writers(Witnessed(*row) for row in rows if row[0] in records)
        return found + self._verified()

    def _verified(self) -> list[str]:
        words = [sys.executable, "-m", "cohabit", "verify", "--store", self.cluster.database]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        return [] if done.returncode == 0 else [f"cohabit verify: {done.stdout}{done.stderr}"]

    def summary(self) -> str:
        outcomes = [call.outcome for call in self.history.calls]
        counts = ", ".join(f"{outcomes.count(each)} {each}" for each in ("ok", "refused", "unknown"))
        pages = sum(len(reading.pages) for reading in self.history.readings)
        return f"{len(outcomes)} calls ({counts}), {pages} pages read, {len(self.history.revocations)} revocations"


def _recorded(entries: Sequence[Entry]) -> list[Recorded]:
    """What readers see of an entry: what was said, or the number that the world counted."""
    found, counted = [], 0
    for entry in entries:
        counted += entry.do == "count_up"
        event = (
            f"counted {counted}" if entry.do == "count_up" else event_in(str(entry.args)) if entry.do == "say" else ""
        )
        found.append(Recorded(entry.seq, (entry.key or "") if event else "", event))
    return found


def _removal(entries: Sequence[Entry], member: str) -> int | None:
    removals = (entry.seq for entry in entries if entry.do == "remove_member" and entry.args["member"] == member)
    return next(removals, None)


async def make_rooms(database: str, folder: Path, rooms: Sequence[str]) -> dict[str, dict[str, str]]:
    """Make the tables and the rooms, and return the tokens of their members."""
    writers = [{"id": f"writer-{face}", "role": "human"} for face in FACES]
    writers[0]["claim"] = "auto:0"
    victims = [{"id": f"victim-{number}", "role": "human"} for number in range(VICTIMS)]
    others = [{"id": "reader", "role": "narrator"}, {"id": "hostess", "role": "host", "kind": "human"}]
    text = json.dumps({"world": HOSTILE, "agents": [*writers, *victims, *others]})
    tokens = {}
    async with House.open(Settings(store=database, data=str(folder))) as house:
        for room in rooms:
            _, tokens[room] = await house.create_room(parse_scenario(text), room)
    return tokens


@asynccontextmanager
async def running(plan: Plan, server: Server, folder: Path, tell: Tell) -> AsyncIterator[Experiment]:
    names = list("abcdefgh"[: plan.houses])
    database = await asyncio.to_thread(server.new_database)
    tokens = await make_rooms(database, folder / names[0], plan.names)
    async with running_cluster(
        server, database, folder, names, workers=plan.workers, clustered=plan.clustered, tell=tell
    ) as cluster:
        yield Experiment(plan, cluster, tokens, tell)


async def run(plan: Plan, server: Server, folder: Path, tell: Tell) -> list[str]:
    """The problems of one run."""
    async with running(plan, server, folder, tell) as experiment:
        async with working([*experiment.clients(), *(experiment.revokers() if plan.revokes else ())]):
            await experiment.disturb()
        tell(experiment.summary())
        return await asyncio.to_thread(experiment.problems)
