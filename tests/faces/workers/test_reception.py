"""One house connects to a node of another: only with the key, and nobody else can keep it from that."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from cohabit.faces.workers import handshake, reception
from cohabit.faces.workers.dialing import Dialer, OtherKey, read_exactly
from cohabit.faces.workers.reception import MAX_UNKNOWN, Reception, Take

KEY = "a secret of sixteen"


class Door:
    """A listener with the node `w1`, which sends back what it gets."""

    def __init__(self) -> None:
        self.taken = 0
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
        self.listener.setblocking(False)
        self._tasks: set[asyncio.Task[None]] = set()

    def address(self, node: str = "attic/w1") -> str:
        return f"tcp://127.0.0.1:{self.listener.getsockname()[1]}/{node}"

    async def taker(self, node: str) -> Take | None:
        return self._take if node == "w1" else None

    def _take(self, connection: socket.socket) -> None:
        self.taken += 1
        task = asyncio.ensure_future(_echo(connection))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def connect(self) -> socket.socket:
        """A connection of somebody who says nothing."""
        made = socket.socket()
        made.setblocking(False)
        await asyncio.get_running_loop().sock_connect(made, self.listener.getsockname())
        return made


async def _echo(connection: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    with connection:
        while data := await loop.sock_recv(connection, 1000):
            await loop.sock_sendall(connection, data)


@asynccontextmanager
async def door() -> AsyncIterator[Door]:
    made = Door()
    serving = asyncio.ensure_future(Reception(KEY, "attic", made.taker).serve(made.listener))
    try:
        yield made
    finally:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
        made.listener.close()


async def ask(connection: socket.socket, text: bytes) -> bytes:
    await asyncio.get_running_loop().sock_sendall(connection, text)
    return await read_exactly(connection, len(text))


async def until_closed(connection: socket.socket) -> bytes:
    """What comes until the other side closes."""
    loop, read = asyncio.get_running_loop(), b""
    with connection:
        while True:
            try:
                data = await loop.sock_recv(connection, 1000)
            except ConnectionResetError:
                return read
            if not data:
                return read
            read += data


async def test_a_house_with_the_key_reaches_the_node_that_it_names() -> None:
    async with door() as made:
        with await Dialer(KEY).socket_to(made.address()) as connection:
            assert await ask(connection, b"hello") == b"hello"


@pytest.mark.parametrize("node", ["attic/w2", "cellar/w1", "w1", "attic/../w1", ""])
async def test_a_node_that_is_not_here_is_refused_at_once(node: str) -> None:
    async with door() as made:
        with pytest.raises(ConnectionRefusedError):
            await Dialer(KEY).socket_to(made.address(node))
        assert made.taken == 0


async def test_a_house_with_another_key_is_refused_gets_no_proof_and_is_not_told_why() -> None:
    async with door() as made:
        connection = await made.connect()
        hello = await read_exactly(connection, handshake.HELLO_BYTES)
        await asyncio.get_running_loop().sock_sendall(
            connection, handshake.request("another secret!!", hello, "attic/w1")
        )
        assert await until_closed(connection) == b""
        with pytest.raises(OtherKey):
            await Dialer("another secret!!").socket_to(made.address())
        assert made.taken == 0


async def test_a_recorded_handshake_is_worth_nothing() -> None:
    async with door() as made:
        first = await made.connect()
        hello = await read_exactly(first, handshake.HELLO_BYTES)
        recorded = handshake.request(KEY, hello, "attic/w1")
        await asyncio.get_running_loop().sock_sendall(first, recorded)
        assert len(await read_exactly(first, handshake.ANSWER_BYTES)) == handshake.ANSWER_BYTES
        first.close()
        again = await made.connect()
        await asyncio.get_running_loop().sock_sendall(again, recorded)
        assert len(await until_closed(again)) == handshake.HELLO_BYTES, "a greeting, and no answer"
        assert made.taken == 1


async def test_a_request_for_one_node_cannot_be_changed_to_another_one() -> None:
    async with door() as made:
        connection = await made.connect()
        hello = await read_exactly(connection, handshake.HELLO_BYTES)
        changed = handshake.request(KEY, hello, "attic/w2").replace(b"w2", b"w1")
        await asyncio.get_running_loop().sock_sendall(connection, changed)
        assert await until_closed(connection) == b""
        assert made.taken == 0


async def test_nothing_is_sent_to_a_listener_that_does_not_have_the_key() -> None:
    """Such as another program that has taken the port of a house that has ended."""
    loop, heard = asyncio.get_running_loop(), bytearray()

    async def pretend(listener: socket.socket) -> None:
        connection, _ = await loop.sock_accept(listener)
        hello = handshake.hello()
        await loop.sock_sendall(connection, hello)
        length = await read_exactly(connection, 1)
        request = length + await read_exactly(connection, handshake.request_bytes(length[0]))
        await loop.sock_sendall(connection, handshake.answer("not the secret!!", hello, request, is_here=True))
        heard.extend(await until_closed(connection))

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        pretending = asyncio.ensure_future(pretend(listener))
        with pytest.raises(OtherKey, match="does not have the key"):
            await Dialer(KEY).socket_to(f"tcp://127.0.0.1:{listener.getsockname()[1]}/attic/w1")
        await pretending
        assert not heard


async def test_somebody_who_is_slow_is_closed_and_so_is_somebody_who_sends_too_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reception, "HANDSHAKE_S", 0.05)
    async with door() as made:
        assert len(await until_closed(await made.connect())) == handshake.HELLO_BYTES
        loud = await made.connect()
        junk = asyncio.ensure_future(asyncio.get_running_loop().sock_sendall(loud, b"\xff" * 10_000_000))
        assert len(await until_closed(loud)) == handshake.HELLO_BYTES
        with pytest.raises(OSError):  # noqa: PT011  # the connection is closed, as one error or another
            await junk
        assert made.taken == 0


async def test_any_number_of_silent_connections_does_not_keep_a_house_out() -> None:
    async with door() as made:
        silent = [await made.connect() for _ in range(MAX_UNKNOWN + 5)]
        with await Dialer(KEY).socket_to(made.address()) as connection:
            assert await ask(connection, b"hello") == b"hello"
        for oldest in silent[:5]:
            assert len(await until_closed(oldest)) <= handshake.HELLO_BYTES
        for rest in silent[5:]:
            rest.close()


async def test_connections_to_a_house_that_is_gone_end_although_it_has_not_closed_them() -> None:
    async with door() as made:
        dialer = Dialer(KEY)
        with await dialer.socket_to(made.address()) as connection:
            dialer.drop(made.address("attic/w2"))
            assert await ask(connection, b"hello") == b"hello", "another node is gone"
            dialer.drop(made.address())
            assert await asyncio.get_running_loop().sock_recv(connection, 1) == b""
