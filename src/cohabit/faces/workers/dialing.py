"""Connections to other nodes: over a Unix socket to those of this house, over the network to those of other houses."""

import asyncio
import logging
import socket
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit
from weakref import WeakSet

from cohabit.errors import BadArgs
from cohabit.faces.workers import handshake

log = logging.getLogger("cohabit")
CONNECT_S: Final = 3.0
"""The time that another house may take to accept a connection and say who it is."""
_ALIVE: Final = (("TCP_KEEPIDLE", 3), ("TCP_KEEPINTVL", 2), ("TCP_KEEPCNT", 3), ("TCP_USER_TIMEOUT", 9_000))
"""A machine that is gone says nothing. These end a connection to it within ten seconds, as its leases do."""
P = TypeVar("P", bound=asyncio.BaseProtocol)


class OtherKey(ConnectionError):
    """The other side is no house, or has another key."""


async def check_houses_known(key: str, fronts: Iterable[str]) -> None:
    """Raise BAD_ARGS if one of these addresses of other houses belongs to one with another key. A house that cannot be
    reached is only mentioned: perhaps it is ending."""
    for address in fronts:
        where = urlsplit(address).netloc
        try:
            (await Dialer(key).socket_to(address)).close()
        except OtherKey as wrong:
            raise BadArgs(
                f"the house at {where} is not of the same cluster: {wrong}. Set the same houses_key in every house"
            ) from None
        except OSError as wrong:
            log.warning("the house at %s cannot be reached (%s); check its houses_address and firewalls", where, wrong)


class Dialer:
    """See the module. ``key``: that of the houses. Errors are OSErrors."""

    def __init__(self, key: str = "") -> None:
        self._key = key
        self._open: dict[str, WeakSet[socket.socket]] = {}  # to other houses, by address

    async def connect(self, protocol: Callable[[], P], address: str) -> P:
        """A connection to the node with this address, see `Directory.socket_of`."""
        loop = asyncio.get_running_loop()
        if address.startswith("/"):
            return (await loop.create_unix_connection(protocol, address))[1]
        return (await loop.create_connection(protocol, sock=await self.socket_to(address)))[1]

    async def socket_to(self, address: str) -> socket.socket:
        """The same, as a connected socket."""
        loop = asyncio.get_running_loop()
        if address.startswith("/"):
            local = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            local.setblocking(False)
            return await _or_closed(local, loop.sock_connect(local, address))
        url = urlsplit(address)
        try:
            async with asyncio.timeout(CONNECT_S):
                found = await loop.getaddrinfo(url.hostname or "", url.port or 0, type=socket.SOCK_STREAM)
                family, kind, number, _, target = found[0]
                made = socket.socket(family, kind, number)
                made.setblocking(False)
                keep_alive(made)
                await _or_closed(made, loop.sock_connect(made, target))
                await _or_closed(made, self._introduce(made, url.path.removeprefix("/")))
        except TimeoutError:
            raise ConnectionError(f"{url.netloc} does not answer") from None
        self._open.setdefault(address, WeakSet()).add(made)
        return made

    async def _introduce(self, made: socket.socket, node: str) -> None:
        loop = asyncio.get_running_loop()
        try:
            hello = await read_exactly(made, handshake.HELLO_BYTES)
            request = handshake.request(self._key, hello, node)
            await loop.sock_sendall(made, request)
            try:
                answer = await read_exactly(made, handshake.ANSWER_BYTES)
            except ConnectionError:
                raise OtherKey("it has closed the connection; its houses_key is probably another one") from None
            if not handshake.is_here(self._key, hello, request, answer):
                raise ConnectionRefusedError(f"there is no node {node}")
        except handshake.NotTheKey as wrong:
            raise OtherKey(str(wrong)) from None

    def drop(self, address: str) -> None:
        """The node with this address is gone, perhaps without closing its connections."""
        for one in self._open.pop(address, ()):
            with suppress(OSError):  # it is closed already
                one.shutdown(socket.SHUT_RDWR)


def keep_alive(connection: socket.socket) -> None:
    """End a connection to a machine that is gone, and send small messages at once."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _ALIVE:
        if (option := getattr(socket, name, None)) is not None:  # not every system has all of them
            connection.setsockopt(socket.IPPROTO_TCP, option, value)


async def read_exactly(connection: socket.socket, size: int) -> bytes:
    """No byte more: the rest belongs to somebody else."""
    loop, read = asyncio.get_running_loop(), bytearray()
    while len(read) < size:
        part = await loop.sock_recv(connection, size - len(read))
        if not part:
            raise ConnectionError("the other side has closed the connection")
        read += part
    return bytes(read)


async def _or_closed(connection: socket.socket, work: Any) -> socket.socket:
    try:
        await work
    except BaseException:
        connection.close()
        raise
    return connection
