"""The checker finds what it is for: each of these histories is broken in one way."""

import pytest

from .checking import check_revocation, check_room, check_writers
from .history import Attempt, Call, Outcome, Page, Reading, Recorded, Revocation, Witnessed

ROOM = "den"


def call(key: str, invoked: float, returned: float, outcome: Outcome = "ok", event: str = "") -> Call:
    return Call(ROOM, key, invoked, returned, outcome, event)


def recorded(*keys: str) -> list[Recorded]:
    """A record with these events, after an entry that opens the room."""
    return [Recorded(0), *(Recorded(seq, key, f"say {key}") for seq, key in enumerate(keys, 1))]


def reading(*pages: Page) -> Reading:
    return Reading(ROOM, "eve", list(pages))


A, B, C = call("a", 0, 1), call("b", 2, 3), call("c", 2, 4)
"""b and c overlap; a had returned before both."""


@pytest.mark.parametrize("order", ["abc", "acb"])
def test_a_history_that_linearizes_has_no_problems(order: str) -> None:
    pages = Page(0.5, ["say a"]), Page(5, [f"say {key}" for key in order[1:]], is_complete=True)
    assert check_room(recorded(*order), [A, B, C], [reading(*pages)]) == []


def test_calls_with_an_unknown_outcome_may_be_done_or_not_at_any_later_time() -> None:
    unknown = call("u", 0, 1, "unknown")
    for order in ("ab", "uab", "abu"):
        assert check_room(recorded(*order), [A, B, unknown], []) == []


@pytest.mark.parametrize(
    ("problem", "order", "calls"),
    [
        ("lost: b", "a", [A, B]),
        ("doubled: b", "abb", [A, B]),
        ("doubled: u", "auu", [A, call("u", 2, 3, "unknown")]),
        ("refused, but done: r", "ar", [A, call("r", 2, 3, "refused")]),
        ("unasked: x", "ax", [A]),
        ("reordered: b", "ba", [A, B]),
        ("reordered: u", "ua", [A, call("u", 2, 3, "unknown")]),
        ("reordered: c", "bca", [A, B, C]),
        ("wrong reply: a", "a", [call("a", 0, 1, event="say b")]),
    ],
)
def test_a_broken_record_is_found(problem: str, order: str, calls: list[Call]) -> None:
    found = check_room(recorded(*order), calls, [])
    assert found
    assert found[0].startswith(problem)


def test_a_gap_in_the_numbers_of_a_record_is_found() -> None:
    record = recorded("a", "b")
    assert check_room([record[0], record[2]], [B], []) == ["gap: entry 1 is missing, the next one is 2"]


@pytest.mark.parametrize(
    ("problem", "pages"),
    [
        ("another order: eve got 'say b'", [Page(5, ["say b"])]),
        ("another order: eve got 'say a'", [Page(5, ["say a"]), Page(6, ["say a"])]),
        ("another order: eve got 'say c'", [Page(5, ["say a", "say c"])]),
        ("another order: eve got 'say x'", [Page(5, ["say a", "say b", "say c", "say x"])]),
        ("stale: eve read 1 events, when 2", [Page(3.5, ["say a"], is_complete=True)]),
        ("stale: eve read 0 events, when 1", [Page(1.5, [], is_complete=True)]),
    ],
)
def test_a_reading_with_a_gap_another_order_or_an_old_state_is_found(problem: str, pages: list[Page]) -> None:
    found = check_room(recorded("a", "b", "c"), [A, B, C], [reading(*pages)])
    assert len(found) == 1
    assert found[0].startswith(problem)


def test_a_page_that_is_not_complete_may_end_anywhere() -> None:
    assert check_room(recorded("a", "b"), [A, B], [reading(Page(9, ["say a"]))]) == []


def witnessed(seq: int, writer: str, holder: str, epoch: int) -> Witnessed:
    return Witnessed(ROOM, seq, writer, holder, epoch)


def test_entries_of_two_writers_are_found_by_place_and_by_epoch() -> None:
    taken_over = [witnessed(0, "A", "A", 1), witnessed(1, "B", "B", 2), witnessed(2, "A", "A", 3)]
    assert check_writers(taken_over) == []
    assert check_writers([*taken_over, witnessed(3, "B", "A", 3)])[0].startswith("two writers: B")
    assert check_writers([*taken_over, witnessed(3, "B", "B", 2)])[0].startswith("an old epoch")
    assert check_writers([*taken_over, witnessed(3, "B", "B", 3)])[0].startswith("one epoch of two houses")


def revoked(attempts: list[Attempt] | None = None, received: list[str] | None = None) -> Revocation:
    """Between a and b."""
    return Revocation(ROOM, "vic", "revoke_token", 1.5, None, attempts or [], received or [])


def problems_of(found: Revocation) -> list[str]:
    return check_revocation(found, recorded("a", "b"), {"a": A, "b": B})


def test_a_holder_may_get_what_was_said_before_and_answers_to_what_it_called_before() -> None:
    fine = revoked([Attempt(1.4, "ok"), Attempt(1.6, "UNAUTHORIZED"), Attempt(1.7, "BUSY")], ["say a"])
    assert problems_of(fine) == []


def test_an_answer_or_an_event_after_a_revocation_is_found() -> None:
    assert problems_of(revoked([Attempt(1.6, "ok", "B")]))[0].startswith("answered: vic called")
    assert problems_of(revoked(received=["say b"]))[0].startswith("told: vic got 'say b', said after")
    removed = Revocation(ROOM, "vic", "remove_member", 9, removed_at=1, received=["say b"])
    assert problems_of(removed) == ["told: vic got 'say b', entry 2, after entry 1"]
    assert problems_of(revoked(received=["say x"]))[0].startswith("unknown event")
