"""The board: the content of the page, and the glance of a room."""

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from cohabit.workspace.clone.setup import open_for
from cohabit.workspace.limits import MAX_READ_BYTES, MAX_TODOS
from cohabit.workspace.person.identity import Identity
from cohabit.workspace.reading import board
from cohabit.workspace.session import Session
from cohabit.workspace.workspace import Workspace

ANN = Identity("ann-cli", "Ann", "ann@example.org")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return open_for(tmp_path / "clone", "deck", str(tmp_path / "deck.git"), ANN)


def overview(workspace: Workspace) -> dict[str, Any]:
    with workspace.held():
        seen = board.overview(workspace)
    msgspec.json.encode(seen)  # it can be sent for any content of the files
    return seen


def commit(workspace: Workspace, *calls: tuple[str, dict[str, Any]]) -> None:
    session = Session.of(workspace)
    for name, args in calls:
        session.call(name, args)
    session.call("add", {"paths": ["."]})
    session.call("commit", {"message": "x"})


def put(workspace: Workspace, *paths: str) -> None:
    """Commit files with any names, as plain git does."""
    for path in paths:
        (workspace.root / path).parent.mkdir(parents=True, exist_ok=True)
        (workspace.root / path).write_text("x")
    with workspace.held():
        workspace.git.run("add", "--all")
        tree = workspace.git.run("write-tree").line
        made = workspace.git.run("commit-tree", tree, "-m", "x", environ={
            "GIT_AUTHOR_NAME": "x", "GIT_AUTHOR_EMAIL": "x", "GIT_COMMITTER_NAME": "x", "GIT_COMMITTER_EMAIL": "x",
        }).line  # fmt: skip
        workspace.git.run("update-ref", "refs/heads/main", made)


def test_a_new_board_is_empty(workspace: Workspace) -> None:
    seen = overview(workspace)
    assert (seen["name"], seen["entries"], seen["open_count"], seen["closed_count"]) == ("deck", 0, 0, 0)
    assert (seen["journal"], seen["open"], seen["closed"]) == ([], [], [])
    assert [(f["name"], [x["path"] for x in f["files"]]) for f in seen["folders"]] == [
        ("", ["inbox.md", "journal.md", "README.md"])
    ]


def test_entries_are_newest_first_and_items_show_who_has_claimed_them(workspace: Workspace) -> None:
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
    (workspace.root / "drafts").mkdir(exist_ok=True)
    os.symlink("/etc/passwd", workspace.root / "drafts" / "link.md")
    put(workspace, "zoo/a.md", "decisions/d.md", "drafts/b.md", "drafts/deep/a.md", ".hidden/x.md")
    shown = [(f["name"], [x["path"] for x in f["files"]]) for f in overview(workspace)["folders"]]
    assert shown == [
        ("drafts", ["drafts/b.md", "drafts/deep/a.md"]), ("decisions", ["decisions/d.md"]), ("zoo", ["zoo/a.md"]),
        ("", ["inbox.md", "journal.md", "README.md"]),
    ]  # fmt: skip


def test_many_files_in_one_folder_hide_none_of_another_and_each_folder_has_a_count(
    workspace: Workspace,
) -> None:
    many = [
        *(f"assets/{i}.png" for i in range(2000)),
        *(f"{i}.md" for i in range(400)),
        *(f"z{i}/x" for i in range(30)),
    ]
    put(workspace, *many, "drafts/a.md")
    seen = overview(workspace)
    shown = {folder["name"]: folder for folder in seen["folders"]}
    assert list(shown)[:2] == ["drafts", "assets"]
    assert (len(shown["drafts"]["files"]), shown["drafts"]["count"]) == (1, 1)
    assert (len(shown["assets"]["files"]), shown["assets"]["count"]) == (board.MAX_FILES, 2000)
    assert (len(shown[""]["files"]), shown[""]["count"]) == (board.MAX_FILES, 403)
    assert [file["path"] for file in shown[""]["files"][:2]] == ["inbox.md", "journal.md"]
    assert len(shown) == board.MAX_OTHER_FOLDERS + 3
    assert seen["truncated"]


def test_the_newest_of_many_open_items_are_shown_newest_first(workspace: Workspace) -> None:
    items = "".join(f"- [ ] INB-{n:03d} @anyone — item {n}\n\n" for n in range(1, 501))
    (workspace.root / "inbox.md").write_text(f"# Inbox\n\n## Open\n\n{items}## Closed\n")
    seen = overview(workspace)
    assert [item["id"] for item in seen["open"]] == [f"INB-{n}" for n in range(500, 400, -1)]
    assert seen["open_count"] == 500


def test_the_answer_is_limited_for_any_pushed_content(workspace: Workspace) -> None:
    long, head = "z" * 100_000, "## 2026-05-22 14:30 —"
    todos = "".join(f"TODO @{long if i == 0 else 'anyone'}: {i} {'y' * 900}\n" for i in range(1_000))
    entries = f"{head} {long} ({long})\nhi\n\n" + f"{head} m (M)\nhi\n\n{todos}\n" * 3
    (workspace.root / "journal.md").write_text(f"# Journal\n\n{entries}")
    item = f"Z{long.upper()}-1 @{long} — {long}\n  added 2026-05-22 14:30 by {long}\n"
    opened = f"- [ ] {item}  claimed 2026-05-22 14:30 by {long}\n  {long}\n\n"
    closed = f"- [x] {item}  closed 2026-05-22 14:30 by {long} → {long}\n\n"
    (workspace.root / "inbox.md").write_text(f"# Inbox\n\n## Open\n\n{opened * 3}## Closed\n\n{closed * 3}")
    deep = "/".join(["d" * 200] * 8)
    put(workspace, *(f"{folder}/{deep}/{i}.md" for folder in ("drafts", "research", "zoo") for i in range(100)))
    seen = overview(workspace)
    assert len(msgspec.json.encode(seen)) < 4 * MAX_READ_BYTES
    last, first = seen["journal"][0], seen["journal"][-1]
    assert (len(last["todos"]), last["more_todos"]) == (MAX_TODOS, 1_000 - MAX_TODOS)
    assert "more_todos" not in first
    assert (len(first["agent_id"]), len(first["agent_name"])) == (board.MAX_NAME_CHARS, board.MAX_NAME_CHARS)
    for item in (seen["open"][0], seen["closed"][0]):
        assert {len(item[name]) for name in ("id", "target", "added_by")} == {board.MAX_NAME_CHARS}
    assert len(seen["open"][0]["claimed_by"]) == len(seen["closed"][0]["closed_by"]) == board.MAX_NAME_CHARS


def test_bytes_that_are_not_utf_8_and_long_texts_are_shown_in_part(workspace: Workspace) -> None:
    head = b"# Journal\n\n## 2026-05-22 14:30 \xe2\x80\x94 m\xff (M\xff)\nsum\xff " + b"x" * 5000
    (workspace.root / "journal.md").write_bytes(head + b"\n\ndetails\n\n")
    (workspace.root / "inbox.md").write_bytes(
        b"# Inbox\n\n## Open\n\n- [ ] INB-001 @a\xff \xe2\x80\x94 t\xff\n\n## Closed\n"
    )
    seen = overview(workspace)
    (entry,) = seen["journal"]
    assert entry["summary"].startswith("sum\ufffd xxx")
    assert len(entry["summary"]) == board.MAX_BODY_CHARS
    assert seen["open"][0]["title"] == "t\ufffd"
    with workspace.held():
        assert len(board.glance(workspace, ())["latest"][0]["summary"]) == board.MAX_GLANCE_CHARS


def test_a_glance_marks_entries_of_members_of_the_room(workspace: Workspace) -> None:
    commit(workspace, *(("journal_append", {"summary": f"entry {i}"}) for i in range(7)))
    with workspace.held():
        seen = board.glance(workspace, {"ann-cli"})
        assert (seen["entries"], seen["open"], len(seen["head"])) == (7, 0, 40)
        assert [entry["summary"] for entry in seen["latest"]] == [f"entry {i}" for i in range(2, 7)]
        assert all(entry["here"] for entry in seen["latest"])
        assert not any(entry["here"] for entry in board.glance(workspace, ())["latest"])


def test_a_glance_has_what_is_new_since_a_commit_and_counts_the_rest(workspace: Workspace) -> None:
    def glance(since: str = "") -> dict[str, Any]:
        with workspace.held():
            return board.glance(workspace, (), since)

    def new(since: str) -> tuple[list[str], list[str], int]:
        seen = glance(since)
        return [line["summary"] for line in seen["journal"]], [line["summary"] for line in seen["inbox"]], seen["more"]

    begin = glance()["head"]
    commit(workspace, *(("inbox_add", {"title": f"item {i}"}) for i in range(1, 8)))
    added = glance()["head"]
    assert new(begin) == ([], [f"INB-00{i} for @anyone: item {i}" for i in range(1, 8)], 0)
    commit(workspace, ("inbox_close", {"id": "INB-007", "resolution": "done"}), ("journal_append", {"summary": "x"}))
    closed = glance()["head"]
    assert new(added) == (["x"], ["closed INB-007: done"], 0)
    commit(workspace, *(("journal_append", {"summary": f"entry {i}"}) for i in range(13)))
    assert new(closed) == ([f"entry {i}" for i in range(3, 13)], [], 3)
    for unknown in ("", "0" * 40):
        assert new(unknown) == ([], [], 0)


def test_a_glance_is_short_for_any_pushed_content(workspace: Workspace) -> None:
    with workspace.held():
        before = board.glance(workspace, ())["head"]
    (workspace.root / "journal.md").write_text(f"# Journal\n\n## 2026-05-22 14:30 — {'z' * 9000} (M)\n{'x ' * 9000}\n")
    entry = f"- [ ] INB-{'9' * 9000} @{'y' * 9000} — {'t' * 9000}\n  added 2026-05-22 14:30 by {'z' * 9000}\n"
    (workspace.root / "inbox.md").write_text(f"# Inbox\n\n## Open\n\n{entry}\n## Closed\n")
    with workspace.held():
        seen = board.glance(workspace, (), before)
    assert len(seen["latest"]) == len(seen["journal"]) == 1
    for line in (*seen["latest"], *seen["journal"], *seen["inbox"]):
        assert len(line["by"]) <= board.MAX_NAME_CHARS
        assert len(line["summary"]) <= board.MAX_GLANCE_CHARS
        assert set(line) == {"by", "summary", "here"}


def test_an_item_without_a_target_is_for_anyone_in_every_list_and_count(workspace: Workspace) -> None:
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
        assert board.own_items(workspace)[1:] == (0, 3)
