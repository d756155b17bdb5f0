"""The difference between two texts is exact: who has the old text and the difference has the new one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.model.text_changes import MAX_COMPARISONS, apply_changes, changes

LINES = st.lists(st.sampled_from(["a: 1", "a: 2", "b: 1", "", "- x", "@1", "= y", "+", "HEAD:", "12 ~~"]), max_size=12)
TEXTS = st.one_of(LINES.map("\n".join), st.text(max_size=60))


@given(TEXTS, TEXTS)
def test_a_text_and_its_changes_make_the_new_text(old: str, new: str) -> None:
    delta = changes(old, new)
    assert delta is not None
    assert apply_changes(old, delta) == new
    assert (delta == "") == (old == new)


def test_a_line_that_begins_alike_is_given_once_and_others_with_what_is_gone() -> None:
    old = "Step 1\n\nSTATUS:\nfaith: 3\nfood: 9\n\nEVENTS:\n- year 1: a\n- year 1: b"
    new = "Step 2\n\nSTATUS:\nfaith: 4\nfood: 9\n\nEVENTS:\n- year 1: b\n- year 1: c"
    assert changes(old, new) == "\n".join(
        ["@1", "= Step 2", "@4 STATUS", "= faith: 4", "@8 EVENTS", "- - year 1: a", "@10 EVENTS", "+ - year 1: c"]
    )


def test_what_is_gone_is_said_briefly_and_so_that_the_line_can_be_found() -> None:
    wolf = "wolf 7 at (3, 4), hungry, last seen two steps ago near the river"
    other = "wolf 7 at (3, 4), hungry, and its pups"
    old = "\n".join(
        ["NEARBY:", wolf, other, "an oak at (9, 9) that bears more fruit than it can carry", "a stone", "END"]
    )
    gone = changes(old, "NEARBY:\nEND")
    assert gone == "@2 NEARBY\n-4 wolf 7 at (3, 4), hungry, last seen two steps ag…"
    assert apply_changes(old, gone) == "NEARBY:\nEND"
    less = old.replace("an oak at (9, 9) that bears more fruit than it can carry\n", "")
    assert changes(old, less) == "@4 NEARBY\n- an oak at (9, 9) that be…"


LONG = st.lists(
    st.sampled_from(["x" * 23, "x" * 24, "x" * 25, "x" * 26, "x" * 60, "x" * 24 + "…", "-2 x", "y: 1"]), max_size=9
)


@given(LONG.map("\n".join), LONG.map("\n".join))
def test_a_text_and_what_is_said_briefly_make_the_new_text(old: str, new: str) -> None:
    delta = changes(old, new)
    assert delta is not None
    assert apply_changes(old, delta) == new
    gone = [line for line in delta.split("\n") if line.startswith("-")]
    assert all(len(line) <= len(max(old.split("\n"), key=len)) + 3 for line in gone)


def test_news_that_reads_the_same_is_given_again_and_state_is_not() -> None:
    old = "Turn 1\n\nNEWS:\n- Ann attacked Bob.\n- Bob pays.\n\nYOU:\n- Army: 3"
    new = "Turn 2\n\nNEWS:\n- Ann attacked Bob.\n- Cy pays.\n\nYOU:\n- Army: 3"
    delta = changes(old, new, lambda heading: heading == "NEWS")
    assert delta == "@1\n= Turn 2\n@4 NEWS\n! - Ann attacked Bob.\n@5 NEWS\n- - Bob pays.\n+ - Cy pays."
    assert apply_changes(old, delta) == new


@given(TEXTS, TEXTS)
def test_a_text_and_its_changes_with_repeated_news_make_the_new_text(old: str, new: str) -> None:
    delta = changes(old, new, lambda heading: heading == "HEAD")
    assert delta is not None
    assert apply_changes(old, delta) == new


def test_a_quoted_line_is_never_taken_for_the_new_form_of_another() -> None:
    assert changes("letter:\n  > You took it.", "letter:\n  > Paid.") == "@2 letter\n-   > You took it.\n+   > Paid."


def test_two_lines_that_begin_alike_are_not_replaced_by_their_beginning() -> None:
    assert changes("- year 1: a\n- year 1: b", "- year 1: a\n- year 1: c") == "@2\n- - year 1: b\n+ - year 1: c"


def test_changes_of_another_text_are_refused() -> None:
    with pytest.raises(ValueError, match="line 1 is not the line"):
        apply_changes("x", "@1\n- y")
    with pytest.raises(ValueError, match="line 2 is not the line"):
        apply_changes("x", "@2\n= y")


def test_texts_of_many_different_lines_are_not_compared() -> None:
    count = int(MAX_COMPARISONS**0.5) + 1
    old, new = ("\n".join(f"{mark}{number}" for number in range(count)) for mark in "ab")
    assert changes(old, new) is None
    assert changes(old, f"{old}\nmore") == f"@{count + 1}\n+ more"


def test_news_under_a_heading_within_news_is_given_again() -> None:
    old = "Turn 1\n\nMESSAGES TO YOU:\n- from Ann:\n  > pledge\n- from Bob:\n  > pledge"
    new = old.replace("Turn 1", "Turn 2")
    delta = changes(old, new, lambda heading: heading.startswith("MESSAGES"))
    assert delta == "\n".join(
        ["@1", "= Turn 2", "@4 MESSAGES TO YOU", "! - from Ann:", "!   > pledge", "! - from Bob:", "!   > pledge"]
    )
    assert apply_changes(old, delta) == new


def test_of_a_paragraph_that_is_gone_the_first_words_are_given_and_not_the_empty_line_before_it() -> None:
    old = "Step 1\n\nYou rule.\n\nIn the last 30 ticks: people 2\n\nSTATUS:\nfood: 1"
    new = "Step 2\n\nYou rule.\n\nSTATUS:\nfood: 1"
    delta = changes(old, new)
    assert delta == "@1\n= Step 2\n@5\n-2 In the last 30 ticks: pe…"
    assert apply_changes(old, delta) == new
