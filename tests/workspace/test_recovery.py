"""A call can be killed at any moment: nothing committed or uncommitted is lost, and the clone can be used."""

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cohabit.errors import StorageFailed
from cohabit.workspace.clone import plain_git
from cohabit.workspace.clone.git import Git
from cohabit.workspace.clone.tree import Tree
from cohabit.workspace.session import Session
from cohabit.workspace.sharing import advance, recovery

Clone = Callable[[str], Session]
NEWS = {f"drafts/{n}.md": f"by ann, number {n}\n" * 50 for n in range(4)}


@pytest.fixture(autouse=True)
def no_person_works_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recovery does not wait for locks; only one test here has a person's git."""
    monkeypatch.setattr(recovery, "GIT_LOCK_TIMEOUT", 0.0)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def in_a_process_that_dies(act: Callable[[], Any]) -> bool:
    """Run it in a process; returns whether that was killed, without running any ``finally`` or ``except``."""
    child = os.fork()
    if child == 0:
        try:
            act()
        except BaseException:
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert status in (0, signal.SIGKILL), "the call failed instead"
    return os.WIFSIGNALED(status)


def die_at(step: int) -> None:
    """Count the steps that change the clone (a git command, a write, a rename), and die at this one."""
    left = iter(range(step))

    def counted(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            if next(left, None) is None:
                die()
            return function(*args, **kwargs)

        return call

    Git.run = counted(Git.run)  # type: ignore[method-assign]
    Tree.write = counted(Tree.write)  # type: ignore[method-assign]
    os.replace = counted(os.replace)
    os.unlink = counted(os.unlink)


def tear_the_files() -> None:
    """Make git die while it writes files: one is incomplete, its lock stays, and this process dies too."""
    run = Git.run

    def torn(self: Git, *args: str, **kwargs: Any) -> Any:
        if args[0] == "checkout-index":
            paths = kwargs["stdin"].decode().split("\0")[:-1]
            run(self, "checkout-index", "-f", "-z", "--stdin", stdin=(paths[0] + "\0").encode())
            place = self.root / paths[1]
            place.unlink(missing_ok=True)
            place.write_text(NEWS[paths[1]][:70])
            (self.root / ".git" / "index.lock").write_text("half")
            die()
        return run(self, *args, **kwargs)

    Git.run = torn  # type: ignore[method-assign]


def commit(session: Session, paths: list[str]) -> None:
    session.call("add", {"paths": paths})
    session.call("commit", {"message": "work"})


def text(session: Session, path: str) -> str:
    return str(session.call("read", {"path": path})["content"])


def git(session: Session, *args: str) -> str:
    return subprocess.run(
        ["git", *args], cwd=session.workspace().root, check=True, capture_output=True, text=True
    ).stdout


def prepare(clone: Clone) -> tuple[Session, Session]:
    """Bob is behind, ahead, and has uncommitted work of each kind."""
    ann, bob = clone("ann"), clone("bob")
    ann.call("journal_append", {"summary": "ann was here"})
    ann.call("inbox_add", {"title": "from ann"})
    for path, content in NEWS.items():
        ann.call("write", {"path": path, "content": content})
    commit(ann, ["journal.md", "inbox.md", "drafts"])
    ann.call("push", {})
    bob.call("journal_append", {"summary": "bob was here"})
    bob.call("inbox_add", {"title": "from bob"})
    commit(bob, ["journal.md", "inbox.md"])
    bob.call("journal_append", {"summary": "bob has not committed this"})
    bob.call("inbox_add", {"title": "uncommitted"})
    bob.call("write", {"path": "research/staged.md", "content": "staged\n"})
    bob.call("add", {"paths": ["research/staged.md"]})
    bob.call("write", {"path": "research/loose.md", "content": "loose, on INB-001\n"})
    return ann, bob


def nothing_is_missing(ann: Session, bob: Session) -> None:
    """Bob's next calls work, and everything of both agents is there once."""
    assert text(bob, "journal.md").count("bob has not committed this") == 1
    assert "uncommitted" in text(bob, "inbox.md")
    assert git(bob, "diff", "--cached", "--name-only") == "research/staged.md\n"
    assert bob.call("push", {})["ok"]
    assert "error" not in bob.call("pull", {})  # an accepted push of a killed process is new here
    journal, inbox = text(bob, "journal.md"), text(bob, "inbox.md")
    for line in ("ann was here", "bob was here", "bob has not committed this"):
        assert journal.count(line) == 1, line
    for title in ("from ann", "from bob", "uncommitted"):
        assert inbox.count(f"— {title}") == 1, title
    assert text(bob, "research/loose.md") == "loose, on INB-002\n"
    assert {path: text(bob, path) for path in NEWS} == NEWS
    commit(bob, ["."])
    assert bob.call("push", {})["ok"]
    assert bob.call("status", {})["clean"]
    ann.call("pull", {})
    assert text(ann, "journal.md") == text(bob, "journal.md")
    assert not [path for end in ("lock", "draft", "new") for path in (bob.workspace().root / ".git").rglob(f"*.{end}")]


class Snapshot:
    """A copy of the remote and both clones, to be restored."""

    def __init__(self, *places: Path) -> None:
        self.places = places
        for place in places:
            shutil.copytree(place, f"{place}.kept", symlinks=True)

    def restore(self) -> None:
        for place in self.places:
            shutil.rmtree(place)
            shutil.copytree(f"{place}.kept", place, symlinks=True)


def kill_at_every(nth: int, tool: str, ann: Session, bob: Session, kept: Snapshot) -> None:
    step, died = 3, True
    while died:
        kept.restore()

        def act(step: int = step) -> None:
            mine = again(bob)
            mine.workspace()
            die_at(step)
            mine.call(tool, {})

        died = in_a_process_that_dies(act)
        nothing_is_missing(again(ann), again(bob))
        step += nth
    assert step > 20, "this test does not see what is done any more"


def test_a_call_that_is_killed_while_sharing_loses_nothing_and_the_next_one_recovers(
    clone: Clone, remote: Path, tmp_path: Path
) -> None:
    ann, bob = prepare(clone)
    kill_at_every(5, "push", ann, bob, Snapshot(remote, tmp_path / "ann", tmp_path / "bob"))


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.parametrize("tool", ["push", "sync"])
def test_a_call_that_is_killed_at_any_step_of_sharing_loses_nothing(
    tool: str, clone: Clone, remote: Path, tmp_path: Path
) -> None:
    ann, bob = prepare(clone)
    kill_at_every(1, tool, ann, bob, Snapshot(remote, tmp_path / "ann", tmp_path / "bob"))


def again(session: Session) -> Session:
    """A new process of the same agent."""
    return Session(session.home, session.environ, now=session.now)


def test_a_git_that_is_killed_while_it_writes_files_leaves_no_incomplete_file(clone: Clone) -> None:
    ann, bob = prepare(clone)

    def act() -> None:
        tear_the_files()
        again(bob).call("push", {})

    assert in_a_process_that_dies(act)
    assert (bob.workspace().root / ".git" / "index.lock").exists()
    nothing_is_missing(ann, again(bob))


def test_a_persons_change_of_a_half_updated_file_is_kept(clone: Clone) -> None:
    _, bob = prepare(clone)

    def act() -> None:
        tear_the_files()
        again(bob).call("push", {})

    assert in_a_process_that_dies(act)
    mine = bob.workspace().root / "drafts" / "3.md"
    mine.write_text("a person's text\n")
    bob = again(bob)
    assert text(bob, "drafts/3.md") == "a person's text\n"
    assert text(bob, "drafts/2.md") == NEWS["drafts/2.md"]
    assert git(bob, "status", "--porcelain", "drafts") == " M drafts/3.md\n"


def test_a_recovery_that_is_killed_runs_again(clone: Clone) -> None:
    ann, bob = prepare(clone)

    def act() -> None:
        tear_the_files()
        again(bob).call("push", {})

    assert in_a_process_that_dies(act)

    def clear_up() -> None:
        advance.finish = lambda *_: die()  # type: ignore[assignment]
        again(bob).call("status", {})

    assert in_a_process_that_dies(clear_up)
    nothing_is_missing(ann, again(bob))


def test_a_killed_git_does_not_leave_the_clone_locked(clone: Clone) -> None:
    ann = clone("ann")
    ws = ann.workspace()
    with ws.held():
        (ws.root / ".git" / "index.lock").write_text("")
        ws.git.killed = True
    ann.call("write", {"path": "drafts/a.md", "content": "a\n"})
    commit(ann, ["drafts/a.md"])
    assert ann.call("push", {})["ok"]


def test_only_a_lock_from_the_time_of_the_killed_call_is_removed(clone: Clone) -> None:
    ann = clone("ann")
    ws = ann.workspace()
    lock = ws.root / ".git" / "index.lock"
    lock.write_text("")
    os.utime(lock, (time.time() - 1000, time.time() - 1000))
    recovery.recover(ws, began=time.time() - 500)
    assert lock.exists(), "it is older than the call"
    recovery.recover(ws, began=time.time() - 2000)
    assert lock.exists(), "it is newer than any git command of the call"
    recovery.recover(ws, began=time.time() - 1200)
    assert not lock.exists()


def test_recovery_waits_for_the_lock_of_a_persons_git(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    ws = clone("ann").workspace()
    lock = ws.root / ".git" / "index.lock"
    lock.write_text("a person's")
    monkeypatch.setattr(plain_git, "SETTLE_SECONDS", 0.0)
    monkeypatch.setattr(recovery, "GIT_LOCK_TIMEOUT", 5.0)

    def ends(seconds: float) -> None:
        assert lock.read_text() == "a person's"
        lock.unlink()

    monkeypatch.setattr(recovery.time, "sleep", ends)
    recovery.recover(ws, began=time.time() - 60)
    assert not lock.exists()


def test_a_fetch_that_hangs_does_not_block_the_next_call_when_its_process_was_killed(clone: Clone) -> None:
    ann = clone("ann")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        git(ann, "remote", "set-url", "origin", f"git://127.0.0.1:{silent.getsockname()[1]}/x.git")
        child = os.fork()
        if child == 0:
            again(ann).call("fetch", {})
            os._exit(1)
        connection, _ = silent.accept()  # now git waits for an answer
        with connection:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            assert again(ann).call("status", {})["clean"]
            again(ann).call("write", {"path": "drafts/a.md", "content": "a\n"})
            commit(again(ann), ["drafts/a.md"])


def test_files_that_a_killed_merge_left_in_the_work_tree_are_removed(clone: Clone) -> None:
    ann = clone("ann")
    ws = ann.workspace()
    ours, older, theirs = (ws.root / f".merge_file_{end}" for end in ("a1B2c3", "older1", "notes"))
    for path in (ours, older, theirs):
        path.write_text("half")
    (ws.root / ".merge_file_folder").mkdir()
    os.utime(older, (time.time() - 1000, time.time() - 1000))
    recovery.recover(ws, began=time.time() - 500)
    assert [path.exists() for path in (ours, older, theirs)] == [False, True, True]


def test_an_intent_that_cannot_be_finished_does_not_block_the_clone(clone: Clone) -> None:
    ann = clone("ann")
    ws = ann.workspace()
    head = git(ann, "rev-parse", "HEAD").strip()
    (ws.state_folder / "advance.json").write_text(f'{{"start": "{head}", "goal": "{"1" * 40}", "carried": []}}')
    recovery.recover(ws, began=time.time())
    assert not (ws.state_folder / "advance.json").exists()
    assert ann.call("status", {})["clean"]


def test_our_own_drafts_are_removed_and_a_persons_drafts_are_kept(clone: Clone) -> None:
    ann = clone("ann")
    ws = ann.workspace()
    theirs, ours = ws.root / "drafts" / ".notes.deadbeef.tmp", ws.state_folder / "0123456789abcdef.draft"
    for path in (theirs, ours, ws.state_folder / ".decided.json.01234567.new"):
        path.write_text("x")
    recovery.recover(ws, began=time.time() - 60)
    assert theirs.exists()
    assert not [*ws.state_folder.glob("*.draft"), *ws.state_folder.glob(".*.new")]


def test_a_write_that_fails_in_the_middle_of_a_pull_is_finished_by_the_next_call(
    clone: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, bob = clone("ann"), clone("bob")
    ann.call("journal_append", {"summary": "of ann"})
    commit(ann, ["."])
    ann.call("push", {})
    bob.call("journal_append", {"summary": "of bob, uncommitted"})
    with monkeypatch.context() as patch:

        def full(*args: Any, **more: Any) -> None:
            raise StorageFailed("no space is left")

        patch.setattr(type(bob.workspace().tree), "write", full)
        with pytest.raises(StorageFailed):
            bob.call("pull", {})
    status = bob.call("status", {})
    assert (status["staged"], status["modified"], status["behind"]) == ([], ["journal.md"], 0)
    assert all(text(bob, "journal.md").count(said) == 1 for said in ("of ann", "of bob, uncommitted"))


@pytest.mark.parametrize("flag", ["--skip-worktree", "--assume-unchanged"])
def test_a_changed_file_that_git_was_told_not_to_look_at_blocks(clone: Clone, flag: str) -> None:
    ann, bob = clone("ann"), clone("bob")
    git(bob, "update-index", flag, "README.md")
    ann.call("write", {"path": "README.md", "content": "by ann\n"})
    commit(ann, ["."])
    ann.call("push", {})
    (bob.workspace().root / "README.md").write_text("bob's own\n")
    answer = bob.call("pull", {})
    assert (answer["error"], answer["files"]) == ("conflict", ["README.md"])
    assert text(bob, "README.md") == "bob's own\n"
