"""Fetch, pull, push and sync: what is shared, merged and refused."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cohabit.errors import Busy, Conflict, StorageFailed, Unreachable
from cohabit.workspace.clone.git import Result, failure
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.session import Session
from cohabit.workspace.sharing import origin

Clone = Callable[[str], Session]


def commit(session: Session, path: str, text: str) -> None:
    session.call("write", {"path": path, "content": text})
    session.call("add", {"paths": [path]})
    assert session.call("commit", {"message": f"write {path}"})["sha"]


def board(session: Session, *paths: str) -> None:
    session.call("add", {"paths": ["journal.md", "inbox.md", *paths]})
    assert session.call("commit", {"message": "on the board"})["sha"]


def text(session: Session, path: str) -> str:
    return str(session.call("read", {"path": path})["content"])


def root(session: Session) -> Path:
    return session.workspace().root


def git(session: Session, *args: str) -> str:
    done = subprocess.run(["git", *args], cwd=root(session), check=True, capture_output=True, text=True)
    return done.stdout


def refuse_pushes(remote: Path, why: str) -> None:
    hook = remote / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\necho '{why}' >&2\nexit 1\n")
    hook.chmod(0o755)


def break_off_after_the_next_push(monkeypatch: pytest.MonkeyPatch) -> None:
    """The remote accepts a push, and the connection breaks before it answers."""
    push = origin.push

    def broken_off(*args: Any) -> origin.Pushed:
        push(*args)
        monkeypatch.setattr(origin, "push", push)
        raise Unreachable("the line broke")

    monkeypatch.setattr(origin, "push", broken_off)


# -- fetch and pull -------------------------------------------------------------------------------
def test_fetch_answers_ahead_behind_and_whether_the_remote_moved(clone: Clone) -> None:
    ann, bob = clone("ann"), clone("bob")
    commit(ann, "drafts/a.md", "a\n")
    ann.call("push", {})
    commit(bob, "drafts/b.md", "b\n")
    assert bob.call("fetch", {}) == {"updated": True, "behind": 1, "ahead": 1}
    assert bob.call("fetch", {}) == {"updated": False, "behind": 1, "ahead": 1}


def test_pull_fast_forwards_and_names_the_files(clone: Clone) -> None:
    ann, bob = clone("ann"), clone("bob")
    commit(ann, "drafts/a.md", "a\n")
    ann.call("push", {})
    head = git(ann, "rev-parse", "HEAD").strip()
    assert bob.call("pull", {}) == {"updated": True, "new_head": head, "files": ["drafts/a.md"]}
    assert text(bob, "drafts/a.md") == "a\n"
    assert bob.call("pull", {}) == {"updated": False, "new_head": head, "files": []}
    assert bob.call("status", {})["clean"]


def test_pull_of_a_commit_without_files_answers_updated(clone: Clone) -> None:
    ann, bob = clone("ann"), clone("bob")
    git(ann, "commit", "-q", "--allow-empty", "-m", "nothing")
    ann.call("push", {})
    assert bob.call("pull", {})["updated"] is True


def test_pull_brings_removed_renamed_and_linked_files(clone: Clone) -> None:
    ann, bob = clone("ann"), clone("bob")
    commit(ann, "drafts/deep/a.md", "a\n")
    commit(ann, "swap", "a file\n")
    ann.call("push", {})
    bob.call("pull", {})
    git(ann, "mv", "drafts/deep/a.md", "drafts/b.md")
    git(ann, "rm", "-q", "swap")
    (root(ann) / "swap").mkdir()
    (root(ann) / "swap" / "inner").write_text("now a folder\n")
    (root(ann) / "link").symlink_to("drafts/b.md")
    git(ann, "add", "-A")
    git(ann, "commit", "-q", "-m", "moved")
    ann.call("push", {})
    bob.call("pull", {})
    assert not (root(bob) / "drafts" / "deep").exists()
    assert (root(bob) / "swap" / "inner").read_text() == "now a folder\n"
    assert (root(bob) / "link").is_symlink()
    assert git(bob, "status", "--porcelain") == ""


def test_pull_answers_conflict_if_both_sides_have_commits_and_push_merges_them(clone: Clone) -> None:
    ann, bob = clone("ann"), clone("bob")
    commit(ann, "drafts/a.md", "a\n")
    ann.call("push", {})
    commit(bob, "drafts/b.md", "b\n")
    before = git(bob, "rev-parse", "HEAD")
    answer = bob.call("pull", {})
    assert answer["error"] == "conflict"
    assert "push" in answer["message"]
    assert answer["files"] == []
    assert git(bob, "rev-parse", "HEAD") == before
    assert bob.call("push", {})["integrated"] == 1
    assert text(bob, "drafts/a.md") == "a\n"


@pytest.mark.parametrize("staged", [False, True])
def test_a_changed_file_that_blocks_a_pull_is_named_and_not_changed(clone: Clone, staged: bool) -> None:
    ann, bob = clone("ann"), clone("bob")
    commit(ann, "README.md", "by ann\n")
    ann.call("push", {})
    bob.call("write", {"path": "README.md", "content": "by bob\n"})
    if staged:
        bob.call("add", {"paths": ["README.md"]})
    for tool in ("pull", "sync"):
        answer = bob.call(tool, {})
        assert (answer["error"], answer["files"]) == ("conflict", ["README.md"])
        assert "ommit" in answer["message"]
    assert text(bob, "README.md") == "by bob\n"


@pytest.mark.parametrize("ignored", [False, True])
def test_an_untracked_file_is_never_overwritten(clone: Clone, ignored: bool) -> None:
    ann, bob = clone("ann"), clone("bob")
    if ignored:
        commit(ann, ".gitignore", "drafts/secret*\n")
        ann.call("push", {})
        bob.call("pull", {})
    (root(ann) / "drafts" / "secret.md").write_text("by ann\n")
    git(ann, "add", "-f", "drafts/secret.md")
    git(ann, "commit", "-q", "-m", "secret")
    ann.call("push", {})
    bob.call("write", {"path": "drafts/secret.md", "content": "by bob\n"})
    assert bob.call("pull", {})["files"] == ["drafts/secret.md"]
    assert text(bob, "drafts/secret.md") == "by bob\n"


def test_an_untracked_file_in_place_of_a_folder_or_files_in_place_of_a_file_block(clone: Clone) -> None:
    ann, bob, eve = clone("ann"), clone("bob"), clone("eve")
    commit(ann, "drafts/x/y.md", "below\n")
    commit(ann, "drafts/z", "a file\n")
    ann.call("push", {})
    bob.call("write", {"path": "drafts/x", "content": "mine\n"})
    assert bob.call("pull", {})["files"] == ["drafts/x"]
    eve.call("write", {"path": "drafts/z/mine.md", "content": "mine\n"})
    assert eve.call("pull", {})["files"] == ["drafts/z/mine.md"]
    assert text(eve, "drafts/z/mine.md") == "mine\n"


def test_an_identical_untracked_file_does_not_block(clone: Clone) -> None:
    ann, bob = clone("ann"), clone("bob")
    commit(ann, "drafts/a.md", "same\n")
    ann.call("push", {})
    bob.call("write", {"path": "drafts/a.md", "content": "same\n"})
    assert bob.call("pull", {})["updated"]
    assert bob.call("status", {})["clean"]


def test_other_staged_files_stay_staged(clone: Clone) -> None:
    ann, bob = clone("ann"), clone("bob")
    commit(ann, "drafts/a.md", "a\n")
    ann.call("push", {})
    bob.call("write", {"path": "drafts/b.md", "content": "b\n"})
    bob.call("add", {"paths": ["drafts/b.md"]})
    bob.call("pull", {})
    assert git(bob, "status", "--porcelain") == "A  drafts/b.md\n"


# -- uncommitted work on the board ----------------------------------------------------------------
@pytest.mark.parametrize("staged", [False, True])
def test_an_uncommitted_entry_and_item_are_carried_over_a_pull(clone: Clone, staged: bool) -> None:
    ann, bob = clone("ann"), clone("bob")
    ann.call("journal_append", {"summary": "ann was here"})
    ann.call("inbox_add", {"title": "from ann"})
    board(ann)
    ann.call("push", {})
    bob.call("journal_append", {"summary": "bob was here"})
    assert bob.call("inbox_add", {"title": "from bob", "body": "mine"})["id"] == "INB-001"
    bob.call("write", {"path": "drafts/note.md", "content": "see INB-001\n"})
    if staged:
        bob.call("add", {"paths": ["journal.md", "inbox.md", "drafts/note.md"]})
    answer = bob.call("pull", {})
    assert answer["renumbered"] == [{"title": "from bob", "from": "INB-001", "to": "INB-002"}]
    journal, inbox = text(bob, "journal.md"), text(bob, "inbox.md")
    assert journal.count("was here") == 2
    items = sorted((item.id, item.title) for item in Inbox.parse(inbox).items)
    assert items == [("INB-001", "from ann"), ("INB-002", "from bob")]
    assert text(bob, "drafts/note.md") == "see INB-002\n"
    if staged:
        assert git(bob, "diff", "--name-only") == ""
    else:
        assert git(bob, "diff", "--cached", "--name-only") == ""
    board(bob, "drafts/note.md")
    assert bob.call("push", {})["ok"]
    assert ann.call("pull", {})["updated"]
    assert text(ann, "journal.md") == journal


# -- push -----------------------------------------------------------------------------------------
def test_a_push_answers_like_multisphere(clone: Clone) -> None:
    ann = clone("ann")
    before = git(ann, "rev-parse", "--short=7", "HEAD").strip()
    commit(ann, "drafts/a.md", "a\n")
    answer = ann.call("push", {})
    after = git(ann, "rev-parse", "--short=7", "HEAD").strip()
    ref = "refs/heads/main"
    assert answer["ok"] is True
    assert answer["update"] == {"head": {"local": ref, "remote": ref}, "hash": {"from": before, "to": after}}
    assert (answer["pushed"], answer["integrated"], answer["renumbered"], answer["notes"]) == ([], 0, [], [])
    again = ann.call("push", {})
    assert "update" not in again
    assert again["pushed"][0]["alreadyUpdated"] is True
    assert set(again["pushed"][0]) == {"deleted", "tag", "branch", "new", "alreadyUpdated", "local", "remote"}


def test_two_agents_who_add_the_same_number_end_with_two_and_the_text_of_the_later_one_is_updated(clone: Clone) -> None:
    ann, bob = clone("ann"), clone("bob")
    commit(bob, "drafts/old.md", "INB-001 was something else\n")
    bob.call("push", {})
    ann.call("pull", {})
    for session, name in ((ann, "ann"), (bob, "bob")):
        assert session.call("inbox_add", {"title": f"from {name}"})["id"] == "INB-001"
        session.call("journal_append", {"summary": f"{name} opened INB-001"})
        session.call("write", {"path": f"drafts/{name}.md", "content": "about INB-001\n"})
    bob.call("write", {"path": "drafts/old.md", "content": "INB-001 was something else\nnow INB-001\n"})
    for session, name in ((ann, "ann"), (bob, "bob")):
        board(session, "drafts")
        answer = session.call("push", {})
        assert answer["ok"], name
    assert answer["renumbered"] == [{"title": "from bob", "from": "INB-001", "to": "INB-002"}]
    ann.call("pull", {})
    for session in (ann, bob):
        assert text(session, "drafts/ann.md") == "about INB-001\n"
        assert text(session, "drafts/bob.md") == "about INB-002\n"
        assert text(session, "drafts/old.md") == "INB-001 was something else\nnow INB-002\n"
        journal = text(session, "journal.md")
        assert "ann opened INB-001" in journal
        assert "bob opened INB-002" in journal
    assert git(ann, "rev-parse", "HEAD") == git(bob, "rev-parse", "HEAD")


def test_uncommitted_work_in_a_file_that_only_renumbering_changed_is_updated_too(clone: Clone) -> None:
    ann, bob = clone("ann"), clone("bob")
    ann.call("inbox_add", {"title": "from ann"})
    board(ann)
    ann.call("push", {})
    bob.call("inbox_add", {"title": "from bob"})
    bob.call("write", {"path": "drafts/bob.md", "content": "about INB-001\n"})
    board(bob, "drafts")
    bob.call("write", {"path": "drafts/bob.md", "content": "about INB-001\nmore on INB-001\n"})
    assert bob.call("push", {})["ok"]
    assert text(bob, "drafts/bob.md") == "about INB-002\nmore on INB-002\n"
    assert git(bob, "diff").count("\n+") == 2  # the name of the file, and the line that is not committed


def test_a_push_is_a_merge_by_its_agent_and_an_answered_sha_stays(clone: Clone) -> None:
    ann, bob = clone("ann"), clone("bob")
    commit(ann, "drafts/a.md", "a\n")
    ann.call("push", {})
    commit(bob, "drafts/b.md", "b\n")
    mine = git(bob, "rev-parse", "HEAD").strip()
    bob.call("push", {})
    parents, name, subject = git(bob, "log", "-1", "--format=%P%n%an%n%s").splitlines()
    assert parents.split()[0] == mine
    assert name == "Bob"
    assert subject.startswith("[bob-cli] ")


def test_a_conflict_changes_nothing_and_names_the_files(clone: Clone, remote: Path) -> None:
    ann, bob = clone("ann"), clone("bob")
    commit(ann, "README.md", "by ann\n")
    ann.call("push", {})
    commit(bob, "README.md", "by bob\n")
    bob.call("journal_append", {"summary": "uncommitted"})
    before = git(bob, "rev-parse", "HEAD"), text(bob, "journal.md"), git(bob, "status", "--porcelain")
    for tool in ("push", "sync"):
        answer = bob.call(tool, {})
        assert (answer["error"], answer["files"]) == ("conflict", ["README.md"])
    assert (git(bob, "rev-parse", "HEAD"), text(bob, "journal.md"), git(bob, "status", "--porcelain")) == before


def test_a_refusal_of_the_remote_is_reported_with_its_message_and_moves_nothing(clone: Clone, remote: Path) -> None:
    ann, bob = clone("ann"), clone("bob")
    commit(bob, "drafts/b.md", "b\n")
    bob.call("push", {})
    commit(ann, "drafts/a.md", "a\n")
    refuse_pushes(remote, "the branch is protected")
    before = git(ann, "rev-parse", "HEAD")
    answer = ann.call("push", {})
    assert answer["error"] == "rejected"
    assert "the branch is protected" in answer["reason"]
    assert str(remote) not in answer["reason"]
    assert git(ann, "rev-parse", "HEAD") == before
    (remote / "hooks" / "pre-receive").unlink()
    assert ann.call("push", {})["ok"]


def test_an_unreachable_remote_is_reported_and_nothing_is_lost(
    clone: Clone, remote: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(origin, "RETRY_PAUSE", 0.0)
    ann = clone("ann")
    commit(ann, "drafts/a.md", "a\n")
    away = remote.rename(remote.with_name("away"))
    for tool in ("push", "sync"):
        with pytest.raises(Unreachable, match=r"Nothing is lost.*call push again") as caught:
            ann.call(tool, {})
        assert str(remote) not in caught.value.message
    away.rename(remote)
    assert ann.call("push", {})["ok"]


def test_a_remote_that_is_briefly_unreachable_causes_no_error(
    clone: Clone, remote: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = clone("ann")
    commit(ann, "drafts/a.md", "a\n")
    away = remote.rename(remote.with_name("away"))
    monkeypatch.setattr(origin.time, "sleep", lambda _: away.exists() and away.rename(remote))
    assert ann.call("push", {})["ok"]


def test_a_push_that_was_accepted_without_an_answer_is_not_made_twice(
    clone: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = clone("ann")
    commit(ann, "drafts/a.md", "a\n")
    break_off_after_the_next_push(monkeypatch)
    answer = ann.call("push", {})
    assert answer["update"]["hash"]["to"] == git(ann, "rev-parse", "--short=7", "HEAD").strip()
    assert git(ann, "rev-list", "--count", "HEAD") == "2\n"


def test_a_remote_that_fails_during_a_push_is_tried_again_a_few_times(clone: Clone, remote: Path) -> None:
    ann = clone("ann")
    commit(ann, "drafts/a.md", "a\n")
    refuse_pushes(remote, "unpacker error")
    with pytest.raises(Unreachable, match="Nothing is lost"):
        ann.call("push", {})


def test_one_push_that_loses_many_races_leaves_one_merge(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    ann, bob = clone("ann"), clone("bob")
    commit(ann, "drafts/a.md", "a\n")
    push, races = origin.push, iter(range(5))

    def raced(ws: Any, *args: Any) -> origin.Pushed:
        if ws.identity.agent_id == "ann-cli" and (race := next(races, None)) is not None:
            commit(bob, f"drafts/{race}.md", "b\n")
            assert bob.call("push", {})["ok"]
        return push(ws, *args)

    monkeypatch.setattr(origin, "push", raced)
    answer = ann.call("push", {})
    assert answer["integrated"] == 5
    assert git(ann, "rev-list", "--count", "--merges", "HEAD") == "1\n"


def test_sync_with_nothing_to_push_brings_the_commits_of_others(clone: Clone) -> None:
    ann, bob = clone("ann"), clone("bob")
    commit(ann, "drafts/a.md", "a\n")
    assert ann.call("sync", {})["update"]
    answer = bob.call("sync", {})
    assert (answer["ok"], answer["integrated"]) == (True, 1)
    assert bob.call("sync", {})["integrated"] == 0


# -- odd histories --------------------------------------------------------------------------------
def test_an_empty_remote_is_not_an_error(clone: Clone, remote: Path) -> None:
    ann = clone("ann")
    subprocess.run(["git", "update-ref", "-d", "refs/heads/main"], cwd=remote, check=True)
    assert ann.call("fetch", {})["behind"] == 0
    assert ann.call("pull", {})["updated"] is False
    answer = ann.call("push", {})
    assert answer["pushed"][0]["new"] is True
    assert ann.call("sync", {})["ok"]


def test_two_first_commits_for_an_empty_remote_are_merged(clone: Clone, remote: Path) -> None:
    ann, bob = clone("ann"), clone("bob")
    ann.call("journal_append", {"summary": "ann was first"})
    board(ann)
    ann.call("push", {})
    tree = git(bob, "write-tree").strip()
    alone = git(bob, "commit-tree", tree, "-m", "a beginning of its own").strip()
    git(bob, "reset", "-q", "--hard", alone)
    bob.call("journal_append", {"summary": "bob was first"})
    board(bob)
    assert bob.call("push", {})["ok"]
    assert text(bob, "journal.md").count("was first") == 2


def test_sides_that_merged_each_other_crosswise_still_have_every_entry_once(clone: Clone) -> None:
    ann, bob = clone("ann"), clone("bob")
    for session, name in ((ann, "ann"), (bob, "bob")):
        session.call("journal_append", {"summary": f"{name} one"})
        session.call("inbox_add", {"title": f"{name} item"})
        board(session)
    git(bob, "fetch", "-q", str(root(ann)), "main:refs/heads/ann")
    git(ann, "fetch", "-q", str(root(bob)), "main:refs/heads/bob")
    git(bob, "merge", "-q", "ann", "-m", "cross")
    git(ann, "merge", "-q", "bob", "-m", "cross")
    for session, name in ((ann, "ann"), (bob, "bob")):
        session.call("journal_append", {"summary": f"{name} two"})
        board(session)
        assert session.call("push", {})["ok"]
    assert len(git(bob, "merge-base", "--all", "HEAD^1", "HEAD^2").split()) == 2
    journal = text(bob, "journal.md")
    assert [journal.count(f"{name} {n}") for name in ("ann", "bob") for n in ("one", "two")] == [1, 1, 1, 1]
    ids = re.findall(r"INB-\d+", text(bob, "inbox.md"))
    assert sorted(ids) == ["INB-001", "INB-002"]


def test_two_items_of_multisphere_with_one_number_get_two_numbers(clone: Clone) -> None:
    ann, bob = clone("ann"), clone("bob")
    for session, name in ((ann, "ann"), (bob, "bob")):
        item = f"- [ ] INB-001 @anyone — from {name}  \n  added 2026-05-22 14:30 by {name}-cli\n"
        session.call("write", {"path": "inbox.md", "content": f"# Inbox\n\n## Open\n\n{item}\n## Closed\n"})
        board(session)
        assert session.call("push", {})["ok"]
    items = Inbox.parse(text(bob, "inbox.md")).items
    assert sorted((item.id, item.title) for item in items) == [("INB-001", "from ann"), ("INB-002", "from bob")]


def test_nothing_is_shared_during_an_unfinished_merge_by_hand(clone: Clone) -> None:
    ann, bob = clone("ann"), clone("bob")
    commit(ann, "README.md", "by ann\n")
    ann.call("push", {})
    commit(bob, "README.md", "by bob\n")
    git(bob, "fetch", "-q")
    subprocess.run(["git", "merge", "-q", "origin/main"], cwd=root(bob), check=False, capture_output=True)
    commit(ann, "drafts/a.md", "a\n")
    ann.call("push", {})
    bob.call("fetch", {})
    git(bob, "checkout", "--ours", "README.md")
    git(bob, "add", "README.md")
    with pytest.raises(Conflict, match=r"merge that was started by hand.*--abort"):
        bob.call("push", {})


def test_a_clone_without_a_commit_gets_the_remotes_files_and_keeps_its_own(clone: Clone) -> None:
    ann, bob = clone("ann"), clone("bob")
    ann.call("journal_append", {"summary": "ann was here"})
    board(ann)
    ann.call("push", {})
    git(bob, "update-ref", "-d", "HEAD")
    git(bob, "rm", "-q", "-r", "--cached", ".")
    bob.call("journal_append", {"summary": "bob was here"})
    assert "no commit yet" in bob.call("push", {})["note"]
    assert bob.call("pull", {})["updated"]
    assert text(bob, "journal.md").count("was here") == 2
    assert git(bob, "status", "--porcelain") == " M journal.md\n"


def test_a_call_waits_for_a_persons_git_that_holds_the_index(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    ann, bob = clone("ann"), clone("bob")
    commit(ann, "drafts/a.md", "a\n")
    ann.call("push", {})
    lock = root(bob) / ".git" / "index.lock"
    lock.write_text("")
    waits = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            lock.unlink()

    monkeypatch.setattr("cohabit.workspace.clone.git.time.sleep", wait)
    assert bob.call("pull", {})["updated"]
    assert len(waits) >= 3
    assert text(bob, "drafts/a.md") == "a\n"


def test_a_git_that_keeps_its_lock_makes_the_call_busy_and_nothing_changes(
    clone: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cohabit.workspace.clone.git.GIT_LOCK_TIMEOUT", 0.0)
    ann, bob = clone("ann"), clone("bob")
    commit(ann, "drafts/a.md", "a\n")
    ann.call("push", {})
    before = git(bob, "rev-parse", "HEAD")
    lock = root(bob) / ".git" / "index.lock"
    lock.write_text("")
    with pytest.raises(Busy, match="another git"):
        bob.call("pull", {})
    assert git(bob, "rev-parse", "HEAD") == before
    lock.unlink()
    assert bob.call("pull", {})["updated"]


def test_the_error_for_a_clone_on_no_branch_says_what_to_do(clone: Clone) -> None:
    ann = clone("ann")
    git(ann, "checkout", "-q", "--detach")
    with pytest.raises(Conflict, match="git switch main"):
        ann.call("push", {})


def test_a_file_that_cannot_be_written_is_not_taken_for_own_work(clone: Clone, tmp_path: Path) -> None:
    ann, bob = clone("ann"), clone("bob")
    commit(bob, "drafts/sub/f.md", "one\n")
    bob.call("push", {})
    ann.call("pull", {})
    commit(bob, "drafts/sub/f.md", "two\n")
    long = "y" * 300 + ".md"  # no file system here has such names
    blob = subprocess.run(
        ["git", "hash-object", "-w", "--stdin"], cwd=root(bob), input="x", text=True, capture_output=True
    )
    git(bob, "update-index", "--add", "--cacheinfo", f"100644,{blob.stdout.strip()},drafts/{long}")
    assert bob.call("commit", {"message": "a long name"})["sha"]
    assert bob.call("push", {})["ok"]
    answer = ann.call("pull", {})
    assert f"'drafts/{long[:30]}" in answer["notes"][0]  # quoted and shortened
    assert text(ann, "drafts/sub/f.md") == "two\n"
    ann.call("journal_append", {"summary": "went on"})
    ann.call("add", {"paths": ["."]})
    ann.call("commit", {"message": "went on"})
    assert ann.call("push", {})["ok"]
    assert long in git(ann, "ls-tree", "-r", "--name-only", "origin/main")


def test_a_move_that_a_full_disk_interrupts_is_finished_later(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    ann, bob = clone("ann"), clone("bob")
    commit(ann, "drafts/a.md", "a\n")
    ann.call("push", {})
    ws, run = bob.workspace(), type(bob.workspace().git).run

    def full(self: Any, *args: str, **more: Any) -> Any:
        if args[0] in ("checkout-index", "update-ref") and self is ws.git:
            done = Result(128, b"", "fatal: unable to write: No space left on device")
            if done.code not in more.get("ok", (0,)):
                raise failure(args[0], done, ws.root, network=False)
            return done
        return run(self, *args, **more)

    with monkeypatch.context() as patch:
        patch.setattr(type(ws.git), "run", full)
        for _ in range(2):
            with pytest.raises(StorageFailed, match="disk is full"):
                bob.call("pull", {})
    status = bob.call("status", {})
    assert (status["clean"], status["behind"]) == (True, 0)
    assert text(bob, "drafts/a.md") == "a\n"


@pytest.mark.parametrize("said", ["write error: No space left on device", "write error. Out of diskspace"])
def test_each_way_in_which_git_says_that_the_disk_is_full_is_understood(said: str) -> None:
    error = failure("status", Result(128, b"", f"fatal: sha1 file '.git/index.lock' {said}"), Path("/x"), network=False)
    assert isinstance(error, StorageFailed)
    assert "free some space, then call again" in error.message


def test_a_claim_that_was_accepted_without_an_answer_is_kept(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    ann = clone("ann")
    ann.call("inbox_add", {"title": "x"})
    board(ann)
    ann.call("push", {})
    break_off_after_the_next_push(monkeypatch)
    assert ann.call("claim", {"id": "INB-001"})["by"] == "ann-cli"
