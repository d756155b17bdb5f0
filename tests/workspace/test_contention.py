"""Many agents at once, each with its own clone and server process, against one bare remote.

Every agent follows the whole protocol of the skill in every round, and all begin a round together. At the end every
session was pushed, every entry and item is there exactly once, no number is used twice, and no agent is stuck.
"""

import json
import os
import random
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.item import Item
from cohabit.workspace.formats.journal import Journal

TRIES = 30
pytestmark = pytest.mark.timeout(300)  # fifty processes on what may be two cores


class Died(Exception):
    """The server was killed while it answered."""


class Server:
    """The server process of one agent, used over stdio."""

    def __init__(self, home: Path, name: str, profile: str) -> None:
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("COHABIT_", "MULTISPHERE_"))}
        who = {"AGENT_ID": f"{name}-test", "AGENT_NAME": name.capitalize(), "AGENT_EMAIL": f"{name}@example.org"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "cohabit.workspace", "--profile", profile],
            env=kept | {"HOME": str(home)} | {f"COHABIT_{key}": value for key, value in who.items()},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        self.number = 0
        client = {"name": "contention", "version": "1"}
        self.request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.number += 1
        try:
            message = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
            self.process.stdin.write(json.dumps(message) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise Died
        result: dict[str, Any] = json.loads(line)["result"]
        return result

    def call(self, tool: str, args: dict[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(
            self.request("tools/call", {"name": tool, "arguments": args})["content"][0]["text"]
        )
        return answer

    def close(self) -> None:
        self.process.kill()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            try:
                pipe.close()
            except BrokenPipeError:
                continue
        self.process.wait()


@dataclass
class Agent:
    """One agent that follows the skill. Agents with an even number have the twenty tools only."""

    number: int
    home: Path
    chance: random.Random
    deadly: float = 0.0
    """Probability that its process is killed in a session."""
    server: Server = field(init=False)
    deaths: int = 0
    asked_again: int = 0
    slowest_push: float = 0.0

    def __post_init__(self) -> None:
        self.home.mkdir()
        self.name = f"agent{self.number}"
        self.full = self.number % 2 == 1
        self.start()

    def start(self) -> None:
        self.server = Server(self.home, self.name, "full" if self.full else "compat")

    def call(self, tool: str, **args: Any) -> dict[str, Any]:
        return self.server.call(tool, args)

    def must(self, tool: str, **args: Any) -> dict[str, Any]:
        answer = self.call(tool, **args)
        assert "error" not in answer, (self.name, tool, answer)
        return answer

    def session(self, round_: int) -> None:
        """One session, repeated until it succeeds if the process is killed."""
        while True:
            killed, killer = threading.Event(), None
            if self.chance.random() < self.deadly:
                killer = threading.Timer(self.chance.uniform(0.0, 0.6), self.kill, [killed])
                killer.start()
            done = False
            try:
                self.enter()
                self.work(round_)
                self.leave(round_)
                done = True
            except Died:
                self.deaths += 1
            finally:
                if killer is not None:
                    killer.cancel()
                    killer.join()
            if killed.is_set():  # perhaps just after the session was done
                self.server.close()
                self.start()
            if done:
                return

    def kill(self, killed: threading.Event) -> None:
        killed.set()
        self.server.process.kill()

    def enter(self) -> None:
        answer = self.again_while_away("pull")
        if answer.get("error") == "conflict":  # commits of a process that was killed before it could push them
            self.push()
            answer = self.again_while_away("pull")
        assert "error" not in answer, (self.name, answer)
        self.must("whats_new")
        if self.full:
            self.must("inbox_list")
            self.must("journal_tail")
        else:
            self.must("read", path="inbox.md")
            self.must("read", path="journal.md")

    def work(self, round_: int) -> None:
        """Work that was done before the process was killed is not repeated."""
        token = f"{self.name}-{round_}-"
        self.must("write", path=f"drafts/{self.name}.md", content=f"{token}\n" * 10)
        if not self.found("inbox.md", f"item {token}"):
            self.must("inbox_add", title=f"item {token}", body="Please look.", **{"for": f"agent{round_}-test"})
        if not (self.home / "board" / "research" / f"{token}.md").exists():
            (mine,) = [item for item in self.items() if item.title == f"item {token}"]
            self.must("write", path=f"research/{token}.md", content=f"about {mine.id} of {token}\n")
        if not self.found("journal.md", f"entry {token}"):
            todo = {"text": f"todo {token}", "for": "anyone"}
            self.must("journal_append", summary=f"entry {token}", details="Some\n\ndetails.", todos=[todo])
        if self.chance.random() < 0.4:
            self.take_one()

    def take_one(self) -> None:
        """Claim or close an item of another agent; a third one may be faster, which is not an error."""
        open_ = [item.id for item in self.items() if item.open and f"item {self.name}-" not in item.title]
        if not open_:
            return
        id_ = self.chance.choice(open_)
        if self.full and self.chance.random() < 0.5:
            answer = self.call("claim", id=id_)
            code = answer.get("details", {}).get("code")
            assert code in (None, "CONFLICT", "UNKNOWN_ASSET", "UNREACHABLE"), (self.name, answer)
        else:
            self.must("inbox_close", id=id_, resolution=f"done by {self.name}")

    def leave(self, round_: int) -> None:
        self.must("add", paths=["journal.md", "inbox.md", "drafts", "research"])
        self.must("commit", message=f"[{self.name}-test] session {round_}")
        self.push()

    def push(self) -> None:
        began = time.monotonic()
        for _ in range(TRIES):
            answer = self.call("push")
            if answer.get("ok"):
                self.slowest_push = max(self.slowest_push, time.monotonic() - began)
                return
            self.asked_again += 1
            refused = answer.get("error") == "rejected" and re.search(
                "on purpose|others kept being faster", answer["reason"]
            )
            assert refused or answer.get("details", {}).get("code") == "UNREACHABLE", (self.name, answer)
        pytest.fail(f"{self.name} did not get through")

    def again_while_away(self, tool: str) -> dict[str, Any]:
        for _ in range(TRIES):
            answer = self.call(tool)
            if answer.get("details", {}).get("code") != "UNREACHABLE":
                return answer
            self.asked_again += 1
        pytest.fail(f"{self.name} never reached the remote")

    def items(self) -> list[Item]:
        return Inbox.parse((self.home / "board" / "inbox.md").read_text()).items

    def found(self, path: str, words: str) -> bool:
        return words in (self.home / "board" / path).read_text()


def together(agents: list[Agent], act: Callable[[Agent], None]) -> None:
    """All at once; the first failure is raised here."""
    start, failures = threading.Barrier(len(agents)), list[BaseException]()

    def run(agent: Agent) -> None:
        try:
            start.wait()
            act(agent)
        except BaseException as wrong:
            failures.append(wrong)

    threads = [threading.Thread(target=run, args=(agent,)) for agent in agents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def git(folder: Path, *args: str) -> str:
    return subprocess.run(["git", *args], cwd=folder, check=True, capture_output=True, text=True).stdout


def contend(
    tmp_path: Path, remote: Path, number: int, rounds: int, deadly: float = 0.0, around: Callable[[], Any] | None = None
) -> None:
    agents = [Agent(n, tmp_path / f"home{n}", random.Random(f"{number}/{n}"), deadly) for n in range(number)]
    try:
        for agent in agents:
            agent.must("workspace_init", name="board", remote_url=str(remote), local_path="~/board")
        began = time.monotonic()
        with around() if around else open(os.devnull):
            for round_ in range(rounds):
                together(agents, lambda agent, round_=round_: agent.session(round_))  # type: ignore[misc]
        took = time.monotonic() - began
        for agent in agents:  # gets what was pushed after its last session
            agent.deadly = 0.0
            agent.must("pull")
        every_session_is_there_once(agents, remote, rounds)
        tell(agents, remote, rounds, took)
    finally:
        for agent in agents:
            agent.server.close()


def every_session_is_there_once(agents: list[Agent], remote: Path, rounds: int) -> None:
    sessions = sorted(f"{agent.name}-{n}-" for agent in agents for n in range(rounds))
    git(remote, "fsck", "--strict", "--no-dangling")
    journal = Journal.parse(git(remote, "show", "main:journal.md"))
    entries = [block.entry for block in journal.blocks if block.entry]
    assert sorted(entry.summary.removeprefix("entry ") for entry in entries) == sessions
    items = Inbox.parse(git(remote, "show", "main:inbox.md")).items
    assert sorted(item.title.removeprefix("item ") for item in items) == sessions
    numbers = Counter(item.id for item in items)
    assert max(numbers.values()) == 1, numbers.most_common(3)
    for item in items:  # our own text follows when a number changes
        token = item.title.removeprefix("item ")
        assert git(remote, "show", f"main:research/{token}.md") == f"about {item.id} of {token}\n"
    heads = {git(agent.home / "board", "rev-parse", "HEAD") for agent in agents}
    assert heads == {git(remote, "rev-parse", "main")}
    for agent in agents:
        left = [
            line for line in git(agent.home / "board", "status", "--porcelain").splitlines() if ".pointers/" not in line
        ]
        assert left == []


def tell(agents: list[Agent], remote: Path, rounds: int, took: float) -> None:
    merges = git(remote, "rev-list", "--count", "--merges", "main").strip()
    slowest = max(agent.slowest_push for agent in agents)
    deaths, asked = sum(agent.deaths for agent in agents), sum(agent.asked_again for agent in agents)
    print(  # noqa: T201  (shown with -s)
        f"\n{len(agents)} agents, {rounds} rounds: {len(agents) * rounds} sessions pushed in {took:.1f} s; "
        f"{merges} merges, slowest push {slowest:.2f} s, killed {deaths} times, asked again {asked} times"
    )


# -- what goes wrong ------------------------------------------------------------------------------
@contextmanager
def refusing_now_and_then(remote: Path) -> Iterator[None]:
    """About every fourth push is refused by a hook of the remote."""
    hook = remote / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(
        "#!/bin/sh\nread n < count || n=7\nn=$(( (n * 1103515245 + 12345) % 2147483648 ))\necho $n > count\n"
        '[ $(( n / 65536 % 4 )) -ne 0 ] || { echo "on purpose" >&2; exit 1; }\n'
    )
    hook.chmod(0o755)
    yield
    hook.unlink()


@contextmanager
def away_now_and_then(remote: Path) -> Iterator[None]:
    """The remote is repeatedly not a repository for a moment. (It is not moved: git would leave its locks behind.)"""
    done, chance = threading.Event(), random.Random("away")

    def move() -> None:
        while not done.wait(chance.uniform(0.2, 0.8)):
            away = (remote / "HEAD").rename(remote / "AWAY")
            done.wait(chance.uniform(0.02, 0.2))
            away.rename(remote / "HEAD")

    thread = threading.Thread(target=move)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


# -- and what must not ----------------------------------------------------------------------------
def test_many_agents_at_once_all_succeed(remote: Path, tmp_path: Path) -> None:
    contend(tmp_path, remote, 4, 2)  # 2, 4, 8 and 16 in ten rounds: in make soak


def test_agents_that_are_killed_resume(remote: Path, tmp_path: Path) -> None:
    contend(tmp_path, remote, 3, 3, deadly=0.6)


@pytest.mark.soak
def test_a_remote_that_refuses_sometimes_only_costs_time(remote: Path, tmp_path: Path) -> None:
    contend(tmp_path, remote, 3, 2, around=lambda: refusing_now_and_then(remote))


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("number", [2, 4, 8, 16])
def test_ten_rounds_of_many_agents(number: int, remote: Path, tmp_path: Path) -> None:
    contend(tmp_path, remote, number, 10)


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("number", [4, 8, 16])
def test_ten_rounds_with_killed_agents(number: int, remote: Path, tmp_path: Path) -> None:
    contend(tmp_path, remote, number, 10, deadly=0.3)


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("trouble", [refusing_now_and_then, away_now_and_then])
def test_ten_rounds_with_a_failing_remote(trouble: Callable[[Path], Any], remote: Path, tmp_path: Path) -> None:
    contend(tmp_path, remote, 8, 10, deadly=0.1, around=lambda: trouble(remote))


def test_the_check_itself_detects_missing_and_duplicate_entries(remote: Path, tmp_path: Path) -> None:
    contend(tmp_path, remote, 1, 1)
    agent = Agent(1, tmp_path / "home1", random.Random(0))
    agent.must("workspace_init", name="board", remote_url=str(remote), local_path="~/board")
    agent.name = "agent0"
    every_session_is_there_once([agent], remote, 1)
    with pytest.raises(AssertionError):
        every_session_is_there_once([agent], remote, 2)
    agent.must("inbox_add", title="item agent0-0-")
    agent.must("add", paths=["inbox.md"])
    agent.must("commit", message="twice")
    agent.push()
    with pytest.raises(AssertionError):
        every_session_is_there_once([agent], remote, 1)
    agent.server.close()
