"""The client's own errors: what it reports if the connection fails before, during or after a call."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from cohabit.client import MAX_UNREAD, HttpClient, Unread, WsClient
from cohabit.errors import Busy, Disabled, OutcomeUnknown, Unreachable

SHUTTING_DOWN = '{"id": null, "ok": false, "error": {"code": "DISABLED", "message": "the house is shutting down"}}'


class Socket:
    """A connection that takes frames and ends when it is told to, without an answer."""

    def __init__(self, *frames: str) -> None:
        self.sent: list[bytes] = []
        self.ends = asyncio.Event()
        self.breaks = False
        self._frames = frames

    async def send(self, data: bytes, text: bool) -> None:
        if self.breaks:
            self.ends.set()
            raise ConnectionResetError("reset by peer")
        self.sent.append(data)

    async def close(self) -> None:
        self.ends.set()

    async def __aiter__(self) -> AsyncIterator[str]:
        await self.ends.wait()
        for frame in self._frames:
            yield frame
        if self.breaks:
            raise ConnectionResetError("reset by peer")


async def until_sent(socket: Socket, call: "asyncio.Task[Any]") -> None:
    while not socket.sent and not call.done():
        await asyncio.sleep(0)


async def test_a_websocket_that_closes_before_the_answer_leaves_the_outcome_unknown() -> None:
    socket = Socket()
    client = WsClient(socket, "den")
    call = asyncio.create_task(client.call("take", {"n": 1}))
    await until_sent(socket, call)
    socket.ends.set()
    with pytest.raises(OutcomeUnknown, match="may have been executed"):
        await call
    with pytest.raises(Unreachable, match="the house closed the connection"):  # nothing was sent this time
        await client.call("take", {"n": 1})
    assert len(socket.sent) == 1


async def test_a_send_that_fails_leaves_the_outcome_unknown() -> None:
    socket = Socket()
    client = WsClient(socket, "den")
    socket.breaks = True
    with pytest.raises(OutcomeUnknown, match="the connection was lost: reset by peer"):
        await client.call("take", {"n": 1})
    await client.close()


async def test_a_send_that_fails_is_refused_with_the_reason_that_was_not_read_yet() -> None:
    socket = Socket(SHUTTING_DOWN)
    client = WsClient(socket, "den")
    socket.breaks = True
    with pytest.raises(Disabled, match="shutting down"):
        await client.call("take", {"n": 1})
    await client.close()


async def test_a_reason_from_the_house_reaches_the_waiting_call() -> None:
    socket = Socket(SHUTTING_DOWN)
    client = WsClient(socket, "den")
    call = asyncio.create_task(client.call("take", {"n": 1}))
    await until_sent(socket, call)
    socket.ends.set()
    with pytest.raises(Disabled, match="shutting down"):
        await call


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
