"""The shorter way of WebSocket messages: however the bytes come, what is said and in which order stays the same."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn
from hypothesis import given
from hypothesis import strategies as st
from uvicorn.server import ServerState
from websockets.client import ClientProtocol
from websockets.frames import Close, Frame, Opcode
from websockets.protocol import State
from websockets.uri import parse_uri

from cohabit.faces.direct import EXTENSION, DirectProtocol
from cohabit.faces.serve import serve

from .serving import Served, served


class Wire:
    """A client that decides itself which bytes go out when."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, url: str) -> None:
        self._reader, self._writer = reader, writer
        self.conn = ClientProtocol(parse_uri(url))
        self._frames: list[Frame] = []

    async def connect(self, token: str) -> None:
        request = self.conn.connect()
        request.headers["Authorization"] = f"Bearer {token}"
        self.conn.send_request(request)
        self._writer.write(b"".join(self.conn.data_to_send()))
        while self.conn.state is State.CONNECTING:
            await self._read()

    async def _read(self) -> None:
        data = await self._reader.read(65536)
        if data:
            self.conn.receive_data(data)
        else:
            self.conn.receive_eof()
        self._frames += [event for event in self.conn.events_received() if isinstance(event, Frame)]

    async def write(self, data: bytes, at_once: int = 1_000_000) -> None:
        """In pieces of so many bytes, each by itself."""
        for start in range(0, len(data), at_once):
            self._writer.write(data[start : start + at_once])
            await a_moment()

    async def frame(self) -> Frame:
        while not self._frames:
            await asyncio.wait_for(self._read(), 120)
        return self._frames.pop(0)

    async def answer(self) -> dict[str, Any]:
        frame = await self.frame()
        assert frame.opcode is Opcode.TEXT, frame
        answer: dict[str, Any] = json.loads(bytes(frame.data))
        return answer

    async def hung_up(self) -> int:
        """The code with which the house ended it."""
        while (frame := await self.frame()).opcode is not Opcode.CLOSE:
            pass
        return Close.parse(frame.data).code


@asynccontextmanager
async def wired(den: Served, who: str = "ann") -> AsyncIterator[Wire]:
    host, port = den.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        wire = Wire(reader, writer, den.ws)
        await wire.connect(den.tokens[who])
        yield wire
    finally:
        writer.close()


@pytest.fixture
async def den() -> AsyncIterator[Served]:
    async with served() as house:
        yield house


async def a_moment() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def text(frame: Any, fin: bool = True, opcode: Opcode = Opcode.TEXT, mask: bool = True) -> bytes:
    body = frame if isinstance(frame, bytes) else json.dumps(frame).encode()
    return Frame(opcode, body, fin).serialize(mask=mask)


def call(number: int, command: str = "hide", **args: Any) -> dict[str, Any]:
    return {"id": number, "command": command, "args": args or ({"n": number} if command == "hide" else {})}


@pytest.mark.parametrize("at_once", [1, 2, 3, 7, 64, 1_000_000])
async def test_calls_are_answered_in_order_however_their_bytes_are_cut(den: Served, at_once: int) -> None:
    asked = [
        call(1), call(2, "whoami"), call(3, "rooms"), call(4),  # "rooms" is awaited: what follows must not overtake it
        call(5, "send_message", to="bob", content="x" * 300), call(6, "rooms"), call(7), call(8, "whoami"),
    ]  # fmt: skip
    async with wired(den) as me:
        await me.write(b"".join(text(frame) for frame in asked), at_once)
        answers = [await me.answer() for _ in asked]
    assert [answer["ok"] for answer in answers] == [True] * len(asked)
    recorded = [
        line.entry.args.get("n", "said") for line in den.house.rooms["den"].history.recent if line.entry.by == "ann"
    ]
    assert recorded == [1, 4, "said", 7]


async def test_a_message_the_direct_path_declines_is_not_overtaken_by_later_messages() -> None:
    got: list[str] = []
    free = asyncio.Event()

    def take(raw: bytes) -> bool:
        if raw != b"slow":
            got.append(raw.decode())
        return raw != b"slow"

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        scope["extensions"][EXTENSION]["protocol"].take = take
        while (message := await receive())["type"] == "websocket.receive":
            got.append(f"({message['text']})")
            await free.wait()

    protocol = DirectProtocol(uvicorn.Config(app, log_config=None), ServerState(), {})
    protocol.connection_made(Kept(bytearray()))
    asking = ClientProtocol(parse_uri("ws://there/ws"))
    asking.send_request(asking.connect())
    for data in (b"".join(asking.data_to_send()), text(b"a") + text(b"slow"), text(b"b")):
        protocol.data_received(data)
        await a_moment()
    free.set()
    await a_moment()
    protocol.data_received(text(b"slow") + text(b"c"))
    await a_moment()
    protocol.data_received(text(b"d"))
    protocol.connection_lost(None)
    await a_moment()
    assert got == ["a", "(slow)", "(b)", "(slow)", "(c)", "d"]


async def test_a_message_in_parts_is_one_call_and_pings_between_them_are_answered(den: Served) -> None:
    whole = json.dumps(call(9, "whoami")).encode()
    async with wired(den) as me:
        await me.write(text(whole[:5], fin=False))
        await me.write(Frame(Opcode.PING, b"there?").serialize(mask=True))
        await me.write(text(whole[5:9], fin=False, opcode=Opcode.CONT) + text(whole[9:], opcode=Opcode.CONT))
        pong = await me.frame()
        assert (pong.opcode, bytes(pong.data)) == (Opcode.PONG, b"there?")
        assert (await me.answer())["id"] == 9
        await me.write(text(call(10, "whoami")))
        assert (await me.answer())["id"] == 10


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(text(b"{", fin=False) + text(call(1, "whoami")), id="a message inside another"),
        pytest.param(text(call(1, "whoami"), mask=False), id="not masked"),
        pytest.param(text(b"{}", opcode=Opcode.CONT), id="the end of nothing"),
        pytest.param(bytes([0xC1, 0x80]) + bytes(4), id="an extension that was not agreed on"),
        pytest.param(bytes([0x83, 0x80]) + bytes(4), id="an unknown kind"),
    ],
)
async def test_frames_against_the_protocol_end_the_connection_and_nothing_after_them_is_done(
    den: Served, wrong: bytes
) -> None:
    async with wired(den) as me:
        await me.write(wrong + text(call(2)))
        assert await me.hung_up() == 1002
    assert den.house.rooms["den"].room.world.kept["red"] == []


async def test_a_frame_against_the_protocol_before_the_app_has_accepted_is_refused_and_no_error_of_ours() -> None:
    asked, ended = asyncio.Event(), asyncio.Event()
    errors: list[dict[str, Any]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        assert (await receive())["type"] == "websocket.connect"
        asked.set()
        assert (await receive())["type"] == "websocket.disconnect"
        ended.set()
        await send({"type": "websocket.close"})

    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: errors.append(context))
    config = uvicorn.Config(app, log_config=None)
    config.load()
    server = await loop.create_server(lambda: DirectProtocol(config, ServerState(), {}), "127.0.0.1", 0)
    async with server:
        host, port = server.sockets[0].getsockname()
        reader, writer = await asyncio.open_connection(host, port)
        early = ClientProtocol(parse_uri(f"ws://{host}:{port}"))
        early.send_request(early.connect())
        writer.write(b"".join(early.data_to_send()))
        await asked.wait()
        writer.write(text(call(1), mask=False))
        assert (await reader.read()).startswith(b"HTTP/1.1 400 ")
        await ended.wait()
        writer.close()
    assert errors == []


async def test_a_client_that_is_gone_before_it_is_accepted_is_no_error_of_the_app(
    caplog: pytest.LogCaptureFixture,
) -> None:
    ended = asyncio.Event()
    protocols: list[DirectProtocol] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        try:
            while not protocols[0].transport.is_closing():
                await asyncio.sleep(0)
            await send({"type": "websocket.accept"})
        finally:
            ended.set()

    def protocol() -> DirectProtocol:
        protocols.append(DirectProtocol(config, ServerState(), {}))
        return protocols[0]

    config = uvicorn.Config(app, log_config=None)
    config.load()
    server = await asyncio.get_running_loop().create_server(protocol, "127.0.0.1", 0)
    async with server:
        host, port = server.sockets[0].getsockname()
        reader, writer = await asyncio.open_connection(host, port)
        early = ClientProtocol(parse_uri(f"ws://{host}:{port}"))
        early.send_request(early.connect())
        writer.write(b"".join(early.data_to_send()))
        while not protocols or not protocols[0].handshake_initiated:
            await asyncio.sleep(0)
        writer.write(text(call(1), mask=False))
        await asyncio.wait_for(ended.wait(), 60)
        await reader.read()
        await a_moment()
        writer.close()
    assert "ERROR" not in caplog.text


async def test_after_a_goodbye_nothing_more_is_done(den: Served) -> None:
    async with wired(den) as me:
        await me.write(Frame(Opcode.CLOSE, Close(1000, "").serialize()).serialize(mask=True) + text(call(1)))
        assert await me.hung_up() == 1000
    assert den.house.rooms["den"].room.world.kept["red"] == []


async def test_a_frame_that_announces_too_much_is_refused_before_it_has_come() -> None:
    async with served(frame_limit=2_000) as den, wired(den) as me:
        await me.write(text(b"x" * 100_000)[:50])
        assert await me.hung_up() == 1009


async def test_a_frame_of_just_the_limit_is_taken_in_pieces() -> None:
    async with served(frame_limit=2_000) as den, wired(den) as me:
        await me.write(text(json.dumps(call(1, "whoami")).encode().ljust(2_000)), 1_999)
        assert (await me.answer())["id"] == 1


async def test_a_bug_of_ours_ends_the_connection_and_says_whose_it_is(
    den: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: Any) -> None:
        raise RuntimeError("a bug")

    async with wired(den) as me:
        monkeypatch.setattr(den.house.door, "begin", broken)
        await me.write(text(call(1)))
        assert (await me.answer())["error"]["code"] == "INTERNAL"
        assert await me.hung_up() == 4400


async def test_without_the_shorter_way_the_answers_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(serve.__globals__, "DirectProtocol", "websockets-sansio")
    async with served() as den, wired(den) as me:
        for frame in (call(1), call(2, "rooms"), call(3, "whoami")):
            await me.write(text(frame))
            assert (await me.answer())["ok"]


@pytest.mark.parametrize("size", [0, 1, 125, 126, 65_535, 65_536, 100_000])
def test_a_written_message_reads_back_as_one_text_message(size: int) -> None:
    written = bytearray()
    assert writing_to(written).write(b"x" * size)
    assert read_back(written) == [Frame(Opcode.TEXT, b"x" * size)]


@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from([b"", b"one", b"two" * 50])), max_size=20))
def test_each_connection_gets_its_own_messages_in_order_also_if_others_get_the_same_bytes(
    messages: list[tuple[int, bytes]],
) -> None:
    written = [bytearray() for _ in range(3)]
    connections = [writing_to(each) for each in written]
    for to, message in messages:
        assert connections[to].write(message)
    for number, each in enumerate(written):
        assert read_back(each) == [Frame(Opcode.TEXT, message) for to, message in messages if to == number]


def writing_to(written: bytearray) -> DirectProtocol:
    """An open connection."""
    protocol = DirectProtocol.__new__(DirectProtocol)
    protocol.transport = Kept(written)
    protocol.is_full = False
    protocol.conn = ClientProtocol(parse_uri("ws://there"), state=State.OPEN)
    return protocol


def read_back(written: bytearray) -> list[Any]:
    """The messages, as a client reads them."""
    reading = ClientProtocol(parse_uri("ws://there"), state=State.OPEN, max_size=None)
    reading.receive_data(bytes(written))
    return reading.events_received()


class Kept(asyncio.Transport):
    """Keeps what is written."""

    def __init__(self, written: bytearray) -> None:
        super().__init__()
        self._written = written

    def is_closing(self) -> bool:
        return False

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return default

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass

    def close(self) -> None:
        pass

    def write(self, data: Any) -> None:
        self._written += data
