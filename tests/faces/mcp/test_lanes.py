"""A tool that cannot wait is answered with plain JSON, one that may wait with a stream. Its declaration decides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cohabit import registry
from cohabit.faces.mcp.backend import InHouse
from cohabit.faces.mcp.server import McpFace
from cohabit.house.house import House
from cohabit.model.tool_names import ToolNames
from cohabit.room.feature import Feature
from cohabit.scenario import AgentSpec, Scenario

AT_ONCE, MAY_WAIT = True, False


def answers_at_once(table: Any, who: str, room: str | None, tool: str) -> bool:
    house: House = table.house
    headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": tool}
    return McpFace(house).answers_at_once(headers, InHouse(house, house.identify(table.tokens[who]), room))


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        ("view", AT_ONCE),
        ("take", AT_ONCE),
        ("grant", AT_ONCE),
        ("wait_for_turn", MAY_WAIT),
        ("recv_messages", MAY_WAIT),
        ("events", MAY_WAIT),
        ("no_such_tool", AT_ONCE),
    ],
)
@pytest.mark.parametrize("room", ["nim", None])
async def test_whether_a_tool_may_wait_is_declared(table: Any, room: str | None, tool: str, expected: bool) -> None:
    assert answers_at_once(table, "ann", room, tool) == expected


class SlowBoxes(Feature):
    name = "slow-boxes"
    tools = ToolNames("box_", frozenset({"recv_messages"}))


async def test_a_prefix_hides_no_wait_and_a_suffix_makes_none(
    table: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(registry.PROTOCOLS, "slow-boxes", f"{__name__}:SlowBoxes")
    world = tmp_path / "slow_boxes.py"
    world.write_text(
        "from cohabit.worlds.nim import Nim\n"
        "from cohabit.world import WorldSpec, query\n"
        "class Boxed(Nim):\n"
        "    spec = WorldSpec(name='boxed', seats=2, pace='turns', quick=True, features=('slow-boxes',))\n"
        "    @query()\n"
        "    def count_events(self, eye) -> int:\n"
        "        '''How many.'''\n"
        "        return 1\n"
    )
    agents = [AgentSpec(id=name, role="player", claim=f"auto:{i}") for i, name in enumerate(("cat", "dog"))]
    _, tokens = await table.house.create_room(Scenario(world=f"{world}:Boxed", agents=agents), "boxed")
    table.tokens.update(tokens)
    assert answers_at_once(table, "cat", "boxed", "box_recv_messages") == MAY_WAIT
    assert answers_at_once(table, "cat", "boxed", "recv_messages") == MAY_WAIT  # the command's own name is accepted too
    assert answers_at_once(table, "cat", "boxed", "box_count_events") == AT_ONCE


async def test_where_the_arguments_name_the_room_every_tool_of_a_room_may_wait(table: Any) -> None:
    table.admit("gus", host=True)
    assert answers_at_once(table, "gus", None, "wait_for_turn") == MAY_WAIT
    assert answers_at_once(table, "gus", None, "rooms") == AT_ONCE


@pytest.mark.parametrize("tool", ["take", "wait_for_turn", "events"])
async def test_the_kind_of_a_reply_does_not_reveal_whether_a_room_exists(table: Any, tool: str) -> None:
    table.admit("guest")
    assert answers_at_once(table, "guest", "nim", tool) == answers_at_once(table, "guest", "nowhere", tool)
