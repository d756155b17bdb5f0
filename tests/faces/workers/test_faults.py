"""Clients write under idempotency keys, while workers are killed and paused at random."""

import asyncio
import os
import random
import signal
from pathlib import Path

import pytest
from tests.faces.workers.serving import Workers, working
from tests.faces.workers.test_workers import said_in

ROOMS = [f"room-{number}" for number in range(6)]
CLIENTS = 2
"""In each room."""
FAULTS = 30


@pytest.mark.soak
async def test_every_acknowledged_call_is_in_the_record_once_and_in_order_whatever_happens_to_workers(
    tmp_path: Path,
) -> None:
    async with working(tmp_path, workers=3, worker_timeout_s=1.0) as workers:
        for room in ROOMS:
            await workers.create(room)
        acknowledged: dict[str, list[str]] = {room: [] for room in ROOMS}
        over = asyncio.Event()

        async def client(room: str, number: int) -> None:
            count = 0
            while not over.is_set():
                text = f"{number} {count:06}"
                await workers.until_answered(room, "say", {"text": text, "to": "hostess"}, key=text)
                acknowledged[room].append(text)
                count += 1

        async with asyncio.TaskGroup() as group:
            for room in ROOMS:
                for number in range(CLIENTS):
                    group.create_task(client(room, number))
            await cause_faults(workers, random.Random(7), acknowledged)
            over.set()
        assert not workers.house.broken, "no room was lost, and none was quarantined"
    for room in ROOMS:
        found = said_in(tmp_path, room, in_order=True)
        assert sorted(found) == sorted(acknowledged[room])
        for number in range(CLIENTS):
            own = [text for text in found if text.startswith(f"{number} ")]
            assert own == sorted(own), "what one client says comes in its order"


async def cause_faults(workers: Workers, chance: random.Random, acknowledged: dict[str, list[str]]) -> None:
    for _ in range(FAULTS):
        before = sum(map(len, acknowledged.values()))
        ready = [one for one in workers.supervisor.workers.values() if one.ready.done()]
        if not ready:
            await asyncio.sleep(0.1)
            continue
        victim = chance.choice(ready)
        os.kill(victim.process.pid, chance.choice([signal.SIGKILL, signal.SIGSTOP]))
        await workers.dies(victim.name)
        while sum(map(len, acknowledged.values())) < before + 20:
            await asyncio.sleep(0.01)
