"""What shows a room to people: the layers of a scene that have changed, and the keys of a world."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cohabit.errors import UnknownCommand
from cohabit.room.room import Room

from .making import make_room

BEACONS = str(Path(__file__).parent.parent / "worlds_samples/beacons.py")


def player(handle: str, seat: int) -> dict[str, Any]:
    return {"id": handle, "role": "player", "claim": f"auto:{seat}"}


@pytest.fixture
def room() -> Room:
    watchers = [{"id": name, "role": "observer"} for name in ("eve", "oda")]
    return make_room(player("ann", 0), player("bob", 1), *watchers, world=BEACONS)


def scene(room: Room, who: str, since: str = "") -> Any:
    return room.call(who, "scene", {"since": since} if since else {}, at=5)


def test_a_scene_has_the_layers_that_its_eye_may_see(room: Room) -> None:
    room.call("ann", "light", {"cell": 2}, at=1)
    assert scene(room, "ann").layers == {"shore": [0] * 5, "lights": {"east": [2]}}
    assert scene(room, "bob").layers["lights"] == {"west": []}
    assert scene(room, "eve").layers["lights"] == {"east": [2], "west": []}  # observers see everything here


def test_of_a_scene_that_is_known_only_the_layers_that_have_changed_are_sent(room: Room) -> None:
    first = scene(room, "ann")
    room.call("ann", "light", {"cell": 2}, at=1)
    room.call("ann", "light", {"cell": 4}, at=2)
    second = scene(room, "ann", first.id)
    assert (second.since, second.layers) == (first.id, {"lights": {"east": [2, 4]}})
    assert second.names == ["lights", "shore"]
    unchanged = scene(room, "ann", second.id)
    assert (unchanged.id, unchanged.layers) == (second.id, {})


def test_a_layer_that_is_gone_is_not_among_the_names(room: Room) -> None:
    room.call("ann", "turn_fog", at=1)
    foggy = scene(room, "bob")
    room.call("ann", "turn_fog", at=2)
    clear = scene(room, "bob", foggy.id)
    assert "fog" in foggy.layers
    assert (clear.names, clear.layers) == (["lights", "shore"], {})


@pytest.mark.parametrize("known", ["000000000000", "nonsense"])
def test_who_names_a_scene_that_is_not_known_gets_all_layers(room: Room, known: str) -> None:
    got = scene(room, "ann", known)
    assert got.layers.keys() == {"shore", "lights"}
    assert got.since == ""


def test_the_scene_of_another_eye_is_not_known(room: Room) -> None:
    room.call("bob", "light", {"cell": 1}, at=1)
    bobs = scene(room, "bob")
    assert scene(room, "ann", bobs.id).since == ""


def test_members_who_see_the_same_share_the_work_of_a_scene(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Any] = []
    draw = type(room.world).scene
    monkeypatch.setattr(type(room.world), "scene", lambda world, eye: [drawn.append(eye), draw(world, eye)][1])
    for _ in range(3):
        assert scene(room, "eve") == scene(room, "oda")
    assert len(drawn) == 1
    room.call("ann", "turn_fog", at=6)
    assert "fog" in scene(room, "eve").layers
    assert len(drawn) == 2


def test_looking_at_scenes_and_keys_leaves_nothing_in_the_room(room: Room) -> None:
    before = room.digest()
    scene(room, "ann")
    room.call("ann", "keys", at=3)
    assert room.digest() == before


def test_the_keys_of_a_world_are_listed_with_their_actions(room: Room) -> None:
    keys = room.call("eve", "keys", at=1).keys
    assert [(each.key, each.action, each.params) for each in keys][:2] == [
        ("0", "light", {"cell": 0}),
        ("1", "light", {"cell": 1}),
    ]


def test_a_world_without_a_scene_or_keys_has_no_such_commands() -> None:
    room = make_room()
    for name in ("scene", "keys"):
        with pytest.raises(UnknownCommand):
            room.call("ann", name, at=1)
