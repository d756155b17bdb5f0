"""Serve a house on the network until it is stopped."""

import asyncio
import gc
import signal
import socket
import ssl
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from cohabit import registry
from cohabit.errors import BadArgs, Conflict
from cohabit.faces.addresses import address
from cohabit.faces.app import make_app
from cohabit.faces.connections import Connections, HttpProtocol, ServerConfig, proxies
from cohabit.faces.while_valid import while_valid, ws_protocol
from cohabit.house.house import House
from cohabit.house.running.runner import RoomRunner
from cohabit.house.settings import Settings

SWITCH_INTERVAL_S = 0.0005
"""The event loop waits this long for each world that computes, several times in a call. Python's default is 5 ms."""
NEW_OBJECTS_PER_COLLECTION = 50_000
"""The number of objects created between two runs of the garbage collector. Python's default is 700: with a thousand
connections, building one view for each would start several runs, which visit the connections again and again."""
BACKLOG = 2048
"""Connections that the system accepts for a server that is busy."""
GRACE_S = 2
"""The time that requests may go on when a server stops. Those that wait longer are told that it stops."""
SECOND_HOUSE = "; a second house also needs a data folder of its own: --port N --data DIR"
LOOPBACK = "127.0.0.1"


class SideServer:
    """An additional listener for another protocol, provided by an extension (see the registry).

    It listens on loopback only: such a protocol has no TLS, and every request contains a token.
    """

    def __init__(self, house: House, app: ASGIApp, port: int, option: str) -> None:
        self.house, self.port = house, port
        self._app, self._option = app, option
        self._listener: socket.socket | None = None
        self._problem = ""  # why it cannot listen

    @property
    def wanted(self) -> bool:
        """True if this process should listen, of those that run rooms of the house."""
        return True

    @property
    def problem(self) -> str:
        """Why it cannot listen."""
        return self._problem

    @property
    def is_listening(self) -> bool:
        return self._listener is not None and self._listener.fileno() >= 0

    def listen(self) -> None:
        """Take the port. If another program has it, ``connect_lines`` says so."""
        try:
            self._listener = listen(LOOPBACK, self.port, self._option)
            self.port = self._listener.getsockname()[1]
        except Conflict as taken:
            self._problem = f"{taken.message}, or switch it off with 0"

    def connect_lines(self, runners: Iterable[RoomRunner], tokens: Mapping[str, str]) -> Iterable[str]:
        """Instructions for connecting such a client to these rooms; ``tokens`` by member."""
        raise NotImplementedError

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Serve for as long as the block runs, with the limits of the house's own port."""
        if self._listener is None:
            yield
            return
        connections = Connections(self.house.settings, self.house.clock, self.house.overload)
        server = guest_server(while_valid(self._app, self.house), connections)
        running = asyncio.ensure_future(server.serve(sockets=[self._listener]))
        try:
            yield
        finally:
            server.should_exit = True
            await running
            connections.close()
            self.close()

    def close(self) -> None:
        """Release the port. Calling it again does nothing."""
        if self._listener is not None:
            self._listener.close()


def side_servers(house: House) -> list[SideServer]:
    """The listeners of the extensions, bound to their ports and not serving yet."""
    return [server for make in registry.side_servers() if (server := make(house)) is not None]


def bind(settings: Settings) -> socket.socket:
    """The socket of a house, which takes the port. Checks the TLS files too, so that everything that can be missing is
    found before a house is opened or a room created. Connections are refused until `run_server`, so that a balancer
    sends no request to a house that starts."""
    check_tls(settings)
    return bound(settings.host, settings.port, "--port", SECOND_HOUSE)


async def serve(
    house: House,
    *,
    ready: Callable[[str], None] | None = None,
    mcp: bool = True,
    beside: Sequence[SideServer] = (),
    listener: socket.socket | None = None,
) -> None:
    """Serve until SIGINT, SIGTERM or cancellation. ``ready`` gets the actual address.

    ``beside``: additional listeners to run as long as the house is served; see ``side_servers``.
    ``listener``: from ``bind``; by default the configured address is bound now.
    """
    async with AsyncExitStack() as stack:
        stack.enter_context(tuned())
        bound = stack.enter_context(closing(listener or bind(house.settings)))
        for server in beside:
            await stack.enter_async_context(server.serving())
        await _serve_house(house, bound, ready, mcp)


_tuned_before: list[tuple[tuple[int, int, int], float]] = []
"""The settings before, one for each server that runs. Servers may end in any order."""


@contextmanager
def tuned() -> Iterator[None]:
    """Fewer runs of the garbage collector, and threads that give way to the event loop after a shorter time."""
    _tuned_before.append((gc.get_threshold(), sys.getswitchinterval()))
    gc.set_threshold(NEW_OBJECTS_PER_COLLECTION, *gc.get_threshold()[1:])
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    try:
        yield
    finally:
        collections, interval = _tuned_before.pop()  # the first server's is the last to come
        gc.set_threshold(*collections)
        sys.setswitchinterval(interval)


async def _serve_house(house: House, listener: socket.socket, ready: Callable[[str], None] | None, mcp: bool) -> None:
    port = listener.getsockname()[1]
    app = make_app(house, mcp=mcp)
    config = ServerConfig(app, Connections(house.settings, house.clock, house.overload), **options(house))
    house.gate.address = address(house.settings, port)
    server = Server(config, lambda: ready and ready(house.gate.address), app.stopping)
    await run_server(server, listener)


def options(house: House, *, tls: bool = True) -> dict[str, Any]:
    """The options of uvicorn with which a house is served."""
    settings = house.settings
    return {
        "http": HttpProtocol,
        "ws": ws_protocol(house),
        "ws_max_size": settings.frame_limit,
        "ws_per_message_deflate": False,  # frames are small; compressing them per reader costs more than it saves
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "timeout_graceful_shutdown": GRACE_S + 1,
        "forwarded_allow_ips": [*proxies(settings)],
        "ssl_certfile": settings.tls_cert if tls and settings.tls_cert else None,
        "ssl_keyfile": settings.tls_key if tls and settings.tls_key else None,
    }


async def run_server(server: "GuestServer", listener: socket.socket) -> None:
    """Serve until the server stops by itself or this is cancelled. Its configuration is a ServerConfig."""
    assert isinstance(server.config, ServerConfig)
    try:
        listener.listen(BACKLOG)
    except OSError as wrong:  # two programs may take a port, and the first that listens has it
        raise _taken(listener.getsockname(), wrong, "--port", SECOND_HOUSE) from None
    serving = asyncio.ensure_future(server.serve(sockets=[listener]))
    try:
        await asyncio.shield(serving)
    except asyncio.CancelledError:  # cancelled: stop as after a signal
        server.should_exit = True
        await serving
        raise
    finally:
        server.config.connections.close()


class GuestServer(uvicorn.Server):
    """uvicorn with callbacks for startup and shutdown. It is stopped by its owner, not by signals."""

    def __init__(
        self,
        config: ServerConfig,
        started: Callable[[], Any] = lambda: None,
        stopping: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(config)
        self._started = started
        self._stopping = stopping

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._stopping()
        ending = asyncio.get_running_loop().call_later(GRACE_S, self._end)
        try:
            await super().shutdown(sockets)
        finally:
            ending.cancel()

    def _end(self) -> None:
        """Answer what still waits, and cut off what is not read. What is left after that, uvicorn logs as an error."""
        assert isinstance(self.config, ServerConfig)
        for connection in list(self.server_state.connections):
            if isinstance(connection, HttpProtocol):
                connection.cut_off()
        self.config.connections.requests.end()


class Server(GuestServer):
    """The same, and SIGINT and SIGTERM stop it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at SIGINT and SIGTERM. uvicorn would raise them again afterwards, which would interrupt the
        house's shutdown."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Ignore further signals: shutdown takes seconds, and an interrupted one would look like a crash."""
        self.should_exit = True


def guest_server(app: ASGIApp, connections: Connections) -> GuestServer:
    """A server for the app of another protocol."""
    config = ServerConfig(
        app, connections, http=HttpProtocol, ws="none", lifespan="off", log_config=None, access_log=False,
        server_header=False, date_header=False, timeout_graceful_shutdown=GRACE_S + 1,
    )  # fmt: skip
    return GuestServer(config)


def listen(host: str, port: int, option: str = "--port") -> socket.socket:
    """A listening socket. ``option``: the option to mention if the port is in use."""
    listener = bound(host, port, option)
    listener.listen(BACKLOG)
    return listener


def bound(host: str, port: int, option: str, more: str = "") -> socket.socket:
    """A socket with this address that does not listen yet. ``more``: what else to say if the port is in use."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # explicit TCP, so asyncio sets TCP_NODELAY
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
    except OSError as wrong:
        made.close()
        raise _taken((host, port), wrong, option, more) from None
    made.setblocking(False)
    return made


def _taken(name: Sequence[Any], wrong: OSError, option: str, more: str) -> Conflict:
    return Conflict(f"cannot listen on {name[0]}:{name[1]} ({wrong.strerror}); choose another port with {option}{more}")


def check_tls(settings: Settings) -> None:
    """Load the certificate and the key once, so that an error names the file."""
    cert, key = settings.tls_cert, settings.tls_key
    if key and not cert:
        raise BadArgs("tls_key needs tls_cert, the file with the certificate chain")
    for name, path in (("tls_cert", cert), ("tls_key", key)):
        if path:
            try:
                Path(path).read_bytes()
            except OSError as wrong:
                raise BadArgs(f"{name}: {path} cannot be read ({wrong.strerror})") from None
    if cert:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        try:
            # With a password, even an empty one, an encrypted key is an error and not a question on the terminal.
            context.load_cert_chain(cert, key or None, password="")
        except (ssl.SSLError, ValueError) as wrong:
            raise BadArgs(_tls_problem(cert, key, wrong)) from None


def _tls_problem(cert: str, key: str, wrong: Exception) -> str:
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cert)
    except ssl.SSLError:
        return f"tls_cert: {cert} is not a certificate in PEM format"
    if getattr(wrong, "reason", None) == "KEY_VALUES_MISMATCH":
        return f"tls_key: {key or cert} is not the key of the certificate in {cert}"
    return f"tls_key: {key or cert} has no private key in PEM format without a passphrase"


def run(main: Coroutine[Any, Any, None]) -> None:
    """asyncio.run, on uvloop if it is installed."""
    try:
        import uvloop
    except ImportError:
        asyncio.run(main)
    else:
        uvloop.run(main)
