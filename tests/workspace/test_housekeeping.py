"""A clone that is used for years stays quick."""

import subprocess
from collections.abc import Callable

import pytest

from cohabit.workspace.clone import objects
from cohabit.workspace.session import Session


def shared(session: Session, path: str) -> None:
    session.call("write", {"path": path, "content": path})
    session.call("add", {"paths": [path]})
    session.call("commit", {"message": path})
    assert session.call("push", {})["ok"]


def loose(session: Session) -> int:
    counted = subprocess.run(
        ["git", "count-objects"], cwd=session.workspace().root, check=True, capture_output=True, text=True
    )
    return int(counted.stdout.split()[0])


def test_loose_objects_are_packed_when_there_are_too_many(
    clone: Callable[[str], Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = clone("ann")
    shared(ann, "drafts/one.md")
    assert loose(ann) > 0
    monkeypatch.setattr(objects, "MAX_LOOSE", -1)
    shared(ann, "drafts/two.md")
    assert loose(ann) == 0
    log = ann.call("log", {})["commits"]
    assert ["two" in commit["message"] for commit in log[:2]] == [True, False]
    subprocess.run(["git", "fsck", "--strict"], cwd=ann.workspace().root, check=True, capture_output=True)


def test_a_clone_that_cannot_be_packed_is_shared_all_the_same(
    clone: Callable[[str], Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = clone("ann")
    monkeypatch.setattr(objects, "MAX_LOOSE", -1)
    broken = ann.workspace().root / ".git" / "refs" / "tags" / "of-nothing"
    broken.parent.mkdir(exist_ok=True)
    broken.write_text("1" * 40 + "\n")  # git refuses to pack around a hole
    shared(ann, "drafts/one.md")
    assert loose(ann) > 0
