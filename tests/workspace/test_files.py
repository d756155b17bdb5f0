"""The file tools: read, write, list and search, as an agent calls them."""

import base64
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.errors import BadArgs, CohabitError, TooLarge, UnknownAsset
from cohabit.workspace.clone import tree as tree_module
from cohabit.workspace.clone.tree import Tree
from cohabit.workspace.reading import files
from cohabit.workspace.session import Session

Clone = Callable[[str], Session]
IMAGE = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"


@pytest.fixture
def ann(clone: Clone) -> Session:
    return clone("ann")


# -- read and write ----------------------------------------------------------------------------------
def test_a_written_file_can_be_read(ann: Session) -> None:
    wrote = ann.call("write", {"path": "research/new/größe.md", "content": "Größe: 3\n"})
    assert wrote == {"path": "research/new/größe.md", "mode": "overwrite", "bytes": 11}
    assert ann.call("read", {"path": "research/new/größe.md"}) == {
        "path": "research/new/größe.md", "content": "Größe: 3\n", "size": 11, "truncated": False,
    }  # fmt: skip


def test_append_adds_to_the_end_and_answers_the_added_bytes(ann: Session) -> None:
    ann.call("write", {"path": "drafts/a.md", "content": "one\n", "mode": "append"})
    wrote = ann.call("write", {"path": "drafts/a.md", "content": "two\n", "mode": "append"})
    assert wrote == {"path": "drafts/a.md", "mode": "append", "bytes": 4}
    assert ann.call("read", {"path": "drafts/a.md"})["content"] == "one\ntwo\n"


def test_an_asset_is_written_and_read_as_base64(ann: Session) -> None:
    image = base64.encodebytes(IMAGE).decode()  # with line breaks, as some programs write it
    assert ann.call("write", {"path": "assets/a.png", "content": image, "encoding": "base64"})["bytes"] == len(IMAGE)
    read = ann.call("read", {"path": "assets/a.png"})
    assert (read["encoding"], base64.b64decode(read["content"])) == ("base64", IMAGE)


def test_an_encoding_that_was_asked_for_is_used(ann: Session) -> None:
    ann.call("write", {"path": "a.md", "content": "plain"})
    asked = ann.call("read", {"path": "a.md", "encoding": "base64"})
    assert base64.b64decode(asked["content"]) == b"plain"
    ann.workspace().tree.write("latin1.md", "Größe".encode("latin-1"))
    assert ann.call("read", {"path": "latin1.md"})["encoding"] == "base64"
    assert ann.call("read", {"path": "latin1.md", "encoding": "utf-8"})["content"] == "Gr\ufffd\ufffde"


def test_a_long_file_is_read_in_parts(ann: Session) -> None:
    text = "äöü€ and more\n" * 20_000
    ann.call("write", {"path": "long.md", "content": text})
    pieces, offset = [], 0
    while True:
        piece = ann.call("read", {"path": "long.md", "offset": offset})
        pieces.append(piece["content"])
        assert len(piece["content"].encode()) <= files.MAX_READ_BYTES
        if not piece["truncated"]:
            break
        offset = piece["next_offset"]
    assert "".join(pieces) == text
    assert len(pieces) > 3


@pytest.mark.parametrize("content", ["===", "no base64!", "QQ", "QQ==QQ", "\N{EM DASH}"])
def test_invalid_base64_is_refused_and_nothing_is_written(ann: Session, content: str) -> None:
    with pytest.raises(BadArgs, match="base64"):
        ann.call("write", {"path": "a.bin", "content": content, "encoding": "base64"})
    with pytest.raises(UnknownAsset):
        ann.call("read", {"path": "a.bin"})


def test_the_error_for_a_missing_file_or_folder_says_what_to_do(ann: Session) -> None:
    with pytest.raises(UnknownAsset, match="call list"):
        ann.call("read", {"path": "research/none.md"})
    with pytest.raises(UnknownAsset, match="call list"):
        ann.call("list", {"dir": "none"})


@pytest.mark.parametrize("tool", ["read", "write", "list", "search"])
@pytest.mark.parametrize("path", ["../x", "/etc/passwd", ".git/config", "research/../../x", ".GIT/hooks/x", "~/x"])
def test_no_tool_accepts_a_path_that_leads_out(ann: Session, tool: str, path: str) -> None:
    args = {
        "read": {"path": path}, "write": {"path": path, "content": "x"}, "list": {"dir": path},
        "search": {"query": "x", "paths": [path]},
    }[tool]  # fmt: skip
    with pytest.raises(BadArgs):
        ann.call(tool, args)


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("read", {"path": "a", "offset": -1}),
        ("read", {"path": "a", "limit": 0}),
        ("read", {"path": "a", "encoding": "latin-1"}),
        ("write", {"path": "a", "content": "x", "mode": "prepend"}),
        ("write", {"path": "a"}),
        ("list", {"dir": ".", "limit": 0}),
        ("search", {"query": "x", "limit": 0}),
        ("search", {"query": "a\nb"}),
    ],
)
def test_invalid_arguments_are_refused(ann: Session, tool: str, args: dict) -> None:
    with pytest.raises(BadArgs):
        ann.call(tool, args)


def test_a_write_that_is_too_large_is_refused(ann: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_module, "MAX_WRITE_BYTES", 3)
    with pytest.raises(TooLarge):
        ann.call("write", {"path": "a", "content": "four"})


def test_numbers_beyond_the_end_read_nothing(ann: Session) -> None:
    ann.call("write", {"path": "a", "content": "abc"})
    for offset in (3, 4, 2**50):
        read = ann.call("read", {"path": "a", "offset": offset})
        assert (read["content"], read["truncated"]) == ("", False)


@given(st.binary(max_size=60) | st.text(max_size=30).map(str.encode), st.integers(0, 70), st.integers(1, 20))
def test_the_parts_of_any_file_add_up_to_the_file(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, offset: int, limit: int
) -> None:
    root = tmp_path_factory.getbasetemp() / "pieces"
    (root / ".git" / "cohabit").mkdir(parents=True, exist_ok=True)
    (root / "a").write_bytes(content)
    ws = SimpleNamespace(tree=Tree(root))

    def data(answer: dict) -> bytes:
        return base64.b64decode(answer["content"]) if "encoding" in answer else answer["content"].encode()

    whole = data(files.read(ws, "a", 0, 100, None))
    assert whole == content
    got, at = b"", 0
    while True:
        piece = files.read(ws, "a", at, limit, "base64")
        got += data(piece)
        if not piece["truncated"]:
            break
        at = piece["next_offset"]
    assert got == content
    some = files.read(ws, "a", offset, limit, None)
    start = some.get("offset", 0)
    assert content[start : start + len(data(some))] == data(some)
    assert offset >= len(content) or start <= offset < start + len(data(some))
    assert some["truncated"] == (bool(data(some)) and start + len(data(some)) < len(content))


# -- list --------------------------------------------------------------------------------------------
def test_a_folder_is_listed_by_name_without_git_and_links_are_not_followed(ann: Session, tmp_path: Path) -> None:
    root = ann.workspace().root
    (root / "link").symlink_to(tmp_path)
    listed = ann.call("list", {"dir": ""})
    assert listed["dir"] == ""
    names = [entry["name"] for entry in listed["entries"]]
    assert names == sorted(names)
    assert ".git" not in names
    kinds = {entry["name"]: (entry["type"], entry["size"]) for entry in listed["entries"]}
    assert kinds["link"] == ("other", 0)
    assert kinds["research"] == ("dir", 0)
    assert kinds["journal.md"] == ("file", (root / "journal.md").stat().st_size)
    with pytest.raises(BadArgs, match="link"):
        ann.call("list", {"dir": "link"})
    with pytest.raises(BadArgs, match="not a folder"):
        ann.call("list", {"dir": "journal.md"})


def test_a_long_listing_comes_in_pages(ann: Session) -> None:
    for number in range(25):
        ann.call("write", {"path": f"research/n{number:02}", "content": ""})
    names: list[str] = []
    cursor = None
    while True:
        page = ann.call("list", {"dir": "research", "limit": 10, "cursor": cursor})
        names += [entry["name"] for entry in page["entries"]]
        if not page["truncated"]:
            break
        cursor = page["cursor"]
    assert names == [".gitkeep", *(f"n{number:02}" for number in range(25))]


def test_a_name_that_is_not_utf_8_is_shown_with_replacement_characters(ann: Session) -> None:
    with open(bytes(ann.workspace().root) + b"/research/\xff.md", "wb"):
        pass
    names = [entry["name"] for entry in ann.call("list", {"dir": "research"})["entries"]]
    assert "\ufffd.md" in names


# -- search ------------------------------------------------------------------------------------------
def test_search_answers_with_path_line_and_text(ann: Session) -> None:
    ann.call("write", {"path": "research/a.md", "content": "one\nthe zebra\n"})
    assert ann.call("search", {"query": "zebra"}) == {
        "query": "zebra",
        "matches": [{"path": "research/a.md", "line": 2, "text": "the zebra"}],
        "truncated": False,
    }
    assert ann.call("search", {"query": "zebra", "paths": ["drafts", "missing"]})["matches"] == []


def test_a_search_starts_no_program_that_the_repository_names(ann: Session, tmp_path: Path) -> None:
    """A text converter is a program; attributes of a pulled repository may name one that a person has set up."""
    root = ann.workspace().root
    proof = tmp_path / "proof"
    (root / ".gitattributes").write_text("*.md diff=evil filter=evil\n")
    home = tmp_path / "ann"
    subprocess.run(["git", "config", "--file", home / ".gitconfig", "diff.evil.textconv", f"touch {proof}"], check=True)
    ann.call("write", {"path": "a.md", "content": "zebra\n"})
    assert len(ann.call("search", {"query": "zebra"})["matches"]) == 1
    assert not proof.exists()


def test_errors_of_the_file_tools_contain_no_path_of_this_machine(ann: Session, tmp_path: Path) -> None:
    for tool, args in (
        ("read", {"path": "research"}),
        ("read", {"path": "none/none"}),
        ("list", {"dir": "journal.md"}),
    ):
        with pytest.raises(CohabitError) as refused:
            ann.call(tool, args)
        assert str(tmp_path) not in refused.value.message


@pytest.mark.parametrize(
    ("path", "content"),
    [("journal.md", "# Journal\n\nIn short: much was done.\n"), ("./inbox.md", ""), ("inbox.md", "eA==")],
)
def test_a_write_that_would_remove_entries_is_refused(clone, path, content):
    ann = clone("ann")
    ann.call("journal_append", {"summary": "done"})
    ann.call("inbox_add", {"title": "to do"})
    before = [ann.call("read", {"path": name})["content"] for name in ("journal.md", "inbox.md")]
    encoding = "base64" if content.endswith("==") else "utf-8"
    with pytest.raises(BadArgs, match=r"1 of the 1 entries.*nothing was written"):
        ann.call("write", {"path": path, "content": content, "encoding": encoding})
    assert [ann.call("read", {"path": name})["content"] for name in ("journal.md", "inbox.md")] == before


def test_a_write_that_keeps_every_entry_may_change_the_rest(clone):
    ann = clone("ann")
    ann.call("journal_append", {"summary": "done"})
    text = ann.call("read", {"path": "journal.md"})["content"]
    ann.call("write", {"path": "journal.md", "content": text.replace("# Journal", "# Our journal")})
    assert ann.call("read", {"path": "journal.md"})["content"].startswith("# Our journal")


def test_paging_lists_every_name_once_even_if_two_look_the_same(ann: Session) -> None:
    folder = os.fsencode(ann.workspace().root) + b"/alike/"
    names = [
        b"a\xfe",
        b"a\xff",
        b"a\\xff",
        b"a\\",
        "a\N{REPLACEMENT CHARACTER}".encode(),
        "\N{GRINNING FACE}".encode(),
        b"b",
    ]
    os.mkdir(folder)
    for size, name in enumerate(names):
        with open(folder + name, "wb") as file:
            file.write(b"x" * size)
    seen, cursor = [], ""
    while True:
        page = ann.call("list", {"dir": "alike", "limit": 1, **({"cursor": cursor} if cursor else {})})
        seen += page["entries"]
        if not page["truncated"]:
            break
        cursor = page["cursor"]
    assert seen == ann.call("list", {"dir": "alike"})["entries"]
    assert sorted(entry["size"] for entry in seen) == list(range(len(names)))
