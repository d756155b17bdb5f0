"""The planet world in a real room: avatars, deaths and replays."""

from typing import Any

import pytest
from tests.room.making import make_room, replayed
from tests.worlds.planet.playing import body_of

from cohabit.errors import GameRejected
from cohabit.features.bodies.state import avatars_in
from cohabit.model.avatar import AvatarState

ANN, BOB = {"id": "ann", "role": "player"}, {"id": "bob", "role": "player"}


class Planets:
    def __init__(self, **config: Any) -> None:
        self.room = make_room(ANN, BOB, world="planet", config=config)
        self.at = 0
        for who in ("ann", "bob"):
            self(who, "jack_in")

    def __call__(self, who: str, name: str, /, **args: Any) -> Any:
        self.at += 1
        return self.room.call(who, name, args, at=self.at)

    def state(self) -> AvatarState:
        return next(iter(avatars_in(self.room.state).values())).state

    def until_death(self) -> None:
        """Ann falls from the sky; bob waits."""
        body_of(self.room.world).health = 1
        body_of(self.room.world).y = 5
        while body_of(self.room.world).alive:
            self("ann", "wait")
            self("bob", "wait")


def test_a_body_is_left_asleep_and_woken_where_it_lay():
    planets = Planets()
    before = planets("ann", "inspect_self").avatar.position
    planets("ann", "jack_out", mode="dormant")
    planets("bob", "wait")
    assert planets.state() is AvatarState.DORMANT
    assert planets("ann", "jack_in").avatar.position == before
    assert replayed(planets.room).digest() == planets.room.digest()


def test_a_falling_body_cannot_be_left():
    planets = Planets()
    planets("ann", "jump")
    planets("bob", "wait")
    with pytest.raises(GameRejected, match="falling"):
        planets("ann", "jack_out")


def test_a_dead_body_respawns_by_command_and_is_controlled_again():
    planets = Planets(respawn_after=0)
    planets.until_death()
    assert planets.state() is AvatarState.DESTROYED
    assert planets("ann", "death").cause == "fall"
    planets("ann", "respawn", option="ship")
    assert planets.state() is AvatarState.BOUND
    assert planets("ann", "inspect_self").avatar.death_count == 1


def test_a_body_that_wakes_up_by_itself_is_controlled_again():
    planets = Planets(respawn_after=2)
    planets.until_death()
    for _ in range(2):
        planets("bob", "wait")
    assert planets.state() is AvatarState.BOUND
    planets("ann", "beam_down")


def test_those_who_see_a_body_are_told_of_its_emotes():
    planets = Planets()
    planets("ann", "emote", emote="wave")
    told = [told.text for line in planets.room.record.tail for told in line.entry.told if told.seats]
    assert told == ["ann waves"]
