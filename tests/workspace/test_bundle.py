"""The bundle has all that its server needs: it starts where nothing is installed and nothing can be downloaded."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

import bundle
from cohabit.workspace.tools import tools

IDENTITY = {"agent_id": "ann-desktop", "agent_name": "Ann", "agent_email": "ann@example.org"}
EMPTY = [getattr(sys, "_base_executable", sys.executable), "-S"]
"""A Python without any installed package."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("bundle") / "cohabit-workspace.mcpb"
    bundle.build(file)
    return file


@pytest.fixture
def unpacked(built: Path, tmp_path: Path) -> Path:
    with zipfile.ZipFile(built) as archive:
        archive.extractall(tmp_path / "bundle")
    return tmp_path / "bundle"


def launch(unpacked: Path, home: Path) -> tuple[list[str], dict[str, str]]:
    """The command and the environment with which a client starts the server, by the manifest."""
    config = json.loads((unpacked / "manifest.json").read_text())["server"]["mcp_config"]
    assert config["command"] == "python3"
    values = {"${__dirname}": str(unpacked), **{f"${{user_config.{name}}}": IDENTITY[name] for name in IDENTITY}}

    def filled(text: str) -> str:
        for name, value in values.items():
            text = text.replace(name, value)
        return text

    git = Path(shutil.which("git") or "git").parent
    environ = {"HOME": str(home), "PATH": f"{git}:/usr/bin:/bin", "PIP_NO_INDEX": "1", "PYTHONNOUSERSITE": "1"}
    command = [*EMPTY, *map(filled, config["args"])]
    return command, environ | {name: filled(value) for name, value in config["env"].items()}


def last_commit(remote: Path) -> str:
    return subprocess.check_output(["git", "-C", remote, "log", "-1", "--format=%an: %s", "main"], text=True)


def test_nothing_is_installed_in_the_python_of_these_tests() -> None:
    found = subprocess.run([*EMPTY, "-c", "import msgspec"], env={"PATH": os.environ["PATH"]}, capture_output=True)
    assert b"ModuleNotFoundError" in found.stderr


async def test_the_official_client_works_on_a_board_with_the_bundle_alone(
    unpacked: Path, remote: Path, tmp_path: Path
) -> None:
    (command, *args), environ = launch(unpacked, tmp_path)

    async def answer(client: Client, tool: str, **given: Any) -> Any:
        result = await client.call_tool(tool, given)
        assert result.is_error is not True, result
        return json.loads(result.content[0].text)  # type: ignore[union-attr]

    with (tmp_path / "stderr").open("w") as quiet:
        parameters = StdioServerParameters(command=command, args=args, env=environ)
        async with Client(stdio_client(parameters, errlog=quiet), mode="legacy") as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == [*tools()]
            board = str(tmp_path / "board")
            await answer(client, "workspace_init", name="board", remote_url=str(remote), local_path=board)
            assert (await answer(client, "inbox_add", title="From a bundle"))["id"] == "INB-001"
            await answer(client, "journal_append", summary="Worked from a bundle")
            await answer(client, "add", paths=["journal.md", "inbox.md"])
            await answer(client, "commit", message="from a bundle")
            assert (await answer(client, "sync"))["ok"]
            assert (await answer(client, "health"))["counts"]["malformed"] == 0
            assert (await answer(client, "whats_new"))["own_commits"] == 1
    assert last_commit(remote) == "Ann: [ann-desktop] from a bundle\n"


def test_a_python_that_the_bundle_has_no_libraries_for_is_told_which_it_has(unpacked: Path, tmp_path: Path) -> None:
    command, environ = launch(unpacked, tmp_path)
    (runtime,) = (unpacked / "server" / "lib").glob("cpython-*")
    runtime.rename(runtime.with_name("cpython-399-plan9-mips"))
    started = subprocess.run(command, env=environ, input=b"", capture_output=True)
    assert started.returncode == 1
    assert f"no libraries for {runtime.name}. It has them for: cpython-399-plan9-mips." in started.stderr.decode()


def test_the_manifest_lists_the_platforms_whose_libraries_are_there(built: Path, tmp_path: Path) -> None:
    wheel = tmp_path / "msgspec-0.20.0-cp313-cp313-macosx_11_0_arm64.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("msgspec/__init__.py", "")
    bundle.build(tmp_path / "both.mcpb", [wheel])
    with zipfile.ZipFile(tmp_path / "both.mcpb") as archive:
        assert "server/lib/cpython-313-darwin-arm64/msgspec/__init__.py" in archive.namelist()
        assert json.loads(archive.read("manifest.json"))["compatibility"]["platforms"] == sorted(
            {"darwin", sys.platform}
        )


@pytest.mark.parametrize(
    "name", ["other-1.0-cp311-cp311-macosx_11_0_arm64.whl", "msgspec-0.20.0-cp311-cp311-win_amd64.whl"]
)
def test_another_wheel_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="is not a wheel of msgspec"):
        bundle.build(tmp_path / "out.mcpb", [tmp_path / name])


def test_the_same_sources_give_the_same_bundle(built: Path, tmp_path: Path) -> None:
    bundle.build(tmp_path / "again.mcpb")
    assert (tmp_path / "again.mcpb").read_bytes() == built.read_bytes()


def test_the_bundle_has_nothing_that_its_server_does_not_need(built: Path) -> None:
    with zipfile.ZipFile(built) as archive:
        names = archive.namelist()
    assert not [name for name in names if "/worlds/" in name or "/faces/" in name or name.endswith(".pyc")]
    assert built.stat().st_size < 1_500_000
