"""The MCP server as a process: the official client with and without handshake, signals, a hanging remote, a quick start."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

PING = {"jsonrpc": "2.0", "id": "ping", "method": "ping"}


def environment(home: Path) -> dict[str, str]:
    return {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join(sys.path),
        "COHABIT_AGENT_ID": "ann-cli",
        "COHABIT_AGENT_NAME": "Ann",
        "COHABIT_AGENT_EMAIL": "ann@example.org",
    }


@pytest.fixture
def process(tmp_path: Path) -> Iterator["subprocess.Popen[bytes]"]:
    with subprocess.Popen(
        [sys.executable, "-m", "cohabit.workspace"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(tmp_path),
    ) as one:
        yield one
        one.kill()


def send(process: "subprocess.Popen[bytes]", *messages: Any) -> None:
    assert process.stdin is not None
    process.stdin.write(b"".join(json.dumps(m).encode() + b"\n" for m in messages))
    process.stdin.flush()


def receive(process: "subprocess.Popen[bytes]") -> Any:
    assert process.stdout is not None
    return json.loads(process.stdout.readline())


def call(number: Any, tool: str, **args: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool, "arguments": args}}


@pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])
async def test_the_official_client_works_in_every_mode(mode: str, tmp_path: Path, remote: Path) -> None:
    parameters = StdioServerParameters(
        command=sys.executable, args=["-m", "cohabit.workspace", "--profile", "compat"], env=environment(tmp_path)
    )
    with (tmp_path / "stderr").open("w") as quiet:
        async with Client(stdio_client(parameters, errlog=quiet), mode=mode) as client:
            listed = await client.list_tools()
            assert len(listed.tools) == 20
            made = await client.call_tool(
                "workspace_init", {"name": "board", "remote_url": str(remote), "local_path": str(tmp_path / "board")}
            )
            assert made.is_error is not True, made
            added = await client.call_tool("inbox_add", {"title": "from the official client"})
            assert json.loads(added.content[0].text)["id"] == "INB-001"  # type: ignore[union-attr]
            refused = await client.call_tool("read", {"path": "/etc/passwd"})
            assert refused.is_error is True
            assert "absolute paths" in json.loads(refused.content[0].text)["error"]  # type: ignore[union-attr]


@pytest.mark.parametrize("name", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_cleanly(process: "subprocess.Popen[bytes]", name: signal.Signals) -> None:
    send(process, PING)
    assert receive(process)["id"] == "ping"
    process.send_signal(name)
    out, err = process.communicate()
    assert (process.returncode, out) == (0, b"")
    assert err.decode().startswith("cohabit-workspace ")
    assert err.count(b"\n") == 1


def test_a_server_whose_client_is_gone_ends_quietly(process: "subprocess.Popen[bytes]") -> None:
    assert process.stdout is not None
    process.stdout.close()
    send(process, PING)
    process.wait(30)
    assert process.stderr is not None
    assert process.stderr.read().count(b"\n") == 1


def test_cancelling_ends_the_git_that_waits_for_a_remote(
    process: "subprocess.Popen[bytes]", tmp_path: Path, remote: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        send(
            process, call(1, "workspace_init", name="board", remote_url=str(remote), local_path=str(tmp_path / "board"))
        )
        assert "isError" not in receive(process)["result"]
        address = f"git://127.0.0.1:{silent.getsockname()[1]}/x.git"
        subprocess.run(["git", "-C", str(tmp_path / "board"), "remote", "set-url", "origin", address], check=True)
        send(process, call(2, "fetch"))
        connection, _ = silent.accept()  # now git waits for an answer
        with connection:
            send(process, PING)
            assert receive(process)["id"] == "ping"
            send(process, {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}})
            send(process, call(3, "workspace_info"))
            assert receive(process)["id"] == 3


def test_a_hanging_remote_does_not_keep_the_server_from_ending(
    process: "subprocess.Popen[bytes]", tmp_path: Path, remote: Path
) -> None:
    board = tmp_path / "board"
    with socket.create_server(("127.0.0.1", 0)) as silent:
        send(process, call(1, "workspace_init", name="board", remote_url=str(remote), local_path=str(board)))
        assert "isError" not in receive(process)["result"]
        address = f"git://127.0.0.1:{silent.getsockname()[1]}/x.git"
        subprocess.run(["git", "-C", str(board), "remote", "set-url", "origin", address], check=True)
        send(process, call(2, "fetch"))
        connection, _ = silent.accept()  # now git waits for an answer
        with connection:
            process.send_signal(signal.SIGTERM)
            out, _ = process.communicate()
    (answer,) = map(json.loads, out.splitlines())
    assert json.loads(answer["result"]["content"][0]["text"])["details"]["code"] == "UNREACHABLE"
    assert process.returncode == 0


def test_an_accidental_print_does_not_reach_stdout(tmp_path: Path) -> None:
    program = """
import os, subprocess, sys
from pathlib import Path
from cohabit.workspace.mcp.server import serve_stdio
class Chatty:
    client = None
    def close(self): pass
    def call(self, name, args):
        print("noise of python", flush=True)
        os.write(1, b"noise of c\\n")
        subprocess.run(["echo", "noise of a child"])
        return {"stdin": sys.stdin.read(), "ok": True}
serve_stdio(Chatty, "full")
"""
    asked = json.dumps(call(1, "any")).encode() + b"\n"
    done = subprocess.run(
        [sys.executable, "-c", program], input=asked, capture_output=True, env=environment(tmp_path), check=True
    )
    (line,) = done.stdout.splitlines()
    assert json.loads(json.loads(line)["result"]["content"][0]["text"]) == {"stdin": "", "ok": True}
    assert done.stderr.count(b"noise of") == 3


def test_a_start_loads_nothing_heavy(tmp_path: Path) -> None:
    program = """
import json, sys
from cohabit.workspace.__main__ import main
main([])
heavy = {"cohabit.workspace.tools", "cohabit.workspace.clone.git", "subprocess", "mcp", "pydantic", "starlette", "uvicorn", "asyncio", "httpx", "sqlite3", "rich", "numpy", "unittest"}
print(json.dumps(sorted(heavy & set(sys.modules))), file=sys.stderr)
"""
    asked = b"".join(
        json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": {}}).encode() + b"\n"
        for number, method in enumerate(("initialize", "tools/list"))
    )
    done = subprocess.run(
        [sys.executable, "-c", program], input=asked, capture_output=True, env=environment(tmp_path), check=True
    )
    assert len(done.stdout.splitlines()) == 2
    assert json.loads(done.stderr.splitlines()[-1]) == []


@pytest.mark.parametrize(("args", "words"), [(["--help"], "--profile"), (["--version"], "0.")])
def test_the_command_has_a_help_text(args: list[str], words: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cohabit.workspace", *args], capture_output=True, env=environment(tmp_path), check=True
    )
    assert words in done.stdout.decode()
