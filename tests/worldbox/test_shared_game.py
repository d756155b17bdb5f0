"""`cohabit worldbox`: a room around a game. The game is played by our own bridge, with Kingdoms behind it."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.types import ASGIApp
from tests.forks import command as copy

from cohabit.errors import by_code
from cohabit.faces.app import make_app
from cohabit.faces.python import connect
from cohabit.faces.serve import Server
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.protocols.worldbox.cli import plan_of
from cohabit.protocols.worldbox.connector import BridgeConnector
from cohabit.protocols.worldbox.server import bridge_app
from cohabit.scenario import parse_scenario, presets
from cohabit.testing.clock import FakeClock
from cohabit.worlds.kingdoms.world import Kingdoms

GAME = {
    "world": "kingdoms",
    "config": {"zones_x": 2, "zones_y": 2, "kingdoms": 2},
    "seed": 3,
    "agents": [{"id": "legacy", "role": "god"}],
}
PLAYERS = [
    {"id": "athena", "role": "player", "kingdom_claim": "auto:0"},
    {"id": "ares", "role": "player", "kingdom_claim": "auto:1"},
    {"id": "zeus", "role": "god"},
]
READY = re.compile(r"The house is open: (\S+)")


@asynccontextmanager
async def listening(app: ASGIApp) -> AsyncIterator[str]:
    """The app on a free port; its address."""
    listener = socket.create_server(("127.0.0.1", 0))
    ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    config = uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=3)
    server = Server(config, lambda: ready.set_result(None))
    running = asyncio.create_task(server.serve(sockets=[listener]))
    await asyncio.wait({ready, running}, return_when=asyncio.FIRST_COMPLETED)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await running
        listener.close()


class Game:
    """Kingdoms behind our bridge, on a fake clock: one token, as the desktop game has it."""

    def __init__(self, house: House, url: str, token: str) -> None:
        self.house, self.url, self.token = house, url, token

    async def ask(self, name: str, args: Any = None) -> Any:
        return await self.house.call(self.house.identify(self.token), "game", name, args)


@asynccontextmanager
async def a_game() -> AsyncIterator[Game]:
    async with House.open(Settings(), clock=FakeClock()) as house:
        _, tokens = await house.create_room(parse_scenario(json.dumps(GAME)), "game", seed=3)
        async with listening(bridge_app(house)) as url:
            yield Game(house, url, tokens["legacy"])


class Table:
    """Our room around that game, served: what each player can do over MCP and HTTP."""

    def __init__(self, game: Game, house: House, url: str, tokens: dict[str, str]) -> None:
        self.game, self.house, self.url, self.tokens = game, house, url, tokens

    async def http(self, who: str, name: str, args: Mapping[str, Any] | None = None) -> Any:
        async with connect(self.url, self.tokens[who], "den", transport="http") as client:
            return await client.call(name, args or {})

    @asynccontextmanager
    async def mcp(self, who: str) -> AsyncIterator[Any]:
        headers = {"authorization": f"Bearer {self.tokens[who]}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=120) as http,
            Client(streamable_http_client(f"{self.url}/mcp/den?profile=full", http_client=http)) as client,
        ):
            yield Agent(client)


class Agent:
    """An agent with an MCP client."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def __call__(self, tool: str, args: dict[str, Any] | None = None) -> Any:
        answer = await self.client.call_tool(f"worldbox_{tool}", args or {})
        if answer.is_error:
            code = re.search(r"\[(\w+)\]", answer.content[0].text)
            assert code is not None, answer
            raise by_code({"code": code[1], "message": answer.content[0].text})
        return answer.structured_content or answer.content


@asynccontextmanager
async def a_table(**keys: Any) -> AsyncIterator[Table]:
    async with a_game() as game, House.open(Settings(), clock=FakeClock()) as house:
        text = json.dumps({"world": "worldbox", "partial_intel": True, "agents": PLAYERS, **keys})
        _, tokens = await house.create_room(parse_scenario(text), "den")
        await house.connect_room("den", BridgeConnector(game.url, game.token, house.clock))
        async with listening(make_app(house)) as url:
            yield Table(game, house, url, tokens)


async def code_of(asked: Any) -> str:
    try:
        await asked
    except Exception as refusal:
        return getattr(refusal, "code", repr(refusal))
    return "ok"


# -- two agents, two interfaces -------------------------------------------------------------------
async def test_two_agents_share_the_game_each_as_itself() -> None:
    async with a_table() as table, table.mcp("athena") as athena:
        assert (await athena("whoami"))["claimed_kingdom_id"] == 1
        assert (await table.http("ares", "whoami"))["claimed_kingdom_id"] == 2
        assert (await athena("health"))["worldbox_version"] == f"kingdoms-{Kingdoms.spec.version}"
        kingdoms = (await athena("objective_status"))["kingdoms"]
        assert kingdoms == (await table.http("ares", "objective_status"))["kingdoms"]
        assert [k["id"] for k in kingdoms] == [1, 2]


async def test_a_god_lists_every_tool_of_the_bridge_and_a_player_those_it_may_use() -> None:
    async with a_table() as table, table.mcp("zeus") as zeus, table.mcp("athena") as athena:
        gods, players = [
            {t.name.removeprefix("worldbox_") for t in (await agent.client.list_tools()).tools if "worldbox_" in t.name}
            for agent in (zeus, athena)
        ]
        assert gods - players == {
            "invoke_power", "paint_tile", "screenshot", "generate_world", "save_world", "load_world",
        }  # fmt: skip
        assert "turn_advance" not in gods  # this room has no turns
        assert len(gods | {"turn_advance"}) == 29


async def test_fog_hides_the_rival_over_both_interfaces() -> None:
    async with a_table() as table, table.mcp("athena") as athena:
        theirs = (await table.game.ask("query_actors", {"kingdom_id": 2})).items[0]
        for ask in (athena, lambda name, args=None: table.http("athena", name, args)):
            assert {a["kingdom_id"] for a in (await ask("query_actors"))["items"]} == {1}
            assert (await ask("query_actors", {"kingdom_id": 2}))["matched"] == 0
            assert {c["kingdom_id"] for c in (await ask("list_cities"))["items"]} == {1}
            tile = await ask("get_tile", {"x": theirs.x, "y": theirs.y})
            assert (tile["actors"], tile.get("city_id"), tile["visible"]) == ([], None, False)
            assert (await ask("get_world_state"))["population_alive"] == 32
            assert await code_of(ask("screenshot")) == "PERMISSION_DENIED"
        assert (await table.http("zeus", "get_tile", {"x": theirs.x, "y": theirs.y}))["actors"]


async def test_a_claim_binds_what_a_player_may_do() -> None:
    async with a_table() as table, table.mcp("athena") as athena:
        mine, theirs = [(await table.game.ask("query_actors", {"kingdom_id": k})).items[0] for k in (1, 2)]
        near = {"entity_id": mine.asset_id, "x": mine.x, "y": mine.y}
        assert (await athena("spawn", near))["spawned"] == 1
        for aimed in ({**near, "entity_id": theirs.asset_id}, {**near, "x": theirs.x, "y": theirs.y}):
            assert await code_of(athena("spawn", aimed)) == "SCOPE_VIOLATION"
        assert await code_of(athena("invoke_power", {"power_id": "rain", "x": 1, "y": 1})) == "PERMISSION_DENIED"
        assert (await table.http("zeus", "invoke_power", {"power_id": "rain", "x": 1, "y": 1}))["power_id"] == "rain"


async def test_a_players_spawn_has_the_limits_of_the_multi_agent_session() -> None:
    """Its turn, its own kingdom, 1 to 100 at once; players without a kingdom and spectators spawn nothing."""
    late = {"id": "late", "role": "player", "kingdom_claim": "id:99"}
    others = [late, {"id": "owl", "role": "observer"}, {"id": "bard", "role": "narrator"}]
    async with a_table(turn_based=True, turn_order=["athena", "ares"], agents=[*PLAYERS, *others]) as table:
        mine, theirs = [(await table.game.ask("query_actors", {"kingdom_id": k})).items[0] for k in (1, 2)]
        near = {"entity_id": mine.asset_id, "x": mine.x, "y": mine.y}
        refused = {
            "ares": [({"entity_id": theirs.asset_id, "x": theirs.x, "y": theirs.y}, "TURN_NOT_YOURS")],
            "athena": [({**near, "count": 101}, "BAD_ARGS"), ({**near, "count": 0}, "BAD_ARGS"),
                       ({**near, "entity_id": "dragon"}, "SCOPE_VIOLATION")],
            **{who: [(near, "PERMISSION_DENIED")] for who in ("owl", "bard", "late")},
        }  # fmt: skip
        people = (await table.game.ask("get_world_state")).population_alive
        for who, calls in refused.items():
            for args, code in calls:
                assert await code_of(table.http(who, "spawn", args)) == code, (who, args)
        assert (await table.game.ask("get_world_state")).population_alive == people
        assert (await table.http("athena", "spawn", {**near, "count": 100}))["requested"] == 100


async def test_turns_and_messages_are_the_rooms_own() -> None:
    async with a_table(turn_based=True, turn_order=["athena", "ares"]) as table, table.mcp("athena") as athena:
        assert await code_of(table.http("ares", "pause")) == "TURN_NOT_YOURS"
        assert (await athena("pause"))["paused"] is True
        assert (await table.game.ask("get_world_state")).paused is True
        assert (await athena("turn_advance"))["next"] == "ares"
        assert (await athena("send_message", {"to": "ares", "content": "peace?"}))["recipients"] == ["ares"]
        assert (await table.http("ares", "recv_messages"))["items"][0]["content"] == "peace?"
        assert (await table.http("ares", "resume"))["paused"] is False


async def test_a_picture_of_the_game_comes_as_a_picture() -> None:
    async with a_table() as table, table.mcp("zeus") as zeus:
        picture = (await zeus.client.call_tool("worldbox_screenshot", {"max_dimension": 64})).content[0]
        assert picture.mime_type == "image/jpeg"


async def test_without_fog_a_player_may_take_a_picture_and_is_offered_it() -> None:
    async with a_table(partial_intel=False) as table, table.mcp("athena") as athena:
        assert "worldbox_screenshot" in {tool.name for tool in (await athena.client.list_tools()).tools}
        assert (await table.http("athena", "screenshot", {"max_dimension": 64}))["bytes"] > 100
        picture = (await athena.client.call_tool("worldbox_screenshot", {"max_dimension": 64})).content[0]
        assert picture.mime_type == "image/jpeg"


async def test_an_event_is_pushed_to_a_member_who_may_know_of_it() -> None:
    async with a_table() as table, connect(table.url, table.tokens["ares"], "den") as ares:
        pushes = ares.subscribe(views=False)
        first = asyncio.ensure_future(anext(pushes))
        while not table.house.rooms["den"].fanout.members():
            await asyncio.sleep(0)
        assert (await ares.call("list_kingdoms"))["count"] == 2  # over the same connection, while it is subscribed
        await table.http("athena", "pause")
        texts = [item["text"] for item in (await first)["items"]]
        if "athena: pause, paused True" not in texts:  # who is here may be told first
            texts = [item["text"] for item in (await anext(pushes))["items"]]
        assert texts == ["athena: pause, paused True"]
        await pushes.aclose()


async def test_refusals_of_the_game_keep_their_hints() -> None:
    async with a_table() as table:
        with pytest.raises(Exception, match="there is no power") as wrong:
            await table.http("zeus", "invoke_power", {"power_id": "rainn", "x": 1, "y": 1})
        assert "rain" in wrong.value.did_you_mean  # type: ignore[attr-defined]
        assert await code_of(table.http("zeus", "get_tile", {"x": 9999, "y": 1})) == "OUT_OF_BOUNDS"


# -- the verb -------------------------------------------------------------------------------------
class Running:
    """A running `cohabit worldbox`: what it printed, and its address."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stdout is not None
        self.text = ""
        for line in process.stdout:
            self.text += line
            if found := READY.search(line):
                self.url = found[1]
                return

    def token(self, who: str) -> str:
        found = re.search(rf"^{re.escape(who)} .* (\w{{48}})$", self.text, re.MULTILINE)
        assert found is not None, self.text
        return found[1]

    def stop(self) -> str:
        self.process.send_signal(signal.SIGINT)
        return self.process.communicate(timeout=120)[0]


def environment(home: Path, **more: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("COHABIT_", "WORLDBOX_", "XDG_"))}
    return {**kept, "HOME": str(home), "PYTHONUNBUFFERED": "1", **more}


def words(*rest: str) -> list[str]:
    return [*copy(), *rest]


@asynccontextmanager
async def running(home: Path, token: str, *rest: str) -> AsyncIterator[Running]:
    house = await asyncio.to_thread(started, home, token, *rest)
    try:
        yield house
    finally:
        if house.process.poll() is None:
            house.process.kill()
        await asyncio.to_thread(house.process.communicate)


def started(home: Path, token: str, *rest: str) -> Running:
    return Running(
        subprocess.Popen(
            words("worldbox", *rest, "--port", "0"),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=home,
            env=environment(home, COHABIT_BRIDGE_TOKEN=token),
        )
    )  # fmt: skip


async def cohabit(home: Path, *rest: str, **env: str) -> subprocess.CompletedProcess[str]:
    """One verb, to its end."""
    return await asyncio.to_thread(
        subprocess.run,
        words(*rest),
        capture_output=True,
        text=True,
        timeout=200,
        cwd=home,
        env=environment(home, **env),
    )


async def test_the_verb_opens_a_room_prints_the_tokens_and_resumes_it(tmp_path: Path) -> None:
    async with a_game() as game:
        async with running(tmp_path, game.token, "pvp", "--bridge", game.url) as first:
            assert "WorldBox answers: mod_version 0.7.0" in first.text
            assert "/mcp/worldbox-pvp --header" in first.text
            athena = first.token("athena")
            async with connect(first.url, athena) as me:
                assert (await me.call("whoami"))["claimed_kingdom_id"] == 1
                mine = (await me.call("query_actors", {"limit": 1}))["items"][0]
                near = {"entity_id": mine["asset_id"], "x": mine["x"], "y": mine["y"]}
                before = (await game.ask("query_actors", {"race": mine["asset_id"]})).matched
                assert (await me.call("spawn", near, key="k"))["spawned"] == 1
            said = first.text + await asyncio.to_thread(first.stop)
            assert "athena: spawn" in said
        verified = await cohabit(tmp_path, "verify")
        assert verified.returncode == 0
        assert "taken from the record" in verified.stdout
        replayed = await cohabit(tmp_path, "replay", "worldbox-pvp")
        assert "taken from the record" in replayed.stdout
        assert "athena: spawn" in replayed.stdout
        async with running(tmp_path, game.token, "pvp", "--bridge", game.url) as second:
            assert "resumed" in second.text
            async with connect(second.url, athena) as me:
                assert (await me.call("spawn", near, key="k"))["spawned"] == 1
                assert (await me.call("list_cities"))["count"] == 1
            said += second.text + await asyncio.to_thread(second.stop)
        people = (await game.ask("query_actors", {"race": mine["asset_id"]})).matched
        assert people == before + 1  # the call was made twice with one key, and done once
        files = [file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()]
        assert game.token not in said
        assert not [data for data in files if game.token.encode() in data]


@pytest.mark.parametrize("name", sorted(presets()))
async def test_every_preset_can_be_played_in_a_worldbox(name: str) -> None:
    plan = plan_of(name, None)
    async with House.open(Settings(), clock=FakeClock()) as house:
        await house.create_room(plan.scenario, plan.room)
        room = house.rooms[f"worldbox-{name}"].room
        assert room.state.world == "worldbox"
        assert not any(m.stand_in for m in room.state.members.values())


async def test_a_token_that_the_bridge_does_not_accept_opens_no_room(tmp_path: Path) -> None:
    async with a_game() as game:
        wrong = "x" * 48
        refused = await cohabit(tmp_path, "worldbox", "--bridge", game.url, "--port", "0", COHABIT_BRIDGE_TOKEN=wrong)
        assert refused.returncode == 1
        assert "rejected the token" in refused.stderr
        assert wrong not in refused.stdout + refused.stderr
        assert "worldbox" not in (await cohabit(tmp_path, "verify")).stdout


async def test_a_game_that_is_not_running_yet_is_waited_for(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    async with running(tmp_path, "y" * 48, "--bridge", f"http://127.0.0.1:{port}") as lonely:
        assert "cannot connect to the game's bridge" in lonely.text
        async with connect(lonely.url, lonely.token("god")) as god:
            assert await code_of(god.call("list_powers")) == "UNREACHABLE"
            assert (await god.call("whoami"))["role"] == "god"


@pytest.mark.parametrize(
    ("rest", "said"),
    [
        (["--bridge", "http://127.0.0.1:1"], "token is needed"),
        (["--bridge", "nowhere", "--token", "z" * 48], "must look like http://127.0.0.1:8723"),
        (["--bridge", "http://a:b@127.0.0.1:1", "--token", "z" * 48], "name or password"),
        (["nosuch", "--token", "z" * 48], "no scenario or world"),
    ],
)
async def test_a_wrong_command_line_is_explained_in_one_line(tmp_path: Path, rest: list[str], said: str) -> None:
    refused = await cohabit(tmp_path, "worldbox", *rest, "--port", "0")
    assert refused.returncode in (1, 2)
    assert said in refused.stderr
    assert len(refused.stderr.strip().splitlines()) == 1
