"""A member that a host has limited does not lose that by leaving and coming back."""

from typing import Any

import pytest

from cohabit.errors import Busy, Conflict, PermissionDenied, UnknownAsset
from cohabit.features import chat_limits
from cohabit.model.grant import ROLES, Capability, Layer
from cohabit.room.access.former_members import LIMITED_KEPT, keep_limits
from cohabit.room.room import Room
from cohabit.room.state import Member

from .making import HOST, make_room, replayed, restored, told_last

C = Capability
PLAYER = ROLES["player"]


def joined(room: Room, identity: str = "id-ada", handle: str = "ada", at: int = 1, **more: Any) -> Member:
    room.system("admitted", {"handle": handle, "kind": "agent", "identity": identity, "role": "player", **more}, at)
    found = room.member_of(identity)
    assert found is not None
    return found


def left(room: Room, who: Member, at: int = 2) -> None:
    room.call(who.id, "leave", at=at)


def host(room: Room, name: str, at: int = 2, **args: Any) -> Any:
    return room.call("hostess", name, args, at=at)


@pytest.mark.parametrize("how", ["leaves", "is removed"])
@pytest.mark.parametrize(
    ("name", "args", "held"),
    [
        ("narrow", {"may": ["send_message"]}, PLAYER - {C.SEND_MESSAGE}),
        ("grant", {"may": ["watch", "act"]}, {C.WATCH, C.ACT}),
        ("grant", {"may": ["watch", "send_broadcast"]}, {C.WATCH}),  # what it had in addition is gone
        ("revoke", {}, set()),
    ],
)
def test_limits_apply_again_when_the_identity_is_back(how: str, name: str, args: Any, held: set[Capability]) -> None:
    room = make_room(HOST)
    who = joined(room)
    host(room, name, member="ada", **args)
    if how == "leaves":
        left(room, who)
    else:
        host(room, "remove_member", member="ada")
    assert joined(room).held == held
    assert replayed(room).member_of("id-ada").held == restored(room).member_of("id-ada").held == held  # type: ignore[union-attr]


def test_limits_hold_however_often_it_comes_back_and_others_are_not_limited_by_them() -> None:
    room = make_room(HOST)
    host(room, "narrow", member=joined(room).handle, may=["act"])
    for _ in range(3):
        who = room.member_of("id-ada")
        assert who is not None
        left(room, who)
        assert C.ACT not in joined(room).held
    assert joined(room, "id-bea", "bea").held == PLAYER


def test_what_a_host_has_given_back_is_not_taken_again() -> None:
    room = make_room(HOST)
    who = joined(room)
    host(room, "narrow", member="ada", may=["act", "send_message"])
    host(room, "widen", member="ada", may=["act"])
    left(room, who)
    assert joined(room).held == PLAYER - {C.SEND_MESSAGE}
    host(room, "clear_grant", member="ada")
    left(room, room.state.members["ada#2"])
    assert not room.state.limited
    assert joined(room).held == PLAYER


def test_a_host_lifts_the_limits_of_a_member_that_is_away() -> None:
    room = make_room(HOST)
    who = joined(room)
    host(room, "revoke", member="ada")
    left(room, who)
    assert host(room, "entry").limited == ["ada"]
    host(room, "clear_grant", member="ada")
    assert told_last(room) == {"hostess": ["hostess lifted the limits of ada, who has left"]}
    assert host(room, "entry").limited == []
    assert joined(room).held == PLAYER
    with pytest.raises(UnknownAsset):
        host(room, "clear_grant", member="nobody")


def test_lifting_the_limits_of_a_former_member_concerns_one_identity() -> None:
    room = make_room(HOST)
    for identity in ("id-ada", "id-other"):
        who = joined(room, identity)
        host(room, "narrow", member="ada", may=["act"])
        left(room, who)
    assert host(room, "entry").limited == ["ada#1", "ada#2"]
    with pytest.raises(Conflict, match="2 former members were called ada; name one of ada#1, ada#2"):
        host(room, "clear_grant", member="ada")
    host(room, "clear_grant", member="ada#1")
    assert host(room, "entry").limited == ["ada"]
    assert joined(room, "id-other").held == PLAYER - {C.ACT}
    assert joined(room, "id-ada").held == PLAYER


def test_a_former_member_is_told_from_a_present_one_with_its_handle() -> None:
    room = make_room(HOST)
    who = joined(room)
    host(room, "narrow", member="ada", may=["act"])
    left(room, who)
    other = joined(room, "id-other")
    assert (other.handle, host(room, "entry").limited) == ("ada", ["ada#1"])
    host(room, "clear_grant", member="ada")
    assert "id-ada" in room.state.limited, "that was about the present member"
    host(room, "clear_grant", member="ada#1")
    assert not room.state.limited


def test_unblocking_a_former_member_concerns_one_identity() -> None:
    room = make_room(HOST)
    for identity in ("id-ada", "id-other"):
        joined(room, identity)
        host(room, "remove_member", member="ada", block=True)
    with pytest.raises(Conflict, match="ada#1, ada#2"):
        host(room, "unblock", member="ada")
    host(room, "unblock", member="ada#2")
    assert (list(room.state.blocked), host(room, "entry").blocked) == (["id-ada"], ["ada"])


# -- chat limits --------------------------------------------------------------------------------------
def test_the_cooldown_goes_on_while_a_member_is_away() -> None:
    room = make_room(HOST)
    host(room, "set_chat_limits", cooldown_ms=10_000)
    who = joined(room, may=["send_broadcast", "watch"])
    room.call(who.id, "say", {"text": "first"}, at=1_000)
    left(room, who, at=1_500)
    who = joined(room, at=2_000, may=["send_broadcast", "watch"])
    for back in (room, replayed(room), restored(room)):
        with pytest.raises(Busy, match="retry in 6000 ms"):
            back.call(who.id, "say", {"text": "second"}, at=5_000)
    room.call(who.id, "say", {"text": "second"}, at=11_000)


def test_messages_in_a_minute_are_counted_over_memberships_and_for_one_identity() -> None:
    room = make_room(HOST)
    host(room, "set_chat_limits", messages_per_minute=2)
    for number in range(2):
        who = joined(room, may=["send_broadcast", "watch"])
        room.call(who.id, "say", {"text": "hello"}, at=10 + number)
        left(room, who, at=20)
    who, other = (joined(room, one, one[3:], at=30, may=["send_broadcast", "watch"]) for one in ("id-ada", "id-bea"))
    with pytest.raises(Busy, match="2 messages a minute"):
        room.call(who.id, "say", {"text": "hello"}, at=40)
    room.call(other.id, "say", {"text": "hello"}, at=40)
    room.call(who.id, "say", {"text": "hello"}, at=60_001)


def test_a_room_remembers_the_chat_of_the_newest_identities_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_limits, "KEPT", 3)
    room = make_room(HOST)
    host(room, "set_chat_limits", messages_per_minute=2)
    for number in range(6):
        who = joined(room, f"id-{number}", f"m{number}", may=["send_broadcast", "watch"])
        room.call(who.id, "say", {"text": "hello"}, at=10 + number)
        left(room, who, at=20 + number)
    assert list(chat_limits.CHAT.read(room.state).spoke) == ["id-1", "id-2", "id-3", "id-4", "id-5"][-5:]


def test_nobody_lifts_limits_beyond_what_it_may_grant() -> None:
    room = make_room(HOST, {"id": "deputy", "role": "player"})
    host(room, "grant", member="deputy", may=["watch", "manage_members"])
    who = joined(room)
    host(room, "narrow", member="ada", may=["send_message"])
    left(room, who)
    with pytest.raises(PermissionDenied, match="send_message"):
        room.call("deputy", "clear_grant", {"member": "ada"}, at=3)
    assert C.SEND_MESSAGE not in joined(room).held


def test_a_limit_with_an_end_allows_nothing_if_the_member_is_back_after_it() -> None:
    room = make_room(HOST)
    who = joined(room)
    host(room, "grant", member="ada", may=["watch"], expires_in_s=60)
    left(room, who)
    assert joined(room, at=3).held == {C.WATCH}
    left(room, room.state.members["ada#2"], at=4)
    assert joined(room, at=70_000).held == set()


def test_the_limits_that_a_member_joined_with_end_with_its_membership() -> None:
    room = make_room(HOST)
    left(room, joined(room, may=["watch"]))
    assert joined(room).held == PLAYER


def test_a_room_remembers_the_newest_limits_only() -> None:
    room = make_room(HOST)
    for number in range(LIMITED_KEPT + 2):
        who = joined(room, f"id-{number}", f"agent-{number}")
        host(room, "narrow", at=number * 10, member=who.handle, may=["act"])
        left(room, who, at=number * 10)
    assert len(room.state.limited) == LIMITED_KEPT
    assert "id-0" not in room.state.limited
    assert f"id-{LIMITED_KEPT + 1}" in room.state.limited


def test_a_host_of_the_house_is_not_held_by_the_limits_of_a_room() -> None:
    room = make_room(HOST)
    who = joined(room)
    host(room, "revoke", member="ada")
    left(room, who)
    room.system("admitted", {"handle": "ada", "kind": "human", "identity": "id-ada", "role": "host"}, 3)
    assert room.state.members["ada#2"].held == ROLES["host"]


@pytest.mark.parametrize(("at", "held"), [(10_001, PLAYER & {C.WATCH, C.ACT}), (10_002, set())])
def test_a_limit_that_expires_allows_nothing_from_that_moment_on_also_for_who_was_away(at: int, held: Any) -> None:
    room = make_room(HOST)
    who = joined(room)
    host(room, "grant", at=2, member="ada", may=["watch", "act"], expires_in_s=10)
    left(room, who, at=3)
    assert joined(room, at=at).held == held


def test_a_limit_that_allows_everything_for_a_time_is_kept_and_one_that_allows_everything_is_not() -> None:
    room = make_room(HOST)
    who = joined(room)
    for layer, kept in (
        (Layer("limit"), True),
        (Layer("limit", but=()), False),
        (Layer("limit", but=(), expires_at=9), True),
    ):
        who.set_layers([layer])
        keep_limits(room.state, who)
        assert (who.identity in room.state.limited) is kept


def test_who_comes_back_as_a_host_of_the_house_has_no_limits_and_none_afterwards() -> None:
    room = make_room(HOST)
    who = joined(room)
    host(room, "narrow", member="ada", may=["act"])
    left(room, who)
    host_of_house = joined(room, role="host")
    assert host_of_house.held == ROLES["host"]
    left(room, host_of_house)
    assert joined(room).held == PLAYER
