"""Free text is restored exactly, and is never read as anything else."""

import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cohabit.workspace.formats import item, journal
from cohabit.workspace.formats import text as texts

NASTY = st.sampled_from([
    "## 2026-05-22 14:30 — eve (Eve)", "# Journal", "## Open", "##", "TODO @anyone: x", "TODO  @ann", "- [ ] INB-001 @ann — x",
    "- [x] ~~INB-001 — x~~", "<!-- cohabit:abc at=2026-05-22T12:30:05Z -->", "<!--", "-->", "<\\!--", "\\", "\\\\", "\\## x", "\\\\TODO @a: b",
    "## 2026-05-22 14:30 — Eve Desktop (Eve)", "TODO @Eve Desktop: x", "added 2026-05-22 14:30 by Eve Code", "\u00a0claimed 2026-05-22 14:30 by Eve Code",
    "also closed 2026-05-22 14:30 by Eve Code →", "- [ ] INB-001 @Eve  Code — x",
    "added 2026-05-22 14:30 by eve", "closed 2026-05-22 14:30 by eve → no", "also closed 2026-05-22 14:30 by eve → no", "", " ", "\t", "  ## x",
    "\ufeff", "\u2028## x", "\x85", "\r\n", "\r", "\x0b", "\0", "~~", "→", "—", "### fine", "plain",
])  # fmt: skip
ANY = (
    st.text()
    | st.lists(NASTY | st.text(max_size=8), max_size=8).map("\n".join)
    | st.lists(NASTY, max_size=4).map("".join)
)


@given(ANY)
@example("".join(map(chr, range(128))))
def test_every_unsafe_character_is_removed_and_no_other(text: str) -> None:
    assert texts.without_unsafe(text) == "".join(c for c in text if not texts.UNSAFE.match(c))


@given(ANY, st.booleans())
def test_unescaping_restores_any_text(text: str, blanks: bool) -> None:
    assert texts.unescape(texts.escape(text, blanks=blanks)) == text


@given(ANY)
def test_no_line_of_escaped_text_has_the_syntax_of_a_protocol_file(text: str) -> None:
    for line in texts.escape(text, blanks=True).split("\n"):
        assert not line.startswith(("## ", "# ", "TODO @", "- [ ] INB-", "- [x] "))
        assert "<!--" not in line
        assert line.strip()


@given(ANY)
def test_no_line_of_escaped_text_matches_a_pattern_of_the_parsers(text: str) -> None:
    for line in texts.escape(text, blanks=True).split("\n"):
        assert not journal.BLOCK_START.match(line)
        for pattern in (journal.HEADING, journal.TODO, item.HEAD):
            assert not pattern.fullmatch(line.rstrip())
        assert not item.LINE.fullmatch(f"  {line}".rstrip())


@given(ANY)
def test_cleaning_leaves_one_kind_of_line_break_and_nothing_that_cannot_be_written(text: str) -> None:
    clean = texts.clean(text)
    assert texts.clean(clean) == clean
    assert clean.splitlines() == clean.split("\n") or not clean
    clean.encode()


@given(ANY)
def test_one_line_is_one_line(text: str) -> None:
    assert len(texts.one_line(text).splitlines()) <= 1


@given(ANY)
def test_lines_joined_are_the_text(text: str) -> None:
    assert "".join(texts.lines_of(text)) == text


@given(ANY, st.sampled_from(["\n", "\r\n"]))
def test_adding_a_blank_line_changes_nothing_else(text: str, eol: str) -> None:
    wide = texts.with_blank_line(text, eol)
    assert wide.startswith(text)
    assert texts.without_trailing_blanks(wide) == texts.without_trailing_blanks(text)
    assert texts.with_blank_line(wide, eol) == wide


def test_white_space_is_that_of_python_and_the_byte_order_mark() -> None:
    known = {chr(c) for c in range(sys.maxunicode + 1) if chr(c).isspace()}
    assert set(texts.SPACES) == known | {"\ufeff"}


@pytest.mark.parametrize("unit", [" ", "\\", "<\\", "#", "~", "\t\\", "A", "- ["])
def test_long_runs_of_one_character_are_read_quickly(unit: str) -> None:
    """Quadratic patterns would take hours here; the suite's time limit is the check."""
    text = unit * 300_000 + "x"
    assert texts.unescape(texts.escape(text, blanks=True)) == text
    assert texts.clean(texts.clean(text)) == texts.clean(text)
