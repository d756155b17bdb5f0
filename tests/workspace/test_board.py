"""The board at a glance: what a page shows of a clone."""

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from cohabit.workspace.clone.setup import open_for
from cohabit.workspace.looking import board, digest
from cohabit.workspace.person.identity import Identity
from cohabit.workspace.session import Session
from cohabit.workspace.workspace import Workspace

ANN = Identity("ann-cli", "Ann", "ann@example.org")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return open_for(tmp_path / "clone", "deck", str(tmp_path / "deck.git"), ANN)


def overview(workspace: Workspace) -> dict[str, Any]:
    with workspace.held():
        seen = board.overview(workspace)
    msgspec.json.encode(seen)  # whatever is in the files, it can be answered
    return seen


def commit(workspace: Workspace, *calls: tuple[str, dict[str, Any]]) -> None:
    session = Session.of(workspace)
    for name, args in calls:
        session.call(name, args)
    session.call("add", {"paths": ["."]})
    session.call("commit", {"message": "x"})


def test_a_new_board_is_empty(workspace: Workspace) -> None:
    seen = overview(workspace)
    assert (seen["name"], seen["entries"], seen["open_count"], seen["closed_count"]) == ("deck", 0, 0, 0)
    assert (seen["journal"], seen["open"], seen["closed"]) == ([], [], [])
    assert [(f["name"], [x["path"] for x in f["files"]]) for f in seen["folders"]] == [("", ["README.md"])]


def test_entries_are_newest_first_and_items_say_who_is_at_them(workspace: Workspace) -> None:
    commit(
        workspace,
        ("journal_append", {"summary": "one", "details": "more", "todos": [{"for": "bob", "text": "read"}]}),
        ("journal_append", {"summary": "two"}),
        ("inbox_add", {"title": "first", "for": "bob"}),
        ("inbox_add", {"title": "second", "body": "about it"}),
        ("inbox_close", {"id": "INB-001", "resolution": "done"}),
    )
    seen = overview(workspace)
    assert [entry["summary"] for entry in seen["journal"]] == ["two", "one"]
    assert seen["journal"][1]["todos"] == [{"for": "bob", "text": "read"}]
    assert [(i["id"], i["target"], i["title"], i["body"], i["claimed_by"]) for i in seen["open"]] == [
        ("INB-002", "anyone", "second", "about it", "")
    ]
    assert [(i["id"], i["closed_by"], i["resolution"]) for i in seen["closed"]] == [("INB-001", "ann-cli", "done")]


def test_files_are_by_folder_in_the_order_of_work_and_hidden_ones_and_links_are_not_shown(workspace: Workspace) -> None:
    root = workspace.root
    for path in ("zoo/a.md", "decisions/d.md", "drafts/b.md", "drafts/deep/a.md", ".hidden/x.md"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x")
    os.symlink("/etc/passwd", root / "drafts" / "link.md")
    with workspace.held():
        workspace.git.run("add", "--all")
        tree = workspace.git.run("write-tree").line
        made = workspace.git.run("commit-tree", tree, "-m", "x", extra={
            "GIT_AUTHOR_NAME": "x", "GIT_AUTHOR_EMAIL": "x", "GIT_COMMITTER_NAME": "x", "GIT_COMMITTER_EMAIL": "x",
        }).line  # fmt: skip
        workspace.git.run("update-ref", "refs/heads/main", made)
    shown = [(f["name"], [x["path"] for x in f["files"]]) for f in overview(workspace)["folders"]]
    assert shown == [
        ("drafts", ["drafts/b.md", "drafts/deep/a.md"]), ("decisions", ["decisions/d.md"]), ("zoo", ["zoo/a.md"]),
        ("", ["README.md"]),
    ]  # fmt: skip


def test_bytes_that_are_no_text_and_long_texts_are_shown_in_part(workspace: Workspace) -> None:
    head = b"# Journal\n\n## 2026-05-22 14:30 \xe2\x80\x94 m\xff (M\xff)\nsum\xff " + b"x" * 5000
    (workspace.root / "journal.md").write_bytes(head + b"\n\ndetails\n\n")
    (workspace.root / "inbox.md").write_bytes(
        b"# Inbox\n\n## Open\n\n- [ ] INB-001 @a\xff \xe2\x80\x94 t\xff\n\n## Closed\n"
    )
    seen = overview(workspace)
    (entry,) = seen["journal"]
    assert entry["summary"].startswith("sum\ufffd xxx")
    assert len(entry["summary"]) == board.LONGEST
    assert seen["open"][0]["title"] == "t\ufffd"
    with workspace.held():
        assert len(board.glance(workspace, ())["latest"][0]["summary"]) == board.LONGEST_LINE


def test_a_glance_says_whose_entries_are_known(workspace: Workspace) -> None:
    commit(workspace, *(("journal_append", {"summary": f"entry {i}"}) for i in range(7)))
    with workspace.held():
        seen = board.glance(workspace, {"ann-cli"})
        assert (seen["entries"], seen["open"], len(seen["head"])) == (7, 0, 40)
        assert [entry["summary"] for entry in seen["latest"]] == [f"entry {i}" for i in range(2, 7)]
        assert all(entry["here"] for entry in seen["latest"])
        assert not any(entry["here"] for entry in board.glance(workspace, ())["latest"])


def test_an_item_that_names_nobody_is_for_anyone_in_every_list_and_count(workspace: Workspace) -> None:
    items = ["INB-001 @bob-cli — a", "INB-002 — b", "INB-003 @anyone — c", "INB-004 @bob-cli, anyone — d"]
    text = "# Inbox\n\n## Open\n\n" + "".join(f"- [ ] {item}\n\n" for item in items) + "## Closed\n"
    (workspace.root / "inbox.md").write_text(text)
    session = Session.of(workspace)
    found = session.call("inbox_list", {"for": "anyone"})
    assert [item["id"] for item in found["items"]] == ["INB-002", "INB-003", "INB-004"]
    assert found["counts"]["for_anyone"] == 3
    assert {item["id"] for item in session.call("inbox_list", {"for": "bob-cli"})["items"]} == {"INB-001", "INB-004"}
    everything = session.call("inbox_list", {})["items"]
    assert [item["id"] for item in everything] == ["INB-002", "INB-003", "INB-004", "INB-001"]
    with workspace.held():
        assert digest.for_me(workspace)[1:] == (0, 3)
