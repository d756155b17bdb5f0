"""A game of another library over MCP: two clients of the official SDK play it from the text alone."""

from typing import Any

from cohabit.scenario import AgentSpec, Scenario

PLAYERS = [AgentSpec(id=name, role="player", claim=f"auto:{i}") for i, name in enumerate(("ada", "bea"))]
POKER = Scenario(agents=PLAYERS, scenario="cards", world="openspiel:kuhn_poker", seed=3)


async def test_two_models_play_poker_of_a_library_with_its_tools_and_each_sees_a_hand_of_its_own(table: Any) -> None:
    table.tokens.update((await table.house.create_room(POKER, "cards"))[1])
    async with table.client("ada", room="cards") as ada, table.client("bea", room="cards") as bea:
        room = table.house.rooms["cards"].room
        assert await view(ada) != await view(bea)
        while not room.is_over():
            client = ada if room.is_turn_of(room.state.members["ada"]) else bea
            reply = await client.call_tool("view", {})
            choice = reply.structured_content["observation"]["choices"][0]
            assert not (await client.call_tool(choice["action"], choice["params"])).is_error
        assert "over" in await view(ada)


async def view(client: Any) -> str:
    return str((await client.call_tool("view", {})).content[0].text)
