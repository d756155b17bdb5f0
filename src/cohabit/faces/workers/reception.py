"""The listener for other houses: checks who connects, and hands the connection to the node that it is for."""

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable
from typing import Final

from msgspec import structs

from cohabit.faces.serve import listen
from cohabit.faces.workers import handshake
from cohabit.faces.workers.dialing import keep_alive, read_exactly
from cohabit.house.settings import Settings

log = logging.getLogger("cohabit")
MAX_UNKNOWN: Final = 64
"""Connections whose other side has not said who it is. One more closes the oldest: a house needs milliseconds."""
HANDSHAKE_S: Final = 3.0
PAUSE_S: Final = 1.0
"""After a connection could not be accepted, because this process has too many open files."""
WARN_EVERY_S: Final = 60.0
Take = Callable[[socket.socket], None]
"""Gets a connection, and closes it."""
Taker = Callable[[str], Awaitable[Take | None]]
"""Returns the receiver of connections to a node of this house, by its own name; None: there is no such node."""


def listen_for_houses(settings: Settings) -> socket.socket:
    """The listener of ``houses_address``."""
    host, _, port = settings.houses_address.rpartition(":")
    return listen(host.strip("[]"), int(port), "--houses-address")


def with_port(settings: Settings, listener: socket.socket) -> Settings:
    """The settings with the actual port, where 0 was given."""
    host, _, _ = settings.houses_address.rpartition(":")
    return structs.replace(settings, houses_address=f"{host}:{listener.getsockname()[1]}")


class Reception:
    """See the module. ``place``: of this house, which others put before the names of its nodes."""

    def __init__(self, key: str, place: str, taker: Taker) -> None:
        self._key = key
        self._place = place
        self._taker = taker
        self._unknown: dict[asyncio.Task[None], None] = {}  # the oldest first
        self._warned_s = float("-inf")

    async def serve(self, listener: socket.socket) -> None:
        """Until this is cancelled. ``listener`` is not closed here."""
        loop = asyncio.get_running_loop()
        try:
            while True:
                try:
                    connection, _ = await loop.sock_accept(listener)
                except OSError as wrong:
                    log.warning("a connection of another house could not be accepted: %s", wrong)
                    await asyncio.sleep(PAUSE_S)
                    continue
                if len(self._unknown) >= MAX_UNKNOWN:
                    oldest = next(iter(self._unknown))
                    del self._unknown[oldest]
                    oldest.cancel()
                task = loop.create_task(self._receive(connection))
                self._unknown[task] = None
                task.add_done_callback(lambda done: self._unknown.pop(done, None))
        finally:
            for task in list(self._unknown):
                task.cancel()

    async def _receive(self, connection: socket.socket) -> None:
        take = None
        try:
            connection.setblocking(False)
            keep_alive(connection)
            async with asyncio.timeout(HANDSHAKE_S):
                take = await self._recognized(connection)
        except handshake.NotTheKey as wrong:
            self._warn(wrong)
        except (OSError, TimeoutError):  # it is gone, or slow
            pass
        finally:
            if take is not None:
                take(connection)
            else:
                connection.close()

    async def _recognized(self, connection: socket.socket) -> Take | None:
        """The receiver of this connection; its other side knows by then if the node is here."""
        loop, hello = asyncio.get_running_loop(), handshake.hello()
        await loop.sock_sendall(connection, hello)
        length = await read_exactly(connection, 1)
        request = length + await read_exactly(connection, handshake.request_bytes(length[0]))
        place, _, node = handshake.wanted(self._key, hello, request).partition("/")
        take = await self._taker(node) if place == self._place else None
        await loop.sock_sendall(connection, handshake.answer(self._key, hello, request, take is not None))
        return take

    def _warn(self, wrong: handshake.NotTheKey) -> None:
        """Once in a while: anybody who reaches the port can cause it."""
        now_s = asyncio.get_running_loop().time()
        if now_s - self._warned_s >= WARN_EVERY_S:
            self._warned_s = now_s
            log.warning("refused a connection to houses_address: %s", wrong)
