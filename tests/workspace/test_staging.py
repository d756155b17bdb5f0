"""Adding the given files, and nothing outside of the workspace."""

import os
import subprocess

import pytest

from cohabit.errors import BadArgs, Conflict, PermissionDenied, TooLarge, UnknownAsset
from cohabit.workspace.clone import commits
from cohabit.workspace.clone.commits import add
from cohabit.workspace.reading.changes import status


def git(ws, *args: str) -> str:
    return subprocess.run(["git", *args], cwd=ws.root, check=True, capture_output=True, text=True).stdout.strip()


def write(ws, *paths: str) -> None:
    for path in paths:
        ws.tree.write(path, f"this is {path}\n".encode())


def test_files_folders_and_removals_are_staged(board):
    ws = board()
    write(ws, "a.md", "notes/b.md", "notes/c.md", "left.md")
    add(ws, ["a.md", "notes"])
    assert status(ws)["staged"] == ["a.md", "notes/b.md", "notes/c.md"]
    commits.commit_index(ws, "files")
    ws.tree.remove("notes/b.md")
    ws.tree.remove("notes/c.md")
    os.rmdir(ws.root / "notes")
    add(ws, ["notes/b.md"])
    assert status(ws)["staged"] == ["notes/b.md"]
    add(ws, ["."])
    assert status(ws)["staged"] == ["left.md", "notes/b.md", "notes/c.md"]


@pytest.mark.sampled
@pytest.mark.parametrize("paths", [["film.bin"], ["notes/film.bin"], ["notes"], ["."]])
def test_a_file_that_no_remote_would_take_is_refused_before_it_is_committed(board, paths):
    ws = board()
    write(ws, "a.md", "notes/b.md")
    for path in ("film.bin", "notes/film.bin"):
        with (ws.root / path).open("wb") as file:
            file.truncate(100 * 1024 * 1024 + 1)
    with pytest.raises(TooLarge, match=r"film\.bin' has more than 100 MiB.*keep it elsewhere"):
        add(ws, paths)
    assert status(ws)["staged"] == []
    for path in ("film.bin", "notes/film.bin"):
        os.remove(ws.root / path)
    add(ws, ["."])
    assert status(ws)["staged"] == ["a.md", "notes/b.md"]


def test_a_large_file_is_refused_whatever_its_name_is(board):
    ws = board()
    write(ws, "notes/b.md")
    for name in ("with a\nline break.bin", "with 'quotes' and ü.bin"):
        with (ws.root / "notes" / name).open("wb") as file:
            file.truncate(100 * 1024 * 1024 + 1)
        for path in ("notes", "."):
            with pytest.raises(TooLarge, match="more than 100 MiB"):
                add(ws, [path])
        assert status(ws)["staged"] == []
        os.remove(ws.root / "notes" / name)


def test_an_empty_list_of_paths_is_accepted(board):
    ws = board()
    add(ws, [])
    assert status(ws)["staged"] == []


def test_a_missing_path_is_named_and_stops_the_rest(board):
    ws = board()
    write(ws, "a.md")
    with pytest.raises(UnknownAsset, match=r"nothing was added.*missing\.md"):
        add(ws, ["a.md", "missing.md"])
    assert status(ws)["staged"] == []


@pytest.mark.parametrize("path", ["-A", "--all", "*.md", ":/", ":(top)", ":!a.md", "."])
def test_options_and_patterns_are_only_names(board, path):
    ws = board()
    write(ws, "a.md")
    if path == ".":
        add(ws, [path])
        return
    with pytest.raises((UnknownAsset, BadArgs)):
        add(ws, [path])
    (ws.root / path.replace("/", "_")).write_text("x")
    add(ws, [path.replace("/", "_")])
    assert status(ws)["staged"] == [path.replace("/", "_")]


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", ".git/config", ".GIT/config", "a/../../x", "git~1/config"])
def test_paths_that_lead_out_or_into_git_are_refused(board, path):
    with pytest.raises(BadArgs):
        add(board(), [path])


def test_a_path_through_a_link_is_refused(board, tmp_path):
    ws = board()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/secret.md").write_text("s")
    (ws.root / "link").symlink_to(tmp_path / "elsewhere")
    write(ws, "notes/a.md")
    with pytest.raises(BadArgs, match="links are not followed"):
        add(ws, ["notes", "link/secret.md"])
    add(ws, ["link"])  # the link itself is staged, not its target
    assert git(ws, "ls-files", "-s").split()[0] == "120000"


@pytest.mark.parametrize("paths", [["nested"], ["."], ["nested/"], ["deep"]])
@pytest.mark.parametrize("born", [True, False])
def test_another_repository_inside_is_refused_and_nothing_is_staged(board, paths, born):
    ws = board()
    write(ws, "a.md")
    folder = "deep/nested" if paths == ["deep"] else "nested"
    git(ws, "init", "-q", folder)
    (ws.root / folder / "b.md").write_text("x")
    if born:
        git(ws, "-C", folder, "-c", "user.name=x", "-c", "user.email=x", "commit", "-q", "--allow-empty", "-m", "x")
    with pytest.raises(PermissionDenied, match="another git repository"):
        add(ws, paths)
    assert status(ws)["staged"] == []


def test_a_path_inside_a_submodule_is_refused(board):
    ws = board()
    write(ws, "a.md")
    git(ws, "init", "-q", "sub")
    git(ws, "-C", "sub", "-c", "user.name=x", "-c", "user.email=x", "commit", "-q", "--allow-empty", "-m", "x")
    git(ws, "update-index", "--add", "--cacheinfo", f"160000,{git(ws, '-C', 'sub', 'rev-parse', 'HEAD')},sub")
    (ws.root / "sub/b.md").write_text("x")
    with pytest.raises(PermissionDenied, match="submodule"):
        add(ws, ["sub/b.md"])


def test_an_ignored_file_is_named(board):
    ws = board()
    write(ws, "a.md", "secret.env")
    ws.tree.write(".gitignore", b"*.env\n")
    with pytest.raises(BadArgs, match=r"secret\.env; add the others"):
        add(ws, ["a.md", "secret.env"])


def test_a_filter_of_the_persons_own_that_attributes_name_does_not_run(board, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".gitconfig").write_text(f'[filter "evil"]\n\tclean = "touch {tmp_path}/ran; cat"\n')
    ws = board()
    ws.tree.write(".gitattributes", b"* filter=evil\n")
    write(ws, "a.md", "b.md")
    add(ws, ["a.md"])
    assert not (tmp_path / "ran").exists()
    git(ws, "add", "b.md")
    assert (tmp_path / "ran").exists(), "the trap works for a plain git"


def merging(board, mine: str, theirs: str):
    """A clone in the middle of a merge by hand, in which both sides wrote a.md."""
    ws = board()
    write(ws, "b.md")
    add(ws, ["."])
    commits.commit_index(ws, "begin")
    for branch, text in (("side", theirs), ("main", mine)):
        git(ws, "checkout", "-q", *(["-b", "side"] if branch == "side" else ["main"]))
        ws.tree.write("a.md", text.encode())
        add(ws, ["a.md"])
        commits.commit_index(ws, branch)
    who = ["-c", "user.name=P", "-c", "user.email=p@example.org"]
    subprocess.run(["git", *who, "merge", "-q", "side"], cwd=ws.root, check=False, capture_output=True)
    return ws


@pytest.mark.parametrize("path", [".", "a.md"])
def test_a_file_with_conflict_markers_is_not_added(board, path):
    ws = merging(board, "mine\n", "theirs\n")
    with pytest.raises(Conflict, match=r"'a\.md' still contains both sides"):
        add(ws, [path])
    add(ws, ["b.md"])
    with pytest.raises(Conflict, match="by hand"):
        commits.commit_index(ws, "not yet")


def test_a_merge_by_hand_is_concluded_by_resolving_adding_and_committing(board):
    ws = merging(board, "mine\n", "theirs\n")
    ws.tree.write("a.md", b"mine\n")
    add(ws, ["a.md"])
    made = commits.commit_index(ws, "ours it is")
    assert made is not None
    assert len(git(ws, "rev-list", "--parents", "-1", "HEAD").split()) == 3
    assert commits.commit_index(ws, "again") is None
