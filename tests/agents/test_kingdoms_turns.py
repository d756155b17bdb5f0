"""Built-in players of Kingdoms in rooms where time depends on them."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.room.room import Room
from cohabit.scenario import parse_scenario
from cohabit.testing.clock import FakeClock

SMALL = {"zones_x": 2, "zones_y": 2}
KINGS = [
    {"id": "x", "role": "player", "claim": "auto:0", "brain": "steward"},
    {"id": "y", "role": "player", "claim": "auto:1", "brain": "warlord"},
]


async def opened(house: House, agents: list[dict[str, Any]], **scenario: Any) -> Room:
    file = {"world": "kingdoms", "config": SMALL, "agents": agents, **scenario}
    await house.create_room(parse_scenario(json.dumps(file)), "den", seed=5)
    return house.rooms["den"].room


async def until(clock: FakeClock, done: Callable[[], bool], most: int = 400) -> None:
    for _ in range(most):
        if done():
            return
        await clock.advance(500)
        await asyncio.sleep(0.001)  # a bot thinks on a thread of its own
    raise AssertionError("it did not happen")


async def test_built_in_players_end_their_turns_in_a_turn_based_room() -> None:
    clock = FakeClock()
    others = [
        {"id": "dm", "role": "god", "brain": "dungeon-master"},
        {"id": "scribe", "role": "narrator", "brain": "chronicler"},
    ]
    async with House.open(Settings(port=0, bridge_port=0), clock=clock) as house:
        room = await opened(house, [*KINGS, *others], turn_based=True, ticks_per_turn=20)
        await until(clock, lambda: room.state.tick >= 20 * 12)
        ended = [line.entry.by for line in room.record.tail if line.entry.do == "turn_advance"]
        assert ended[:8] == ["x", "y", "dm", "scribe"] * 2
