"""A remote that hangs holds up no call of the MCP server that needs no remote."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.workspace.test_server_process import call, environment, receive, send
from tests.workspace.test_waiting import Hung

from cohabit.workspace.mcp.protocol import Call
from cohabit.workspace.mcp.server import Job, Jobs
from cohabit.workspace.tools import tools

REMOTE = ("fetch", "pull", "push", "sync", "claim", "release")
LOCAL = {
    "read": {"path": "journal.md"},
    "list": {"dir": "."},
    "status": {},
    "log": {},
    "journal_append": {"summary": "meanwhile"},
    "inbox_add": {"title": "meanwhile"},
    "whats_new": {},
    "health": {},
    "workspace_info": {},
    "workspace_list": {},
}


@pytest.fixture
def hung(tmp_path: Path) -> Hung:
    (tmp_path / "hung").mkdir()
    return Hung(tmp_path / "hung")


@pytest.fixture
def process(tmp_path: Path, remote: Path, hung: Hung) -> Iterator["subprocess.Popen[bytes]"]:
    """A server with a commit and an open item, whose remote hangs from now on."""
    with subprocess.Popen(
        [sys.executable, "-m", "cohabit.workspace"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(tmp_path) | {"GIT_SSH_COMMAND": str(hung.program)},
    ) as one:
        board = tmp_path / "board"
        answers(one, call(0, "workspace_init", name="board", remote_url=str(remote), local_path=str(board)))
        answers(one, call(0, "inbox_add", title="an item"), call(1, "add", paths=["inbox.md"]))
        answers(one, call(0, "commit", message="an item"), call(1, "push"))
        answers(one, call(0, "journal_append", summary="an entry"), call(1, "add", paths=["journal.md"]))
        answers(one, call(0, "commit", message="an entry"))
        subprocess.run(["git", "-C", board, "config", "remote.origin.url", "example.org:board.git"], check=True)
        yield one
        one.kill()


def answers(process: "subprocess.Popen[bytes]", *messages: Any) -> list[Any]:
    send(process, *messages)
    return [receive(process) for _ in messages]


@pytest.mark.sampled
@pytest.mark.parametrize("tool", REMOTE)
def test_while_a_call_waits_for_the_remote_the_others_are_answered_in_their_order(
    tool: str, process: "subprocess.Popen[bytes]", hung: Hung
) -> None:
    send(process, call("hung", tool, id="INB-001"))
    hung.wait_until_called()
    found = answers(process, *(call(name, name, **args) for name, args in LOCAL.items()))
    assert [answer["id"] for answer in found] == [*LOCAL]
    assert not [answer for answer in found if answer["result"].get("isError")]
    send(process, {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "hung"}})
    assert answers(process, call("last", "status"))[0]["id"] == "last"


def test_a_second_call_of_the_remote_waits_for_the_first(process: "subprocess.Popen[bytes]", hung: Hung) -> None:
    send(process, call("first", "fetch"), call("second", "fetch"), call("read", "read", path="journal.md"))
    hung.wait_until_called()
    assert receive(process)["id"] == "read"
    send(process, {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "first"}})
    hung.wait_until_called()
    send(process, {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "second"}})
    assert answers(process, call("last", "status"))[0]["id"] == "last"


def test_a_call_that_waits_for_the_remote_is_not_moved_to_another_workspace() -> None:
    jobs, names = Jobs(), ["sync", "claim", "read", "workspace_switch", "status"]
    for name in names:
        jobs.put(Job(name, Call(name, {}, None, False), None))
    running = jobs.take()
    assert running is not None
    running.remote_since = 0.0
    assert (local := jobs.overtake()) is not None
    assert local.id == "read"
    jobs.close()
    threading.Timer(0.2, jobs.end).start()
    assert jobs.overtake() is None


def test_at_the_end_of_its_input_the_server_answers_what_waits_behind_a_hung_call(
    process: "subprocess.Popen[bytes]", hung: Hung
) -> None:
    send(process, call("hung", "sync"))
    hung.wait_until_called()
    send(process, call("read", "read", path="journal.md"))
    assert process.stdin is not None
    process.stdin.close()
    assert receive(process)["id"] == "read"
    process.terminate()
    assert process.stdout is not None
    rest = [json.loads(line) for line in process.stdout.read().splitlines()]
    assert [answer["id"] for answer in rest] in (["hung"], [])
    assert process.wait() == 0


def test_every_tool_that_may_wait_for_the_remote_is_known_as_such() -> None:
    assert {name for name, tool in tools().items() if tool.remote} == {*REMOTE, "workspace_init"}
