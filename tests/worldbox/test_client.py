"""The published client of the WorldBox bridge, unchanged, each in a process of its own: every tool, every role."""

import json
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from ..ports import free_port  # noqa: TID252
from .bridging import SMALL, Bridged, bridged
from .test_wire import SHEET

VERSIONS = {"0.6.0": "worldbox_06", "0.3.3": "worldbox_03"}
LATER = {"worldbox_list_speeds", "worldbox_get_ui_state", "worldbox_dismiss_window"}
"""Tools that 0.3.3 does not have."""


class Agent:
    """The client process of one agent."""

    def __init__(self, sdk: Client) -> None:
        self._sdk = sdk
        self.called: set[str] = set()

    async def tools(self) -> set[str]:
        return {tool.name for tool in (await self._sdk.list_tools()).tools}

    async def call(self, tool: str, args: dict[str, Any] | None = None) -> Any:
        """The result of a tool, whole."""
        self.called.add(tool)
        return await self._sdk.call_tool(tool, args or {})

    async def result(self, name: str, **args: Any) -> Any:
        """The result of a command."""
        done = await self.call(f"worldbox_{name}", args)
        assert not done.is_error, done.content
        return json.loads(done.content[-1].text)

    async def refusal(self, name: str, **args: Any) -> str:
        """The text that the model gets when a command is refused."""
        done = await self.call(f"worldbox_{name}", args)
        assert done.is_error, done.content
        return str(done.content[0].text)


Join = Callable[..., Any]


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


newest_only = pytest.mark.parametrize(
    "version", ["0.6.0", pytest.param("0.3.3", marks=pytest.mark.soak)], indirect=True
)
"""For what is between the agents and the house, with tools that both versions have: the bridge does not know which one
it talks to. That the older one passes every answer of every tool on is tested always, with a god."""


@pytest.fixture
def join(need: Callable[[str], Path], version: str, tmp_path: Path) -> Join:
    """Start the client, as an agent of a realm."""
    program = str(need(VERSIONS[version]))

    @asynccontextmanager
    async def start(realm: Bridged, who: str, **other: str) -> AsyncIterator[Agent]:
        env = {
            "HOME": str(tmp_path),
            "WORLDBOX_MCP_TOKEN": realm.tokens.get(who, who),
            "WORLDBOX_MCP_BRIDGE_PORT": str(realm.port),
            **other,
        }
        with (tmp_path / f"{who[:8]}.log").open("w") as log:
            server = stdio_client(StdioServerParameters(command=program, env=env), errlog=log)
            async with Client(server, mode="legacy") as sdk:
                yield Agent(sdk)

    return start


@pytest.fixture
async def realm(tmp_path: Path) -> AsyncIterator[Bridged]:
    async with bridged(tmp_path / "data", **SMALL) as realm:
        yield realm


def known_to(version: str, args: dict[str, Any]) -> dict[str, Any]:
    """0.3.3 takes no arguments for a screenshot."""
    return {} if version == "0.3.3" and "max_dimension" in args else args


async def test_a_god_gets_every_answer_of_the_sheet(realm: Bridged, join: Join, version: str) -> None:
    async with join(realm, "zeus") as zeus:
        tools = await zeus.tools()
        assert len(tools) == (29 if version == "0.6.0" else 26)
        assert (tools >= LATER) is (version == "0.6.0")
        assert (await zeus.result("health"))["agent_count"] == 4
        assert "spawn" in {line["name"] for line in (await zeus.result("capabilities"))["commands"]}
        assert "[BAD_ARGS]" in await zeus.refusal("turn_advance")
        for name, args, told in SHEET:
            if f"worldbox_{name}" in tools:
                answer = await zeus.result(name, **known_to(version, args))
                pictured = {"base64"} if name == "screenshot" and version == "0.6.0" else set()
                assert set(told.split()) - pictured <= answer.keys(), name
        assert zeus.called == tools


HOME, AWAY = {"x": "home"}, {"x": "away"}
"""Replaced below by the places of athena's first city and of that of ares."""
PLAYER: list[tuple[str, dict[str, Any], str]] = [
    ("capabilities", {}, ""), ("whoami", {}, ""), ("session_info", {}, ""), ("objective_status", {}, ""),
    ("turn_advance", {}, "BAD_ARGS"), ("list_tiles", {}, ""), ("list_actors", {}, ""), ("list_powers", {}, ""),
    ("list_speeds", {}, ""), ("get_world_state", {}, ""), ("get_tile", {"x": 1, "y": 1}, ""),
    ("get_tile", {"x": 128, "y": 1}, "OUT_OF_BOUNDS"), ("list_kingdoms", {}, ""), ("list_cities", {}, ""),
    ("query_actors", {"in_rect": {"x": 0, "y": 0, "w": 128, "h": 128}, "limit": 3}, ""),
    ("screenshot", {}, "PERMISSION_DENIED"), ("get_ui_state", {}, ""), ("dismiss_window", {}, ""), ("pause", {}, ""),
    ("resume", {}, ""), ("set_speed", {"speed_id": "x2"}, ""), ("set_speed", {"speed_id": "x7"}, "UNKNOWN_ASSET"),
    ("generate_world", {}, "PERMISSION_DENIED"), ("save_world", {"folder": "mine"}, "PERMISSION_DENIED"),
    ("load_world", {"path": "mine"}, "PERMISSION_DENIED"),
    ("paint_tile", {"x": 1, "y": 1, "tile_id": "sand"}, "PERMISSION_DENIED"),
    ("spawn", {"entity_id": "human"} | HOME, ""), ("spawn", {"entity_id": "humann"} | HOME, "UNKNOWN_ASSET"),
    ("spawn", {"entity_id": "human"} | AWAY, "FACTION_SCOPE_VIOLATION"),
    ("invoke_power", {"power_id": "rainn"} | HOME, "UNKNOWN_ASSET"),
    ("invoke_power", {"power_id": "meteorite"} | AWAY, "FACTION_SCOPE_VIOLATION"),
    ("send_message", {"to": "ares", "content": "hail"}, ""),
    ("send_message", {"to": "*", "content": "hail"}, "PERMISSION_DENIED"), ("recv_messages", {}, ""),
    ("health", {}, ""),
]  # fmt: skip


@newest_only
async def test_a_player_is_answered_or_refused_by_code_with_every_tool(
    realm: Bridged, join: Join, version: str
) -> None:
    async with join(realm, "athena") as athena:
        tools = await athena.tools()
        cities = (await realm.result("zeus", "list_cities"))["items"]
        places = {"home": cities[0], "away": cities[1]}
        for name, args, code in PLAYER:
            if f"worldbox_{name}" not in tools:
                continue
            if args.get("x") in places:
                city = places[args["x"]]
                args = args | {"x": city["x"], "y": city["y"]}
            if code:
                told = await athena.refusal(name, **args)
                assert f"[{code}] " in told, told
                assert ("Did you mean: " in told) is (code == "UNKNOWN_ASSET" and version == "0.6.0"), told
            else:
                await athena.result(name, **args)
        assert athena.called == tools
        assert (await athena.result("whoami"))["role"] == "faction_player"
        mine = (await athena.result("whoami"))["claimed_kingdom_id"]
        cities = (await athena.result("list_cities"))["items"]
        assert [city["kingdom_id"] for city in cities] == [mine]  # fog
        actors = await athena.result("query_actors")
        assert {actor["kingdom_id"] for actor in actors["items"]} == {mine}


@newest_only
async def test_a_screenshot_is_a_picture(realm: Bridged, join: Join, version: str) -> None:
    async with join(realm, "zeus") as zeus:
        done = await zeus.call("worldbox_screenshot")
        if version == "0.3.3":  # it passes the values on, with the picture
            assert b64decode(json.loads(done.content[0].text)["base64"])[:3] == b"\xff\xd8\xff"
            return
        image, text = done.content
        assert (image.type, image.mime_type) == ("image", "image/jpeg")
        assert b64decode(image.data)[:3] == b"\xff\xd8\xff"
        assert json.loads(text.text)["bytes"] == len(b64decode(image.data))
        lossless = await zeus.call("worldbox_screenshot", {"max_dimension": 64, "format": "png"})
        assert lossless.content[0].mime_type == "image/png"
        assert b64decode(lossless.content[0].data).startswith(b"\x89PNG")
        assert "[BAD_ARGS]" in await zeus.refusal("screenshot", max_dimension=-1)


@pytest.mark.soak
@newest_only
async def test_a_save_is_loaded_again_by_name_and_by_bytes(realm: Bridged, join: Join) -> None:
    async def paint(tile: str) -> None:
        await zeus.result("paint_tile", x=10, y=10, tile_id=tile)

    async def ground() -> str:
        return str((await zeus.result("get_tile", x=10, y=10))["tile_id"])

    async with join(realm, "zeus") as zeus:
        await paint("hills")
        saved = await zeus.result("save_world", folder="before the war")
        await paint("sand")
        assert (await zeus.result("load_world", path=saved["path"]))["source"] == "path"
        await realm.clock.advance(1_000)
        assert await ground() == "hills"
        await paint("sand")
        (room,) = realm.house.rooms
        data = b64encode(realm.house.store.save(room, saved["folder"]) or b"").decode()
        assert (await zeus.result("load_world", bytes_b64=data))["source"] == "bytes_b64"
        await realm.clock.advance(1_000)
        assert await ground() == "hills"
        for wrong in ("../realm", "/etc", "nowhere", ""):
            assert "[BAD_ARGS]" in await zeus.refusal("load_world", path=wrong)
        assert "[BAD_ARGS]" in await zeus.refusal("save_world", folder="a/../../b")
        assert "[GAME_REJECTED]" in await zeus.refusal("load_world", bytes_b64=data[:400])
        assert "[TOO_LARGE]" in await zeus.refusal("load_world", bytes_b64="A" * 5_000_000)
        assert await ground() == "hills"


@newest_only
async def test_two_clients_write_to_each_other(realm: Bridged, join: Join) -> None:
    async with join(realm, "athena") as athena, join(realm, "ares") as ares:
        start = (await ares.result("recv_messages", max=1))["next_cursor"]
        sent = await athena.result("send_message", to="ares", kind="diplomacy", content="a non-aggression pact?")
        assert sent["seq"] > start
        got = await ares.result("recv_messages", since_seq=start)
        assert [(m["from"], m["kind"], m["content"]) for m in got["items"]] == [
            ("athena", "diplomacy", "a non-aggression pact?")
        ]
        await ares.result("send_message", to="athena", content="never")
        answer = (await athena.result("recv_messages"))["items"][-1]
        assert (answer["from"], answer["content"]) == ("ares", "never")
        assert (await ares.result("recv_messages", since_seq=got["next_cursor"]))["count"] == 0


@pytest.mark.soak
@newest_only
async def test_turns_hold_for_clients(join: Join) -> None:
    turns = {"turn_based": True, "turn_order": ["athena", "ares"]}
    async with bridged(**SMALL, **turns) as realm, join(realm, "ares") as ares:
        assert "[TURN_NOT_YOURS]" in await ares.refusal("paint_tile", x=1, y=1, tile_id="sand")
        assert "[TURN_NOT_YOURS]" in await ares.refusal("turn_advance")
        await realm.result("athena", "turn_advance")
        assert "[PERMISSION_DENIED]" in await ares.refusal("paint_tile", x=1, y=1, tile_id="sand")
        assert (await ares.result("turn_advance"))["next"] == "athena"


@newest_only
async def test_a_wrong_token_and_a_port_without_a_house_are_reported(realm: Bridged, join: Join) -> None:
    async with join(realm, "x" * 48) as stranger:
        assert "[UNAUTHORIZED]" in await stranger.refusal("health")
        assert "[UNAUTHORIZED]" in await stranger.refusal("whoami")
    async with join(realm, "zeus", WORLDBOX_MCP_BRIDGE_PORT=str(free_port())) as lost:
        assert "unreachable" in await lost.refusal("whoami")
