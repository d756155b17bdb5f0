"""The holder of an invite can accept it, and nothing else."""

from __future__ import annotations

import re
from typing import Any

import pytest

from cohabit.errors import Unauthorized
from cohabit.scenario import AgentSpec, Scenario


@pytest.mark.parametrize("room", ["nim", None])
async def test_the_holder_of_an_invite_is_offered_to_join_and_nothing_else(
    table: Any, era: str, room: str | None
) -> None:
    await table.invite("zoe")
    async with table.client("zoe", era, room) as client:
        listed = await client.list_tools()
        assert [tool.name for tool in listed.tools] == ["join"]
        assert (await client.list_resources()).resources == []
        assert "not in room 'nim' yet" in client.instructions
        assert "`join` joins" in client.instructions
        refused = await client.call_tool("view")
        assert refused.structured_content["error"]["code"] == "UNKNOWN_ROOM"


async def test_after_joining_the_tools_are_those_of_a_member(table: Any, era: str) -> None:
    await table.invite("zoe")
    async with table.client("zoe", era) as client:
        await client.list_tools()
        joined = await client.call_tool("join", {"keep_token": True})
        assert joined.structured_content["member"] == "zoe"
        assert "over MCP, list your tools again." in joined.structured_content["note"]
        names = [tool.name for tool in (await client.list_tools()).tools]  # not a cached list
        assert "view" in names
        assert "join" not in names
        assert not (await client.call_tool("view")).is_error


async def test_a_client_that_cannot_change_its_token_joins_again_and_stays_with_it(table: Any, era: str) -> None:
    await table.invite("zoe")
    async with table.client("zoe", era) as client:
        first = (await client.call_tool("join")).structured_content
        lost = (await client.call_tool("view")).content[0].text
        assert lost.startswith("[UNKNOWN_ROOM] you have joined, but this is the token of your invite: connect with")
        assert lost.endswith("or call `join` again with keep_token")
        again = (await client.call_tool("join", {"keep_token": True})).structured_content
        assert (again["member"], again.get("token")) == ("zoe", None)
        assert not (await client.call_tool("view")).is_error
    with pytest.raises(Unauthorized, match="revoked"):
        table.house.identify(first["token"])


async def test_a_list_that_joining_will_change_is_not_announced_and_not_cached(table: Any) -> None:
    await table.invite("zoe")
    async with table.client("zoe") as client, client.listen(tools_list_changed=True) as sub:
        assert not sub.honored.tools_list_changed
        assert (await client.list_tools()).ttl_ms == 0


async def test_joining_a_sealed_room_gives_a_token_that_nobody_else_knows(table: Any, era: str) -> None:
    players = [AgentSpec(id=name, role="player", claim=f"auto:{i}") for i, name in enumerate(("pat", "alex", "robin"))]
    hal = AgentSpec(id="hal", kind="human", role="host")
    _, tokens = await table.house.create_room(Scenario(world="whist", agents=[*players, hal]), "whist")
    table.room, table.tokens = "whist", {**table.tokens, **tokens}
    await table.invite("zoe", role="player")
    async with table.client("zoe", era, "whist") as client:
        assert set(re.findall(r"`(\w+)`", client.instructions)) == {"join"}, "it has no other tool yet"
        assert "Then list your tools again" in client.instructions
        joined = (await client.call_tool("join")).structured_content
    assert "If your client cannot change it, call `join` again with keep_token." in joined["note"]
    table.tokens["zoe"] = joined["token"]
    async with table.client("zoe", era, "whist") as client:
        assert (await client.call_tool("whoami")).structured_content["handle"] == "zoe"
