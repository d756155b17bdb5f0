"""What a member holds = (role ∪ additions) ∩ limit, after any sequence of changes and expiries.

`Expected` is the description in docs/rooms.md once more, written without looking at layers.
"""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples

from cohabit.model.grant import EVERYTHING, ROLES, Capability, Layer, fold
from cohabit.room.room import Room

from .making import GOD, RED, make_room, replayed, restored

C = Capability
Caps = frozenset[Capability]


class Expected:
    """What docs/rooms.md says that a member holds."""

    def __init__(self, role: Caps) -> None:
        self.role = role
        self.forget()

    def forget(self) -> None:
        """Drop every change that a host has made."""
        self.added: Caps = frozenset()
        self.loans: list[tuple[Caps, int]] = []
        self.limit: Caps | None = None
        self.limit_ends: int | None = None

    def now(self, at: int) -> None:
        """Let time pass: loans end one by one; a grant that ends takes everything with it."""
        if self.limit_ends is not None and at >= self.limit_ends:
            self.forget()
            self.limit = frozenset()
        self.loans = [(may, ends) for may, ends in self.loans if at < ends]

    def grant(self, may: Caps, ends: int | None) -> None:
        self.forget()
        self.added, self.limit, self.limit_ends = may, may, ends

    def widen(self, may: Caps, ends: int | None) -> None:
        if ends is not None:
            self.loans.append((may, ends))
            return
        self.added |= may
        if self.limit is not None:
            self.limit |= may

    def narrow(self, may: Caps, ends: int | None) -> None:
        self.added -= may
        self.loans = [(lent - may, when) for lent, when in self.loans]
        self.limit = (EVERYTHING if self.limit is None else self.limit) - may

    def revoke(self, may: Caps, ends: int | None) -> None:
        self.forget()
        self.limit = frozenset()

    def clear_grant(self, may: Caps, ends: int | None) -> None:
        self.forget()

    def held(self) -> Caps:
        lent = frozenset(c for may, _ in self.loans for c in may)
        let_through = EVERYTHING if self.limit is None else self.limit | lent
        return (self.role | self.added | lent) & let_through


FEW = [C.WATCH, C.READ_OWN, C.READ_ALL, C.ACT, C.SEND_BROADCAST, C.SPEAK]
"""Enough of them to meet often: some that a player has, and some that it has not."""
CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["grant", "widen", "widen", "narrow", "narrow", "revoke", "clear_grant", "wait"]),
        st.frozensets(st.sampled_from(FEW)),
        st.none() | st.integers(1, 30),  # the expiry, in seconds
        st.integers(0, 12_000),  # time until the change, in ms
    ),
    max_size=12,
)


def change(room: Room, name: str, may: Caps, expires: int | None, at: int) -> None:
    args: dict[str, Any] = {"member": "ann"}
    if name in ("grant", "widen", "narrow"):
        args["may"] = sorted(may)
    if name in ("grant", "widen"):
        args["expires_in_s"] = expires
    room.call("zeus", name, args, at=at)


@settings(max_examples=examples(100))
@given(CHANGES, st.integers(0, 60_000))
def test_a_member_holds_what_the_documentation_says_after_any_changes(
    changes: list[tuple[str, Caps, int | None, int]], later: int
) -> None:
    room, expected, at = make_room(RED, GOD), Expected(ROLES["player"]), 0
    ann = room.state.members["ann"]
    for name, may, expires, wait in changes:
        at += wait
        room.settle(at)
        expected.now(at)
        assert ann.held == expected.held()
        if name != "wait":
            change(room, name, may, expires, at)
            ends = at + expires * 1000 if expires is not None else None
            getattr(expected, name)(may, ends)
            assert ann.held == expected.held()
    for again in (room, restored(room), replayed(room)):
        again.settle(at + later)
        expected_later = Expected(ROLES["player"])
        vars(expected_later).update(vars(expected))
        expected_later.now(at + later)
        assert again.state.members["ann"].held == expected_later.held()


@given(CHANGES)
def test_the_list_of_layers_stays_short(changes: list[tuple[str, Caps, int | None, int]]) -> None:
    room, at = make_room(RED, GOD), 0
    for name, may, expires, wait in changes:
        at += wait
        if name != "wait":
            change(room, name, may, expires, at)
    layers = room.state.members["ann"].layers
    assert sum(layer.kind == "limit" for layer in layers) <= 1
    assert sum(layer.kind == "addition" and layer.expires_at is None for layer in layers) <= 1


@given(
    st.frozensets(st.sampled_from(FEW)),
    st.lists(st.tuples(st.sampled_from(["addition", "limit"]), st.frozensets(st.sampled_from(FEW))), max_size=5),
)
def test_without_loans_the_order_of_layers_does_not_matter(role: Caps, drawn: list[tuple[Any, Caps]]) -> None:
    layers = [Layer(kind, tuple(may)) for kind, may in drawn]
    assert fold(role, layers) == fold(role, reversed(layers))
    added = role.union(*(may for kind, may in drawn if kind == "addition"))
    limit = EVERYTHING.intersection(*(may for kind, may in drawn if kind == "limit"))
    assert fold(role, layers) == added & limit


def test_a_capability_that_is_introduced_later_is_in_no_record_of_a_narrowed_or_expiring_grant() -> None:
    room = make_room(RED, GOD)
    change(room, "narrow", frozenset({C.ACT}), None, 0)
    room.system("admitted", {"handle": "cy", "kind": "human", "identity": "i-cy", "expires_in_s": 9}, 1)
    cy = next(member for member in room.state.members.values() if member.handle == "cy")
    for member in (room.state.members["ann"], cy):
        (layer,) = member.layers
        stored = json.dumps(msgspec.to_builtins(layer))
        assert [capability for capability in C if f'"{capability}"' in stored] == (["act"] if member is not cy else [])
    assert C.ACT not in room.state.members["ann"].held
    assert cy.held == ROLES["human"]
    change(room, "widen", frozenset({C.ACT}), None, 2)
    assert room.state.members["ann"].held == ROLES["player"]
    room.settle(9_001)
    assert cy.held == frozenset()


def test_after_a_loan_and_then_a_narrow_the_role_less_what_was_taken_is_left() -> None:
    room = make_room(RED, GOD)
    change(room, "widen", frozenset({C.SEND_BROADCAST}), 10, 0)
    change(room, "narrow", frozenset({C.ACT}), None, 1000)
    assert room.state.members["ann"].held == (ROLES["player"] | {C.SEND_BROADCAST}) - {C.ACT}
    room.settle(10_000)
    assert room.state.members["ann"].held == ROLES["player"] - {C.ACT}


def test_a_revoked_member_holds_a_loan_until_it_ends() -> None:
    room = make_room(RED, GOD)
    change(room, "revoke", frozenset(), None, 0)
    change(room, "widen", frozenset({C.WATCH}), 10, 0)
    assert room.state.members["ann"].held == {C.WATCH}
    room.settle(10_000)
    assert room.state.members["ann"].held == frozenset()


def test_a_grant_that_expires_takes_loans_and_additions_with_it() -> None:
    room = make_room(RED, GOD)
    change(room, "grant", frozenset({C.WATCH}), 10, 0)
    change(room, "widen", frozenset({C.ACT}), None, 0)
    change(room, "widen", frozenset({C.SPEAK}), 100, 0)
    assert room.state.members["ann"].held == {C.WATCH, C.ACT, C.SPEAK}
    room.settle(10_000)
    assert room.state.members["ann"].held == frozenset()
    assert room.next_deadline() is None


@pytest.mark.parametrize("name", ["narrow", "revoke"])
def test_a_loan_cannot_bring_back_what_was_taken_after_it(name: str) -> None:
    room = make_room(RED, GOD)
    change(room, "widen", frozenset({C.READ_ALL}), 100, 0)
    change(room, name, frozenset({C.READ_ALL}), None, 1000)
    assert C.READ_ALL not in room.state.members["ann"].held
    room.settle(200_000)
    assert C.READ_ALL not in room.state.members["ann"].held
