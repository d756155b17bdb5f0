"""Serve a house on the network until somebody stops it."""

import asyncio
import signal
import socket
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from cohabit.errors import Conflict
from cohabit.faces.app import make_app
from cohabit.faces.direct import DirectProtocol
from cohabit.house.house import House


async def serve(
    house: House, *, ready: Callable[[str], None] | None = None, mcp: bool = True, conformance: bool = False
) -> None:
    """Listen where the settings say, until SIGINT, SIGTERM or cancelled. ``ready`` gets the real address."""
    settings = house.settings
    listener = _listen(settings.host, settings.port)
    port = listener.getsockname()[1]
    app = make_app(house, mcp=mcp, conformance=conformance)
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

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._stopping()
        await super().shutdown(sockets)


def _address(house: House, port: int) -> str:
    settings = house.settings
    if settings.public_url or port == settings.port:
        return settings.url
    return settings.url.rsplit(":", 1)[0] + f":{port}"


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # named, or asyncio delays small answers
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as wrong:
        listener.close()
        raise Conflict(f"cannot listen on {host}:{port} ({wrong.strerror}); give --port another number") from None
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
