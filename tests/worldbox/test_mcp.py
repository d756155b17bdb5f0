"""The tools of the WorldBox client, as a room of Kingdoms offers them over MCP itself."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from cohabit.faces.app import make_app
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.scenario import AgentSpec, Scenario

from ..faces.mcp.conftest import Table, listening  # noqa: TID252 - two suites serve houses over MCP

ABOUT = "mod_version worldbox_version unity_version assembly_csharp_sha256"
LISTED = "items count"
WORLD = (
    "width height seed tick paused population_alive population_lifetime kingdoms_alive kingdoms_ever_created "
    "cities_alive cities_ever_created"
)
TOOLS: list[tuple[str, dict[str, Any], str]] = [
    ("health", {}, f"ok {ABOUT} tick enabled multi_agent scenario agent_count"),
    ("capabilities", {}, f"{ABOUT} commands"),
    ("whoami", {}, "agent_id role permissions scenario partial_intel"),
    ("session_info", {}, "scenario partial_intel turn_based legacy_mode agent_count agents turn_order current_turn"),
    ("turn_advance", {}, "previous next forced_by_god"),
    ("objective_status", {}, "scenario agents kingdoms"),
    ("list_tiles", {}, LISTED),
    ("list_actors", {}, LISTED),
    ("list_powers", {}, LISTED),
    ("list_speeds", {}, f"{LISTED} current"),
    ("invoke_power", {"power_id": "lightning", "x": 60, "y": 60}, "power_id x y accepted via"),
    ("spawn", {"entity_id": "wolf", "x": 60, "y": 60}, "entity_id x y requested spawned failed names"),
    ("paint_tile", {"x": 60, "y": 60, "tile_id": "sand"}, "center radius tile_id painted skipped"),
    ("get_world_state", {}, WORLD),
    ("get_tile", {"x": 5, "y": 6}, "x y tile_id height actors actor_count"),
    ("list_kingdoms", {}, LISTED),
    ("list_cities", {}, LISTED),
    ("query_actors", {}, "items matched returned offset limit total_scanned has_more"),
    ("get_ui_state", {}, "window_active config_paused effective_paused world_loading"),
    ("dismiss_window", {}, "dismissed"),
    ("pause", {}, "previous_paused paused"),
    ("resume", {}, "previous_paused paused"),
    ("set_speed", {"speed_id": "x2"}, "speed_id multiplier previous"),
    ("send_message", {"to": "athena", "content": "hail"}, "seq recipients broadcast"),
    ("recv_messages", {}, "items count next_cursor"),
    ("save_world", {"folder": "one"}, "saved folder compressed path"),
    ("load_world", {"path": "one"}, "scheduled bytes source path note"),
]
PICTURE = "format width height source_width source_height quality bytes"


@pytest.fixture
async def realm(tmp_path: Path) -> AsyncIterator[Table]:
    async with House.open(Settings(data=str(tmp_path))) as house:
        kingdoms = Scenario(
            scenario="pvp",
            partial_intel=True,
            world="kingdoms",
            config={"zones_x": 2, "zones_y": 2},
            turn_based=True,
            ticks_per_turn=1,
            agents=[
                AgentSpec(id="zeus", role="god"),
                AgentSpec(id="athena", role="player", claim="auto:0"),
                AgentSpec(id="ares", role="player", claim="auto:1"),
            ],
        )
        _, tokens = await house.create_room(kingdoms, "realm", seed=3)
        async with listening(make_app(house)) as url:
            yield Table(house, url, tokens)


async def test_a_god_has_all_29_tools_and_each_answers_with_the_keys_of_the_sheet(realm: Table) -> None:
    async with realm.client("zeus", room="realm") as client:
        listed = {tool.name for tool in (await client.list_tools()).tools}
        for name, args, told in TOOLS:
            done = await client.call_tool(f"worldbox_{name}", args)
            assert not done.is_error, f"{name}: {done.content}"
            assert set(told.split()) <= done.structured_content.keys(), name
        later = await client.call_tool("worldbox_turn_advance")  # a tick passes, and the save is loaded
        assert not later.is_error
        made = await client.call_tool("worldbox_generate_world", {"zone_x": 2, "zone_y": 2})
        assert {"scheduled", "zone_x", "zone_y", "note"} <= made.structured_content.keys()
    sheet = {f"worldbox_{name}" for name, _, _ in TOOLS} | {"worldbox_screenshot", "worldbox_generate_world"}
    assert len(sheet) == 29
    assert sheet <= listed


async def test_the_text_of_an_answer_is_lines_to_read(realm: Table) -> None:
    async with realm.client("zeus", room="realm") as zeus, realm.client("athena", room="realm") as client:
        await zeus.call_tool("worldbox_turn_advance")  # the first turn is his
        done = await client.call_tool("muster", {"percent": 20})
        assert done.content[0].text.splitlines()[1:] == ["kingdom_id: 1", "order: muster"]
        listed = await client.call_tool("worldbox_list_kingdoms")
        assert listed.content[0].text.startswith("items:\n- id 1, name ")


async def test_a_screenshot_is_an_image_and_a_text_with_the_rest(realm: Table) -> None:
    async with realm.client("zeus", room="realm") as client:
        await client.list_tools()  # from here on the client validates results against their schemas
        for form, mime, magic in (("jpg", "image/jpeg", b"\xff\xd8\xff"), ("png", "image/png", b"\x89PNG")):
            done = await client.call_tool("worldbox_screenshot", {"max_dimension": 64, "format": form})
            image, text = done.content
            assert (image.type, image.mime_type) == ("image", mime)
            assert b64decode(image.data).startswith(magic)
            rest = json.loads(text.text)
            assert rest["format"] == form
            assert set(PICTURE.split()) - {"quality"} <= rest.keys()
            assert "base64" not in rest
        own = await client.call_tool("picture")
        assert [(block.type, block.mime_type) for block in own.content] == [("image", "image/png")]


async def test_a_player_is_offered_the_tools_of_its_role(realm: Table) -> None:
    async with realm.client("athena", room="realm") as client:
        listed = {tool.name for tool in (await client.list_tools()).tools}
        refused = await client.call_tool("worldbox_screenshot")
        assert refused.structured_content["error"]["code"] == "PERMISSION_DENIED"
    denied = {f"worldbox_{name}" for name in ("screenshot", "paint_tile", "generate_world", "save_world", "load_world")}
    assert not denied & listed
    assert {"worldbox_whoami", "worldbox_spawn", "worldbox_list_cities", "worldbox_pause"} <= listed
