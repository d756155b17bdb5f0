"""Accepted connections go from the front to the node that has their room, and then cost the front nothing.

Front and node share a pair of Unix sockets. The front sends each connection with a number and the bytes that it has
read; the node sends the numbers of connections that it has closed. Connections of clients and of other houses go the
same way, and each says which it is.
"""

import asyncio
import logging
import socket
from collections import deque
from collections.abc import Callable
from itertools import count
from struct import Struct

log = logging.getLogger("cohabit")
MAX_PASSED_BYTES = 65_536
"""The bytes that may have been read from a connection that is passed on."""
MAX_WAITING = 256
"""Connections that may wait for a node that does not take them."""
_head, _number = Struct("!?IQ"), Struct("!Q")
Take = Callable[[socket.socket, bytes, Callable[[], None]], None]
"""Gets a connection, the bytes that were read from it, and what to call when it is closed."""


class Passage:
    """The end of the front. Implements the hand-over to one node."""

    def __init__(self, pair: socket.socket) -> None:
        pair.setblocking(False)
        self._pair = pair
        self._loop = asyncio.get_running_loop()
        self._numbers = count(1)
        self._open: dict[int, Callable[[], None]] = {}  # connections that the node has, and whom to tell of their end
        self._waiting: deque[tuple[bytes, socket.socket | None]] = deque()
        self._rest = bytearray()
        self._loop.add_reader(pair.fileno(), self._read)

    def __len__(self) -> int:
        return len(self._open)

    def pass_on(
        self, connection: socket.socket, read: bytes, closed: Callable[[], None], *, of_house: bool = False
    ) -> bool:
        """See `PassedOn`. ``of_house``: another house has made this connection."""
        if self._pair.fileno() < 0 or len(self._waiting) >= MAX_WAITING or len(read) > MAX_PASSED_BYTES:
            connection.close()
            return False
        number = next(self._numbers)
        self._waiting.append((_head.pack(of_house, len(read), number) + read, connection))
        if len(self._waiting) == 1:
            self._write()
        if self._pair.fileno() < 0:
            return False
        self._open[number] = closed
        return True

    def _write(self) -> None:
        """Send what can be sent now. A connection travels with the first byte of its message."""
        try:
            while self._waiting:
                data, connection = self._waiting[0]
                if connection is not None:
                    sent = socket.send_fds(self._pair, [data], [connection.fileno()])
                    connection.close()
                else:
                    sent = self._pair.send(data)
                if sent < len(data):
                    self._waiting[0] = data[sent:], None
                else:
                    self._waiting.popleft()
        except BlockingIOError:
            self._loop.add_writer(self._pair.fileno(), self._write)
        except OSError:  # the node is gone
            self.close()
        else:
            self._loop.remove_writer(self._pair.fileno())

    def _read(self) -> None:
        try:
            data = self._pair.recv(65_536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.close()
            return
        self._rest += data
        while len(self._rest) >= _number.size:
            (number,) = _number.unpack_from(self._rest)
            del self._rest[: _number.size]
            if (closed := self._open.pop(number, None)) is not None:
                closed()

    def close(self) -> None:
        """The node is gone, and its connections with it. Calling it again does nothing."""
        if self._pair.fileno() < 0:
            return
        self._loop.remove_reader(self._pair.fileno())
        self._loop.remove_writer(self._pair.fileno())
        self._pair.close()
        for _, connection in self._waiting:
            if connection is not None:
                connection.close()
        self._waiting.clear()
        ended, self._open = self._open, {}
        for closed in ended.values():
            closed()


class Passages:
    """The hand-over to every node, by name. The owner adds and removes nodes."""

    def __init__(self) -> None:
        self.by_node: dict[str, Passage] = {}

    def pass_on(self, node: str, connection: socket.socket, read: bytes, closed: Callable[[], None]) -> bool:
        """See `PassedOn`."""
        passage = self.by_node.get(node)
        if passage is None:
            connection.close()
            return False
        return passage.pass_on(connection, read, closed)


class Arrivals:
    """The end of a node: calls ``take`` with each connection of a client that arrives, ``take_house`` with each of
    another house. ``gone``: the front is."""

    def __init__(
        self,
        pair: socket.socket,
        take: Take,
        take_house: Take,
        gone: Callable[[], None] = lambda: None,
    ) -> None:
        pair.setblocking(False)
        self._pair = pair
        self._take = take
        self._take_house = take_house
        self._gone = gone
        self._loop = asyncio.get_running_loop()
        self._rest = bytearray()
        self._arrived: deque[int | None] = deque()  # the files, in the order of their messages; None: one was lost
        self._ended = bytearray()  # numbers that could not be sent yet
        self._loop.add_reader(pair.fileno(), self._read)

    def _read(self) -> None:
        try:
            data, files, flags, _ = socket.recv_fds(self._pair, 65_536, 1)
        except BlockingIOError:
            return
        except OSError:
            data, files, flags = b"", [], 0
        if not data:
            self.close()
            self._gone()
            return
        self._arrived.extend(files)
        if flags & socket.MSG_CTRUNC and not files:  # this process may not open any more files
            self._arrived.append(None)
        self._rest += data
        while len(self._rest) >= _head.size:
            of_house, size, number = _head.unpack_from(self._rest)
            if len(self._rest) < _head.size + size:
                break
            read = bytes(self._rest[_head.size : _head.size + size])
            del self._rest[: _head.size + size]
            self._take_next(number, read, self._take_house if of_house else self._take)

    def _take_next(self, number: int, read: bytes, take: Take) -> None:
        file = self._arrived.popleft() if self._arrived else None
        if file is None:
            log.warning("a connection was lost: this process has too many open files")
            self._closed(number)
            return
        try:
            connection = socket.socket(fileno=file)
            connection.setblocking(False)
            take(connection, read, lambda: self._closed(number))
        except OSError as wrong:
            log.debug("a connection that was passed on: %s", wrong)
            self._closed(number)

    def _closed(self, number: int) -> None:
        if self._pair.fileno() >= 0:
            self._ended += _number.pack(number)
            self._write()

    def _write(self) -> None:
        try:
            del self._ended[: self._pair.send(self._ended)]
        except BlockingIOError:
            pass
        except OSError:
            return  # `_read` finds out
        if self._ended:
            self._loop.add_writer(self._pair.fileno(), self._write)
        else:
            self._loop.remove_writer(self._pair.fileno())

    def close(self) -> None:
        """Take no more connections. Calling it again does nothing."""
        if self._pair.fileno() >= 0:
            self._loop.remove_reader(self._pair.fileno())
            self._loop.remove_writer(self._pair.fileno())
            self._pair.close()
        while self._arrived:
            file = self._arrived.popleft()
            if file is not None:
                socket.close(file)
