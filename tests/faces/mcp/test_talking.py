"""A model in a room without a game: it observes, is woken when somebody speaks, and answers."""

import asyncio
from typing import Any

from cohabit.scenario import AgentSpec, Scenario

ROOM = "lounge"


async def until_chat(client: Any, cursor: str) -> Any:
    """Observe until somebody has spoken: that somebody has arrived ends a wait too."""
    while True:
        seen = (await client.call_tool("observe", {"cursor": cursor, "wait_ms": 30_000})).structured_content
        if any(item.get("kind") == "chat" for item in seen["events"]):
            return seen
        cursor = seen["cursor"]


async def test_a_model_waits_with_observe_and_answers_with_say(table: Any, era: str) -> None:
    plan = Scenario(
        world="lounge", agents=[AgentSpec(id="hal", kind="human", role="host"), AgentSpec(id="kib", role="human")]
    )
    _, tokens = await table.house.create_room(plan, ROOM)
    table.tokens.update(tokens)
    hal = table.house.identify(tokens["hal"])
    async with table.client("kib", era, room=ROOM, profile=None) as client:
        listed = {tool.name for tool in (await client.list_tools()).tools}
        assert {"observe", "say"} <= listed
    async with table.client("kib", era, room=ROOM) as client:
        first = (await client.call_tool("observe", {})).structured_content
        assert "A lounge" in first["text"]
        assert [line["handle"] for line in first["roster"]] == ["hal", "kib"]
        waiting = asyncio.create_task(until_chat(client, first["cursor"]))
        await table.house.call(hal, ROOM, "say", {"text": "is anybody here?"})
        heard = await waiting
        assert [item["text"] for item in heard["events"] if item.get("kind") == "chat"] == [
            "hal to everyone: is anybody here?"
        ]
        said = await client.call_tool("say", {"text": "I am"})
        assert said.structured_content["broadcast"] is True
        after = (await client.call_tool("observe", {"cursor": heard["cursor"]})).structured_content
        assert [item["text"] for item in after["events"] if item.get("kind") == "chat"] == ["kib to everyone: I am"]
        directed = await client.call_tool("say", {"text": "only you", "to": "hal"})
        assert directed.structured_content["recipients"] == ["hal"]
    inbox = (await table.house.call(hal, ROOM, "recv_messages", {})).items
    assert [message["content"] for message in inbox] == ["I am", "only you"]
