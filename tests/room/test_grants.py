"""What a role gives, and how hosts change grants while the room runs."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.errors import BadArgs, CohabitError, Conflict, PermissionDenied, UnknownAsset
from cohabit.model.grant import ROLES, Capability, capabilities, names_held, role_named
from cohabit.protocols import kibitz
from cohabit.room.access.grants import grant_wire
from cohabit.room.decide import decide
from cohabit.room.room import Room
from cohabit.room.state import Member

from .making import AGENT, BLUE, EVERYBODY, GOD, HOST, PERSON, RED, entries, make_room, player, replayed, restored

TALK = ["read_roster", "read_chat", "receive_directed"]
ROLE_TABLE = {
    "god": (
        ["watch", "read_own", "read_all", *TALK, "see_screen", "hear_audio", "read_media", "read_files"],
        ["act", "act_global", "advance_time", "control_world", "send_message", "send_broadcast", "speak",
         "publish", "manage_members"],
    ),
    "player": (["watch", "read_own", *TALK, "see_screen"], ["act", "advance_time", "send_message"]),
    "observer": (["watch", "read_own", "read_all", *TALK, "see_screen"], ["send_message"]),
    "narrator": (["watch", "read_own", "read_all", *TALK, "see_screen"], ["send_message", "send_broadcast"]),
    "human": (
        ["watch", "read_own", *TALK, "see_screen", "hear_audio", "read_media", "read_files"],
        ["act", "advance_time", "send_message", "send_broadcast", "speak"],
    ),
    "agent": (["watch", *TALK], []),
    "app": (["watch", *TALK], ["send_message", "send_broadcast", "publish"]),
    "resident": (["watch", "receive_directed"], []),
    "host": (
        ["watch", *TALK, "see_screen", "hear_audio", "read_media", "read_files"],
        ["advance_time", "control_world", "send_message", "send_broadcast", "speak", "manage_members"],
    ),
}  # fmt: skip


def wire(value: Any) -> Any:
    return msgspec.to_builtins(value)


def held(room: Room, member: str) -> frozenset[Capability]:
    return room.state.members[member].held


@pytest.mark.parametrize("role", ROLES)
def test_whoami_lists_exactly_what_a_role_gives(role: str) -> None:
    room = make_room({"id": "me", "role": role}, HOST)
    me = wire(room.call("me", "whoami", at=1))
    assert (me["grant"]["perceive"], me["grant"]["act"]) == ROLE_TABLE[role]
    assert me["role"] == role
    assert "layers" not in me["grant"]


@pytest.mark.parametrize("name", ["God", "admin", "", "narator"])
def test_a_role_that_does_not_exist_is_refused_with_those_that_do(name: str) -> None:
    with pytest.raises(BadArgs, match="roles: god, player, observer") as refused:
        role_named(name)
    near = {"God": ["god"], "narator": ["narrator"]}
    assert refused.value.did_you_mean == near.get(name, [])


def test_an_agent_without_a_role_may_watch_and_nothing_else() -> None:
    room = make_room(RED, AGENT, partial_intel=True)
    assert "silence" in room.call("bot", "view", at=1).text
    assert room.call("bot", "recv_messages", at=1).count == 0
    for name, args in (
        ("shout", {"text": "x"}),
        ("send_message", {"to": "ann", "content": "x"}),
        ("sit", {"seat": "blue"}),
    ):
        with pytest.raises(PermissionDenied):
            room.call("bot", name, args, at=1)


def test_a_person_without_a_role_plays_in_a_seat_it_takes() -> None:
    room = make_room(RED, PERSON)
    with pytest.raises(PermissionDenied):
        room.call("pat", "hide", {"n": 1}, at=1)
    room.call("pat", "sit", {"seat": "blue"}, at=2)
    assert room.call("pat", "hide", {"n": 1}, at=3).success
    assert room.call("pat", "send_message", {"to": "*", "content": "hello"}, at=4).recipients == ["ann"]


def test_a_host_manages_the_room_and_does_not_act_in_the_world_or_see_what_is_hidden() -> None:
    room = make_room(RED, BLUE, HOST, partial_intel=True)
    room.call("ann", "hide", {"n": 42}, at=1)
    assert "42" not in room.call("hostess", "view", at=2).text
    with pytest.raises(PermissionDenied):
        room.call("hostess", "shout", {"text": "x"}, at=2)
    assert room.call("hostess", "reset", at=2).game == 2


# -- names ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", [*kibitz.PERCEIVE, *kibitz.ACT])
def test_every_kibitz_name_is_accepted_and_shown_again(name: str) -> None:
    room = make_room(RED, HOST)
    granted = wire(room.call("hostess", "grant", {"member": "ann", "may": [name]}, at=1))["grant"]
    assert name in granted["kibitz"]["perceive"] + granted["kibitz"]["act"]


@pytest.mark.parametrize("name", Capability)
def test_every_name_of_ours_is_accepted_with_hyphens_too(name: str) -> None:
    room = make_room(RED, GOD)
    for written in (name, name.replace("_", "-")):
        room.call("zeus", "clear_grant", {"member": "ann"}, at=1)
        room.call("zeus", "grant", {"member": "ann", "may": [written]}, at=1)
        assert held(room, "ann") == capabilities([written]) >= {name}


def test_the_default_of_an_agent_is_the_one_of_kibitz() -> None:
    assert names_held(ROLES["agent"], kibitz.PERCEIVE) == ["read-chat", "read-roster", "receive-directed"]
    assert names_held(ROLES["agent"], kibitz.ACT) == []


def test_an_unknown_name_is_refused_and_nothing_changes() -> None:
    room = make_room(RED, HOST)
    before = room.digest()
    with pytest.raises(BadArgs) as refused:
        room.call("hostess", "grant", {"member": "ann", "may": ["watch", "read-chats"]}, at=1)
    assert "read-chat" in refused.value.did_you_mean
    assert room.digest() == before


@given(st.sets(st.sampled_from(list(Capability))))
def test_a_grant_gives_exactly_what_it_names(may: set[Capability]) -> None:
    room = make_room(RED, GOD)
    room.call("zeus", "grant", {"member": "ann", "may": sorted(may)}, at=1)
    assert held(room, "ann") == may
    for command in room.commands:
        assert bool(decide(command, room.state.members["ann"], room, 1)) <= (
            not command.needs or bool(may & set(command.needs))
        )


# -- changing grants --------------------------------------------------------------------------------
def test_widening_adds_to_the_role_and_narrowing_takes_away_from_it() -> None:
    room = make_room(RED, BLUE, HOST)
    room.call("hostess", "widen", {"member": "ann", "may": ["send_broadcast"]}, at=1)
    assert room.state.members["ann"].held == ROLES["player"] | {Capability.SEND_BROADCAST}
    assert room.call("ann", "send_message", {"to": "*", "content": "x"}, at=2).broadcast
    room.call("hostess", "narrow", {"member": "ann", "may": ["send_broadcast", "act"]}, at=3)
    with pytest.raises(PermissionDenied) as refused:
        room.call("ann", "hide", {"n": 1}, at=4)
    assert "act" in refused.value.message
    assert "ann" in refused.value.message
    assert "player" in refused.value.message


def test_a_revoked_member_may_ask_who_it_is_and_nothing_else() -> None:
    room = make_room(RED, BLUE, HOST)
    room.call("hostess", "revoke", {"member": "ann"}, at=1)
    grant = wire(room.call("ann", "whoami", at=2))["grant"]
    assert (grant["perceive"], grant["act"], grant["layers"]) == ([], [], [{"kind": "limit", "may": []}])
    for name in ("view", "recv_messages", "roster", "numbers", "objective_status"):
        with pytest.raises(PermissionDenied):
            room.call("ann", name, at=2)
    room.call("hostess", "clear_grant", {"member": "ann"}, at=3)
    assert room.state.members["ann"].held == ROLES["player"]


def test_a_grant_goes_before_the_role_and_the_role_before_the_kind() -> None:
    assert Member("p", "human").held == ROLES["human"]
    assert Member("p", "human", "observer").held == ROLES["observer"]
    room = make_room({"id": "p", "kind": "human", "role": "observer"}, GOD)
    room.call("zeus", "grant", {"member": "p", "may": ["watch"]}, at=1)
    assert held(room, "p") == {Capability.WATCH}
    room.call("zeus", "clear_grant", {"member": "p"}, at=2)
    assert held(room, "p") == ROLES["observer"]


def test_an_expired_grant_is_an_event_and_leaves_nothing_not_even_the_role() -> None:
    room = make_room(RED, BLUE, HOST)
    may = [*ROLES["player"], "send_broadcast"]
    room.call("hostess", "grant", {"member": "ann", "may": may, "expires_in_s": 10}, at=1000)
    assert room.next_deadline() == 11_000
    assert room.call("ann", "hide", {"n": 1}, at=10_999).success
    with pytest.raises(PermissionDenied):
        room.call("ann", "view", at=11_000)
    expired = entries(room, "grant_expired")
    assert [(e.at, e.by, e.args) for e in expired] == [(11_000, None, {"member": "ann"})]
    assert room.state.members["ann"].held == frozenset()
    assert replayed(room).digest() == room.digest()


def test_a_loan_ends_in_what_the_member_held_before() -> None:
    room = make_room(RED, BLUE, HOST)
    lend = {"member": "ann", "may": ["send_broadcast"], "expires_in_s": 10}
    room.call("hostess", "widen", lend, at=1000)
    room.call("hostess", "widen", lend, at=2000)  # lent again: each loan has its own end
    room.settle(11_000)
    assert Capability.SEND_BROADCAST in room.state.members["ann"].held
    room.settle(12_000)
    assert room.state.members["ann"].held == ROLES["player"]
    room.call("hostess", "narrow", {"member": "ann", "may": ["send_message"]}, at=13_000)
    narrowed = room.state.members["ann"].held
    room.call("hostess", "widen", lend, at=14_000)
    room.settle(30_000)
    assert room.state.members["ann"].held == narrowed
    assert replayed(room).digest() == room.digest()


def test_an_expiry_that_was_due_while_nobody_called_takes_effect_before_the_call() -> None:
    room = make_room(RED, BLUE, HOST)
    room.call("hostess", "grant", {"member": "ann", "may": ["watch", "read_own"], "expires_in_s": 1}, at=0)
    with pytest.raises(PermissionDenied):
        room.call("ann", "view", at=3_600_000)


def test_a_member_whose_grant_expired_can_be_given_a_new_one_without_an_end() -> None:
    room = make_room(RED, BLUE, HOST)
    room.call("hostess", "grant", {"member": "ann", "may": ["watch"], "expires_in_s": 1}, at=0)
    room.settle(5000)
    room.call("hostess", "widen", {"member": "ann", "may": ["watch"]}, at=6000)
    assert room.call("ann", "view", at=7000).text
    assert len(entries(room, "grant_expired")) == 1


def test_narrowing_keeps_the_end_that_a_grant_has() -> None:
    room = make_room(RED, BLUE, HOST)
    room.call("hostess", "grant", {"member": "ann", "may": ["watch", "act"], "expires_in_s": 10}, at=0)
    room.call("hostess", "narrow", {"member": "ann", "may": ["act"]}, at=1)
    assert room.next_deadline() == 10_000


def test_a_kibitzer_looks_through_the_seat_that_its_grant_names() -> None:
    room = make_room(RED, BLUE, HOST, AGENT, partial_intel=True, sealed=False)
    room.call("ann", "hide", {"n": 41}, at=1)
    room.call("bob", "hide", {"n": 42}, at=1)
    args = {"member": "bot", "may": ["watch", "read_own"], "through": "red"}
    room.call("hostess", "grant", args, at=2)
    assert room.call("bot", "numbers", at=3) == {"red": [41]}


def test_a_host_cannot_take_manage_members_from_itself() -> None:
    room = make_room(RED, HOST)
    for name, args in (
        ("revoke", {"member": "hostess"}),
        ("narrow", {"member": "hostess", "may": ["manage_members"]}),
        ("grant", {"member": "hostess", "may": ["watch"]}),
        ("remove_member", {"member": "hostess"}),
    ):
        with pytest.raises(Conflict):
            room.call("hostess", name, args, at=1)


def test_a_host_cannot_add_a_god_because_it_is_none() -> None:
    room = make_room(RED, HOST, GOD)
    with pytest.raises(PermissionDenied) as refused:
        room.call("hostess", "add_member", {"id": "me_too", "role": "god"}, at=1)
    assert "act_global" in refused.value.message
    assert room.call("zeus", "add_member", {"id": "me_too", "role": "god"}, at=1).role == "god"


@pytest.mark.parametrize("name", ["grant", "widen"])
@pytest.mark.parametrize("member", ["hostess", "bot"])
def test_a_host_cannot_give_itself_or_others_what_it_does_not_hold(name: str, member: str) -> None:
    room = make_room(RED, HOST, AGENT)
    before = room.digest()
    with pytest.raises(PermissionDenied) as refused:
        room.call("hostess", name, {"member": member, "may": [*ROLES["host"], "read_all"]}, at=1)
    assert "read_all" in refused.value.message
    assert room.digest() == before
    room.call("hostess", name, {"member": member, "may": [*ROLES["host"]], "expires_in_s": 60}, at=2)


def test_a_host_can_let_others_play_although_it_does_not_play_itself() -> None:
    room = make_room(RED, HOST, AGENT)
    room.call("hostess", "widen", {"member": "bot", "may": ["act", "read_own"]}, at=1)
    assert room.call("bot", "sit", {"seat": "blue"}, at=2).seat == "blue"
    with pytest.raises(
        PermissionDenied,
        match="you cannot grant yourself capabilities that you do not have, or not for as long: read_own, act",
    ):
        room.call("hostess", "widen", {"member": "hostess", "may": ["act", "read_own"]}, at=3)


@pytest.mark.parametrize("who", ["ann", "owl", "nora", "bot", "pat"])
def test_nobody_but_a_host_or_a_god_manages_members(who: str) -> None:
    room = make_room(*EVERYBODY)
    before = room.digest()
    for name, args in (
        ("grant", {"member": who, "may": ["read_all"]}),
        ("widen", {"member": who, "may": ["read_all"]}),
        ("narrow", {"member": "zeus", "may": ["read_all"]}),
        ("revoke", {"member": "zeus"}),
        ("clear_grant", {"member": who}),
        ("add_member", {"id": "friend"}),
        ("remove_member", {"member": "zeus"}),
    ):
        with pytest.raises(PermissionDenied):
            room.call(who, name, args, at=1)
    assert room.digest() == before


def test_every_change_of_a_grant_is_on_record_with_its_author() -> None:
    room = make_room(RED, BLUE, HOST)
    for i, (name, args) in enumerate(
        [
            ("grant", {"may": ["watch"]}),
            ("widen", {"may": ["act"]}),
            ("narrow", {"may": ["act"]}),
            ("revoke", {}),
            ("clear_grant", {}),
        ]
    ):
        room.call("hostess", name, {"member": "ann", **args}, at=i)
    made = [(e.by, e.do) for e in entries(room)[1:]]
    assert made == [("hostess", n) for n in ("grant", "widen", "narrow", "revoke", "clear_grant")]
    told = [t.text for e in entries(room)[1:] for t in e.told]
    assert all("hostess" in text and "ann" in text for text in told)
    assert len(told) == 5


def test_refusals_are_in_the_audit_and_repeats_are_summed() -> None:
    room = make_room(RED, BLUE, HOST)
    for at in range(5):
        with pytest.raises(PermissionDenied):
            room.call("ann", "reset", at=at)
    lines = room.audit.kept
    assert [(r.member, r.command, r.code, r.count) for r in lines] == [("ann", "reset", "PERMISSION_DENIED", 5)]


def test_unknown_commands_cannot_flood_the_audit() -> None:
    room = make_room(RED, BLUE, HOST)
    room.budget.per_second = 50
    for i in range(200):
        with pytest.raises(CohabitError) as refused:
            room.call("ann", f"nonsense_{i}", at=1)
        assert refused.value.code == ("UNKNOWN_COMMAND" if i < 50 else "BUSY")
    lines = room.audit.drain()
    assert [(r.code, r.count) for r in lines[:50]] == [("UNKNOWN_COMMAND", 1)] * 50, "they are not the same"
    assert [(r.code, r.count) for r in lines[50:]] == [("BUSY", 150)]


def test_an_unknown_member_is_answered_with_near_names() -> None:
    room = make_room(RED, BLUE, HOST)
    with pytest.raises(UnknownAsset) as refused:
        room.call("hostess", "revoke", {"member": "anne"}, at=1)
    assert refused.value.did_you_mean[0] == "ann"


def test_the_end_of_a_grant_and_of_each_layer_is_shown_in_seconds() -> None:
    room = make_room(RED, BLUE, HOST, AGENT)
    room.call("hostess", "grant", {"member": "bot", "may": ["watch"], "expires_in_s": 9}, at=1_000_999)
    room.call("hostess", "widen", {"member": "bot", "may": ["act"], "expires_in_s": 20}, at=1_000_999)
    shown = grant_wire(room.state.members["bot"])
    ends = [layer["expiresAt"] for layer in shown["layers"] if "expiresAt" in layer]
    assert (shown["expiresAt"], ends) == (1009, [1009, 1020])


def test_layers_survive_a_snapshot() -> None:
    room = make_room(RED, BLUE, HOST, AGENT)
    room.call("hostess", "grant", {"member": "bot", "may": ["watch"], "through": "blue", "expires_in_s": 9}, at=0)
    room.call("hostess", "widen", {"member": "bot", "may": ["act"], "expires_in_s": 20}, at=0)
    back = restored(room)
    assert back.state.members["bot"] == room.state.members["bot"]
    assert (back.state.members["bot"].through, held(back, "bot")) == ("blue", {"watch", "act"})
    assert back.next_deadline() == 9000


def test_a_member_cannot_choose_its_kind_its_role_or_its_handle_in_a_call() -> None:
    room = make_room(player("me", 0), HOST)
    for args in ({"role": "god"}, {"kind": "human"}, {"handle": "hostess"}, {"member": "hostess"}):
        with pytest.raises(BadArgs):
            room.call("me", "whoami", args, at=1)


def test_the_model_that_an_agent_uses_is_shown_with_its_grant_and_that_it_leaves_the_house() -> None:
    room = make_room(RED, {**BLUE, "backend": "gpt-9"}, HOST)
    shown = {
        who: room.call("hostess", "narrow", {"member": who, "may": ["send_message"]}, at=1).grant
        for who in ("ann", "bob")
    }
    assert (shown["bob"]["backend"], shown["bob"]["egress"]) == ("gpt-9", True)
    assert {"backend", "egress"}.isdisjoint(shown["ann"])
