"""The audit log of refused calls: repeats are counted, the newest lines are kept, and reasons stay where they belong."""

import pytest

from cohabit.errors import BadArgs, GameCrash, PermissionDenied, ScopeViolation
from cohabit.features.audit import AuditReply
from cohabit.room.access.refusals import LINES_PER_MEMBER, MANY, REFUSALS_KEPT, Audit
from cohabit.room.room import Room

from .making import BLUE, GOD, HOST, OBSERVER, RED, make_room


def refuse(room: Room, who: str, name: str, args: dict[str, object], at: int = 1) -> None:
    with pytest.raises((BadArgs, PermissionDenied, ScopeViolation)):
        room.call(who, name, args, at=at)


def shown(room: Room, who: str = "hostess", **args: object) -> AuditReply:
    found = room.call(who, "audit", args, at=10**6)
    assert isinstance(found, AuditReply)
    return found


def test_the_same_refusal_within_a_minute_is_one_line_with_a_count() -> None:
    audit = Audit()
    for at in (1000, 1001, 60_999, 61_000):
        audit.refused(at, "ann", "finish", "PERMISSION_DENIED", "no")
    audit.refused(61_000, "bob", "finish", "PERMISSION_DENIED", "no")
    assert [(line.at, line.member, line.count) for line in audit.kept] == [
        (1000, "ann", 3), (61_000, "ann", 1), (61_000, "bob", 1),
    ]  # fmt: skip
    assert len({line.id for line in audit.kept}) == 3
    assert audit.totals == {"PERMISSION_DENIED": 5}


def test_the_oldest_line_makes_room_for_the_newest_and_counting_starts_again() -> None:
    audit = Audit()
    for number in range(REFUSALS_KEPT + 1):
        audit.refused(1, f"m{number}", f"c{number}", "BAD_ARGS", "no")
    assert [line.command for line in audit.kept] == [f"c{number}" for number in range(1, REFUSALS_KEPT + 1)]
    audit.refused(2, "m0", "c0", "BAD_ARGS", "no")
    assert (audit.kept[-1].command, audit.kept[-1].count, len(audit.kept)) == ("c0", 1, REFUSALS_KEPT)


def test_each_changed_line_is_handed_to_the_store_once_with_its_count_so_far() -> None:
    audit = Audit()
    audit.refused(1, "ann", "a", "BAD_ARGS", "no")
    audit.refused(2, "ann", "a", "BAD_ARGS", "no")
    assert [(line.command, line.count) for line in audit.drain()] == [("a", 2)]
    assert audit.drain() == []
    audit.refused(3, "ann", "a", "BAD_ARGS", "no")
    assert [(line.command, line.count) for line in audit.drain()] == [("a", 3)]


def test_after_loading_stored_lines_new_ones_do_not_replace_them() -> None:
    before, after = Audit(), Audit()
    before.refused(1, "ann", "a", "BAD_ARGS", "no")
    before.refused(1, "ann", "b", "BAD_ARGS", "no")
    after.load(before.drain())
    after.refused(2, "ann", "c", "BAD_ARGS", "no")
    assert [line.command for line in after.kept] == ["a", "b", "c"]
    assert len({line.id for line in after.kept}) == 3


def test_the_newest_refusals_come_first_and_can_be_limited_to_one_member() -> None:
    room = make_room(RED, BLUE, HOST)
    for at, who in enumerate(["ann", "bob", "ann"]):
        refuse(room, who, "finish" if at else "strike", {"target": "blue"} if not at else {}, at)
    assert [(line.member, line.command) for line in shown(room).refusals] == [
        ("ann", "finish"), ("bob", "finish"), ("ann", "strike"),
    ]  # fmt: skip
    assert [line.command for line in shown(room, member="ann").refusals] == ["finish", "strike"]
    assert [line.member for line in shown(room, max=1).refusals] == ["ann"]


def test_a_reason_that_may_quote_hidden_things_is_shown_only_to_those_who_see_everything() -> None:
    room = make_room(RED, BLUE, HOST, GOD)
    refuse(room, "ann", "hide", {"n": "forty-two"})
    refuse(room, "ann", "finish", {})
    hidden, plain = sorted(shown(room).refusals, key=lambda line: line.code)
    assert (hidden.code, hidden.reason) == ("BAD_ARGS", "(shown to members with read_all)")
    assert (plain.code, plain.reason != hidden.reason) == ("PERMISSION_DENIED", True)
    assert hidden.reason not in [line.reason for line in shown(room, "zeus").refusals]


def test_grants_that_differ_from_the_role_are_listed_and_no_others() -> None:
    room = make_room(RED, BLUE, HOST, OBSERVER)
    assert shown(room).grants == []
    room.call("hostess", "narrow", {"member": "owl", "may": ["read_chat"]}, at=2)
    assert [each.member for each in shown(room).grants] == ["owl"]


def test_a_host_sees_the_grants_of_all_also_beside_the_refusals_of_one_and_others_see_their_own() -> None:
    room = make_room(RED, BLUE, HOST, OBSERVER)
    for member in ("owl", "ann"):
        room.call("hostess", "narrow", {"member": member, "may": ["read_chat"]}, at=2)
    for named in ("owl", "bob", "hostess"):
        assert [each.member for each in shown(room, member=named).grants] == ["ann", "owl"]
    assert [each.member for each in shown(room, "ann", member="owl").grants] == ["ann"]


@pytest.mark.parametrize("name", ["move", "view"])
def test_a_call_in_which_the_world_fails_is_in_the_audit_once(name: str) -> None:
    room = make_room(RED, BLUE, HOST, world="Moody", config={"fails_in": "observe"})
    if name == "view":
        vars(room.world)["moves"] = 1
    with pytest.raises(GameCrash):
        room.call("ann", name, {}, at=1)
    assert [(line.member, line.command, line.code, line.count) for line in room.audit.kept] == [
        ("ann", name, "GAME_CRASH", 1)
    ]


@pytest.mark.parametrize("name", ["break_down", "trouble"])
def test_an_action_or_a_query_that_raises_is_in_the_audit_once(name: str) -> None:
    room = make_room(RED, BLUE, HOST)
    with pytest.raises(GameCrash):
        room.call("ann", name, {}, at=1)
    assert [(line.member, line.command, line.code) for line in room.audit.kept] == [("ann", name, "GAME_CRASH")]


def test_a_member_with_too_many_refusals_in_one_minute_has_lines_of_its_own_again_in_the_next() -> None:
    audit = Audit()
    for number in range(LINES_PER_MEMBER + 1):
        audit.refused(59_999, "eve", f"c{number}", "BAD_ARGS", "no")
    assert audit.kept[-1].command == MANY
    audit.refused(60_000, "eve", "another", "BAD_ARGS", "no")
    assert (audit.kept[-1].command, audit.kept[-1].count) == ("another", 1)


def test_a_member_with_many_different_refusals_shares_lines_and_dropped_lines_are_still_recorded() -> None:
    audit = Audit()
    audit.refused(1, "eve", "grant", "PERMISSION_DENIED", "no")
    for number in range(LINES_PER_MEMBER + 99):
        audit.refused(2, "eve", f"c{number}", "BAD_ARGS", "no")
    assert len(audit.kept) == LINES_PER_MEMBER + 1
    assert (audit.kept[-1].command, audit.kept[-1].count) == (MANY, 100)
    for number in range(REFUSALS_KEPT):
        audit.refused(3, f"m{number}", "c", "BAD_ARGS", "no")
    assert all(line.member != "eve" for line in audit.kept)
    assert next(line.command for line in audit.unrecorded(0)) == "grant"
    audit.recorded(LINES_PER_MEMBER + 1)
    assert audit.evicted == []
