"""The process of an agent, from its parent's side: started, asked, killed, and used again by the next agent."""

import asyncio
import fcntl
import os
import signal
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from time import monotonic
from typing import Any
from weakref import finalize

from cohabit.agents import wire

MODULE = "cohabit.agents.child"
MAX_IDLE = 8
"""The number of processes that wait for their next agent."""
UNREADABLE = "its process sent data that cannot be read"
STDERR = 2
REAP_S = 1.0
"""The time that a process that has closed its connection may take to end."""
REAP_EVERY_S = 0.01


class AgentCrashed(Exception):
    """The process of an agent ended. The text says how."""


class AgentProcess:
    """One process. It has one agent at a time, and is used from one event loop at a time, or from none."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        lifeline, self._lifeline = os.pipe()
        try:
            words = [sys.executable, "-u", "-m", MODULE, str(theirs.fileno()), str(lifeline)]
            # Its output is seen at once, however it ends, but not in our output, which another program may read.
            self._process = subprocess.Popen(
                words, pass_fds=(theirs.fileno(), lifeline), stdin=subprocess.DEVNULL, stdout=STDERR,
                start_new_session=True,
            )  # fmt: skip
        except BaseException:
            ours.close()
            os.close(self._lifeline)
            raise
        finally:
            theirs.close()
            os.close(lifeline)
        self._socket = ours
        self._frames = wire.Frames(wire.MAX_SENT)
        self._unsent = bytearray()
        self._number = 0
        self._waiting: dict[int, tuple[str, asyncio.Future[Any]]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._on_call: Callable[[wire.Call | wire.Cancel], None] | None = None
        self._ended = ""
        self._kill = finalize(self, _end, os.getpid(), self._process, ours, self._lifeline)

    @property
    def is_alive(self) -> bool:
        return not self._ended and not self._has_exited()

    def _has_exited(self, seconds: float = 0.0) -> bool:
        """Ask the system, for a while. What the agent has started is killed at once after its end: later another group
        can have the same number."""
        if self._process.returncode is None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(seconds)
                _kill_group(self._process)
        return self._process.returncode is not None

    @property
    def has_ended(self) -> bool:
        """True if it is known to have ended; ``is_alive`` asks the system."""
        return bool(self._ended)

    # -- without an event loop --------------------------------------------------------------------
    def ask(self, method: str, *arguments: Any, seconds: float) -> Any:
        """Call a method, and wait. Raises what it raised, AgentCrashed or TimeoutError."""
        self._socket.settimeout(seconds)
        number, ends = self._next(), monotonic() + seconds
        try:
            self._socket.sendall(wire.frame(wire.Call(number, method, wire.packed(arguments))))
            while data := self._socket.recv(wire.READ_BYTES):
                for message in self._received(data):
                    if isinstance(message, wire.Reply | wire.Failure) and message.id == number:
                        return _result(method, message)
                self._socket.settimeout(max(0.001, ends - monotonic()))
        except TimeoutError:
            self.kill()
            raise TimeoutError(f"{method} did not return within {seconds:g} s") from None
        except OSError:  # it has ended, or was killed above
            pass
        self.kill(self._ended or self._find_end())
        raise AgentCrashed(self._ended)

    # -- on an event loop -------------------------------------------------------------------------
    def attach(self, on_call: Callable[[wire.Call | wire.Cancel], None]) -> None:
        """Use it on the running event loop. ``on_call`` gets what the agent asks its parent, and
        what it no longer asks."""
        self._loop, self._on_call = asyncio.get_running_loop(), on_call
        self._socket.setblocking(False)
        self._loop.add_reader(self._socket, self._read)

    def detach(self) -> None:
        if self._loop is not None and self._socket.fileno() >= 0:
            self._loop.remove_reader(self._socket)
            self._loop.remove_writer(self._socket)
        self._loop = self._on_call = None

    def call(self, method: str, arguments: Any) -> "tuple[int, asyncio.Future[Any]]":
        """Call a method. Returns the number of the call, and a future for its result."""
        if self._loop is None:
            raise AgentCrashed(self._ended)
        number, answer = self._next(), self._loop.create_future()
        call = wire.Call(number, method, wire.packed(arguments))
        self._waiting[number] = method, answer
        self.send(call)
        return number, answer

    def give_up(self, number: int) -> "asyncio.Future[Any] | None":
        """Nobody waits for the answer to this call any more; an asynchronous agent is cancelled. Returns a future that
        is done when the agent has returned, None if it has already."""
        if self._loop is None or number not in self._waiting:
            return None
        method, _ = self._waiting[number]
        late = self._loop.create_future()
        self._waiting[number] = method, late
        self.send(wire.Cancel(number))
        return late

    def fail(self, why: BaseException) -> None:
        """Raise this in all calls that are waited for."""
        waiting, self._waiting = self._waiting, {}
        for _, answer in waiting.values():
            if not answer.done():
                answer.set_exception(why)

    def interrupt(self, why: Exception) -> None:
        """Raise this in the calls that are waited for. ``give_up`` follows: the agent has not returned from them."""
        for method, answer in self._waiting.values():
            if method != "complete" and not answer.done():
                answer.set_exception(why)

    def send(self, message: wire.Message) -> None:
        """Send without waiting: what does not fit now follows."""
        if self._loop is None or self._ended:
            return
        data = wire.frame(message)
        if self._unsent:
            self._unsent += data
            return
        try:
            sent = self._socket.send(data)
        except BlockingIOError:
            sent = 0
        except OSError:  # it has ended, which the reader finds
            return
        if sent < len(data):
            self._unsent += data[sent:]
            self._loop.add_writer(self._socket, self._flush)

    def _flush(self) -> None:
        assert self._loop is not None
        with suppress(BlockingIOError, OSError):
            del self._unsent[: self._socket.send(self._unsent)]
        if not self._unsent:
            self._loop.remove_writer(self._socket)

    def _read(self) -> None:
        try:
            data = self._socket.recv(wire.READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            assert self._loop is not None
            self._loop.remove_reader(self._socket)
            self._wait_for_end(self._loop.time() + REAP_S)
            return
        for message in self._received(data):
            self._take(message)

    def _wait_for_end(self, until: float) -> None:
        """A process closes its connection a moment before it can be asked how it ended."""
        if self._loop is None:
            return
        if self._has_exited() or self._loop.time() >= until:
            self.kill(self._ended or self._find_end(0.0))
        else:
            self._loop.call_later(REAP_EVERY_S, self._wait_for_end, until)

    def _received(self, data: bytes) -> list[wire.Message]:
        try:
            return list(self._frames.feed(data))
        except Exception:  # the agent has written into the connection
            self.kill(UNREADABLE)
            return []

    def _take(self, message: wire.Message) -> None:
        if isinstance(message, wire.Call | wire.Cancel):
            if self._on_call is not None:
                self._on_call(message)
        elif (waiting := self._waiting.pop(message.id, None)) is not None:
            method, answer = waiting
            if answer.done():
                return
            try:
                answer.set_result(_result(method, message))
            except BaseException as bug:
                answer.set_exception(bug)

    # -- the end ----------------------------------------------------------------------------------
    def kill(self, why: str = "its process was killed") -> None:
        """End it now, whatever it does."""
        self._ended = self._ended or why
        if self._loop is not None:
            self.detach()
            self.fail(AgentCrashed(self._ended))
        self._kill()

    def how_it_ended(self) -> str:
        """Of a process that is alive: why it is killed now."""
        return self._ended or (self._find_end() if not self.is_alive else "its process was killed: it did not return")

    def _find_end(self, seconds: float = REAP_S) -> str:
        """The reason why a process that has closed its connection has ended."""
        if not self._has_exited(seconds):
            return "its process closed the connection"
        code = self._process.returncode
        if code >= 0:
            return f"its process ended with exit code {code}"
        reason = ", for example because memory ran out" if code == -signal.SIGKILL else ""
        return f"its process was killed by {signal.Signals(-code).name}{reason}"

    def _next(self) -> int:
        self._number += 1
        return self._number


def _result(method: str, message: wire.Reply | wire.Failure) -> Any:
    if isinstance(message, wire.Failure):
        raise message.exception()
    if method == "complete":
        return message.value
    return wire.unpacked(message.value, wire.RESULTS[method]) if method in wire.RESULTS else None


def _end(parent: int, process: "subprocess.Popen[bytes]", connection: socket.socket, lifeline: int) -> None:
    if os.getpid() != parent:  # a copy of the parent, which did not start it
        return
    if process.returncode is None:
        _kill_group(process)
    process.wait()
    connection.close()
    os.close(lifeline)


def _kill_group(process: "subprocess.Popen[bytes]") -> None:
    """Kill it and what it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


# -- processes without an agent ---------------------------------------------------------------------
_idle: dict[str, deque[AgentProcess]] = {}  # by the file or the package of the agents that they have had
_lock = Lock()


def take_process(kind: str) -> AgentProcess:
    """A process for an agent of this kind: one that had another agent of the same kind, or a new one."""
    with _lock:
        waiting = _idle.get(kind, ())
        while waiting:
            process = waiting.pop()
            if process.is_alive:
                return process
            process.kill()
    return AgentProcess()


def keep_process(kind: str, process: AgentProcess) -> None:
    """The agent is closed: the next one of its kind can have the process."""
    with _lock:
        if process.is_alive and sum(map(len, _idle.values())) < MAX_IDLE:
            _idle.setdefault(kind, deque()).append(process)
            return
    process.kill()


def end_idle_processes() -> None:
    """End the processes that have no agent."""
    with _lock:
        ended = [process for waiting in _idle.values() for process in waiting]
        _idle.clear()
    for process in ended:
        process.kill()


def end_with_parent(lifeline: int) -> None:
    """Called in the process: it has one end of a pipe on which nothing is ever written, its parent the other. When the
    parent dies, the kernel sends SIGIO, which ends this process, even one in a loop that never returns to Python. The
    process leads a group of its own, so what it has started is ended, too."""
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, -os.getpgrp())
    fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    os.set_blocking(lifeline, False)
    with suppress(BlockingIOError):
        if not os.read(lifeline, 1):  # it is dead already
            os._exit(0)
