"""Absent players do not stall the others: their bodies fall asleep, and rounds do not wait for them."""

import pytest

from cohabit.errors import BadArgs, PermissionDenied
from cohabit.features.bodies.sleep import WOKEN
from cohabit.features.bodies.state import BODIES
from cohabit.room.room import Room
from cohabit.scenario import parse_scenario

from .making import BLUE, HOST, entries, make_room, player, replayed, restored

ANN = {"id": "ann", "role": "player", "identity": "id-ann"}
BOB = {"id": "bob", "role": "player", "identity": "id-bob"}
TURN = 60_000


def land(turn_seconds: int | None = 60, **keys: object) -> Room:
    """ann and bob, who are connected, in a world with rounds."""
    room = make_room(ANN, BOB, HOST, world="crafter_shared", turn_seconds=turn_seconds, sleep_seconds=120, **keys)
    for who in ("ann", "bob"):
        room.call(who, "jack_in", at=0)
    room.system("presence", {"members": ["ann", "bob"], "here": True}, 0)
    return room


def rounds(room: Room) -> int:
    return int(room.world.game.step_number)  # type: ignore[attr-defined]


def asleep(room: Room) -> list[str]:
    return BODIES.read(room.state).asleep


def same_after_replay(room: Room) -> None:
    assert replayed(room).digest() == restored(room).digest() == room.digest()


def play(room: Room, at: int, who: str = "ann") -> None:
    room.call(who, "noop", at=at)
    room.settle(at)


def fall_asleep(room: Room) -> int:
    """Two rounds in which bob says nothing."""
    play(room, 1000)
    room.settle(1000 + TURN)
    play(room, 2000 + TURN)
    room.settle(2000 + 2 * TURN)
    assert asleep(room) == ["bob"]
    return 3000 + 2 * TURN


def test_rounds_wait_for_a_silent_player_until_it_falls_asleep_and_not_any_longer() -> None:
    room = land()
    play(room, 1000)
    assert rounds(room) == 0
    now = fall_asleep(room)
    before = rounds(room)
    reply = room.call("ann", "noop", at=now)
    assert "round ends now" in reply.message
    assert "waiting for" not in reply.message
    assert "To move: bob" not in room.call("ann", "view", at=now).text
    room.settle(now)
    assert rounds(room) == (before := before + 1)
    for n in range(10):
        play(room, now + n)
        assert rounds(room) == before + n + 1
    assert len(entries(room, "fell_asleep")) == 1
    same_after_replay(room)


def test_a_body_wakes_when_its_player_acts_and_rounds_wait_for_it_again() -> None:
    room = land()
    now = fall_asleep(room)
    play(room, now, "bob")
    assert asleep(room) == []
    before = rounds(room)
    play(room, now + 1)  # the round that bob began
    assert rounds(room) == before + 1
    play(room, now + 2)
    assert rounds(room) == before + 1
    assert room.next_deadline() is not None
    same_after_replay(room)


def test_a_body_wakes_when_its_player_is_back_although_it_has_not_acted_yet() -> None:
    room = land()
    now = fall_asleep(room)
    assert not room.state.members["bob"].here
    seen = {who: room.call(who, "view", at=now).text for who in ("ann", "bob")}  # he is seen when he has looked
    assert [WOKEN in seen["ann"], "Asleep" in seen["ann"], WOKEN in seen["bob"], "Asleep" in seen["bob"]] == [
        False, True, True, False,
    ]  # fmt: skip
    room.system("presence", {"members": ["bob"], "here": True}, now)
    assert asleep(room) == []
    before = rounds(room)
    play(room, now + 1)
    assert rounds(room) == before
    room.settle(now + TURN + 1)
    assert asleep(room) == []  # it has its time again
    for n in range(2, 4):
        room.settle(now + n * TURN + 1)
    assert sorted(asleep(room)) == ["ann", "bob"]  # both are silent now
    same_after_replay(room)


def test_while_everybody_sleeps_time_passes_as_slowly_as_before() -> None:
    room = land()
    for n in range(1, 3):
        room.settle(n * TURN)
    assert sorted(asleep(room)) == ["ann", "bob"]
    before = rounds(room)
    for n in range(3, 5):
        room.settle(n * TURN)
    assert rounds(room) == before + 2
    same_after_replay(room)


def test_without_a_time_limit_a_body_sleeps_when_its_player_has_been_away() -> None:
    room = land(turn_seconds=None)
    play(room, 1000)
    room.settle(10 * TURN)
    assert asleep(room) == [], "it is connected, and the host wants no limit"
    room.system("presence", {"members": ["bob"], "here": False}, 10 * TURN)
    assert room.next_deadline() == 12 * TURN
    room.settle(12 * TURN)
    assert asleep(room) == ["bob"]
    assert rounds(room) == 1, "ann had chosen already"
    play(room, 12 * TURN + 1)
    assert rounds(room) == 2
    play(room, 12 * TURN + 2, "bob")
    assert asleep(room) == []
    room.system("presence", {"members": ["bob"], "here": True}, 12 * TURN + 3)
    room.system("presence", {"members": ["bob"], "here": False}, 13 * TURN)
    room.settle(15 * TURN)
    assert asleep(room) == ["bob"]
    same_after_replay(room)


def test_a_player_who_acts_without_ever_being_connected_is_not_put_to_sleep_again_and_again() -> None:
    room = make_room(ANN, BOB, HOST, world="crafter_shared", sleep_seconds=120)
    for who in ("ann", "bob"):
        room.call(who, "jack_in", at=0)
    for n in range(5):
        for who in ("ann", "bob"):
            room.call(who, "noop", at=(n + 3) * TURN)
    assert len(entries(room, "fell_asleep")) <= 2
    assert rounds(room) == 5


def test_a_player_with_a_stand_in_is_replaced_instead() -> None:
    room = make_room(
        {**ANN}, {**BOB, "stand_in": "random"}, HOST, world="crafter_shared", turn_seconds=60, sleep_seconds=120
    )
    for who in ("ann", "bob"):
        room.call(who, "jack_in", at=0)
    room.system("presence", {"members": ["ann", "bob"], "here": True}, 0)
    now = fall_asleep(room)
    room.settle(now + 31_000)
    assert room.state.members["bob"].played_by_bot
    assert asleep(room) == []
    same_after_replay(room)


@pytest.mark.parametrize("how", ["jack_out", "stand_up", "leave"])
def test_a_body_that_was_left_does_not_sleep_for_the_room(how: str) -> None:
    room = land()
    now = fall_asleep(room)
    room.call("bob", how, at=now)
    assert asleep(room) == []
    same_after_replay(room)


def test_a_host_changes_after_how_long_bodies_sleep_also_in_a_room_that_had_no_such_limit() -> None:
    room = make_room(ANN, BOB, HOST, world="crafter_shared", turn_seconds=60)
    for who in ("ann", "bob"):
        room.call(who, "jack_in", at=0)
    room.settle(5 * TURN)
    assert asleep(room) == []
    with pytest.raises(PermissionDenied):
        room.call("ann", "sleep_after", {"seconds": 60}, at=5 * TURN)
    room.call("hostess", "sleep_after", {"seconds": 60}, at=5 * TURN + 1)
    room.settle(5 * TURN + 1)
    assert sorted(asleep(room)) == ["ann", "bob"]
    room.call("hostess", "sleep_after", {"seconds": 0}, at=5 * TURN + 2)
    assert asleep(room) == []
    room.settle(20 * TURN)
    assert asleep(room) == []
    same_after_replay(room)


def test_a_room_without_bodies_or_rounds_has_no_such_command() -> None:
    for world in ("nim", "tictactoe"):
        assert "sleep_after" not in {command.name for command in make_room(ANN, BOB, HOST, world=world).commands}


def test_a_negative_time_is_refused() -> None:
    with pytest.raises(BadArgs, match="sleep_seconds"):
        parse_scenario('{"world": "crafter_shared", "agents": [{"id": "a"}], "sleep_seconds": -1}')


def test_a_player_who_returns_after_its_stand_in_took_over_is_awake() -> None:
    rules = {"world": "crafter_shared", "turn_seconds": 5, "sleep_seconds": 20, "stand_in_seconds": 10}
    room, at = make_room(player("ann", 0, stand_in="random"), BLUE, HOST, **rules), 1000
    room.system("presence", {"members": ["ann", "bob"], "here": True}, at)
    while not room.state.members["ann"].played_by_bot:
        at += 1000
        room.settle(at)
        if room.state.members["bob"].seat in room.to_move():
            room.call("bob", "noop", at=at)
    known = len(room.record.tail)
    room.system("presence", {"members": ["ann"], "here": True}, at + 500)
    room.settle(at + 501)
    assert room.state.members["ann"].here
    assert asleep(room) == []
    assert "fell_asleep" not in [line.entry.do for line in room.record.tail[known:]]
