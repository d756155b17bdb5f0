"""What plain git damaged is not published without a word, and repaired: conflict markers, doubles, the merge driver."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.errors import BadArgs, Conflict
from cohabit.workspace import driver
from cohabit.workspace.formats.inbox import HEADER, Inbox
from cohabit.workspace.formats.journal import Entry, Journal
from cohabit.workspace.formats.markers import first_conflict, first_marker, sides
from cohabit.workspace.merging.mending import damage, mended, undamaged
from cohabit.workspace.person.identity import Identity
from cohabit.workspace.session import Session

from .conftest import NOON

Clone = Callable[[str], Session]
ANN = Identity("ann-cli", "Ann", "ann@example.org")


def root(session: Session) -> Path:
    return session.workspace().root


def git(session: Session, *args: str, ok: tuple[int, ...] = (0,)) -> str:
    done = subprocess.run(["git", *args], cwd=root(session), check=False, capture_output=True, text=True)
    assert done.returncode in ok, done.stdout + done.stderr
    return done.stdout


def on_the_board(session: Session, name: str) -> None:
    session.call("journal_append", {"summary": f"{name} was here"})
    session.call("inbox_add", {"title": f"from {name}"})
    session.call("add", {"paths": ["journal.md", "inbox.md"]})
    session.call("commit", {"message": "on the board"})


def merged_by_hand(clone: Clone) -> tuple[Session, Session]:
    """Bob merged by line, without our driver, and committed the markers."""
    ann, bob = clone("ann"), clone("bob")
    on_the_board(ann, "ann")
    ann.call("push", {})
    on_the_board(bob, "bob")
    git(bob, "fetch", "-q")
    line_merge = "merge.cohabit.driver=git merge-file %A %O %B"
    git(bob, "-c", line_merge, "merge", "-q", "--no-edit", "origin/main", ok=(1,))
    git(bob, "commit", "-q", "-a", "-m", "resolved, he thinks")
    assert "<<<<<<<" in (root(bob) / "journal.md").read_text()
    return ann, bob


def summaries(session: Session) -> list[str]:
    return sorted(entry["summary"] for entry in session.call("journal_tail", {})["entries"])


def titles(session: Session) -> dict[str, str]:
    return {item.id: item.title for item in Inbox.parse((root(session) / "inbox.md").read_text()).items}


# -- markers --------------------------------------------------------------------------------------
@pytest.mark.parametrize("tool", ["push", "sync"])
def test_conflict_markers_in_protocol_files_are_not_published(clone: Clone, tool: str) -> None:
    ann, bob = merged_by_hand(clone)
    before = git(ann, "ls-remote", "origin")
    answer = bob.call(tool, {})
    assert (answer["error"], answer["files"]) == ("conflict", ["inbox.md", "journal.md"])
    assert "repair" in answer["message"]
    assert git(ann, "ls-remote", "origin") == before


@pytest.mark.parametrize("hidden_by", ["attributes", "a zero byte", "other files"])
def test_nothing_hides_conflict_markers_in_a_protocol_file(clone: Clone, hidden_by: str) -> None:
    ann = clone("ann")
    journal = root(ann) / "journal.md"
    if hidden_by == "attributes":
        (root(ann) / ".gitattributes").write_text("*.md binary\n")
    elif hidden_by == "other files":
        for number in range(120):
            (root(ann) / "comments" / f"{number}.md").write_text("<<<<<<< in a text about git\n")
    zero = "\0\n" if hidden_by == "a zero byte" else ""
    journal.write_text(f"{journal.read_text()}{zero}<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n")
    git(ann, "add", ".")
    git(ann, "commit", "-q", "-m", "by hand")
    assert ann.call("sync", {})["files"] == ["journal.md"]


def test_repair_merges_what_is_between_the_markers_and_the_agent_can_share_it(clone: Clone) -> None:
    ann, bob = merged_by_hand(clone)
    found = bob.call("health", {})["malformed"]
    assert {row["path"] for row in found if "conflict markers" in row["what"]} == {"inbox.md", "journal.md"}
    answer = bob.call("repair", {})
    assert {row["path"] for row in answer["repaired"]} == {"inbox.md", "journal.md"}
    assert (answer["left"], answer["next"]) == ([], "add, commit and push")
    assert summaries(bob) == ["ann was here", "bob was here"]
    assert titles(bob) == {"INB-001": "from ann", "INB-002": "from bob"}
    assert answer["notes"] == ["INB-001 is now INB-002"]
    bob.call("add", {"paths": ["journal.md", "inbox.md"]})
    bob.call("commit", {"message": "repaired"})
    assert bob.call("push", {})["ok"]
    ann.call("pull", {})
    assert summaries(ann) == ["ann was here", "bob was here"]
    assert not any("marker" in row["what"] for row in ann.call("health", {})["malformed"])


def test_markers_that_somebody_pushed_with_plain_git_are_reported_by_pull_and_repaired_by_anyone(clone: Clone) -> None:
    ann, bob = merged_by_hand(clone)
    git(bob, "push", "-q")
    answer = ann.call("pull", {})
    assert any("journal.md has git conflict markers, the first on line" in note for note in answer["notes"])
    ann.call("repair", {})
    ann.call("add", {"paths": ["journal.md", "inbox.md"]})
    ann.call("commit", {"message": "repaired"})
    assert ann.call("push", {})["ok"]
    assert summaries(ann) == ["ann was here", "bob was here"]


def test_markers_that_were_pushed_with_plain_git_are_repaired_when_an_agent_merges_them(clone: Clone) -> None:
    ann, bob = merged_by_hand(clone)
    git(bob, "push", "-q")
    ann.call("journal_append", {"summary": "meanwhile"})
    ann.call("add", {"paths": ["journal.md"]})
    ann.call("commit", {"message": "x"})
    answer = ann.call("sync", {})
    assert "journal.md: the versions between published git conflict markers were merged by entry" in answer["notes"]
    assert summaries(ann) == ["ann was here", "bob was here", "meanwhile"]
    assert first_marker((root(ann) / "journal.md").read_text()) == 0


def test_markers_in_any_other_file_are_published_with_a_note_and_listed_by_health(clone: Clone) -> None:
    ann = clone("ann")
    text = "about git:\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n"
    ann.call("write", {"path": "drafts/a.md", "content": text})
    ann.call("add", {"paths": ["drafts"]})
    ann.call("commit", {"message": "x"})
    assert any("drafts/a.md" in note and "conflict markers" in note for note in ann.call("push", {})["notes"])
    assert {
        "path": "drafts/a.md",
        "what": "git conflict markers, the first on line 2; your user has to edit it",
    } in (ann.call("health", {})["malformed"])
    assert ann.call("repair", {})["next"] == "nothing to share"


def test_a_protocol_file_with_markers_is_neither_written_nor_added(clone: Clone) -> None:
    ann = clone("ann")
    text = "# Journal\n\n<<<<<<< a\n=======\n>>>>>>> b\n"
    with pytest.raises(Conflict, match=r"nothing was written: journal.md has a git conflict marker on line 3"):
        ann.call("write", {"path": "journal.md", "content": text})
    (root(ann) / "journal.md").write_text(text)
    with pytest.raises(Conflict, match=r"nothing was added: journal.md has a git conflict marker on line 3"):
        ann.call("add", {"paths": ["journal.md"]})


def test_a_conflict_is_not_resolved_with_a_text_that_has_markers(clone: Clone) -> None:
    ann, bob = clone("ann"), clone("bob")
    for session in (ann, bob):
        session.call("write", {"path": "drafts/a.md", "content": f"{session.agent_id()}\n"})
        session.call("add", {"paths": ["drafts"]})
        session.call("commit", {"message": "x"})
        session.call("push", {})
    with pytest.raises(BadArgs, match="still has a git conflict marker on line 1"):
        bob.call("resolve", {"path": "drafts/a.md", "content": "<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n"})


def test_an_entry_that_quotes_a_conflict_is_not_taken_for_one(clone: Clone) -> None:
    ann = clone("ann")
    quoted = "It looked like this:\n\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x"
    ann.call("journal_append", {"summary": "resolved it", "details": quoted})
    ann.call("add", {"paths": ["journal.md"]})
    ann.call("commit", {"message": "x"})
    assert ann.call("push", {})["ok"]
    assert ann.call("journal_tail", {})["entries"][-1]["details"] == quoted


def test_a_marker_that_is_left_alone_is_refused_and_left_to_a_person(clone: Clone) -> None:
    ann = clone("ann")
    (root(ann) / "journal.md").write_text("# Journal\n\n>>>>>>> theirs\n")
    git(ann, "commit", "-q", "-a", "-m", "by hand")
    assert ann.call("push", {})["files"] == ["journal.md"]
    answer = ann.call("repair", {})
    assert (answer["repaired"], [row["path"] for row in answer["left"]]) == ([], ["journal.md"])


LINES = st.lists(
    st.sampled_from(["a\n", "b\n", "<<<<<<< x\n", "||||||| y\n", "=======\n", ">>>>>>> z\n", "<<<<<<<<\n"])
)


@given(LINES)
def test_every_line_belongs_to_a_side_or_is_a_marker(lines: list[str]) -> None:
    text = "".join(lines)
    found = sides(text)
    kept = {line for side in (found.ours, found.base, found.theirs) for line in side}
    assert {"a\n", "b\n"} & set(lines) <= kept
    if not found.first_line and found.complete:
        assert "".join(found.ours) == "".join(found.base) == "".join(found.theirs) == text
    assert first_conflict(text) == found.first_line
    assert bool(first_marker(text)) == bool({"<<<<<<< x\n", ">>>>>>> z\n"} & set(lines))


def test_the_sides_of_a_conflict_in_both_styles() -> None:
    text = "x\n<<<<<<< a\n1\n||||||| b\n2\n=======\n3\n>>>>>>> c\ny\n<<<<<<<\r\n4\n=======\n>>>>>>>\nz"
    found = sides(text)
    assert ["".join(side) for side in (found.ours, found.base, found.theirs)] == [
        "x\n1\ny\n4\nz",
        "x\n2\ny\nz",
        "x\n3\ny\nz",
    ]
    assert (found.first_line, found.complete) == (2, True)
    assert not sides("<<<<<<< a\nx\n").complete
    assert first_marker("Title\n=======\n") == 0
    assert (first_marker("x\n>>>>>>> c\n"), first_conflict("x\n>>>>>>> c\n")) == (2, 0)


# -- doubles --------------------------------------------------------------------------------------
def test_items_and_entries_that_are_there_twice_are_found_and_become_one() -> None:
    inbox, item = Inbox.parse(HEADER).add(title="x", by="ann-cli", now=NOON)
    both = inbox.close("INB-001", by="ann-cli", resolution="done", now=NOON).text.replace(
        "## Closed", f"{item.text}\n\n## Closed", 1
    )
    both = both.replace("## Open\n\n", "## Open\n\n" + Inbox.parse(inbox.text).items[0].text, 1)
    assert list(damage("inbox.md", both)) == ["INB-001 appears 2 times"]
    after = undamaged("inbox.md", both)
    assert [(each.title, each.open) for each in Inbox.parse(after).items] == [("x", False)]
    entry = Entry.new(ANN, NOON, "did it").text
    twice = "# Journal\n\n" + entry + entry
    assert list(damage("journal.md", twice)) == ["the entry '2026-05-22 14:30 — ann-cli (Ann)' appears 2 times"]
    assert undamaged("journal.md", twice) == "# Journal\n\n" + entry
    for path, text in (("inbox.md", after), ("journal.md", "# Journal\n\n" + entry), ("README.md", "x")):
        assert list(damage(path, text)) == []
        assert undamaged(path, text) == text


def test_a_copy_with_a_number_of_its_own_is_no_double() -> None:
    inbox = Inbox.parse(HEADER).add(title="x", by="ann-cli", now=NOON)[0].text
    copy = Inbox.parse(inbox).items[0].text.replace("INB-001", "INB-002")
    assert list(damage("inbox.md", inbox.replace("## Closed", f"{copy}## Closed"))) == []


def test_a_number_of_two_open_items_closes_neither_until_repair_gives_one_of_them_another(clone: Clone) -> None:
    ann = clone("ann")
    ann.call("inbox_add", {"title": "first"})
    path = root(ann) / "inbox.md"
    second = "- [ ] INB-001 @anyone — second  \n  added 2026-05-22 14:31 by eve-cli\n"
    path.write_text(path.read_text().replace("## Closed", f"{second}\n## Closed"))
    git(ann, "commit", "-q", "-a", "-m", "merged by line")
    git(ann, "push", "-q")
    with pytest.raises(Conflict, match=r"several open items have the id INB-001: 'first', 'second'. Call repair"):
        ann.call("inbox_close", {"id": "INB-001", "resolution": "done"})
    answer = ann.call("repair", {})
    assert [row["what"] for row in answer["repaired"]] == ["two items have the id INB-001"]
    assert answer["notes"] == ["INB-001 is now INB-002"]
    assert titles(ann) == {"INB-001": "first", "INB-002": "second"}
    ann.call("inbox_close", {"id": "INB-002", "resolution": "done"})
    ann.call("add", {"paths": ["inbox.md"]})


def test_a_number_that_repair_gave_stays_when_others_push_meanwhile(clone: Clone) -> None:
    ann, bob = clone("ann"), clone("bob")
    item = "- [ ] INB-001 @anyone — {}  \n  added 2026-05-0{} 10:00 by old-tool\n\n"
    (root(bob) / "inbox.md").write_text(
        HEADER.replace("## Closed", item.format("first", 1) + item.format("second", 2) + "## Closed")
    )
    git(bob, "commit", "-q", "-a", "-m", "two items")
    for session in (bob, ann):
        session.call("sync", {})
    assert ann.call("repair", {})["notes"] == ["INB-001 is now INB-002"]
    ann.call("add", {"paths": ["inbox.md"]})
    ann.call("commit", {"message": "repaired"})
    bob.call("inbox_add", {"title": "meanwhile"})
    bob.call("add", {"paths": ["inbox.md"]})
    bob.call("commit", {"message": "meanwhile"})
    bob.call("sync", {})
    assert ann.call("sync", {})["renumbered"] == [{"title": "second", "from": "INB-002", "to": "INB-003"}]
    bob.call("sync", {})
    for session in (ann, bob):
        ids = {item.title: item.id for item in Inbox((root(session) / "inbox.md").read_text()).items}
        assert ids == {"first": "INB-001", "second": "INB-003", "meanwhile": "INB-002"}
        assert not session.call("health", {})["duplicate_ids"]


def test_two_versions_of_an_entry_between_markers_are_both_kept() -> None:
    first, second = Entry.new(ANN, NOON, "one"), Entry.new(ANN, NOON, "two")
    text = f"# Journal\n\n<<<<<<< a\n{first.text}=======\n{second.text}>>>>>>> b\n"
    after = mended("journal.md", text, {}).text or ""
    assert sorted(block.entry.summary for block in Journal.parse(after).blocks if block.entry) == ["one", "two"]
    assert first_marker(after) == 0


# -- the merge driver -----------------------------------------------------------------------------
def test_a_merge_driver_whose_program_is_gone_is_found_and_repaired(clone: Clone) -> None:
    ann = clone("ann")
    ann.call("status", {})
    gone = driver.COMMAND.replace(driver.PYTHON, "/gone/bin/python")
    git(ann, "config", "merge.cohabit.driver", gone)
    rows: list[dict[str, Any]] = ann.call("health", {})["malformed"]
    assert [row["path"] for row in rows] == [".git"]
    assert "names a program that does not exist" in rows[0]["what"]
    assert [row["path"] for row in ann.call("repair", {})["repaired"]] == [".git"]
    assert git(ann, "config", "merge.cohabit.driver").strip() == driver.COMMAND
    assert ann.call("health", {})["malformed"] == []


def test_attributes_that_bypass_the_merge_driver_are_found(clone: Clone) -> None:
    ann = clone("ann")
    ann.call("status", {})
    attributes = root(ann) / ".git" / "info" / "attributes"
    attributes.write_text("")
    assert len(ann.call("health", {})["malformed"]) == 4
    assert len(ann.call("repair", {})["repaired"]) == 4
    attributes.write_text(attributes.read_text() + "journal.md merge=union\n")
    (left,) = ann.call("repair", {})["left"]
    assert left["what"] == "journal.md is merged by 'union' and not by entry: see .git/info/attributes"
