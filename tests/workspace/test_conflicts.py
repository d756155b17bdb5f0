"""What truly conflicts is shown, decided file by file or given up, and nothing of either side is lost."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from cohabit.errors import BadArgs, Conflict, UnknownAsset
from cohabit.workspace.session import Session

Clone = Callable[[str], Session]


def root(session: Session) -> Path:
    return session.workspace().root


def git(session: Session, *args: str) -> str:
    return subprocess.run(["git", *args], cwd=root(session), check=True, capture_output=True, text=True).stdout


def commit(session: Session, files: dict[str, str | bytes | None]) -> None:
    for path, content in files.items():
        place = root(session) / path
        if content is None:
            place.unlink()
        else:
            place.parent.mkdir(exist_ok=True)
            place.write_bytes(content if isinstance(content, bytes) else content.encode())
    git(session, "add", "-A")
    git(session, "commit", "-q", "-m", "work")


def at_odds(
    clone: Clone, before: dict[str, str | bytes | None], by_ann: dict[str, str | bytes | None],
    by_bob: dict[str, str | bytes | None],
) -> Session:  # fmt: skip
    """Bob, whose push conflicts with what Ann pushed."""
    ann, bob = clone("ann"), clone("bob")
    if before:
        commit(ann, before)
        ann.call("push", {})
        bob.call("pull", {})
    commit(ann, by_ann)
    ann.call("push", {})
    commit(bob, by_bob)
    return bob


LINES = "".join(f"line {n}\n" for n in range(20))


def test_a_conflict_is_shown_with_markers_decided_and_pushed(clone: Clone) -> None:
    bob = at_odds(
        clone, {"a.md": LINES}, {"a.md": LINES.replace("line 7", "ann 7")}, {"a.md": LINES.replace("line 7", "bob 7")}
    )
    assert bob.call("push", {})["files"] == ["a.md"]
    shown = bob.call("resolve", {})
    assert shown["open"] == 1
    (row,) = shown["conflicts"]
    assert (row["path"], row["kind"]) == ("a.md", "contents")
    assert "bob 7\n=======\nann 7" in row["merged"]
    decided = bob.call("resolve", {"path": "a.md", "content": LINES.replace("line 7", "both 7")})
    assert decided["open"] == 0
    assert "push" in decided["next"]
    assert bob.call("push", {})["ok"]
    assert "both 7" in (root(bob) / "a.md").read_text()
    assert bob.call("resolve", {})["open"] == 0


@pytest.mark.parametrize(("take", "expected"), [("ours", "bob\n"), ("theirs", "ann\n"), ("both", "bob\nann\n")])
def test_a_side_can_be_taken_whole(clone: Clone, take: str, expected: str) -> None:
    bob = at_odds(clone, {}, {"a.md": "ann\n"}, {"a.md": "bob\n"})
    bob.call("fetch", {})
    bob.call("resolve", {"path": "a.md", "take": take})
    assert bob.call("push", {})["ok"]
    assert (root(bob) / "a.md").read_text() == expected


@pytest.mark.parametrize("take", ["ours", "theirs"])
@pytest.mark.parametrize(
    ("before", "by_ann", "by_bob", "path"),
    [
        ({"a.bin": b"\0one"}, {"a.bin": b"\0ann"}, {"a.bin": b"\0bob"}, "a.bin"),
        ({"a.md": LINES}, {"a.md": None}, {"a.md": LINES + "bob\n"}, "a.md"),
        ({"a.md": LINES}, {"a.md": LINES + "ann\n"}, {"a.md": None}, "a.md"),
        ({}, {"x/y": "ann's folder\n"}, {"x": "bob's file\n"}, "x"),
        ({}, {"x": "ann's file\n"}, {"x/y": "bob's folder\n"}, "x"),
    ],
    ids=["binary", "they deleted", "we deleted", "they a folder", "we a folder"],
)
def test_every_kind_of_conflict_is_told_and_can_be_taken_from_either_side(
    clone: Clone, before: dict[str, str | bytes | None], by_ann: dict[str, str | bytes | None],
    by_bob: dict[str, str | bytes | None], path: str, take: str,
) -> None:  # fmt: skip
    bob = at_odds(clone, before, by_ann, by_bob)
    ours = git(bob, "rev-parse", "HEAD").strip()
    assert bob.call("push", {})["files"] == [path]
    assert [row["path"] for row in bob.call("resolve", {})["conflicts"]] == [path]
    theirs = git(bob, "rev-parse", "origin/main").strip()
    bob.call("resolve", {"path": path, "take": take})
    assert bob.call("push", {})["ok"]
    wanted = ours if take == "ours" else theirs
    assert git(bob, "ls-tree", "-r", "HEAD") == git(bob, "ls-tree", "-r", wanted)
    assert git(bob, "status", "--porcelain") == ""


def test_two_who_rename_a_file_differently_are_asked_about_each_name(clone: Clone) -> None:
    bob = at_odds(clone, {"a.md": LINES}, {"a.md": None, "ann.md": LINES}, {"a.md": None, "bob.md": LINES})
    assert set(bob.call("push", {})["files"]) == {"a.md", "ann.md", "bob.md"}
    for path, take in (("a.md", "ours"), ("ann.md", "theirs"), ("bob.md", "theirs")):
        bob.call("resolve", {"path": path, "take": take})
    assert bob.call("push", {})["ok"]
    assert not (root(bob) / "bob.md").exists()
    assert (root(bob) / "ann.md").read_text() == LINES


def test_a_decision_is_about_two_versions_and_a_third_is_asked_about_again(clone: Clone) -> None:
    eve = clone("eve")
    bob = at_odds(clone, {}, {"a.md": "ann\n"}, {"a.md": "bob\n"})
    bob.call("fetch", {})
    bob.call("resolve", {"path": "a.md", "take": "ours"})
    eve.call("pull", {})
    commit(eve, {"a.md": "eve again\n"})
    eve.call("push", {})
    assert bob.call("push", {})["files"] == ["a.md"]
    bob.call("resolve", {"path": "a.md", "take": "ours"})
    assert bob.call("push", {})["ok"]


def test_abandon_lets_the_others_win_and_keeps_ours_in_a_commit(clone: Clone) -> None:
    bob = at_odds(
        clone, {}, {"a.md": "ann\n", "b.md": "ann\n"}, {"a.md": "bob\n", "b.md": "bob\n", "c.md": "only bob\n"}
    )
    bob.call("push", {})
    bob.call("resolve", {"path": "b.md", "take": "ours"})
    answer = bob.call("abandon", {})
    assert answer["abandoned"] == ["a.md"]
    assert bob.call("push", {})["ok"]
    assert [(root(bob) / name).read_text() for name in ("a.md", "b.md", "c.md")] == ["ann\n", "bob\n", "only bob\n"]
    assert git(bob, "show", f"{answer['kept']}:a.md") == "bob\n"
    assert git(bob, "rev-parse", answer["ref"]).strip() == answer["kept"]


def test_an_entry_that_both_changed_is_a_conflict_and_both_versions_are_shown(clone: Clone) -> None:
    ann, bob = clone("ann"), clone("bob")
    ann.call("journal_append", {"summary": "the first word"})
    git(ann, "commit", "-q", "-am", "entry")
    ann.call("push", {})
    bob.call("pull", {})
    for session, word in ((ann, "ann's word"), (bob, "bob's word")):
        place = root(session) / "journal.md"
        place.write_text(place.read_text().replace("the first word", word))
        git(session, "commit", "-q", "-am", "edit")
    ann.call("push", {})
    assert bob.call("push", {})["files"] == ["journal.md"]
    (row,) = bob.call("resolve", {})["conflicts"]
    assert "bob's word" in row["ours"]
    assert "ann's word" in row["theirs"]
    bob.call("resolve", {"path": "journal.md", "take": "both"})
    assert bob.call("push", {})["ok"]
    journal = (root(bob) / "journal.md").read_text()
    assert "ann's word" in journal
    assert "bob's word" in journal


def test_what_cannot_be_decided_says_why(clone: Clone) -> None:
    bob = at_odds(clone, {}, {"a.bin": b"\0ann"}, {"a.bin": b"\0bob"})
    assert bob.call("resolve", {}) == {"open": 0, "conflicts": [], "next": bob.call("resolve", {})["next"]}
    with pytest.raises(Conflict, match="nothing is in conflict"):
        bob.call("abandon", {})
    bob.call("fetch", {})
    with pytest.raises(UnknownAsset, match="not in conflict"):
        bob.call("resolve", {"path": "b.bin", "take": "ours"})
    for wrong in ({}, {"take": "ours", "content": "x"}):
        with pytest.raises(BadArgs, match="either take"):
            bob.call("resolve", {"path": "a.bin", **wrong})
    with pytest.raises(BadArgs, match="not a text"):
        bob.call("resolve", {"path": "a.bin", "take": "both"})
    with pytest.raises(BadArgs):
        bob.call("resolve", {"path": "a.bin", "take": "mine"})


def test_many_and_long_conflicts_fit_an_answer(clone: Clone) -> None:
    names = [f"f{n}.md" for n in range(30)]
    bob = at_odds(clone, {}, dict.fromkeys(names, "ann\n" * 5000), dict.fromkeys(names, "bob\n" * 5000))
    bob.call("fetch", {})
    shown = bob.call("resolve", {})
    assert shown["open"] == 30
    assert shown["truncated"]
    assert len(str(shown)) < 150_000
