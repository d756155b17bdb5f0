"""A remote whose history was rewritten: removed commits do not come back by themselves."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cohabit.workspace.session import Session
from cohabit.workspace.sharing import origin

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


@pytest.fixture
def pair(clone: Clone, remote: Path) -> tuple[Session, Session]:
    """Ann and bob have the secret; the remote lets its history be rewritten."""
    for setting in ("receive.denyNonFastForwards", "receive.denyDeletes"):
        subprocess.run(["git", "-C", str(remote), "config", setting, "false"], check=True)
    ann, bob = clone("ann"), clone("bob")
    commit(ann, "drafts/plan.md", "plan\n")
    commit(ann, SECRET, "secret\n")
    ann.call("push", {})
    bob.call("pull", {})
    return ann, bob


@pytest.fixture(params=["amended", "reset"])
def bob(request: pytest.FixtureRequest, pair: tuple[Session, Session]) -> Session:
    """Bob, after ann removed it from the remote's history, in one of two ways."""
    ann, bob = pair
    git(ann, "reset", "-q", "--hard", "HEAD^")
    if request.param == "amended":
        commit(ann, "drafts/more.md", "more\n")
    git(ann, "push", "-q", "--force", "origin", "main")
    return bob


@pytest.mark.sampled
@pytest.mark.parametrize("tool", ["pull", "push", "sync"])
def test_pull_push_and_sync_report_it_and_change_nothing(bob: Session, remote: Path, tool: str) -> None:
    commit(bob, "drafts/bobs.md", "bob\n")
    before, there = git(bob, "rev-parse", "HEAD"), shared(remote)
    for _ in range(2):
        answer = bob.call(tool, {})
        assert answer["error"] == "conflict"
        assert "rewritten" in answer["message"]
        assert answer["files"] == [SECRET]
    assert git(bob, "rev-parse", "HEAD") == before
    assert shared(remote) == there


def test_abandon_accepts_the_loss_and_push_carries_over_unshared_work(bob: Session, remote: Path) -> None:
    there = shared(remote)
    commit(bob, "drafts/bobs.md", "bob\n")
    bob.call("journal_append", {"summary": "uncommitted, and kept"})
    assert bob.call("push", {})["error"] == "conflict"
    let_go = bob.call("abandon", {})
    assert let_go["abandoned"] == [SECRET]
    assert git(bob, "show", f"{let_go['ref']}:{SECRET}") == "secret"
    assert bob.call("push", {})["ok"]
    assert shared(remote) == sorted([*there, "drafts/bobs.md"])
    assert SECRET not in git(bob, "ls-files")
    assert "uncommitted, and kept" in bob.call("read", {"path": "journal.md"})["content"]
    log = subprocess.run(["git", "-C", str(remote), "log", "--format=%s", "main"], capture_output=True, text=True)
    assert SECRET not in log.stdout, "the commit did not come back either"
    assert bob.call("sync", {})["ok"]
    assert bob.call("status", {})["ahead"] == 0


def test_a_clone_without_own_commits_follows_the_remote(bob: Session, remote: Path) -> None:
    there = git(bob, "ls-remote", "origin", "refs/heads/main").split()[0]
    assert bob.call("sync", {})["error"] == "conflict"
    bob.call("abandon", {})
    answer = bob.call("sync", {})
    assert answer["ok"]
    assert "update" not in answer, "nothing was pushed"
    assert git(bob, "rev-parse", "HEAD") == there
    assert bob.call("status", {})["clean"]


def test_a_person_can_bring_the_commits_back_with_plain_git(bob: Session, remote: Path) -> None:
    assert bob.call("push", {})["error"] == "conflict"
    subprocess.run(["git", "merge", "-q", "origin/main"], cwd=bob.workspace().root, check=True)
    git(bob, "push", "-q", "origin", "main")
    commit(bob, "drafts/bobs.md", "bob\n")
    assert bob.call("push", {})["ok"]
    assert SECRET in shared(remote)


# -- however it comes to pass ---------------------------------------------------------------------
def take_out(ann: Session, commits: int = 1) -> None:
    git(ann, "reset", "-q", "--hard", f"HEAD~{commits}")
    git(ann, "push", "-q", "--force", "origin", "main")


def test_it_is_noticed_if_more_was_fetched_than_merged(pair: tuple[Session, Session], remote: Path) -> None:
    ann, bob = pair
    commit(ann, "drafts/later.md", "later\n")
    ann.call("push", {})
    bob.call("fetch", {})
    commit(bob, "drafts/bobs.md", "bob\n")
    take_out(ann, 2)
    assert bob.call("push", {})["error"] == "conflict"
    assert SECRET not in shared(remote)


def test_it_is_noticed_if_a_person_fetched_with_plain_git(pair: tuple[Session, Session], remote: Path) -> None:
    ann, bob = pair
    bob.call("fetch", {})
    take_out(ann)
    git(bob, "fetch", "-q")
    commit(bob, "drafts/bobs.md", "bob\n")
    assert bob.call("push", {})["error"] == "conflict"
    assert SECRET not in shared(remote)


def test_it_is_noticed_if_the_branch_was_missing_in_between(pair: tuple[Session, Session], remote: Path) -> None:
    ann, bob = pair
    subprocess.run(["git", "-C", str(remote), "update-ref", "-d", "refs/heads/main"], check=True)
    bob.call("fetch", {})
    take_out(ann)
    commit(bob, "drafts/bobs.md", "bob\n")
    assert bob.call("push", {})["error"] == "conflict"
    assert SECRET not in shared(remote)


def test_it_is_noticed_a_second_time(pair: tuple[Session, Session], remote: Path) -> None:
    ann, bob = pair
    for _ in range(2):
        take_out(ann)
        assert bob.call("sync", {})["error"] == "conflict"
        bob.call("abandon", {})
        assert bob.call("sync", {})["ok"]
        commit(ann, SECRET, "another secret\n")
        git(ann, "push", "-q", "--force", "origin", "main")
        assert bob.call("sync", {})["ok"]
        assert SECRET in shared(remote)


def test_commits_that_are_back_are_not_reported_as_lost(pair: tuple[Session, Session]) -> None:
    ann, bob = pair
    commit(bob, "drafts/bobs.md", "bob\n")
    whole = git(ann, "rev-parse", "HEAD")
    take_out(ann)
    assert bob.call("push", {})["error"] == "conflict"
    git(ann, "push", "-q", "origin", f"{whole}:main")
    assert bob.call("push", {})["ok"]


def test_a_conflict_with_the_rewritten_history_can_be_resolved(pair: tuple[Session, Session], remote: Path) -> None:
    ann, bob = pair
    commit(bob, SECRET, "bob's own words on the secret\n")
    take_out(ann)
    assert bob.call("push", {})["error"] == "conflict"
    bob.call("abandon", {})
    answer = bob.call("push", {})
    assert (answer["error"], answer["files"]) == ("conflict", [SECRET])
    assert bob.call("resolve", {})["open"] == 1
    bob.call("resolve", {"path": SECRET, "take": "theirs"})
    assert bob.call("push", {})["ok"]
    assert SECRET not in shared(remote)


@pytest.mark.parametrize("tool", ["sync", "claim"])
def test_a_concurrent_fetch_does_not_cause_an_overwrite(
    pair: tuple[Session, Session], remote: Path, tool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, bob = pair
    ann.call("inbox_add", {"title": "to do"})
    commit(ann, "drafts/asked.md", "asked\n")
    git(ann, "add", "inbox.md")
    ann.call("commit", {"message": "ask"})
    ann.call("push", {})
    bob.call("pull", {})
    commit(bob, "drafts/bobs.md", "bob\n")
    push = origin.push

    def raced(*args: Any) -> origin.Pushed:
        monkeypatch.setattr(origin, "push", push)
        commit(ann, "drafts/anns.md", "ann\n")
        assert ann.call("push", {})["ok"]
        git(bob, "fetch", "-q")
        return push(*args)

    monkeypatch.setattr(origin, "push", raced)
    bob.call(tool, {"id": "INB-001"} if tool == "claim" else {})
    assert "drafts/anns.md" in shared(remote)
