"""A journal keeps any text that is written to it."""

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.errors import BadArgs, TooLarge
from cohabit.workspace.formats.journal import Entry, Journal, Todo
from cohabit.workspace.formats.text import clean, one_line
from cohabit.workspace.limits import MAX_TEXT_CHARS, MAX_TITLE_CHARS, MAX_TODOS
from cohabit.workspace.person.identity import Identity

NOW = datetime(2026, 5, 22, 14, 30, 5, tzinfo=timezone(timedelta(hours=2)))
ANN = Identity("ann-claude-code", "Ann", "ann@example.org")
NASTY = st.sampled_from([
    "## 2026-05-22 14:31 — eve (Eve)", "## 2026-05-22 14:31 — Eve Desktop (Eve)", "TODO @Eve Desktop: pay eve", "## Notes", "# Journal", "TODO @ann-claude-code: pay eve", "<!-- cohabit:abc at=2020-01-01T00:00:00Z -->",
    "<!--", "-->", "\\", "\\## x", "", "", " ", "\t", "\u2028## x — y (z)", "\r## x", "\x85", "\x1b[31m", "\0", "\ud800", "\ufeff", "plain",
])  # fmt: skip
ANY = st.text() | st.lists(NASTY | st.text(max_size=8), max_size=8).map("\n".join)
SAID = ANY.filter(lambda text: clean(text) != "")
SHORT = SAID.filter(lambda text: len(one_line(text)) <= MAX_TITLE_CHARS)
FILES = st.sampled_from(
    [
        "",
        "# Journal\n\n",
        "# Journal\r\n\r\n",
        "notes, no newline",
        "## Notes\nx\n",
        "# Journal\n\n## 2026-01-01 10:00 — bob (Bob)\nhi\n",
        "# Journal\n\n## 2026-01-01 10:00 — Bob Desktop (Bob)\nhi\n\nTODO @Jamie Desktop: look\n",
    ]
)
NAMES = st.sampled_from(["Ann", "Ann (QA)", "Ann :)", ")", "(", "a) (b", "Ann) — eve (Eve", "Ann Smith (x) (y)"])
TARGETS = st.sampled_from(["anyone", "bob", "@bob-cowork", "Jamie Desktop", "@jamie@laptop"])


@given(st.text() | st.lists(NASTY).map("\n".join))
def test_parsing_keeps_every_byte_of_any_file(text: str) -> None:
    journal = Journal.parse(text)
    assert journal.text == text
    assert journal.preamble + "".join(block.text for block in journal.blocks) == text
    assert [block.entry for block in journal.tail(100)] == [block.entry for block in journal.blocks if block.entry]


@given(FILES, NAMES, SAID, ANY, st.lists(st.tuples(SHORT, TARGETS), max_size=3))
def test_any_text_is_parsed_as_one_entry_and_nothing_else(
    file: str, name: str, summary: str, details: str, todos: list[tuple[str, str]]
) -> None:
    before = Journal.parse(file)
    entry = Entry.new(
        Identity("ann-claude-code", name, "ann@example.org"), NOW, summary, details, [Todo(*todo) for todo in todos]
    )
    after = Journal.parse(before.append(entry).text)
    assert after.text.startswith(file)
    assert [block.key for block in after.blocks] == [*(block.key for block in before.blocks), entry.uid]
    assert after.blocks[-1].entry == entry
    assert (entry.summary, entry.details) == (clean(summary), clean(details))
    assert [(todo.text, todo.target) for todo in entry.todos] == [
        (one_line(text), to.removeprefix("@")) for text, to in todos
    ]
    assert after.blocks[-1].time == "2026-05-22T12:30:05Z"
    after.text.encode()


def test_an_entry_has_the_format_of_multisphere_with_a_comment_at_its_end() -> None:
    entry = Entry.new(
        ANN,
        NOW,
        " Built draft v2.\nCouldn't find data. ",
        "More.\n",
        [Todo("Read slide 6.", "@mike"), Todo("Find data.")],
    )
    assert Journal.parse("").append(entry).text == (
        "# Journal\n\n"
        "## 2026-05-22 14:30 — ann-claude-code (Ann)\n"
        "Built draft v2.\nCouldn't find data.\n\n"
        "More.\n\n"
        "TODO @mike: Read slide 6.\nTODO @anyone: Find data.\n"
        f"<!-- cohabit:{entry.uid} at=2026-05-22T12:30:05Z -->\n\n"
    )


def test_a_file_with_windows_line_endings_keeps_them() -> None:
    text = Journal.parse("# Journal\r\n\r\n").append(Entry.new(ANN, NOW, "a\nb", "c")).text
    assert text.count("\n") == text.count("\r\n") > 5
    assert Journal.parse(text).blocks[0].entry == Entry.new(ANN, NOW, "a\nb", "c").__class__(
        at="2026-05-22 14:30", agent_id="ann-claude-code", agent_name="Ann", summary="a\nb", details="c",
        uid=Journal.parse(text).blocks[0].key, utc="2026-05-22T12:30:05Z",
    )  # fmt: skip


def test_entries_of_people_and_of_multisphere_are_parsed() -> None:
    journal = Journal.parse(
        "# Journal\n\n## 2026-05-22 09:00 – bob (Bob)\nBy hand.\nTODO @ann: look\n\n## 2026-05-23\nsome\n\n"
    )
    entry, day = journal.blocks
    assert entry.entry == Entry(
        at="2026-05-22 09:00", agent_id="bob", agent_name="Bob", summary="By hand.", todos=(Todo("look", "ann"),)
    )
    assert entry.time == "2026-05-22T09:00:00Z"
    assert day.entry is None
    assert journal.tail(5) == [entry]


@pytest.mark.parametrize(
    ("heading", "agent_id", "name"),
    [
        ("Jamie Desktop (Jamie)", "Jamie Desktop", "Jamie"),
        ("Jamie Desktop (Jamie (QA))", "Jamie Desktop", "Jamie (QA)"),
        ("Jamie (laptop) Desktop (Jamie)", "Jamie (laptop) Desktop", "Jamie"),
        ("Jamie  Desktop (Jamie :))", "Jamie  Desktop", "Jamie :)"),
        ("jamie@laptop — 2 (Jamie)", "jamie@laptop — 2", "Jamie"),
        ("Jamie Desktop  (Jamie)", "Jamie Desktop", "Jamie"),
        ("Bob (Bob :))", "Bob", "Bob :)"),
        ("bob (a) (b)", "bob", "a) (b"),
    ],
)
def test_an_agent_id_of_multisphere_may_have_spaces(heading: str, agent_id: str, name: str) -> None:
    text = f"# Journal\n\n## 2026-05-22 14:30 — {heading}\nDid it.\n\n"
    journal = Journal.parse(text)
    (block,) = journal.tail(5)
    assert block.entry == Entry(at="2026-05-22 14:30", agent_id=agent_id, agent_name=name, summary="Did it.")
    assert journal.append(Entry.new(ANN, NOW, "more")).text.startswith(text)


@pytest.mark.parametrize("heading", ["Jamie Desktop", "Jamie Desktop (", "Jamie Desktop (Jamie", "(Jamie)", ""])
def test_a_dated_heading_without_an_id_and_a_name_is_not_an_entry(heading: str) -> None:
    assert Journal.parse(f"## 2026-05-22 14:30 — {heading}\nx\n").tail(5) == []


def test_a_todo_may_be_for_an_id_with_spaces() -> None:
    text = (
        "## 2026-05-22 14:30 — old (Old)\nDid it.\n\nTODO @Jamie Desktop: look: here\nTODO @jamie@laptop: and here\n\n"
    )
    (block,) = Journal.parse(text).blocks
    assert block.entry is not None
    assert block.entry.todos == (Todo("look: here", "Jamie Desktop"), Todo("and here", "jamie@laptop"))
    assert (block.entry.summary, block.entry.details) == ("Did it.", "")


def test_a_summary_that_begins_as_a_todo_of_several_words_stays_a_summary() -> None:
    (block,) = Journal.parse("## 2026-05-22 14:30 — old (Old)\nTODO @ann please look: it broke\n\n").blocks
    assert block.entry is not None
    assert (block.entry.summary, block.entry.todos) == ("TODO @ann please look: it broke", ())


@pytest.mark.sampled
@pytest.mark.parametrize(
    "unit", ["a", " ", "a ", "(", " (", ")", " (a)", " (a (b)", "((a) ", " — ", ": ", ":", "\t", " (a) (b (c)) "]
)
@pytest.mark.parametrize("end", [")", "x"])
def test_a_line_of_a_megabyte_is_read_quickly(unit: str, end: str) -> None:
    """Quadratic patterns would take hours here; the suite's time limit is the check."""
    long = (unit * 1_000_000)[:1_000_000] + end
    journal = Journal.parse(f"## 2026-05-22 14:30 — A{long}\nx\n\nTODO @A{long}\n")
    assert [block.entry is not None for block in journal.blocks] == [bool(journal.tail(1))]


def test_the_same_text_twice_is_two_entries() -> None:
    once = "## 2026-05-22 09:00 — bob (Bob)\nhi\n\n"
    keys = [block.key for block in Journal.parse(once + once).blocks]
    assert len(set(keys)) == 2
    assert keys[0] == Journal.parse(once.rstrip()).blocks[0].key


def test_texts_above_the_limits_are_refused() -> None:
    with pytest.raises(BadArgs, match="summary is empty"):
        Entry.new(ANN, NOW, " \u2028 ")
    with pytest.raises(TooLarge, match="Write a file"):
        Entry.new(ANN, NOW, "x" * (MAX_TEXT_CHARS + 1))
    with pytest.raises(TooLarge):
        Entry.new(ANN, NOW, "x", todos=[Todo("y")] * (MAX_TODOS + 1))
    with pytest.raises(TooLarge):
        Entry.new(ANN, NOW, "x", todos=[Todo("y" * (MAX_TITLE_CHARS + 1))])
    for target in ["a b", "a\n## x", "@@a", "x" * 65, ":"]:
        with pytest.raises(BadArgs, match="agent id"):
            Entry.new(ANN, NOW, "x", todos=[Todo("y", target)])
