"""``cohabit starbound``: the room with its bridge, the mod's files, and the console of a server."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import stat
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.forks import command as copy
from tests.ports import free_port
from tests.starbound.engine import MOD
from tests.starbound.games import VIEW, Game, a_bridge, obedient
from tests.starbound.test_rcon import PASSWORD, Server

from cohabit.errors import BadArgs
from cohabit.faces.cli.say import UsageError
from cohabit.faces.python import connect
from cohabit.house.settings import Settings
from cohabit.protocols.starbound.actions import ACTIONS
from cohabit.protocols.starbound.cli import (
    _address,
    checked_url,
    install_mod,
    kept_token,
    mod_config,
    mod_lines,
    plan_of,
)

READY = re.compile(r"The house is open: (\S+)")


def environment(home: Path, **more: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("COHABIT_", "XDG_"))}
    return {**kept, "HOME": str(home), "PYTHONUNBUFFERED": "1", **more}


class Running:
    """A running `cohabit starbound`: what it printed, and its address."""

    def __init__(self, home: Path, *words: str) -> None:
        self.process = subprocess.Popen(
            [*copy(), "starbound", *words, "--port", "0", "--bridge-port", "0"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=home, env=environment(home),
        )  # fmt: skip
        assert self.process.stdout is not None
        self.text = ""
        for line in self.process.stdout:
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


@asynccontextmanager
async def running(home: Path, *words: str) -> AsyncIterator[Running]:
    house = await asyncio.to_thread(Running, home, *words)
    try:
        yield house
    finally:
        if house.process.poll() is None:
            house.process.kill()
        await asyncio.to_thread(house.process.communicate)


async def test_the_verb_opens_a_room_and_a_bridge_and_says_what_the_mod_needs(tmp_path: Path) -> None:
    port = free_port()
    async with running(tmp_path, "--game-port", str(port)) as house:
        config = json.loads(re.search(r"in starbound.config: (.*)", house.text)[1])["cohabitBridge"]  # type: ignore[index]
        assert config["url"] == f"http://localhost:{port}"
        assert "trustedSites" in house.text
        assert "The room waits for the game" in house.text
        headers = {"authorization": f"Bearer {config['token']}"}
        async with httpx2.AsyncClient(base_url=config["url"], headers=headers, timeout=120, trust_env=False) as client:
            game = asyncio.ensure_future(play(client))
            async with connect(house.url, house.token("pilot")) as pilot:
                heard = await pilot.call("events", {"last": 1})
                while not (await pilot.call("whoami")).get("seat"):
                    assert not game.done()
                    heard = await pilot.call("events", {"cursor": heard["cursor"], "wait_ms": 20_000})
                done = await pilot.call("jump")
                assert (done["success"], done["message"]) == (True, "did jump")
            game.cancel()
            await asyncio.wait({game})
        said = house.text + await asyncio.to_thread(house.stop)
    assert "lost the connection" not in said
    async with running(tmp_path, "--game-port", str(port)) as again:
        assert "resumed" in again.text
        assert config["token"] in again.text  # the mod need not be configured again


async def play(client: httpx2.AsyncClient) -> None:
    while True:
        command: dict[str, Any] = (await client.get("/poll", params={"wait": 20, "player_id": "uuid-a"})).json()
        if command:
            acted = {"success": True, "message": f"did {command.get('action')}", "observation": VIEW}
            result = acted if command["type"] == "act" else VIEW
            await client.post("/result", json={"id": command["id"], "result": result})


async def test_without_the_game_our_own_planets_take_its_place(tmp_path: Path) -> None:
    async with running(tmp_path, "--simulate", "--game-port", str(free_port())) as house:
        async with connect(house.url, house.token("pilot")) as pilot:
            heard = await pilot.call("events", {"last": 1})
            while not (await pilot.call("whoami")).get("seat"):
                heard = await pilot.call("events", {"cursor": heard["cursor"], "wait_ms": 20_000})
            aboard = await pilot.call("beam_up")
            assert (aboard["success"], "aboard your ship" in aboard["message"]) == (True, True)
        assert "Traceback" not in await asyncio.to_thread(house.stop)


async def test_a_room_for_a_bridge_that_runs_elsewhere(tmp_path: Path) -> None:
    async with a_bridge(clock=None) as served, Game(served, obedient).playing():
        words = ("--bridge", served.url, "--token", served.token or "")
        async with running(tmp_path, *words) as house, connect(house.url, house.token("pilot")) as pilot:
            assert (await pilot.call("jump"))["message"] == "did jump"


@pytest.mark.parametrize("url", ["localhost:9999", "ftp://x", "http://", "http://a:b@x", "http://[::1", "http://x:y"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(BadArgs, match="address must look like"):
        checked_url(url)


async def test_a_port_that_is_taken_is_said_before_a_room_is_made(tmp_path: Path) -> None:
    listening = await asyncio.start_server(lambda r, w: None, "127.0.0.1", 0)
    async with listening:
        port = listening.sockets[0].getsockname()[1]
        done = await asyncio.to_thread(
            subprocess.run, [*copy(), "starbound", "--game-port", str(port), "--port", "0", "--bridge-port", "0"],
            capture_output=True, text=True, timeout=200, cwd=tmp_path, env=environment(tmp_path),
        )  # fmt: skip
    assert (done.returncode, "--game-port" in done.stderr) == (1, True)


# -- parts --------------------------------------------------------------------------------------------
def test_the_mod_is_copied_with_address_and_token(tmp_path: Path) -> None:
    target = install_mod(tmp_path, "127.0.0.1", 9999, "secret")
    copied = sorted(str(path.relative_to(target)) for path in target.rglob("*") if path.is_file())
    assert copied == sorted(str(path.relative_to(MOD)) for path in MOD.rglob("*") if path.is_file())
    config = json.loads((target / "cohabit_bridge.config").read_text())
    assert (config["url"], config["token"], config["radius"]) == ("http://localhost:9999", "secret", 20)
    install_mod(tmp_path, "192.168.1.5", 9000, "other")
    assert json.loads((target / "cohabit_bridge.config").read_text())["url"] == "http://192.168.1.5:9000"
    with pytest.raises(BadArgs, match="not a folder"):
        install_mod(tmp_path / "nowhere", "127.0.0.1", 9999, "secret")


def test_the_mod_adds_its_script_to_the_player() -> None:
    (patch,) = json.loads((MOD / "player.config.patch").read_text())
    assert (patch["op"], patch["path"]) == ("add", "/genericScriptContexts/cohabit")
    assert (MOD / patch["value"].lstrip("/")).is_file()
    assert json.loads((MOD / "_metadata").read_text())["name"] == "cohabit"


def test_the_token_of_a_folder_is_kept_and_private(tmp_path: Path) -> None:
    settings = Settings(data=str(tmp_path / "house"))
    token = kept_token(settings)
    assert (len(token) >= 32, kept_token(settings)) == (True, token)
    file = tmp_path / "house" / "starbound-token"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.write_text("\n")
    assert len(kept_token(settings)) >= 32


def test_a_bridge_beyond_this_machine_comes_with_a_warning() -> None:
    assert "without encryption" in "\n".join(mod_lines("0.0.0.0", 9999, "t"))
    assert "without encryption" not in "\n".join(mod_lines("127.0.0.1", 9999, "t"))
    assert mod_config("fd00::5", 9999, "t")["url"] == "http://[fd00::5]:9999"


def test_a_scenario_for_another_world_gives_its_members_only() -> None:
    plan = plan_of("pvp", None)
    assert (plan.room, plan.scenario.world, plan.scenario.config) == ("starbound-pvp", "starbound", {})
    assert not any(agent.brain or agent.stand_in for agent in plan.scenario.agents)
    assert [agent.id for agent in plan_of(None, None).scenario.agents] == ["host", "pilot"]


def test_addresses_of_consoles() -> None:
    assert _address("example.org") == ("example.org", 21026)
    assert _address("127.0.0.1:7") == ("127.0.0.1", 7)
    assert _address("[::1]:7") == ("::1", 7)
    assert _address("[::1]") == ("::1", 21026)
    with pytest.raises(UsageError):
        _address("host:port")


async def test_the_console_of_a_server_from_the_command_line(tmp_path: Path) -> None:
    async with await asyncio.start_server(Server().serve, "127.0.0.1", 0) as listening:
        port = listening.sockets[0].getsockname()[1]

        async def cohabit(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
            return await asyncio.to_thread(
                subprocess.run, [*copy(), "starbound", "--rcon", f"127.0.0.1:{port}", *words],
                capture_output=True, text=True, timeout=200, cwd=tmp_path, env=environment(tmp_path, **env),
            )  # fmt: skip

        shown = await cohabit(COHABIT_RCON_PASSWORD=PASSWORD)
        assert (shown.returncode, "Ann" in shown.stdout, "CelestialWorld:7" in shown.stdout) == (0, True, True)
        assert (await cohabit("--run", "echo hi", COHABIT_RCON_PASSWORD=PASSWORD)).stdout == "hi\n"
        wrong = await cohabit(COHABIT_RCON_PASSWORD="guess")
        assert (wrong.returncode, "rejected the RCON password" in wrong.stderr) == (1, True)
        assert "COHABIT_RCON_PASSWORD" in (await cohabit()).stderr


def test_every_setting_of_the_mod_and_every_action_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "starbound.md").read_text()
    settings, actions = json.loads((MOD / "cohabit_bridge.config").read_text()), ACTIONS.names()
    assert settings
    assert actions
    assert [key for key in settings if f"`{key}`" not in page] == []
    assert [name for name in actions if f"`{name}`" not in page and f"`{name}(" not in page] == []
