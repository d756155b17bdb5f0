"""A room that is closed because of a problem is told in the terminal and by /health, and so is its end."""

import asyncio
from itertools import pairwise
from pathlib import Path

import httpx2
import pytest
from tests.house.making import ANN, HOST, make_room, open_house

from cohabit.errors import Busy, WorldTimeout
from cohabit.faces.cli import showing
from cohabit.faces.cli.running import room_lines
from cohabit.faces.cli.showing import PROBLEMS_EVERY_S, problem_lines, watch_problems
from cohabit.house.directory import FRONT, MOVING, Table
from cohabit.house.house import House
from cohabit.house.nodes.node import Node
from cohabit.testing.clock import FakeClock

from .serving import listening
from .test_cli_house import cohabit, running

OWN = Path(__file__).parent.parent / "house" / "own_world.py"


def test_every_change_of_what_is_closed_is_told_once() -> None:
    steps: list[dict[str, str]] = [{}, {"a": "hung"}, {"a": "hung"}, {"a": "hung", "b": "full"}, {"b": "full"}, {}]
    told = [list(problem_lines(before, now)) for before, now in pairwise(steps)]
    assert told == [
        ["Room a is closed: hung"],
        [],
        ["Room b is closed: full"],
        ["Room a is open again; closed: b"],
        ["Room b is open again; all rooms are open"],
    ]


async def test_a_room_that_went_to_another_process_or_house_is_told_to_be_open_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[str] = []
    monkeypatch.setattr(showing, "tell", told.append)
    monkeypatch.setattr(showing, "PROBLEMS_EVERY_S", 0.0)
    table = Table(FRONT)
    async with House.open(clock=FakeClock(), node=Node(table)) as house:
        watching = asyncio.ensure_future(watch_problems(house))
        for node, there in (("w2", "w2.sock"), ("attic/w1", "tcp://10.0.0.6:8730/attic/w1")):
            table.update({"den": MOVING}, {node: there})
            house.broken["den"] = Busy("on its way")
            await told_so(told, "Room den is closed: on its way")
            del house.broken["den"]
            for _ in range(10):
                await asyncio.sleep(0)
            assert told == [], "it is not open anywhere yet"
            table.update({"den": node})
            where = "worker w2" if node == "w2" else "house 10.0.0.6:8730"
            await told_so(told, f"Room den is open again in {where}; all rooms are open")
        watching.cancel()


async def told_so(told: list[str], line: str) -> None:
    async with asyncio.timeout(20):
        while not told:
            await asyncio.sleep(0)
    assert told == [line]
    told.clear()


async def test_health_is_not_ok_while_a_room_is_quarantined_and_ok_again_afterwards() -> None:
    async with open_house(trusted_worlds="", world_deadline_s=0.1) as house, listening(house) as url:
        who = await make_room(house, ANN, HOST, world=str(OWN), config={"hangs_in": "move"})
        async with httpx2.AsyncClient(base_url=url, timeout=120) as client:
            assert (await client.get("/health")).json()["ok"] is True
            with pytest.raises(WorldTimeout, match="the room is quarantined"):
                await who["ann"]("move")
            told = await client.get("/health")
            assert (told.status_code, told.json()["ok"], told.json()["broken_rooms"]) == (200, False, 1)
            assert "(quarantined)" in "\n".join(room_lines(house, ()))
            async with asyncio.timeout(120):
                while "hung" not in str(house.rooms.problems["den"]):  # until then it may still return
                    await asyncio.sleep(PROBLEMS_EVERY_S / 100)
            await who["hostess"]("reopen_room")
            assert (await client.get("/health")).json()["ok"] is True


def test_the_terminal_says_that_a_room_is_closed_and_that_it_is_open_again(tmp_path: Path) -> None:
    world = tmp_path / "own.py"
    world.write_text(OWN.read_text().replace('hangs_in: str = ""', 'hangs_in: str = "count"'))
    with running("up", "own.py", "--players", "ann,bob", "--world-deadline-s", "0.1", home=tmp_path) as house:
        call = ("--url", house.url, "--token", house.token("ann"))
        assert cohabit("call", "count", *call, home=tmp_path).returncode != 0
        assert house.says("Room own is closed: this room is quarantined")
        host = ("--url", house.url, "--token", house.token("host"))
        assert house.says("Room own is closed: this room is quarantined: its world hung")
        assert cohabit("call", "reopen_room", *host, home=tmp_path).returncode == 0
        assert house.says("Room own is open again; all rooms are open")


def test_a_room_that_could_not_be_opened_is_told_by_a_house_that_opens_another_one(tmp_path: Path) -> None:
    world = tmp_path / "own.py"
    world.write_text(OWN.read_text())
    with running("up", "own.py", "--players", "ann,bob", "--data", "house", home=tmp_path) as house:
        house.stop()
    world.unlink()
    with running("up", "nim", "--players", "ann,bob", "--data", "house", home=tmp_path) as house:
        assert house.says("Room own is closed: file not found")
