"""Whether an entry is verified does not depend on where a merge has put it; it depends on every character of its text."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cohabit.workspace.clone.git import Git
from cohabit.workspace.formats.journal import Journal
from cohabit.workspace.session import Session

from .conftest import Clock

Clone = Callable[[str], Session]
FIRST = "eve first, offline"


def git(session: Session, *args: str) -> str:
    return subprocess.run(["git", *args], cwd=root(session), check=True, capture_output=True, text=True).stdout


def root(session: Session) -> Path:
    return session.workspace().root


def post(session: Session, summary: str, details: str | None = None) -> None:
    session.call("journal_append", {"summary": summary, "details": details})
    commit(session, "journal.md", summary)


def commit(session: Session, path: str, message: str) -> None:
    session.call("add", {"paths": [path]})
    session.call("commit", {"message": message})


def shown(session: Session) -> dict[str, tuple[bool | None, str | None]]:
    """By summary: whether an entry is verified, and else who committed it."""
    found = session.call("journal_tail", {})["entries"]
    return {entry["summary"]: (entry["verified"], entry.get("committed_by")) for entry in found}


@pytest.fixture
def moved(clone: Clone, now: Clock) -> tuple[Session, Session]:
    """The sessions of Ann and Eve. The last commit is a merge by Ann that moved an entry of Eve, not pushed yet."""
    ann, eve = clone("ann"), clone("eve")
    post(eve, FIRST, "what eve saw\n\nand what she did")
    now.move(minutes=1)
    post(ann, "ann", "a\nb\nc\nd\ne\nf")
    ann.call("sync", {})
    now.move(minutes=1)
    eve.call("sync", {})
    now.move(minutes=1)
    post(ann, "ann again")
    ann.call("sync", {})
    assert len(git(ann, "log", "-1", "--format=%P").split()) == 2
    line = git(ann, "blame", "--porcelain", "-L", f"/{FIRST}/,+1", "journal.md").split()[0]
    assert line == git(ann, "rev-parse", "HEAD").strip(), "git takes the line for one of the merge"
    return ann, eve


def amend(session: Session, text: str) -> None:
    """Change the last commit by hand; a merge stays a merge."""
    (root(session) / "journal.md").write_text(text)
    git(session, "commit", "-q", "--amend", "--no-edit", "--", "journal.md")


def test_an_entry_that_a_merge_moved_is_verified(moved: tuple[Session, Session]) -> None:
    ann, eve = moved
    ann.call("push", {})
    eve.call("sync", {})
    assert shown(ann) == shown(eve) == dict.fromkeys(("ann", FIRST, "ann again"), (True, None))


def test_an_entry_that_several_merges_moved_is_verified(moved: tuple[Session, Session]) -> None:
    ann, _ = moved
    for number in range(3):
        (root(ann) / "README.md").write_text(f"{number}\n")
        tree = git(ann, "rev-parse", "HEAD^{tree}").strip()
        merge = git(ann, "commit-tree", tree, "-p", "HEAD", "-p", "HEAD~1", "-m", "again").strip()
        git(ann, "reset", "-q", "--hard", merge)
        pieces = Journal.parse((root(ann) / "journal.md").read_text()).pieces
        amend(ann, "".join([pieces[0], *reversed(pieces[1:])]))
    assert shown(ann)[FIRST] == (True, None)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("what eve saw", "what eve sew"),
        ("eve first, offline", "eve first, online"),
        ("what eve saw\n\nand", "what eve saw\nand"),
        ("what eve saw\n\nand", "what eve saw\n\n\nand"),
        ("what eve saw\n\n", ""),
        ("and what she did", "and what she did\nand what she did"),
        ("and what she did", "and what she did "),
    ],
)
def test_a_merge_that_changes_an_entry_while_it_moves_it_leaves_it_unverified(
    moved: tuple[Session, Session], old: str, new: str
) -> None:
    ann, _ = moved
    text = (root(ann) / "journal.md").read_text()
    assert old in text
    amend(ann, text.replace(old, new))
    found = shown(ann)
    assert found.pop(FIRST.replace(old, new)) == (False, "ann-cli")
    assert found == dict.fromkeys(("ann", "ann again"), (True, None))


def test_a_merge_that_gives_an_agent_the_text_of_another_leaves_it_unverified(moved: tuple[Session, Session]) -> None:
    ann, _ = moved
    text = (root(ann) / "journal.md").read_text()
    amend(ann, text.replace("eve-cli (Eve)", "bob-cli (Bob)"))
    assert shown(ann)[FIRST] == (False, "ann-cli")


def test_an_entry_that_was_edited_before_a_merge_moved_it_is_unverified(clone: Clone, now: Clock) -> None:
    ann, eve, bob = clone("ann"), clone("eve"), clone("bob")
    post(eve, FIRST, "what eve saw")
    now.move(minutes=1)
    post(ann, "ann", "a\nb\nc\nd\ne\nf")
    ann.call("sync", {})
    eve.call("sync", {})
    bob.call("sync", {})
    path = root(bob) / "journal.md"
    path.write_text(path.read_text().replace("eve saw", "eve sold"))
    git(bob, "commit", "-qam", "[bob-cli] better")
    git(bob, "push", "-q")
    now.move(minutes=1)
    post(ann, "ann again")
    ann.call("sync", {})
    assert shown(ann)[FIRST][0] is False


def test_where_a_moved_entry_came_from_is_found_out_once(
    moved: tuple[Session, Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, _ = moved
    text = (root(ann) / "journal.md").read_text()
    assert shown(ann)[FIRST] == (True, None)
    asked, real = list[tuple[str, ...]](), Git.run

    def run(self: Git, *args: str, **options: Any) -> Any:
        asked.append(args)
        return real(self, *args, **options)

    monkeypatch.setattr(Git, "run", run)
    assert shown(ann)[FIRST] == (True, None)
    assert len([args for args in asked if args[0] == "blame"]) == 1, "the one of the file itself"
    amend(ann, text.replace("eve saw", "eve sold"))
    for _ in range(2):
        asked.clear()
        assert shown(ann)[FIRST][0] is False
    assert len([args for args in asked if args[0] == "blame"]) == 1


def test_an_item_that_a_merge_moved_is_verified(clone: Clone, now: Any) -> None:
    ann, eve = clone("ann"), clone("eve")
    for session, titles in ((eve, ["eve first"]), (ann, ["ann", "ann 2"])):
        for title in titles:
            session.call("inbox_add", {"title": title, "body": f"about {title}"})
            commit(session, "inbox.md", title)
            now.move(minutes=1)
    ann.call("sync", {})
    eve.call("sync", {})
    ann.call("inbox_add", {"title": "ann again"})
    commit(ann, "inbox.md", "ann again")
    ann.call("sync", {})
    found = {item["title"]: item["verified"] for item in ann.call("inbox_list", {})["items"]}
    assert found == dict.fromkeys(("eve first", "ann", "ann 2", "ann again"), True)
