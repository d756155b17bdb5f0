"""Search: ``git grep`` finds exactly what reading every file finds."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.examples import examples

from cohabit.errors import BadArgs
from cohabit.workspace.clone.tree import is_git
from cohabit.workspace.reading import search
from cohabit.workspace.workspace import Workspace


def expected_matches(root: Path, wanted: bytes) -> list[search.Match]:
    """Every line that a search must find, by reading every file."""
    found: list[search.Match] = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not is_git(name) and not os.path.islink(os.path.join(folder, name))]
        for name in names:
            place = Path(folder, name)
            path = str(place.relative_to(root))
            if place.is_symlink() or not place.is_file() or not search.is_readable(path):
                continue
            content = place.read_bytes()
            if b"\0" not in content[:8000]:
                for number, line in enumerate(content.split(b"\n"), 1):
                    if wanted in line:
                        found.append({"path": path, "line": number, "text": search.excerpt(line, wanted)})
    return sorted(found, key=lambda match: (match["path"], match["line"]))


@pytest.fixture
def ws(tmp_path: Path) -> Iterator[Workspace]:
    subprocess.run(["git", "init", "-q", tmp_path / "board"], check=True)
    made = Workspace("board", tmp_path / "board", "")
    yield made
    made.close()


def answer(ws: Workspace, query: str, *paths: str, limit: int = 500) -> dict[str, Any]:
    with ws.held():
        return search.search(ws, query, paths, limit)


def matches(ws: Workspace, query: str, *paths: str, limit: int = 500) -> list[search.Match]:
    found: list[search.Match] = answer(ws, query, *paths, limit=limit)["matches"]
    return found


def test_lines_are_found_in_tracked_untracked_ignored_and_hidden_files_in_order_of_path(ws: Workspace) -> None:
    for path in ("b/tracked.md", "untracked.md", "ignored.log", ".hidden/x", "a-b/x", "a/x"):
        ws.tree.write(path, b"one\nthe word\n")
    ws.tree.write(".gitignore", b"*.log\n")
    subprocess.run(["git", "-C", ws.root, "add", "b"], check=True)
    found = answer(ws, "word")
    assert [match["path"] for match in found["matches"]] == [
        ".hidden/x", "a-b/x", "a/x", "b/tracked.md", "ignored.log", "untracked.md",
    ]  # fmt: skip
    assert found["matches"][0] == {"path": ".hidden/x", "line": 2, "text": "the word"}
    assert not found["truncated"]


def test_a_search_is_literal_and_case_sensitive(ws: Workspace) -> None:
    ws.tree.write("x", b"a.c\nabc\nA.C\n-e\n\\d+ [x] $\n")
    assert [match["line"] for match in matches(ws, "a.c")] == [1]
    assert [match["line"] for match in matches(ws, "-e")] == [4]
    assert [match["line"] for match in matches(ws, "\\d+ [x] $")] == [5]
    assert [match["line"] for match in matches(ws, '"')] == []


def test_links_are_not_followed_and_git_is_not_searched(ws: Workspace, tmp_path: Path) -> None:
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
    assert [match["path"] for match in matches(ws, "word")] == ["real/f"]
    for path in ("out", "out/f", "file", "loop/real", "again"):
        assert matches(ws, "word", path) == []


def test_binary_files_are_skipped_and_attributes_of_a_repository_hide_nothing(ws: Workspace) -> None:
    ws.tree.write("image.png", b"\x89PNG\0word\n")
    ws.tree.write("note.md", b"word\n")
    ws.tree.write("late.txt", b"x" * 9_000 + b"\n\0 word\nafter word\n")
    ws.tree.write(".gitattributes", b"* binary\n*.png diff\n")
    assert [(match["path"], match["line"]) for match in matches(ws, "word")] == [
        ("late.txt", 2), ("late.txt", 3), ("note.md", 1),
    ]  # fmt: skip


def test_bytes_that_are_not_utf_8_do_not_stop_a_search(ws: Workspace) -> None:
    ws.tree.write("latin1.md", "Größe: groß\n".encode("latin-1") + "Größe: word\n".encode())
    assert matches(ws, "word") == [{"path": "latin1.md", "line": 2, "text": "Größe: word"}]
    assert [match["line"] for match in matches(ws, "Größe")] == [2]
    assert [match["line"] for match in matches(ws, "ö")] == [2]
    assert matches(ws, "Gr")[0]["text"] == "Gr\ufffd\ufffde: gro\ufffd"


def test_only_the_given_paths_are_searched_and_missing_ones_are_ignored(ws: Workspace) -> None:
    for path in ("a/x", "a/b/x", "ab/x", "c", "*"):
        ws.tree.write(path, b"word\n")
    assert [match["path"] for match in matches(ws, "word", "a", "a/b/", "./c", "missing")] == ["a/b/x", "a/x", "c"]
    assert [match["path"] for match in matches(ws, "word", "*")] == ["*"]
    assert matches(ws, "word", "missing") == []
    assert len(matches(ws, "word", ".")) == 5
    assert len(matches(ws, "word", "a", ".")) == 5
    assert len(matches(ws, "word", ":(top)")) == 0


def test_paths_and_queries_that_look_like_options_are_taken_literally(ws: Workspace, tmp_path: Path) -> None:
    ws.tree.write("-O", b"word\n--open-files-in-pager=touch x\n")
    ws.tree.write("other", b"word\n")
    assert [match["path"] for match in matches(ws, "word", "-O")] == ["-O"]
    assert [match["line"] for match in matches(ws, "--open-files-in-pager=touch x")] == [2]
    assert matches(ws, "word", f"--open-files-in-pager=touch {tmp_path.name}") == []


def test_a_search_stops_at_the_limit_and_says_so(ws: Workspace) -> None:
    ws.tree.write("a", b"word word\n" * 3)
    ws.tree.write("b", b"word\n" * 3)
    assert [(m["path"], m["line"]) for m in matches(ws, "word", limit=4)] == [
        ("a", 1),
        ("a", 2),
        ("a", 3),
        ("b", 1),
    ]
    assert answer(ws, "word", limit=4)["truncated"]
    assert not answer(ws, "word", limit=6)["truncated"]
    assert answer(ws, "word", limit=2)["truncated"]


def test_lines_in_files_that_cannot_be_read_do_not_count_towards_the_limit(ws: Workspace) -> None:
    (ws.root / "a\\b.md").write_text("needle\n" * 5)
    (ws.root / "a\nb.md").write_text("needle\n" * 5)
    (ws.root / "z.md").write_text("needle\n" * 2)
    found = search.search(ws, "needle", None, 1)
    assert ([match["path"] for match in found["matches"]], found["truncated"]) == (["z.md"], True)
    found = search.search(ws, "needle", None, 2)
    assert ([match["line"] for match in found["matches"]], found["truncated"]) == ([1, 2], False)


def test_git_is_stopped_after_enough_lines(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    results = []
    run = type(ws.git).run

    def kept(self: Any, *args: str, **options: Any) -> Any:
        results.append(run(self, *args, **options))
        return results[-1]

    for i in range(2_000):
        (ws.root / f"{i:04}.md").write_text("needle and more of it\n" * 50)
    monkeypatch.setattr(type(ws.git), "run", kept)
    found = search.search(ws, "needle", None, 10)
    assert (len(found["matches"]), found["truncated"]) == (10, True)
    [result] = results
    assert result.out.count(b"\n") < 20_000


def test_a_long_line_is_cut_around_the_match(ws: Workspace) -> None:
    ws.tree.write("min.js", b"\n" + "é".encode() * 5_000 + b"word" + b"y" * 5_000 + b"\nword\r\n")
    first, second = matches(ws, "word")
    assert "word" in first["text"]
    assert first["text"][0] == first["text"][-1] == "…"
    assert len(first["text"]) <= search.MAX_LINE_CHARS + 2
    assert second["text"] == "word"


def test_a_name_that_read_does_not_accept_is_not_found_either(ws: Workspace) -> None:
    for name in (b"a\nb", b"tab\there", b"back\\slash", b"\xff\xfe", b"fine", b"c:d"):
        with open(os.fsencode(ws.root) + b"/" + name, "wb") as file:
            file.write(b"word\n")
    assert [match["path"] for match in matches(ws, "word")] == ["fine"]


@pytest.mark.parametrize("query", ["", "a\nb", "a\0b", "\udc80", "x" * 1_001])
def test_a_query_that_no_line_can_contain_is_refused(ws: Workspace, query: str) -> None:
    with pytest.raises(BadArgs, match="query"):
        answer(ws, query)


@pytest.mark.parametrize("path", ["/etc", "../x", ".git", "a/.git/x", "x\0y"])
def test_a_path_outside_is_refused(ws: Workspace, path: str) -> None:
    with pytest.raises(BadArgs):
        answer(ws, "word", "fine", path)


def test_a_line_longer_than_the_output_limit_is_cut_and_does_not_block(board: Callable[[], Workspace]) -> None:
    ws = board()
    ws.tree.write("long.md", b"needle" + b"y" * (search.MAX_OUTPUT_BYTES + 1000))
    found = answer(ws, "needle")
    assert found["truncated"]
    assert found["matches"] == []


WORDS = [b"alpha", b"beta\n", b"gamma ", b"al", b"\n", "ö".encode(), b"\xff", b"\0", b'"q"', b"x" * 50]
CONTENT = st.lists(st.sampled_from(WORDS), max_size=8).map(b"".join)
FILES = st.dictionaries(st.sampled_from(["a", "b/a", "b/b", "c-d", "e e/ö", ".f"]), CONTENT, max_size=5)
QUERIES = ["alpha", "beta", "a", "ö", '"q"', "xxxx", "gamma alpha", "lphabeta"]


def test_git_grep_finds_what_reading_every_file_finds(ws: Workspace) -> None:
    @settings(max_examples=examples(15), deadline=None, suppress_health_check=list(HealthCheck))
    @given(FILES, st.sampled_from(QUERIES))
    def check(files: dict[str, bytes], query: str) -> None:
        for entry in ws.root.iterdir():
            if entry.name != ".git":
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        for path, content in files.items():
            ws.tree.write(path, content)
        assert matches(ws, query) == expected_matches(ws.root, query.encode())

    check()
