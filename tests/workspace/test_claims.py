"""Claiming an item is decided by the remote: two agents never both have it."""

import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from cohabit.errors import Conflict, UnknownAsset
from cohabit.workspace.session import Session
from cohabit.workspace.sharing import origin

Clone = Callable[[str], Session]


def git(session: Session, *args: str) -> str:
    root = session.workspace().root
    return subprocess.run(["git", *args], cwd=root, check=True, capture_output=True, text=True).stdout


def share(session: Session) -> None:
    session.call("add", {"paths": ["."]})
    session.call("commit", {"message": "work"})
    assert session.call("push", {})["ok"]


def text(session: Session, path: str) -> str:
    return str(session.call("read", {"path": path})["content"])


@pytest.fixture
def pair(clone: Clone) -> tuple[Session, Session]:
    """Two agents who see the same open item."""
    ann, bob = clone("ann"), clone("bob")
    ann.call("inbox_add", {"title": "do this"})
    share(ann)
    bob.call("pull", {})
    return ann, bob


def test_the_second_claim_fails_and_says_who_has_it(pair: tuple[Session, Session]) -> None:
    ann, bob = pair
    answer = ann.call("claim", {"id": "INB-001"})
    assert (answer["id"], answer["by"]) == ("INB-001", "ann-cli")
    assert ann.call("claim", {"id": "INB-001"})["by"] == "ann-cli"
    with pytest.raises(Conflict, match="ann-cli"):
        bob.call("claim", {"id": "INB-001"})
    with pytest.raises(Conflict, match="ann-cli"):
        bob.call("release", {"id": "INB-001"})
    assert ann.call("release", {"id": "INB-001"})["released"]
    assert bob.call("claim", {"id": "INB-001"})["by"] == "bob-cli"
    assert "ann-cli" not in git(bob, "log", "-1", "--format=%s")


def test_two_claims_at_once_have_one_winner(pair: tuple[Session, Session], monkeypatch: pytest.MonkeyPatch) -> None:
    ann, bob = pair
    push = origin.push

    def raced(*args: Any) -> origin.Pushed:
        monkeypatch.setattr(origin, "push", push)
        bob.call("claim", {"id": "INB-001"})
        return push(*args)

    monkeypatch.setattr(origin, "push", raced)
    with pytest.raises(Conflict, match="bob-cli"):
        ann.call("claim", {"id": "INB-001"})


def test_a_claim_shares_nothing_else_and_disturbs_nothing(pair: tuple[Session, Session]) -> None:
    ann, bob = pair
    ann.call("write", {"path": "drafts/a.md", "content": "unpushed\n"})
    ann.call("add", {"paths": ["drafts/a.md"]})
    ann.call("commit", {"message": "unpushed"})
    ann.call("journal_append", {"summary": "uncommitted"})
    ann.call("inbox_add", {"title": "uncommitted item"})
    ann.call("claim", {"id": "INB-001"})
    bob.call("pull", {})
    assert "drafts/a.md" not in git(bob, "ls-files")
    assert "ann-cli" in text(bob, "inbox.md")
    assert "uncommitted" in text(ann, "journal.md")
    assert "uncommitted item" in text(ann, "inbox.md")
    assert "claimed" in text(ann, "inbox.md")
    share(ann)
    bob.call("pull", {})
    assert text(bob, "drafts/a.md") == "unpushed\n"


def test_an_item_that_is_only_committed_is_pushed_first_and_claimed_under_its_new_number(clone: Clone) -> None:
    ann, bob = clone("ann"), clone("bob")
    ann.call("inbox_add", {"title": "from ann"})
    share(ann)
    bob.call("inbox_add", {"title": "from bob"})
    with pytest.raises(Conflict, match="not shared yet"):
        bob.call("claim", {"id": "INB-001"})
    bob.call("add", {"paths": ["inbox.md"]})
    bob.call("commit", {"message": "item"})
    answer = bob.call("claim", {"id": "INB-001"})
    assert (answer["id"], answer["title"]) == ("INB-002", "from bob")


def test_a_closed_or_unknown_item_cannot_be_claimed(pair: tuple[Session, Session]) -> None:
    ann, bob = pair
    ann.call("inbox_close", {"id": "INB-001", "resolution": "done"})
    share(ann)
    with pytest.raises(Conflict, match="closed"):
        bob.call("claim", {"id": "INB-001"})
    with pytest.raises(UnknownAsset):
        bob.call("claim", {"id": "INB-007"})
