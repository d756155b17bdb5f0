"""`/mcp`: the house, with rooms named by the caller."""

from __future__ import annotations

from typing import Any


async def tools(client: Any) -> dict[str, Any]:
    return {tool.name: tool for tool in (await client.list_tools()).tools}


async def test_for_a_credential_of_one_room_the_room_can_be_named_and_need_not(table: Any, era: str) -> None:
    async with table.client("ann", era, room=None) as client:
        listed = await tools(client)
        assert "room" not in listed["take"].input_schema.get("required", [])
        assert not (await client.call_tool("take", {"n": 1})).is_error
        assert (await client.call_tool("whoami", {"room": "nim"})).structured_content["handle"] == "ann"
        wrong = await client.call_tool("whoami", {"room": "elsewhere"})
        assert wrong.structured_content["error"]["code"] == "UNKNOWN_ROOM"


async def test_a_caller_who_is_in_several_rooms_says_which_one(table: Any, era: str) -> None:
    table.admit("gus", host=True)
    async with table.client("gus", era, room=None) as client:
        assert {"rooms", "worlds", "create_room", "join"} <= set(await tools(client))
        made = await client.call_tool("create_room", {"world": "nim", "players": ["x", "y"], "room": "second"})
        assert set(made.structured_content["tokens"]) == {"x", "y"}
        assert not (await client.call_tool("join", {"room": "nim"})).is_error
        listed = (
            await tools(client)
            if era == "legacy"
            else {tool.name: tool for tool in (await client.list_tools(cache_mode="bypass")).tools}
        )
        assert "room" in listed["view"].input_schema["required"]
        assert "room" not in listed["rooms"].input_schema["properties"]
        assert "take" not in listed  # a world's own are not the house's; act reaches them
        for room in ("nim", "second"):
            assert (await client.call_tool("whoami", {"room": room})).structured_content["room"] == room
        nowhere = await client.call_tool("whoami", {})
        assert nowhere.structured_content["error"]["code"] == "BAD_ARGS"
        assert "(`rooms` lists yours)" in nowhere.content[0].text
        unknown = await client.call_tool("act", {"room": "nim", "action": "zzzz"})
        assert "unknown command 'zzzz'; `rules` lists the commands of this room" in unknown.content[0].text
        uris = [resource.uri for resource in (await client.list_resources()).resources]
        assert {"cohabit://nim/view", "cohabit://second/audit"} <= set(uris)


async def test_a_caller_who_is_not_in_a_room_is_offered_to_join_it_and_nothing_else(table: Any, era: str) -> None:
    table.admit("gus", host=True)
    async with table.client("gus", era) as client:
        assert list(await tools(client)) == ["join"]
        assert not (await client.call_tool("join")).is_error
        assert not (await client.call_tool("view")).is_error


async def test_a_room_that_is_not_there_looks_like_one_that_is_not_yours(table: Any, era: str) -> None:
    async with table.client("ann", era, room="nowhere") as client:
        nowhere = (await client.call_tool("view")).structured_content["error"]
        assert nowhere["code"] == "UNKNOWN_ROOM"
