"""The client's own errors: what it reports if the connection fails before, during or after a call."""

import asyncio
import gc
import json
from typing import Any

import httpx2
import pytest
from websockets.exceptions import ConnectionClosedError
from websockets.frames import Close

from cohabit.client import MAX_UNREAD, HttpClient, Unread, WsClient
from cohabit.errors import Busy, Disabled, Internal, OutcomeUnknown, UnknownRoom, Unreachable

SHUTTING_DOWN = '{"id": null, "ok": false, "error": {"code": "DISABLED", "message": "the house is shutting down"}}'
NO_MEDIA = '{"id": null, "ok": false, "error": {"code": "BAD_ARGS", "message": "subscribe to a room with media first"}}'
CLOSED_BY_THE_HOUSE = ConnectionClosedError(Close(1012, "the house is shutting down"), None)
RESET = ConnectionResetError("reset by peer")
MALFORMED = [
    {},
    {"ok": True},
    {"ok": False},
    {"ok": False, "error": None},
    {"ok": False, "error": "no"},
    {"ok": False, "error": {"code": "BUSY", "message": "wait", "did_you_mean": 5}},
]


class Socket:
    """A connection on which the house sends what it is told to, until ``end``."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.closed: Exception | None = None
        self._incoming: asyncio.Queue[str | Exception] = asyncio.Queue()

    def receive(self, *frames: str) -> None:
        for frame in frames:
            self._incoming.put_nowait(frame)

    def end(self, how: Exception | None = None) -> None:
        """The reader notices after what was received; a call that is sent, at once."""
        self.closed = how or StopAsyncIteration()
        self._incoming.put_nowait(self.closed)

    async def send(self, data: bytes, text: bool) -> None:
        if self.closed is not None:
            raise RESET
        self.sent.append(data)

    async def close(self) -> None:
        if self.closed is None:
            self.end()

    def __aiter__(self) -> "Socket":
        return self

    async def __anext__(self) -> str:
        item = await self._incoming.get()
        if isinstance(item, Exception):
            raise item
        return item


async def until_sent(socket: Socket, call: "asyncio.Task[Any]", calls: int = 1) -> None:
    while len(socket.sent) < calls and not call.done():
        await asyncio.sleep(0)


async def test_a_websocket_that_closes_before_the_answer_leaves_the_outcome_unknown() -> None:
    socket = Socket()
    client = WsClient(socket, "den")
    call = asyncio.create_task(client.call("take", {"n": 1}))
    await until_sent(socket, call)
    socket.end()
    with pytest.raises(OutcomeUnknown, match="may have been executed"):
        await call
    with pytest.raises(Unreachable, match="the house closed the connection"):  # nothing was sent this time
        await client.call("take", {"n": 1})
    assert len(socket.sent) == 1


async def test_a_send_that_fails_leaves_the_outcome_unknown() -> None:
    socket = Socket()
    client = WsClient(socket, "den")
    socket.end(RESET)
    with pytest.raises(OutcomeUnknown, match="the connection was lost: reset by peer"):
        await client.call("take", {"n": 1})
    await client.close()


async def test_a_send_that_fails_is_refused_with_the_reason_that_was_not_read_yet() -> None:
    socket = Socket()
    client = WsClient(socket, "den")
    socket.receive(SHUTTING_DOWN)
    socket.end(CLOSED_BY_THE_HOUSE)
    with pytest.raises(Disabled, match="shutting down"):
        await client.call("take", {"n": 1})
    await client.close()


@pytest.mark.parametrize("closed", [None, CLOSED_BY_THE_HOUSE])
async def test_a_reason_from_the_house_reaches_the_waiting_call(closed: Exception | None) -> None:
    socket = Socket()
    client = WsClient(socket, "den")
    call = asyncio.create_task(client.call("take", {"n": 1}))
    await until_sent(socket, call)
    socket.receive(SHUTTING_DOWN)
    socket.end(closed)
    with pytest.raises(Disabled, match="shutting down"):
        await call


@pytest.mark.parametrize(
    "later",
    ['{"push": "view", "room": "den", "view": {}}', '{"id": 7, "ok": true, "result": null}', b"\x01\x00\x03annla"],
    ids=["push", "reply", "media"],
)
async def test_an_error_that_did_not_end_the_connection_is_not_the_reason_of_its_end(later: Any) -> None:
    socket = Socket()
    client = WsClient(socket, "den")
    call = asyncio.create_task(client.call("take", {"n": 1}))
    await until_sent(socket, call)
    socket.receive(NO_MEDIA, later)
    socket.end(CLOSED_BY_THE_HOUSE)
    with pytest.raises(OutcomeUnknown):
        await call


async def test_an_error_before_a_connection_is_lost_is_not_the_reason_because_the_house_did_not_close_it() -> None:
    socket = Socket()
    client = WsClient(socket, "den")
    call = asyncio.create_task(client.call("take", {"n": 1}))
    await until_sent(socket, call)
    socket.receive(NO_MEDIA)
    socket.end(ConnectionClosedError(None, None))
    with pytest.raises(OutcomeUnknown):
        await call


async def test_a_client_that_is_closed_before_it_has_read_anything_refuses_calls() -> None:
    client = WsClient(Socket(), "den")
    assert not client.ended
    await client.close()
    assert client.ended
    with pytest.raises(Unreachable, match="this client was closed"):
        await client.call("take", {"n": 1})


async def test_a_call_that_waits_when_the_client_is_closed_gets_an_error() -> None:
    socket = Socket()
    client = WsClient(socket, "den")
    call = asyncio.create_task(client.call("take", {"n": 1}))
    await until_sent(socket, call)
    await client.close()
    with pytest.raises(OutcomeUnknown):
        await call


@pytest.mark.parametrize("reply", MALFORMED, ids=json.dumps)
async def test_a_malformed_reply_is_an_error_of_its_call_alone(reply: dict[str, Any]) -> None:
    socket = Socket()
    client = WsClient(socket, "den")
    calls = [asyncio.create_task(client.call("take", {"n": n})) for n in range(2)]
    await until_sent(socket, calls[-1], len(calls))
    socket.receive(json.dumps({"id": 1, **reply}), '{"id": 2, "ok": true, "result": "taken"}')
    assert await calls[1] == "taken"
    socket.end()  # what still waits is answered
    with pytest.raises(Internal, match="malformed reply"):
        await calls[0]
    await client.close()


@pytest.mark.parametrize("reply", [*MALFORMED, []], ids=json.dumps)
async def test_a_malformed_reply_over_http_is_an_error_of_its_call(reply: Any) -> None:
    transport = httpx2.MockTransport(lambda request: httpx2.Response(200, json=reply))
    async with httpx2.AsyncClient(transport=transport, base_url="http://house.example") as http:
        with pytest.raises(Internal, match="malformed reply"):
            await HttpClient(http, "den").call("take", {"n": 1})


async def test_calls_leave_nothing_behind() -> None:
    """Cancelled ones, refused ones, and those that could not be sent."""
    unhandled: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: unhandled.append(context))
    socket = Socket()
    client = WsClient(socket, "den")
    calls = [asyncio.create_task(client.call("take", {"n": n})) for n in range(4)]
    await until_sent(socket, calls[-1], len(calls))
    calls[0].cancel()
    socket.receive('{"id": 2, "ok": false, "error": {"code": "BUSY", "message": "wait"}}')
    await asyncio.wait(calls[:2])
    assert list(client._waiting) == [3, 4]
    socket.end(RESET)
    calls += [asyncio.create_task(client.call("take"))]
    await asyncio.sleep(0)  # the reader has ended all calls
    calls[2].cancel()
    outcomes = [type(outcome) for outcome in await asyncio.gather(*calls, return_exceptions=True)]
    assert outcomes[:3] == [asyncio.CancelledError, Busy, asyncio.CancelledError]
    assert all(issubclass(outcome, OutcomeUnknown | Unreachable) for outcome in outcomes[3:])
    assert not client._waiting
    del calls
    gc.collect()
    assert unhandled == []


async def test_a_subscription_that_is_refused_buffers_no_pushes() -> None:
    socket = Socket()
    client = WsClient(socket, None)
    first = asyncio.create_task(anext(client.subscribe(room="den")))
    await until_sent(socket, first)
    socket.receive('{"id": 1, "ok": false, "error": {"code": "UNKNOWN_ROOM", "message": "no such room"}}')
    with pytest.raises(UnknownRoom):
        await first
    assert not client._pushes
    await client.close()


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (httpx2.ConnectError("refused"), Unreachable),
        (httpx2.ConnectTimeout("slow"), Unreachable),
        (httpx2.ReadTimeout("slow"), OutcomeUnknown),
        (httpx2.WriteTimeout("slow"), OutcomeUnknown),
        (httpx2.ReadError("reset"), OutcomeUnknown),
        (httpx2.RemoteProtocolError("closed"), OutcomeUnknown),
    ],
)
async def test_an_http_failure_is_unreachable_only_if_nothing_was_sent(
    failure: httpx2.HTTPError, expected: type[Exception]
) -> None:
    def fail(request: httpx2.Request) -> httpx2.Response:
        raise failure

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(fail), base_url="http://house.example") as http:
        with pytest.raises(expected, match=r"http://house\.example"):
            await HttpClient(http, "den").call("take", {"n": 1})


async def test_a_reader_that_falls_too_far_behind_is_busy_after_what_was_buffered() -> None:
    unread = Unread()
    for number in range(MAX_UNREAD + 1):
        unread.put({"push": "events", "number": number})
    read = 0
    with pytest.raises(Busy, match="subscribe again from your last cursor"):
        async for _ in unread:
            read += 1
    assert read == MAX_UNREAD
