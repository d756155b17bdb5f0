"""A player who has left, was removed or is away stops nobody: the others play on, and no time passes for it."""

from collections.abc import Callable
from typing import Any

import pytest

from cohabit.room.room import Room

from .making import HOST, entries, make_room, player, replayed

Depart = Callable[[Room, int], int]
"""Makes bob absent. Returns the time of it."""
GAMES = {"nim": 2, "tictactoe": 2, "whist": 4, "statecraft": 4, "crafter_shared": 3, "planet": 3, "kingdoms": 3}
WITH_BODIES = ("planet", "crafter_shared")
LIMIT_S = 90


def open_game(world: str, **keys: Any) -> Room:
    players = [player(name, seat) for seat, name in enumerate(("ann", "bob", "cat", "dan")[: GAMES[world]])]
    small = {"zones_x": 2, "zones_y": 2}
    steps = {"step_ticks": 10, "config": small} if world == "kingdoms" else {}
    room = make_room(*players, HOST, world=world, turn_seconds=LIMIT_S, **steps, **keys)
    room.system("presence", {"members": [p["id"] for p in players], "here": True}, 0)
    return room


def leave(room: Room, at: int) -> int:
    room.call("bob", "leave", at=at)
    return at


def remove(room: Room, at: int) -> int:
    room.call("hostess", "remove_member", {"member": "bob"}, at=at)
    return at


def forbid(room: Room, at: int) -> int:
    """He may only watch from now on, and is still there."""
    room.call("hostess", "narrow", {"member": "bob", "may": ["act"]}, at=at)
    return at


def disconnect(room: Room, at: int) -> int:
    """He misses turns once: until then he may come back."""
    room.system("presence", {"members": ["bob"], "here": False}, at)
    for _ in range(10):
        if room.state.members["bob"].timeouts:
            return at
        at = move(room, at) if awaited(room) else at + LIMIT_S * 1000
        room.settle(at)
    raise AssertionError("his time has never run out")


def awaited(room: Room) -> list[str]:
    """Who is there and to move."""
    here = [m for m in room.state.members.values() if m.id != "bob" and room.is_turn_of(m)]
    return [m.id for m in here]


def move(room: Room, at: int) -> int:
    who = awaited(room)[0]
    if room.state.step_ticks:
        room.call(who, "turn_advance", at=at)
    else:
        chosen = room.fallback(room.state.members[who])
        assert chosen is not None
        room.call(who, "act", {"action": chosen.name, "params": chosen.parameters}, at=at)
    return at


@pytest.mark.parametrize("depart", [leave, pytest.param(remove, marks=pytest.mark.soak), disconnect])
@pytest.mark.parametrize("world", GAMES)
def test_the_others_play_on_without_waiting_for_one_who_is_absent(world: str, depart: Depart) -> None:
    play_on(world, depart)


@pytest.mark.parametrize("world", [world for world in GAMES if world not in WITH_BODIES])
def test_the_others_play_on_without_waiting_for_one_who_may_no_longer_act(world: str) -> None:
    """Bodies fall asleep instead, after rounds that they have missed."""
    play_on(world, forbid)


def play_on(world: str, depart: Depart) -> None:
    room = open_game(world, **({"sleep_seconds": LIMIT_S} if world in WITH_BODIES else {}))
    if awaited(room):
        move(room, 1)
    at = depart(room, 2)
    room.settle(at)
    done = 0
    while done < 12 and not room.is_over():
        assert awaited(room), f"after {done} moves the game waits for somebody who is not there"
        move(room, at)
        room.settle(at)
        done += 1
    assert done == 12 or room.is_over()
    assert replayed(room).digest() == room.digest()


def test_a_game_that_has_not_begun_waits_for_players() -> None:
    room = open_game("tictactoe")
    room.call("ann", "leave", at=1)
    room.settle(2)
    assert not room.is_over()
    assert not entries(room, "moved_without")


def test_a_game_that_everybody_has_left_stands_still() -> None:
    room = open_game("nim")
    room.call("ann", "take", {"n": 1}, at=1)
    for who in ("ann", "bob"):
        room.call(who, "leave", at=2)
    room.settle(3)
    assert not room.is_over()


def test_who_takes_the_seat_of_one_who_has_left_plays_it() -> None:
    room = open_game("nim")
    room.call("ann", "take", {"n": 1}, at=1)
    room.call("bob", "leave", at=2)
    room.settle(2)
    assert len(entries(room, "moved_without")) == 1
    room.call("hostess", "add_member", {"id": "eve", "role": "player"}, at=3)
    room.call("eve", "sit", at=3)
    room.call("ann", "take", {"n": 1}, at=4)
    room.settle(4)
    assert len(entries(room, "moved_without")) == 1
    assert room.movers() == ["eve"]


def test_a_player_who_is_back_is_waited_for_again() -> None:
    room = open_game("nim")
    room.call("ann", "take", {"n": 1}, at=1)
    at = disconnect(room, 2)
    room.call("ann", "take", {"n": 1}, at=at)
    room.settle(at)
    assert entries(room, "moved_without")
    room.system("presence", {"members": ["bob"], "here": True}, at)
    room.call("ann", "take", {"n": 1}, at=at)
    room.settle(at)
    assert room.movers() == ["bob"]


@pytest.mark.parametrize("world", ["crafter_shared", "planet", "statecraft"])
def test_those_who_are_asleep_are_neither_named_as_to_move_nor_counted_by_a_reply(world: str) -> None:
    room = open_game(world, **({} if world == "statecraft" else {"sleep_seconds": LIMIT_S}))
    at = disconnect(room, 2)
    room.settle(at)
    there = ["ann", "cat", "dan"][: GAMES[world] - 1]
    assert room.movers() == there
    assert f"To move: {', '.join(there)}" in room.call("ann", "view", at=at).text
    for left, who in zip((2, 1, 0)[-len(there) :], there, strict=True):
        chosen = room.fallback(room.state.members[who])
        assert chosen is not None
        said = room.call(who, "act", {"action": chosen.name, "params": chosen.parameters}, at=at).message
        expected = "The round ends now" if not left else f"it waits for {left} player{'s' if left > 1 else ''}."
        assert expected in said
        assert "waiting for" not in said


def test_a_seat_that_nobody_plays_is_named_among_the_seats() -> None:
    room = open_game("whist")
    room.call("bob", "leave", at=2)
    assert "Seats: north = ann, east = nobody, south = cat, west = dan" in room.call("ann", "view", at=3).text
