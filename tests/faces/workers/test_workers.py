"""Rooms in processes of their own: what a worker that dies, or is killed by its world, costs, and whom."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

import httpx2
import pytest
from tests.faces.workers.serving import HOSTILE, MEMBERS, Workers, working
from tests.ports import free_port

from cohabit.errors import Busy, Quarantined, Unauthorized
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.house.store.sqlite import SQLiteStore
from cohabit.model.record import decode_entry
from cohabit.scenario import parse_scenario

CALLERS = 4
CALLS = 12


async def test_revocations_hold_in_every_worker_and_a_killed_one_loses_no_acknowledged_call(tmp_path: Path) -> None:
    async with working(tmp_path) as workers:
        await revoked_through_one_worker(workers)
        for room in ("a", "b"):
            await workers.create(room)
        killed = workers.table.rooms["a"]
        assert killed != workers.table.rooms["b"]
        acknowledged: dict[str, list[str]] = {"a": [], "b": []}
        under_way = asyncio.Event()

        async def load(room: str, caller: int) -> None:
            for number in range(CALLS):
                text = f"{room} {caller} {number}"
                # Nothing happens to room b, so there each call works the first time.
                call = workers.until_answered if room == "a" else workers.call
                await call(room, "say", {"text": text, "to": "hostess"}, key=text)
                acknowledged[room].append(text)
                if room == "a" and number == 2:
                    under_way.set()

        async def kill() -> None:
            await under_way.wait()
            os.kill(workers.supervisor.workers[killed].process.pid, signal.SIGKILL)
            await workers.dies(killed)

        await asyncio.gather(kill(), *(load(room, caller) for room in acknowledged for caller in range(CALLERS)))
        assert workers.table.rooms["a"] != killed
    assert said_in(tmp_path, "a") == sorted(acknowledged["a"])
    assert said_in(tmp_path, "b") == sorted(acknowledged["b"])
    assert len(acknowledged["a"]) == CALLERS * CALLS


async def revoked_through_one_worker(workers: Workers) -> None:
    """It is true in the other one when its reply is sent."""
    await workers.create("den")
    here = workers.table.rooms["den"]
    other = next(node for node in workers.table.nodes() if node != here)
    token = workers.tokens["den"]["ann"]
    assert await workers.call_at(other, token, "rooms")
    await workers.call("den", "revoke_token", {"member": "ann"}, who="hostess")
    for node in (other, here):
        with pytest.raises(Unauthorized, match="revoked"):
            await workers.call_at(node, token, "rooms")
    with pytest.raises(Unauthorized, match="revoked"):
        await workers.call("den", "view")


def said_in(folder: Path, room: str, *, in_order: bool = False) -> list[str]:
    """What members have said, from the record; sorted, or in its order."""
    store = SQLiteStore(folder, lock=False)
    try:
        entries = [decode_entry(body) for _, body, _ in store.lines(room, -1)]
    finally:
        store.close()
    said = [entry.args["text"] for entry in entries if entry.do == "say" and entry.args]
    return said if in_order else sorted(said)


async def test_a_world_that_holds_the_interpreter_or_crashes_it_costs_only_its_own_worker(tmp_path: Path) -> None:
    async with working(tmp_path, worker_timeout_s=1.5) as workers:
        for room in ("bad", "good"):
            await workers.create(room)
        assert (await workers.call("bad", "count_up"))["message"] == "counted 1"
        home = workers.table.rooms["good"]
        for deed in ("grip", "crash"):
            while workers.table.holder("bad") in (None, home):  # a new worker gets the room when it is ready
                await workers.supervisor.cluster.balance()
                await asyncio.sleep(0.05)
            await dies_of(workers, deed)
        assert (await workers.until_answered("bad", "count_up"))["message"] == "counted 2"
        assert workers.table.rooms["good"] == home, "nothing has happened to the other room"
        assert (await workers.call("good", "count_up"))["message"] == "counted 1"


async def dies_of(workers: Workers, deed: str) -> None:
    """A world does something to its worker, while the other worker answers every call."""
    node = workers.table.rooms["bad"]
    doing = asyncio.ensure_future(workers.call("bad", deed))
    dying = asyncio.ensure_future(workers.dies(node))
    while not dying.done():
        assert (await workers.call("good", "view"))["text"]
        await asyncio.sleep(0.05)
    await dying
    with pytest.raises(Busy):
        await doing


@pytest.mark.soak
async def test_a_room_that_kills_its_worker_three_times_is_quarantined_and_a_host_can_reopen_it(tmp_path: Path) -> None:
    async with working(tmp_path) as workers:
        for room in ("bad", "good"):
            await workers.create(room)
        for _ in range(3):
            node = workers.table.rooms["bad"]
            with pytest.raises(Busy):
                await workers.call("bad", "crash")
            await workers.dies(node)
        with pytest.raises(Quarantined, match="its process died"):
            await workers.call("bad", "view")
        assert await workers.until_answered("good", "view")
        operator = workers.house.identify(workers.house.operator_token())
        await workers.house.call(operator, "bad", "reopen_room")
        assert await workers.until_answered("bad", "view")


@pytest.mark.soak
async def test_a_worker_that_uses_too_much_memory_is_killed(tmp_path: Path) -> None:
    async with working(tmp_path, worker_memory_mb=400) as workers:
        for room in ("bad", "good"):
            await workers.create(room)
        node = workers.table.rooms["bad"]
        await asyncio.gather(workers.call("bad", "eat"), return_exceptions=True)
        await workers.dies(node)
        assert await workers.until_answered("bad", "view")


@pytest.mark.soak
async def test_when_the_front_is_killed_its_workers_end_too_even_one_whose_interpreter_is_held(tmp_path: Path) -> None:
    data = tmp_path / "house"
    async with House.open(Settings(data=str(data))) as house:
        text = json.dumps({"world": HOSTILE, "agents": MEMBERS})
        _, tokens = await house.create_room(parse_scenario(text), "bad")
    words = [sys.executable, "-m", "cohabit", "serve", "--workers", "2", "--data", str(data), "--port", "0"]
    front = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE)
    assert front.stdout is not None
    url = ""
    while not url:
        line = (await front.stdout.readline()).decode()
        assert line, "the house did not start"
        url = line.split()[4] if line.startswith("The house is open") else ""
    workers = children_of(front.pid)
    assert len(workers) == 2
    async with httpx2.AsyncClient(headers={"authorization": f"Bearer {tokens['ann']}"}) as http:
        asked = asyncio.ensure_future(http.post(f"{url}/api/rooms/bad/grip"))
        while not any(is_in_sleep(worker) for worker in workers):
            await asyncio.sleep(0.05)
        front.kill()
        await front.wait()
        for worker in workers:
            while Path(f"/proc/{worker}").exists() and state_of(worker) != "Z":
                await asyncio.sleep(0.05)
        await asyncio.gather(asked, return_exceptions=True)
    SQLiteStore(data).close()  # nobody has the folder any more


def children_of(process: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def state_of(process: int) -> str:
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]


def is_in_sleep(process: int) -> bool:
    """Whether a thread of it sleeps in native code."""
    tasks = Path(f"/proc/{process}/task").iterdir()
    return any("nanosleep" in (task / "wchan").read_text() for task in tasks)


@pytest.mark.soak
async def test_the_port_of_the_nexus_is_open_in_the_worker_that_has_it_and_moves_with_it(tmp_path: Path) -> None:
    port = free_port()
    async with working(tmp_path, nexus_port=port) as workers:
        text = json.dumps({"world": "nexus", "agents": [{"id": "ann", "role": "player", "claim": "auto:0"}]})
        _, tokens = await workers.house.create_room(parse_scenario(text), "hub")
        asked = {"url": f"http://127.0.0.1:{port}/nexus/ann", "headers": {"authorization": f"Bearer {tokens['ann']}"}}
        async with httpx2.AsyncClient() as http:
            first = await until_served(http, **asked)
            node = workers.table.rooms["hub"]
            os.kill(workers.supervisor.workers[node].process.pid, signal.SIGKILL)
            await workers.dies(node)
            assert await until_served(http, **asked) == first


async def until_served(http: httpx2.AsyncClient, url: str, headers: dict[str, str]) -> object:
    """Who the port says that this is, as soon as it is open."""
    while True:
        try:
            answer = await http.get(url, headers=headers)
        except httpx2.TransportError:
            await asyncio.sleep(0.05)
        else:
            assert answer.status_code == 200, answer.text
            return answer.json()["agent"]["agent_id"]
