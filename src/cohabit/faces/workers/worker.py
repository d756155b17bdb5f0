"""The program of a worker: a house over the store of the front, with the rooms that the front gives it.

``python -m cohabit.faces.workers.worker LINK PASSING MEMORY LIFELINE``: file descriptors that the front has opened: of
the link, of the socket for accepted connections, of the memory in which the worker says which world is running, and of
a pipe that ends the worker with the front.
"""

import asyncio
import faulthandler
import logging
import os
import signal
import socket
import sys
from contextlib import AsyncExitStack, suppress

from msgspec import Struct, convert

from cohabit.agents.process import end_with_parent
from cohabit.faces.app import make_app
from cohabit.faces.cli.running import log_to_stderr, show, watch_problems
from cohabit.faces.connections import Connections, ServerConfig
from cohabit.faces.serve import GuestServer, house_config, run, tuned
from cohabit.house.house import House
from cohabit.house.nodes.control import WorkerControl
from cohabit.house.nodes.link import Link
from cohabit.house.nodes.node import Node
from cohabit.house.running.computing import Computing
from cohabit.house.settings import Settings
from cohabit.house.store.shared_store import SharedStore

log = logging.getLogger("cohabit")


class Start(Struct):
    """What a worker is told when it starts."""

    name: str
    settings: Settings
    store: str  # the path of the socket of the store
    socket: str  # on which it serves
    address: str  # of the house, for links
    quiet: bool = True
    mcp: bool = True


class WorkerServer(GuestServer):
    """``listens``: its socket is there."""

    def __init__(self, config: ServerConfig) -> None:
        super().__init__(config)
        self.listens = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listens.set()


async def work(link_end: socket.socket, passing: socket.socket, memory: int) -> None:
    """Run rooms until the front says stop, or is gone."""
    stopping = asyncio.Event()
    control = WorkerControl(stopping.set)
    link = await Link.over(link_end, control.handlers())
    start = convert(await link.ask("hello", pid=os.getpid()), Start)
    control.table.here = start.name
    log_to_stderr(start.settings.log_level)
    async with AsyncExitStack() as stack:
        stack.enter_context(tuned())
        node = Node(control.table, link, Computing(memory))
        store = SharedStore(start.store, start.name)
        house = await stack.enter_async_context(House.open(start.settings, store=store, node=node))
        control.attach(house, link)
        house.gate.address = start.address
        if not start.quiet:
            house.rooms.events.on_lines = show
        watching = asyncio.ensure_future(watch_problems(house))
        stack.callback(watching.cancel)
        await _serve(house, start, link, passing, stopping)


async def _serve(house: House, start: Start, link: Link, passing: socket.socket, stopping: asyncio.Event) -> None:
    connections = Connections(house.settings, house.clock, house.overload)
    app = make_app(house, mcp=start.mcp)
    server = WorkerServer(house_config(house, app, connections, uds=start.socket))
    serving = asyncio.ensure_future(server.serve())
    ended = [asyncio.ensure_future(stopping.wait()), asyncio.ensure_future(link.run()), serving]
    try:
        await asyncio.wait([asyncio.ensure_future(server.listens.wait()), serving], return_when=asyncio.FIRST_COMPLETED)
        await link.ask("ready", house=house.id)
        await asyncio.wait(ended, return_when=asyncio.FIRST_COMPLETED)
    finally:
        app.stopping()
        server.should_exit = True
        await serving
        connections.close()
        passing.close()
        if not stopping.is_set():
            log.error("the front is gone, so this worker ends")
            os._exit(1)  # nothing can be written any more


def main() -> None:
    """See the module."""
    link, passing, memory, lifeline = map(int, sys.argv[1:])
    for number in (signal.SIGINT, signal.SIGTERM):  # the front gets them too, and stops its workers in order
        signal.signal(number, signal.SIG_IGN)
    for descriptor in (link, passing, memory, lifeline):  # not for programs that a world starts
        os.set_inheritable(descriptor, False)
    faulthandler.enable()  # a crash in native code says where
    end_with_parent(lifeline)  # also if a world holds the interpreter
    with suppress(KeyboardInterrupt):
        run(work(socket.socket(fileno=link), socket.socket(fileno=passing), memory))


if __name__ == "__main__":
    main()
