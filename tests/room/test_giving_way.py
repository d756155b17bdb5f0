"""A built-in player gives way: a newcomer takes its seat in the middle of a game, and it returns afterwards."""

import pytest

from cohabit.errors import Conflict, GameRejected
from cohabit.room.room import Room

from .making import HOST, make_room, told_last

BOT = {"id": "robin", "role": "player", "claim": "auto:0", "brain": "random", "gives_way": True}
STAYS = {"id": "sandy", "role": "player", "claim": "auto:1", "brain": "random"}
PERSON = {"id": "pat", "kind": "human", "identity": "i-pat"}
OTHER = {"id": "kim", "kind": "human", "identity": "i-kim"}


def seat_of(room: Room, who: str) -> str | None:
    return room.state.require_member(who).seat


def test_a_newcomer_takes_the_seat_of_a_player_that_gives_way_and_it_returns() -> None:
    room = make_room(BOT, STAYS, HOST, PERSON, OTHER)
    assert room.call("pat", "sit", at=1).seat == "red"
    assert (seat_of(room, "pat"), seat_of(room, "robin")) == ("red", None)
    assert told_last(room)["hostess"] == ["robin gives way", "pat takes seat red"]
    with pytest.raises(Conflict):
        room.call("kim", "sit", at=2)
    room.call("pat", "stand_up", at=3)
    assert seat_of(room, "robin") == "red"
    assert room.call("kim", "sit", at=4).seat == "red"
    with pytest.raises((GameRejected, Conflict)):
        room.call("pat", "sit", {"seat": "blue"}, at=5)
    assert Room.replay(room.record.tail, lambda *_: type(room.world)()).digest() == room.digest()


def test_the_agent_that_gave_way_stands_in_for_the_newcomer_when_it_is_away() -> None:
    room = make_room(BOT, STAYS, HOST, PERSON, stand_in_seconds=15)
    room.system("presence", {"members": ["pat"], "here": True}, 0)
    room.call("pat", "sit", at=1)
    assert not room.state.require_member("pat").played_by_bot
    room.system("presence", {"members": ["pat"], "here": False}, 1000)
    room.settle(16_001)
    assert room.state.require_member("pat").played_by_bot
    room.system("presence", {"members": ["pat"], "here": True}, 20_000)
    assert not room.state.require_member("pat").played_by_bot
    assert seat_of(room, "pat") == "red"


def test_a_guest_is_not_called_built_in_while_an_agent_of_the_house_stands_in_for_it() -> None:
    room = make_room(BOT, STAYS, HOST, {"id": "owl", "role": "player", "identity": "i-owl"}, stand_in_seconds=15)
    room.call("owl", "sit", at=1)
    room.system("presence", {"members": ["owl"], "here": True}, 2)
    room.system("presence", {"members": ["owl"], "here": False}, 1000)
    room.settle(16_001)
    assert room.state.require_member("owl").played_by_bot
    lines = {line.member: line.built_in for line in room.call("hostess", "permissions", {}, at=16_002).members}
    assert (lines["robin"], lines["sandy"], lines["owl"]) == (True, True, False)


def test_a_removed_newcomer_leaves_the_seat_to_the_built_in_player() -> None:
    room = make_room(BOT, STAYS, HOST, PERSON)
    room.call("pat", "sit", {"seat": "red"}, at=1)
    room.call("hostess", "remove_member", {"member": "pat"}, at=2)
    assert seat_of(room, "robin") == "red"


def test_a_player_that_is_there_itself_does_not_give_way() -> None:
    room = make_room(BOT, STAYS, HOST, PERSON)
    room.system("presence", {"members": ["robin"], "here": True}, 1)
    with pytest.raises(Conflict):
        room.call("pat", "sit", at=2)
    with pytest.raises(Conflict):
        room.call("pat", "sit", {"seat": "blue"}, at=3)


def test_a_player_that_may_no_longer_act_leaves_its_seat_to_the_built_in_player_in_the_next_game() -> None:
    room = make_room(BOT, STAYS, HOST, {"id": "owl", "identity": "i-owl"})
    request = room.call("owl", "ask", {"may": ["act", "read_own"]}, at=1).request
    room.call("hostess", "allow", {"request": request, "lasts": "game"}, at=2)
    assert room.call("owl", "sit", at=3).seat == "red"
    room.call("hostess", "rematch", {}, at=4)  # with it ends what was allowed for the game
    assert (seat_of(room, "owl"), seat_of(room, "robin")) == (None, "red")
    room.call("hostess", "widen", {"member": "owl", "may": ["act", "read_own"]}, at=5)
    room.call("owl", "sit", at=6)
    room.call("hostess", "narrow", {"member": "owl", "may": ["act", "read_own"]}, at=7)
    assert seat_of(room, "owl") == "red", "until the game is over"
    room.call("hostess", "rematch", {}, at=8)
    assert (seat_of(room, "owl"), seat_of(room, "robin")) == (None, "red")
    assert "owl leaves seat red: it may no longer act" in told_last(room)["hostess"]
    assert Room.replay(room.record.tail, lambda *_: type(room.world)()).digest() == room.digest()


def test_a_player_that_may_act_keeps_its_seat_in_the_next_game() -> None:
    room = make_room(BOT, STAYS, HOST, PERSON)
    room.call("pat", "sit", {"seat": "red"}, at=1)
    room.call("hostess", "rematch", {}, at=2)
    assert seat_of(room, "pat") == "red"
