"""A member that leaves, or loses its token, while its client is connected: the reply of the call arrives, and what the
client does afterwards is answered in words. The official client lists the tools again after a call of a tool that it
has not listed, as `leave`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from cohabit.faces.app import make_app
from cohabit.faces.mcp import ended
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.testing.clock import FakeClock

from .conftest import MODES, Table, listening, scenario
from .test_stdio import bridge, program

GOOD_FOR_MS = 10_000


@pytest.fixture
async def table() -> AsyncIterator[Table]:
    """Bob's token expires soon, on a clock that the test moves; hob is a host of the house."""
    clock = FakeClock()
    async with House.open(Settings(), clock=clock) as house:
        _, tokens = await house.create_room(scenario(), "nim")
        house.identify(tokens["bob"]).expires_at = clock.now() + GOOD_FOR_MS
        async with listening(make_app(house)) as url:
            made = Table(house, url, tokens)
            made.admit("hob", host=True)
            yield made


Connect = Callable[[Table, str], AbstractAsyncContextManager[Any]]


@pytest.fixture(params=["http 2025-11-25", "http 2026-07-28", "stdio 2025-11-25", "stdio 2026-07-28"])
def connect(request: pytest.FixtureRequest) -> Connect:
    """The official client, over each transport, in both eras of the protocol."""
    transport, _, version = request.param.partition(" ")

    def client(table: Table, who: str) -> Any:
        if transport == "http":
            return table.client(who, MODES[version], profile=None)
        return Client(bridge(table, who, "--room", "nim"), mode=MODES[version])

    return client


async def says_why(client: Any, *words: str) -> None:
    """What a client does next is answered in words, and does not raise."""
    for tool in ("view", "leave", "act"):
        reply = await client.call_tool(tool, {"action": "take"} if tool == "act" else {})
        assert reply.is_error
        assert any(word in reply.content[0].text for word in words), reply.content[0].text
    assert (await client.list_tools(cache_mode="refresh")).tools == []


async def test_the_reply_of_leave_arrives_and_later_calls_say_why_they_are_refused(
    table: Table, connect: Connect
) -> None:
    async with connect(table, "eve") as client:
        left = await client.call_tool("leave", {})
        assert not left.is_error
        assert "eve" in left.content[0].text
        await says_why(client, "[UNAUTHORIZED] this token was revoked")


async def test_the_new_token_arrives_although_the_old_one_is_revoked(table: Table, connect: Connect) -> None:
    async with connect(table, "eve") as client:
        replaced = await client.call_tool("rotate_token", {})
        assert not replaced.is_error
        assert '"token"' in replaced.content[0].text
        await says_why(client, "[UNAUTHORIZED] this token was revoked")


async def revoke(table: Table) -> None:
    await table.revoke("bob")


async def remove(table: Table) -> None:
    await table.act("hal", "remove_member", {"member": "bob"})


async def expire(table: Table) -> None:
    assert isinstance(table.house.clock, FakeClock)
    await table.house.clock.advance(GOOD_FOR_MS)


async def delete(table: Table) -> None:
    await table.act("hob", "join", {})
    await table.act("hob", "delete_room", {"confirm": "nim"})


SOAK = [pytest.param(end, marks=pytest.mark.soak, id=end.__name__) for end in (remove, delete)]


@pytest.mark.parametrize("end", [revoke, expire, *SOAK])
async def test_a_client_that_loses_its_token_is_told_so_in_words(
    table: Table, connect: Connect, end: Callable[[Table], Awaitable[None]]
) -> None:
    async with connect(table, "bob") as client:
        assert not (await client.call_tool("view", {})).is_error
        await end(table)
        await says_why(client, "[UNAUTHORIZED]")


async def test_a_member_with_a_token_for_the_house_leaves_a_room_and_is_told_that_it_is_gone(
    table: Table, connect: Connect
) -> None:
    async with connect(table, "hob") as client:
        assert not (await client.call_tool("join", {})).is_error
        assert not (await client.call_tool("leave", {})).is_error
        again = await client.call_tool("view", {})
        assert again.content[0].text == "[UNKNOWN_ROOM] you are not a member of room 'nim'; call `join` first"
        assert [tool.name for tool in (await client.list_tools(cache_mode="refresh")).tools] == ["join"]
        assert not (await client.call_tool("join", {})).is_error
        assert not (await client.call_tool("delete_room", {"confirm": "nim"})).is_error
        gone = await client.call_tool("view", {})
        assert gone.content[0].text.startswith("[UNKNOWN_ROOM] room 'nim' does not exist")
        assert (await client.list_tools(cache_mode="refresh")).tools == []


async def test_an_archived_room_can_be_read_and_says_that_it_is_archived(table: Table, connect: Connect) -> None:
    async with connect(table, "ann") as client:
        await table.act("hal", "archive", {})
        assert (await client.list_tools()).tools
        assert not (await client.call_tool("view", {})).is_error
        refused = await client.call_tool("take", {"n": 1})
        assert refused.content[0].text == "[DISABLED] this room is archived and read-only; a host can bring it back"


async def test_a_player_of_a_house_inside_leaves_and_is_told_so(era: str) -> None:
    async with Client(program("mcp", "--scenario", "nim", "--as", "player-1"), mode=era) as client:
        left = await client.call_tool("leave", {})
        assert not left.is_error
        await says_why(client, "[UNAUTHORIZED]")


@pytest.mark.parametrize("method", ["resources/list", "prompts/list"])
async def test_other_requests_get_the_reason_as_an_error_of_the_protocol(table: Table, method: str) -> None:
    async with table.client("eve", "legacy") as client:
        await client.call_tool("leave", {})
        ask = {"resources/list": client.list_resources, "prompts/list": client.list_prompts}[method]
        with pytest.raises(MCPError, match=r"\[UNAUTHORIZED\] this token was revoked: you have left this room"):
            await ask()


def raw(table: Table, token: str, method: str, **headers: str) -> dict[str, Any]:
    return {
        "url": f"{table.url}/mcp/nim",
        "headers": {
            "authorization": f"Bearer {token}", "accept": "application/json, text/event-stream", **headers,
        },
        "json": {"jsonrpc": "2.0", "id": 7, "method": method, "params": {}},
    }  # fmt: skip


async def test_a_token_that_was_never_used_here_or_begins_again_gets_401(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ended, "MAX_REMEMBERED", 1)
    async with httpx2.AsyncClient() as http:
        for token, why in (("unknown", "invalid token"), (table.tokens["bob"], "this token was revoked")):
            if token == table.tokens["bob"]:
                await table.revoke("bob")
            answer = await http.post(**raw(table, token, "tools/list"))
            assert (answer.status_code, answer.headers["www-authenticate"]) == (401, 'Bearer realm="cohabit"')
            assert answer.json()["error"]["message"].startswith(f"[UNAUTHORIZED] {why}")
            assert answer.json()["error"]["data"]["code"] == "UNAUTHORIZED"
        async with table.client("eve", "legacy") as client:
            await client.call_tool("leave", {})
        begins = await http.post(**raw(table, table.tokens["eve"], "initialize"))
        assert begins.status_code == 401
        listed = await http.post(**raw(table, table.tokens["eve"], "tools/list"))
        assert listed.json()["result"]["tools"] == []
        async with table.client("ann", "legacy") as client:
            await client.list_tools()
        forgotten = await http.post(**raw(table, table.tokens["eve"], "tools/list"))
        assert forgotten.status_code == 401


async def test_nothing_that_a_client_sends_with_an_ended_token_reaches_the_room_or_breaks_the_house(
    table: Table,
) -> None:
    async with table.client("eve", "legacy") as client:
        await client.call_tool("leave", {})
    before = table.house.rooms["nim"].room.record.seq
    head = {"authorization": f"Bearer {table.tokens['eve']}", "accept": "application/json, text/event-stream"}
    head["content-type"] = "application/json"
    async with httpx2.AsyncClient() as http:
        for body, status in (
            (b"", 401), (b"{", 401), (b"[]", 401), (b'{"method": 1}', 401),
            (b'{"jsonrpc": "2.0", "method": "notifications/initialized"}', 202),
            (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "take"}}', 200),
        ):  # fmt: skip
            answer = await http.post(f"{table.url}/mcp/nim", content=body, headers=head)
            assert answer.status_code == status, body
        assert (await http.get(f"{table.url}/mcp/nim", headers=head)).status_code == 401
        assert (await http.delete(f"{table.url}/mcp/nim", headers=head)).status_code == 204
    assert table.house.rooms["nim"].room.record.seq == before
