"""Grants in Kibitz' vocabulary: what its own tests check, and that the functions hold for any input."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.protocols.kibitz.grants import (
    ACT,
    EVERYTHING,
    NOTHING,
    PERCEIVE,
    Grant,
    can,
    default_grant,
    effective_grant,
    grant_summary,
    intersect_grant,
    is_expired,
    sanitize_grant,
)

ALL = {*PERCEIVE, *ACT}
TALKER = Grant(("read-chat",), ("send-chat",))
grants = st.builds(
    Grant,
    st.lists(st.sampled_from(list(PERCEIVE)), unique=True).map(tuple),
    st.lists(st.sampled_from(list(ACT)), unique=True).map(tuple),
    st.none() | st.text(min_size=1, max_size=80),
    st.booleans(),
    st.none() | st.integers(1, 10),
)
junk: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.sampled_from(sorted(ALL)),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["perceive", "act", "backend", "egress", "expiresAt", "x"]), inner),
)  # fmt: skip


def test_an_agent_may_only_watch_by_default() -> None:
    assert default_grant("agent") == Grant(("read-chat", "read-roster", "receive-directed"), ())


def test_a_person_may_do_everything_by_default() -> None:
    assert {*default_grant("human").perceive, *default_grant("human").act} == ALL


def test_only_what_is_granted_is_allowed() -> None:
    assert [name for name in sorted(ALL) if can(TALKER, name)] == ["read-chat", "send-chat"]
    assert not can(TALKER, "fly")


def test_without_a_grant_nothing_is_allowed() -> None:
    assert not any(can(None, name) for name in ALL)


@pytest.mark.parametrize(("now", "expired"), [(99, False), (100, True), (101, True)])
def test_a_grant_ends_at_the_second_of_its_expiry(now: int, expired: bool) -> None:
    assert is_expired(Grant(expires_at=100), now) is expired
    assert not is_expired(TALKER, now)


def test_an_expired_or_missing_grant_gives_nothing_and_another_one_passes() -> None:
    ends = Grant(("read-chat",), expires_at=100)
    assert effective_grant(ends, 99) is ends
    assert effective_grant(ends, 100) == NOTHING
    assert effective_grant(None, 1) == NOTHING
    assert effective_grant(TALKER, 10**12) is TALKER


def test_unknown_names_and_repetitions_are_dropped() -> None:
    raw = {"perceive": ["read-chat", "fly", "read-chat", "send-chat", 7], "act": ["act", "act", None]}
    assert sanitize_grant(raw) == Grant(("read-chat",), ("act",))


def test_a_backend_is_cut_egress_is_true_or_absent_and_an_expiry_is_positive() -> None:
    raw = {"perceive": [], "act": [], "backend": "x" * 100, "egress": 1, "expiresAt": -5}
    assert sanitize_grant(raw) == Grant(backend="x" * 80, egress=True)
    assert sanitize_grant({"egress": "", "expiresAt": 0}) == NOTHING
    assert sanitize_grant({"egress": False, "expiresAt": 12.5}).to_wire() == {
        "perceive": [],
        "act": [],
        "expiresAt": 12.5,
    }


def test_no_grant_at_all_is_an_empty_one() -> None:
    assert sanitize_grant(None) == NOTHING


def test_an_intersection_keeps_what_both_have_and_what_the_request_discloses() -> None:
    request = Grant(("read-chat", "hear-audio"), ("send-chat", "act"), "Claude", True)
    allowed = Grant(("hear-audio", "read-roster"), ("act",), "another")
    assert intersect_grant(request, allowed) == Grant(("hear-audio",), ("act",), "Claude", True)


def test_an_intersection_is_never_more_than_was_asked_for() -> None:
    assert intersect_grant(TALKER, EVERYTHING) == TALKER
    assert intersect_grant(NOTHING, EVERYTHING) == NOTHING


@pytest.mark.parametrize(("asked", "given_until", "ends"), [(5, 9, 5), (9, 5, 5), (None, 5, 5), (5, None, 5), (None, None, None)])  # fmt: skip
def test_an_intersection_ends_when_the_first_of_both_ends(asked: Any, given_until: Any, ends: Any) -> None:
    assert intersect_grant(Grant(expires_at=asked), Grant(expires_at=given_until)).expires_at == ends


@given(grants)
def test_a_summary_has_every_capability_once(grant: Grant) -> None:
    made = grant_summary(grant)
    assert sorted((*made.can, *made.cannot)) == sorted(ALL)
    assert set(made.can) == {*grant.perceive, *grant.act}


@given(grants, grants)
def test_an_intersection_is_within_both(one: Grant, other: Grant) -> None:
    both = intersect_grant(one, other)
    assert set(both.perceive) == {*one.perceive} & {*other.perceive}
    assert set(both.act) == {*one.act} & {*other.act}


@given(junk)
def test_any_json_becomes_a_valid_grant_and_a_valid_one_stays_as_it_is(raw: Any) -> None:
    made = sanitize_grant(raw)
    assert {*made.perceive} <= {*PERCEIVE}
    assert {*made.act} <= {*ACT}
    assert sanitize_grant(made) == sanitize_grant(made.to_wire()) == made
