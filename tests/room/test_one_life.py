"""What death means is a setting of the world, by whatever way an agent comes to a body: where the dead cannot come back,
nobody gets a second one; where they can, they come back by `respawn`. And turning costs what the world says."""

from base64 import b64encode
from typing import Any

import pytest

from cohabit import saves
from cohabit.errors import CohabitError, GameRejected
from cohabit.features.bodies.state import avatars_in
from cohabit.room.decide import offers
from cohabit.room.room import Room

from .avatar_machine import CAVES
from .making import HOST, make_room, player, replayed
from .visiting import ADA, enter

ANN = {"id": "ann", "role": "player", "identity": "id-ann"}
BOB = {"id": "bob", "role": "player", "identity": "id-bob"}
LOST = "nobody comes back to life in this game"
WAYS = ("sit", "jack_in", "create_avatar", "respawn")


def mortal(world: str = CAVES, *more: Any) -> Room:
    return make_room(ANN, BOB, HOST, *more, world=world, config={"respawns": False})


def lose_body(room: Room, how: str, who: str = "ann") -> None:
    if how == "despawned":
        room.call(who, "jack_out", {"mode": "despawn"}, at=2)
        return
    room.call(who, "jump", at=2)
    if how == "died and left its body":
        room.call(who, "stand_up", at=3)


def alive(room: Room, owner: str = "id-ann") -> list[str]:
    return [a.id for a in avatars_in(room.state).values() if a.owner == owner and a.state.value != "destroyed"]


HOW = ["died", "died and left its body", "despawned"]


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("way", WAYS)
def test_an_agent_without_its_body_gets_no_other_one_where_nobody_respawns(how: str, way: str) -> None:
    room = mortal()
    for who in ("ann", "bob"):
        room.call(who, "jack_in", at=1)
    lose_body(room, how)
    with pytest.raises(GameRejected, match=LOST if (way, how) != ("respawn", "despawned") else "no dead avatar"):
        room.call("ann", way, at=4)
    assert alive(room) == []
    assert not any(offers(room, room.state.members["ann"], room.commands.named(name)) for name in WAYS[:3])
    assert replayed(room).digest() == room.digest()


@pytest.mark.parametrize("how", HOW)
def test_leaving_the_room_and_joining_again_gives_no_second_life(how: str) -> None:
    room = mortal()
    room.call("ann", "jack_in", at=1)
    lose_body(room, how)
    room.call("ann", "leave", at=4)
    room.system("admitted", {"handle": "ann", "kind": "agent", "identity": "id-ann", "role": "player"}, 5)
    (back,) = [member.id for member in room.state.members.values() if member.identity == "id-ann"]
    for way in WAYS[:3]:
        with pytest.raises(GameRejected, match=LOST):
            room.call(back, way, at=6)
    assert alive(room) == []


def test_nobody_keeps_a_second_body_for_later_where_nobody_respawns() -> None:
    room = mortal()
    room.call("ann", "jack_in", at=1)
    with pytest.raises(GameRejected, match="every agent has one body"):
        room.call("ann", "create_avatar", at=2)
    room.call("ann", "jack_out", {"mode": "dormant"}, at=3)
    with pytest.raises(GameRejected, match="every agent has one body"):
        room.call("ann", "create_avatar", at=4)
    room.call("ann", "jack_in", at=5)  # its one body is still there
    assert room.call("ann", "avatars", at=6).max_avatars == 1


def test_a_body_that_was_made_before_it_is_entered_is_the_one_body_of_its_agent() -> None:
    room = mortal()
    room.call("ann", "create_avatar", {"name": "Anna"}, at=1)
    assert room.call("ann", "jack_in", at=2).avatar.name == "Anna"


def test_the_next_game_is_another_life() -> None:
    room = mortal()
    room.call("ann", "jack_in", at=1)
    lose_body(room, "died")
    room.call("hostess", "rematch", at=3)
    assert room.call("ann", "jack_in", at=4).success


def test_a_save_does_not_bring_back_who_was_dead_in_it() -> None:
    room = mortal()
    for who in ("ann", "bob"):
        room.call(who, "jack_in", at=1)
    lose_body(room, "died")
    save = b64encode(saves.pack(room.world, True, room.state.game, room.state.played)).decode()
    room.system("loaded", {"by": "hostess", "save": save}, 3)
    with pytest.raises(GameRejected, match=LOST):
        room.call("ann", "jack_in", at=4)
    room.call("bob", "go", {"place": "pit"}, at=5)


def test_a_visitor_sees_that_its_life_is_over() -> None:
    room = make_room(HOST, world=CAVES, config={"respawns": False})
    room.call("hostess", "open_to_nexus", at=1)
    enter(room, ADA)
    room.call("ada", "jump", at=20)
    assert f"and {LOST}; you can watch." in room.call("ada", "view", at=21).text


# -- where the dead can come back -------------------------------------------------------------------------
DEAD = "is dead, and you get no other one: `respawn` brings it back"
BOT = player("cid", 0, brain="random", gives_way=True)


def undying(*more: Any) -> tuple[Room, str, str]:
    """ann has three bodies: one that waits, one that she has not entered yet, and one that is dead."""
    room = make_room(ANN, BOB, HOST, *more, world=CAVES)
    room.call("ann", "jack_in", at=1)
    (waits,) = alive(room)
    room.call("ann", "jack_out", {"mode": "suspend"}, at=1)
    dies, spare = (room.call("ann", "create_avatar", at=2).avatar_id for _ in range(2))
    room.call("ann", "jack_in", {"avatar_id": dies}, at=3)
    lose_body(room, "died and left its body")
    return room, waits, spare


@pytest.mark.parametrize("then", ["stay", "leave and join again", "load a save"])
def test_the_dead_get_no_new_body_by_any_way_where_they_can_come_back(then: str) -> None:
    room = make_room(ANN, BOB, HOST, world=CAVES)
    room.call("ann", "jack_in", at=1)
    spare = room.call("ann", "create_avatar", at=1).avatar_id
    lose_body(room, "died")
    who = "ann"
    if then == "leave and join again":
        room.call("ann", "leave", at=4)
        room.system("admitted", {"handle": "ann", "kind": "agent", "identity": "id-ann", "role": "player"}, 5)
        (who,) = [member.id for member in room.state.members.values() if member.identity == "id-ann"]
    elif then == "load a save":
        save = b64encode(saves.pack(room.world, True, room.state.game, room.state.played)).decode()
        room.system("loaded", {"by": "hostess", "save": save}, 5)
    ways: list[tuple[str, dict[str, Any]]] = [("sit", {}), ("jack_in", {}), ("create_avatar", {})]
    for way, args in ways if then == "load a save" else [*ways, ("jack_in", {"avatar_id": spare})]:
        with pytest.raises(GameRejected, match=DEAD):
            room.call(who, way, args, at=6)
    offered = [name for name in WAYS if offers(room, room.state.members[who], room.commands.named(name))]
    assert offered == ["respawn"]
    assert f"{DEAD} (hall, bought)." in room.call(who, "view", at=7).text
    room.call(who, "respawn", at=8)
    assert len([a for a in avatars_in(room.state).values() if a.by == who]) == 1
    assert replayed(room).digest() == room.digest()


def test_an_agent_with_a_dead_body_returns_to_those_that_it_has_and_to_no_new_one() -> None:
    room, waits, spare = undying()
    with pytest.raises(GameRejected, match=DEAD):
        room.call("ann", "jack_in", {"avatar_id": spare}, at=4)
    room.call("ann", "jack_in", {"avatar_id": waits}, at=5)
    with pytest.raises(GameRejected, match=DEAD):
        room.call("ann", "transfer", {"avatar_id": spare}, at=6)
    room.call("ann", "jack_out", at=7)
    room.call("ann", "respawn", at=8)
    room.call("ann", "transfer", {"avatar_id": spare}, at=9)


@pytest.mark.parametrize("respawns", [True, False])
def test_nobody_sits_down_in_the_body_of_a_built_in_player_beside_its_own(respawns: bool) -> None:
    room = make_room(ANN, BOB, HOST, BOT, world=CAVES, config={"respawns": respawns})
    room.call("ann", "jack_in", at=1)
    room.call("ann", "jack_out", {"mode": "suspend"}, at=2)
    if respawns:
        room.call("ann", "jack_in", {"avatar_id": room.call("ann", "create_avatar", at=2).avatar_id}, at=2)
        lose_body(room, "died and left its body")
    seat = room.state.members["cid"].seat
    assert seat is not None
    for args in ({"seat": seat}, {}):
        with pytest.raises(GameRejected, match="you have a body of your own here"):
            room.call("ann", "sit", args, at=4)
    assert room.call("ann", "jack_in", at=5).success
    assert room.state.members["cid"].seat == seat


@pytest.mark.parametrize("command", ["jack_out", "exit_game", "transfer"])
def test_nobody_despawns_a_hurt_body_to_get_a_healthy_one(command: str) -> None:
    room = make_room(ANN, BOB, HOST, world=CAVES)
    room.call("hostess", "open_to_nexus", at=1)
    enter(room, ADA)
    other = room.call("ada", "create_avatar", at=11).avatar_id
    room.call("bob", "jack_in", at=11)
    room.call("bob", "hit", {"whom": "1"}, at=12)
    args = {"avatar_id": other} if command == "transfer" else {}
    with pytest.raises(GameRejected, match="only an unhurt body can be despawned"):
        room.call("ada", command, {"mode": "despawn", **args}, at=13)
    room.call("ada", command, {"mode": "dormant", **args}, at=14)
    assert replayed(room).digest() == room.digest()


def test_turning_takes_a_step_in_crafter_for_many_as_in_crafter_for_one() -> None:
    room = make_room(ANN, BOB, HOST, world="crafter_shared")
    room.call("ann", "jack_in", at=1)
    before = room.call("ann", "inspect_self", at=2).facing
    for target in ("left", "right", "up", "down"):
        with pytest.raises(CohabitError, match="turning takes a step here"):
            room.call("ann", "look", {"target": target}, at=3)
    assert room.call("ann", "inspect_self", at=4).facing == before
    assert not offers(room, room.state.members["ann"], room.commands.named("look"))
    room.call("ann", "move_left" if before != "left" else "move_right", at=5)
    assert room.call("ann", "inspect_self", at=6).facing != before
