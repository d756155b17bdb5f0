"""Diffs are limited, without terminal escapes, and of the requested changes."""

import subprocess

import pytest

from cohabit.errors import BadArgs, TooLarge, UnknownAsset
from cohabit.workspace.clone import commits
from cohabit.workspace.reading import changes
from cohabit.workspace.reading.changes import diff


def committed(ws, path: str, content: str | bytes) -> str:
    ws.tree.write(path, content if isinstance(content, bytes) else content.encode())
    commits.add(ws, [path])
    return commits.commit_index(ws, f"write {path}").sha


def test_without_since_the_diff_has_unstaged_changes(board):
    ws = board()
    committed(ws, "a.md", "one\n")
    committed(ws, "b.md", "one\n")
    assert diff(ws, None, None) == {"diff": "", "truncated": False}
    ws.tree.write("a.md", b"two\n")
    ws.tree.write("b.md", b"two\n")
    commits.add(ws, ["b.md"])
    ws.tree.write("new.md", b"x\n")
    told = diff(ws, None, None)["diff"]
    assert "-one\n+two\n" in told
    assert "b.md" not in told
    assert "new.md" not in told


def test_with_since_the_diff_has_what_was_committed_after_it(board):
    ws = board()
    first = committed(ws, "a.md", "one\n")
    committed(ws, "a.md", "two\n")
    committed(ws, "b.md", "new\n")
    ws.tree.write("a.md", b"in the work tree\n")
    told = diff(ws, first, None)["diff"]
    assert "-one\n+two\n" in told
    assert "+new" in told
    assert "work tree" not in told
    assert "b.md" not in diff(ws, first, ["a.md"])["diff"]
    assert "b.md" in diff(ws, "HEAD~1", ["."])["diff"]


def test_an_unknown_since_says_what_to_do(board):
    ws = board()
    for since in ("nowhere", "d" * 40):
        with pytest.raises(UnknownAsset, match="fetch"):
            diff(ws, since, None)
    committed(ws, "a.md", "one\n")
    for since in ("nowhere", "d" * 40):
        with pytest.raises(UnknownAsset, match="fetch"):
            diff(ws, since, None)
    with pytest.raises(BadArgs):
        diff(ws, "--output=/tmp/x", None)


def test_pages_end_at_the_end_of_a_line_and_add_up_to_the_whole_diff(board, monkeypatch):
    ws = board()
    first = committed(ws, "a.md", "one\n")
    committed(ws, "a.md", "".join(f"line {i} — äöü\n" for i in range(300)))
    whole = diff(ws, first, None)["diff"]
    monkeypatch.setattr(changes, "MAX_DIFF_BYTES", 1_000)
    pages, offset = [], 0
    while offset is not None:
        answer = diff(ws, first, None, offset)
        assert len(answer["diff"].encode()) <= 1_000
        assert answer["diff"].endswith("\n")
        pages.append(answer["diff"])
        offset = answer.get("next_offset")
        assert answer["truncated"] is (offset is not None)
    assert len(pages) > 4
    assert "".join(pages) == whole


def test_a_line_longer_than_a_page_is_cut_between_characters(board, monkeypatch):
    ws = board()
    first = committed(ws, "a.md", "one\n")
    committed(ws, "a.md", "ü" * 3_000 + "\n")
    monkeypatch.setattr(changes, "MAX_DIFF_BYTES", 501)
    text, offset = "", 0
    while offset is not None:
        answer = diff(ws, first, None, offset)
        text, offset = text + answer["diff"], answer.get("next_offset")
    assert "�" not in text
    assert text.count("ü") == 3_000


def test_an_offset_above_the_limit_is_refused(board):
    with pytest.raises(BadArgs, match="fewer paths"):
        diff(board(), None, None, 10**12)


def test_terminal_escapes_in_a_file_do_not_reach_the_reader(board):
    ws = board()
    first = committed(ws, "a.md", "one\n")
    committed(ws, "a.md", "\x1b[2Jcleared\tand tabbed\x07\n")
    assert "+[2Jcleared\tand tabbed\n" in diff(ws, first, None)["diff"]


def test_no_program_that_attributes_name_is_started(board, tmp_path):
    ws = board()
    first = committed(ws, "a.md", "one\n")
    committed(ws, ".gitattributes", "* diff=evil\n")
    committed(ws, "a.md", "two\n")
    for key in ("command", "textconv"):
        subprocess.run(["git", "config", f"diff.evil.{key}", f"touch {tmp_path}/ran;"], cwd=ws.root, check=True)
    assert "+two" in diff(ws, first, None)["diff"]
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", ".git/config", "a/../../b", "~/x"])
def test_paths_that_lead_out_are_refused(board, path):
    with pytest.raises(BadArgs):
        diff(board(), None, [path])


def test_a_path_is_taken_literally(board):
    ws = board()
    committed(ws, "a.md", "one\n")
    (ws.root / ":(top)a.md").write_text("one\n")
    ws.tree.write("a.md", b"two\n")
    assert diff(ws, None, [":(top)a.md"])["diff"] == ""
    assert diff(ws, None, ["*.md"])["diff"] == ""
    with pytest.raises(TooLarge, match="their folder"):
        diff(ws, None, ["a.md"] * 1_001)
