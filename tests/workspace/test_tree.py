"""Paths of an agent, and what a pulled repository or another process may have put there."""

import os
import socket
import stat
from pathlib import Path
from posixpath import normpath

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cohabit.errors import BadArgs, CohabitError, PermissionDenied, StorageFailed, TooLarge
from cohabit.workspace.clone import tree as module
from cohabit.workspace.clone.tree import Entry, Tree, is_git, names_of

SECRET = b"SECRET"
GITS = [
    ".git", ".GIT", ".Git", ".git.", ".git ", ".git. .", ".git::$INDEX_ALLOCATION", ".git:stream", "GIT~1", "git~1",
    "git~2", ".g\u200cit", ".gi\ufefft", "\u200d.git", ".git\u202e", ".g\u034fit", ".gi\ufe0ft",
    ".\u3164git", ".git\U000e0020", "\uff0egit", ".\uff47\uff49\uff54",
]  # fmt: skip


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    (tmp_path / "root" / ".git").mkdir(parents=True)
    (tmp_path / "root" / ".git" / "config").write_bytes(SECRET)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").write_bytes(SECRET)
    return Tree(tmp_path / "root")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """Links of every kind, to the outside and into ``.git``, with short names that random tests find."""
    top = tmp_path_factory.mktemp("hostile")
    root = top / "r"
    (root / ".git").mkdir(parents=True)
    (root / ".git" / "config").write_bytes(SECRET)
    (root / "sub" / ".git").mkdir(parents=True)
    (root / "sub" / ".git" / "x").write_bytes(SECRET)
    (top / "x").write_bytes(SECRET)
    (root / "a").mkdir()
    (root / "a" / "x").write_bytes(b"fine")
    for name, target in {
        "up": "..", "abs": str(top), "git": ".git", "gitx": ".git/config", "out": "../x", "self": "self",
        "root": ".", "dangling": "../new", "deep": "a/../..",
    }.items():  # fmt: skip
        (root / name).symlink_to(target)
        (root / "a" / name).symlink_to("../" + target if not target.startswith("/") else target)
    os.mkfifo(root / "fifo")
    return Tree(root)


# -- names -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("path", ["/etc/passwd", "\\\\host\\share", "C:/x", "c:", "~", "~/.ssh/id", "//a"])
def test_an_absolute_path_is_refused(path: str) -> None:
    with pytest.raises(BadArgs, match="absolute paths are not allowed"):
        names_of(path)


@pytest.mark.parametrize("path", ["..", "../x", "a/../x", "a/..", "./../x", "a//../.."])
def test_a_path_that_goes_up_is_refused(path: str) -> None:
    with pytest.raises(BadArgs, match="path escapes workspace root"):
        names_of(path)


@pytest.mark.parametrize("name", GITS)
def test_names_that_a_file_system_may_take_for_git_are_refused_at_every_level(name: str) -> None:
    for path in (name, f"{name}/config", f"a/{name}/hooks/x", f"./{name}"):
        with pytest.raises(BadArgs, match=r"cannot be accessed|not allowed in file names"):
            names_of(path)


@pytest.mark.parametrize(
    "name",
    ["..foo", "...", "~$plan.docx", ".gitignore", ".gitattributes", "git", "a.git", "git~", "Größe.md", "👩‍💻.md",
     "3.04\u202fPM.png", "-rf", ":(top)x", "*", "a b"],
)  # fmt: skip
def test_a_valid_name_can_be_written_and_read(tree: Tree, name: str) -> None:
    assert names_of(f"./a//{name}/") == ("a", name)
    tree.write(f"a/{name}", b"x")
    assert tree.read(f"a/{name}") == b"x"


@pytest.mark.parametrize("path", ["a\0b", "a\nb", "a\x1bb", "a\x7f", "a\u2028b", "a\\b", "a\udc80b", "x" * 1025])
def test_a_path_that_no_answer_could_show_is_refused(path: str) -> None:
    with pytest.raises(BadArgs):
        names_of(path)


@example("./a//b/.")
@given(st.text(max_size=40) | st.text(alphabet="./~:\\ gitGIT1ab\0\u200c", max_size=24))
def test_any_path_is_refused_or_stays_inside(path: str) -> None:
    try:
        names = names_of(path)
    except BadArgs as refused:
        assert refused.message
        return
    assert ("/".join(names) or ".") == normpath(path or ".")
    assert not any(name in ("", ".", "..") or "/" in name or "\0" in name or is_git(name) for name in names)


# -- hostile trees -----------------------------------------------------------------------------------
NAMES = ["a", "x", "up", "abs", "git", "gitx", "out", "self", "root", "dangling", "deep", "fifo", "sub", ".git", "config",
         "..", ".", "", "r", "new"]  # fmt: skip


@given(st.lists(st.sampled_from(NAMES), min_size=1, max_size=6).map("/".join))
@example("up/x")
@example("root/a/x")
@example("a/abs/x")
def test_no_path_reads_lists_writes_or_removes_anything_outside(hostile: Tree, path: str) -> None:
    top = hostile.root.parent
    for act in (hostile.read, hostile.size, hostile.text):
        try:
            assert SECRET not in str(act(path)).encode()
        except (CohabitError, FileNotFoundError) as refused:
            assert str(top) not in str(refused)
    try:
        listed = {entry.name for entry in hostile.entries(path)}
        assert (hostile.root / path).resolve() == hostile.root / "/".join(names_of(path))
        assert listed == set(os.listdir(hostile.root / path)) - {".git"}
    except (CohabitError, FileNotFoundError):
        pass
    for act in (hostile.write, hostile.append):
        try:
            act(f"{path}/made", b"x")
        except (CohabitError, FileNotFoundError):
            continue
        assert (hostile.root / "/".join(names_of(path)) / "made").read_bytes()
        hostile.remove(f"{path}/made")
    assert sorted(os.listdir(top)) == ["r", "x"]
    assert (top / "x").read_bytes() == (hostile.root / ".git" / "config").read_bytes() == SECRET


@pytest.mark.parametrize("path", ["fifo", "socket", "device", "folder"])
def test_a_file_that_is_not_plain_is_neither_read_nor_written_and_nothing_blocks(
    tree: Tree, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tree.root)
    os.mkfifo("fifo")
    (tree.root / "folder").mkdir()
    (tree.root / "device").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        for act in (tree.read, tree.size, lambda p: tree.write(p, b"x"), lambda p: tree.append(p, b"x")):
            with pytest.raises(BadArgs, match=path):
                act(path)
    kinds = {entry.name: entry for entry in tree.entries("")}
    assert kinds["folder"].type == "dir"
    assert [kinds[name] for name in ("fifo", "socket", "device")] == [
        Entry(name, "other", 0) for name in ("fifo", "socket", "device")
    ]


def test_a_fifo_with_a_reader_is_not_appended_to(tree: Tree) -> None:
    os.mkfifo(tree.root / "fifo")
    reader = os.open(tree.root / "fifo", os.O_RDONLY | os.O_NONBLOCK)
    try:
        with pytest.raises(BadArgs, match="not a plain file"):
            tree.append("fifo", b"x")
        assert os.read(reader, 1) == b""
    finally:
        os.close(reader)


def test_a_link_that_takes_a_folders_place_between_two_steps_is_not_followed(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process replaces ``a`` by a link after it was opened, and ``a/b`` before it is."""
    tree.write("a/b/file", b"fine")
    real = os.open

    def swapping(name, flags, *args, **more):
        fd = real(name, flags, *args, **more)
        if name == "a":
            os.rename(tree.root / "a", tree.root / "was")
            (tree.root / "a").symlink_to("../outside")
            os.rename(tree.root / "was" / "b", tree.root / "was" / "c")
            (tree.root / "was" / "b").symlink_to("../../outside")
        return fd

    monkeypatch.setattr(module.os, "open", swapping)
    with pytest.raises(BadArgs, match="links are not followed"):
        tree.read("a/b/file")


def test_a_write_does_not_go_through_a_hard_link(tree: Tree) -> None:
    os.link(tree.root.parent / "outside" / "file", tree.root / "twin")
    with pytest.raises(BadArgs, match="hard link"):
        tree.append("twin", b"more")
    tree.write("twin", b"mine")
    assert (tree.root.parent / "outside" / "file").read_bytes() == SECRET


# -- plain work ----------------------------------------------------------------------------------------
def test_a_write_replaces_the_file_whole_and_keeps_its_mode(tree: Tree) -> None:
    tree.write("tools/run.sh", b"one")
    os.chmod(tree.root / "tools" / "run.sh", 0o4755)
    tree.write("tools/run.sh", b"two")
    assert tree.read("tools/run.sh") == b"two"
    assert stat.S_IMODE((tree.root / "tools" / "run.sh").stat().st_mode) == 0o755


def test_a_new_file_follows_the_persons_umask(tree: Tree) -> None:
    before = os.umask(0o077)
    try:
        tree.write("private/note.md", b"x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tree.root / "private" / "note.md").stat().st_mode) == 0o600
    assert stat.S_IMODE((tree.root / "private").stat().st_mode) == 0o700


def test_a_write_that_fails_leaves_the_old_file_and_no_draft(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    tree.write("note.md", b"old")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.os, "replace", full)
    with pytest.raises(StorageFailed, match=r"note\.md: No space left.*; free some space"):
        tree.write("note.md", b"new")
    assert tree.read("note.md") == b"old"
    assert sorted(os.listdir(tree.root)) == [".git", "note.md"]
    assert os.listdir(tree.root / ".git" / "cohabit") == []


def test_an_append_that_does_not_fit_is_undone(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    tree.write("note.md", b"old")
    real = os.write
    monkeypatch.setattr(module.os, "write", lambda fd, data: real(fd, data[:2]))
    with pytest.raises(StorageFailed):
        tree.append("note.md", b"more")
    assert tree.read("note.md") == b"old"


def test_an_append_adds_to_a_file_or_creates_it(tree: Tree) -> None:
    tree.append("a/b/note.md", b"one\n")
    tree.append("a/b/note.md", b"two\n")
    assert tree.text("a/b/note.md") == "one\ntwo\n"


def test_entries_are_sorted_have_sizes_and_leave_out_git(tree: Tree) -> None:
    tree.write("b.md", b"12345")
    tree.write("a/x", b"")
    (tree.root / "link").symlink_to("b.md")
    assert tree.entries(".") == [Entry("a", "dir", 0), Entry("b.md", "file", 5), Entry("link", "other", 0)]


def test_the_error_for_a_missing_file_has_the_given_path(tree: Tree) -> None:
    with pytest.raises(FileNotFoundError) as wrong:
        tree.read("a/b.md")
    assert str(tree.root) not in str(wrong.value)
    assert tree.text("a/b.md") is None


def test_sizes_are_limited(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_WRITE_BYTES", 10)
    monkeypatch.setattr(module, "MAX_FILE_BYTES", 3)
    for act in (tree.write, tree.append):
        with pytest.raises(TooLarge):
            act("note.md", b"x" * 11)
    tree.write("note.md", b"1234")
    with pytest.raises(TooLarge, match=r"note\.md"):
        tree.text("note.md")


@pytest.mark.parametrize("act", ["read", "write", "append", "remove"])
@pytest.mark.parametrize("path", ["", ".", "./", "//."[1:]])
def test_the_root_is_not_a_file(tree: Tree, act: str, path: str) -> None:
    with pytest.raises(BadArgs):
        getattr(tree, act)(path, *([b"x"] if act in ("write", "append") else []))


def test_the_error_for_a_missing_folder_of_a_workspace_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(StorageFailed, match="workspace_init") as wrong:
        Tree(tmp_path / "gone").read("x")
    assert str(tmp_path) not in str(wrong.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_read_permission_is_refused(tree: Tree) -> None:
    tree.write("locked", b"x")
    os.chmod(tree.root / "locked", 0)
    with pytest.raises(PermissionDenied, match="locked"):
        tree.read("locked")


@pytest.mark.parametrize(
    ("there", "new"), [("deck.md", "Deck.md"), ("\u00e9.md", "e\u0301.md"), ("Stra\u00dfe.md", "STRASSE.md")]
)
def test_a_new_name_that_a_mac_takes_for_one_that_is_there_is_refused(tree: Tree, there: str, new: str) -> None:
    tree.write(f"drafts/{there}", b"one")
    with pytest.raises(BadArgs, match="would be the same as"):
        tree.write(f"drafts/{new}", b"two")
    with pytest.raises(BadArgs, match="would be the same as"):
        tree.write("Drafts/other.md", b"two")
    tree.write("other.md", b"two")
    with pytest.raises(BadArgs, match="would be the same as"):
        tree.rename("other.md", f"drafts/{new}")
    tree.write(f"drafts/{there}", b"three")
    tree.rename(f"drafts/{there}", f"drafts/{new}")
    assert [entry.name for entry in tree.entries("drafts")] == [new]


def test_a_name_that_is_too_long_is_the_fault_of_the_caller_and_not_of_the_disk(tree: Tree) -> None:
    with pytest.raises(BadArgs, match="too long"):
        tree.write(f"drafts/{'x' * 300}.md", b"one")
    with pytest.raises(BadArgs, match="too long"):
        tree.write(f"{'x' * 300}/one.md", b"one")
