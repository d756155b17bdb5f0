"""Serve a house that is one node of several: as the front, which accepts connections, or as a node that runs rooms."""

import asyncio
import logging
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.types import ASGIApp

from cohabit.errors import CohabitError
from cohabit.faces.addresses import address
from cohabit.faces.app import make_app
from cohabit.faces.connections import Connections, ServerConfig
from cohabit.faces.guard import Guard
from cohabit.faces.serve import GuestServer, Server, options, run_server, tuned
from cohabit.faces.workers.frames import RoutingConnection
from cohabit.faces.workers.front import FrontConfig, FrontProtocol, NodeConnections, take_from_houses, take_into
from cohabit.faces.workers.passing import Arrivals, Take
from cohabit.faces.workers.peers import Peers
from cohabit.faces.workers.relay import Relay
from cohabit.faces.ws import WsFace
from cohabit.house.calls.across import Nodes
from cohabit.house.directory import Directory, PassedOn
from cohabit.house.house import House

if TYPE_CHECKING:
    from cohabit.faces.mcp.server import McpFace

log = logging.getLogger("cohabit")


def listen_for_nodes(path: str) -> socket.socket:
    """The Unix socket of a node. Its folder must be accessible to this user only; so is the socket."""
    Path(path).unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        listener.bind(path)
    finally:
        os.umask(before)
    listener.listen(2048)
    listener.setblocking(False)
    return listener


async def serve_node(
    house: House,
    directory: Directory,
    listener: socket.socket,
    passed: socket.socket | None = None,
    *,
    ready: Callable[[], None] = lambda: None,
    mcp: bool = True,
) -> None:
    """Serve a node that runs rooms, until this is cancelled or the front is gone.

    ``listener``: its Unix socket, see `listen_for_nodes`. ``passed``: its end of the pair of sockets over which the
    front passes connections on. Set ``house.gate.address`` to the address of the front before.
    """
    async with reaching_others(house, directory) as peers:
        app = app_of_node(house, peers, mcp)
        table = NodeConnections(house.settings, house.clock, house.overload)
        arrivals: list[Arrivals] = []

        def started() -> None:
            if passed is not None:
                arrivals.append(Arrivals(passed, take_into(server), take_from_houses(server, app), stop))
            ready()

        def stop() -> None:
            server.should_exit = True

        server = GuestServer(ServerConfig(app, table, **options(house, tls=False)), started, app.stopping)
        try:
            with tuned():
                await run_server(server, listener)
        finally:
            for one in arrivals:
                one.close()


async def serve_front(
    house: House,
    directory: Directory,
    passed_on: PassedOn | None,
    listener: socket.socket,
    for_nodes: socket.socket,
    *,
    ready: Callable[[str], None] | None = None,
    mcp: bool = True,
    houses: Callable[[Take], None] | None = None,
    drain: Callable[[], Awaitable[None]] | None = None,
) -> None:
    """Serve the front until SIGINT, SIGTERM or cancellation. ``ready`` gets the actual address.

    ``passed_on``: None if every request is relayed. ``listener``: from `bind`. ``for_nodes``: its own Unix socket, on
    which nodes reach it. In a cluster, ``houses`` gets what takes connections of other houses, and ``drain`` is done
    after a signal, before anything is closed; a second signal ends it.
    """
    async with reaching_others(house, directory) as peers:
        app = app_of_node(house, peers, mcp)
        config: ServerConfig
        table, how = Connections(house.settings, house.clock, house.overload), options(house)
        if passed_on is None:
            config = ServerConfig(app, table, **how)
        else:
            config = FrontConfig(app, table, house.identities, directory, passed_on, **{**how, "http": FrontProtocol})
        house.gate.address = address(house.settings, listener.getsockname()[1])
        server = DrainingServer(config, lambda: ready and ready(house.gate.address), app.stopping)
        server.drain = drain
        async with _for_nodes(house, app, for_nodes) as nodes_server:
            if houses is not None:
                houses(take_from_houses(nodes_server, app))
            with tuned():
                await run_server(server, listener)


class DrainingServer(Server):
    """A server that finishes something after the first signal, before it stops."""

    drain: Callable[[], Awaitable[None]] | None = None
    _draining: asyncio.Task[None] | None = None

    def handle_exit(self, sig: int, frame: Any) -> None:
        if self.drain is None or self._draining is not None:
            super().handle_exit(sig, frame)
        else:
            self._draining = asyncio.get_running_loop().create_task(self._drain(self.drain, sig))

    async def _drain(self, drain: Callable[[], Awaitable[None]], sig: int) -> None:
        try:
            await drain()
        except CohabitError as failed:
            log.error("the rooms could not be handed over to other houses: %s", failed.as_text())
        finally:
            super().handle_exit(sig, None)


@asynccontextmanager
async def _for_nodes(house: House, app: ASGIApp, listener: socket.socket) -> AsyncIterator[GuestServer]:
    """Serve the Unix socket of the front as well."""
    table = NodeConnections(house.settings, house.clock, house.overload)
    server = GuestServer(ServerConfig(app, table, lifespan="off", **options(house, tls=False)))
    running = asyncio.ensure_future(run_server(server, listener))
    try:
        yield server
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


@asynccontextmanager
async def reaching_others(house: House, directory: Directory) -> AsyncIterator[Peers]:
    """The other nodes, for the interfaces and for the commands of the house."""
    house.services.own[Nodes] = peers = Peers(directory, house.settings.houses_key)
    directory.on_gone = peers.drop
    try:
        yield peers
    finally:
        peers.close()


def app_of_node(house: House, peers: Peers, mcp: bool = True) -> Guard:
    """All interfaces of a node."""
    ws, face = WsFace(house, partial(RoutingConnection, peers)), False if not mcp else _mcp_face(house, peers)
    return make_app(house, mcp=face, ws=ws, around=lambda app: Relay(app, house, peers))


def import_mcp() -> None:
    """It takes a second, and several on a busy machine, in which the event loop does nothing else. So a process that
    serves MCP calls this before it has a lease to renew."""
    import cohabit.faces.mcp.server
    import cohabit.faces.workers.spread  # noqa: F401


def _mcp_face(house: House, peers: Peers) -> "McpFace":
    """See `import_mcp`."""
    from cohabit.faces.mcp.server import McpFace
    from cohabit.faces.workers.spread import Spread

    return McpFace(house, partial(Spread, peers))
