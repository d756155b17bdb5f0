"""The decision whether a call is allowed, with its reason."""

from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.errors import BadArgs, Busy, CohabitError, PermissionDenied, ScopeViolation, Unauthorized, UnknownCommand
from cohabit.house.commands import HOUSE_COMMANDS
from cohabit.model.grant import C
from cohabit.model.identity import Credential
from cohabit.room.access.budget import Budget
from cohabit.room.commands import Command, Options
from cohabit.room.decide import by_grant, decide
from cohabit.room.decision import Decision
from cohabit.room.seeing.info import allowed_commands

from .making import EVERYBODY, GOD, RED, make_room

MEMBERS = [str(agent["id"]) for agent in EVERYBODY]


@given(st.lists(st.tuples(st.sampled_from(MEMBERS), st.integers(0, 60)), max_size=30))
def test_deciding_changes_nothing_and_repeats_its_answer(
    asked: list[tuple[str, int]],
) -> None:
    room = make_room(*EVERYBODY, turn_based=True, turn_order=["ann", "bob"])
    commands = list(room.commands)
    before, inside = room.digest(), deepcopy(vars(room.budget))
    answers: dict[tuple[str, int], Decision] = {}
    for who, i in asked * 2:
        decision = decide(commands[i % len(commands)], room.state.members[who], room, 5)
        assert answers.setdefault((who, i), decision) == decision
    assert room.digest() == before
    assert vars(room.budget) == inside
    assert not room.audit.kept
    assert room.record.seq == 0


def test_a_refused_call_gets_the_code_and_reason_of_the_decision() -> None:
    room = make_room(*EVERYBODY, turn_based=True, turn_order=["ann", "bob"])
    decisions = {
        (who, command.name): decide(command, room.state.members[who], room, 1)
        for who in MEMBERS
        for command in room.commands
        if command.name != "act"
    }
    refusals = {call: decision for call, decision in decisions.items() if not decision}
    assert {decision.code for decision in refusals.values()} == {"PERMISSION_DENIED", "TURN_NOT_YOURS"}
    for (who, name), decision in refusals.items():
        with pytest.raises(CohabitError) as refused:
            room.call(who, name, {}, at=1)
        assert (refused.value.code, refused.value.message) == (decision.code, decision.reason)
        assert refused.value.details.get("needs", []) == list(decision.needs)


def test_the_commands_of_a_member_follow_from_its_grant_and_not_from_the_turn() -> None:
    room = make_room(*EVERYBODY, turn_based=True, turn_order=["ann", "bob"])
    before = [c.name for c in allowed_commands(room, room.state.members["bob"])]
    room.call("ann", "turn_advance", at=1)
    assert [c.name for c in allowed_commands(room, room.state.members["bob"])] == before
    assert "hide" in before
    assert "reset" not in before
    assert "hide" not in [c.name for c in allowed_commands(room, room.state.members["owl"])]


def test_the_grant_is_checked_before_the_turn_and_both_before_the_arguments() -> None:
    room = make_room(*EVERYBODY, turn_based=True, turn_order=["ann", "bob"])
    for who, code in (("owl", "PERMISSION_DENIED"), ("bob", "TURN_NOT_YOURS"), ("ann", "BAD_ARGS")):
        with pytest.raises(CohabitError) as refused:
            room.call(who, "hide", {"n": "many"}, at=1)
        assert refused.value.code == code


def test_a_caller_that_is_not_a_member_is_unauthorized() -> None:
    room = make_room()
    with pytest.raises(Unauthorized):
        room.call("eve", "whoami", at=1)


def test_an_unknown_command_is_answered_with_near_names() -> None:
    room = make_room()
    with pytest.raises(UnknownCommand) as refused:
        room.call("ann", "hyde", at=1)
    assert refused.value.did_you_mean[0] == "hide"


@pytest.mark.parametrize(
    "args", [{"n": "3"}, {"n": 3.5}, {"m": 3}, {}, {"n": 3, "by": "blue"}, [3], "n=3", 3, {"n": None}]
)
def test_arguments_that_do_not_fit_are_refused_and_the_world_does_not_change(args: object) -> None:
    room = make_room()
    before = room.digest()
    with pytest.raises(BadArgs) as refused:
        room.call("ann", "hide", args, at=1)
    assert "hide" in refused.value.message
    assert room.digest() == before


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None), max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(name=st.sampled_from([c.name for c in make_room().commands]), args=JSON | st.dictionaries(
    st.sampled_from(["n", "text", "target", "given", "grams", "to", "content", "action", "params", "member", "may", "seat"]), JSON
))  # fmt: skip
def test_any_arguments_get_a_result_or_one_of_our_errors_and_the_record_replays(name: str, args: object) -> None:
    from .making import replayed

    room = make_room(*EVERYBODY)
    for who in ("ann", "zeus", "hostess"):
        before = room.digest()
        try:
            room.call(who, name, args, at=1)
        except CohabitError as refused:
            assert refused.code != "INTERNAL"
            assert room.digest() == before
    assert replayed(room).digest() == room.digest()


# -- scope ------------------------------------------------------------------------------------------
def test_a_player_acts_on_its_own_and_not_on_another_seat() -> None:
    room = make_room(*EVERYBODY)
    room.call("bob", "hide", {"n": 1}, at=1)
    before = room.digest()
    with pytest.raises(ScopeViolation):
        room.call("ann", "strike", {"target": "blue"}, at=2)
    assert room.digest() == before
    assert room.call("ann", "strike", {"target": "red"}, at=3).success


def test_a_god_acts_on_every_seat() -> None:
    room = make_room(*EVERYBODY)
    assert room.call("zeus", "strike", {"target": "blue"}, at=1).success


def test_scope_is_checked_through_act_as_well() -> None:
    room = make_room(*EVERYBODY)
    with pytest.raises(ScopeViolation):
        room.call("ann", "act", {"action": "strike", "params": {"target": "blue"}}, at=1)


def test_an_action_done_from_a_seat_is_refused_to_a_god_without_one() -> None:
    room = make_room(*EVERYBODY)
    with pytest.raises(PermissionDenied) as refused:
        room.call("zeus", "hide", {"n": 1}, at=1)
    assert "seat" in refused.value.message


def test_a_player_without_a_seat_is_not_taken_for_a_god() -> None:
    late = {"id": "late", "role": "player", "claim": "auto:3"}
    free = {"id": "free", "role": "player"}
    room = make_room(RED, late, free, GOD)
    before = room.digest()
    for who in ("late", "free"):
        for name, args in (("strike", {"target": "red"}), ("shout", {"text": "I am heaven"})):
            with pytest.raises(PermissionDenied) as refused:
                room.call(who, name, args, at=1)
            assert "seat" in refused.value.message
    assert room.digest() == before


# -- budget -----------------------------------------------------------------------------------------
def test_more_calls_in_a_second_than_the_budget_are_busy_and_the_next_second_is_a_new_one() -> None:
    room = make_room()
    room.budget.per_second = 3
    for _ in range(3):
        room.call("ann", "whoami", at=10)
    with pytest.raises(Busy):
        room.call("ann", "whoami", at=999)
    room.call("bob", "whoami", at=999)
    room.call("ann", "whoami", at=1000)


# -- credentials and the house ----------------------------------------------------------------------
def test_the_rate_limit_counts_by_whole_seconds_and_its_quick_check_is_on_while_somebody_exceeds_it() -> None:
    budget = Budget(1)
    assert not budget.exceeded
    budget.spend("ann", 999)
    assert not budget.exceeded
    budget.spend("ann", 999)
    assert budget.exceeded
    assert budget.is_spent("ann", 0)
    assert not budget.is_spent("bob", 999)
    assert not budget.is_spent("ann", 1000)
    budget.spend("ann", 1000)
    assert not budget.exceeded
    assert not budget.is_spent("ann", 1000)


def test_a_revoked_or_expired_credential_is_refused_before_everything_else() -> None:
    room = make_room(*EVERYBODY, turn_based=True, turn_order=["ann", "bob"])
    room.call("hostess", "archive", at=1)
    for credential, word in (
        (Credential(b"", "i", revoked=True), "revoked"),
        (Credential(b"", "i", expires_at=5), "expired"),
    ):
        for command in room.commands:
            decision = decide(command, room.state.members["bot"], room, 5, credential=credential)
            assert (decision.code, word in decision.reason) == ("UNAUTHORIZED", True)
    assert not decide(
        room.commands.named("whoami"), room.state.members["bot"], room, 4, credential=Credential(b"", "i", expires_at=5)
    ).code


def test_deciding_about_a_command_of_the_house_asks_the_world_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is decided on the event loop, while the world may be running on a thread."""
    room = make_room(*EVERYBODY)
    for name in ("to_move", "is_over", "scope", "seats_now", "observe"):
        monkeypatch.setattr(type(room.world), name, lambda *args: pytest.fail("the world was asked"))
    decided = [decide(command, member, room, 1) for command in HOUSE_COMMANDS for member in room.state.members.values()]
    assert any(decided)
    assert not all(decided)


@pytest.mark.parametrize(("needs", "said"), [
    ((C.SPEAK,), "requires speak, and owl (observer) does not have it. A host who has it"),
    ((C.ACT, C.SPEAK), "requires act or speak, and owl (observer) has neither. A host"),
    ((C.PUBLISH, C.SPEAK, C.CONTROL_WORLD),
     "requires publish or speak or control_world, and owl (observer) has none of them. A host who has it"),
])  # fmt: skip
def test_a_refusal_names_what_is_needed_and_who_lacks_it(needs: tuple[C, ...], said: str) -> None:
    room = make_room(*EVERYBODY)
    asked = Command("try_it", lambda ctx: None, Options(category="meta", needs=needs))
    decision = by_grant(room.state.members["owl"], asked)
    assert decision.reason == f"try_it {said} can grant it (`ask`)."
    assert decision.needs == needs
