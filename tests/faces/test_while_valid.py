"""What a house of a cluster sends while its lease has ended: nothing, on no interface, whatever was ready before."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.types import Message, Receive, Scope, Send
from websockets.asyncio.client import connect as ws_connect
from websockets.exceptions import ConnectionClosed

from cohabit.faces.while_valid import HttpWhileValid
from cohabit.house.house import House
from cohabit.house.store.validity import Validity
from cohabit.scenario import parse_scenario
from cohabit.testing.clock import FakeClock

from .serving import MEMBERS, WORLDS, Served, listening

VERSION = "2025-06-18"
"""Of MCP."""


class Lease(Validity):
    """One that a test ends."""

    def __init__(self) -> None:
        self.time = 0.0
        super().__init__(["lease"], lambda: self.time)
        self.extend("lease", 1000)

    def lapse(self) -> None:
        """As after a pause: no timer has run yet."""
        self.time = self.until


@asynccontextmanager
async def leased(mcp: bool = False) -> AsyncIterator[tuple[Served, Lease]]:
    async with House.open(clock=FakeClock()) as house:
        house.validity = lease = Lease()
        scenario = parse_scenario(json.dumps({"world": f"{WORLDS}:Secrets", "agents": MEMBERS}))
        _, tokens = await house.create_room(scenario, "den")
        async with listening(house, mcp=mcp) as url:
            yield Served(house, FakeClock(), url, tokens), lease
        lease.close()


async def waiting_calls(house: House, count: int = 1) -> None:
    """Until so many calls wait for something to happen."""
    while sum(house.door._waits.values()) < count:
        await asyncio.sleep(0)


async def test_requests_are_refused_and_say_when_to_try_again_and_health_is_answered() -> None:
    async with leased() as (it, lease), it.http("ann") as http:
        assert (await http.get("/api/rooms/den/whoami")).status_code == 200
        assert (await http.get("/ready")).json() == {"ready": True, "reasons": []}
        lease.lapse()
        for path in ("/api/rooms/den/whoami", "/api/rooms", "/", "/openapi.json"):
            refused = await http.get(path)
            assert (refused.status_code, refused.json()["error"]["code"]) == (503, "BUSY")
            assert refused.json()["error"]["retry_after_s"] == 1
        assert (await http.get("/health")).json()["ok"] is True
        not_ready = await http.get("/ready")
        assert not_ready.status_code == 503
        assert any("its lease has ended" in reason for reason in not_ready.json()["reasons"])
        lease.extend("lease", lease.time + 1)
        assert (await http.get("/api/rooms/den/whoami")).status_code == 200


async def test_a_reply_that_was_under_way_when_the_lease_ended_is_not_sent() -> None:
    async with leased() as (it, lease), it.http("ann") as http:
        asked = asyncio.ensure_future(http.get("/api/rooms/den/events?wait_ms=30000"))
        await waiting_calls(it.house)
        lease.lapse()
        await it.act("hostess", "say", {"text": "a secret of the room"})
        answer = await asked
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "BUSY")
        assert "secret" not in answer.text


async def test_a_call_that_was_under_way_when_the_lease_ended_may_have_been_executed() -> None:
    async with leased() as (it, lease), it.http("ann") as http:
        asked = asyncio.ensure_future(http.post("/api/rooms/den/events", json={"wait_ms": 30_000}))
        await waiting_calls(it.house)
        lease.lapse()
        await it.act("hostess", "say", {"text": "a secret of the room"})
        answer = await asked
        assert (answer.status_code, answer.json()["error"]["code"]) == (504, "OUTCOME_UNKNOWN")
        assert "secret" not in answer.text


async def test_a_websocket_is_closed_instead_of_sending_replies_and_pushes() -> None:
    async with leased() as (it, lease):
        bearer = {"authorization": f"Bearer {it.tokens['ann']}"}
        async with (
            ws_connect(it.ws, additional_headers=bearer) as watching,
            ws_connect(it.ws, additional_headers=bearer) as calling,
        ):
            await watching.send(json.dumps({"id": 1, "command": "subscribe", "args": {"views": False}}))
            assert json.loads(await watching.recv())["ok"]
            await calling.send(json.dumps({"id": 2, "command": "events", "args": {"wait_ms": 30000}}))
            await waiting_calls(it.house)
            lease.lapse()
            await it.act("hostess", "say", {"text": "a secret of the room"})
            for connection in (watching, calling):
                with pytest.raises(ConnectionClosed) as closed:
                    await connection.recv()
                assert closed.value.rcvd is not None
                assert closed.value.rcvd.code == 1012


async def test_a_websocket_on_which_nothing_is_said_is_closed_when_the_end_is_noticed() -> None:
    async with leased() as (it, lease):
        lease.on_end.append(it.house._end_subscriptions)
        bearer = {"authorization": f"Bearer {it.tokens['ann']}"}
        async with ws_connect(it.ws, additional_headers=bearer) as watching:
            await watching.send(json.dumps({"id": 1, "command": "subscribe", "args": {"views": False}}))
            assert json.loads(await watching.recv())["ok"]
            lease.lapse()
            lease._watch()
            with pytest.raises(ConnectionClosed) as closed:
                await watching.recv()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1012


async def test_a_response_that_has_begun_is_cut_off() -> None:
    lease, sent = Lease(), list[Message]()

    async def streams(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"old", "more_body": True})
        lease.lapse()
        await send({"type": "http.response.body", "body": b"new", "more_body": True})
        raise AssertionError("a stream ends here")

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Any:
        raise AssertionError("nothing is read")

    await HttpWhileValid(streams, lease)({"type": "http", "path": "/mcp"}, receive, send)
    assert [message.get("body") for message in sent] == [None, b"old"]
    lease.close()


async def test_streams_of_mcp_are_cut_off_without_a_traceback(caplog: pytest.LogCaptureFixture) -> None:
    async with leased(mcp=True) as (it, lease), it.http("ann") as http:
        headers = {"accept": "application/json, text/event-stream", "mcp-protocol-version": VERSION}
        opening = {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        opened = await http.post("/mcp/den", json=rpc("initialize", opening), headers=headers)
        headers["mcp-session-id"] = opened.headers["mcp-session-id"]
        waiting = rpc("tools/call", {"name": "events", "arguments": {"wait_ms": 30_000}})
        async with http.stream("POST", "/mcp/den", json=waiting, headers=headers) as stream:
            await waiting_calls(it.house)
            lease.lapse()
            await it.act("hostess", "say", {"text": "a secret of the room"})
            read = b""
            with pytest.raises(httpx2.RemoteProtocolError, match="without sending complete"):
                async for part in stream.aiter_bytes():
                    read += part
        assert b"secret" not in read
    assert [record for record in caplog.records if record.exc_info] == []


def rpc(method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def test_a_house_alone_has_nothing_of_this(tmp_path: Path) -> None:
    from cohabit.faces.direct import DirectProtocol
    from cohabit.faces.while_valid import while_valid, ws_protocol

    class Alone:
        validity = None

    def app() -> None: ...

    assert while_valid(app, Alone()) is app  # type: ignore[arg-type]
    assert ws_protocol(Alone()) is DirectProtocol  # type: ignore[arg-type]
