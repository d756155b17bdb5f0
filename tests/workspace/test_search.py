"""Search: the same answer from git grep, from the index and from a plain look at every file."""

import contextlib
import fcntl
import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cohabit.errors import BadArgs, PermissionDenied
from cohabit.workspace.clone.tree import is_git
from cohabit.workspace.searching import finder as finder_module
from cohabit.workspace.searching import mirror as mirror_module
from cohabit.workspace.searching import search, watch
from cohabit.workspace.searching.index import Index
from cohabit.workspace.searching.mirror import Mirror
from cohabit.workspace.searching.search import Found, Match
from cohabit.workspace.workspace import Workspace


def by_hand(root: Path, wanted: bytes) -> list[Match]:
    """What a search has to find, by the plainest way there is."""
    found: list[Match] = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not is_git(name) and not os.path.islink(os.path.join(folder, name))]
        for name in names:
            place = Path(folder, name)
            path = str(place.relative_to(root))
            if place.is_symlink() or not place.is_file() or not search.reachable(path):
                continue
            content = place.read_bytes()
            if b"\0" not in content[:8000]:
                for number, line in enumerate(content.split(b"\n"), 1):
                    if wanted in line:
                        found.append(search.match(path, number, line, wanted))
    return sorted(found, key=lambda match: (match["path"], match["line"]))


@pytest.fixture
def ws(tmp_path: Path) -> Iterator[Workspace]:
    subprocess.run(["git", "init", "-q", tmp_path / "board"], check=True)
    made = Workspace("board", tmp_path / "board", "")
    yield made
    made.close()


def plain(ws: Workspace, query: str, *paths: str, limit: int = 500) -> Found:
    with ws.held():
        return search.grep(ws, search.needle(query), search.scope(paths), limit)


def indexed(ws: Workspace, query: str, *paths: str, limit: int = 500) -> Found:
    ws.finder.start()
    ws.finder.wait()
    with ws.held():
        found = ws.finder._indexed(search.needle(query), search.scope(paths), limit)
    assert found is not None
    return found


WAYS = pytest.mark.parametrize("way", [plain, indexed])


# -- what is found -------------------------------------------------------------------------------------
@WAYS
def test_lines_are_found_in_tracked_untracked_ignored_and_hidden_files_in_order_of_path(ws: Workspace, way) -> None:
    for path in ("b/tracked.md", "untracked.md", "ignored.log", ".hidden/x", "a-b/x", "a/x"):
        ws.tree.write(path, b"one\nthe word\n")
    ws.tree.write(".gitignore", b"*.log\n")
    subprocess.run(["git", "-C", ws.root, "add", "b"], check=True)
    found = way(ws, "word")
    assert [match["path"] for match in found.matches] == [
        ".hidden/x", "a-b/x", "a/x", "b/tracked.md", "ignored.log", "untracked.md",
    ]  # fmt: skip
    assert found.matches[0] == {"path": ".hidden/x", "line": 2, "text": "the word"}
    assert not found.more


@WAYS
def test_a_search_is_literal_and_minds_case(ws: Workspace, way) -> None:
    ws.tree.write("x", b"a.c\nabc\nA.C\n-e\n\\d+ [x] $\n")
    assert [match["line"] for match in way(ws, "a.c").matches] == [1]
    assert [match["line"] for match in way(ws, "-e").matches] == [4]
    assert [match["line"] for match in way(ws, "\\d+ [x] $").matches] == [5]
    assert [match["line"] for match in way(ws, '"').matches] == []


@WAYS
def test_links_are_not_followed_and_git_is_not_searched(ws: Workspace, tmp_path: Path, way) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "f").write_bytes(b"word\n")
    ws.tree.write("real/f", b"word\n")
    for name, target in {"out": "../outside", "file": "../outside/f", "loop": ".", "again": "real"}.items():
        (ws.root / name).symlink_to(target)
    (ws.root / ".git" / "f").write_bytes(b"word\n")
    (ws.root / "real" / ".git").mkdir()
    (ws.root / "real" / ".git" / "f").write_bytes(b"word\n")
    (ws.root / "real" / ".GIT").mkdir()
    (ws.root / "real" / ".GIT" / "f").write_bytes(b"word\n")
    os.mkfifo(ws.root / "fifo")
    assert [match["path"] for match in way(ws, "word").matches] == ["real/f"]
    for path in ("out", "out/f", "file", "loop/real", "again"):
        assert way(ws, "word", path).matches == []


@WAYS
def test_binary_files_are_skipped_and_attributes_of_a_repository_hide_nothing(ws: Workspace, way) -> None:
    ws.tree.write("image.png", b"\x89PNG\0word\n")
    ws.tree.write("note.md", b"word\n")
    ws.tree.write("late.txt", b"x" * 9_000 + b"\n\0 word\nafter word\n")
    ws.tree.write(".gitattributes", b"* binary\n*.png diff\n")
    assert [(match["path"], match["line"]) for match in way(ws, "word").matches] == [
        ("late.txt", 2), ("late.txt", 3), ("note.md", 1),
    ]  # fmt: skip


@WAYS
def test_bytes_that_are_no_text_do_not_stop_a_search(ws: Workspace, way) -> None:
    ws.tree.write("latin1.md", "Größe: groß\n".encode("latin-1") + "Größe: word\n".encode())
    assert way(ws, "word").matches == [{"path": "latin1.md", "line": 2, "text": "Größe: word"}]
    assert [match["line"] for match in way(ws, "Größe").matches] == [2]
    assert [match["line"] for match in way(ws, "ö").matches] == [2]
    assert way(ws, "Gr").matches[0]["text"] == "Gr\ufffd\ufffde: gro\ufffd"


@WAYS
def test_only_the_paths_asked_for_are_searched_and_missing_ones_ignored(ws: Workspace, way) -> None:
    for path in ("a/x", "a/b/x", "ab/x", "c", "*"):
        ws.tree.write(path, b"word\n")
    assert [match["path"] for match in way(ws, "word", "a", "a/b/", "./c", "missing").matches] == ["a/b/x", "a/x", "c"]
    assert [match["path"] for match in way(ws, "word", "*").matches] == ["*"]
    assert way(ws, "word", "missing").matches == []
    assert len(way(ws, "word", ".").matches) == 5
    assert len(way(ws, "word", ":(top)").matches) == 0


@WAYS
def test_a_search_stops_after_so_many_matches_and_says_so(ws: Workspace, way) -> None:
    ws.tree.write("a", b"word word\n" * 3)
    ws.tree.write("b", b"word\n" * 3)
    assert [(m["path"], m["line"]) for m in way(ws, "word", limit=4).matches] == [
        ("a", 1),
        ("a", 2),
        ("a", 3),
        ("b", 1),
    ]
    assert way(ws, "word", limit=4).more
    assert not way(ws, "word", limit=6).more
    assert way(ws, "word", limit=2).more


@WAYS
def test_a_long_line_is_cut_around_the_match(ws: Workspace, way) -> None:
    ws.tree.write("min.js", b"\n" + "é".encode() * 5_000 + b"word" + b"y" * 5_000 + b"\nword\r\n")
    first, second = way(ws, "word").matches
    assert "word" in first["text"]
    assert first["text"][0] == first["text"][-1] == "…"
    assert len(first["text"]) <= search.LONGEST_LINE + 2
    assert second["text"] == "word"


@WAYS
def test_a_name_that_read_would_not_take_is_not_found_either(ws: Workspace, way) -> None:
    for name in (b"a\nb", b"tab\there", b"back\\slash", b"\xff\xfe", b"fine", b"c:d"):
        with open(os.fsencode(ws.root) + b"/" + name, "wb") as file:
            file.write(b"word\n")
    assert [match["path"] for match in way(ws, "word").matches] == ["fine"]


@pytest.mark.parametrize("query", ["", "a\nb", "a\0b", "\udc80", "x" * 1_001])
def test_a_query_that_no_line_can_contain_is_refused(query: str) -> None:
    with pytest.raises(BadArgs, match="query"):
        search.needle(query)


@pytest.mark.parametrize("path", ["/etc", "../x", ".git", "a/.git/x", "x\0y"])
def test_a_path_outside_is_refused(path: str) -> None:
    with pytest.raises(BadArgs):
        search.scope(["fine", path])


# -- the index is what the tree is -----------------------------------------------------------------------
WORDS = [b"alpha", b"beta\n", b"gamma ", b"al", b"\n", "ö".encode(), b"\xff", b"\0", b'"q"', b"x" * 50]
CONTENT = st.lists(st.sampled_from(WORDS), max_size=6).map(b"".join)
PLACE = st.sampled_from(["a", "b", "b/a", "b/b", "c", "c/a"])
QUERIES = [b"alpha", b"beta", b"al", b"a", "ö".encode(), b'"q"', b"xxxx", b"gamma alpha", b"lphabeta"]
STEP = st.tuples(
    st.sampled_from(["write", "append", "edit"]) | st.sampled_from(["write", "append", "edit", "rename", "twin"])
    | st.sampled_from(["delete", "mkdir", "link", "away", "back"]),
    PLACE, PLACE, CONTENT,
)  # fmt: skip


class Neighbour:
    """Somebody else on the machine, who changes files in every way there is, without asking."""

    def __init__(self, root: Path, outside: Path) -> None:
        self.root = root
        self.outside = outside

    def act(self, what: str, here: str, there: str, content: bytes) -> None:
        with contextlib.suppress(OSError):  # what cannot be done is not done
            getattr(self, what)(self.root / here, self.root / there, content)

    def write(self, here: Path, there: Path, content: bytes) -> None:
        here.parent.mkdir(parents=True, exist_ok=True)
        here.write_bytes(content)

    def append(self, here: Path, there: Path, content: bytes) -> None:
        with here.open("ab") as file:
            file.write(content)

    def edit(self, here: Path, there: Path, content: bytes) -> None:
        """In place, without changing its length or the time that a program can set."""
        before = here.stat()
        with here.open("r+b") as file:
            file.write(content[: before.st_size])
        os.utime(here, ns=(before.st_atime_ns, before.st_mtime_ns))

    def rename(self, here: Path, there: Path, content: bytes) -> None:
        here.rename(there)

    def delete(self, here: Path, there: Path, content: bytes) -> None:
        shutil.rmtree(here) if here.is_dir() and not here.is_symlink() else here.unlink()

    def mkdir(self, here: Path, there: Path, content: bytes) -> None:
        here.mkdir(parents=True)
        (here / "new").write_bytes(content)

    def link(self, here: Path, there: Path, content: bytes) -> None:
        here.symlink_to(there)

    def twin(self, here: Path, there: Path, content: bytes) -> None:
        """A second name, and a change through it."""
        os.link(here, there)
        there.write_bytes(content)

    def away(self, here: Path, there: Path, content: bytes) -> None:
        """Out of the workspace, and changed there."""
        here.rename(self.outside / "x")
        (self.outside / "x" / "new").write_bytes(content)

    def back(self, here: Path, there: Path, content: bytes) -> None:
        (self.outside / "x").rename(here)
        here.write_bytes(content)


@pytest.mark.parametrize("watching", [True, False])
def test_the_index_finds_what_is_there_whatever_the_neighbour_does(
    watching: bool,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    need: Callable[[str], Path],
) -> None:
    if watching:
        need("inotify")
    else:
        monkeypatch.setattr(mirror_module, "is_local", lambda root: False)
    monkeypatch.setattr(mirror_module, "LARGEST", 120)

    @settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(st.tuples(STEP, st.booleans()), max_size=24), st.integers(0, 24))
    def check(steps: list, reopen_at: int) -> None:
        top = tmp_path_factory.mktemp("world")
        (top / "root" / ".git" / "cohabit").mkdir(parents=True)
        (top / "outside").mkdir()
        tree = mirror_module.Tree(top / "root")
        database = top / "root" / ".git" / "cohabit" / "search.db"
        neighbour = Neighbour(top / "root", top / "outside")
        for path in ("a", "b/a", "b/b"):
            neighbour.act("write", path, "", b"alpha\n")
        mirror = Mirror(tree, database)
        try:
            for at, (step, now) in enumerate(steps):
                neighbour.act(*step)
                if at == reopen_at:
                    mirror.close()
                    mirror = Mirror(tree, database)
                if now or at == len(steps) - 1:
                    for wanted in QUERIES:
                        found = mirror.find(wanted, None, 500)
                        assert found is not None
                        assert found.matches == by_hand(top / "root", wanted)
            assert not steps or (mirror._watch is not None) == watching
        finally:
            mirror.close()
            shutil.rmtree(top)

    check()


@pytest.fixture
def mirror(ws: Workspace) -> Iterator[Mirror]:
    made = Mirror(ws.tree, ws.own / "search.db")
    yield made
    made.close()


def paths(found: Found | None) -> list[str]:
    assert found is not None
    return [str(match["path"]) for match in found.matches]


def test_a_change_through_another_name_of_a_file_is_seen(ws: Workspace, mirror: Mirror, tmp_path: Path) -> None:
    ws.tree.write("a", b"alpha\n")
    ws.tree.write("folder/x", b"beta\n")
    (tmp_path / "outside").write_bytes(b"gamma\n")
    assert paths(mirror.find(b"alpha", None, 9)) == ["a"]
    os.link(ws.root / "a", ws.root / "folder" / "b")
    os.link(tmp_path / "outside", ws.root / "c")
    (ws.root / "folder" / "b").write_bytes(b"delta\n")
    assert paths(mirror.find(b"delta", None, 9)) == ["a", "folder/b"]
    (tmp_path / "outside").write_bytes(b"epsilon\n")
    assert paths(mirror.find(b"epsilon", None, 9)) == ["c"]


def test_an_editor_that_keeps_a_file_open_and_changes_it_in_place_is_seen(ws: Workspace, mirror: Mirror) -> None:
    ws.tree.write("a", b"alpha\n")
    assert paths(mirror.find(b"alpha", None, 9)) == ["a"]
    with (ws.root / "a").open("r+b", buffering=0) as file:
        for word in (b"gamma\n", b"delta\n"):
            file.seek(0)
            file.write(word)
            assert paths(mirror.find(word[:-1], None, 9)) == ["a"]
        file.truncate(2)
        assert paths(mirror.find(b"delta", None, 9)) == []


def test_an_index_of_an_earlier_process_is_compared_with_the_tree_before_it_answers(ws: Workspace) -> None:
    ws.tree.write("a", b"alpha\n")
    ws.tree.write("b", b"alpha\n")
    first = Mirror(ws.tree, ws.own / "search.db")
    assert paths(first.find(b"alpha", None, 9)) == ["a", "b"]
    first.close()
    ws.tree.write("a", b"gamma\n")
    ws.tree.remove("b")
    second = Mirror(ws.tree, ws.own / "search.db")
    assert paths(second.find(b"alpha", None, 9)) == []
    assert paths(second.find(b"gamma", None, 9)) == ["a"]
    second.close()


def test_a_stamp_is_believed_only_if_the_file_is_older_than_the_look_at_it(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x")
    info = (tmp_path / "a").stat()
    assert mirror_module._stamp(info, info.st_ctime_ns) == mirror_module.UNSURE
    assert mirror_module._stamp(info, info.st_ctime_ns + 1) != mirror_module.UNSURE


def test_two_processes_share_an_index_and_neither_sees_what_is_gone(ws: Workspace, mirror: Mirror) -> None:
    other = Mirror(ws.tree, ws.own / "search.db")
    for content in (b"alpha\n", b"beta\n", b"gamma\n"):
        ws.tree.write("a", content)
        ws.tree.write(f"folder/{content[:2].decode()}", content)
        for each in (mirror, other):
            assert len(paths(each.find(content[:-1], None, 9))) == 2
    assert paths(mirror.find(b"alpha", None, 9)) == paths(other.find(b"alpha", None, 9)) == ["folder/al"]
    ws.tree.write("folder/ga", b"alpha gamma\n")
    assert paths(other.find(b"alpha", None, 9)) == ["folder/al", "folder/ga"]
    assert paths(mirror.find(b"alpha", None, 9)) == ["folder/al", "folder/ga"]
    other.close()


def test_what_git_does_to_the_files_is_seen(ws: Workspace, mirror: Mirror) -> None:
    def git(*args: str) -> None:
        author = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
        subprocess.run(["git", "-C", ws.root, *author, *args], check=True, capture_output=True)

    ws.tree.write("a", b"alpha\n")
    git("add", "-A")
    git("commit", "-m", "one")
    git("checkout", "-q", "-b", "other")
    ws.tree.write("a", b"beta\n")
    ws.tree.write("new/b", b"alpha\n")
    git("add", "-A")
    git("commit", "-m", "two")
    assert paths(mirror.find(b"alpha", None, 9)) == ["new/b"]
    git("checkout", "-q", "-")
    assert paths(mirror.find(b"alpha", None, 9)) == ["a"]
    git("checkout", "-q", "other")
    assert paths(mirror.find(b"alpha", None, 9)) == ["new/b"]


def test_a_tree_that_changed_much_is_left_to_the_background(ws: Workspace, mirror: Mirror) -> None:
    for number in range(mirror_module.FEW + 1):
        ws.tree.write(f"f{number}", b"alpha\n")
    assert mirror.find(b"alpha", None, 99) is None
    assert mirror.read_some(30) == 3
    assert len(paths(mirror.find(b"alpha", None, 99))) == mirror_module.FEW + 1


def test_work_that_is_broken_off_in_the_middle_is_done_again(
    ws: Workspace, mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    ws.tree.write("a", b"alpha\n")
    assert paths(mirror.find(b"alpha", None, 9)) == ["a"]
    for name in ("a", "b"):
        ws.tree.write(name, b"gamma\n")
    real = Index.put

    def interrupted(index: Index, path: str, *rest: Any) -> None:
        if path == "b":
            raise KeyboardInterrupt
        real(index, path, *rest)

    monkeypatch.setattr(Index, "put", interrupted)
    with pytest.raises(KeyboardInterrupt):
        mirror.find(b"gamma", None, 9)
    monkeypatch.undo()
    assert paths(mirror.find(b"gamma", None, 9)) == ["a", "b"]
    assert paths(mirror.find(b"alpha", None, 9)) == []


def test_events_that_overflow_and_a_watch_that_is_refused_cost_time_but_no_match(
    ws: Workspace, mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    ws.tree.write("a", b"alpha\n")
    assert paths(mirror.find(b"alpha", None, 9)) == ["a"]
    ws.tree.write("b", b"alpha\n")
    overflow = watch.EVENT.pack(-1, watch.OVERFLOW, 0, 0)
    lost = iter([overflow])
    monkeypatch.setattr(watch.Watch, "_read", lambda self: next(lost, b""))
    assert paths(mirror.find(b"alpha", None, 9)) == ["a", "b"]

    def refuse(*_: object) -> None:
        raise OSError(28, "no more watches")

    monkeypatch.setattr(watch.Watch, "add", refuse)
    mirror._look()
    assert mirror._watch is None
    ws.tree.write("c", b"alpha\n")
    assert paths(mirror.find(b"alpha", None, 9)) == ["a", "b", "c"]


# -- when there is an index ------------------------------------------------------------------------------
def test_a_slow_search_makes_an_index_for_the_next_one(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finder_module, "SLOW_SECONDS", -1.0)
    ws.tree.write("a", b"alpha\n")
    with ws.held():
        assert paths(ws.finder.find(b"alpha", None, 9)) == ["a"]
    ws.finder.wait()
    monkeypatch.setattr(finder_module, "grep", lambda *_: pytest.fail("git was asked"))
    with ws.held():
        assert paths(ws.finder.find(b"alpha", None, 9)) == ["a"]
        ws.tree.write("b", b"alpha\n")
        assert paths(ws.finder.find(b"alpha", None, 9)) == ["a", "b"]


def test_a_quick_search_makes_none(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finder_module, "SLOW_SECONDS", 1e9)
    ws.tree.write("a", b"alpha\n")
    with ws.held():
        ws.finder.find(b"alpha", None, 9)
    ws.finder.wait()
    assert not (ws.own / "search.db").exists()


@pytest.mark.parametrize("harm", ["cut", "noise", "schema", "version"])
def test_a_broken_index_is_thrown_away_and_made_anew(ws: Workspace, harm: str) -> None:
    ws.tree.write("a", b"alpha\n" * 5_000)
    database = ws.own / "search.db"
    assert paths(indexed(ws, "alpha", limit=1)) == ["a"]
    ws.finder.close()
    if harm == "cut":
        os.truncate(database, 5_000)
    elif harm == "noise":
        database.write_bytes(b"SQLite format 3\0" + os.urandom(20_000))
    else:
        import sqlite3

        broken = sqlite3.connect(database)
        broken.execute("DROP TABLE lines" if harm == "schema" else "PRAGMA user_version = 99")
        broken.commit()
        broken.close()
    again = Workspace("board", ws.root, "")
    with again.held():
        assert paths(again.finder.find(b"alpha", None, 1)) == ["a"]
    assert paths(indexed(again, "alpha", limit=1)) == ["a"]
    again.close()


def test_an_index_that_cannot_be_made_is_not_tried_for_ever(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirror_module, "MOST_FILES", 1)
    ws.tree.write("a", b"alpha\n")
    ws.tree.write("b", b"alpha\n")
    for _ in range(5):
        ws.finder.start()
        ws.finder.wait()
        with ws.held():
            assert paths(ws.finder.find(b"alpha", None, 9)) == ["a", "b"]
    assert ws.finder._troubles == finder_module.MOST_TROUBLES
    assert not (ws.own / "search.db").exists()


def test_only_file_systems_of_this_kernel_are_watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = (
        "1 0 8:1 / / rw - ext4 /dev/root rw\n"
        f"2 1 0:9 / {str(tmp_path).replace(' ', chr(92) + '040')} rw,relatime shared:1 - nfs4 server:/x rw\n"
        f"3 1 0:9 / {tmp_path}/disk rw - xfs /dev/sdb rw\n"
    )
    (tmp_path / "mountinfo").write_text(mounts)
    real = Path

    monkeypatch.setattr(watch, "Path", lambda path: real(tmp_path / "mountinfo"))
    assert not watch.is_local(tmp_path / "board")
    assert watch.is_local(tmp_path / "disk" / "board")
    assert watch.is_local(real("/srv/board"))


def test_a_line_longer_than_all_that_git_may_print_is_cut_and_does_not_hold_up_anything(board):
    ws = board()
    ws.tree.write("long.md", b"needle" + b"y" * (search.MOST_BYTES + 1000))
    found = search.grep(ws, b"needle", None, 10)
    assert found.more
    assert found.matches == []


def test_closing_does_not_wait_for_another_process_that_holds_the_clone(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits, held = threading.Event(), ws.lock.held

    def noted(*seconds: float) -> contextlib.AbstractContextManager[None]:
        waits.set()
        return held(*seconds)

    monkeypatch.setattr(ws.lock, "held", noted)
    with open(ws.own / "lock", "rb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        ws.finder.start()
        waits.wait()
        closing = threading.Thread(target=ws.finder.close)
        closing.start()
        closing.join(10)
        assert not closing.is_alive()


@pytest.mark.parametrize("wrong", [PermissionDenied("its configuration starts programs"), OSError(5, "disk")])
def test_a_clone_that_is_not_to_be_used_ends_the_work_in_the_background_quietly(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch, wrong: Exception
) -> None:
    def refuse(seconds: float) -> None:
        raise wrong

    loud: list[object] = []
    monkeypatch.setattr(threading, "excepthook", loud.append)
    monkeypatch.setattr(ws.lock, "held", refuse)
    ws.finder.start()
    ws.finder.wait()
    assert not loud
