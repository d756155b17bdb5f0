"""A credential that is revoked or expires takes its sessions, streams and tasks with it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from websockets.asyncio.client import connect as ws_connect
from websockets.exceptions import ConnectionClosed

from cohabit.errors import Unauthorized
from cohabit.faces.app import make_app
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.house.store.contract import Write
from cohabit.house.store.identities import hashed
from cohabit.testing.clock import FakeClock

from .conftest import Table, listening, scenario

VIEW = "cohabit://nim/view"
LEGACY, MODERN = "2025-11-25", "2026-07-28"
GOOD_FOR_MS = 10_000
Lose = Callable[[Table, str], Awaitable[None]]


async def revoke(table: Table, who: str) -> None:
    await table.revoke(who)


async def remove(table: Table, who: str) -> None:
    await table.act("hal", "remove_member", {"member": who})


async def expire(table: Table, who: str) -> None:
    clock = table.house.clock
    assert isinstance(clock, FakeClock)
    await clock.advance(GOOD_FOR_MS)


@pytest.fixture(params=[revoke, remove, expire])
def lose(request: pytest.FixtureRequest) -> Lose:
    """Every means by which a credential stops working."""
    chosen: Lose = request.param
    return chosen


@asynccontextmanager
async def open_table() -> AsyncIterator[Table]:
    """Here bob's credential expires soon, on a clock that the test moves."""
    clock = FakeClock()
    async with House.open(Settings(), clock=clock) as house:
        _, tokens = await house.create_room(scenario(), "nim")
        house.identify(tokens["bob"]).expires_at = clock.now() + GOOD_FOR_MS
        async with listening(make_app(house)) as url:
            yield Table(house, url, tokens)


@pytest.fixture
async def table() -> AsyncIterator[Table]:
    async with open_table() as table:
        yield table


class Raw:
    """Requests as they are on the wire: the SDK's client hides how a stream ends."""

    def __init__(self, table: Table, who: str, http: httpx2.AsyncClient) -> None:
        self.url = f"{table.url}/mcp/nim"
        self.http = http
        self.headers = {
            "authorization": f"Bearer {table.tokens[who]}",
            "accept": "application/json, text/event-stream",
        }

    async def open_session(self) -> None:
        about = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        opened = await self.post(self._body("initialize", about))
        self.headers |= {"mcp-session-id": opened.headers["mcp-session-id"], "mcp-protocol-version": LEGACY}
        await self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})

    async def post(self, body: dict[str, Any], **headers: str) -> httpx2.Response:
        return await self.http.post(self.url, json=body, headers={**self.headers, **headers})

    def modern(self, method: str, name: str, /, **params: Any) -> Any:
        """A request of the newer era, as a stream."""
        meta = {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}},
        }
        headers = {**self.headers, "mcp-protocol-version": MODERN, "mcp-method": method, "mcp-name": name}
        body = self._body(method, {**params, "_meta": meta})
        return self.http.stream("POST", self.url, json=body, headers=headers)

    @staticmethod
    def _body(method: str, params: dict[str, Any]) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def tasks_of_mcp() -> list[str]:
    """The tasks of MCP that still run in this process."""
    return [task.get_name() for task in asyncio.all_tasks() if task.get_name().startswith("mcp task")]


async def test_the_stream_of_a_session_ends(table: Table, lose: Lose) -> None:
    async with httpx2.AsyncClient(timeout=120) as http:
        bob, ann = Raw(table, "bob", http), Raw(table, "ann", http)
        await bob.open_session()
        await ann.open_session()
        async with (
            http.stream("GET", bob.url, headers=bob.headers) as bobs,
            http.stream("GET", ann.url, headers=ann.headers) as anns,
        ):
            assert (bobs.status_code, anns.status_code) == (200, 200)
            await lose(table, "bob")
            async for _ in bobs.aiter_raw():  # hangs, if the stream does not end
                pass
            assert (await ann.post({"jsonrpc": "2.0", "id": 2, "method": "ping"})).status_code == 200
        assert (await bob.post({"jsonrpc": "2.0", "id": 2, "method": "ping"})).status_code == 401


def test_every_connection_of_a_member_with_a_session_ends_and_its_token_is_revoked_in_the_store(lose: Lose) -> None:
    """In an event loop of its own, like that of a server: the runner of the tests prepares the context of a task, and
    here a callback without a task ends the session.
    """
    asyncio.run(asyncio.wait_for(_every_connection_ends(lose), 120))


async def _every_connection_ends(lose: Lose) -> None:
    async with open_table() as table, httpx2.AsyncClient(timeout=120) as http:
        bob = Raw(table, "bob", http)
        await bob.open_session()
        address, headers = table.url.replace("http", "ws", 1) + "/ws", {"authorization": bob.headers["authorization"]}
        async with (
            http.stream("GET", bob.url, headers=bob.headers) as stream,
            ws_connect(address, additional_headers=headers) as before,
            ws_connect(address, additional_headers=headers) as beside,
        ):
            await lose(table, "bob")
            for ws in (before, beside):
                with pytest.raises(ConnectionClosed):
                    while True:  # hangs, if the connection does not end
                        await ws.recv()
            async for _ in stream.aiter_raw():
                pass
        await table.house.writer.submit(Write())  # written after everything that was submitted before
        stored = {c.hash: c.revoked for c in table.house.store.credentials()}
        assert stored[hashed(table.tokens["bob"])] == (lose is not expire)
        assert not stored[hashed(table.tokens["ann"])]


async def test_a_broken_stream_is_not_resumed_with_what_its_reader_may_not_see_any_more(table: Table) -> None:
    async with httpx2.AsyncClient(timeout=120) as http:
        bob = Raw(table, "bob", http)
        await bob.open_session()
        body = bob._body("tools/call", {"name": "recv_messages", "arguments": {"wait_ms": 30_000}})
        async with http.stream("POST", bob.url, json=body, headers=bob.headers) as broken:
            first = await anext(broken.aiter_text())
        await table.act("ann", "send_message", {"to": "bob", "content": "for bob alone"})

        async def resumed() -> str:
            told, after = "", first.split()[1]
            async with http.stream("GET", bob.url, headers={**bob.headers, "last-event-id": after}) as stream:
                async for chunk in stream.aiter_text():
                    told += chunk
                    if "jsonrpc" in told:
                        break
            return told

        assert "for bob alone" in await resumed()
        await table.act("hal", "widen", {"member": "bob", "may": ["send_broadcast"]})
        assert "for bob alone" in await resumed()
        await table.act("hal", "revoke", {"member": "bob"})
        told = await resumed()
    assert "PERMISSION_DENIED" in told
    assert "for bob alone" not in told


async def test_a_call_that_waits_in_a_session_ends(table: Table, lose: Lose) -> None:
    async with httpx2.AsyncClient(timeout=120) as http:
        bob = Raw(table, "bob", http)
        await bob.open_session()
        body = bob._body("tools/call", {"name": "wait_for_turn", "arguments": {"wait_ms": 30_000}})
        async with http.stream("POST", bob.url, json=body, headers=bob.headers) as reply:
            await table.until(lambda room: room.history._waiters)
            await lose(table, "bob")
            told = b"".join([chunk async for chunk in reply.aiter_raw()])
    assert b"UNAUTHORIZED" in told
    assert b"your_turn" not in told


async def test_a_call_that_waits_without_a_session_ends(table: Table, lose: Lose) -> None:
    async with table.client("bob") as client:
        await client.list_tools()
        waiting = asyncio.create_task(client.call_tool("recv_messages", {"wait_ms": 30_000}))
        await table.until(lambda room: room.history._waiters)
        await lose(table, "bob")
        assert (await waiting).structured_content["error"]["code"] == "UNAUTHORIZED"


async def test_a_listener_in_a_room_gets_the_end_of_its_stream(table: Table, lose: Lose) -> None:
    async with table.client("bob") as client, client.listen(resource_subscriptions=[VIEW]) as sub:
        await lose(table, "bob")
        assert [event async for event in sub] == []
    await table.until(lambda room: not len(room.fanout))


async def test_a_listener_who_was_acknowledged_nothing_gets_the_end_of_its_stream(table: Table, lose: Lose) -> None:
    async with table.client("bob") as client, client.listen(resource_subscriptions=["cohabit://nim/audit"]) as sub:
        assert not sub.honored.resource_subscriptions
        await lose(table, "bob")
        assert [event async for event in sub] == []


async def test_a_task_is_cancelled(table: Table, lose: Lose) -> None:
    async with httpx2.AsyncClient(timeout=120) as http:
        bob = Raw(table, "bob", http)
        async with bob.modern("tools/call", "wait_for_turn", name="wait_for_turn", arguments={}) as reply:
            assert b'"resultType":"task"' in await reply.aread()
        await table.until(lambda room: room.history._waiters)
        assert len(tasks_of_mcp()) == 1
        await lose(table, "bob")
        await table.until(lambda room: not tasks_of_mcp())


async def test_a_session_of_the_holder_of_an_invite_ends_when_the_invite_is_revoked(table: Table) -> None:
    await table.invite("zoe")
    (invite,) = (await table.act("hal", "invites", {})).invites
    async with httpx2.AsyncClient(timeout=120) as http:
        zoe = Raw(table, "zoe", http)
        await zoe.open_session()
        async with http.stream("GET", zoe.url, headers=zoe.headers) as stream:
            assert stream.status_code == 200
            await table.act("hal", "revoke_invite", {"invite": invite.invite})
            async for _ in stream.aiter_raw():  # hangs, if the stream does not end
                pass
        assert (await zoe.post({"jsonrpc": "2.0", "id": 2, "method": "ping"})).status_code == 401


async def test_a_session_outlives_the_expiry_of_an_invite_that_was_accepted_in_it(table: Table) -> None:
    await table.invite("zoe", expires_in_s=5)
    async with httpx2.AsyncClient(timeout=120) as http:
        zoe = Raw(table, "zoe", http)
        await zoe.open_session()
        await zoe.post(zoe._body("tools/call", {"name": "join", "arguments": {"keep_token": True}}))
        await expire(table, "zoe")
        assert (await zoe.post({"jsonrpc": "2.0", "id": 2, "method": "ping"})).status_code == 200


async def test_a_caller_who_replaces_its_own_token_gets_the_new_one(table: Table, era: str) -> None:
    async with table.client("ann", era) as client:
        await client.list_tools()  # else the client would do that after the call, with the old token
        replaced = await client.call_tool("rotate_token")
        token = replaced.structured_content["token"]
    assert table.house.identify(token).identity
    with pytest.raises(Unauthorized):
        table.house.identify(table.tokens["ann"])
