"""The scripted scenario of Multisphere's plan: two servers, one remote, real git, through the journal protocol.

Each agent has a home, a clone and a server process of its own, which it uses over stdio like an MCP client.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

TWENTY = [
    "workspace_init", "workspace_list", "workspace_switch", "workspace_info",
    "fetch", "pull", "status", "diff", "log", "add", "commit", "push",
    "read", "write", "list", "search",
    "journal_append", "inbox_add", "inbox_close", "whats_new",
]  # fmt: skip


class Server:
    """The server of one agent."""

    def __init__(self, home: Path, name: str, profile: str) -> None:
        home.mkdir()
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("COHABIT_", "MULTISPHERE_"))}
        who = {"AGENT_ID": f"{name.lower()}-test", "AGENT_NAME": name, "AGENT_EMAIL": f"{name.lower()}@example.org"}
        env = kept | {"HOME": str(home)} | {f"COHABIT_{key}": value for key, value in who.items()}
        self.me = who["AGENT_ID"]
        self.clone = home / "deck"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "cohabit.workspace", "--profile", profile],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env, text=True,
        )  # fmt: skip
        self.number = 0
        client = {"name": "scenario", "version": "1"}
        self.request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdout is not None
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        assert answer["id"] == self.number
        return answer["result"]

    def __call__(self, tool: str, /, **args: Any) -> dict[str, Any]:
        """Call a tool that must not fail."""
        result = self.request("tools/call", {"name": tool, "arguments": args})
        assert not result.get("isError"), result
        (block,) = result["content"]
        return json.loads(block["text"])

    def join(self, remote: Path) -> dict[str, Any]:
        return self("workspace_init", name="deck", remote_url=str(remote), local_path=str(self.clone))

    def enter(self) -> dict[str, Any]:
        """The steps of the skill on entry."""
        self("pull")
        return self("whats_new")

    def leave(self, *paths: str, summary: str) -> dict[str, Any]:
        """The steps of the skill on exit, up to the push."""
        self("journal_append", summary=summary)
        self("add", paths=[*paths, "journal.md", "inbox.md"])
        assert re.fullmatch("[0-9a-f]{40}", self("commit", message=f"[{self.me}] {summary}")["sha"])
        return self("push")

    def close(self) -> None:
        self.process.communicate(timeout=120)  # the end of its input ends a server
        assert self.process.returncode == 0


def git(*words: str | Path) -> str:
    return subprocess.run(["git", *map(str, words)], check=True, capture_output=True, text=True).stdout


@pytest.fixture(params=[pytest.param("compat", marks=pytest.mark.soak), "full"])
def profile(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    """An empty repository; the first agent adds the template."""
    git("init", "-q", "--bare", "-b", "main", tmp_path / "deck.git")
    return tmp_path / "deck.git"


@pytest.fixture
def two(tmp_path: Path, remote: Path, profile: str) -> Iterator[tuple[Server, Server]]:
    jamie, mike = Server(tmp_path / "jamie", "Jamie", profile), Server(tmp_path / "mike", "Mike", profile)
    jamie.join(remote)
    mike.join(remote)
    yield jamie, mike
    jamie.close()
    mike.close()


def entries(text: str) -> list[str]:
    """The writers, in the order of the journal."""
    return re.findall(r"^## \d{4}-\d\d-\d\d \d\d:\d\d — (\S+) \(", text, re.MULTILINE)


@pytest.mark.parametrize("profile", ["compat", "full"])
def test_the_tools_are_the_twenty_and_the_full_profile_adds_to_them(tmp_path: Path, profile: str) -> None:
    ann = Server(tmp_path / "ann", "Ann", profile)
    names = [tool["name"] for tool in ann.request("tools/list", {})["tools"]]
    ann.close()
    assert [name for name in names if name in TWENTY] == TWENTY
    assert (names == TWENTY) == (profile == "compat")


def test_jamie_commits_a_note_and_mike_sees_it_and_replies_and_jamie_sees_the_reply(
    two: tuple[Server, Server], remote: Path
) -> None:
    jamie, mike = two
    jamie("write", path="research/note.md", content="# Raises in 2025\n")
    assert jamie.leave("research/note.md", summary="A note on raises.")["ok"]

    pulled = mike("pull")
    assert pulled["updated"]
    assert "research/note.md" in pulled["files"]
    assert mike("read", path="research/note.md")["content"] == "# Raises in 2025\n"
    mike("write", path="comments/note.md", content="Which quarter?\n")
    assert mike.leave("comments/note.md", summary="Asked back.")["ok"]

    pulled = jamie("pull")
    assert (pulled["updated"], pulled["new_head"]) == (True, git("-C", remote, "rev-parse", "main").strip())
    assert jamie("read", path="comments/note.md")["content"] == "Which quarter?\n"
    assert entries(jamie("read", path="journal.md")["content"]) == [jamie.me, mike.me]


def test_two_agents_follow_the_whole_protocol(two: tuple[Server, Server], remote: Path) -> None:
    jamie, mike = two
    # Jamie adds a request before leaving.
    assert jamie.enter()["first_visit"]
    jamie("write", path="drafts/deck.md", content="# Deck\n\nSlide 6: comps\n")
    asked = jamie("inbox_add", title="Series A or seed comps?", body="Slide 6.\n\nPick one.", **{"for": mike.me})
    assert asked["id"] == "INB-001"
    assert asked["target"] == f"@{mike.me}"
    assert jamie.leave("drafts/deck.md", summary="Draft of the deck.")["ok"]

    # Mike finds it on entry, decides, and closes it.
    news = mike.enter()
    assert news["current_sha"] == git("-C", remote, "rev-parse", "main").strip()
    assert "- [ ] INB-001" in mike("read", path="inbox.md")["content"]
    assert [match["path"] for match in mike("search", query="Slide 6: comps")["matches"]] == ["drafts/deck.md"]
    decision = "# Series A comps only\n\nDate: 2026-05-22  \nDecided by: mike-test  \nStatus: accepted\n\n## Context\nTwo sets.\n\n## Decision\nSeries A.\n\n## Consequences\nSlide 6 changes.\n"
    mike("write", path="decisions/comps.md", content=decision)
    mike("write", path="drafts/deck.md", content="# Deck\n\nSlide 6: Series A comps\n")
    closed = mike("inbox_close", id="INB-001", resolution="Series A, see `decisions/comps.md`")
    assert closed["by"] == mike.me
    assert mike.leave("decisions/comps.md", "drafts/deck.md", summary="Series A it is.")["ok"]

    # Jamie sees all of it, with its authors.
    news = jamie.enter()
    assert news["first_visit"] is False
    assert {"decisions/comps.md", "drafts/deck.md", "inbox.md", "journal.md"} <= set(news["changed_files"])
    assert [commit["author"] for commit in news["new_commits"]] == ["Mike"]
    inbox = jamie("read", path="inbox.md")["content"]
    assert inbox.index("## Closed") < inbox.index("- [x] ~~INB-001")
    assert entries(jamie("read", path="journal.md")["content"]) == [jamie.me, mike.me]
    subjects = [commit["message"] for commit in jamie("log", n=2)["commits"]]
    assert subjects == ["[mike-test] Series A it is.", "[jamie-test] Draft of the deck."]
    assert "-Slide 6: comps\n+Slide 6: Series A comps\n" in jamie("diff", since="HEAD~1", paths=["drafts"])["diff"]
    assert jamie("status")["ahead"] == 0
    assert jamie("fetch")["behind"] == 0


def test_simultaneous_work_is_there_once_and_no_number_is_used_twice(two: tuple[Server, Server]) -> None:
    jamie, mike = two
    for agent in two:
        agent("write", path=f"research/{agent.me}.md", content="found\n")
        assert agent("inbox_add", title=f"from {agent.me}")["id"] == "INB-001"
    assert jamie.leave("research/jamie-test.md", summary="Research by Jamie.")["ok"]
    assert mike.leave("research/mike-test.md", summary="Research by Mike.")["ok"], "what merges by entry is merged"
    jamie("pull")
    for agent in two:
        assert sorted(entries(agent("read", path="journal.md")["content"])) == [jamie.me, mike.me]
        inbox = agent("read", path="inbox.md")["content"]
        assert sorted(re.findall(r"^- \[ \] (INB-\d+) @anyone — from (\S+)", inbox, re.MULTILINE)) == [
            ("INB-001", jamie.me), ("INB-002", mike.me),
        ], "the number that was pushed first stays"  # fmt: skip
        assert {entry["name"] for entry in agent("list", dir="research")["entries"]} >= {
            "jamie-test.md", "mike-test.md",
        }  # fmt: skip


def test_a_conflict_is_reported_with_its_files_keeps_both_sides_and_can_be_resolved(
    two: tuple[Server, Server], profile: str
) -> None:
    jamie, mike = two
    for agent in two:
        agent("write", path="drafts/title.md", content=f"The title of {agent.me}\n")
    assert jamie.leave("drafts/title.md", summary="A title.")["ok"]
    told = mike.leave("drafts/title.md", summary="Another title.")
    assert (told["error"], told["files"]) == ("conflict", ["drafts/title.md"])
    assert mike("read", path="drafts/title.md")["content"] == "The title of mike-test\n"
    assert mike("status")["clean"]
    assert mike("status")["ahead"] == 1
    jamie("pull")
    assert jamie("read", path="drafts/title.md")["content"] == "The title of jamie-test\n"

    agreed = "The title of both\n"
    if profile == "full":
        assert [row["path"] for row in mike("resolve")["conflicts"]] == ["drafts/title.md"]
        assert mike("resolve", path="drafts/title.md", content=agreed)["open"] == 0
    else:  # with the twenty tools only: take the others' text and share it
        agreed = "The title of jamie-test\n"
        mike("write", path="drafts/title.md", content=agreed)
        mike("add", paths=["drafts/title.md"])
        mike("commit", message="Their title, then.")
    assert mike("push")["ok"]
    assert jamie("pull")["updated"]
    for agent in two:
        assert agent("read", path="drafts/title.md")["content"] == agreed
        assert sorted(entries(agent("read", path="journal.md")["content"])) == [jamie.me, mike.me]
