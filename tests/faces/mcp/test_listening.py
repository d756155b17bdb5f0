"""Subscriptions: who is told what, and who is not."""

from __future__ import annotations

import asyncio
import warnings
from typing import Any

import pytest
from mcp.client.subscriptions import ResourceUpdated, ToolsListChanged
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from starlette.applications import Starlette

from cohabit.faces.mcp.backend import InHouse
from cohabit.faces.mcp.listening import Interest
from cohabit.faces.mcp.resources import find
from cohabit.faces.mcp.server import McpFace

VIEW, AUDIT, MESSAGES = ("cohabit://nim/view", "cohabit://nim/audit", "cohabit://nim/messages")


async def test_a_listener_is_told_of_what_it_asked_for_and_may_read(table: Any) -> None:
    asked = [VIEW, MESSAGES, AUDIT, "cohabit://nowhere/view", "test://watched-resource"]
    async with table.client("bob") as client, client.listen(resource_subscriptions=asked) as sub:
        assert sub.honored.resource_subscriptions == [VIEW, MESSAGES]
        events = aiter(sub)
        await table.act("ann", "take", {"n": 1})
        assert await anext(events) == ResourceUpdated(VIEW)
        await table.act("ann", "send_message", {"to": "bob", "content": "your turn"})
        assert await anext(events) == ResourceUpdated(MESSAGES)


async def test_only_changes_that_are_told_are_announced_and_acknowledged(table: Any) -> None:
    async with (
        table.client("bob") as client,
        client.listen(tools_list_changed=True, prompts_list_changed=True, resources_list_changed=True) as sub,
    ):
        announced = client.server_capabilities
        assert (announced.tools.list_changed, announced.resources.subscribe) == (True, True)
        assert not announced.prompts.list_changed
        assert not announced.resources.list_changed
        assert sub.honored.model_dump(exclude_none=True) == {"tools_list_changed": True}


async def test_a_listener_is_not_woken_by_events_it_may_not_see(house: Any, table: Any) -> None:
    backend = InHouse(house, house.identify(table.tokens["eve"]), "nim")
    interest = Interest(backend)
    for who in ("ann", "eve"):  # that they are here now is news to all
        await table.act(who, "whoami", {})
        await table.until(lambda room, who=who: room.room.state.members[who].here)
    await house.rooms["nim"].drained()
    for name in ("messages", "view", "events"):
        await interest.add(f"cohabit://nim/{name}", await find(backend, f"cohabit://nim/{name}"))
    await table.act("ann", "send_message", {"to": "bob", "content": "between us"})
    assert not interest.due
    await table.act("ann", "take", {"n": 1})
    assert set(interest.due) == {ResourceUpdated(VIEW), ResourceUpdated("cohabit://nim/events")}
    interest.close()


async def test_a_right_that_is_taken_away_ends_the_news_of_it_and_changes_the_tools(table: Any) -> None:
    async with (
        table.client("bob") as client,
        client.listen(resource_subscriptions=[VIEW], tools_list_changed=True) as sub,
    ):
        events = aiter(sub)
        await table.act("hal", "revoke", {"member": "bob"})
        assert await anext(events) == ToolsListChanged()
        await table.act("ann", "take", {"n": 1})
        await table.revoke("bob")
        await table.act("ann", "send_message", {"to": "eve", "content": "he is gone"})
        assert [event async for event in events] == []  # neither was for him


async def test_a_seat_that_becomes_free_changes_the_tools_of_those_who_can_take_it(house: Any, table: Any) -> None:
    await table.invite("zoe", role="player")
    await table.act("zoe", "join", {"keep_token": True})
    backend = InHouse(house, house.identify(table.tokens["zoe"]), "nim")
    interest = Interest(backend)
    await interest.add_tools()
    await table.act("hal", "remove_member", {"member": "bob"})
    assert ToolsListChanged() in interest.due
    assert await interest.next() == ToolsListChanged()  # the list is really another one
    interest.close()


async def test_where_no_room_is_meant_a_listener_is_told_when_joining_or_leaving_changes_its_tools(table: Any) -> None:
    table.admit("gus", host=True)
    async with (
        table.client("gus", room=None, profile=None) as client,
        client.listen(tools_list_changed=True, resource_subscriptions=[VIEW]) as sub,
    ):
        assert sub.honored.model_dump(exclude_none=True) == {"tools_list_changed": True}
        lists = [await tool_names(client)]
        for tool in ("join", "leave"):
            await client.call_tool(tool, {"room": "nim"})
            assert isinstance(await anext(aiter(sub)), ToolsListChanged)
            lists.append(await tool_names(client))
    assert "heap" in lists[1], "it is in one room, so the list has the tools of its world"
    assert lists[0] == lists[2]
    assert "view" not in lists[0]


async def tool_names(client: Any) -> set[str]:
    return {tool.name for tool in (await client.list_tools()).tools}


async def test_a_session_of_the_older_era_is_told_that_its_own_call_has_changed_its_tools(table: Any) -> None:
    told: asyncio.Queue[str] = asyncio.Queue()

    async def heard(message: Any) -> None:
        told.put_nowait(getattr(message, "method", ""))

    table.admit("gus", host=True)
    async with table.client("gus", "legacy", room=None, profile=None, message_handler=heard) as client:
        before = await tool_names(client)
        await client.call_tool("join", {"room": "nim"})
        assert await told.get() == "notifications/tools/list_changed"
        assert before < await tool_names(client)


async def test_a_member_whose_grant_shows_nothing_cannot_subscribe(table: Any) -> None:
    await table.act("hal", "revoke", {"member": "bob"})
    rules = "cohabit://nim/rules"
    async with table.client("bob") as client, client.listen(resource_subscriptions=[rules]) as sub:
        assert (await client.read_resource(rules)).contents  # readable, but its changes cannot be seen
        assert sub.honored.model_dump(exclude_none=True) == {}


async def test_nobody_can_hold_more_streams_than_the_house_allows(table: Any) -> None:
    most = table.house.settings.connections_per_member
    async with table.client("bob") as client:
        open_streams = [client.listen(resource_subscriptions=[VIEW]) for _ in range(most)]
        for stream in open_streams:
            await stream.__aenter__()
        with pytest.raises(MCPError, match="BUSY"):
            async with client.listen(resource_subscriptions=[VIEW]):
                pass
        async with table.client("ann") as other, other.listen(resource_subscriptions=[VIEW]):
            pass
        for stream in reversed(open_streams):
            await stream.__aexit__(None, None, None)


async def test_a_stream_ends_in_order_when_its_room_closes(table: Any) -> None:
    async with table.client("bob") as client, client.listen(resource_subscriptions=[VIEW]) as sub:
        table.house.rooms["nim"].close()
        assert [event async for event in sub] == []


async def test_many_changes_make_one_notification(house: Any, table: Any) -> None:
    backend = InHouse(house, house.identify(table.tokens["bob"]), "nim")
    interest = Interest(backend)
    await interest.add(MESSAGES, await find(backend, MESSAGES))
    for n in range(3):
        await table.act("ann", "send_message", {"to": "bob", "content": str(n)})
    assert await interest.next() == ResourceUpdated(MESSAGES)
    assert not interest.due
    interest.close()
    assert await interest.next() is None


async def test_every_stream_ends_in_order_before_the_server_stops(house: Any, serving: Any) -> None:
    face = McpFace(house)
    app = Starlette(routes=face.routes(), lifespan=lambda app: face.lifespan())
    async with (
        serving(app) as table,
        table.client("bob") as client,
        client.listen(resource_subscriptions=[VIEW]) as sub,
    ):
        face.close()
        assert [event async for event in sub] == []


async def test_a_session_of_the_older_era_is_told_on_its_own_stream(table: Any) -> None:
    told: asyncio.Queue[str] = asyncio.Queue()

    async def heard(message: Any) -> None:
        if getattr(message, "method", "") == "notifications/resources/updated":
            told.put_nowait(message.params.uri)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MCPDeprecationWarning)
        async with table.client("bob", "legacy", message_handler=heard) as client:
            for uri in (VIEW, MESSAGES):
                await client.subscribe_resource(uri)
            for uri in (AUDIT, "cohabit://elsewhere/view"):
                with pytest.raises(MCPError):
                    await client.subscribe_resource(uri)
            await table.act("ann", "take", {"n": 1})
            assert await told.get() == VIEW
            await client.unsubscribe_resource(VIEW)
            await table.act("bob", "take", {"n": 1})
            await table.act("ann", "send_message", {"to": "bob", "content": "well played"})
            assert await told.get() == MESSAGES
            assert len(table.house.rooms["nim"].fanout) == 1
    await table.until(lambda room: not len(room.fanout))  # the subscription goes with its session
