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
from contextlib import AsyncExitStack, closing, suppress
from functools import partial

from msgspec import Struct, convert

from cohabit.agents.process import end_with_parent
from cohabit.faces.cli.showing import log_to_stderr, show, watch_problems
from cohabit.faces.serve import run
from cohabit.faces.workers.beside import serve_beside
from cohabit.faces.workers.serving import import_mcp, listen_for_nodes, serve_node
from cohabit.house.directory import Table
from cohabit.house.house import House
from cohabit.house.nodes.control import WorkerControl
from cohabit.house.nodes.link import Link
from cohabit.house.nodes.node import Node
from cohabit.house.running.computing import Computing
from cohabit.house.settings import Settings
from cohabit.house.store.shared_store import SharedStore

log = logging.getLogger("cohabit")


class Start(Struct):
    """The start message of a worker."""

    name: str
    settings: Settings
    store: str  # the path of the socket of the store
    socket: str  # on which it serves
    address: str  # of the house, for links
    word: str  # see `Directory`
    quiet: bool = True
    mcp: bool = True


async def work(link_end: socket.socket, passing: socket.socket, memory: int) -> None:
    """Run rooms until the front says stop, or is gone."""
    stopping = asyncio.Event()
    control = WorkerControl(stopping.set)
    link = await Link.over(link_end, control.handlers())
    start = convert(await link.ask("hello", pid=os.getpid()), Start)
    control.table.here, control.table.word = start.name, start.word
    log_to_stderr(start.settings.log_level)
    if start.mcp:
        import_mcp()
    async with AsyncExitStack() as stack:
        node = Node(control.table, link, Computing(memory))
        store = SharedStore(start.store, start.name)
        house = await stack.enter_async_context(House.open(start.settings, store=store, node=node))
        control.attach(house, link)
        house.rooms.leases.on_out = partial(os._exit, 1)  # the front starts another worker
        house.gate.address = start.address
        if not start.quiet:
            house.rooms.events.on_durable.append(show)
        for work_beside in (watch_problems(house), serve_beside(house)):
            stack.push_async_callback(_cancelled, asyncio.ensure_future(work_beside))
        listener = stack.enter_context(closing(listen_for_nodes(start.socket)))
        await _until_stopped(house, control.table, start, link, listener, passing, stopping)


async def _cancelled(task: "asyncio.Future[None]") -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def _until_stopped(
    house: House,
    directory: Table,
    start: Start,
    link: Link,
    listener: socket.socket,
    passing: socket.socket,
    stopping: asyncio.Event,
) -> None:
    listening = asyncio.Event()
    served = serve_node(house, directory, listener, passing, ready=listening.set, mcp=start.mcp)
    serving = asyncio.ensure_future(served)
    waits = [asyncio.ensure_future(event.wait()) for event in (listening, stopping)]
    ended = [waits[1], asyncio.ensure_future(link.run()), serving]
    try:
        await asyncio.wait([waits[0], serving], return_when=asyncio.FIRST_COMPLETED)
        if listening.is_set():
            await link.ask("ready", house=house.id)
            await asyncio.wait(ended, return_when=asyncio.FIRST_COMPLETED)
    finally:
        serving.cancel()
        (failure,) = await asyncio.gather(serving, return_exceptions=True)
        if not stopping.is_set():
            log.error("this worker ends: %s", failure if isinstance(failure, Exception) else "the front is gone")
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
