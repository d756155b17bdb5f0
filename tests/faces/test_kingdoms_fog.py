"""Fog over every interface: two rooms that differ only where athena cannot see give her the same answers and pushes.

`test_kingdoms_fork.py` compares what she is told while her rivals act.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cohabit.errors import CohabitError
from cohabit.house.house import House
from cohabit.house.running.calls import SystemCall
from cohabit.house.settings import Settings
from cohabit.protocols.worldbox.names import PREFIX
from cohabit.scenario import parse_scenario
from cohabit.testing.clock import FakeClock
from cohabit.worlds.kingdoms.sight import seen_by
from cohabit.worlds.kingdoms.world import Kingdoms

from ..worlds.kingdoms.test_fog import READS  # noqa: TID252 - two suites share the twins
from ..worlds.kingdoms.twins import ATHENA, SCENARIO, scramble  # noqa: TID252
from .doors import MOSTLY_SOAK, doors

HOUSE_READS = [("events", {}), ("events", {"last": 50}), ("capabilities", {}), ("list_saves", {})]
ROOMS = ("clear", "murky")


async def two_rooms(house: House) -> dict[str, dict[str, str]]:
    """The same game twice, and in the second the fog hides something else."""
    tokens = {}
    for name in ROOMS:
        _, tokens[name] = await house.create_room(parse_scenario(json.dumps(SCENARIO)), name, seed=5)
        await house.rooms[name].submit(SystemCall("ticks", {"n": 60}))
    scramble(house.rooms["murky"].room.world)
    return tokens


def named(command: str, face: str) -> str:
    """On MCP this world's tools have a prefix."""
    bare = not face.startswith("mcp") or not hasattr(Kingdoms, command)
    return command if bare else PREFIX + command


async def asked(client: Any, command: str, args: Any) -> str:
    try:
        answer = await client.call(command, args)
    except CohabitError as refusal:
        answer = refusal.as_wire()
    text = json.dumps(answer, sort_keys=True, default=repr)
    return text.replace("murky", "clear")


@pytest.mark.sampled
@pytest.mark.parametrize("face", [*MOSTLY_SOAK, "bridge"])
async def test_no_interface_tells_a_rival_what_lies_in_the_fog(face: str, tmp_path: Path) -> None:
    async with House.open(Settings(port=0, bridge_port=0), clock=FakeClock()) as house:
        tokens = await two_rooms(house)
        async with doors(face, house, tmp_path) as door:
            heard: dict[str, list[str]] = {}
            for room in ROOMS:
                async with door(tokens[room]["athena"]) as client:
                    tiles = [("get_tile", {"x": x, "y": 64}) for x in range(0, 128, 16)]
                    questions = [*READS, *tiles, *HOUSE_READS]
                    heard[room] = [await asked(client, named(c, face), a) for c, a in questions]
        for question, clear, murky in zip(questions, heard["clear"], heard["murky"], strict=True):
            assert _without_cursor(clear) == _without_cursor(murky), question


def _without_cursor(text: str) -> Any:
    """Cursors are sealed with a secret of each room."""
    value = json.loads(text)
    if isinstance(value, dict):
        value.pop("cursor", None)
    return value


@pytest.mark.parametrize("face", ["python", "websocket"])
async def test_events_in_the_fog_are_not_pushed_to_members_who_cannot_see_them(face: str, tmp_path: Path) -> None:
    async with House.open(Settings(port=0, bridge_port=0), clock=FakeClock()) as house:
        tokens = await two_rooms(house)
        sim = house.rooms["clear"].room.world.sim
        hidden = np.flatnonzero(~seen_by(sim, ATHENA) & ~seen_by(sim, 2))
        x, y = sim.land.xy(int(hidden[len(hidden) // 2]))
        zeus = house.identify(tokens["clear"]["zeus"])
        async with doors(face, house, tmp_path) as door, door(tokens["clear"]["athena"]) as athena:
            pushes = aiter(athena.subscribe())
            first = await anext(pushes)
            assert first["push"] == "view"
            await house.call(zeus, "clear", "invoke_power", {"power_id": "meteorite", "x": x, "y": y})
            await house.call(zeus, "clear", "send_message", {"to": "*", "content": "did you hear anything?"})
            heard = await anext(pushes)
        assert heard["push"] == "events"
        assert [item["kind"] for item in heard["items"]] == ["chat"]
