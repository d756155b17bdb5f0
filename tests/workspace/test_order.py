"""Entries of one author keep their order through every merge."""

from hypothesis import given, settings
from hypothesis import strategies as st

from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.journal import Entry, Journal
from cohabit.workspace.merging.merge import merge_file
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
        merged = merge_file(self.path, self.shared[author], self.texts[author], self.remote)
        assert not merged.conflicts
        again = merge_file(self.path, self.shared[author], self.remote, self.texts[author])
        assert merged.text == again.text
        self.remote = self.texts[author] = self.shared[author] = str(merged.text)


@settings(max_examples=200)
@given(STEPS)
def test_entries_of_one_author_keep_their_order_whatever_the_clock_says(steps):
    clones = Clones("journal.md", "# Journal\n\n")
    for number, (what, author, minutes) in enumerate(steps):
        if what == "sync":
            clones.sync(author)
            continue
        who = Identity(author, author[:3].capitalize(), f"{author}@example.org")
        journal = Journal.parse(clones.texts[author])
        entry = Entry.new(who, NOON.replace(minute=30 + minutes), f"number {number:03}", last=journal.last_time(author))
        clones.texts[author] = journal.append(entry).text
    for author in (*AUTHORS, *AUTHORS):
        clones.sync(author)
    entries = [entry for block in Journal.parse(clones.remote).blocks if (entry := block.entry)]
    assert len(entries) == sum(what == "write" for what, _, _ in steps)
    for author in AUTHORS:
        numbers = [entry.summary for entry in entries if entry.agent_id == author]
        assert numbers == sorted(numbers)


@settings(max_examples=100)
@given(STEPS)
def test_open_items_of_one_author_keep_their_order(steps):
    clones = Clones("inbox.md", "# Inbox\n\n## Open\n\n## Closed\n")
    for number, (what, author, minutes) in enumerate(steps):
        if what == "sync":
            clones.sync(author)
            continue
        now = NOON.replace(minute=30 + minutes)
        inbox, _ = Inbox.parse(clones.texts[author]).add(title=f"number {number:03}", by=author, now=now)
        clones.texts[author] = inbox.text
    for author in (*AUTHORS, *AUTHORS):
        clones.sync(author)
    items = Inbox.parse(clones.remote).items
    for author in AUTHORS:
        titles = [item.title for item in items if item.added_by == author]
        assert titles == sorted(titles)


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
