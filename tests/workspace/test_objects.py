"""Objects that are written without git are exactly those that git writes."""

import subprocess
from collections.abc import Callable, Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.examples import examples

from cohabit.errors import GitFailed
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
    """The tree that git makes of these files."""
    index = {"GIT_INDEX_FILE": str(ws.state_folder / "index.test")}
    rows = "".join(f"{entry.mode} {entry.sha}\t{path}\0" for path, entry in files.items())
    ws.git.run("read-tree", "--empty", environ=index)
    if rows:
        ws.git.run("update-index", "-z", "--index-info", stdin=rows.encode(), environ=index)
    return ws.git.run("write-tree", environ=index).line


def without_clashes(paths: list[str]) -> list[str]:
    """Without paths that are a folder of another path."""
    return [path for path in paths if not any(other.startswith(f"{path}/") for other in paths)]


@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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


def test_many_objects_are_read_at_once_and_missing_ones_are_left_out(ws: Workspace) -> None:
    names = ["HEAD:README.md", "HEAD:no such file", "0" * 40, "HEAD:inbox.md"]
    found = objects.read(ws, names)
    assert list(found) == ["HEAD:README.md", "HEAD:inbox.md"]
    assert found["HEAD:inbox.md"] == (ws.root / "inbox.md").read_bytes()


def test_text_that_is_not_utf_8_is_kept(ws: Workspace) -> None:
    sha = objects.write(ws, "blob", b"caf\xe9\n")
    assert objects.write_text(ws, objects.texts(ws, [sha])[sha]) == sha


def test_a_name_with_a_newline_is_read_as_any_other_and_a_missing_one_confuses_nothing(ws: Workspace) -> None:
    tree = git_tree(ws, {"x\ny/one": Entry("100644", objects.write_text(ws, "1\n"))})
    names = [f"{tree}:x\ny/two", f"{tree}:x\ny/one", f"{tree}:\n", f"{tree}:\n blob 3", "HEAD:inbox.md"]
    assert list(objects.read(ws, names)) == [names[1], names[4]]


@pytest.mark.parametrize("character", ["\u2028", "\x0b", "\x0c", "\x1c", "\x85", "\r"])
def test_a_missing_name_with_any_line_break_confuses_no_large_text(ws: Workspace, character: str) -> None:
    objects.TEXTS.clear()
    written = {f"{letter}.md": letter * objects.LARGE for letter in "abc"}
    tree = objects.with_entries(
        ws,
        objects.EMPTY_TREE,
        {path: Entry("100644", objects.write(ws, "blob", text.encode())) for path, text in written.items()},
    )
    (ws.root / "a.md").write_text("x" * objects.LARGE)
    names = [f"{tree}:{path}" for path in (f"0{character}1.md", *written)]
    for _ in range(2):
        assert objects.texts(ws, names) == {f"{tree}:{path}": text for path, text in written.items()}
    for text in written.values():
        sha = objects.sha_of("blob", text.encode())
        assert objects.texts(ws, [sha]) == {sha: text}


def test_a_change_in_a_folder_with_an_unusual_name_keeps_its_other_files(ws: Workspace) -> None:
    one, two, new = (Entry("100644", objects.write_text(ws, text)) for text in ("1", "2", "new"))
    for folder in ("x\ny", "a b", "x\ny/deep\n/er", "-", "é\t", '"', "^{tree}"):
        tree = git_tree(ws, {f"{folder}/one": one, f"{folder}/two": two})
        changed = objects.with_entries(ws, tree, {f"{folder}/one": new})
        assert changed == git_tree(ws, {f"{folder}/one": new, f"{folder}/two": two})


def test_a_missing_folder_object_is_an_error_and_never_an_empty_folder(ws: Workspace) -> None:
    lost = objects.sha_of("tree", b"100644 gone\0" + bytes(20))
    top = objects.write(ws, "tree", objects.format_tree({"drafts": Entry(objects.FOLDER_MODE, lost)}))
    new = Entry("100644", objects.write_text(ws, "new"))
    for tree, path in ((top, "drafts/new"), ("0" * 40, "new")):
        with pytest.raises(GitFailed, match="git fsck"):
            objects.with_entries(ws, tree, {path: new})


def test_a_folder_whose_mode_an_old_git_wrote_with_a_zero_is_a_folder(ws: Workspace) -> None:
    old = Entry("100644", objects.write_text(ws, "old"))
    inner = objects.write(ws, "tree", objects.format_tree({"old": old}))
    top = objects.write(ws, "tree", b"040000 drafts\0" + bytes.fromhex(inner))
    assert objects.with_entries(ws, top, {"drafts/new": old}) == git_tree(ws, {"drafts/old": old, "drafts/new": old})
