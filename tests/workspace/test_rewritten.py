"""A remote whose history was rewritten: what was taken away there does not come back by itself."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from cohabit.workspace.session import Session

Clone = Callable[[str], Session]
SECRET = "drafts/key.md"


def git(session: Session, *args: str) -> str:
    done = subprocess.run(["git", *args], cwd=session.workspace().root, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(session: Session, path: str, text: str) -> None:
    session.call("write", {"path": path, "content": text})
    session.call("add", {"paths": [path]})
    session.call("commit", {"message": f"write {path}"})


def shared(remote: Path) -> list[str]:
    command = ["git", "-C", str(remote), "ls-tree", "-r", "--name-only", "main", "drafts"]
    return [
        name
        for name in subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        if not name.endswith(".gitkeep")
    ]


@pytest.fixture(params=["amended", "reset"])
def bob(request: pytest.FixtureRequest, clone: Clone, remote: Path) -> Session:
    """Ann pushed a secret, bob pulled it, and ann took it out of the remote's history again, in one of two ways."""
    for setting in ("receive.denyNonFastForwards", "receive.denyDeletes"):
        subprocess.run(["git", "-C", str(remote), "config", setting, "false"], check=True)
    ann, bob = clone("ann"), clone("bob")
    commit(ann, "drafts/plan.md", "plan\n")
    commit(ann, SECRET, "secret\n")
    ann.call("push", {})
    bob.call("pull", {})
    git(ann, "reset", "-q", "--hard", "HEAD^")
    if request.param == "amended":
        commit(ann, "drafts/more.md", "more\n")
    git(ann, "push", "-q", "--force", "origin", "main")
    return bob


@pytest.mark.parametrize("tool", ["pull", "push", "sync"])
def test_what_shares_says_so_and_changes_nothing(bob: Session, remote: Path, tool: str) -> None:
    commit(bob, "drafts/bobs.md", "bob\n")
    before, there = git(bob, "rev-parse", "HEAD"), shared(remote)
    for _ in range(2):
        answer = bob.call(tool, {})
        assert answer["error"] == "conflict"
        assert "rewritten" in answer["message"]
        assert SECRET in answer["files"]
    assert git(bob, "rev-parse", "HEAD") == before
    assert shared(remote) == there


def test_abandon_lets_it_go_and_push_carries_over_what_was_not_shared(bob: Session, remote: Path) -> None:
    there = shared(remote)
    commit(bob, "drafts/bobs.md", "bob\n")
    bob.call("journal_append", {"summary": "uncommitted, and kept"})
    assert bob.call("push", {})["error"] == "conflict"
    let_go = bob.call("abandon", {})
    assert SECRET in let_go["abandoned"]
    assert git(bob, "show", f"{let_go['ref']}:{SECRET}") == "secret"
    assert bob.call("push", {})["ok"]
    assert shared(remote) == sorted([*there, "drafts/bobs.md"])
    assert SECRET not in git(bob, "ls-files")
    assert "uncommitted, and kept" in bob.call("read", {"path": "journal.md"})["content"]
    log = subprocess.run(["git", "-C", str(remote), "log", "--format=%s", "main"], capture_output=True, text=True)
    assert SECRET not in log.stdout, "the commit did not come back either"
    assert bob.call("sync", {})["ok"]
    assert bob.call("status", {})["ahead"] == 0


def test_whoever_has_nothing_of_their_own_just_follows(bob: Session, remote: Path) -> None:
    there = git(bob, "ls-remote", "origin", "refs/heads/main").split()[0]
    assert bob.call("sync", {})["error"] == "conflict"
    bob.call("abandon", {})
    answer = bob.call("sync", {})
    assert answer["ok"]
    assert "update" not in answer, "nothing was pushed"
    assert git(bob, "rev-parse", "HEAD") == there
    assert bob.call("status", {})["clean"]


def test_a_person_may_bring_it_back_with_plain_git(bob: Session, remote: Path) -> None:
    assert bob.call("push", {})["error"] == "conflict"
    subprocess.run(["git", "merge", "-q", "origin/main"], cwd=bob.workspace().root, check=True)
    git(bob, "push", "-q", "origin", "main")
    commit(bob, "drafts/bobs.md", "bob\n")
    assert bob.call("push", {})["ok"]
    assert SECRET in shared(remote)
