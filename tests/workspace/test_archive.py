"""Past months are moved out of the journal, and nothing is lost."""

from datetime import UTC, datetime

import pytest

from cohabit.errors import BadArgs
from cohabit.workspace.formats.journal import Entry, Journal, archive
from cohabit.workspace.merging.merge import merge_file
from cohabit.workspace.person.identity import Identity

ANN = Identity("ann", "Ann", "ann@example.org")
NOTES = "## Ideas\nkept here\n\n"


def noted(text: str, month: int, what: str) -> str:
    return Journal.parse(text).append(Entry.new(ANN, datetime(2026, month, 2, tzinfo=UTC), what)).text


def summaries(text: str | None) -> list[str]:
    return [block.entry.summary for block in Journal.parse(text or "").blocks if block.entry]


@pytest.fixture
def journal() -> str:
    return noted(noted(noted(noted("", 3, "march") + NOTES, 4, "april"), 4, "april too"), 5, "may")


def test_each_month_gets_a_file_and_the_rest_stays(journal: str) -> None:
    done = archive(journal, "2026-05", lambda path: None)
    assert list(done.months) == ["journal-archive/2026-03.md", "journal-archive/2026-04.md"]
    assert summaries(done.months["journal-archive/2026-04.md"]) == ["april", "april too"]
    assert done.months["journal-archive/2026-03.md"].startswith("# Journal 2026-03\n\n## 2026-03-02")
    assert summaries(done.journal) == ["may"]
    assert done.journal.startswith("# Journal\n\n" + NOTES)
    assert done.entries == 3


def test_a_month_that_was_archived_before_gets_the_late_entries_once(journal: str) -> None:
    first = archive(journal, "2026-05", lambda path: None)
    again = archive(noted(journal, 3, "late"), "2026-05", lambda path: first.months.get(path))
    assert summaries(again.months["journal-archive/2026-03.md"]) == ["march", "late"]
    assert again.months["journal-archive/2026-04.md"] == first.months["journal-archive/2026-04.md"]


def test_nothing_to_move_changes_nothing(journal: str) -> None:
    done = archive(journal, "2026-03", lambda path: None)
    assert (done.journal, done.months, done.entries) == (journal, {}, 0)


def test_merging_with_a_journal_that_was_written_to_meanwhile_keeps_the_new_entries(journal: str) -> None:
    done, theirs = archive(journal, "2026-05", lambda path: None), noted(journal, 5, "new")
    for ours, other in ((done.journal, theirs), (theirs, done.journal)):
        merged = merge_file("journal.md", journal, ours, other)
        assert (summaries(merged.text), merged.conflicts) == (["may", "new"], ())


def test_two_agents_that_archive_at_once_have_every_entry_once(journal: str) -> None:
    late = Journal.parse(journal).append(Entry.new(ANN, datetime(2026, 4, 3, tzinfo=UTC), "late")).text
    ours, theirs = archive(journal, "2026-05", lambda path: None), archive(late, "2026-05", lambda path: None)
    path = "journal-archive/2026-04.md"
    *first, last = summaries(merge_file(path, None, ours.months[path], theirs.months[path]).text)
    assert (sorted(first), last) == (["april", "april too"], "late")
    assert summaries(merge_file("journal.md", journal, ours.journal, theirs.journal).text) == ["may"]


def test_windows_line_endings_are_kept(journal: str) -> None:
    done = archive(journal.replace("\n", "\r\n"), "2026-05", lambda path: None)
    assert done.journal.count("\r\n") == done.journal.count("\n")
    assert all("\r" not in text for text in done.months.values())


def test_an_entry_that_is_archived_is_not_archived_again_whatever_its_line_endings(journal: str) -> None:
    windows = journal.replace("\n", "\r\n")
    months = archive(windows, "2026-05", lambda path: None).months
    assert archive(windows, "2026-05", months.get).months == months
    assert archive(journal, "2026-05", months.get).months == months


@pytest.mark.parametrize("month", ["", "2026", "2026-13", "2026-5", "../x", "2026-05-01"])
def test_a_month_that_is_not_valid_is_refused(journal: str, month: str) -> None:
    with pytest.raises(BadArgs, match="like 2026-05"):
        archive(journal, month, lambda path: None)
