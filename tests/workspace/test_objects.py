"""Objects that are written without git are exactly those that git writes."""

import subprocess
from collections.abc import Callable, Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cohabit.workspace.clone import objects
from cohabit.workspace.clone.objects import Entry
from cohabit.workspace.session import Session
from cohabit.workspace.workspace import Workspace

Clone = Callable[[str], Session]
NAMES = st.sampled_from(["a", "a-b", "a.b", "a0", "b", "é", "z"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)


@pytest.fixture
def ws(clone: Clone) -> Iterator[Workspace]:
    workspace = clone("ann").workspace()
    with workspace.held():
        yield workspace


def git_tree(ws: Workspace, files: dict[str, Entry]) -> str:
    """The tree that git itself makes of these files."""
    index = {"GIT_INDEX_FILE": str(ws.own / "index.test")}
    rows = "".join(f"{entry.mode} {entry.sha}\t{path}\0" for path, entry in files.items())
    ws.git.run("read-tree", "--empty", extra=index)
    if rows:
        ws.git.run("update-index", "-z", "--index-info", stdin=rows.encode(), extra=index)
    return ws.git.run("write-tree", extra=index).line


def without_clashes(paths: list[str]) -> list[str]:
    """No path that is a folder of another."""
    return [path for path in paths if not any(other.startswith(f"{path}/") for other in paths)]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=st.lists(PATHS, max_size=6, unique=True), after=st.lists(PATHS, max_size=6, unique=True))
def test_a_tree_with_changed_entries_is_the_one_git_would_write(
    ws: Workspace, before: list[str], after: list[str]
) -> None:
    every = without_clashes([*dict.fromkeys([*before, *after])])
    old = {path: Entry("100644", objects.write_text(ws, f"old {path}")) for path in every if path in before}
    new = {path: Entry("100755", objects.write_text(ws, f"new {path}")) for path in every if path in after}
    changes = {path: new.get(path) for path in every}
    assert objects.with_entries(ws, git_tree(ws, old), changes) == git_tree(ws, new)


def test_a_blob_is_the_one_git_would_write_and_git_can_read_it(ws: Workspace) -> None:
    for data in (b"", b"text\n", bytes(range(256)) * 100):
        sha = objects.write(ws, "blob", data)
        assert objects.write(ws, "blob", data) == sha
        done = subprocess.run(
            ["git", "hash-object", "--stdin"], input=data, cwd=ws.root, capture_output=True, check=True
        )
        assert done.stdout.decode().strip() == sha
        assert ws.git.run("cat-file", "blob", sha).out == data


def test_many_objects_are_read_at_once_and_what_is_missing_is_left_out(ws: Workspace) -> None:
    names = ["HEAD:README.md", "HEAD:no such file", "0" * 40, "HEAD:inbox.md"]
    found = objects.read(ws, names)
    assert list(found) == ["HEAD:README.md", "HEAD:inbox.md"]
    assert found["HEAD:inbox.md"] == (ws.root / "inbox.md").read_bytes()


def test_text_that_is_no_utf_8_comes_back_as_it_was(ws: Workspace) -> None:
    sha = objects.write(ws, "blob", b"caf\xe9\n")
    assert objects.write_text(ws, objects.texts(ws, [sha])[sha]) == sha
