"""Nothing that was published vanishes silently: losses are reported, and can be restored."""

import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from cohabit.errors import UnknownAsset
from cohabit.workspace import driver
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.journal import Journal
from cohabit.workspace.merging.merge import merge_file
from cohabit.workspace.session import Session

from .conftest import NOON

Clone = Callable[[str], Session]
BOTH = ["journal.md", "inbox.md"]


def git(session: Session, *args: str, ok: bool = True) -> str:
    done = subprocess.run(["git", *args], cwd=session.workspace().root, capture_output=True, text=True, check=False)
    assert not ok or done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def post(session: Session, summary: str, title: str | None = None) -> None:
    session.call("journal_append", {"summary": summary})
    session.call("inbox_add", {"title": title or summary})
    share(session)


def share(session: Session) -> dict[str, Any]:
    session.call("add", {"paths": ["."]})
    session.call("commit", {"message": "share"})
    answer = session.call("sync", {})
    assert answer.get("ok"), answer
    return answer


def text(session: Session, path: str) -> str:
    return (session.workspace().root / path).read_text()


def put(session: Session, path: str, content: str) -> None:
    (session.workspace().root / path).write_text(content)


def by_plain_git(session: Session, message: str = "by hand") -> None:
    git(session, "commit", "-qam", message)
    git(session, "push", "-q")


@pytest.fixture
def three(clone: Clone) -> tuple[Session, Session, Session]:
    """Ann and Bob have posted; Eve has seen it all."""
    ann, bob, eve = clone("ann"), clone("bob"), clone("eve")
    post(ann, "Ann was here")
    post(bob, "Bob was here")
    for session in (ann, eve):
        session.call("sync", {})
    eve.call("whats_new", {})
    return ann, bob, eve


# -- the merge driver -----------------------------------------------------------------------------
@pytest.mark.parametrize("gone", ["the interpreter", "the package"])
@pytest.mark.parametrize("how", [["merge", "--no-edit", "origin/main"], ["rebase", "origin/main"]])
def test_a_merge_driver_that_cannot_run_leaves_both_sides_for_the_person(
    clone: Clone, gone: str, how: list[str]
) -> None:
    ann, bob = clone("ann"), clone("bob")
    for session in (ann, bob):
        session.call("status", {})
    post(ann, "Ann was here")
    bob.call("journal_append", {"summary": "Bob was here"})
    bob.call("add", {"paths": BOTH})
    bob.call("commit", {"message": "mine"})
    python = "/nowhere/python" if gone == "the interpreter" else "/usr/bin/env python3 -S -I"
    git(bob, "config", driver.KEY, driver.COMMAND.replace(driver.PYTHON, python))
    git(bob, "fetch", "-q")
    git(bob, *how, ok=False)
    journal = text(bob, "journal.md")
    assert "Ann was here" in journal
    assert "Bob was here" in journal
    assert "<<<<<<<" in journal
    assert "journal.md" in git(bob, "diff", "--name-only", "--diff-filter=U")


def test_a_driver_without_the_fallback_is_replaced(clone: Clone) -> None:
    ann = clone("ann")
    git(ann, "config", driver.KEY, f"{driver.PYTHON} -P -m cohabit.workspace.driver %O %A %B %P")
    ann.call("status", {})
    assert git(ann, "config", driver.KEY).strip() == driver.COMMAND


# -- losses are reported --------------------------------------------------------------------------
def wipe_journal(session: Session) -> None:
    put(session, "journal.md", "# Journal\n\nIn short: much was done.\n")


def remove_entry(session: Session) -> None:
    [entry] = [block for block in Journal.parse(text(session, "journal.md")).blocks if "Bob was here" in block.text]
    put(session, "journal.md", text(session, "journal.md").replace(entry.text, ""))


def edit_entry(session: Session) -> None:
    put(session, "journal.md", text(session, "journal.md").replace("Bob was here", "Bob was never here"))


def remove_item(session: Session) -> None:
    [item] = [item for item in Inbox.parse(text(session, "inbox.md")).items if item.title == "Bob was here"]
    put(session, "inbox.md", text(session, "inbox.md").replace(item.text, ""))


def edit_item(session: Session) -> None:
    put(session, "inbox.md", text(session, "inbox.md").replace("— Bob was here", "— Bob owes me"))


def remove_file(session: Session) -> None:
    (session.workspace().root / "journal.md").unlink()


LOSSES = {
    "a wiped journal": (wipe_journal, "vanished"),
    "a removed entry": (remove_entry, "vanished"),
    "an edited entry": (edit_entry, "edited"),
    "a removed item": (remove_item, "vanished"),
    "an edited item": (edit_item, "edited"),
    "a removed journal": (remove_file, "vanished"),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("tool", ["sync", "pull"])
def test_a_loss_by_plain_git_is_reported_to_everybody_who_gets_it(three, name, tool):
    ann, _, eve = three
    lose, word = LOSSES[name]
    lose(ann)
    by_plain_git(ann)
    notes = eve.call(tool, {})["notes"]
    assert [note for note in notes if word in note and "bob-cli" in note and "restore" in note], notes
    lost = eve.call("whats_new", {})["lost"]
    assert [row for row in lost if word in row["what"] and "bob-cli" in row["what"]], lost
    health = eve.call("health", {})
    assert health["counts"]["lost"] == len(lost)
    assert health["lost"] == lost
    assert f"{len(lost)} lost" in health["summary"]


@pytest.mark.sampled(start=1)
@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_can_be_restored_by_anybody_exactly_as_it_was(three, name):
    ann, _, eve = three
    before = {path: text(ann, path) for path in BOTH}
    LOSSES[name][0](ann)
    by_plain_git(ann)
    eve.call("sync", {})
    for row in eve.call("health", {})["lost"]:
        assert eve.call("restore", {"id": row["id"]})["path"] == row["path"]
    share(eve)
    entries = {block.key: block.content for block in Journal.parse(before["journal.md"]).blocks}
    assert {block.key: block.content for block in Journal.parse(text(eve, "journal.md")).blocks} == entries
    items = {item.key: (item.id, item.title, item.open) for item in Inbox.parse(before["inbox.md"]).items}
    assert {item.key: (item.id, item.title, item.open) for item in Inbox.parse(text(eve, "inbox.md")).items} == items
    assert eve.call("health", {})["counts"]["lost"] == 0
    assert "notes" not in ann.call("pull", {})


def test_a_merge_that_kept_only_one_side_is_found_by_health_in_every_clone(three):
    ann, bob, eve = three
    ann.call("journal_append", {"summary": "Ann again"})
    share(ann)
    put(bob, "journal.md", text(bob, "journal.md") + "\nA note by hand.\n")
    git(bob, "commit", "-qam", "note")
    git(bob, "fetch", "-q")
    git(bob, "merge", "-q", "--no-edit", "-s", "ours", "origin/main")
    git(bob, "push", "-q")
    eve.call("sync", {})
    [row] = eve.call("health", {})["lost"]
    assert "ann-cli" in row["what"]
    assert "Ann again" in row["what"]
    assert ann.call("sync", {})["notes"]


def test_archiving_closing_and_claiming_are_no_losses(three, now):
    ann, bob, eve = three
    bob.call("claim", {"id": "INB-001"})
    bob.call("inbox_close", {"id": "INB-001", "resolution": "done"})
    now.move(days=40)
    ann.call("archive", {})
    share(ann)
    share(bob)
    assert "notes" not in eve.call("pull", {})
    assert "lost" not in eve.call("whats_new", {})
    assert eve.call("health", {})["counts"]["lost"] == 0


def test_archiving_the_only_entry_of_a_journal_is_no_loss(clone, now):
    ann, eve = clone("ann"), clone("eve")
    post(ann, "Ann was here")
    eve.call("sync", {})
    now.move(days=40)
    ann.call("archive", {})
    share(ann)
    assert "notes" not in eve.call("pull", {})


def test_only_something_that_is_lost_can_be_restored(three):
    ann, _, _ = three
    [entry, _] = ann.call("journal_tail", {})["entries"]
    for id_ in (entry["id"], "INB-001", "nothing"):
        with pytest.raises(UnknownAsset, match="not lost"):
            ann.call("restore", {"id": id_})


# -- reopened items -------------------------------------------------------------------------------
def test_an_item_that_was_reopened_stays_open_when_others_merge_and_can_be_closed_again(three):
    ann, bob, eve = three
    before = text(bob, "inbox.md")
    ann.call("sync", {})
    id_ = next(item.id for item in Inbox.parse(text(ann, "inbox.md")).items if item.title == "Bob was here")
    ann.call("inbox_close", {"id": id_, "resolution": "done"})
    share(ann)
    for session in (bob, eve):
        session.call("sync", {})
    eve.call("inbox_add", {"title": "Eve works offline"})
    bob.call("write", {"path": "inbox.md", "content": before})
    share(bob)
    share(eve)
    for session in (ann, bob, eve):
        session.call("sync", {})
        state = {item["title"]: item["state"] for item in session.call("inbox_list", {"state": "all"})["items"]}
        assert state["Bob was here"] == "open"
    eve.call("inbox_close", {"id": id_, "resolution": "now it is"})
    share(eve)
    ann.call("sync", {})
    [item] = [item for item in Inbox.parse(text(ann, "inbox.md")).items if item.id == id_]
    assert [closing.resolution for closing in item.closings] == ["now it is"]


@pytest.mark.parametrize("edited", ["ours", "theirs"])
def test_reopening_wins_over_the_old_closing_even_if_the_other_side_edits_the_item(edited: str) -> None:
    opened, item = Inbox.parse("").add(title="Look", body="at slide 6", by="ann-cli", now=NOON)
    closed = opened.close(item.id, by="bob-cli", resolution="done", now=NOON).text
    sides = {"reopened": opened.text, "edited": closed.replace("at slide 6", "at slide 7")}
    order = ("edited", "reopened") if edited == "ours" else ("reopened", "edited")
    merged = merge_file("inbox.md", closed, *(sides[name] for name in order))
    assert not merged.conflicts
    [found] = Inbox.parse(merged.text or "").items
    assert (found.open, found.body, found.section) == (True, "at slide 7", "Open")


HEADING = "## 2026-05-22 14:30 — ann-cli (Ann)\n"


@pytest.mark.parametrize("left", ["First", "Second"])
def test_an_entry_is_restored_beside_another_one_of_the_same_minute(three, left):
    """Entries of Multisphere have no ids, so the heading is all that they are known by."""
    ann, _, eve = three
    journal = text(ann, "journal.md")
    put(ann, "journal.md", journal + "".join(f"{HEADING}{words}.\n\n" for words in ("First", "Second")))
    by_plain_git(ann)
    eve.call("sync", {})
    put(ann, "journal.md", f"{journal}{HEADING}{left}.\n\n")
    by_plain_git(ann)
    eve.call("sync", {})
    (row,) = eve.call("health", {})["lost"]
    assert row["what"].startswith("vanished")
    eve.call("restore", {"id": row["id"]})
    restored = text(eve, "journal.md")
    assert [restored.count(f"{HEADING}{words}.\n") for words in ("First", "Second")] == [1, 1]
