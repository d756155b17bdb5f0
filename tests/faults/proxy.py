"""A TCP proxy between two parts of a cluster, which can do to their connections what a network does."""

import asyncio
import socket
import struct
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Literal

Mode = Literal["open", "stall", "swallow", "refuse"]
"""``stall``: bytes wait, and go on when it is over, as TCP repeats what was lost. ``swallow``: bytes are lost, and the
connections with them when it is over; until then both sides believe in them. ``refuse``: connections are reset."""
CHUNK = 65_536
RESET = struct.pack("ii", 1, 0)
Dial = Callable[[], Coroutine[Any, Any, tuple[asyncio.StreamReader, asyncio.StreamWriter]]]


class Proxy:
    """Passes connections on to the address that ``dial`` connects to."""

    def __init__(self, dial: Dial) -> None:
        self._dial = dial
        self._mode: Mode = "open"
        self._flows = asyncio.Event()
        self._flows.set()
        self._delay_s = 0.0
        self._open: dict[asyncio.StreamWriter, asyncio.StreamWriter] = {}  # the ends of each connection
        self._damaged: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0

    async def start(self, port: int = 0) -> None:
        server = await asyncio.start_server(self._accept, "127.0.0.1", port)
        self._server = server
        self.port = server.sockets[0].getsockname()[1]

    def set(self, mode: Mode = "open", delay_s: float = 0.0) -> None:
        """From now on. Without arguments, everything is passed on again."""
        self._mode, self._delay_s = mode, delay_s
        if mode == "stall":
            self._flows.clear()
        else:
            self._flows.set()
        if mode == "refuse":
            self._reset(list(self._open))
        elif mode == "open":
            self._reset([end for end in self._open if end in self._damaged])

    async def close(self) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._mode == "refuse":
            _reset(writer)
            return
        await self._flows.wait()
        try:
            far_reader, far_writer = await self._dial()
        except OSError:
            _reset(writer)
            return
        self._open[writer] = far_writer
        try:
            await asyncio.gather(self._pump(reader, far_writer, writer), self._pump(far_reader, writer, writer))
        except OSError:
            pass
        finally:
            del self._open[writer]
            self._damaged.discard(writer)
            for end in (writer, far_writer):
                end.close()
                with suppress(OSError):
                    await end.wait_closed()

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, name: asyncio.StreamWriter) -> None:
        while chunk := await source.read(CHUNK):
            if self._delay_s:
                await asyncio.sleep(self._delay_s)
            await self._flows.wait()
            if self._mode == "swallow":
                self._damaged.add(name)
            else:
                sink.write(chunk)
                await sink.drain()
        if name not in self._damaged and self._mode != "swallow":  # else nobody learns that it has ended
            await self._flows.wait()
            sink.close()

    def _reset(self, connections: list[asyncio.StreamWriter]) -> None:
        for end in connections:
            _reset(self._open[end])
            _reset(end)


def _reset(end: asyncio.StreamWriter) -> None:
    """Close a connection as one whose machine is gone: without waiting for what was to be sent."""
    with suppress(OSError):
        end.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    end.transport.abort()
