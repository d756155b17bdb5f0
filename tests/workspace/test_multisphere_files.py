"""One workspace used by both tools: text of ours survives Multisphere, and the reverse.

`Multisphere` changes the files as the real tool was observed to do, with its bugs; it shares no code with ours.
"""

import re
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples

from cohabit.errors import BadArgs
from cohabit.workspace.formats.inbox import HEADER, Inbox
from cohabit.workspace.formats.item import Item
from cohabit.workspace.formats.journal import Entry, Journal, Todo, archive
from cohabit.workspace.merging.merge import item_ids, merge_file
from cohabit.workspace.person.identity import Identity

NOW = datetime(2026, 5, 22, 14, 30, 5, tzinfo=timezone(timedelta(hours=2)))
STAMP = "2026-05-22 14:45"


class Multisphere:
    """Multisphere does not validate agent ids, so there are some with spaces."""

    def __init__(self, agent_id: str = "old", agent_name: str = "Old") -> None:
        self.agent_id, self.agent_name = agent_id, agent_name

    def add(self, text: str, title: str, body: str, target: str) -> str:
        numbers = [int(n) for n in re.findall(r"INB-(\d{3,})", text)]
        block = [f"- [ ] INB-{max(numbers, default=0) + 1:03d} @{target} — {title}  "]
        block.append(f"  added {STAMP} by {self.agent_id}")
        block += [f"  {line}" for line in body.split("\n")] if body else []
        lines = text.split("\n")
        end = next(i for i, line in enumerate(lines) if line.startswith("## Closed"))
        return self.normalised([*lines[:end], "", *block, "", *lines[end:]])

    def close(self, text: str, id_: str, resolution: str) -> str:
        lines = text.split("\n")
        start = next(i for i, line in enumerate(lines) if line.startswith(f"- [ ] {id_}"))
        end = next(
            (i for i in range(start + 1, len(lines)) if not lines[i].strip() or lines[i].startswith(("- [", "## "))),
            len(lines),
        )
        head = lines[start].replace("- [ ] ", "- [x] ~~", 1)
        head = re.sub(r"( {2})?$", r"~~\1", head, count=1)
        block = [head, *lines[start + 1 : end], f"  closed {STAMP} by {self.agent_id} → {resolution}"]
        return self.normalised([*lines[:start], *lines[end:], "", *block])

    def append(self, text: str, summary: str, details: str, todo: str) -> str:
        entry = f"## {STAMP} — {self.agent_id} ({self.agent_name})\n{summary.strip()}\n"
        entry += f"\n{details.strip()}\n" if details.strip() else ""
        entry += f"\nTODO @anyone: {todo.strip()}\n" if todo.strip() else ""
        return (text or "# Journal\n\n") + entry + "\n"

    @staticmethod
    def normalised(lines: list[str]) -> str:
        spaced: list[str] = []
        for line in lines:
            spaced += ["", line, ""] if line.startswith("## ") else [line]
        kept = [line for i, line in enumerate(spaced) if line.strip() or (i and spaced[i - 1].strip())]
        return "\n".join(kept).strip("\n") + "\n"


OLD, MIKE = Multisphere(), Multisphere("Mike Code", "Mike")
PLAIN = st.sampled_from(["a title", "see INB-041", "with — dash", "~~struck~~", "→ arrow", "x" * 40])
BODY = st.sampled_from(
    [
        "",
        "one line",
        "two\nlines",
        "with\n\na gap",
        "## heading\n\n- [ ] INB-900 @x — y",
        "\\\n\n\\\n<!-- hm -->",
        "closed 2026-01-01 10:00 by x → y",
    ]
)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["old add", "new add", "old close", "new close", "new claim", "Mike's add", "Mike's close"]),
        PLAIN,
        BODY,
        st.integers(0, 9),
    ),
    max_size=8,
)


def step(text: str, kind: str, title: str, body: str, pick: int) -> str:
    inbox = Inbox.parse(text)
    open_ = [item.id for item in inbox.items if item.open]
    tool = MIKE if kind.startswith("Mike") else OLD
    if kind in ("old add", "Mike's add"):
        whom = "Jamie Desktop" if pick % 2 else "ann"
        return tool.add(
            text, title, body.replace("\n\n", "\n").replace("## ", ""), whom
        )  # texts that it would damage itself
    if kind == "new add":
        return inbox.add(title=title, body=body, by="ann", now=NOW)[0].text
    if not open_:
        return text
    id_ = open_[pick % len(open_)]
    if kind in ("old close", "Mike's close"):
        return tool.close(text, id_, title)
    if kind == "new close":
        return inbox.close(id_, by="ann", resolution=title, now=NOW).text
    return inbox.claim(id_, "ann", NOW).text


def facts(item: Item) -> tuple[str, ...]:
    return item.key, item.id, item.title, item.target, item.body, item.added_at, item.added_by, item.claimed_by


def saying(item: Item) -> tuple[str, ...]:
    """The fields that no merge may change; mentions of numbers may be updated."""
    title, body = (re.sub(r"INB-[0-9]+", "INB", text) for text in (item.title, item.body))
    return title, body, item.target, item.added_at, item.added_by


@settings(deadline=None)
@given(STEPS)
def test_no_item_is_lost_or_changed_when_both_tools_take_turns(steps: list[tuple[str, str, str, int]]) -> None:
    text = HEADER
    for kind, title, body, pick in steps:
        before = Inbox.parse(text).items
        text = step(text, kind, title, body, pick)
        after = {item.key: item for item in Inbox.parse(text).items}
        assert len(after) == len(before) + kind.endswith("add")
        for item in before:
            same = facts(after[item.key]) == facts(item)
            assert same or (kind == "new claim" and after[item.key].claimed_by == "ann")
            assert after[item.key].open <= item.open
    assert OLD.normalised(text.split("\n")) == text, "our text is in the normal form of Multisphere"


@settings(deadline=None, max_examples=examples(50))
@given(STEPS, STEPS, STEPS)
def test_sides_made_with_both_tools_merge_without_loss(
    common: list[tuple[str, str, str, int]],
    mine: list[tuple[str, str, str, int]],
    yours: list[tuple[str, str, str, int]],
) -> None:
    base = HEADER
    for each in common:
        base = step(base, *each)
    ours = theirs = base
    for each in mine:
        ours = step(ours, *each)
    for each in yours:
        theirs = step(theirs, *each)
    merged = merge_file("inbox.md", base, ours, theirs, item_ids(theirs))
    after = {item.key: item for item in Inbox.parse(merged.text or "").items}
    assert not merged.conflicts
    assert len({item.id for item in after.values()}) == len(after)
    moved = {each.old for each in merged.renumbered}
    for side in (ours, theirs):
        for item in Inbox.parse(side).items:
            same = [after[item.key]] if item.key in after else list(after.values()) if item.id in moved else []
            assert any(saying(each) == saying(item) and each.open <= item.open for each in same)
    for item in Inbox.parse(theirs).items:
        assert after[item.key].id == item.id


def test_a_body_with_empty_lines_is_moved_with_its_item_when_multisphere_closes_it() -> None:
    inbox, item = Inbox.parse(HEADER).add(title="x", body="one\n\ntwo\n\n\nthree", by="ann", now=NOW)
    text = OLD.close(inbox.text, "INB-001", "done")
    (found,) = Inbox.parse(text).items
    assert (found.key, found.body, found.open) == (item.key, "one\n\ntwo\n\n\nthree", False)
    assert found.closing is not None
    assert (found.closing.by, found.closing.resolution) == ("old", "done")
    assert text.startswith("# Inbox\n\n## Open\n\n## Closed\n\n- [x] ~~INB-001 @anyone — x~~  \n")


def test_both_tools_continue_each_others_numbers() -> None:
    text = OLD.add(Inbox.parse(HEADER).add(title="ours", by="ann", now=NOW)[0].text, "theirs", "", "ann")
    inbox, _ = Inbox.parse(text).add(title="ours again", by="ann", now=NOW)
    assert [item.id for item in inbox.items] == ["INB-001", "INB-002", "INB-003"]


def test_a_journal_written_by_both_tools_has_every_entry_unchanged() -> None:
    ann = Identity("ann", "Ann", "ann@example.org")
    ours = Entry.new(ann, NOW, "one\n\ntwo", "## not a heading\n\nmore", [Todo("x")])
    text = OLD.append(Journal.parse("").append(ours).text, "by Multisphere", "details\n\nmore", "y")
    text = Journal.parse(text).append(Entry.new(ann, NOW, "three")).text
    entries = [block.entry for block in Journal.parse(text).blocks]
    assert entries[0] == ours
    assert entries[1] == Entry(
        at=STAMP,
        agent_id="old",
        agent_name="Old",
        summary="by Multisphere",
        details="details\n\nmore",
        todos=(Todo("y"),),
    )
    assert len(entries) == 3


def test_headings_in_details_of_multisphere_stay_with_their_entry() -> None:
    ann = Identity("ann", "Ann", "ann@example.org")
    base = Journal.parse("").append(Entry.new(ann, NOW, "before")).text
    details = "intro\n\n## Findings\n\n- one\n\n## Next\n\n- two"
    theirs = OLD.append(base, "a review", details, "read it")
    ours = Journal.parse(base).append(Entry.new(ann, NOW, "meanwhile")).text
    for sides in ((ours, theirs), (theirs, ours)):
        merged = merge_file("journal.md", base, *sides)
        assert not merged.conflicts
        found = [block.entry for block in Journal.parse(merged.text or "").blocks]
        assert {entry.summary: (entry.details, entry.todos) for entry in found if entry} == {
            "before": ("", ()),
            "a review": (details, (Todo("read it"),)),
            "meanwhile": ("", ()),
        }
    done = archive(theirs, "2026-06", lambda path: None)
    assert (done.journal, done.entries) == ("# Journal\n\n", 2)
    assert details in done.months["journal-archive/2026-05.md"]


def test_text_below_the_comment_of_an_entry_is_not_part_of_it() -> None:
    ann = Identity("ann", "Ann", "ann@example.org")
    ours = Entry.new(ann, NOW, "one", "details")
    (block,) = Journal.parse(Journal.parse("").append(ours).text + "## Ideas\nTODO @ann: no\n").blocks
    assert (block.entry, block.below) == (ours, "## Ideas\nTODO @ann: no\n")


def test_an_item_for_several_agents_is_an_item() -> None:
    text = OLD.add(HEADER, "x — y", "body", "ann, bob")
    (item,) = Inbox.parse(text).items
    assert (item.id, item.target, item.title, item.body) == ("INB-001", "ann, bob", "x — y", "body")
    assert [item.is_for(name) for name in ("ann", "bob", "an")] == [True, True, False]
    (closed,) = Inbox.parse(text).close("INB-001", by="ann", resolution="done", now=NOW).items
    assert facts(closed) == facts(item)


def test_an_item_of_an_agent_with_spaces_keeps_every_byte_when_it_is_claimed_and_closed() -> None:
    text = MIKE.add(MIKE.add(HEADER, "one", "body", "Jamie Desktop"), "two", "", "Jamie  Desktop, ann")
    one, two = Inbox.parse(text).items
    assert (one.added_by, one.added_at, one.target, one.body) == ("Mike Code", STAMP, "Jamie Desktop", "body")
    assert (two.added_by, two.target) == ("Mike Code", "Jamie  Desktop, ann")
    claimed = Inbox.parse(text).claim("INB-001", "ann", NOW)
    assert claimed.items[1].text == two.text
    closed = claimed.close("INB-001", by="ann", resolution="done", now=NOW)
    assert closed.items[0].text == two.text
    assert f"~~INB-001 @Jamie Desktop — one~~  \n  added {STAMP} by Mike Code\n  <!--" in closed.text
    assert "\\" not in closed.text
    assert facts(closed.items[1]) == (*facts(one)[:-1], "ann")


def test_closings_by_an_agent_with_spaces_are_read_with_any_text() -> None:
    text = Inbox.parse(HEADER).add(title="x", body="b", by="ann", now=NOW)[0].text
    for resolution, said in (("done → there", "done → there"), ("", "")):
        (item,) = Inbox.parse(MIKE.close(text, "INB-001", resolution)).items
        assert (item.body, item.claimed_by) == ("b", "")
        assert item.closing is not None
        assert (item.closing.by, item.closing.at, item.closing.resolution) == ("Mike Code", STAMP, said)


def test_a_claim_by_an_agent_with_spaces_is_read() -> None:
    text = MIKE.add(HEADER, "x", f"claimed {STAMP} by Mike Code\nbody", "anyone")
    (item,) = Inbox.parse(text).items
    assert (item.claimed_by, item.body) == ("Mike Code", "body")


def test_two_closings_by_agents_with_spaces_are_both_kept() -> None:
    base = OLD.add(HEADER, "x", "b", "ann")
    ours = MIKE.close(base, "INB-001", "mine")
    theirs = Multisphere("Jamie Desktop").close(base, "INB-001", "theirs → too")
    for sides in ((ours, theirs), (theirs, ours)):
        (item,) = Inbox.parse(merge_file("inbox.md", base, *sides).text or "").items
        assert [(done.by, done.resolution) for done in item.closings] == [
            ("Jamie Desktop", "theirs → too"),
            ("Mike Code", "mine"),
        ]
        assert item.body == "b"


def test_an_entry_of_an_agent_with_spaces_is_archived_unchanged() -> None:
    text = MIKE.append("", "did it", "details", "y")
    done = archive(text, "2026-06", lambda path: None)
    assert (done.journal, done.entries) == ("# Journal\n\n", 1)
    assert done.months["journal-archive/2026-05.md"].endswith(text.removeprefix("# Journal\n\n"))


def test_an_item_for_an_id_with_spaces_is_for_that_agent_only() -> None:
    inbox, item = Inbox.parse(HEADER).add(title="x", for_="@Jamie Desktop", by="ann", now=NOW)
    inbox, other = Inbox.parse(inbox.text).add(title="- y — z", for_="jamie@laptop", by="ann", now=NOW)
    found = Inbox.parse(inbox.text).items
    assert found == [item, other]
    assert [each.target for each in found] == ["Jamie Desktop", "jamie@laptop"]
    names = ["Jamie Desktop", "jamie@laptop", "jamie", "laptop", "desktop"]
    assert [[each.is_for(name) for name in names] for each in found] == [
        [True, False, False, False, False],
        [False, True, False, False, False],
    ]
    (several,) = Inbox.parse(OLD.add(HEADER, "x", "", "Jamie Desktop, @bob")).items
    assert [several.is_for(name) for name in ("Jamie Desktop", "bob", "ann")] == [True, True, False]


TARGETS = st.text() | st.lists(
    st.sampled_from(["Jamie", "Desktop", "ann", "-", "—", "–", "@bob", "a:", ",", "~~", "<!--", "É", "jamie@laptop", ""]),
    max_size=4,
).map(" ".join)  # fmt: skip


@given(TARGETS, st.sampled_from(["title", "- x", "— y", "@eve — z", ": x"]))
def test_an_accepted_target_is_parsed_unchanged_and_addresses_no_other_agent(target: str, title: str) -> None:
    try:
        text = Inbox.parse(HEADER).add(title=title, for_=target, by="ann", now=NOW)[0].text
    except BadArgs:
        return
    whom = target.strip().removeprefix("@") or "anyone"
    (item,) = Inbox.parse(text).items
    assert (item.target, item.title, item.is_for(whom)) == (whom, title, True)
    assert not any(item.is_for(name) for name in ("ann", "bob", "jamie", "desktop", "laptop") if name != whom)
    entry = Entry.new(Identity("ann", "Ann", "ann@example.org"), NOW, "did it", todos=[Todo(title, target)])
    (block,) = Journal.parse(entry.text).blocks
    assert block.entry == entry
    assert entry.todos == (Todo(title, whom),)


@pytest.mark.sampled
@pytest.mark.parametrize("unit", ["a", " ", "a ", " —", " →", "→ ", "→", " -", "~~", "\t", "@", ", "])
@pytest.mark.parametrize("end", ["x", " — x"])
def test_an_item_with_lines_of_250_kilobytes_is_read_quickly(unit: str, end: str) -> None:
    """Quadratic patterns would take far longer than the suite's time limit, which is the check."""
    long = (unit * 250_000)[:250_000] + end
    lines = [f"- [x] INB-001 @A{long}", f"  added {STAMP} by A{long}", f"  closed {STAMP} by A{long}"]
    inbox = Inbox.parse(HEADER + "\n" + "\n".join(lines) + "\n")
    for item in inbox.items:
        assert item.closing is not None
        assert not item.is_for("ann")
    assert inbox.text.endswith(f"{long}\n")


def test_a_title_that_multisphere_struck_out_in_a_crlf_file_is_parsed() -> None:
    text = Inbox.parse(HEADER.replace("\n", "\r\n")).add(title="x", body="b", by="ann", now=NOW)[0].text
    closed = OLD.close(text, "INB-001", "done")
    assert "- [x] ~~INB-001 @anyone — x  \r~~\n" in closed
    (item,) = Inbox.parse(closed).items
    assert (item.title, item.body, item.open) == ("x", "b", False)
