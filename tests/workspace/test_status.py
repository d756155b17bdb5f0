"""Status: which file is in which list."""

import os
import subprocess

import pytest

from cohabit.errors import PermissionDenied
from cohabit.workspace.clone import commits
from cohabit.workspace.reading import changes as status_module
from cohabit.workspace.reading.changes import diff, status

LISTS = ("modified", "not_added", "deleted", "renamed", "staged", "untracked", "conflicted")


def git(ws, *args: str, **more) -> str:
    return subprocess.run(
        ["git", *args], cwd=ws.root, check=True, capture_output=True, text=True, **more
    ).stdout.strip()


def committed(ws, *paths: str) -> None:
    for path in paths:
        ws.tree.write(path, f"this is {path}, with a line or two\nthat git can follow\n".encode())
    commits.add(ws, paths)
    commits.commit_index(ws, "files")


def lists(ws) -> dict[str, list[str]]:
    answer = status(ws)
    return {kind: answer[kind] for kind in LISTS if answer[kind]}


def test_a_new_repository_is_clean_and_on_its_branch(board):
    assert status(board()) == {
        "branch": "main", "tracking": None, "ahead": 0, "behind": 0, "modified": [], "not_added": [], "deleted": [],
        "renamed": [], "staged": [], "untracked": [], "conflicted": [], "clean": True,
    }  # fmt: skip


def test_each_kind_of_change_is_in_the_lists_of_multisphere(board):
    ws = board()
    committed(ws, "edited.md", "staged.md", "both.md", "gone.md", "removed.md", "old.md", "link.md")
    ws.tree.write("edited.md", b"x\n")
    ws.tree.write("staged.md", b"x\n")
    ws.tree.write("both.md", b"x\n")
    ws.tree.write("new.md", b"x\n")
    ws.tree.remove("gone.md")
    ws.tree.remove("removed.md")
    git(ws, "mv", "old.md", "renamed.md")
    commits.add(ws, ["staged.md", "both.md", "new.md", "removed.md"])
    ws.tree.write("both.md", b"y\n")
    ws.tree.write("new.md", b"y\n")
    ws.tree.write("notes/un tracked.md", b"x\n")
    ws.tree.remove("link.md")
    (ws.root / "link.md").symlink_to("new.md")
    assert lists(ws) == {
        "modified": ["both.md", "edited.md", "link.md", "new.md", "staged.md"],
        "not_added": ["notes/un tracked.md"],
        "untracked": ["notes/un tracked.md"],
        "deleted": ["gone.md", "removed.md"],
        "renamed": ["old.md -> renamed.md"],
        "staged": ["both.md", "new.md", "removed.md", "staged.md"],
    }
    assert status(ws)["clean"] is False


def test_a_renamed_and_edited_file_is_renamed_and_modified(board):
    ws = board()
    committed(ws, "old.md")
    git(ws, "mv", "old.md", "new.md")
    ws.tree.write("new.md", ws.tree.read("new.md") + b"more\n")
    assert lists(ws) == {"renamed": ["old.md -> new.md"], "modified": ["new.md"]}


def test_a_conflict_of_a_merge_by_hand_is_named(board):
    ws = board()
    committed(ws, "a.md")
    blobs = [git(ws, "hash-object", "-w", "--stdin", input=text) for text in ("base", "ours", "theirs")]
    lines = "".join(f"100644 {blob} {stage}\ta.md\n" for stage, blob in enumerate(blobs, 1))
    git(ws, "update-index", "--index-info", input="0 " + "0" * 40 + "\ta.md\n" + lines)
    assert lists(ws) == {"conflicted": ["a.md"]}


def test_ahead_behind_and_tracking_are_in_the_answer(board):
    ws = board()
    committed(ws, "a.md")
    git(ws, "update-ref", "refs/remotes/origin/main", "HEAD")
    git(ws, "config", "branch.main.remote", "origin")
    git(ws, "config", "branch.main.merge", "refs/heads/main")
    git(ws, "config", "remote.origin.url", "/nowhere")
    git(ws, "config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")
    committed(ws, "b.md")
    answer = status(ws)
    assert (answer["tracking"], answer["ahead"], answer["behind"]) == ("origin/main", 1, 0)
    git(ws, "checkout", "-q", "--detach")
    assert (status(ws)["branch"], status(ws)["tracking"]) == ("HEAD", None)


def test_names_with_unusual_characters_are_listed_unchanged(board):
    ws = board()
    for name in ("é ü.md", "a -> b.md", " leading.md", "tab\tname.md"):
        (ws.root / name).write_text("x")
    assert sorted(status(ws)["untracked"]) == [" leading.md", "a -> b.md", "tab\tname.md", "é ü.md"]


def test_names_with_terminal_escapes_or_invalid_utf_8_can_be_listed(board):
    ws = board()
    (ws.root / "bell\x07\x1b[31m.md").write_text("x")
    (ws.root / os.fsdecode(b"latin-\xe9.md")).write_text("x")
    assert sorted(status(ws)["untracked"]) == ["bell[31m.md", "latin-\ufffd.md"]


def test_a_long_list_is_cut_and_counted(board, monkeypatch):
    ws = board()
    monkeypatch.setattr(status_module, "MAX_ENTRIES", 3)
    for i in range(5):
        (ws.root / f"{i}.md").write_text("x")
    answer = status(ws)
    assert answer["untracked"] == ["0.md", "1.md", "2.md"]
    assert answer["truncated"] is True
    assert answer["counts"]["untracked"] == 5


def test_no_git_is_started_inside_a_submodule(board, tmp_path):
    """Its configuration is not ours: a filter that it names would run."""
    ws = board()
    committed(ws, "a.md")
    sub = ws.root / "sub"
    git(ws, "init", "-q", "sub")
    (sub / "b.md").write_text("one\n")
    git(ws, "-C", "sub", "add", "b.md")
    git(ws, "-C", "sub", "-c", "user.name=x", "-c", "user.email=x", "commit", "-q", "-m", "x")
    sha = git(ws, "-C", "sub", "rev-parse", "HEAD")
    (ws.root / ".gitmodules").write_text('[submodule "sub"]\n\tpath = sub\n\turl = x\n\tignore = none\n')
    git(ws, "update-index", "--add", "--cacheinfo", f"160000,{sha},sub")
    git(ws, "-C", "sub", "config", "filter.evil.clean", f"touch {tmp_path}/ran; cat")
    (sub / ".git/info/attributes").write_text("* filter=evil\n")
    (sub / "b.md").write_text("two\n")
    os.utime(sub / "b.md", (1_700_000_000, 1_700_000_000))
    status(ws)
    diff(ws, None, None)
    committed(ws, "c.md")
    with pytest.raises(PermissionDenied):
        commits.add(ws, ["."])
    assert not (tmp_path / "ran").exists()
    subprocess.run(["git", "status"], cwd=ws.root, capture_output=True, check=True)
    assert (tmp_path / "ran").exists(), "the trap works for a plain git"
