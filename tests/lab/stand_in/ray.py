"""What the lab uses of Ray, with processes of this machine: for tests of our side of it where Ray is not installed.

A task runs in a process, which may die; a process runs one task after another. The actor is in the process that has made
it, and other processes ask it through a socket.
"""

import asyncio
import os
import tempfile
from collections.abc import Callable
from concurrent.futures import CancelledError
from contextlib import suppress
from multiprocessing import connection, get_context
from threading import Thread
from types import SimpleNamespace
from typing import Any


class RayError(Exception):
    """The worker, or the actor, is gone."""


class RayTaskError(RayError):
    """A task has raised something."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


exceptions = SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError)
util = SimpleNamespace(scheduling_strategies=SimpleNamespace(NodeAffinitySchedulingStrategy=lambda *_, **__: None))

_processes = get_context("forkserver")
_processes.set_forkserver_preload(["cohabit.lab.on_ray"])
_workers: list["Worker"] = []
_idle: list["Worker"] = []


def init(address: str, **options: Any) -> None:
    """The processes are started when there is something to do."""


def is_initialized() -> bool:
    return False


def shutdown() -> None:
    for worker in _workers:
        worker.process.kill()
        worker.process.join()


def get_runtime_context() -> Any:
    return SimpleNamespace(get_node_id=lambda: "this one")


def remote(**options: Any) -> Callable[[Any], Any]:
    return lambda made: SimpleNamespace(
        remote=lambda *args: Actor(made()) if isinstance(made, type) else Task(made, args)
    )


# -- tasks ------------------------------------------------------------------------------------------
class Worker:
    def __init__(self) -> None:
        self.pipe, theirs = _processes.Pipe()
        self.process = _processes.Process(target=_work, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()
        _workers.append(self)


def _work(pipe: Any) -> None:
    while True:
        task, args = pipe.recv()
        try:
            pipe.send((task(*args), None))
        except Exception as wrong:
            pipe.send((None, wrong))


class Task:
    def __init__(self, task: Any, args: Any) -> None:
        self.worker = _idle.pop() if _idle else Worker()
        self.worker.pipe.send((task, args))

    def result(self) -> Any:
        try:
            found, wrong = self.worker.pipe.recv()
        except (EOFError, OSError):
            raise RayError("the worker died") from None
        _idle.append(self.worker)
        if wrong is not None:
            raise RayTaskError(wrong)
        return found


def get(asked: Any) -> Any:
    return [one.result() for one in asked] if isinstance(asked, list) else asked.result()


def wait(tasks: list[Task], timeout: float) -> tuple[list[Task], list[Task]]:
    ready = connection.wait([task.worker.pipe for task in tasks], timeout)
    done = [task for task in tasks if task.worker.pipe in ready]
    return done, [task for task in tasks if task not in done]


# -- the actor --------------------------------------------------------------------------------------
class Actor:
    """It runs on a thread. A worker gets a copy without it, which knows the address."""

    def __init__(self, made: Any) -> None:
        self._made = made
        self._loop = asyncio.new_event_loop()
        self._address = os.path.join(tempfile.mkdtemp(prefix="actor"), "socket")
        listener = connection.Listener(self._address)
        Thread(target=self._loop.run_forever, daemon=True).start()
        Thread(target=self._listen, args=(listener,), daemon=True).start()

    def __getstate__(self) -> dict[str, Any]:
        return {"_made": None, "_address": self._address}

    def __getattr__(self, method: str) -> Any:
        if method.startswith("_"):
            raise AttributeError(method)
        return SimpleNamespace(
            remote=lambda *args: self._called(method, args) if self._made else self._asked(method, args)
        )

    def _called(self, method: str, args: Any) -> "Reply":
        return Reply(asyncio.run_coroutine_threadsafe(getattr(self._made, method)(*args), self._loop).result)

    def _asked(self, method: str, args: Any) -> "Reply":
        pipe = connection.Client(self._address)
        pipe.send((method, args))
        return Reply(pipe.recv)

    def _listen(self, listener: connection.Listener) -> None:
        while True:
            Thread(target=self._answer, args=(listener.accept(),), daemon=True).start()

    def _answer(self, pipe: Any) -> None:
        with suppress(EOFError, OSError, RayError):  # nobody waits for it any more
            pipe.send(self._called(*pipe.recv()).result())

    def end(self) -> None:
        for task in asyncio.all_tasks(self._loop):
            self._loop.call_soon_threadsafe(task.cancel)


class Reply:
    def __init__(self, wait: Callable[[], Any]) -> None:
        self._wait = wait

    def result(self) -> Any:
        try:
            return self._wait()
        except (CancelledError, EOFError, OSError):
            raise RayError("the actor is gone") from None


def kill(actor: Actor) -> None:
    actor.end()
