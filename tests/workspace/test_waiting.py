"""A remote that hangs keeps nobody from working, is given up, and no agent starves."""

import os
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from cohabit.errors import Unreachable
from cohabit.workspace.clone import git as git_module
from cohabit.workspace.session import Session
from cohabit.workspace.sharing import fairness, origin

Clone = Callable[[str], Session]


class Hung:
    """A remote over ssh that says it was called, and answers nothing until it is let go."""

    def __init__(self, folder: Path) -> None:
        self.called, self.go = folder / "called", folder / "go"
        for fifo in (self.called, self.go):
            os.mkfifo(fifo)
        self.program = folder / "ssh"
        self.program.write_text(f"#!/bin/sh\necho called > {self.called}\nread line < {self.go}\nexit 1\n")
        self.program.chmod(0o755)

    def wait_until_called(self) -> None:
        self.called.read_text()

    def let_go(self) -> None:
        self.go.write_text("go\n")


@pytest.fixture
def hung(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hung:
    (tmp_path / "hung").mkdir()
    remote = Hung(tmp_path / "hung")
    monkeypatch.setenv("GIT_SSH_COMMAND", str(remote.program))
    monkeypatch.setattr(origin, "MAX_ATTEMPTS", 1)
    return remote


def commit(session: Session, path: str) -> None:
    session.call("write", {"path": path, "content": path})
    session.call("add", {"paths": [path]})
    session.call("commit", {"message": path})


@pytest.mark.parametrize("tool", ["fetch", "pull", "push", "sync"])
def test_while_a_remote_hangs_others_read_and_write_in_the_clone(clone: Clone, hung: Hung, tool: str) -> None:
    ann = clone("ann")
    commit(ann, "drafts/a.md")
    root = ann.workspace().root
    subprocess.run(["git", "config", "remote.origin.url", "example.org:board.git"], cwd=root, check=True)
    failed: list[BaseException] = []

    def share() -> None:
        try:
            ann.call(tool, {})
        except Unreachable as error:
            failed.append(error)

    other = Session(ann.home, ann.environ, now=ann.now)
    thread = threading.Thread(target=share)
    thread.start()
    hung.wait_until_called()
    try:
        for session in (ann, other):
            assert session.call("read", {"path": "drafts/a.md"})["content"] == "drafts/a.md"
            assert session.call("status", {})["clean"]
        commit(other, "drafts/b.md")
        assert thread.is_alive()
    finally:
        hung.let_go()
        thread.join()
        other.close()
    assert [type(error) for error in failed] == [Unreachable]


def test_a_remote_without_progress_is_given_up(clone: Clone, hung: Hung, monkeypatch: pytest.MonkeyPatch) -> None:
    ann = clone("ann")
    monkeypatch.setattr(git_module, "NETWORK_IDLE_TIMEOUT", 0.3)
    root = ann.workspace().root
    subprocess.run(["git", "config", "remote.origin.url", "example.org:board.git"], cwd=root, check=True)
    reader = threading.Thread(target=hung.wait_until_called, daemon=True)
    reader.start()
    with pytest.raises(Unreachable, match="no progress"):
        ann.call("fetch", {})
    assert ann.call("status", {})["clean"]


def test_what_others_commit_in_the_clone_during_a_push_is_kept_and_shared_by_the_next_one(
    clone: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, bob = clone("ann"), clone("bob")
    commit(bob, "drafts/b.md")
    bob.call("push", {})
    commit(ann, "drafts/a.md")
    other = Session(ann.home, ann.environ, now=ann.now)
    run = git_module.Git.run

    def meanwhile(self: git_module.Git, *args: str, **options: object) -> git_module.Result:
        if args[0] == "push" and not (ann.workspace().root / "drafts/c.md").exists():
            thread = threading.Thread(target=commit, args=[other, "drafts/c.md"])
            thread.start()
            thread.join()
        return run(self, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(git_module.Git, "run", meanwhile)
    assert ann.call("sync", {})["ok"]
    other.close()
    names = {entry["name"] for entry in ann.call("list", {"dir": "drafts"})["entries"]}
    assert names >= {"a.md", "b.md", "c.md"}
    status = ann.call("status", {})
    assert (status["clean"], status["behind"]) == (True, 0)
    assert status["ahead"] > 0
    assert ann.call("push", {})["ok"]
    bob.call("pull", {})
    assert bob.call("read", {"path": "drafts/c.md"})["content"] == "drafts/c.md"


def test_an_agent_that_keeps_losing_waits_less_and_soon_not_at_all() -> None:
    longest = [max(fairness.backoff(losses, 1.0, 50.0) for _ in range(300)) for losses in range(1, 9)]
    assert longest[0] > longest[1] > longest[2]
    assert sum(longest) < 3.0
    assert longest[4:] == [0.0] * 4
