"""The time limit of turns, which a host changes while the room runs."""

from typing import Any

import pytest

from cohabit.errors import BadArgs, GameRejected, PermissionDenied
from cohabit.room.decide import offers

from .making import BLUE, GOD, HOST, RED, make_room, replayed, told_last

HOSTESS = HOST["id"]


def limit_of(room: Any, at: int) -> tuple[int | None, int | None]:
    info = room.call("ann", "session_info", at=at)
    return info.turn_seconds, info.turn_seconds_left


def test_a_host_sets_a_limit_and_the_running_turn_begins_anew() -> None:
    room = make_room(RED, BLUE, HOST, world="Moody")
    assert limit_of(room, 5_000) == (None, None)
    assert room.call(HOSTESS, "set_turn_timer", {"seconds": 20}, at=5_000).seconds == 20
    assert limit_of(room, 10_000) == (20, 15)
    assert f"{HOSTESS} sets the time limit of a turn: 20 s" in str(told_last(room))
    room.settle(25_000)
    assert room.world.moves == 1  # the time was up
    room.call(HOSTESS, "set_turn_timer", {"seconds": 60}, at=30_000)
    room.settle(89_000)
    assert room.world.moves == 1
    room.call(HOSTESS, "set_turn_timer", at=89_500)
    room.settle(10**9)
    assert room.world.moves == 1
    assert limit_of(room, 10**9) == (None, None)
    assert replayed(room).digest() == room.digest()


def test_a_limit_that_is_set_in_a_pause_begins_when_it_ends() -> None:
    room = make_room(RED, BLUE, HOST, world="Ticker", step_ticks=5, turn_seconds=10)
    room.call(HOSTESS, "pause", at=4_000)
    room.call(HOSTESS, "set_turn_timer", {"seconds": 30}, at=8_000)
    room.call(HOSTESS, "resume", at=50_000)
    assert limit_of(room, 50_000) == (30, 30)


def test_only_members_who_control_the_room_set_it() -> None:
    room = make_room(RED, BLUE, HOST, world="Moody")
    with pytest.raises(PermissionDenied):
        room.call("ann", "set_turn_timer", {"seconds": 1}, at=0)
    without_turns = make_room(RED, BLUE, HOST)
    for each, is_offered in ((room, True), (without_turns, False)):
        command = each.commands.named("set_turn_timer")
        assert offers(each, each.state.members[HOSTESS], command) == is_offered


@pytest.mark.parametrize(
    ("keys", "seconds", "problem"),
    [
        ({"world": "Secrets"}, 10, "no turns"), ({"world": "Ticker"}, 10, "no turns"),
        ({"world": "Ticker", "step_ticks": 5}, None, "nobody can stop time"),
    ],
)  # fmt: skip
def test_where_there_are_no_turns_or_a_step_must_end_it_is_refused(
    keys: dict[str, Any], seconds: int | None, problem: str
) -> None:
    room = make_room(RED, BLUE, HOST, GOD, **keys)
    before = room.digest()
    with pytest.raises(GameRejected, match=problem):
        room.call(HOSTESS, "set_turn_timer", {"seconds": seconds} if seconds else {}, at=0)
    assert room.digest() == before


@pytest.mark.parametrize("seconds", [0, -1, 10**9 + 1, 1.5, "10"])
def test_a_limit_is_a_whole_number_of_seconds(seconds: Any) -> None:
    room = make_room(RED, BLUE, HOST, world="Moody")
    with pytest.raises(BadArgs):
        room.call(HOSTESS, "set_turn_timer", {"seconds": seconds}, at=0)
