"""Where the clone is, and valid names of commits."""

import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.errors import BadArgs, GitFailed
from cohabit.workspace.clone import commits, refs


def git(ws, *args: str) -> str:
    return subprocess.run(["git", *args], cwd=ws.root, check=True, capture_output=True, text=True).stdout.strip()


def commit(ws, path: str = "a.md", text: str = "x\n") -> str:
    ws.tree.write(path, text.encode())
    commits.add(ws, [path])
    made = commits.commit_index(ws, f"write {path}")
    assert made
    return made.sha


def test_before_the_first_commit_there_is_a_branch_and_no_head(board):
    ws = board()
    assert (refs.branch(ws), refs.head(ws), refs.upstream(ws)) == ("main", None, None)


def test_head_is_the_same_loose_packed_and_detached(board):
    ws = board()
    sha = commit(ws)
    assert refs.head(ws) == sha
    git(ws, "pack-refs", "--all")
    assert not (ws.root / ".git/refs/heads/main").exists()
    assert refs.head(ws) == sha
    git(ws, "checkout", "-q", "--detach")
    assert (refs.branch(ws), refs.head(ws), refs.upstream(ws)) == ("", sha, None)


def test_upstream_is_the_remotes_branch_of_the_same_name(board):
    ws = board()
    sha = commit(ws)
    git(ws, "update-ref", "refs/remotes/origin/main", sha)
    git(ws, "update-ref", "refs/remotes/origin/mainly", git(ws, "hash-object", "-w", "--stdin"))
    assert refs.upstream(ws) == sha
    git(ws, "pack-refs", "--all")
    assert refs.upstream(ws) == sha


def test_a_ref_that_points_to_another_is_followed(board):
    ws = board()
    sha = commit(ws)
    git(ws, "branch", "other")
    git(ws, "symbolic-ref", "refs/heads/main", "refs/heads/other")
    assert refs.head(ws) == sha


@pytest.mark.parametrize(
    "name", ["HEAD", "HEAD~3", "main^", "main^2~4", "origin/main", "v1.0", "a" * 40, "feature/x-1"]
)
def test_the_usual_names_of_commits_are_accepted(name):
    assert refs.checked(name) == name


@pytest.mark.parametrize(
    "name",
    ["", "-n", "--output=/tmp/x", "a..b", "a...b", "HEAD@{1}", "@{u}", "HEAD^{/fix}", ":/fix", "HEAD:inbox.md", "^main",
     "a b", "a\nb", "a\0b", "main.lock", "/main", "main/", "a//b", "a/.b", "*", "main~9999999", "~1", "é"],
)  # fmt: skip
def test_any_other_name_is_refused_with_a_suggestion(name):
    with pytest.raises(BadArgs, match="HEAD~3"):
        refs.checked(name)


@given(st.text(max_size=30))
def test_no_accepted_name_could_be_an_option_a_range_or_a_path(text):
    try:
        refs.checked(text)
    except BadArgs:
        return
    assert not text.startswith("-")
    assert not any(sign in text for sign in ("..", "@{", "^{", ":", " ", "\n", "*", "?", "[", "\\"))


@pytest.mark.parametrize("content", ["", "\n", "no sha\n"])
@pytest.mark.parametrize("name", ["heads", "remotes/origin"])
def test_a_damaged_ref_is_an_error_and_does_not_fall_back_to_the_packed_one(board, name, content):
    ws = board()
    first = commit(ws)
    git(ws, "update-ref", "refs/remotes/origin/main", first)
    git(ws, "pack-refs", "--all")
    commit(ws, text="y\n")
    place = ws.root / ".git" / "refs" / name / "main"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(content)
    with pytest.raises(GitFailed, match=f"refs/{name}/main of this clone is damaged"):
        refs.head(ws) if name == "heads" else refs.upstream(ws)


def test_a_ref_that_points_to_one_without_a_commit_has_none(board):
    ws = board()
    git(ws, "symbolic-ref", "refs/heads/main", "refs/heads/other")
    assert refs.head(ws) is None


def test_a_missing_clone_is_not_taken_for_a_missing_git(board, monkeypatch):
    ws = board()
    ws.root.rename(ws.root.with_name("elsewhere"))
    with pytest.raises(GitFailed, match="no longer exists"):
        ws.git.run("status")
    ws.root.with_name("elsewhere").rename(ws.root)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(GitFailed, match="not installed"):
        board().git.run("status")


def test_a_git_that_was_moved_on_the_path_is_found_again(board, tmp_path, monkeypatch):
    found = shutil.which("git")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").symlink_to(found)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin", prepend=":")
    ws = board()
    ws.git.run("status")
    (tmp_path / "bin" / "git").unlink()
    with pytest.raises(GitFailed, match="not installed"):
        ws.git.run("status")
    assert ws.git.run("status").code == 0
