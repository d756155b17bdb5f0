"""Random calls of every command: a refused one changes nothing, and the room is the one that its record makes."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.examples import soak_except

from cohabit.errors import BadArgs, CohabitError
from cohabit.model.stream import Stream
from cohabit.registry import make_world
from cohabit.room.record import GENESIS, read_lines
from cohabit.room.room import Room
from cohabit.testing.samples import sample_args

from .making import ANN, BOB, GOD, HOST, FakeClock, make_room, open_house, player

CALLS = 250
OPEN_TO_SPECTATORS = {"partial_intel": True, "spectator_delay": 2}
ROOMS: dict[str, dict[str, Any]] = {
    "Secrets": OPEN_TO_SPECTATORS, "whist": OPEN_TO_SPECTATORS, "Bids": {}, "Realms": {}, "statecraft": {},
}  # fmt: skip
ENDS = {"archive", "leave", "remove_member"}
"""After these a room has little left to refuse."""


@pytest.mark.parametrize("world", ROOMS)
@pytest.mark.parametrize("seed", soak_except(map(str, range(8)), "0", "1"))
async def test_a_refused_call_changes_nothing_and_the_record_makes_the_same_room(world: str, seed: str) -> None:
    choice, draws, refused = random.Random(seed), Stream(int(seed), "arguments"), 0
    people = [ANN, BOB, player("cat", 2), player("dan", 3)] if world == "whist" else [ANN, BOB]
    async with open_house(clock=(clock := FakeClock())) as house:
        who = await make_room(house, *people, {"id": "owl"}, HOST, GOD, world=world, **ROOMS[world])
        room = house.rooms["den"].room
        for command in choice.choices([c for c in room.commands if c.records and c.name not in ENDS], k=CALLS):
            words = [*who, *room.seats, "auto:0", "*", "read_all", "act", "watch", "!!!"]
            seq, before = room.record.seq, room.digest()
            try:
                await who[choice.choice([*who])](command.name, sample_args(command.schema, draws, words))
            except CohabitError as no:
                if room.record.seq == seq:  # else it is on record that somebody has come
                    refused += 1
                    assert room.digest() == before, f"{command.name}: {no.as_text()}"
            if choice.random() < 0.2:
                await clock.advance(choice.choice([100, 1000, 5000]))
        rows = [(line.seq, line.body, line.digest) for line in await lines(house)]
        assert Room.replay(read_lines(rows, -1, GENESIS), make_world).digest() == room.digest()
    assert 20 < refused < CALLS


async def test_chat_limits_with_a_word_that_is_refused_change_nothing() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, HOST)
        room = house.rooms["den"].room
        before = room.digest()
        with pytest.raises(BadArgs, match="blocked_words"):
            await who["hostess"]("set_chat_limits", {"slow_mode_s": 5, "agents_apart": True, "blocked_words": ["!!!"]})
        assert room.digest() == before


async def test_each_new_link_to_watch_is_for_spectators_of_an_open_room() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, world="Secrets", **OPEN_TO_SPECTATORS)
        for _ in range(2):
            made = await who["hostess"]("watch_link")
            assert made.link
            assert await who["ann"]("view")
        watchers = [
            member.id for member in house.rooms["den"].room.state.members.values() if member.handle == "watchers"
        ]
        assert watchers == ["watchers#2"]


async def lines(house: Any) -> list[Any]:
    await house.rooms["den"].drained()
    return [line async for line in house.rooms["den"].history.after(-1)]
