"""Entries of one author keep their order through every merge."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples

from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.journal import Entry, Journal
from cohabit.workspace.merging.merge import merge_file, pushed_ids
from cohabit.workspace.merging.ordering import in_order
from cohabit.workspace.person.identity import Identity

from .conftest import NOON

AUTHORS = ("ann-cli", "bob-cli", "eve-cli")
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.sampled_from(AUTHORS), st.integers(-2, 2)),
        st.tuples(st.just("sync"), st.sampled_from(AUTHORS), st.just(0)),
    ),
    max_size=24,
)  # fmt: skip


class Clones:
    """A remote and a clone for each author. Every clone remembers what it shared last, as git does."""

    def __init__(self, path: str, start: str) -> None:
        self.path = path
        self.remote = start
        self.texts = dict.fromkeys(AUTHORS, start)
        self.shared = dict.fromkeys(AUTHORS, start)

    def sync(self, author: str) -> None:
        pushed = pushed_ids(self.path, self.remote)
        merged = merge_file(self.path, self.shared[author], self.texts[author], self.remote, pushed)
        assert not merged.conflicts
        again = merge_file(self.path, self.shared[author], self.remote, self.texts[author], pushed)
        assert merged.text == again.text
        self.remote = self.texts[author] = self.shared[author] = str(merged.text)


def in_the_earlier_format(text):
    """The text as the earlier tool writes it: with minutes and without ids."""
    return "".join(line for line in text.splitlines(keepends=True) if "<!-- cohabit:" not in line)


@settings(max_examples=examples(300))
@given(STEPS, st.frozensets(st.sampled_from(AUTHORS)))
def test_entries_of_one_author_keep_their_order_whatever_the_clock_says(steps, earlier):
    clones = Clones("journal.md", "# Journal\n\n")
    for number, (what, author, minutes) in enumerate(steps):
        if what == "sync":
            clones.sync(author)
            continue
        who = Identity(author, author[:3].capitalize(), f"{author}@example.org")
        journal, now = Journal.parse(clones.texts[author]), NOON.replace(minute=30 + minutes)
        if author in earlier:
            entry = Entry.new(who, now, f"number {number:03}")
            clones.texts[author] += in_the_earlier_format(entry.text)
            continue
        entry = Entry.new(who, now, f"number {number:03}", last=journal.last_time(author))
        clones.texts[author] = journal.append(entry).text
    for author in (*AUTHORS, *AUTHORS):
        clones.sync(author)
    entries = [entry for block in Journal.parse(clones.remote).blocks if (entry := block.entry)]
    assert len(entries) == sum(what == "write" for what, _, _ in steps)
    for author in AUTHORS:
        numbers = [entry.summary for entry in entries if entry.agent_id == author]
        assert numbers == sorted(numbers)


@settings(max_examples=examples(200))
@given(STEPS, st.frozensets(st.sampled_from(AUTHORS)))
def test_open_items_of_one_author_keep_their_order(steps, earlier):
    clones = Clones("inbox.md", "# Inbox\n\n## Open\n\n## Closed\n")
    for number, (what, author, minutes) in enumerate(steps):
        if what == "sync":
            clones.sync(author)
            continue
        now = NOON.replace(minute=30 + minutes)
        inbox, _ = Inbox.parse(clones.texts[author]).add(title=f"number {number:03}", by=author, now=now)
        clones.texts[author] = _without_last_comment(inbox.text) if author in earlier else inbox.text
    for author in (*AUTHORS, *AUTHORS):
        clones.sync(author)
    items = Inbox.parse(clones.remote).items
    assert len(items) == sum(what == "write" for what, _, _ in steps)
    for author in AUTHORS:
        titles = [item.title for item in items if item.added_by == author]
        assert titles == sorted(titles)


def _without_last_comment(text):
    """The inbox without the comment of its last open item."""
    before, comment, after = text.rpartition("  <!-- cohabit:")
    assert comment
    return before + after.partition("\n")[2]


def test_two_sides_that_disagree_about_the_order_still_merge_to_the_same_text():
    base = "# Journal\n\n"
    first, second = (f"## 2026-05-22 14:30 \N{EM DASH} ann-cli (Ann)\nnumber {i}\n\n" for i in (1, 2))
    merged = merge_file("journal.md", base, base + first + second, base + second + first)
    again = merge_file("journal.md", base, base + second + first, base + first + second)
    assert merged.text == again.text
    assert sorted(str(merged.text).split("## ")[1:]) == sorted((base + first + second).split("## ")[1:])


def test_six_entries_of_one_second_stay_in_order_when_two_clones_merge(clone):
    ann, bob = clone("ann"), clone("bob")
    for round_ in range(3):
        for session in (ann, bob):
            for i in (0, 1):
                session.call("journal_append", {"summary": f"{session.agent_id()} {2 * round_ + i}"})
            session.call("add", {"paths": ["journal.md"]})
            session.call("commit", {"message": "x"})
            session.call("sync", {})
    ann.call("sync", {})
    for session in (ann, bob):
        found = [entry["summary"] for entry in session.call("journal_tail", {})["entries"]]
        for name in ("ann-cli", "bob-cli"):
            assert [summary for summary in found if summary.startswith(name)] == [f"{name} {i}" for i in range(6)]


@pytest.mark.parametrize(
    ("undated", "order"), [({"a"}, ["b", "a"]), ({"b"}, ["b", "a"]), ({"a", "b"}, ["b", "a"]), (set(), ["a", "b"])]
)
def test_entries_of_one_author_stay_in_order_if_one_of_them_has_no_exact_time(
    undated: set[str], order: list[str]
) -> None:
    times = {"a": "2026-05-22 14:31", "b": "2026-05-22 14:32"}
    assert in_order([], times, [["b", "a"]], undated) == order
    assert in_order([], times, [["a", "b"]], undated) == ["a", "b"]
    assert in_order(["b", "gone"], times, [["b", "a"]], undated) == ["b", "a"]
