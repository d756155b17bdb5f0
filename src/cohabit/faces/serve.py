"""Serve a house on the network until somebody stops it."""

import asyncio
import logging
import signal
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext
from typing import Any

import uvicorn

from cohabit.errors import Conflict
from cohabit.faces.app import make_app
from cohabit.faces.direct import DirectProtocol
from cohabit.house.house import House
from cohabit.house.settings import Settings

log = logging.getLogger("cohabit")
BRIDGE_HOST = "127.0.0.1"
"""Never another one: there is no TLS on that wire, and tokens travel with every request."""


async def serve(
    house: House,
    *,
    ready: Callable[[str], None] | None = None,
    mcp: bool = True,
    bridge: socket.socket | None = None,
) -> None:
    """Listen where the settings say, until SIGINT, SIGTERM or cancelled. ``ready`` gets the real address.

    ``bridge`` is where clients of the WorldBox bridge come in, if anywhere: see ``bridge_listener``.
    """
    async with bridge_beside(house, bridge) if bridge is not None else nullcontext():
        await _serve_house(house, ready, mcp)


async def _serve_house(house: House, ready: Callable[[str], None] | None, mcp: bool) -> None:
    settings = house.settings
    listener = _listen(settings.host, settings.port)
    port = listener.getsockname()[1]
    app = make_app(house, mcp=mcp)
    config = uvicorn.Config(
        app,
        http="httptools",
        ws=DirectProtocol,
        ws_max_size=settings.frame_limit,
        ws_per_message_deflate=False,  # frames are small, and compressing each for each reader costs more
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=3,
        ssl_certfile=settings.tls_cert or None,
        ssl_keyfile=settings.tls_key or None,
    )
    server = Server(config, lambda: ready and ready(_address(house, port)), app.stopping)
    serving = asyncio.ensure_future(server.serve(sockets=[listener]))
    try:
        await asyncio.shield(serving)
    except asyncio.CancelledError:  # whoever runs us is done: stop as after a signal
        server.should_exit = True
        await serving
        raise
    finally:
        listener.close()


def bridge_listener(settings: Settings) -> socket.socket | None:
    """Where clients of the WorldBox bridge come in. None where that is switched off; where the port is taken too,
    for the house can do without."""
    if not settings.bridge_port:
        return None
    try:
        return _listen(BRIDGE_HOST, settings.bridge_port, "--bridge-port")
    except Conflict as taken:
        log.warning("no door for clients of the WorldBox bridge: %s, or 0 for none", taken.message)
        return None


@asynccontextmanager
async def bridge_beside(house: House, listener: socket.socket) -> AsyncIterator[None]:
    """The bridge wire, served for as long as the house is."""
    from cohabit.faces.bridge import HEADER_LIMIT, bridge_app

    config = uvicorn.Config(
        bridge_app(house),
        http="h11",  # the one of the two that can be told how long headers may get
        h11_max_incomplete_event_size=HEADER_LIMIT,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=3,
    )
    server = Beside(config, lambda: None)
    serving = asyncio.ensure_future(server.serve(sockets=[listener]))
    try:
        yield
    finally:
        server.should_exit = True
        await serving
        listener.close()


class Server(uvicorn.Server):
    """uvicorn, with a word when it listens and one to open streams when it stops."""

    def __init__(
        self, config: uvicorn.Config, started: Callable[[], Any], stopping: Callable[[], None] = lambda: None
    ) -> None:
        super().__init__(config)
        self._started = started
        self._stopping = stopping

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at SIGINT and SIGTERM. uvicorn would raise them once more afterwards, and so cancel the closing
        of the house half way."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)

    def handle_exit(self, sig: int, frame: Any) -> None:
        """A second signal changes nothing: stopping is a matter of seconds, and half of it would look like a crash."""
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._stopping()
        await super().shutdown(sockets)


class Beside(Server):
    """A server that somebody else tells when to stop."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _address(house: House, port: int) -> str:
    settings = house.settings
    if settings.public_url or port == settings.port:
        return settings.url
    return settings.url.rsplit(":", 1)[0] + f":{port}"


def _listen(host: str, port: int, option: str = "--port") -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # named, or asyncio delays small answers
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as wrong:
        listener.close()
        raise Conflict(f"cannot listen on {host}:{port} ({wrong.strerror}); give {option} another number") from None
    listener.listen(2048)
    listener.setblocking(False)
    return listener


def run(main: Coroutine[Any, Any, None]) -> None:
    """asyncio.run, on uvloop where it is installed."""
    try:
        import uvloop
    except ImportError:
        asyncio.run(main)
    else:
        uvloop.run(main)
