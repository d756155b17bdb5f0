"""Connections of the main port: how many there may be, how large a request head may be, and how slow a client may be.

uvicorn limits none of that. All limits are settings, and every refusal is counted (`house.overload`).
"""

from asyncio import Transport
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import httptools
import uvicorn
from starlette.responses import Response
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from cohabit.errors import BadArgs, Busy, CohabitError, TooLarge
from cohabit.faces.addresses import LOOPBACK, plain_address, plain_client
from cohabit.faces.ending import Answered, OpenRequests
from cohabit.faces.guard import error_response
from cohabit.house.clock import Clock, Timer
from cohabit.house.overload import OverloadLog
from cohabit.house.settings import Settings, split_names

SWEEP_MS = 1_000
"""The interval at which slow connections are looked for."""
RESERVED_FILES = 128
"""Open files that are left for the store and the rest of the process."""
MAX_PIPELINED = 8
"""Requests that may wait on one connection while an earlier one is being answered."""
TOO_MANY = Busy("too many connections; close some, or try again later"), HTTPStatus(503)


class Connection:
    """An open connection, and until when it must have sent or read something."""

    __slots__ = ("address", "request_due", "stalled_since", "transport", "unsent")

    def __init__(self, transport: Transport, address: str) -> None:
        self.transport = transport
        self.address = address  # of the client; of the proxy, as long as it has named none
        self.request_due: int | None = None  # when the current request must be complete; None: none has begun
        self.unsent = 0  # bytes in the write buffer at the last sweep
        self.stalled_since: int | None = None  # since when the client has read none of them


class Connections:
    """All open connections of a server."""

    def __init__(self, settings: Settings, clock: Clock, overload: OverloadLog) -> None:
        self.settings = settings
        self.clock = clock
        self.overload = overload
        self.limit = min(settings.connections_limit, max(1, max_open_files() - RESERVED_FILES))
        self.proxies = proxies(settings)
        self._open: dict[Transport, Connection] = {}
        self._elsewhere = 0  # connections that go on in another process
        self._by_address: dict[str, int] = {}
        self._timer: Timer | None = None
        self.requests = OpenRequests()

    def __len__(self) -> int:
        return len(self._open) + self._elsewhere

    def add(self, transport: Transport, address: str) -> Connection | None:
        """Register a connection; None if there are too many."""
        if len(self._open) >= self.limit or len(self) >= self.settings.connections_limit:
            self.overload.add("connections", address)
            return None
        if not self._count(address):
            return None
        added = self._open[transport] = Connection(transport, address)
        if self._timer is None:
            self._timer = self.clock.call_at(self.clock.now() + SWEEP_MS, self._sweep)
        return added

    def remove(self, transport: Transport) -> None:
        gone = self._open.pop(transport, None)
        if gone is not None:
            self._uncount(gone.address)

    def detach(self, transport: Transport) -> Callable[[], None]:
        """The connection goes on in another process. It counts until the returned function is called."""
        gone = self._open.pop(transport)
        self._elsewhere += 1

        def closed() -> None:
            self._elsewhere -= 1
            self._uncount(gone.address)

        return closed

    def assign(self, connection: Connection, address: str) -> bool:
        """A proxy uses the connection for this client now. Returns False if the client has too many."""
        if address == connection.address:
            return True
        if not self._count(address):
            return False
        self._uncount(connection.address)
        connection.address = address
        return True

    def _count(self, address: str) -> bool:
        """Count a connection, if its address may have one more. Proxies may have any number."""
        count = self._by_address.get(address, 0)
        if count >= self.settings.connections_per_address and address not in self.proxies:
            self.overload.add("address", address)
            return False
        self._by_address[address] = count + 1
        return True

    def _uncount(self, address: str) -> None:
        self._by_address[address] -= 1
        if not self._by_address[address]:
            del self._by_address[address]

    def _sweep(self) -> None:
        """Close the connections whose request is late or whose client does not read."""
        now = self.clock.now()
        for connection in list(self._open.values()):
            if connection.request_due is not None and now >= connection.request_due:
                self._close(connection, "late")
                continue
            unsent = connection.transport.get_write_buffer_size()
            if not unsent or unsent < connection.unsent:
                connection.stalled_since = None
            elif connection.stalled_since is None:
                connection.stalled_since = now
            elif now - connection.stalled_since >= self.settings.write_timeout_s * 1000:
                self._close(connection, "stalled")
            connection.unsent = unsent
        self._timer = self.clock.call_at(now + SWEEP_MS, self._sweep) if self._open else None

    def _close(self, connection: Connection, why: str) -> None:
        self.overload.add(why, connection.address)
        connection.transport.abort()  # ``close`` would wait until everything is sent

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


class ServerConfig(uvicorn.Config):
    """uvicorn's configuration, with the table of connections that its protocols use. ``given``: the options."""

    def __init__(self, app: Any, connections: Connections, **options: Any) -> None:
        super().__init__(app and Answered(app, connections.requests), **options)
        self.connections = connections
        self.given = options


class StopParsing(Exception):
    """The rest of the input is not read."""


class HttpProtocol(HttpToolsProtocol):
    """uvicorn's HTTP protocol, with limits."""

    config: ServerConfig

    def __init__(self, config: ServerConfig, *args: Any, **kwargs: Any) -> None:
        super().__init__(config, *args, **kwargs)
        self._table = config.connections
        self._connection: Connection | None = None
        self._from_proxy = False
        self._head = 0  # bytes of the current request that are not part of its body
        self._refusal: tuple[CohabitError, HTTPStatus] | None = None
        self._running: RequestResponseCycle | None = None  # ``cycle`` is the newest request, which may wait for it

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]  # as uvicorn narrows it too
        super().connection_made(transport)
        self.client = plain_client(self.client)
        address = self.client[0] if self.client is not None else ""
        self._connection = self._table.add(transport, address)
        self._from_proxy = address in self._table.proxies
        if self._connection is None:
            self._send_refusal(*TOO_MANY)
        else:
            self._expect_request()

    def connection_lost(self, exc: Exception | None) -> None:
        self._table.remove(self.transport)
        self._tell_gone()
        super().connection_lost(exc)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    def _tell_gone(self) -> None:
        """Tell the request that is being answered that its client is gone. uvicorn tells the newest one only: a stream
        after which the client had sent another request would stay open for ever."""
        if self._answering is not None:
            self._answering.disconnected = True
            self._answering.message_event.set()

    def _expect_request(self) -> None:
        if self._connection is not None and self._connection.request_due is None:
            timeout = self._table.settings.request_timeout_s
            self._connection.request_due = self._table.clock.now() + int(timeout * 1000)

    def _request_complete(self) -> None:
        self._head = 0
        if self._connection is not None:
            self._connection.request_due = None

    # -- parsing ----------------------------------------------------------------------------------
    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        self._unset_keepalive_if_required()
        self._head += len(data)
        try:
            self.parser.feed_data(data)
            if self._head > self._table.settings.header_limit:
                self._refuse_headers()
        except httptools.HttpParserUpgrade:
            if self._should_upgrade():
                self.handle_websocket_upgrade()
                # The parser and this object refer to each other, so they would stay until the garbage collector finds
                # them, with all that they have read.
                self.parser = None  # type: ignore[assignment]
        except (httptools.HttpParserError, StopParsing):
            self._stopped()

    def _stopped(self) -> None:
        """The rest of the input is not parsed."""
        if self._refusal is None:
            self._table.overload.add("malformed", self._address)
            self._refusal = BadArgs("this is not a valid HTTP request"), HTTPStatus(400)
        self._send_refusal(*self._refusal)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._expect_request()

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        limit = self._table.settings.url_limit
        if len(self.url) > limit:
            self._refuse("url", f"an address may have at most {limit} bytes", HTTPStatus(414))

    def on_headers_complete(self) -> None:
        size = sum([len(name) + len(value) + 4 for name, value in self.headers])  # ": " and the end of the line
        if size > self._table.settings.header_limit:
            self._refuse_headers()
        if len(self.pipeline) >= MAX_PIPELINED:
            self._table.overload.add("pipelined", self._address)
            self._refusal = Busy("wait for an answer before you send more requests"), HTTPStatus(503)
            raise StopParsing
        if self._from_proxy:
            self._assign_to_client()
        self._head = 0
        self._head_complete()
        if self.parser.should_upgrade():
            self._request_complete()
        super().on_headers_complete()

    def _head_complete(self) -> None:
        """The head of a request is within its limits. For subclasses."""

    def _assign_to_client(self) -> None:
        """Count the connection for the client that the proxy names. The client may have sent such a header too, so only
        the last address is the proxy's."""
        named = [value for name, value in self.headers if name == b"x-forwarded-for"]
        client = named[-1].rpartition(b",")[2].strip().decode("latin-1") if named else ""
        if client and self._connection is not None and not self._table.assign(self._connection, plain_address(client)):
            self._refusal = TOO_MANY
            raise StopParsing

    def on_body(self, body: bytes) -> None:
        self._head = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._request_complete()
        super().on_message_complete()

    def cut_off(self) -> None:
        """End a response that has begun and is not complete."""
        if self._answering is not None and self._answering.response_started:
            self.transport.abort()

    @property
    def _answering(self) -> RequestResponseCycle | None:
        """The request whose response is not complete, if there is one."""
        return None if self._running is None or self._running.response_complete else self._running

    # -- refusing ---------------------------------------------------------------------------------
    @property
    def _address(self) -> str:
        return self._connection.address if self._connection is not None else ""

    def _refuse_headers(self) -> None:
        limit = self._table.settings.header_limit
        self._refuse("headers", f"the headers of a request may have at most {limit} bytes", HTTPStatus(431))

    def _refuse(self, kind: str, message: str, status: HTTPStatus) -> None:
        """Stop parsing. The parser turns any exception into its own, so the refusal is kept."""
        if self._refusal is None:
            self._table.overload.add(kind, self._address)
            self._refusal = TooLarge(message), status
        raise StopParsing

    def _send_refusal(self, error: CohabitError, status: HTTPStatus, response: Response | None = None) -> None:
        """``response``: another one than that of the error."""
        self.url, self.headers = b"", []  # not kept until the connection is closed and collected
        if self._answering is not None:  # the client would take this for a part of the answer to an earlier request
            self._tell_gone()  # it may be about to write, before the connection is lost
            self.transport.abort()
            return
        response = response or error_response(error)
        headers = [b"%b: %b\r\n" % header for header in [*response.raw_headers, (b"connection", b"close")]]
        head = f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode()
        self.transport.write(head + b"".join(headers) + b"\r\n" + bytes(response.body))
        self.transport.close()


def proxies(settings: Settings) -> frozenset[str]:
    """The addresses of reverse proxies. They name their clients, and only they are believed."""
    return frozenset([*map(plain_address, split_names(settings.proxies)), *(LOOPBACK if settings.public_url else ())])


def max_open_files() -> int:
    """The number of files that this process may open. The soft limit is raised to the hard one first."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return 1 << 20
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        wanted = hard if hard != resource.RLIM_INFINITY else max(soft, 65_536)
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
        except (ValueError, OSError):  # not allowed; the soft limit stays
            pass
    return soft if soft != resource.RLIM_INFINITY else 1 << 20
