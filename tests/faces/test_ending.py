"""When a house stops, calls that wait get an answer, and nothing is logged as an error."""

import asyncio
import json
import logging
from contextlib import AsyncExitStack, closing

import httpx2
import pytest
from starlette.types import Receive, Scope, Send
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from cohabit.faces import serve
from cohabit.faces.connections import Connections
from cohabit.house.overload import OverloadLog
from cohabit.house.settings import Settings
from cohabit.testing.clock import FakeClock

from .serving import Served, served

WAITS = {"wait_ms": 30_000}
INBOX = "/api/rooms/den/recv_messages"


async def until_waiting(den: Served, count: int) -> None:
    while len(den.house.rooms["den"].history._waiters) < count:
        await asyncio.sleep(0)


async def test_calls_that_wait_are_told_that_the_house_stops_and_nothing_is_logged_as_an_error(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(serve, "GRACE_S", 0.2)
    async with AsyncExitStack() as clients:
        async with served() as den:
            ann, bob = [await clients.enter_async_context(den.http(name)) for name in ("ann", "bob")]
            read = asyncio.create_task(ann.get(INBOX, params=WAITS))
            called = asyncio.create_task(bob.post(INBOX, json=WAITS))
            ws = await clients.enter_async_context(connect(den.ws))
            await ws.send(json.dumps({"auth": den.tokens["hostess"]}))
            await ws.recv()
            await ws.send(json.dumps({"id": 1, "room": "den", "command": "recv_messages", "args": WAITS}))
            await until_waiting(den, 3)
        with pytest.raises(ConnectionClosed):
            await ws.recv()
        answers: list[httpx2.Response] = [await read, await called]
    errors = [answer.json()["error"] for answer in answers]
    assert [one["code"] for one in errors] == ["BUSY", "OUTCOME_UNKNOWN"]
    assert all("this house is stopping" in one["message"] for one in errors)
    assert not [line for line in caplog.records if line.levelno >= logging.ERROR]


async def test_a_response_that_has_begun_is_cut_off_when_the_server_stops(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def stream(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"so far", "more_body": True})
        await asyncio.Event().wait()

    monkeypatch.setattr(serve, "GRACE_S", 0.2)
    clock = FakeClock()
    server = serve.guest_server(stream, Connections(Settings(), clock, OverloadLog(clock)))
    with closing(serve.listen("127.0.0.1", 0)) as listener:
        running = asyncio.create_task(serve.run_server(server, listener))
        reader, writer = await asyncio.open_connection(*listener.getsockname())
        writer.write(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")
        await reader.readuntil(b"so far")
        server.should_exit = True
        await running
    try:
        rest = await reader.read()
    except ConnectionError:
        rest = b""
    assert rest in (b"", b"\r\n")
    writer.close()
    assert not [line for line in caplog.records if line.levelno >= logging.ERROR]
