"""Conflicts are shown and resolved file by file or abandoned, and nothing of either side is lost."""

import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples

from cohabit.errors import BadArgs, Conflict, UnknownAsset
from cohabit.workspace.formats.inbox import HEADER, Inbox
from cohabit.workspace.formats.journal import Journal
from cohabit.workspace.merging.merge import item_ids, merge_file
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
    assert "<<<<<<< ours\nbob 7\n=======\nann 7\n>>>>>>> theirs\n" in row["merged"]
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


@pytest.mark.sampled
@pytest.mark.sampled
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
def test_every_kind_of_conflict_is_reported_and_can_be_taken_from_either_side(
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


def test_two_different_renames_of_a_file_give_a_conflict_for_each_name(clone: Clone) -> None:
    bob = at_odds(clone, {"a.md": LINES}, {"a.md": None, "ann.md": LINES}, {"a.md": None, "bob.md": LINES})
    assert set(bob.call("push", {})["files"]) == {"a.md", "ann.md", "bob.md"}
    for path, take in (("a.md", "ours"), ("ann.md", "theirs"), ("bob.md", "theirs")):
        bob.call("resolve", {"path": path, "take": take})
    assert bob.call("push", {})["ok"]
    assert not (root(bob) / "bob.md").exists()
    assert (root(bob) / "ann.md").read_text() == LINES


def test_a_decision_applies_to_two_versions_and_not_to_a_third(clone: Clone) -> None:
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


def test_abandon_takes_their_version_and_keeps_ours_in_a_commit(clone: Clone) -> None:
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


def test_an_impossible_decision_is_refused_with_a_reason(clone: Clone) -> None:
    bob = at_odds(clone, {}, {"a.bin": b"\0ann"}, {"a.bin": b"\0bob"})
    assert bob.call("resolve", {}) == {"open": 0, "conflicts": [], "next": bob.call("resolve", {})["next"]}
    with pytest.raises(Conflict, match="there is no conflict"):
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


def test_a_conflict_shows_which_side_removed_the_file(clone: Clone) -> None:
    marked = f"<<<<<<< {'a' * 40}\nthis is how git marks\n"
    bob = at_odds(clone, {"a.md": "a\n", "b.md": "b\n"}, {"a.md": None, "b.md": marked}, {"a.md": marked, "b.md": None})
    bob.call("fetch", {})
    a, b = bob.call("resolve", {})["conflicts"]
    assert (a["base"], a["ours"], a["theirs"]) == ("a\n", marked, None)
    assert (b["base"], b["ours"], b["theirs"]) == ("b\n", None, marked)


def test_an_excerpt_of_a_long_text_says_that_there_is_more(clone: Clone) -> None:
    most = "same\n" * 60_000
    files = ["new.md", "late.md"]
    bob = at_odds(
        clone, {"late.md": f"{most}end\n"}, dict(zip(files, (f"ann\n{most}", f"{most}ann\n"), strict=True)),
        dict(zip(files, (f"bob\n{most}", f"{most}bob\n"), strict=True)),
    )  # fmt: skip
    bob.call("fetch", {})
    late, new = bob.call("resolve", {})["conflicts"]
    assert new["merged"].startswith("<<<<<<< ours\nbob\n")
    assert new["merged"].endswith("\n…")
    assert late["ours"].endswith("… (more than 262144 bytes in all)")


def test_taking_both_keeps_every_line_and_every_byte_of_a_long_text(clone: Clone) -> None:
    most = b"caf\xe9\n" * 60_000 + b"the end\n"
    bob = at_odds(clone, {"a.txt": b"base\n" + most}, {"a.txt": b"ann\n" + most}, {"a.txt": b"bob\n" + most})
    bob.call("fetch", {})
    bob.call("resolve", {"path": "a.txt", "take": "both"})
    assert bob.call("push", {})["ok"]
    assert (root(bob) / "a.txt").read_bytes() == b"bob\nann\n" + most


@pytest.mark.parametrize("take", ["theirs", "content", "abandon"])
def test_a_file_whose_name_is_not_utf_8_can_be_resolved(clone: Clone, take: str) -> None:
    name = os.fsdecode(b"c\xff.md")
    bob = at_odds(clone, {}, {name: "ann\n"}, {name: "bob\n"})
    (shown,) = bob.call("push", {})["files"]
    if take == "abandon":
        bob.call("abandon", {})
    else:
        bob.call("resolve", {"path": shown, **({"take": take} if take == "theirs" else {"content": "ann\n"})})
    assert bob.call("push", {})["ok"]
    assert (root(bob) / name).read_text() == "ann\n"


# -- files that are merged by entry ---------------------------------------------------------------
def said(text: str | None) -> list[str]:
    return [block.entry.summary for block in Journal(text or "").blocks if block.entry]


def titles(text: str | None) -> list[tuple[str, str]]:
    return [(item.id, item.title) for item in Inbox(text or "").items]


def edit(session: Session, path: str, old: str, new: str) -> None:
    place = root(session) / path
    place.write_bytes(place.read_bytes().replace(old.encode(), new.encode(), 1))


def settle(session: Session, path: str, take: str) -> None:
    if take == "abandon":
        assert session.call("abandon", {})["abandoned"] == [path]
    else:
        session.call("resolve", {"path": path, "take": take})


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("path", "take", "won"),
    [
        ("journal.md", "ours", ["bob's"]),
        ("journal.md", "theirs", ["ann's"]),
        ("journal.md", "abandon", ["ann's"]),
        ("journal.md", "both", ["ann's", "bob's"]),
        ("journal-archive/2026-04.md", "ours", ["bob's"]),
    ],
)
def test_only_the_conflicting_entry_is_taken_from_one_side(clone: Clone, path: str, take: str, won: list[str]) -> None:
    """All other entries of both sides stay, to the byte, for any number of them."""
    old = [f"café {n} {'x' * 300}" for n in range(900)]

    def entry(day: int, text: str) -> bytes:
        return f"## 2026-04-0{day} 10:00 - old (Old)\n{text}\n\n".encode("latin-1")

    before = b"# Journal\n\n" + entry(1, "shared") + b"".join(entry(2, text) for text in old)
    by_ann, by_bob = (
        before.replace(b"shared", f"{name}'s".encode()) + entry(day, f"new of {name}")
        for day, name in ((3, "ann"), (4, "bob"))
    )
    bob = at_odds(clone, {path: before}, {path: by_ann}, {path: by_bob})
    assert bob.call("push", {})["files"] == [path]
    settle(bob, path, take)
    assert bob.call("push", {})["ok"]
    assert said((root(bob) / path).read_text("latin-1")) == [*won, *old, "new of ann", "new of bob"]


@pytest.mark.sampled(start=1)
@pytest.mark.parametrize(
    ("take", "won"),
    [("ours", ["bob's"]), ("theirs", ["ann's"]), ("abandon", ["ann's"]), ("both", ["ann's", "bob's"])],
)
def test_a_pushed_number_stays_for_every_resolution_of_the_inbox(
    clone: Clone, now: Any, take: str, won: list[str]
) -> None:
    ann, bob = at_odds_about_an_item(clone, now)
    settle(bob, "inbox.md", take)
    pushed = bob.call("push", {})
    assert pushed["renumbered"] == [{"title": "new of bob", "from": "INB-002", "to": "INB-003"}]
    wanted = [("INB-001", title) for title in won] + [("INB-003", "new of bob"), ("INB-002", "new of ann")]
    assert titles((root(bob) / "inbox.md").read_text()) == wanted
    assert "as INB-003 says" in (root(bob) / "note.md").read_text()
    ann.call("pull", {})
    assert titles((root(ann) / "inbox.md").read_text()) == wanted


@pytest.mark.parametrize("with_id", [True, False])
def test_a_text_given_for_the_inbox_cannot_change_a_pushed_number(clone: Clone, now: Any, with_id: bool) -> None:
    _, bob = at_odds_about_an_item(clone, now, with_id)
    keys = item_ids((root(bob) / "inbox.md").read_text()).keys()
    by_ann = Inbox(git(bob, "show", "origin/main:inbox.md")).items[-1].text.rstrip()
    ours = (root(bob) / "inbox.md").read_text().replace("bob's", "settled")
    content = ours.replace("## Closed\n", f"{by_ann}\n\n## Closed\n")
    bob.call("resolve", {"path": "inbox.md", "content": content})
    assert bob.call("push", {})["renumbered"] == [{"title": "new of bob", "from": "INB-002", "to": "INB-003"}]
    assert titles((root(bob) / "inbox.md").read_text()) == [
        ("INB-001", "settled"),
        ("INB-003", "new of bob"),
        ("INB-002", "new of ann"),
    ]
    assert keys < item_ids((root(bob) / "inbox.md").read_text()).keys()


def at_odds_about_an_item(clone: Clone, now: Any, with_id: bool = True) -> tuple[Session, Session]:
    """Ann, and Bob who has fetched: both changed INB-001, and both have a new INB-002, Bob's with a unique id or not."""
    ann, bob = clone("ann"), clone("bob")
    ann.call("inbox_add", {"title": "shared"})
    commit(ann, {})
    ann.call("push", {})
    bob.call("pull", {})
    for session, name in ((bob, "bob"), (ann, "ann")):  # Bob's item is the older one: being pushed counts, not age
        session.call("inbox_add", {"title": f"new of {name}"})
        edit(session, "inbox.md", "— shared", f"— {name}'s")
        if name == "bob" and not with_id:
            new = Inbox((root(bob) / "inbox.md").read_text()).items[-1]
            edit(bob, "inbox.md", f"  <!-- cohabit:{new.uid} added={new.added_utc} -->\n", "")
        now.move(minutes=1)
        commit(session, {"note.md": "as INB-002 says\n"} if name == "bob" else {})
    ann.call("push", {})
    assert bob.call("push", {})["files"] == ["inbox.md"]
    return ann, bob


FATES = st.lists(st.sampled_from(["kept", "edited", "edited otherwise", ""]), min_size=4, max_size=4)
"""What a side did to each of four entries; "" removed it."""


def journal_after(fates: Sequence[str]) -> str:
    entry = "## 2026-05-01 09:00 — ann (Ann)\n{} {}\n<!-- cohabit:e{} -->\n\n"
    return "# Journal\n\n" + "".join(entry.format(n, fate, n) for n, fate in enumerate(fates) if fate)


def inbox_after(fates: Sequence[str]) -> str:
    item = "- [ ] INB-00{} — {} {}  \n  <!-- cohabit:i{} -->\n\n"
    items = "".join(item.format(n + 1, n, fate, n) for n, fate in enumerate(fates) if fate)
    return HEADER.replace("## Open\n\n", f"## Open\n\n{items}")


def fate_of_both(mine: str, yours: str, preferred: str) -> str:
    """A change survives the removal by the other side, and of two changes the preferred one counts."""
    edits = [fate for fate in (mine, yours) if fate.startswith("edited")]
    return preferred if len(edits) == 2 else edits[0] if edits else min(mine, yours)


@settings(max_examples=examples(60), deadline=None)
@given(FATES, FATES, st.sampled_from(["ours", "theirs"]))
def test_a_preferred_side_wins_only_conflicting_entries(
    mine: list[str], yours: list[str], prefer: Literal["ours", "theirs"]
) -> None:
    preferred = mine if prefer == "ours" else yours
    wanted = [f"{n} {fate}" for n, fate in enumerate(map(fate_of_both, mine, yours, preferred)) if fate]
    for path, after in (("journal.md", journal_after), ("inbox.md", inbox_after)):
        theirs = after(yours)
        pushed = item_ids(theirs) if path == "inbox.md" else {}
        merged = merge_file(path, after(["kept"] * 4), after(mine), theirs, pushed, prefer)
        assert (said(merged.text) or [title for _, title in titles(merged.text)]) == wanted
        assert not merged.conflicts
