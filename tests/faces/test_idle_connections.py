"""Connections that wait: they keep little, and what they are sent is the same."""

import asyncio
import json
from collections.abc import Coroutine
from typing import Any

from websockets.asyncio.client import connect as ws_connect
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.protocol import State
from websockets.uri import parse_uri

from cohabit.errors import Unauthorized
from cohabit.faces import ws as face
from cohabit.faces.direct import DirectProtocol, Queue, Writable

from .serving import served


class Kept(asyncio.Transport):
    """Keeps what is written, call by call."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[bytes] = []

    def is_closing(self) -> bool:
        return False

    def write(self, data: Any) -> None:
        self.writes.append(bytes(data))

    def messages(self) -> list[bytes]:
        """What a client reads."""
        reading = ClientProtocol(parse_uri("ws://there"), state=State.OPEN)
        reading.receive_data(b"".join(self.writes))
        found = reading.events_received()
        assert all(isinstance(frame, Frame) and frame.opcode is Opcode.TEXT for frame in found)
        return [bytes(frame.data) for frame in found if isinstance(frame, Frame)]


def connection() -> tuple[DirectProtocol, Kept]:
    """An open connection, and where it writes to."""
    protocol, transport = DirectProtocol.__new__(DirectProtocol), Kept()
    protocol.transport, protocol.loop = transport, asyncio.get_running_loop()
    protocol.conn = ClientProtocol(parse_uri("ws://there"), state=State.OPEN)
    protocol.conn.side = type(protocol.conn.side).SERVER  # as a server it does not mask
    protocol.is_full = protocol.disconnected = protocol.close_sent = False
    protocol.handshake_complete, protocol.initial_response, protocol.writable = True, None, Writable()
    return protocol, transport


# -- an event and the reply that follows it ---------------------------------------------------------------
async def test_an_event_and_the_reply_after_it_are_written_together_and_in_order() -> None:
    protocol, transport = connection()
    assert protocol.write_with_next(b"event")
    assert transport.writes == []
    assert protocol.write(b"reply")
    await asyncio.sleep(0)
    assert (len(transport.writes), transport.messages()) == (1, [b"event", b"reply"])


async def test_an_event_that_no_reply_follows_is_written_before_the_loop_goes_on() -> None:
    protocol, transport = connection()
    assert protocol.write_with_next(b"event")
    await asyncio.sleep(0)
    assert transport.messages() == [b"event"]


async def test_events_are_never_held_back_by_each_other_nor_overtaken_by_what_is_sent_otherwise() -> None:
    protocol, transport = connection()
    assert protocol.write_with_next(b"one")
    assert protocol.write_with_next(b"two")
    assert protocol.write_with_next(b"three")
    await protocol.send({"type": "websocket.send", "text": "four"})
    assert protocol.write(b"five")
    assert transport.messages() == [b"one", b"two", b"three", b"four", b"five"]


async def test_an_event_for_a_client_that_does_not_read_is_not_taken() -> None:
    protocol, transport = connection()
    protocol.is_full = True
    assert not protocol.write_with_next(b"event")
    assert transport.writes == []


async def test_what_was_delivered_before_a_connection_has_to_end_is_written_before_that_is_told_to_anybody() -> None:
    protocol, transport = connection()
    ending = face.Connection.__new__(face.Connection)
    ending._direct, ending.ending, ending._caught_up, ending._writing = protocol, None, None, True
    assert protocol.write_with_next(b"event")
    ending.end(Unauthorized("revoked"))
    assert transport.messages() == [b"event"]


# -- what a connection keeps ------------------------------------------------------------------------------
def of_the_face() -> list[Coroutine[Any, Any, Any]]:
    """The tasks that WebSockets have started themselves."""
    found: list[Any] = [task.get_coro() for task in asyncio.all_tasks()]
    return [made for made in found if made.cr_code.co_filename == face.__file__]


async def test_a_subscribed_connection_has_no_tasks_while_it_waits_and_is_still_told_everything() -> None:
    async with (
        served() as den,
        ws_connect(den.ws, additional_headers={"authorization": f"Bearer {den.tokens['bob']}"}) as bob,
    ):
        await bob.send(json.dumps({"id": 1, "command": "subscribe", "args": {"views": False}}))
        while json.loads(await bob.recv()).get("id") != 1:
            pass
        await bob.send(json.dumps({"id": 2, "command": "whoami"}))
        while json.loads(await bob.recv()).get("id") != 2:
            pass
        assert of_the_face() == []
        await den.act("ann", "send_message", {"to": "bob", "content": "still there?"})
        assert "still there?" in str(await asyncio.wait_for(bob.recv(), 120))
        await den.act("hostess", "revoke_token", {"member": "bob"})
        while "error" not in (last := json.loads(await asyncio.wait_for(bob.recv(), 120))):
            assert last["push"] == "events"
        assert last["error"]["code"] == "UNAUTHORIZED"


async def test_messages_leave_the_queue_of_a_connection_in_order_also_after_a_read_was_cancelled() -> None:
    queue = Queue()
    reading = asyncio.ensure_future(queue.get())
    await asyncio.sleep(0)
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)
    again = asyncio.ensure_future(queue.get())
    await asyncio.sleep(0)
    for message in ("one", "two"):
        queue.put_nowait(message)
    assert [await again, await queue.get()] == ["one", "two"]
    assert queue.empty()
