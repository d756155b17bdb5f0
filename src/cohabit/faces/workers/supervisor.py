"""Starts the workers of a house, watches them, and replaces those that die."""

import asyncio
import logging
import mmap
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from typing import Any, cast

import msgspec

from cohabit.errors import CohabitError, Unreachable
from cohabit.faces.workers.passing import Passage, Passages
from cohabit.faces.workers.serving import listen_for_nodes, serve_front
from cohabit.faces.workers.worker import Start
from cohabit.house.deadlines import starved_by_thread
from cohabit.house.directory import FRONT, Table
from cohabit.house.house import House, open_store
from cohabit.house.nodes.cluster import Cluster
from cohabit.house.nodes.link import Link
from cohabit.house.nodes.node import Node
from cohabit.house.running.computing import SIZE, running_in, shared_memory
from cohabit.house.settings import Settings
from cohabit.house.store.contract import Store
from cohabit.house.store.group_commit import GroupCommit
from cohabit.house.store.store_server import StoreServer
from cohabit.house.threads import run_in_thread

log = logging.getLogger("cohabit")
MODULE = "cohabit.faces.workers.worker"
PING_EVERY_S = 1.0
CHECK_EVERY_S = 0.25
"""How often a worker that does not answer is looked at."""
STOP_S = 60.0
"""How long a worker may take to store everything when the house stops."""
RETRY_S = (0.0, 1.0, 5.0, 30.0)
"""Pauses before a worker is started again. The last one repeats, if workers end before they are ready."""


class WorkerProcess:
    """One worker, from the side of the front. ``passing``: the socket for accepted connections."""

    def __init__(self, name: str, process: subprocess.Popen[bytes], passing: socket.socket, memory: int) -> None:
        self.name = name
        self.process = process
        self.passing = passing
        self.house = ""  # the id of its house, when it is ready
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.stopping = False
        self._memory = mmap.mmap(memory, SIZE)
        os.close(memory)

    @property
    def running(self) -> list[str]:
        """The rooms whose worlds are running, or were when it ended."""
        return running_in(self._memory)

    @property
    def resident_bytes(self) -> int:
        """The memory that it uses; 0 if this system does not say."""
        try:
            pages = Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        except (OSError, IndexError):
            return 0
        return int(pages) * mmap.PAGESIZE


class Supervisor:
    """The workers of a house. ``folder``: private, for sockets. ``passages``: by which connections go to them."""

    def __init__(self, house: House, table: Table, folder: Path, store: StoreServer, quiet: bool, mcp: bool) -> None:
        self.cluster = Cluster(house, table)
        self.address = house.settings.url  # for links
        self.workers: dict[str, WorkerProcess] = {}
        self.passages = Passages()
        self._settings = house.settings
        self.folder = folder
        self._store = store
        self._quiet, self._mcp = quiet, mcp
        self._number = 0
        self._closing = False
        self._tasks: set[asyncio.Task[Any]] = set()
        self._replacing: set[asyncio.Task[Any]] = set()

    # -- starting ---------------------------------------------------------------------------------
    async def start(self) -> None:
        """Start the workers, and open every room in one of them."""
        started = [await self._spawn() for _ in range(self._settings.workers)]
        await asyncio.gather(*(worker.ready for worker in started))
        await self.cluster.open_all()

    async def _spawn(self) -> WorkerProcess:
        self._number += 1
        name = f"w{self._number}"
        ours, theirs = socket.socketpair()
        passing, their_passing = socket.socketpair()
        memory, (lifeline, held) = shared_memory(), os.pipe()
        given = (theirs.fileno(), their_passing.fileno(), memory, lifeline)
        try:
            process = _start(given)
        finally:
            theirs.close()
            their_passing.close()
            os.close(lifeline)
        worker = WorkerProcess(name, process, passing, memory)
        self.workers[name] = worker
        link = await Link.over(ours, self._handlers(worker))
        self.cluster.added(name, link)
        self._run(self._watch(worker, link, held))
        if self._closing:
            self._stop(worker)
        return worker

    def _handlers(self, worker: WorkerProcess) -> Mapping[str, Callable[..., Any]]:
        path = str(self.folder / f"{worker.name}.sock")

        def hello(pid: int) -> Start:
            dollars = self._settings.agents_dollars / self._settings.workers
            settings = msgspec.structs.replace(self._settings, agents_dollars=dollars, bridge_port=0)
            return Start(worker.name, settings, self._store.path, path, self.address, self._quiet, self._mcp)

        def ready(house: str) -> None:
            worker.house = house
            self.passages.by_node[worker.name] = Passage(worker.passing)
            self.cluster.joined(worker.name, path)
            worker.ready.set_result(None)  # nobody may cancel it

        return {"hello": hello, "ready": ready, **self.cluster.handlers()}

    async def serve(self, listener: socket.socket, *, ready: Callable[[str], None] | None = None) -> None:
        """Accept connections until SIGINT, SIGTERM or cancellation. ``ready`` gets the actual address."""

        def listening(url: str) -> None:
            self.address = url
            for link in self.cluster.links.values():
                link.tell("address", url=url)
            if ready is not None:
                ready(url)

        table, house = self.cluster.table, self.cluster.house
        with closing(listener), closing(listen_for_nodes(table.socket_of(FRONT))) as for_nodes:
            await serve_front(house, table, self.passages, listener, for_nodes, ready=listening, mcp=self._mcp)

    # -- watching ---------------------------------------------------------------------------------
    async def _watch(self, worker: WorkerProcess, link: Link, lifeline: int) -> None:
        """Until the worker has ended, however it does. Then its rooms go elsewhere, and another one is started."""
        pinging = asyncio.ensure_future(self._ping(worker, link))
        try:
            await asyncio.wait([asyncio.ensure_future(link.run()), pinging], return_when=asyncio.FIRST_COMPLETED)
        finally:
            pinging.cancel()
            if not worker.stopping:
                worker.process.kill()
            try:
                await run_in_thread("a worker", partial(worker.process.wait, STOP_S))
            except subprocess.TimeoutExpired:
                worker.process.kill()
                await run_in_thread("a worker", worker.process.wait)
            link.close()
            os.close(lifeline)
        self.workers.pop(worker.name)
        if (passage := self.passages.by_node.pop(worker.name, None)) is not None:
            passage.close()
        worker.passing.close()
        await self._ended(worker)

    async def _ended(self, worker: WorkerProcess) -> None:
        suspects = [] if worker.stopping else worker.running
        if not worker.stopping:
            log.error("%s; running: %s", _end_of(worker), ", ".join(suspects) or "no world")
        await self.cluster.left(worker.name, worker.house, suspects)
        if not worker.ready.done():
            worker.ready.set_exception(Unreachable(f"{_end_of(worker)} before it was ready; see the log"))
            worker.ready.exception()  # perhaps nobody waits for it
        elif not worker.stopping and not self._closing:
            task = self._run(self._replace())
            self._replacing.add(task)
            task.add_done_callback(self._replacing.discard)

    async def _replace(self) -> None:
        for pause_s in chain(RETRY_S, repeat(RETRY_S[-1])):
            await asyncio.sleep(pause_s)
            if self._closing:
                return
            try:
                await asyncio.shield((await asyncio.shield(self._spawn())).ready)
            except (CohabitError, OSError) as wrong:
                log.error("a worker could not be started; %d are left: %s", len(self.workers), wrong)
            else:
                await self.cluster.balance()
                return

    async def _ping(self, worker: WorkerProcess, link: Link) -> None:
        """Until the worker has to be killed: it does not answer, or uses too much memory."""
        await asyncio.wait([worker.ready])
        limit_s, limit_bytes = self._settings.worker_timeout_s, self._settings.worker_memory_mb * 1024**2
        while True:
            answer = link.asked("ping")
            if not await _answers(answer, worker.process.pid, limit_s):
                log.error("worker %s did not answer for %g s, and is killed", worker.name, limit_s)
                return
            if answer.exception() is not None:
                return
            self.cluster.travels(worker.name, answer.result())
            used = worker.resident_bytes
            if limit_bytes and used > limit_bytes:
                log.error("worker %s uses %d MB, more than worker_memory_mb, and is killed", worker.name, used >> 20)
                return
            await asyncio.sleep(PING_EVERY_S)

    # -- stopping ---------------------------------------------------------------------------------
    async def close(self) -> None:
        """Let every worker store what it has, and end."""
        self._closing = True
        for task in self._replacing:
            task.cancel()
        await self.cluster.close()
        for worker in self.workers.values():
            self._stop(worker)
        while self._tasks:
            await asyncio.wait(self._tasks)

    def _stop(self, worker: WorkerProcess) -> None:
        worker.stopping = True
        if (link := self.cluster.links.get(worker.name)) is not None:  # else it is being started; see `_spawn`
            link.tell("stop")

    def _run(self, work: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _start(given: Sequence[int]) -> "subprocess.Popen[bytes]":
    """A new process, not a copy of this one, with these files. It leads a session: the front gets the signals."""
    words = [sys.executable, "-m", MODULE, *map(str, given)]
    return subprocess.Popen(words, pass_fds=given, stdin=subprocess.DEVNULL, start_new_session=True)


async def _answers(answer: "asyncio.Future[Any]", pid: int, limit_s: float) -> bool:
    """Whether an answer comes in time. What counts is the time in which the process could have given it: not while
    its threads waited for a busy CPU, nor while the front itself did not run."""
    loop, counted_s = asyncio.get_running_loop(), 0.0
    before = starved_by_thread(pid)
    while counted_s < limit_s:
        began = loop.time()
        await asyncio.wait([answer], timeout=CHECK_EVERY_S)
        if answer.done():
            return True
        wall_s = min(loop.time() - began, CHECK_EVERY_S)
        now = starved_by_thread(pid)
        starved_s = max((now[thread] - before.get(thread, 0.0) for thread in now), default=0.0)
        counted_s += max(0.0, wall_s - starved_s)
        before = now
    return False


def _end_of(worker: WorkerProcess) -> str:
    code = worker.process.returncode
    how = f"was ended by {signal.Signals(-code).name}" if code is not None and code < 0 else f"ended with {code}"
    return f"worker {worker.name} (process {worker.process.pid}) {how}"


@asynccontextmanager
async def open_front(
    settings: Settings, *, quiet: bool = True, mcp: bool = True
) -> AsyncIterator[tuple[House, Supervisor]]:
    """The house of the front, and its workers with all rooms. ``quiet``: the workers do not print events of rooms."""
    store: Store = await run_in_thread("the store", partial(open_store, settings))
    group = GroupCommit(store, FRONT)
    with tempfile.TemporaryDirectory(prefix="cohabit-") as name:  # only for this user
        table = Table(FRONT)
        table.sockets[FRONT] = f"{name}/front.sock"
        try:
            server = StoreServer(group, f"{name}/store.sock")
        except BaseException:
            store.close()
            raise
        try:
            async with House.open(settings, store=cast(Store, group), node=Node(table)) as house:
                supervisor = Supervisor(house, table, Path(name), server, quiet, mcp)
                group.committed = supervisor.cluster.replicas.committed
                try:
                    await supervisor.start()
                    yield house, supervisor
                finally:
                    await supervisor.close()
        finally:
            server.close()
