"""The tools of the protocol and of the board, as an agent calls them."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from cohabit.errors import BadArgs, TooLarge, UnknownAsset, UnknownCommand
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.journal import Journal
from cohabit.workspace.limits import MAX_TODOS
from cohabit.workspace.tools import find
from cohabit.workspace.workspace import Workspace

Open = Callable[..., Workspace]


class Caller:
    """Calls tools as a session does: arguments checked, the clone held."""

    def __init__(self, workspace: Workspace) -> None:
        self.ws = workspace

    def workspace(self) -> Workspace:
        return self.ws

    def __call__(self, name: str, **args: Any) -> dict[str, Any]:
        return find(name).call(self, {key.rstrip("_"): value for key, value in args.items()})  # type: ignore[arg-type]

    def put(self, path: str, text: str) -> None:
        """Write a file without a tool."""
        (self.ws.root / path).write_text(text)

    def text(self, path: str) -> str:
        return (self.ws.root / path).read_bytes().decode()


@pytest.fixture
def ann(board: Open) -> Caller:
    return Caller(board())


def test_journal_append_answers_like_multisphere(ann: Caller) -> None:
    answer = ann(
        "journal_append",
        summary="Did it.",
        details="More.",
        todos=[{"for": "@bob", "text": "Check."}, {"text": "Rest."}],
    )
    assert answer == {
        "ok": True,
        "journal_entry_at": "2026-05-22 14:30",
        "agent_id": "ann-cli",
        "id": answer["id"],
        "note": "bob has not been on this board yet; check the id. Known: ann-cli",
    }
    assert ann.text("journal.md") == (
        "# Journal\n\n## 2026-05-22 14:30 — ann-cli (Ann)\nDid it.\n\nMore.\n\nTODO @bob: Check.\nTODO @anyone: Rest.\n"
        f"<!-- cohabit:{answer['id']} at=2026-05-22T12:30:05Z -->\n\n"
    )


def test_inbox_add_and_close_answer_like_multisphere(ann: Caller) -> None:
    assert ann("inbox_add", title="x", body="y", for_="bob-cli") == {
        "id": "INB-001",
        "target": "@bob-cli",
        "added_at": "2026-05-22 14:30",
        "note": "bob-cli has not been on this board yet; check the id. Known: ann-cli",
    }
    assert ann("inbox_add", title="z") == {"id": "INB-002", "target": "@anyone", "added_at": "2026-05-22 14:30"}
    assert ann("inbox_close", id="INB-001", resolution="ok") == {
        "id": "INB-001",
        "closed_at": "2026-05-22 14:30",
        "by": "ann-cli",
    }
    with pytest.raises(UnknownAsset, match=r"inbox item INB-001 not found in Open section$") as refused:
        ann("inbox_close", id="INB-001", resolution="ok")
    assert refused.value.details == {"closed_at": "2026-05-22 14:30", "closed_by": "ann-cli"}
    text = ann.text("inbox.md")
    assert (
        text.index("## Open")
        < text.index("- [ ] INB-002 @anyone — z")
        < text.index("## Closed")
        < text.index("~~INB-001")
    )


def test_an_error_leaves_the_files_unchanged(ann: Caller) -> None:
    for name, args in {"journal_append": {"summary": ""}, "inbox_add": {"title": "x", "for": "a b"}}.items():
        with pytest.raises(BadArgs):
            ann(name, **args)
    with pytest.raises(TooLarge):
        ann("inbox_add", title="x" * 301)
    with pytest.raises(BadArgs):
        ann("journal_append", summary="x", todos=[{"for": "bob"}])
    assert not (ann.ws.root / "journal.md").exists()
    assert not (ann.ws.root / "inbox.md").exists()


def test_twenty_at_once_get_twenty_numbers(board: Open) -> None:
    callers = [Caller(board()) for _ in range(4)]
    board_ids: list[str] = []

    def add(caller: Caller) -> None:
        for _ in range(5):
            board_ids.append(caller("inbox_add", title="x")["id"])
            caller("journal_append", summary="y")

    threads = [threading.Thread(target=add, args=[caller]) for caller in callers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(board_ids) == [f"INB-{n:03d}" for n in range(1, 21)]
    assert callers[0].text("inbox.md").count("- [ ] INB-") == 20
    assert callers[0]("journal_tail")["total"] == 20


def test_bytes_that_are_not_utf_8_are_kept(ann: Caller) -> None:
    (ann.ws.root / "journal.md").write_bytes(b"# Journal \xff\r\n\r\n")
    ann("journal_append", summary="x")
    assert (ann.ws.root / "journal.md").read_bytes().startswith(b"# Journal \xff\r\n\r\n## 2026-05-22 14:30 ")


def test_the_journal_is_read_from_its_end_page_by_page(ann: Caller) -> None:
    for n in range(7):
        ann("journal_append", summary=f"entry {n}", todos=[{"text": "t"}])
    last = ann("journal_tail", n=3)
    assert [entry["summary"] for entry in last["entries"]] == ["entry 4", "entry 5", "entry 6"]
    assert last["entries"][0]["todos"] == [{"for": "anyone", "text": "t"}]
    assert (last["total"], last["truncated"]) == (7, True)
    before = ann("journal_tail", n=3, before=last["cursor"])
    assert [entry["summary"] for entry in before["entries"]] == ["entry 1", "entry 2", "entry 3"]
    first = ann("journal_tail", n=3, before=before["cursor"])
    assert ([entry["summary"] for entry in first["entries"]], first["truncated"], first["cursor"]) == (
        ["entry 0"],
        False,
        None,
    )
    with pytest.raises(BadArgs, match="without it"):
        ann("journal_tail", before="nonsense")
    with pytest.raises(BadArgs):
        ann("journal_tail", n=0)


def test_an_answer_is_limited_for_long_entries(ann: Caller) -> None:
    for _ in range(12):
        ann("journal_append", summary="x" * 60_000, details="y" * 60_000)
        ann("inbox_add", title="x", body="y" * 60_000)
    seen, cursor = 0, None
    while True:
        page = ann("journal_tail", before=cursor)
        assert len(str(page)) < 80_000
        seen, cursor = seen + len(page["entries"]), page["cursor"]
        if cursor is None:
            break
    assert seen == 12
    page = ann("inbox_list")
    assert len(str(page)) < 80_000
    assert page["truncated"]


def test_an_answer_is_limited_for_any_pushed_content(ann: Caller) -> None:
    long, head = "z" * 100_000, "## 2026-05-22 14:30 —"
    todos = "".join(f"TODO @{'x' * 500}: {i} {'y' * 5_000}\n" for i in range(200))
    hidden = "".join(f"{head} m (M)\nentry {i}\n<!-- cohabit:{long}{i} -->\n\n" for i in range(3))
    ann.put("journal.md", f"# Journal\n\n{hidden}{head} {long} ({long})\nhi\n\n{todos}\n")
    (entry,) = ann("journal_tail", n=1)["entries"]
    assert (len(entry["todos"]), entry["more_todos"]) == (MAX_TODOS, 200 - MAX_TODOS)
    items = "".join(
        f"- [ ] Z{long.upper()}-{i} @{long} — {i} {long}\n  added 2026-05-22 14:30 by {long}\n"
        f"  <!-- cohabit:{long}{i} -->\n  claimed 2026-05-22 14:30 by {long}\n  {long}\n\n"
        for i in range(3)
    )
    done = f"- [x] X-1 @a — t\n  closed 2026-05-22 14:30 by {long} → {long}\n"
    ann.put("inbox.md", f"# Inbox\n\n## Open\n\n{items}## Closed\n\n{done}")
    assert _walked(ann, "journal_tail", "entries", "before", n=1) == 4
    assert _walked(ann, "inbox_list", "items", "cursor", limit=1, state="all") == 4


def _walked(ann: Caller, name: str, what: str, after: str, **args: Any) -> int:
    """The number of different entries on all pages; each page is within the limits."""
    seen: list[Any] = []
    cursor = None
    while cursor or not seen:
        page = ann(name, **args, **{after: cursor})
        assert len(str(page)) < 80_000
        assert page[what][0] not in seen
        seen, cursor = seen + page[what], page["cursor"]
    return len(seen)


def test_items_for_me_come_first_then_those_for_anyone(ann: Caller) -> None:
    for title, target in (("a", "bob-cli"), ("b", None), ("c", "ann-cli"), ("d", "ann-cli")):
        ann("inbox_add", title=title, for_=target)
    ann("inbox_close", id="INB-004", resolution="done", journal_ref="today")
    found = ann("inbox_list")
    assert [item["title"] for item in found["items"]] == ["c", "b", "a"]
    assert found["counts"] == {"open": 3, "closed": 1, "for_me": 1, "for_anyone": 1}
    assert (found["truncated"], found["cursor"]) == (False, None)
    assert [item["title"] for item in ann("inbox_list", for_="@bob-cli")["items"]] == ["a"]
    (closed,) = ann("inbox_list", state="closed")["items"]
    assert (closed["state"], closed["closed_by"], closed["resolution"]) == (
        "closed",
        "ann-cli",
        "done, see journal today",
    )
    page = ann("inbox_list", state="all", limit=3)
    rest = ann("inbox_list", state="all", limit=3, cursor=page["cursor"])
    assert [item["title"] for item in page["items"] + rest["items"]] == ["c", "d", "b", "a"]
    assert (page["truncated"], rest["truncated"]) == (True, False)


def test_an_empty_board_gives_empty_lists(ann: Caller) -> None:
    assert ann("journal_tail") == {"entries": [], "total": 0, "truncated": False, "cursor": None}
    assert ann("inbox_list")["items"] == []
    assert ann("archive") == {"moved": 0, "files": [], "before": "2026-05"}


def test_a_decision_gets_a_file_of_its_own(ann: Caller) -> None:
    what = {"title": "Use it", "context": "c", "decision": "d"}
    assert ann("decision_add", **what) == {"path": "decisions/use-it.md", "date": "2026-05-22", "status": "accepted"}
    assert (
        ann("decision_add", **what, status="proposed", decided_by=["ann-cli", "bob-cli"])["path"]
        == "decisions/use-it-2.md"
    )
    assert "Decided by: ann-cli  \nStatus: accepted\n" in ann.text("decisions/use-it.md")
    assert "Decided by: ann-cli, bob-cli  \nStatus: proposed\n" in ann.text("decisions/use-it-2.md")
    with pytest.raises(BadArgs):
        ann("decision_add", **what, status="maybe")


def test_past_months_are_archived(ann: Caller, now: Any) -> None:
    ann("journal_append", summary="may")
    now.move(days=30)
    ann("journal_append", summary="june")
    assert ann("archive") == {"moved": 1, "files": ["journal-archive/2026-05.md"], "before": "2026-06"}
    assert ann("archive") == {"moved": 0, "files": [], "before": "2026-06"}
    assert [entry["summary"] for entry in ann("journal_tail")["entries"]] == ["june"]
    assert "may" in ann.text("journal-archive/2026-05.md")
    with pytest.raises(BadArgs):
        ann("archive", before="june")


@pytest.mark.parametrize("mode", ["append", "overwrite"])
def test_an_entry_or_item_that_an_agent_writes_as_text_gets_the_comment_of_the_tools(clone, mode):
    ann = clone("ann")
    ann.call("journal_append", {"summary": "with the tool"})
    ann.call("inbox_add", {"title": "with the tool"})
    entry = "## 2026-05-22 14:30 — ann-cli (Ann)\nas text\n\n## 2026-05-22 14:30 — ann-cli (Ann)\nas text, too"
    item = "- [ ] INB-002 @anyone — as text  \n  added 2026-05-22 14:30 by ann-cli\n"
    journal, inbox = (ann.call("read", {"path": path})["content"] for path in ("journal.md", "inbox.md"))
    ann.call("write", {"path": "journal.md", "content": entry if mode == "append" else journal + entry, "mode": mode})
    ann.call("write", {"path": "inbox.md", "content": inbox.replace("## Closed", f"{item}\n## Closed")})
    blocks = Journal.parse(ann.call("read", {"path": "journal.md"})["content"]).blocks
    assert [(block.entry.summary, bool(block.uid)) for block in blocks] == [
        ("with the tool", True), ("as text", True), ("as text, too", True),
    ]  # fmt: skip
    assert len({block.utc for block in blocks}) == 3
    assert sorted(block.utc for block in blocks) == [block.utc for block in blocks]
    items = Inbox.parse(ann.call("read", {"path": "inbox.md"})["content"]).items
    assert [(each.title, bool(each.uid and each.added_utc)) for each in items] == [
        ("with the tool", True),
        ("as text", True),
    ]
    ann.call("add", {"paths": ["journal.md", "inbox.md"]})


def test_an_unknown_tool_is_refused_with_similar_names() -> None:
    with pytest.raises(UnknownCommand, match="there is no tool 'inbox_ad'; `tools/list` names those") as refused:
        find("inbox_ad")
    assert "inbox_add" in refused.value.did_you_mean
