"""Clients that send too much, too slowly or not at all: each is limited, counted and logged, and others are served."""

import asyncio
import json
import logging
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from ipaddress import IPv4Address, IPv6Address
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples
from uvicorn.server import ServerState
from websockets.client import ClientProtocol
from websockets.frames import Opcode
from websockets.uri import parse_uri

from cohabit.faces.addresses import plain_address
from cohabit.faces.connections import RESERVED_FILES, Connections, HttpProtocol, ServerConfig, proxies
from cohabit.faces.direct import EXTENSION, FRAMES_PER_TURN, DirectProtocol
from cohabit.faces.ws import Connection
from cohabit.house.overload import LOG_EVERY_MS, OverloadLog
from cohabit.house.running.calls import Call
from cohabit.house.settings import Settings
from cohabit.testing.clock import FakeClock

from .serving import Served, served
from .test_direct import Kept, a_moment, call, text, wired

GET = b"GET /health HTTP/1.1\r\nHost: localhost\r\n"


class Raw:
    """A TCP connection that sends bytes as they are."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    def send(self, data: bytes) -> None:
        self._writer.write(data)

    async def status(self) -> int:
        """The status of the next answer."""
        head = await asyncio.wait_for(self._reader.readuntil(b"\r\n\r\n"), 120)
        size = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        self.body = await self._reader.readexactly(int(size[0].split(b":")[1]))
        return int(head.split()[1])

    async def ended(self) -> bool:
        """Whether the house closes the connection without another byte."""
        try:
            return not await asyncio.wait_for(self._reader.read(1), 120)
        except ConnectionError:
            return True

    async def until_the_end(self) -> None:
        """Read until the house closes the connection."""
        with suppress(ConnectionError):
            await asyncio.wait_for(self._reader.read(), 120)

    def close(self) -> None:
        self._writer.close()


@asynccontextmanager
async def connected(den: Served, host: str = "") -> AsyncIterator[Raw]:
    """A connection to the address of the house, or to another one of this machine."""
    shown, _, port = den.url.removeprefix("http://").rpartition(":")
    raw = Raw(*await asyncio.open_connection(host or shown.strip("[]"), int(port)))
    try:
        yield raw
    finally:
        raw.close()


async def is_served(den: Served) -> bool:
    """Whether another client gets an answer."""
    async with den.http("bob") as bob:
        return bool((await bob.get("/api/rooms/den/whoami")).json()["ok"])


# -- requests ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("sent", "status", "kind"),
    [
        pytest.param(GET + b"X: " + b"x" * 3_000 + b"\r\n\r\n", 431, "headers", id="a long header"),
        pytest.param(GET + b"X: y\r\n" * 900 + b"\r\n", 431, "headers", id="many headers"),
        pytest.param(GET + b"X: " + b"x" * 3_000, 431, "headers", id="a header without an end"),
        pytest.param(GET + b"X" * 3_000, 431, "headers", id="a name without an end"),
        pytest.param(
            b"GET /" + b"x" * 1_500 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", 414, "url", id="a long address"
        ),
        pytest.param(b"GET /" + b"x" * 1_500, 414, "url", id="an address without an end"),
        pytest.param(b"\x16\x03\x01 hello\r\n\r\n", 400, "malformed", id="not HTTP"),
    ],
)
async def test_a_request_head_has_a_limit(sent: bytes, status: int, kind: str) -> None:
    async with served(header_limit=2_000, url_limit=1_000) as den, connected(den) as raw:
        raw.send(sent)
        assert await raw.status() == status
        assert json.loads(raw.body)["error"]["code"] == ("BAD_ARGS" if status == 400 else "TOO_LARGE")
        assert await raw.ended()
        assert den.house.overload.counts[kind] == 1
        assert await is_served(den)


UPGRADE = (
    b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
)


@pytest.mark.parametrize(
    ("head", "status"),
    [
        pytest.param(b"GET /ws HTTP/1.1\r\nContent-Length: 2\r\n", 400, id="a body"),
        pytest.param(b"POST /api/rooms/den/whoami HTTP/1.1\r\nContent-Length: 2\r\n", 400, id="a call"),
        pytest.param(b"GET /ws HTTP/1.1\r\n" + b"X: y\r\n" * 200, 431, id="many headers"),
        pytest.param(b"GET /ws HTTP/1.1\r\nX: " + b"x" * 9_000 + b"\r\n", 431, id="a long header"),
        pytest.param(b"GET /ws?" + b"x" * 9_000 + b" HTTP/1.1\r\n", 414, id="a long address"),
    ],
)
async def test_an_upgrade_that_cannot_be_made_is_refused_and_its_connection_closed(head: bytes, status: int) -> None:
    async with served() as den, connected(den) as raw:
        raw.send(head + b"Host: localhost\r\n" + UPGRADE + b"\r\n{}")
        assert await raw.status() == status
        assert await raw.ended()
        assert den.house.overload.counts["malformed"] == 1
        assert await is_served(den)


async def test_a_head_that_comes_in_pieces_has_the_same_limit() -> None:
    async with served(header_limit=2_000) as den, connected(den) as raw:
        raw.send(GET)
        for _ in range(4):
            raw.send(b"X: " + b"x" * 600 + b"\r\n")
            await a_moment()
        assert await raw.status() == 431


async def test_headers_after_a_body_are_limited_too() -> None:
    async with served(header_limit=2_000) as den, connected(den) as raw:
        head = b"POST /api/rooms/den/whoami HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
        raw.send(head + f"Authorization: Bearer {den.tokens['ann']}\r\n\r\n2\r\n{{}}\r\n0\r\n".encode())
        await a_moment()
        raw.send(b"X: " + b"x" * 3_000)
        assert await raw.ended()
        assert den.house.overload.counts["headers"] == 1


async def test_a_head_of_just_the_limit_is_served_and_a_body_does_not_count() -> None:
    async with served(header_limit=2_000) as den, den.http("ann") as ann:
        reply = await ann.post("/api/rooms/den/send_message", json={"to": "bob", "content": "x" * 1_900})
        assert reply.json()["ok"]
        async with connected(den) as raw:
            raw.send(GET + b"X: " + b"x" * 1_900 + b"\r\n\r\n")
            assert await raw.status() == 200


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(GET, id="half a head"),
        pytest.param(
            b"POST /api/whoami HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc", id="half a body"
        ),
    ],
)
async def test_a_request_that_is_not_complete_in_time_is_dropped(sent: bytes) -> None:
    async with served(request_timeout_s=20) as den, connected(den) as raw:
        raw.send(sent)
        await a_moment()
        await den.clock.advance(19_000)
        assert den.house.overload.counts["late"] == 0
        await den.clock.advance(2_000)
        await raw.until_the_end()
        assert den.house.overload.counts["late"] == 1


async def test_a_connection_that_is_used_is_not_dropped() -> None:
    async with served(request_timeout_s=20) as den, connected(den) as raw, wired(den) as me:
        for _ in range(5):
            raw.send(GET + b"\r\n")
            assert await raw.status() == 200
            await me.write(text(call(1, "whoami")))
            assert (await me.answer())["ok"]
            await den.clock.advance(15_000)
        assert den.house.overload.counts["late"] == 0


async def test_requests_that_do_not_wait_for_answers_are_limited() -> None:
    async with served() as den, connected(den) as raw:
        raw.send((GET + b"\r\n") * 500)
        await raw.until_the_end()
        assert den.house.overload.counts["pipelined"] == 1
        assert await is_served(den)


@pytest.mark.parametrize("more", [0, 1, 7])
async def test_a_request_whose_client_hangs_up_is_told_so_although_others_wait_for_it(more: int) -> None:
    clock, told, began = FakeClock(), asyncio.Event(), asyncio.Event()

    async def stream(scope: Any, receive: Any, send: Any) -> None:
        assert (await receive())["type"] == "http.request"
        await send({"type": "http.response.start", "status": 200, "headers": []})
        began.set()
        assert (await receive())["type"] == "http.disconnect"
        told.set()

    table = Connections(Settings(), clock, OverloadLog(clock))
    config = ServerConfig(stream, table, interface="asgi3", log_config=None)
    config.load()
    server = await asyncio.get_running_loop().create_server(
        lambda: HttpProtocol(config, ServerState(), {}), "127.0.0.1", 0
    )
    async with server:
        _, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writer.write((GET + b"\r\n") * (1 + more))
        await asyncio.wait_for(began.wait(), 60)
        writer.transport.abort()
        await asyncio.wait_for(told.wait(), 10)
    table.close()


# -- connections ------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("limit", "kind"), [({"connections_per_address": 3}, "address"), ({"connections_limit": 3}, "connections")]
)
async def test_connections_are_limited_and_a_closed_one_makes_room(limit: dict[str, int], kind: str) -> None:
    async with served(**limit) as den, connected(den), connected(den) as second, wired(den):
        async with connected(den) as fourth:
            assert await fourth.status() == 503
            assert json.loads(fourth.body)["error"]["code"] == "BUSY"
            assert await fourth.ended()
        assert den.house.overload.counts[kind] == 1
        second.close()
        await a_moment()
        assert await is_served(den)


@pytest.mark.parametrize(("files", "limit"), [(1_024, 1_024 - RESERVED_FILES), (10**6, 4_000), (64, 1)])
def test_there_are_never_more_connections_than_the_process_may_open_files(
    files: int, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("resource.getrlimit", lambda which: (files, files))
    clock = FakeClock()
    assert Connections(Settings(), clock, OverloadLog(clock)).limit == limit


async def test_a_websocket_that_ends_makes_room() -> None:
    async with served(connections_per_address=1) as den:
        for _ in range(3):
            async with wired(den) as me:
                await me.write(text(call(1, "whoami")))
                assert (await me.answer())["ok"]
            await a_moment()
        assert den.house.overload.counts["address"] == 0


def of_client(*forwarded: str) -> bytes:
    """A request as a proxy passes it on."""
    return GET + b"".join(f"X-Forwarded-For: {each}\r\n".encode() for each in forwarded) + b"\r\n"


PROXIES = "10.9.9.9, 127.0.0.1"


async def test_behind_a_proxy_each_client_is_limited_and_the_proxy_is_not() -> None:
    async with served(connections_per_address=2, proxies=PROXIES) as den, AsyncExitStack() as open_:
        for client in ("10.0.0.1", "10.0.0.2", "10.0.0.1", "10.0.0.2"):
            raw = await open_.enter_async_context(connected(den))
            raw.send(of_client(client))
            assert await raw.status() == 200
        async with connected(den) as fifth:
            fifth.send(of_client("10.0.0.1"))
            assert await fifth.status() == 503
            assert json.loads(fifth.body)["error"]["code"] == "BUSY"
            assert await fifth.ended()
        assert den.house.overload.counts["address"] == 1
        raw.send(of_client("10.0.0.3"))  # the proxy uses a connection of 10.0.0.2 for somebody else
        assert await raw.status() == 200
        sixth = await open_.enter_async_context(connected(den))
        sixth.send(of_client("10.0.0.2"))
        assert await sixth.status() == 200


@pytest.mark.parametrize("forwarded", [["10.0.0.9, 10.0.0.1"], ["10.0.0.9", "10.0.0.1"], ["10.0.0.9,10.0.0.1 "]])
async def test_a_client_behind_a_proxy_cannot_choose_its_address(forwarded: list[str]) -> None:
    limits = {"connections_per_address": 1, "proxies": PROXIES}
    async with served(**limits) as den, connected(den) as first, connected(den) as second:
        first.send(of_client("10.0.0.1"))
        assert await first.status() == 200
        second.send(of_client(*forwarded))
        assert await second.status() == 503


MAPPED_PROXIES = "10.9.9.9, ::ffff:127.0.0.1"


def has_dual_stack() -> bool:
    """Whether a house on ``::`` gets connections over IPv4 here."""
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::", 0))
            return not probe.getsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY)
    except OSError:
        return False


@pytest.mark.skipif(not has_dual_stack(), reason="this machine has no IPv6")
@pytest.mark.parametrize("known", [PROXIES, MAPPED_PROXIES])
async def test_a_house_on_all_interfaces_knows_its_proxy_over_ipv4(known: str) -> None:
    limits = {"connections_per_address": 1, "proxies": known}
    async with served(host="::", **limits) as den, AsyncExitStack() as open_:
        for client, status in (("10.0.0.1", 200), ("10.0.0.2", 200), ("10.0.0.1", 503), ("::ffff:10.0.0.1", 503)):
            raw = await open_.enter_async_context(connected(den, "127.0.0.1"))
            raw.send(of_client(client))
            assert (client, await raw.status()) == (client, status)


@pytest.mark.skipif(not has_dual_stack(), reason="this machine has no IPv6")
async def test_metrics_of_a_house_on_all_interfaces_are_for_this_machine_over_ipv4_too() -> None:
    async with served(host="::") as den, connected(den, "127.0.0.1") as raw:
        raw.send(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert await raw.status() == 200


async def test_a_websocket_through_a_proxy_over_ipv4_is_that_of_its_client() -> None:
    """The peer of a socket for IPv4 and IPv6 is an IPv4 address inside an IPv6 address."""
    clock = FakeClock()
    table = Connections(Settings(proxies=PROXIES), clock, OverloadLog(clock))
    seen = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["client"][0])
        await send({"type": "websocket.close"})

    trusted = {"forwarded_allow_ips": [*table.proxies]}
    config = ServerConfig(app, table, interface="asgi3", log_config=None, **trusted)
    protocol = DirectProtocol(config, ServerState(), {})
    protocol.connection_made(Mapped(bytearray()))
    key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\nUpgrade: websocket\r\n"
    protocol.data_received(b"GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n" + key.encode())
    protocol.data_received(b"x-forwarded-for: 10.0.0.1\r\n\r\n")
    await a_moment()
    assert seen == ["10.0.0.1"]


class Mapped(Kept):
    """A transport of a dual-stack socket whose peer uses IPv4."""

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return ("::ffff:127.0.0.1", 4711) if name == "peername" else default


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_is_the_same_however_it_is_written(given_: IPv4Address) -> None:
    plain = str(given_)
    for written in (plain, f"::ffff:{plain}", f"::FFFF:{plain}", IPv6Address(f"::ffff:{plain}").exploded):
        assert plain_address(written) == plain
        assert proxies(Settings(proxies=f" {written} ,x")) == {plain, "x"}


@given(st.ip_addresses(v=6).filter(lambda found: found.ipv4_mapped is None))
def test_an_ipv6_address_is_the_same_however_it_is_written(given_: IPv6Address) -> None:
    assert plain_address(given_.exploded) == plain_address(str(given_).upper()) == str(given_)


@pytest.mark.parametrize("name", ["", "localhost", "10.0.0.0/8", "10.0.0.1:80", "there"])
def test_what_is_not_an_address_stays_as_it_is(name: str) -> None:
    assert plain_address(name) == name


def test_with_a_public_address_the_proxy_may_be_on_this_machine() -> None:
    assert proxies(Settings()) == frozenset()
    assert {"127.0.0.1", "::1"} <= proxies(Settings(public_url="https://play.example.org"))


async def test_without_a_proxy_a_client_cannot_choose_its_address() -> None:
    async with served(connections_per_address=1) as den, connected(den) as first, connected(den) as second:
        first.send(of_client("10.0.0.1"))
        assert await first.status() == 200
        second.send(of_client("10.0.0.2"))
        assert await second.status() == 503


async def test_a_proxy_that_names_no_client_is_not_limited() -> None:
    limits = {"connections_per_address": 1, "proxies": PROXIES}
    async with served(**limits) as den, connected(den) as first, connected(den) as second:
        for raw in (first, second):
            raw.send(GET + b"\r\n")
            assert await raw.status() == 200
        assert await is_served(den)


class Stuck(Kept):
    """A transport whose client reads only when told to."""

    def __init__(self) -> None:
        super().__init__(bytearray())
        self.size = 0
        self.aborted = False

    def get_write_buffer_size(self) -> int:
        return self.size

    def abort(self) -> None:
        self.aborted = True


async def test_a_connection_whose_client_stops_reading_is_dropped_and_a_slow_one_is_not() -> None:
    clock = FakeClock()
    table = Connections(Settings(write_timeout_s=30), clock, OverloadLog(clock))
    stuck, slow = Stuck(), Stuck()
    for transport in (stuck, slow):
        transport.size = 100_000
        assert table.add(transport, "there")
    for _ in range(40):
        slow.size -= 1
        await clock.advance(1_000)
    assert (stuck.aborted, slow.aborted) == (True, False)


# -- frames -----------------------------------------------------------------------------------------
class Paused(Kept):
    """A transport that knows whether it is read."""

    reading = True

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True


class Receiver:
    """A connection that handles its messages directly, and what it got."""

    def __init__(self, frames_per_second: int = 10**9) -> None:
        self.clock = FakeClock()
        self.log = OverloadLog(self.clock)
        self.got: list[bytes] = []
        self.declined: list[str] = []
        table = Connections(Settings(frames_per_second=frames_per_second), self.clock, self.log)
        self.transport = Paused(bytearray())
        self.protocol = DirectProtocol(
            ServerConfig(self._app, table, interface="asgi3", log_config=None), ServerState(), {}
        )

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        scope["extensions"][EXTENSION]["protocol"].take = self._take
        while (message := await receive())["type"] == "websocket.receive":
            self.declined.append(message["text"])

    def _take(self, raw: bytes) -> bool:
        if raw.startswith(b"?"):
            return False
        self.got.append(raw)
        return True

    async def connect(self) -> None:
        self.protocol.connection_made(self.transport)
        asking = ClientProtocol(parse_uri("ws://there/ws"))
        asking.send_request(asking.connect())
        self.protocol.data_received(b"".join(asking.data_to_send()))
        await a_moment()

    async def at_rest(self) -> None:
        for _ in range(2_000):
            await asyncio.sleep(0)


async def test_a_burst_of_frames_is_handled_in_turns_and_nothing_is_read_meanwhile() -> None:
    one = Receiver()
    await one.connect()
    sent = [b"%d" % n for n in range(1_000)]
    one.protocol.data_received(b"".join(map(text, sent)))
    assert len(one.got) == FRAMES_PER_TURN
    assert not one.transport.reading
    await one.at_rest()
    assert one.got == sent
    assert one.transport.reading


async def test_large_frames_take_turns_by_their_bytes() -> None:
    one = Receiver()
    await one.connect()
    one.protocol.data_received(b"".join(text(b"x" * 40_000) for _ in range(10)))
    assert len(one.got) == 2
    await one.at_rest()
    assert len(one.got) == 10


@given(
    bursts=st.lists(st.lists(st.sampled_from([b"a", b"?", b"b" * 200]), max_size=60), max_size=4),
    cut=st.integers(1, 400),
)
@settings(max_examples=examples(40), deadline=None)
def test_no_frame_is_lost_or_repeated_however_bursts_are_cut(bursts: list[list[bytes]], cut: int) -> None:
    async def play() -> None:
        one = Receiver()
        await one.connect()
        for burst in bursts:
            data = b"".join(map(text, burst))
            for at in range(0, len(data), cut):
                one.protocol.data_received(data[at : at + cut])
            await one.at_rest()
        sent = [frame for burst in bursts for frame in burst]
        assert len(one.got) + len(one.declined) == len(sent)
        assert sorted([*one.got, *(t.encode() for t in one.declined)]) == sorted(sent)
        assert one.transport.reading

    asyncio.run(play())


@pytest.mark.parametrize("frame", [b"1", b"?"], ids=["valid", "declined"])
async def test_frames_beyond_the_rate_wait_for_the_next_second(frame: bytes) -> None:
    one = Receiver(frames_per_second=50)
    await one.connect()
    one.protocol.data_received(text(frame) * 120)
    counts = []
    for _ in range(4):
        await one.at_rest()
        counts.append(len(one.got) + len(one.declined))
        await one.clock.advance(1_000)
    assert counts == [50, 100, 120, 120]
    assert one.log.counts["frames"] == 2


async def test_single_frames_beyond_the_rate_wait_too() -> None:
    one = Receiver(frames_per_second=50)
    await one.connect()
    for _ in range(70):
        one.protocol.data_received(text(b"1"))
    assert len(one.got) == 50
    assert not one.transport.reading
    await one.clock.advance(1_000)
    assert len(one.got) == 70
    assert one.transport.reading


async def test_pings_are_not_answered_while_the_client_does_not_read() -> None:
    one = Receiver()
    await one.connect()
    one.protocol.pause_writing()
    before = len(vars(one.transport)["_written"])
    for _ in range(100):
        one.protocol.data_received(text(b"x" * 100, opcode=Opcode.PING))
    await one.at_rest()
    assert len(vars(one.transport)["_written"]) == before
    assert not one.transport.reading
    one.protocol.resume_writing()
    await one.at_rest()
    assert len(vars(one.transport)["_written"]) == before + 100 * 102
    assert one.transport.reading


async def test_a_connection_that_is_lost_handles_no_more_frames() -> None:
    one = Receiver()
    await one.connect()
    one.protocol.data_received(text(b"1") * 100)
    one.protocol.connection_lost(None)
    await one.at_rest()
    assert len(one.got) == FRAMES_PER_TURN


async def test_another_client_is_served_between_the_turns_of_a_flood() -> None:
    async with served() as den, wired(den, "ann") as ann, wired(den, "bob") as bob:
        await ann.write(b"".join(text(call(n, "whoami")) for n in range(1_500)))
        await bob.write(text(call(1, "whoami")))
        assert (await bob.answer())["ok"]
        assert den.house.door.calls < 1_500


async def test_large_calls_without_a_reply_are_limited_by_their_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served() as den, wired(den) as me:
        waiting: list[Call] = []

        def begin(*args: Any) -> Call:
            made, deliver = Call("ann", "hide"), next(each for each in args if callable(each))
            deliver(made)
            waiting.append(made)
            return made

        monkeypatch.setattr(den.house.door, "begin", begin)
        large = {**call(1), "args": {"text": "x" * 1_000_000}}
        for n in range(5):
            await me.write(text({**large, "id": n}))
        refused = await me.answer()
        assert (refused["id"], refused["error"]["code"]) == (4, "BUSY")
        assert len(waiting) == 4
        waiting[0].settle()
        assert (await me.answer())["id"] == 0
        await me.write(text({**large, "id": 5}))
        while len(waiting) < 5:
            await a_moment()


async def test_a_client_that_does_not_read_its_replies_is_disconnected_before_they_use_much_memory() -> None:
    async with served(outbox_bytes=10_000) as den:
        read: asyncio.Event = asyncio.Event()
        sent: list[dict[str, Any]] = []

        async def send(message: Any) -> None:
            await read.wait()
            sent.append(message)

        async def receive() -> Any:
            await asyncio.Event().wait()

        connection = Connection(den.house, receive, send)
        connection.credential = den.house.identify(den.tokens["ann"])
        running = asyncio.ensure_future(connection.run())
        await a_moment()
        for _ in range(100):
            vars(Connection)["_write_reply"](connection, b"x" * 1_000)
        assert sum(map(len, connection._replies)) < 10_000
        read.set()
        await a_moment()
        assert [message["type"] for message in sent] == ["websocket.send", "websocket.send", "websocket.close"]
        assert sent[-1]["code"] == 4408
        assert den.house.overload.counts["reader"] == 1
        running.cancel()


# -- counting ---------------------------------------------------------------------------------------
async def test_failed_logins_are_counted_over_every_interface(caplog: pytest.LogCaptureFixture) -> None:
    async with served() as den, den.http() as nobody:
        assert (await nobody.get("/api/whoami")).status_code == 401
        assert (await nobody.get("/api/whoami", headers={"authorization": "Bearer guess"})).status_code == 401
        async with wired(den) as me:
            await me.write(text(call(1, "whoami")))
        den.tokens["stranger"] = "guess"
        async with wired(den, "stranger") as me:
            assert await me.hung_up() == 4401
        assert den.house.overload.counts["login"] == 3
    said = [r.getMessage() for r in caplog.records if "login failed" in r.getMessage()]
    assert len(said) == 1
    assert "guess" not in said[0]


async def test_each_kind_is_logged_at_once_and_then_with_the_number_of_repetitions(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING, "cohabit")
    clock = FakeClock()
    log = OverloadLog(clock)
    for _ in range(5):
        log.add("address", "10.0.0.1")
    log.add("login")
    await clock.advance(LOG_EVERY_MS)
    log.add("address", "10.0.0.2")
    said = [r.getMessage() for r in caplog.records]
    repeated = "; 5 times since the last line"
    assert said == [
        "a connection was refused: its address has too many (connections_per_address) [10.0.0.1]",
        "a login failed: the token is missing, unknown, revoked or expired",
        "a connection was refused: its address has too many (connections_per_address) [10.0.0.2]" + repeated,
    ]
    assert (log.counts["address"], log.counts["login"]) == (6, 1)
