"""Travelling over MCP: one connection and one token for the whole house are enough."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from cohabit.faces.serve import serve
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.scenario import read_scenario


async def test_an_agent_with_one_token_for_the_house_travels_and_plays_over_one_connection() -> None:
    async with House.open(Settings(port=0)) as house:
        await house.create_room(read_scenario("wilderness"), "wilderness", seed=1)
        await house.create_room(read_scenario("nexus"), "nexus", seed=1)
        operator = house.identify(house.operator_token())
        made = await house.call(operator, None, "issue_credential", {"name": "zoe"})
        ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        serving = asyncio.ensure_future(serve(house, ready=ready.set_result))
        await asyncio.wait({ready, serving}, return_when=asyncio.FIRST_COMPLETED)
        headers = {"authorization": f"Bearer {made.token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=120) as http,
            Client(streamable_http_client(f"{await ready}/mcp?profile=full", http_client=http)) as zoe,
        ):

            async def call(name: str, **args: Any) -> Any:
                reply = await zoe.call_tool(name, args)
                assert not reply.is_error, reply.content[0].text
                return reply.structured_content

            await call("join", room="nexus")
            await call("sit", room="nexus")
            arrived = await call("act", room="nexus", action="enter_game", params={"game_id": "wilderness"})
            assert "token" not in arrived["data"]  # its own is valid there
            assert (await call("act", room="wilderness", action="noop"))["success"]
            assert "exit_game" in {tool.name for tool in (await zoe.list_tools(cache_mode="bypass")).tools}
            left = await call("exit_game", room="wilderness", remember=["cows are near"])
            assert left["steps"] == 1
            seen = await call("wait_for_turn", room="nexus", wait_ms=20_000)
            assert "You are in the Nexus, without a body" in seen["text"]
            assert "cows are near" in seen["text"]
        told: asyncio.Queue[str] = asyncio.Queue()

        async def heard(message: Any) -> None:
            told.put_nowait(getattr(message, "method", ""))

        async with (
            httpx2.AsyncClient(headers=headers, timeout=120) as http,
            Client(streamable_http_client(f"{ready.result()}/mcp/nexus", http_client=http)) as at_nexus,
            Client(
                streamable_http_client(f"{ready.result()}/mcp", http_client=http), mode="legacy", message_handler=heard
            ) as older,
        ):
            before = {tool.name for tool in (await older.list_tools()).tools}
            listed_goals = (await at_nexus.call_tool("act", {"action": "meta_goals"})).content[0].text
            assert "\n- survivor: Survive 100 steps" in listed_goals
            in_detail = await at_nexus.call_tool("act", {"action": "game_details", "params": {"game_id": "wilderness"}})
            assert in_detail.content[0].text.startswith("[READY] wilderness: ")
            arrived = await older.call_tool("enter_game", {"room": "nexus", "game_id": "wilderness"})
            assert "pass room=wilderness with each call, first to `rules`" in arrived.content[0].text
            async with asyncio.timeout(120):
                assert await told.get() == "notifications/tools/list_changed"
            assert {tool.name for tool in (await older.list_tools()).tools} != before

            # One that knows only the address of the Nexus goes on in the game, too.
            again = await at_nexus.call_tool("act", {"action": "resume_game"})
            assert "pass room=wilderness" in again.content[0].text
            listed = {tool.name: tool for tool in (await at_nexus.list_tools()).tools}
            assert "room" in listed["act"].input_schema["properties"]
            for action in ("noop", "exit_game"):
                done = await at_nexus.call_tool("act", {"room": "wilderness", "action": action})
                assert not done.is_error, done.content[0].text
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
