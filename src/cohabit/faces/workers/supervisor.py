"""Starts the workers of a house, watches them, and replaces those that die."""

import asyncio
import hmac
import logging
import mmap
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from typing import Any, cast

import msgspec

from cohabit.errors import CohabitError, Unreachable
from cohabit.faces.workers.dialing import check_houses_known
from cohabit.faces.workers.passing import Passage, Passages, Take
from cohabit.faces.workers.private_folder import private_folder
from cohabit.faces.workers.reception import Reception, listen_for_houses, with_port
from cohabit.faces.workers.serving import import_mcp, listen_for_nodes, serve_front
from cohabit.faces.workers.worker import Start
from cohabit.house.deadlines import starved_by_thread
from cohabit.house.directory import FRONT, Table
from cohabit.house.house import House, open_cluster_store, open_store
from cohabit.house.nodes.cluster import Cluster
from cohabit.house.nodes.following import following_others
from cohabit.house.nodes.houses import Houses
from cohabit.house.nodes.link import Link
from cohabit.house.nodes.node import Node
from cohabit.house.nodes.numbers import resident_bytes
from cohabit.house.readiness import READY
from cohabit.house.running.computing import SIZE, running_in, shared_memory
from cohabit.house.settings import Settings, check_houses
from cohabit.house.store.cluster_contract import ClusterStore
from cohabit.house.store.contract import Store
from cohabit.house.store.group_commit import GroupCommit
from cohabit.house.store.store_server import StoreServer
from cohabit.house.threads import run_in_thread

log = logging.getLogger("cohabit")
MODULE = "cohabit.faces.workers.worker"
PING_EVERY_S = 1.0
CHECK_EVERY_S = 0.25
"""The interval at which a worker that does not answer is checked."""
SILENT_S = 2.0
"""After this time without an answer, a worker is not ready."""
EXIT_OUT = 75
"""The exit code of a house that has to start again, because another one has taken over."""
STOP_S = 60.0
"""The time that a worker may take to store everything when the house stops."""
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
        self.asked_at: float | None = None  # when the question was sent that it has not answered yet
        self._memory = mmap.mmap(memory, SIZE)
        os.close(memory)

    @property
    def running(self) -> list[str]:
        """The rooms whose worlds are running, or were when it ended."""
        return running_in(self._memory)

    def state(self, now: float) -> str:
        """For those who ask whether the house is ready. ``now``: by the clock of the event loop."""
        if self.stopping:
            return "stopping"
        if not self.ready.done():
            return "starting"
        return READY if self.asked_at is None or now - self.asked_at < SILENT_S else "silent"


class Supervisor:
    """The workers of a house. ``folder``: private, for sockets. ``passages``: by which connections go to them."""

    def __init__(self, house: House, table: Table, folder: Path, store: StoreServer, quiet: bool, mcp: bool) -> None:
        self.cluster = Cluster(house, table)
        self.address = house.settings.url  # for links
        self.workers: dict[str, WorkerProcess] = {}
        self.passages = Passages()
        self.houses: Houses | None = None  # in a cluster
        self._take_for_front: Take | None = None  # takes connections of other houses
        self._settings = house.settings
        self.folder = folder
        self._store = store
        self._quiet, self._mcp = quiet, mcp
        self._number = 0
        self._closing = False
        self._tasks: set[asyncio.Task[Any]] = set()
        self._replacing: set[asyncio.Task[Any]] = set()
        house.readiness.workers = self.states
        house.readiness.checks.append(self._not_ready)

    def states(self) -> dict[str, str]:
        """Of each worker: ready, starting, silent or stopping."""
        now = asyncio.get_running_loop().time()
        return {name: worker.state(now) for name, worker in self.workers.items()}

    def _not_ready(self) -> str:
        return "" if READY in self.states().values() else "no worker answers"

    # -- starting ---------------------------------------------------------------------------------
    async def start(self) -> None:
        """Start the workers, and open every room in one of them."""
        started = [await self._spawn() for _ in range(self._settings.workers)]
        await asyncio.gather(*(asyncio.shield(worker.ready) for worker in started))
        await (self.cluster.open_all() if self.houses is None else self.houses.start())

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
            return Start(
                worker.name,
                settings,
                self._store.path,
                path,
                self.address,
                self.cluster.table.word,
                self._quiet,
                self._mcp,
            )

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

        def take_houses(take: Take) -> None:
            self._take_for_front = take

        table, house = self.cluster.table, self.cluster.house
        drain = self.houses.drain if self.houses is not None else None
        with closing(listener), closing(listen_for_nodes(table.socket_of(FRONT))) as for_nodes:
            await serve_front(
                house, table, self.passages, listener, for_nodes, ready=listening, mcp=self._mcp,
                houses=take_houses if self.houses is not None else None, drain=drain,
            )  # fmt: skip

    async def taker(self, node: str) -> Callable[[socket.socket], None] | None:
        """The receiver of connections of other houses to a node, by its own name. Waits for one that is starting."""
        if node == FRONT and (take := self._take_for_front) is not None:
            return lambda connection: take(connection, b"", lambda: None)
        if (worker := self.workers.get(node)) is not None and not worker.ready.done():
            await asyncio.wait([worker.ready])
        if (passage := self.passages.by_node.get(node)) is None:
            return None
        return lambda connection: _passed_on(passage, connection)

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
            worker.asked_at = asyncio.get_running_loop().time()
            answer = link.asked("ping")
            if not await _answers(answer, worker.process.pid, limit_s):
                log.error("worker %s did not answer for %g s, and is killed", worker.name, limit_s)
                return
            if answer.exception() is not None:
                return
            worker.asked_at = None
            self.cluster.travels(worker.name, answer.result())
            used = resident_bytes(worker.process.pid)
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


def _passed_on(passage: Passage, connection: socket.socket) -> None:
    """A connection of another house goes to a node of this one. It is closed if that is not possible."""
    passage.pass_on(connection, b"", lambda: None, of_house=True)


def _start(given: Sequence[int]) -> "subprocess.Popen[bytes]":
    """A new process, not a copy of this one, with these files. It leads a session: the front gets the signals."""
    words = [sys.executable, "-m", MODULE, *map(str, given)]
    return subprocess.Popen(words, pass_fds=given, stdin=subprocess.DEVNULL, start_new_session=True)


async def _answers(answer: "asyncio.Future[Any]", pid: int, limit_s: float) -> bool:
    """True if an answer comes in time. What counts is the time in which the process could have given it: not while
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


def _word(settings: Settings) -> str:
    """The secret that proves that a call comes from a process of this house, or of another one of the cluster."""
    if not settings.houses_key:
        return secrets.token_hex(32)
    return hmac.digest(settings.houses_key.encode(), b"calls between nodes", "sha256").hex()


def _end_at_once(folder: Path) -> None:
    """Another house has taken over, or changes were missed: nothing may be answered any more. The workers end with this
    process, and a service manager starts it again."""
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(EXIT_OUT)


@asynccontextmanager
async def open_front(
    settings: Settings, *, quiet: bool = True, mcp: bool = True
) -> AsyncIterator[tuple[House, Supervisor]]:
    """The house of the front, and its workers with all rooms. ``quiet``: the workers do not print events of rooms."""
    check_houses(settings)
    if mcp:
        import_mcp()
    async with AsyncExitStack() as stack:
        listener = stack.enter_context(closing(listen_for_houses(settings))) if settings.houses_address else None
        if listener is not None:
            settings = with_port(settings, listener)
        store = await _opened_store(settings)
        group = GroupCommit(store, FRONT)
        folder = stack.enter_context(private_folder())
        table = Table(FRONT, _word(settings))
        table.sockets[FRONT] = str(folder / "front.sock")
        try:
            server = StoreServer(group, str(folder / "store.sock"))
        except BaseException:
            store.close()
            raise
        stack.callback(server.close)
        opened = House.open(settings, store=cast(Store, group), node=Node(table))
        house = await stack.enter_async_context(opened)
        house.rooms.leases.on_out = partial(_end_at_once, folder)
        supervisor = Supervisor(house, table, folder, server, quiet, mcp)
        group.committed = supervisor.cluster.replicas.committed
        await stack.enter_async_context(following_others(house, store, supervisor.cluster.replicas))
        stack.push_async_callback(supervisor.close)
        if listener is not None:
            supervisor.houses = Houses(house, supervisor.cluster, cast(ClusterStore, store))
            await check_houses_known(settings.houses_key, await supervisor.houses.fronts())
        await supervisor.start()
        if supervisor.houses is not None and listener is not None:
            reception = Reception(settings.houses_key, supervisor.cluster.place, supervisor.taker)
            for work in (supervisor.houses.run(), reception.serve(listener)):
                stack.push_async_callback(_cancelled, asyncio.ensure_future(work))
        yield house, supervisor


async def _cancelled(task: "asyncio.Future[None]") -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def _opened_store(settings: Settings) -> Store:
    opens = open_cluster_store if settings.houses_address else open_store
    store: Store = await run_in_thread("the store", partial(opens, settings))
    return store
