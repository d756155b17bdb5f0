"""Rooms in worker processes: spectators see what is old enough, and nothing newer, also after their worker was killed."""

import json
import os
import signal
from pathlib import Path

import httpx2
import pytest
from tests.faces.serving import WORLDS
from tests.faces.workers.serving import MEMBERS, working

from cohabit.scenario import parse_scenario

BOB = {"id": "bob", "role": "player", "claim": "auto:1"}


@pytest.mark.soak
async def test_the_delay_holds_in_a_worker_and_in_the_one_that_takes_its_room_over(tmp_path: Path) -> None:
    plan = {
        "world": f"{WORLDS}:Secrets", "partial_intel": True, "spectator_delay": 3, "guests": True,
        "agents": [*MEMBERS, BOB],
    }  # fmt: skip
    async with working(tmp_path) as workers:
        _, tokens = await workers.house.create_room(parse_scenario(json.dumps(plan)), "den")
        workers.tokens["den"], workers._http["den"] = tokens, httpx2.AsyncClient(timeout=120)
        tokens["watchers"] = (await workers.call("den", "watch_link", who="hostess"))["token"]
        for n in (710_001, 710_002, 710_003, 710_004):
            await workers.call("den", "hide", {"n": n})

        async def shown() -> str:
            view = await workers.call("den", "delayed_view", who="watchers")
            film = await workers.call("den", "film", {"seat": "all"}, who="watchers")
            small = await workers.call("den", "thumbnail", who="watchers")
            return json.dumps([view, film, small])

        before = await shown()
        killed = workers.table.rooms["den"]
        os.kill(workers.supervisor.workers[killed].process.pid, signal.SIGKILL)
        await workers.dies(killed)
        await workers.until_answered("den", "whoami")
        after = await shown()
        for found in (before, after):
            assert "710001" in found
            assert not any(str(n) in found for n in (710_002, 710_003, 710_004))
