"""A game that is over is followed by the next one, where the scenario says so."""

import json

import pytest

from cohabit.errors import BadArgs, GameRejected
from cohabit.registry import make_world
from cohabit.room.opening import opening_state
from cohabit.room.room import Room
from cohabit.scenario import parse_scenario

from .avatar_machine import CAVES
from .making import BLUE, GOD, RED, make_room, told_last


def room_with(**keys: object) -> Room:
    agents = [{"id": "ann", "role": "player", "claim": "auto:0"}, {"id": "bob", "role": "player", "claim": "auto:1"},
              {"id": "zeus", "role": "god"}]  # fmt: skip
    found = parse_scenario(json.dumps({"world": "nim", "config": {"stones": 3}, "agents": agents, **keys}))
    world = make_world("nim", found.config)
    return Room.create(opening_state(found, world, "nim", "r", 7, "00" * 16), world, 0)


def test_the_next_game_begins_by_itself_after_the_time_the_scenario_gives() -> None:
    room = room_with(rematch_seconds=5)
    assert room.next_deadline() is None
    room.call("ann", "take", {"n": 3}, at=1000)
    assert room.next_deadline() == 6000
    room.settle(5999)
    assert room.state.games == 1
    room.settle(6000)
    assert (room.state.games, room.world.to_move()) == (2, ["first"])
    assert [told.text for told in room.record.tail[-1].entry.told] == ["the next game begins: game 2"]
    assert room.next_deadline() is None
    assert Room.replay(list(room.record.tail), make_world).digest() == room.digest()


def test_a_view_says_which_game_this_is_and_how_the_last_one_ended() -> None:
    room = room_with(rematch_seconds=5, turn_seconds=10)
    room.call("ann", "take", {"n": 3}, at=1000)
    assert "This is game" not in room.call("bob", "view", at=1001).text
    room.settle(6000)
    assert "This is game 2; game 1 ended: first 1, second 0." in room.call("ann", "view", at=6001).text
    room.settle(16_000)
    said = "This is game 2; game 1 ended: first 1, second 0.\nSince your last move, your time ran out once."
    assert said in room.call("ann", "view", at=16_001).text
    room.call("zeus", "reset", at=16_002)
    room.settle(26_002)
    assert "This is game" not in room.call("ann", "view", at=26_003).text, "game 2 had no end"
    assert Room.replay(list(room.record.tail), make_world).digest() == room.digest()


def test_a_rematch_that_somebody_calls_takes_the_place_of_the_one_that_was_due() -> None:
    room = room_with(rematch_seconds=5)
    room.call("ann", "take", {"n": 3}, at=1000)
    room.call("zeus", "rematch", at=2000)
    assert room.next_deadline() is None
    room.settle(60_000)
    assert room.state.games == 2


def test_time_while_the_house_was_closed_does_not_count_towards_a_rematch() -> None:
    room = room_with(rematch_seconds=5)
    room.call("ann", "take", {"n": 3}, at=1000)
    room.system("opened", {"gap": 100_000}, 103_000)
    assert room.next_deadline() == 106_000


def test_an_archived_room_and_one_without_the_setting_have_no_rematch() -> None:
    room = room_with(rematch_seconds=5)
    room.call("ann", "take", {"n": 3}, at=1000)
    room.call("zeus", "archive", at=2000)
    assert room.next_deadline() is None
    quiet = room_with()
    quiet.call("ann", "take", {"n": 3}, at=1000)
    follows = "No game follows by itself; a member with control_world, such as a host, can start one."
    assert f"The game is over. {follows}" in quiet.call("ann", "view", at=1001).text
    assert follows not in room.call("ann", "view", at=2001).text
    assert quiet.next_deadline() is None


def test_after_the_end_views_and_refusals_say_when_the_next_game_begins() -> None:
    room = room_with(rematch_seconds=5)
    room.call("ann", "take", {"n": 3}, at=1000)
    seen = room.call("bob", "view", at=2500)
    assert (seen.next_game_seconds, seen.turn_seconds_left) == (4, None)
    assert "Next game in 4 s." in seen.text
    assert "after the end" not in seen.text, "it is said once"
    with pytest.raises(GameRejected, match="this game is over; the next one begins by itself, 5 s after the end"):
        room.call("bob", "take", {"n": 1}, at=2500)
    seen = room.call("bob", "view", at=6000)
    assert seen.next_game_seconds is None
    alone = room_with()
    alone.call("ann", "take", {"n": 3}, at=1000)
    assert "Next game" not in alone.call("bob", "view", at=2500).text
    with pytest.raises(GameRejected, match="this game is over; a member with control_world can start a rematch"):
        alone.call("bob", "take", {"n": 1}, at=2500)


def test_a_rematch_after_no_time_at_all_is_refused() -> None:
    with pytest.raises(BadArgs, match="rematch_seconds"):
        room_with(rematch_seconds=0)


@pytest.mark.parametrize(("world", "ends"), [("Curtain", True), ("Interval", False)])
def test_a_world_that_says_itself_when_it_is_over_is_believed_whoever_could_still_move(world: str, ends: bool) -> None:
    room = make_room(RED, BLUE, world=world, rematch_seconds=10)
    room.call("ann", "move", at=1000)
    assert (room.is_over(), room.next_deadline()) == (False, None)
    room.call("ann", "move", at=2000)
    assert room.is_over() is ends
    assert room.next_deadline() == (12_000 if ends else None)


def test_what_is_derived_from_secrets_and_seeds_is_the_same_in_every_version_so_old_records_replay() -> None:
    room = make_room(RED, BLUE, GOD)
    room.call("zeus", "rematch", at=1)
    assert (room.state.seed, room.state.game) == (
        "9d39068a6215f2c16dfa42b97557255a",
        "3887e59726ef6e3093cba47f6384b409",
    )
    caves = make_room({"id": "ann", "role": "player"}, world=CAVES)
    assert caves.call("ann", "create_avatar", at=1).avatar_id == "avatar-445b9309"


def test_the_rewards_of_the_last_game_are_not_taken_away_by_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    room = make_room(RED, BLUE, GOD, world="nim", config={"stones": 9})
    seat = room.state.require_member("ann").seat
    assert seat is not None
    totals = {seat: 5.0}
    monkeypatch.setattr(type(room.world), "returns", lambda self: dict(totals))
    room.call("ann", "take", {"n": 1}, at=1)
    assert "Reward: +5 (total 5)" in told_last(room)["ann"]
    totals[seat] = 0.0
    room.call("zeus", "rematch", at=2)
    assert not [text for text in told_last(room)["ann"] if "Reward" in text]
