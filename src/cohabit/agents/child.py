"""The process of an agent: ``python -m cohabit.agents.child SOCKET LIFELINE``, started by ``agents.process``.

It makes one agent at a time, calls its methods as it is told, and ends with its parent. A synchronous agent is called
on the main thread, an asynchronous one on an event loop that also runs between its decisions.
"""

import asyncio
import inspect
import os
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from cohabit.agents import wire
from cohabit.agents.contract import Call as ModelCall
from cohabit.agents.contract import Thought, awaited, checked_action, finished, is_async, plan_lines
from cohabit.agents.llm.backend import BackendError, Completion, Request, WrappedBackend
from cohabit.agents.llm.calls import note
from cohabit.agents.llm.retrying import RetryingBackend
from cohabit.agents.process import end_with_parent
from cohabit.registry import make_agent


def main() -> None:
    connection, lifeline = socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2])
    connection.set_inheritable(False)  # programs that the agent starts must not keep it open
    os.set_inheritable(lifeline, False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets it, too, and closes its agents
    end_with_parent(lifeline)
    _be_killed_first()
    os.register_at_fork(after_in_child=partial(_let_go, connection, lifeline))
    Child(connection).serve()


def _let_go(connection: socket.socket, lifeline: int) -> None:
    """A process that the agent has forked has no part in its connection: the parent must see that the agent ended."""
    connection.close()
    os.close(lifeline)


def _be_killed_first() -> None:
    """If memory runs out, the kernel ends this process before the run or the house. Only Linux knows how."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


class Child:
    """See the module."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._frames = wire.Frames()
        self._agent: Any = None

    # -- without an agent, or with a synchronous one ----------------------------------------------
    def serve(self) -> None:
        while data := self._connection.recv(wire.READ_BYTES):
            for message in self._frames.feed(data):
                if isinstance(message, wire.Call):
                    self._serve_call(message)
        os._exit(0)  # even if threads of the agent still run

    def _serve_call(self, call: wire.Call) -> None:
        try:
            found = finished(self._started(call))
            reply: wire.Message = wire.Reply(call.id, wire.packed(checked(call.method, found)))
        except BaseException as bug:
            reply = wire.failure(call.id, bug)
        self._connection.sendall(wire.frame(reply))
        if self._agent is not None and is_async(self._agent):
            closed = asyncio.run(AsyncChild(self._connection, self._agent, self._frames).serve())
            self._agent = None
            self._connection.sendall(wire.frame(closed))  # not before tasks and threads of the agent have ended

    def _started(self, call: wire.Call) -> Any:
        """The result of the method, which may have to be awaited."""
        arguments = wire.unpacked(call.arguments, wire.ARGUMENTS[call.method])
        if call.method == "make":
            return self._make(*arguments)
        agent = self._agent
        if call.method == "close":
            self._agent = None
        return start(agent, call.method, arguments)

    def _make(self, name: str, purpose: str, path: list[str], folder: str) -> wire.Facts:
        sys.path[:] = path
        os.chdir(folder)
        self._agent = make_agent(name, purpose)
        return facts_of(self._agent)


class AsyncChild:
    """The calls of an asynchronous agent, until it is closed."""

    def __init__(self, connection: socket.socket, agent: Any, frames: wire.Frames) -> None:
        self._connection, self._agent, self._frames = connection, agent, frames
        self._sending = asyncio.Lock()
        self._calls: dict[int, asyncio.Task[wire.Message]] = {}  # what the agent is doing, which can be cancelled
        self._answers: set[asyncio.Task[None]] = set()  # never cancelled: every call is answered, and as a whole
        self._waiting: dict[int, asyncio.Future[wire.Reply | wire.Failure]] = {}  # questions to the parent
        self._asked = 0
        self._cancelling: asyncio.Future[None] | None = None
        self._closed: wire.Message | None = None  # the answer to ``close``
        self._backend: Any = None
        if (asker := asker_of(agent)) is not None:
            self._backend, asker.backend = asking_once(asker)[0], ParentBackend(asker.backend, self._ask)

    async def serve(self) -> wire.Message:
        """Returns the answer to ``close``, which is not sent yet."""
        loop = asyncio.get_running_loop()
        self._connection.setblocking(False)
        try:
            while self._closed is None:
                data = await loop.sock_recv(self._connection, wire.READ_BYTES)
                if not data:
                    os._exit(0)
                for message in self._frames.feed(data):
                    await self._take(message)
            return self._closed
        finally:
            self._connection.setblocking(True)

    async def _take(self, message: wire.Message) -> None:
        match message:
            case wire.Call(_, "close"):
                for call in self._calls.values():
                    call.cancel()
                await asyncio.gather(*self._answers, return_exceptions=True)
                self._closed = await self._reply(message)
            case wire.Call():
                self._begin(message)
            case wire.Cancel(number):
                if number in self._calls:
                    self._calls[number].cancel()
            case wire.Reply() | wire.Failure():
                if (waiting := self._waiting.get(message.id)) is not None and not waiting.done():
                    waiting.set_result(message)

    def _begin(self, call: wire.Call) -> None:
        loop = asyncio.get_running_loop()
        self._calls[call.id] = loop.create_task(self._reply(call))
        answer = loop.create_task(self._answer(call.id))
        self._answers.add(answer)
        answer.add_done_callback(self._answers.discard)

    async def _answer(self, number: int) -> None:
        try:
            reply = await self._calls[number]
        except asyncio.CancelledError as cancelled:  # before it began
            reply = wire.failure(number, cancelled)
        finally:
            del self._calls[number]
        await self._send(reply)

    async def _reply(self, call: wire.Call) -> wire.Message:
        try:
            return wire.Reply(call.id, wire.packed(checked(call.method, await self._performed(call))))
        except BaseException as bug:
            return wire.failure(call.id, bug)

    async def _performed(self, call: wire.Call) -> Any:
        if call.method == "complete":
            return await self._backend.complete(wire.unpacked(call.arguments, tuple[Request])[0])
        arguments = wire.unpacked(call.arguments, wire.ARGUMENTS[call.method])
        return await awaited(start, self._agent, call.method, arguments)

    async def _ask(self, request: Any) -> Any:
        """Let the parent answer a question to the language model. It may ask for a completion in turn."""
        self._asked += 1
        number = self._asked
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            # Shielded: a message that is sent in part would spoil all that follow.
            await asyncio.shield(self._send(wire.Call(number, "complete", wire.packed((request,)))))
            found = await answer
        except asyncio.CancelledError:  # the agent waits no longer, so nothing more is spent on it
            self._cancelling = asyncio.ensure_future(self._send(wire.Cancel(number)))
            raise
        finally:
            self._waiting.pop(number, None)
        if isinstance(found, wire.Failure):
            raise found.of_kind(BackendError) if found.of_backend else found.exception()
        completion, requests = wire.unpacked(found.value, tuple[Completion, list[ModelCall]])
        for request in requests:
            note(request)
        return completion

    async def _send(self, message: wire.Message) -> None:
        data = wire.frame(message)
        async with self._sending:
            await asyncio.get_running_loop().sock_sendall(self._connection, data)


class ParentBackend(WrappedBackend):
    """In place of an agent's backend: the parent answers, from its log or by asking the real one."""

    def __init__(self, backend: Any, ask: Callable[[Request], Awaitable[Completion]]) -> None:
        super().__init__(backend)
        self.complete = ask

    def __getattr__(self, name: str) -> Any:
        return getattr(self.backend, name)


# -- the agent --------------------------------------------------------------------------------------
def start(agent: Any, method: str, arguments: Iterable[Any]) -> Any:
    """Call a method. One that the agent does not have does nothing."""
    called = getattr(agent, method, None)
    if called is None:
        return None
    if method == "think":
        turn, correction = arguments
        return called(turn.turn(), correction)
    return called(*arguments)


def checked(method: str, found: Any) -> Any:
    """The result of a method after a check, if it is used."""
    match method:
        case "decide":
            return checked_action(found)
        case "think" if not isinstance(found, Thought):
            raise TypeError(f"think returned {type(found).__name__}, not a Thought")
        case "plan":
            plan_lines(found)
    return found if method in wire.RESULTS or method == "complete" else None


def has_backend(agent: Any) -> bool:
    return hasattr(getattr(agent, "backend", None), "complete")


OF_ITS_BACKEND = ("backend", "server", "_metered")
"""Attributes of one backend: itself, and what it is made of."""


def askers(agent: Any) -> list[Any]:
    """The parts that ask language models: the agent itself, its parts, and backends that it calls directly."""
    parts = {id(part): part for name, part in getattr(agent, "__dict__", {}).items() if name not in OF_ITS_BACKEND}
    return [part for part in (agent, *parts.values()) if has_backend(part) or is_backend(part)]


def asker_of(agent: Any) -> Any:
    """The part that asks through the parent: the agent itself, or the only one of its parts; None otherwise."""
    found = askers(agent)
    is_one = is_async(agent) and found and has_backend(found[0]) and (found[0] is agent or len(found) == 1)
    return found[0] if is_one else None


def is_backend(part: Any) -> bool:
    return all(hasattr(part, name) for name in ("complete", "constrains", "name"))


def why_uncounted(agent: Any) -> str:
    found = askers(agent)
    if not found or (asker_of(agent) is found[0] and len(found) == 1):
        return ""
    if not is_async(agent):
        return "it is not asynchronous"
    return "it has several models" if len(found) > 1 else "its model is not in an attribute `backend`"


def asking_once(asker: Any) -> tuple[Any, int]:
    """Its backend without what the parent does: retries, limits and counting. And the number of retries."""
    if (server := getattr(asker, "server", None)) is not None:
        return server, int(getattr(getattr(asker, "options", None), "retries", 0))
    backend, retries = asker.backend, 0
    while isinstance(backend, RetryingBackend):
        retries = max(retries, backend.retries)
        backend = backend.backend
    return backend, retries


def facts_of(agent: Any) -> wire.Facts:
    asker = asker_of(agent)
    backend, retries = asking_once(asker) if asker is not None else (None, 0)
    options = getattr(asker, "options", None)
    known = {
        name: bool(getattr(agent, name))
        for name in ("quick", "one_at_a_time", "reads_choices", "reads_text", "looks", "reflects", "priced")
        if hasattr(agent, name)
    }
    known.setdefault("priced", bool(getattr(backend, "priced", True)))
    modules = [sys.modules.get(base.__module__) for base in type(agent).__mro__ if base is not object]
    files = [file for module in modules if (file := getattr(module, "__file__", None)) is not None]
    files += getattr(agent, "files", [])  # of a program
    return wire.Facts(
        methods=[name for name in wire.METHODS if callable(getattr(agent, name, None))],
        asynchronous=is_async(agent),
        backend=str(backend.name) if backend is not None else "",
        constrains=bool(backend is not None and backend.constrains),
        account=str(getattr(backend, "account", "") or getattr(backend, "name", "")),
        prompt_factor=float(getattr(backend, "prompt_factor", 1.0)),
        uncounted=why_uncounted(agent),
        retries=retries,
        per_minute=int(getattr(options, "per_minute", 0)),
        wrong=[wrong for name in wire.METHODS if (wrong := _wrong_signature(agent, name))],
        files=list(dict.fromkeys(files)),
        **known,
    )


def _wrong_signature(agent: Any, method: str) -> str:
    """Why a method cannot be called with its arguments; empty if it can, or if the agent does not have it."""
    called, kinds = getattr(agent, method, None), wire.ARGUMENTS.get(method, tuple[Any]).__args__
    if called is None:
        return ""
    try:
        inspect.signature(called).bind(*kinds)
    except TypeError as wrong:
        return f"{method}{inspect.signature(called)}: {wrong}"
    except ValueError:  # no signature is known
        return ""
    return ""


if __name__ == "__main__":
    main()
