"""The integrations as a user installs and starts them: with pip and all that they depend on, by their commands."""

import asyncio
import json
from asyncio.subprocess import PIPE
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import test_needs

from .houses import INTEGRATIONS, opened

pytestmark = [pytest.mark.soak, pytest.mark.timeout(1800)]
CLIENT = """
import sys
from openenv.core.generic_client import GenericEnvClient

with GenericEnvClient(sys.argv[1]).sync() as env:
    result = env.reset()
    while not result.done:
        result = env.step(result.observation["legal_actions"][0])
    print(result.observation["total_reward"])
"""
Install = Callable[[str], Path]


@pytest.fixture
def install(tmp_path: Path) -> Install:
    """Install a package with its dependencies, and return the folder of its programs."""

    def into_environment(package: str) -> Path:
        test_needs.pip_install(tmp_path / package, str(INTEGRATIONS / "seat"), str(INTEGRATIONS / package))
        return tmp_path / package / "bin"

    return into_environment


async def output(*command: Any, within: Path) -> str:
    process = await asyncio.create_subprocess_exec(*command, cwd=within, stdout=PIPE)
    out, _ = await process.communicate()
    assert process.returncode == 0
    return out.decode()


async def test_the_client_of_openenv_plays_a_game_through_the_installed_server(
    install: Install, tmp_path: Path
) -> None:
    programs = install("openenv")
    async with opened() as house:
        (tmp_path / "seats").write_text(house.links("heap/learner"))
        options = ["--seats", tmp_path / "seats", "--port", "0"]
        server = await asyncio.create_subprocess_exec(programs / "cohabit-openenv", *options, stdout=PIPE)
        assert server.stdout is not None
        try:
            count, _, address = (await server.stdout.readline()).decode().strip().partition(" seats, at ")
            assert count == "1"
            assert await output(programs / "python", "-c", CLIENT, address, within=tmp_path) == "-1.0\n"
        finally:
            server.terminate()
            await server.wait()


async def test_the_command_of_inspect_finds_the_installed_task_and_plays_it_offline(
    install: Install, tmp_path: Path
) -> None:
    programs = install("inspect")
    async with opened() as house:
        (tmp_path / "seats").write_text(house.links("heap/learner"))
        task = ["cohabit_inspect/match", "-T", "seats=seats", "-T", "rehearse=true", "--model", "mockllm/model"]
        await output(programs / "inspect", "eval", *task, "--display", "none", "--log-format", "json", within=tmp_path)
    (log,) = (tmp_path / "logs").glob("*.json")
    found = json.loads(log.read_text())
    assert found["status"] == "success"
    assert found["results"]["scores"][0]["metrics"]["mean"]["value"] == -1.0
