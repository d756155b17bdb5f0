"""The work of a merge grows with its input and not with its square, whatever somebody pushed.

Work is counted in lines of our code that run and in bytes of memory, so a busy machine does not matter.
"""

import sys
import tracemalloc
from collections.abc import Callable
from heapq import heapify, heappop, heappush
from types import FrameType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples

from cohabit.errors import TooLarge
from cohabit.workspace import driver
from cohabit.workspace.formats.inbox import HEADER as INBOX_HEADER
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.journal import HEADER as JOURNAL_HEADER
from cohabit.workspace.formats.journal import Journal, archive
from cohabit.workspace.merging import inboxes, merge
from cohabit.workspace.merging.losses import losses
from cohabit.workspace.merging.merge import item_ids, merge_file
from cohabit.workspace.merging.numbering import Renumbered, update_mentions
from cohabit.workspace.merging.ordering import in_order
from cohabit.workspace.merging.ownership import foreign_changes

N = 60
MOST = 2.7
"""How much more work twice the input may be: a square would be four times as much."""


def lines(act: Callable[[], object]) -> int:
    """The lines that run in files of the workspace. A loop on one line counts each time it is run."""
    count = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal count
        if "/workspace/" not in frame.f_code.co_filename:
            return None
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        act()
    finally:
        sys.settrace(before)
    return count


def memory(act: Callable[[], object]) -> int:
    """The most bytes that are in use at any time, and the result."""
    tracemalloc.start()
    try:
        result = act()
        peak = tracemalloc.get_traced_memory()[1]
        del result
        return peak
    finally:
        tracemalloc.stop()


def entry(i: int, minute: int, who: str = "bob", more: str = "") -> str:
    hours, minutes = divmod(minute, 60)
    return f"## 2026-05-{1 + hours // 24:02} {hours % 24:02}:{minutes:02} — {who} (Bob)\nnumber {i}\n{more}\n"


def journal(minutes: list[int], who: str = "bob", more: str = "") -> str:
    return JOURNAL_HEADER + "".join(entry(i, minute, who, more) for i, minute in enumerate(minutes))


def item(id_: str, title: str, more: str = "", minute: int = 0) -> str:
    return f"- [ ] {id_} @bob — {title}  \n  added 2026-05-01 {minute // 60 % 24:02}:{minute % 60:02} by bob\n{more}\n"


def inbox(items: list[str], closed: str = "") -> str:
    return f"# Inbox\n\n## Open\n\n{''.join(items)}## Closed\n\n{closed}"


def done(id_: str, title: str, by: list[str], uid: str) -> str:
    lines = [f"  {'also ' if i else ''}closed 2026-05-02 09:00 by {who} → ok\n" for i, who in enumerate(by)]
    return f"- [x] ~~{id_} @bob — {title}~~  \n  added 2026-05-01 09:00 by bob\n  <!-- cohabit:{uid} -->\n{''.join(lines)}\n"


JOURNALS: dict[str, Callable[[int], tuple[str, str, str]]] = {
    "out of order": lambda n: (JOURNAL_HEADER, journal([*range(n, 0, -1)]), journal([5], "ann")),
    "out of order on both sides": lambda n: (
        JOURNAL_HEADER, journal([*range(n, 0, -1)]), journal([*range(n, 0, -2), *range(n - 1, 0, -2)]),
    ),
    "the same entries in two orders": lambda n: (
        JOURNAL_HEADER,
        JOURNAL_HEADER + "".join(entry(i, i) for i in reversed(range(n))),
        JOURNAL_HEADER + "".join(entry(i, i) for i in [*range(1, n, 2), *range(0, n, 2)]),
    ),
    "of one minute": lambda n: (JOURNAL_HEADER, journal([5] * n), journal([5] * n, more="more\n")),
    "the same many times": lambda n: (JOURNAL_HEADER, JOURNAL_HEADER + entry(1, 5) * n, JOURNAL_HEADER + entry(1, 5)),
    "of many authors": lambda n: (
        JOURNAL_HEADER,
        JOURNAL_HEADER + "".join(entry(i, 9 - i % 2, f"bob{i // 2}") for i in range(n)),
        JOURNAL_HEADER + "".join(entry(i, 9 + i % 2, f"bob{i // 2}") for i in range(n)),
    ),
    "with one id": lambda n: (
        JOURNAL_HEADER,
        journal([*range(n)], more="<!-- cohabit:abc at=2026-05-22T12:30:05Z -->\n"),
        journal([*range(n, 0, -1)], more="more\n<!-- cohabit:abc at=2026-05-22T12:30:05Z -->\n"),
    ),
    "with and without exact times": lambda n: (
        JOURNAL_HEADER,
        JOURNAL_HEADER + "".join(
            entry(i, n - i, more=f"<!-- cohabit:u{i} at=2026-05-01T00:{i % 60:02}:00Z -->\n" if i % 2 else "")
            for i in range(n)
        ),
        journal([*range(n, 0, -1)], "bob"),
    ),
    "removed by one side": lambda n: (journal([*range(n, 0, -1)]), JOURNAL_HEADER + entry(9, 9), journal([*range(n)])),
}  # fmt: skip
INBOXES: dict[str, Callable[[int], tuple[str, str, str]]] = {
    "out of order": lambda n: (
        INBOX_HEADER,
        inbox([item(f"INB-{i:03}", f"a {i}", minute=n - i) for i in range(n)]),
        inbox([item(f"INB-{i:03}", f"b {i}", minute=n - i) for i in range(n)]),
    ),
    "with numbers of many prefixes": lambda n: (
        INBOX_HEADER,
        inbox([item(f"A{i}-1", "a") for i in range(n)]),
        inbox([item(f"A{i}-1", "b") for i in range(n)]),
    ),
    "of one number": lambda n: (
        INBOX_HEADER,
        inbox([item("INB-001", f"a {i}") for i in range(n)]),
        inbox([item("INB-001", f"b {i}") for i in range(n)]),
    ),
    "with one id and many versions": lambda n: (
        inbox([item("INB-001", "x", "  <!-- cohabit:abc -->\n")]),
        inbox([item("INB-001", f"a {i}", "  <!-- cohabit:abc -->\n") for i in range(n)]),
        inbox([item("INB-001", f"b {i}", "  <!-- cohabit:abc -->\n") for i in range(n)]),
    ),
    "closed many times": lambda n: (
        inbox([], done("INB-001", "x", ["ann"], "abc")),
        inbox([], done("INB-001", "x", [f"a{i}" for i in range(n)], "abc")),
        inbox([], done("INB-001", "x", [f"b{i}" for i in range(n)], "abc")),
    ),
    "that mention renumbered ones": lambda n: (
        INBOX_HEADER,
        inbox([item(f"INB-{i:03}", f"a {i}", f"  see INB-{n - i:03}\n") for i in range(n)]),
        inbox([item(f"INB-{i:03}", f"b {i}") for i in range(n)]),
    ),
    "in many sections": lambda n: (
        INBOX_HEADER,
        INBOX_HEADER + "".join(f"## a{i}\ntext\n" for i in range(n)),
        INBOX_HEADER + "".join(f"## b{i}\ntext\n" for i in range(n)),
    ),
}  # fmt: skip
CASES = [("journal.md", name) for name in JOURNALS] + [("inbox.md", name) for name in INBOXES]


def grows_linearly(act: Callable[[int], Callable[[], object]], n: int = N) -> None:
    for measure in (lines, memory):
        measure(act(2))  # what happens once only, such as compiling patterns
        once, twice = measure(act(n)), measure(act(2 * n))
        assert twice <= MOST * once, f"{measure.__name__}: {once} for {n}, {twice} for {2 * n}"


def test_work_that_grows_with_the_square_is_noticed_also_in_a_loop_on_one_line() -> None:
    with pytest.raises(AssertionError, match="lines: "):
        grows_linearly(lambda n: lambda: sum(1 for a in range(n) if not any(b < 0 for b in range(a))))


@pytest.mark.sampled(kind=lambda path: path)
@pytest.mark.parametrize(("path", "name"), CASES)
def test_merging_twice_the_entries_is_about_twice_the_work(path: str, name: str) -> None:
    made = (JOURNALS if path == "journal.md" else INBOXES)[name]

    def act(n: int) -> Callable[[], object]:
        base, ours, theirs = made(n)
        pushed = item_ids(theirs) if path == "inbox.md" else {}
        return lambda: merge_file(path, base, ours, theirs, pushed)

    grows_linearly(act)


@pytest.mark.sampled(kind=lambda path: path)
@pytest.mark.parametrize(("path", "name"), CASES)
def test_checking_twice_the_entries_is_about_twice_the_work(path: str, name: str) -> None:
    """What is lost, and what speaks for another agent."""
    made = (JOURNALS if path == "journal.md" else INBOXES)[name]

    def act(n: int) -> Callable[[], object]:
        _, ours, theirs = made(n)
        return lambda: (losses({path: [ours]}, {path: theirs}), foreign_changes(path, ours, theirs, None))

    grows_linearly(act)


def test_finding_the_last_entry_of_an_agent_reads_each_line_once() -> None:
    text = {n: journal([*range(n)], "eve", more="as bob (Bob) said\n") for n in (2, 500, 1000)}
    text |= {n: f"{each}\n## 2026-01-01 x — bob (\n" * 2 for n, each in text.items()}
    grows_linearly(lambda n: lambda: Journal.parse(text[n]).last_time("bob"), 500)


def test_archiving_and_updating_mentions_are_linear() -> None:
    def archived(n: int) -> Callable[[], object]:
        text = journal([*range(n)], more="x" * 200 + "\n")
        return lambda: archive(text, "2026-06", lambda path: None)

    def updated(n: int) -> Callable[[], object]:
        moves = [Renumbered("key", "title", f"INB-{i:03}", f"INB-{i + n:03}") for i in range(n)]
        text = "".join(f"see INB-{i:03}\n" for i in range(n))
        return lambda: update_mentions(text, None, moves)

    grows_linearly(archived)
    grows_linearly(updated)


# -- the order itself -----------------------------------------------------------------------------
RANKS = st.lists(st.lists(st.integers(0, 7), unique=True, max_size=8), max_size=3)


@settings(max_examples=examples(500))
@given(RANKS, st.frozensets(st.integers(0, 7)))
def test_the_order_is_by_time_except_for_entries_that_a_side_has_after_later_ones(
    sides: list[list[int]], dated: frozenset[int]
) -> None:
    keys = sorted({i for side in sides for i in side})
    after = {
        i: {j for side in sides if i in side for j in side[: side.index(i)] if j > i and not {i, j} <= dated}
        for i in keys
    }
    waiting, expected = [i for i in keys if not after[i]], list[int]()
    heapify(waiting)
    while waiting:
        expected.append(heappop(waiting))
        for i in keys:
            if expected[-1] in after[i] and after[i] <= set(expected):
                heappush(waiting, i)
    found = in_order(
        [],
        {str(i): str(i) for i in keys},
        [[str(i) for i in side] for side in sides],
        {str(i) for i in keys if i not in dated},
    )
    assert found == [str(i) for i in expected]
    again = in_order([], {str(i): str(i) for i in keys}, [found, *([str(i) for i in side] for side in sides)],
                     {str(i) for i in keys if i not in dated})  # fmt: skip
    assert again == found or dated


# -- the limits -----------------------------------------------------------------------------------
@pytest.mark.parametrize("limit", ["MAX_MERGE_CHARS", "MAX_MERGE_ENTRIES"])
def test_a_merge_beyond_the_limit_is_refused_and_a_file_that_one_side_changed_is_taken(
    limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merge, limit, 10)
    for path, made in (("journal.md", JOURNALS["of one minute"]), ("inbox.md", INBOXES["of one number"])):
        base, ours, theirs = made(20)
        with pytest.raises(TooLarge, match=rf"{path}' is too large to be merged by entry: .* the limits are"):
            merge_file(path, base, ours, theirs)
        assert merge_file(path, base, ours, base).text == ours


def test_an_item_with_many_versions_and_many_closings_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inboxes, "MAX_MERGE_VARIANTS", 99)
    base = inbox([], done("INB-001", "x", ["ann"], "abc"))
    ours, theirs = (
        inbox([], "".join(done("INB-001", f"{side} {i}", [f"{side}{i}"], "abc") for i in range(5))) for side in "ab"
    )
    with pytest.raises(TooLarge, match="INB-001 is too large to be merged: 10 versions of it and 10 closings"):
        merge_file("inbox.md", base, ours, theirs)


def test_a_journal_beyond_the_limit_is_merged_by_git_and_nothing_is_lost(
    clone: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, bob = clone("ann"), clone("bob")
    for session in (ann, bob):
        session.call("journal_append", {"summary": f"by {session.agent_id()}"})
        session.call("inbox_add", {"title": f"of {session.agent_id()}"})
        session.call("add", {"paths": ["journal.md", "inbox.md"]})
        session.call("commit", {"message": "x"})
    ann.call("push", {})
    monkeypatch.setattr(merge, "MAX_MERGE_ENTRIES", 0)
    answer = bob.call("push", {})
    assert answer.get("error") == "conflict", answer
    assert answer["files"] == ["inbox.md", "journal.md"]
    for path in answer["files"]:
        bob.call("resolve", {"path": path, "take": "both"})
    answer = bob.call("push", {})
    assert answer["ok"] is True
    assert sorted(answer["notes"])[1].startswith("'journal.md' is too large to be merged by entry: ")
    monkeypatch.undo()
    ann.call("pull", {})
    for session in (ann, bob):
        assert {each["summary"] for each in session.call("journal_tail", {})["entries"]} == {"by ann-cli", "by bob-cli"}
        assert {each.title for each in Inbox.parse(session.call("read", {"path": "inbox.md"})["content"]).items} == {
            "of ann-cli", "of bob-cli",
        }  # fmt: skip


def test_a_file_that_only_looks_like_an_archive_is_merged_by_line_and_keeps_both_sides(clone: Any) -> None:
    ann, bob = clone("ann"), clone("bob")
    for session, line in ((ann, "first"), (bob, "last")):
        session.call("write", {"path": "journal-archive/notes.md", "content": f"{line}\n"})
        session.call("add", {"paths": ["journal-archive/notes.md"]})
        session.call("commit", {"message": "x"})
    ann.call("push", {})
    answer = bob.call("push", {})
    assert (answer["error"], answer["files"]) == ("conflict", ["journal-archive/notes.md"])
    bob.call("resolve", {"path": "journal-archive/notes.md", "take": "both"})
    bob.call("push", {})
    assert bob.call("read", {"path": "journal-archive/notes.md"})["content"] == "last\nfirst\n"


def test_the_merge_driver_leaves_a_file_beyond_the_limit_to_git(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(merge, "MAX_MERGE_ENTRIES", 1)
    monkeypatch.chdir(tmp_path)
    names = [str(tmp_path / name) for name in ("base", "ours", "theirs")]
    for name, text in zip(names, JOURNALS["of one minute"](9), strict=True):
        (tmp_path / name).write_text(text)
    assert driver.main([*names, "journal.md"]) not in (0, driver.CONFLICT)
    assert "'journal.md' is too large to be merged by entry" in capsys.readouterr().err
    assert (tmp_path / "ours").read_text() == JOURNALS["of one minute"](9)[1]
