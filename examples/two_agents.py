"""Two agents play a game in this process, without a server. The record is replayed to the same state.

Run it with `python examples/two_agents.py`.
"""

import asyncio
from pathlib import Path

from cohabit import House, connect
from cohabit.house.store.contract import Row
from cohabit.registry import make_world
from cohabit.room.record import GENESIS, read_lines
from cohabit.room.room import Room
from cohabit.scenario import AgentSpec, Scenario

PIG = str(Path(__file__).with_name("pig.py"))


def careful(pot: int) -> str:
    """Ada holds at ten."""
    return "hold" if pot >= 10 else "roll"


def bold(pot: int) -> str:
    """Bob holds at twenty."""
    return "hold" if pot >= 20 else "roll"


async def main() -> None:
    """Open a house in memory, play a game of Pig, and replay its record."""
    plan = Scenario(
        scenario="pig",
        world=PIG,
        agents=[
            AgentSpec(id="ada", role="player", claim="auto:0"),
            AgentSpec(id="bob", role="player", claim="auto:1"),
        ],
    )
    async with House.open() as house:
        room, tokens = await house.create_room(plan)
        async with connect(house, tokens["ada"]) as ada, connect(house, tokens["bob"]) as bob:
            over = False
            while not over:
                for player, policy in ((ada, careful), (bob, bold)):
                    view = await player.call("view")
                    while view["your_turn"] and not over:
                        result = await player.call(policy(view["observation"]["status"]["pot"]))
                        over = result.get("done", False)
                        view = await player.call("view")
            for item in (await ada.call("events", {"last": 5}))["items"]:
                print(f"  {item.get('by', '-'):>4}: {item['text']}")
            print(view["text"])

        rows: list[Row] = list(house.store.lines(room, -1))
        replayed = Room.replay(read_lines(rows, -1, GENESIS), make_world)
        same = replayed.digest() == house.rooms[room].room.digest()
        print(f"{len(rows)} entries on record; run again they give the same room: {same}")


asyncio.run(main())
