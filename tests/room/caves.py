"""A room of the caves, a world with bodies, for the tests of avatars."""

from typing import Any

import pytest

from cohabit.errors import AskerError
from cohabit.features.bodies.state import avatars_in
from cohabit.model.avatar import AvatarState
from cohabit.room.room import Room

from .avatar_machine import CAVES
from .making import GOD, HOST, OBSERVER, entries, make_room

ANN, BOB = {"id": "ann", "role": "player"}, {"id": "bob", "role": "player"}


def bodies(room: Room) -> dict[str, Any]:
    """The bodies in a room of the caves, by seat."""
    world: Any = room.world
    found: dict[str, Any] = world.bodies
    return found


class Caves:
    """A room of the caves, in which time passes only when it is told to."""

    def __init__(self, *agents: Any, world: str = CAVES, **keys: Any) -> None:
        self.room: Room = make_room(*(agents or (ANN, BOB, HOST, GOD, OBSERVER)), world=world, **keys)
        self.at = 1000

    def __call__(self, who: str, name: str, /, **args: Any) -> Any:
        return self.room.call(who, name, args, at=self.at)

    def refused(self, who: str, name: str, /, **args: Any) -> AskerError:
        """The reason why a call is refused; it has changed nothing."""
        before = self.room.digest()
        with pytest.raises(AskerError) as refused:
            self(who, name, **args)
        assert self.room.digest() == before
        return refused.value

    def kill(self, who: str, whom: str) -> None:
        while bodies(self.room)[whom].health > 0:
            self(who, "hit", whom=whom)

    def state(self, avatar: int = 1) -> AvatarState:
        return avatars_in(self.room.state)[self.id(avatar)].state

    def id(self, avatar: int = 1) -> str:
        """The id of an avatar, in the order in which they were made."""
        return list(avatars_in(self.room.state))[avatar - 1]

    def seat(self, who: str) -> str:
        found = self.room.state.members[who].seat
        assert found is not None
        return found

    def heard(self, who: str) -> list[str]:
        """What a member was told by name or by seat."""
        seat = self.room.state.members[who].seat
        return [
            told.text for entry in entries(self.room) for told in entry.told
            if who in (told.members or ()) or seat in (told.seats or ())
        ]  # fmt: skip
