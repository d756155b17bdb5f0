"""Work on a Ray cluster: jobs go to workers, their results come back in order, and workers ask this process.

Every file of a run stays with this process, the host. A worker asks it for what it needs and sends what must not be
lost, through an actor. So a worker on any machine can die at any time: its job is submitted again, as another attempt.
An attempt that is not the newest is refused, also if its machine was only cut off and still works.
"""

import asyncio
import logging
import os
import secrets
import socket
import sys
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from threading import Event, Thread
from typing import Any, TypeVar

from msgspec import Struct

from cohabit.errors import BadArgs
from cohabit.version import __version__

MAX_ATTEMPTS = 4
"""The number of times that a job is submitted if its worker dies each time."""
AHEAD = 4
"""Jobs per worker that may be finished before the first one that is not."""
WAIT_S = 1.0
"""The time that a call to the cluster waits at most before this process checks for other events."""
MAX_QUESTIONS = 10_000
"""Questions of all workers at the same time."""
CONNECT_S = 10.0
"""The time that a cluster may take to accept a connection."""
CLIENT = "ray://"
"""The prefix of the address of a cluster that this machine is not part of."""

logger = logging.getLogger("cohabit.lab")

Job = TypeVar("Job")
Result = TypeVar("Result")
Ticket = tuple[int, int]
"""The number of a job, and of the attempt."""
Question = tuple[int, Ticket, str, tuple[Any, ...]]


class WorkersDied(Exception):
    """Every attempt of a job ended with the death of its worker."""


class Superseded(BaseException):
    """Nobody waits for this attempt any more. Not an Exception, because it is no failure of a game."""


class Refused(Struct, frozen=True):
    """The reply to an attempt that is not the newest, and its result."""


# -- the cluster ------------------------------------------------------------------------------------
@contextmanager
def connected(on: str, workers: int | None) -> Iterator[tuple[int, bool]]:
    """Join a cluster, or start one on this machine. Yields the number of jobs at the same time, and whether it was
    started.

    ``on``: ``ray://HOST:PORT``, or ``ray`` for the cluster in RAY_ADDRESS and without that for one of our own. A
    program that has called ``ray.init`` uses that one."""
    address = on if on.startswith(CLIENT) else os.environ.get("RAY_ADDRESS") or "local"
    if address == "local":
        _protect()
    ray = _ray()
    if ray.is_initialized():
        yield workers or _cpus(ray), False
        return
    options: dict[str, Any] = {"log_to_driver": False, "configure_logging": False}
    if address == "local":
        _warn()
        options |= {"num_cpus": workers, "include_dashboard": False}
    try:
        _check_answers(address)
        ray.init(address, **options)
    except (OSError, RuntimeError, ValueError) as wrong:
        raise BadArgs(f"the Ray cluster {address} cannot be used: {_first_line(wrong)}") from None
    try:
        yield workers or _cpus(ray), address == "local"
    finally:
        ray.shutdown()


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise BadArgs("a Ray cluster needs the package ray; install it with: pip install 'cohabit[ray]'") from None
    return ray


def _protect() -> None:
    """Give a cluster that is started here a token, which is not on disk. Ray reads it when it is imported; a program
    that has done so has chosen for itself, and Ray has a default."""
    if find_spec("ray") is not None and "ray" not in sys.modules and "RAY_AUTH_MODE" not in os.environ:
        os.environ["RAY_AUTH_MODE"], os.environ["RAY_AUTH_TOKEN"] = "token", secrets.token_hex(32)
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # it would report to its makers


def _warn() -> None:
    needed = os.environ.get("RAY_AUTH_MODE", "token") == "token"
    token = "ask for a token" if needed else "let everybody run code here, because of RAY_AUTH_MODE"
    sys.stderr.write(
        "starting Ray on this machine, which takes a while. Its ports are open on every network address, and "
        f"{token}: use it in a network that you trust\n"
    )
    sys.stderr.flush()


def _check_answers(address: str) -> None:
    """Raise if nothing listens at an address: Ray would try for minutes."""
    host, colon, port = address.removeprefix(CLIENT).rpartition(":")
    if colon and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_S).close()


def _cpus(ray: Any) -> int:
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def _explained(wrong: Exception, cause: Any = None) -> Exception:
    """The error for a user instead of one of Ray: its cause, if there is one."""
    if "No module named 'cohabit" in str(wrong):
        return BadArgs(f"a machine of the Ray cluster has no Cohabit; install version {__version__} there")
    return cause if isinstance(cause, Exception) else wrong


def _first_line(wrong: Exception) -> str:
    return next(iter(str(wrong).strip().splitlines()), type(wrong).__name__)


# -- questions to the host --------------------------------------------------------------------------
class Relay:
    """The actor between workers and the host: a host behind a firewall can call the cluster, and not the reverse."""

    def __init__(self) -> None:
        self._asked: list[Question] = []
        self._open: dict[int, asyncio.Future[Any]] = {}
        self._number = 0
        self._arrived = asyncio.Event()

    async def ask(self, ticket: Ticket, what: str, arguments: tuple[Any, ...]) -> Any:
        """Called by a worker. Returns the reply of the host."""
        self._number += 1
        self._open[self._number] = asyncio.get_running_loop().create_future()
        self._asked.append((self._number, ticket, what, arguments))
        self._arrived.set()
        return await self._open[self._number]

    async def exchange(self, replies: list[tuple[int, Any]]) -> list[Question]:
        """Called by the host with its replies. Returns the next questions, or none after a while."""
        for number, reply in replies:
            self._open.pop(number).set_result(reply)
        try:
            await asyncio.wait_for(self._arrived.wait(), WAIT_S)
        except TimeoutError:
            return []
        self._arrived.clear()
        asked, self._asked = self._asked, []
        return asked


class Link:
    """A worker's way to ask the host. ``run`` differs from run to run: a process may work for several."""

    def __init__(self, relay: Any, run: str, ticket: Ticket) -> None:
        self._relay, self.run, self.ticket = relay, run, ticket

    def ask(self, what: str, *arguments: Any) -> Any:
        """The reply of the host. What it was asked to keep is kept when this returns."""
        ray = _ray()
        try:
            reply = ray.get(self._relay.ask.remote(self.ticket, what, arguments))
        except ray.exceptions.RayError:  # the run has ended, or lost its relay
            reply = Refused()
        if isinstance(reply, Refused):
            raise Superseded
        return reply

    def tell(self, what: str, *arguments: Any) -> None:
        """Ask, and do not wait."""
        self._relay.ask.remote(self.ticket, what, arguments)


class Host:
    """Answers the questions of workers on a thread of this process. ``answer`` is called for one at a time."""

    def __init__(self, answer: Callable[[int, str, tuple[Any, ...]], Any], own_processes: bool) -> None:
        ray = _ray()
        self.run = secrets.token_hex(8)
        # Processes of an earlier run may have loaded files that have changed since, and have keys of that run.
        environment = {"runtime_env": {"env_vars": {"COHABIT_RUN": self.run}}} if own_processes else {}
        self._task = ray.remote(max_retries=0, **environment)(_attempt)
        here = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(
            ray.get_runtime_context().get_node_id(), soft=True
        )
        relay = ray.remote(num_cpus=0, max_concurrency=MAX_QUESTIONS, scheduling_strategy=here)(Relay)
        try:
            self._relay = relay.remote()
        except ModuleNotFoundError as wrong:  # a client hears of it here
            raise _explained(wrong) from None
        self._answer = answer
        self._newest: dict[int, int] = {}
        self._closing = Event()
        self._failure: Exception | None = None
        self._thread = Thread(target=self._serve, name="ray host", daemon=True)
        self._thread.start()

    def submit(self, play: Callable[[Link, Job], Result], job: Job, ticket: Ticket) -> Any:
        """Begin an attempt. Earlier ones of the same job are refused from now on."""
        self._newest[ticket[0]] = ticket[1]
        return self._task.remote(play, self._relay, self.run, ticket, job)

    def finish(self, number: int) -> None:
        """The job has a result."""
        self._newest.pop(number, None)

    def check(self) -> None:
        """Raise if questions can no longer be answered."""
        if self._failure is not None:
            raise self._failure

    def close(self) -> None:
        self._closing.set()
        _ray().kill(self._relay)
        self._thread.join()

    def _serve(self) -> None:
        ray, replies = _ray(), list[tuple[int, Any]]()
        try:
            while not self._closing.is_set():
                asked = ray.get(self._relay.exchange.remote(replies))
                replies = [(number, self._reply(*question)) for number, *question in asked]
        except ray.exceptions.RayError as wrong:
            if not self._closing.is_set():
                self._failure = _explained(wrong, WorkersDied(type(wrong).__name__))

    def _reply(self, ticket: Ticket, what: str, arguments: tuple[Any, ...]) -> Any:
        number, attempt = ticket
        if self._newest.get(number) != attempt or self._failure is not None:
            return Refused()
        try:
            return self._answer(number, what, arguments)
        except Exception as wrong:  # such as a full disk; the run ends with it
            self._failure = wrong
            return Refused()


def _attempt(play: Callable[[Link, Any], Any], relay: Any, run: str, ticket: Ticket, job: Any) -> Any:
    """Play a job. Ray runs this in a worker."""
    try:
        return play(Link(relay, run, ticket), job)
    except Superseded:
        return Refused()


# -- jobs -------------------------------------------------------------------------------------------
def in_cluster(
    play: Callable[[Link, Job], Result], jobs: Iterator[Job], workers: int, host: Host
) -> Generator[tuple[int, Result]]:
    """The number of each job, from 0, and what ``play`` returns for it, in order."""
    cluster = _Jobs(play, host)
    waiting: deque[int] = deque()
    try:
        while True:
            while len(cluster.running) < workers and len(waiting) < workers * AHEAD:
                if (job := next(jobs, None)) is None:
                    break
                waiting.append(cluster.begin(job))
            if not waiting:
                return
            if waiting[0] in cluster.ended:
                number = waiting.popleft()
                yield number, cluster.result(number)
            else:
                cluster.wait()
    except KeyboardInterrupt:
        cluster.cancel()
        raise
    finally:
        cluster.drain()


class _Jobs:
    """The jobs that are being played, and those that are finished."""

    def __init__(self, play: Callable[[Link, Any], Any], host: Host) -> None:
        self._play, self._host = play, host
        self.running: dict[Any, int] = {}  # what Ray calls a task, and its number
        self.ended: dict[int, Any] = {}
        self._jobs: dict[int, Any] = {}
        self._attempts: Counter[int] = Counter()
        self._number = -1

    def begin(self, job: Any) -> int:
        self._number += 1
        self._jobs[self._number] = job
        self._submit(self._number)
        return self._number

    def result(self, number: int) -> Any:
        self._host.check()
        found = self.ended.pop(number)
        if isinstance(found, BaseException):
            raise found
        return found

    def wait(self) -> None:
        """Wait until another job has ended, or for a moment."""
        self._host.check()
        for ref in _ray().wait(list(self.running), timeout=WAIT_S)[0]:
            self._collect(ref, self.running.pop(ref))

    def cancel(self) -> None:
        for ref in self.running:
            _ray().cancel(ref, force=True)
        self.running.clear()

    def drain(self) -> None:
        """Wait for what is being played: answers that it waits for are paid for, and are logged when they arrive."""
        while self.running:
            for ref in _ray().wait(list(self.running), timeout=WAIT_S)[0]:
                del self.running[ref]

    def _submit(self, number: int) -> None:
        self._attempts[number] += 1
        ref = self._host.submit(self._play, self._jobs[number], (number, self._attempts[number]))
        self.running[ref] = number

    def _collect(self, ref: Any, number: int) -> None:
        ray = _ray()
        try:
            result = ray.get(ref)
        except ray.exceptions.RayTaskError as raised:
            self._end(number, _explained(raised, raised.cause))
        except ray.exceptions.RayError as died:  # the worker or its machine, or its result with that
            self._again(number, type(died).__name__)
        else:
            if isinstance(result, Refused):
                self._again(number, "RelayDied")
            else:
                self._end(number, result)

    def _again(self, number: int, why: str) -> None:
        if self._attempts[number] < MAX_ATTEMPTS:
            logger.warning("a worker ended unexpectedly; its games are played again (%s)", why)
            self._submit(number)
        else:
            self._end(number, WorkersDied(why))

    def _end(self, number: int, result: Any) -> None:
        self._host.finish(number)
        self.ended[number] = result
        del self._jobs[number]
