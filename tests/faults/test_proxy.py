"""The proxy does what the faults say."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial

import pytest

from .proxy import Proxy


@asynccontextmanager
async def echoing() -> AsyncIterator[Proxy]:
    """A proxy before a server that sends back each line."""

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionResetError):
            while line := await reader.readline():
                writer.write(line)
        writer.close()

    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    proxy = Proxy(partial(asyncio.open_connection, "127.0.0.1", server.sockets[0].getsockname()[1]))
    await proxy.start()
    try:
        yield proxy
    finally:
        await proxy.close()
        server.close()


class Line:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def says(self, text: bytes) -> bytes:
        self.writer.write(text + b"\n")
        return (await self.reader.readline()).strip()


async def connected(proxy: Proxy) -> Line:
    return Line(*await asyncio.open_connection("127.0.0.1", proxy.port))


async def test_bytes_that_are_stalled_go_on_when_it_is_over() -> None:
    async with echoing() as proxy:
        line = await connected(proxy)
        assert await line.says(b"one") == b"one"
        proxy.set("stall")
        waiting = asyncio.ensure_future(line.says(b"two"))
        done, _ = await asyncio.wait([waiting], timeout=0.05)
        assert not done
        proxy.set()
        assert await waiting == b"two"
        line.writer.close()


async def test_a_connection_that_has_lost_bytes_seems_open_and_is_reset_when_it_is_over() -> None:
    async with echoing() as proxy:
        line, quiet = await connected(proxy), await connected(proxy)
        assert await quiet.says(b"one") == b"one"
        proxy.set("swallow")
        waiting = asyncio.ensure_future(line.says(b"two"))
        done, _ = await asyncio.wait([waiting], timeout=0.05)
        assert not done
        proxy.set()
        with pytest.raises(ConnectionResetError):
            await waiting
        assert await quiet.says(b"three") == b"three", "nothing of this one was lost"
        again = await connected(proxy)
        assert await again.says(b"four") == b"four"
        for each in (quiet, again):
            each.writer.close()


async def test_connections_are_reset_and_refused_until_it_is_over() -> None:
    async with echoing() as proxy:
        line = await connected(proxy)
        assert await line.says(b"one") == b"one"
        proxy.set("refuse")
        with pytest.raises(ConnectionResetError):
            await line.says(b"two")
        with pytest.raises(ConnectionResetError):
            await (await connected(proxy)).says(b"three")
        proxy.set()
        again = await connected(proxy)
        assert await again.says(b"four") == b"four"
        again.writer.close()
