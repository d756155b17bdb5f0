"""`cohabit mcp`: the same server on stdin and stdout, in front of a house and with one inside."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.subscriptions import ResourceUpdated
from tests import forks

import cohabit
from cohabit.errors import BadArgs, Unauthorized
from cohabit.faces.mcp.stdio import run_stdio


def program(*args: str, **environment: str) -> StdioServerParameters:
    command, *words = forks.command()
    return StdioServerParameters(command=command, args=[*words, *args], env=environment)


def real_program(*args: str) -> StdioServerParameters:
    source = str(Path(cohabit.__file__).parents[1])  # the program runs the code that is tested
    run = "from cohabit.faces.cli import main; main()"
    return StdioServerParameters(command=sys.executable, args=["-c", run, *args], env={"PYTHONPATH": source})


def bridge(table: Any, who: str, *args: str) -> StdioServerParameters:
    return program("mcp", "--url", table.url, *args, COHABIT_TOKEN=table.tokens[who])


async def test_a_bridge_is_the_member_whose_token_it_was_given(table: Any, era: str) -> None:
    async with Client(bridge(table, "ann", "--room", "nim", "--profile", "full"), mode=era) as client:
        assert "You are 'ann' in room 'nim'" in (client.instructions or "")
        names = [tool.name for tool in (await client.list_tools()).tools]
        async with table.client("ann", era) as http:
            assert names == [tool.name for tool in (await http.list_tools()).tools]
        taken = await client.call_tool("take", {"n": 1})
        assert "The heap" in taken.content[0].text
        refused = await client.call_tool("take", {"n": 1})
        assert refused.structured_content["error"]["code"] == "TURN_NOT_YOURS"
        denied = await client.call_tool("grant", {"member": "bob", "may": []})
        assert denied.structured_content["error"]["code"] == "PERMISSION_DENIED"
        unknown = await client.call_tool("tkae", {"n": 1})
        assert unknown.structured_content["error"]["code"] == "UNKNOWN_COMMAND"
        assert "The heap" in (await client.read_resource("cohabit://nim/view")).contents[0].text


async def test_a_bridge_lists_the_tools_that_the_house_lists(table: Any, era: str) -> None:
    async with Client(bridge(table, "ann", "--room", "nim"), mode=era) as client:
        listed = (await client.list_tools()).tools
        async with table.client("ann", era, profile=None) as http:
            assert listed == (await http.list_tools()).tools
        refused = await client.call_tool("take", {"n": 9})
        assert refused.content[0].text.startswith("[BAD_ARGS]")
        assert refused.structured_content is None


async def test_a_bridge_passes_news_on(table: Any) -> None:
    uri = "cohabit://nim/view"
    async with Client(bridge(table, "bob"), mode="auto") as client, client.listen(resource_subscriptions=[uri]) as sub:
        assert sub.honored.resource_subscriptions == [uri]
        await table.act("ann", "take", {"n": 1})
        assert await anext(aiter(sub)) == ResourceUpdated(uri)


async def test_a_house_can_be_inside(era: str) -> None:
    async with Client(real_program("mcp", "--scenario", "nim", "--as", "player-1"), mode=era) as client:
        seen = await client.call_tool("view")
        assert "The heap" in seen.content[0].text


async def test_nothing_is_served_without_a_credential_or_a_house() -> None:
    with pytest.raises(Unauthorized):
        await run_stdio("http://127.0.0.1:1", None)
    with pytest.raises(BadArgs):
        await run_stdio(None, "token")
