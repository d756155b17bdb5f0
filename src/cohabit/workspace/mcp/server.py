"""The MCP server on stdin and stdout: one message a line.

The main thread reads, and answers at once whatever needs no workspace; calls run in a second thread, one after the
other, in the order in which they came. So a ping is answered and a call can be cancelled while another one runs.
When stdin ends, what was asked is still answered, however long it takes: a script may wait for it. A signal lets the
running call finish and starts no other; on a remote that hangs it hangs up after a few seconds.
"""

import contextlib
import os
import queue
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

import msgspec

from cohabit import __version__
from cohabit.workspace.clone.hangup import HANGUP, Hangup
from cohabit.workspace.limits import LARGEST_WRITE
from cohabit.workspace.mcp import protocol as mcp
from cohabit.workspace.mcp.protocol import INVALID_REQUEST, PARSE_ERROR, Call, Protocol, Refused, Wire

if TYPE_CHECKING:
    from cohabit.workspace.session import Session
    from cohabit.workspace.tool import Profile

LONGEST_LINE: Final = 2 * LARGEST_WRITE + 1024 * 1024
"""Bytes of a message: the largest write, as base64 or as text with escapes, and room for the rest."""
TOLD_TO_STOP: Final = 2.0
"""Seconds that the running call has after a signal, before we hang up on the remote."""
CHUNK: Final = 64 * 1024
Key = tuple[type, Any]


class Job:
    """A request for the worker."""

    def __init__(self, asked: Any, call: Call, batch: "Batch | None") -> None:
        self.id = asked
        self.key: Key = (type(asked), asked)
        self.call = call
        self.batch = batch
        self.hangup = Hangup()
        self.cancelled = False


class Batch:
    """Answers that go out together, when the last of them is there."""

    def __init__(self, size: int, send: Callable[[list[Wire]], None]) -> None:
        self._left = size
        self._answers: list[Wire] = []
        self._send = send
        self._lock = threading.Lock()

    def add(self, answer: Wire | None) -> None:
        with self._lock:
            self._left -= 1
            if answer is not None:
                self._answers.append(answer)
            if self._left == 0 and self._answers:
                self._send(self._answers)


class Server:
    """Serves one client. ``out`` is where answers are written to, and nothing else; ``enter`` opens the session, when
    the first call needs it."""

    def __init__(self, enter: Callable[[], "Session"], protocol: Protocol, out: int) -> None:
        self._enter = enter
        self._protocol = protocol
        self._out = out
        self._writing = threading.Lock()
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._open: dict[Key, Job] = {}
        self._introduced = False
        self._woken, self.wake = os.pipe()
        os.set_blocking(self.wake, False)
        self.stopping = False

    def serve(self, source: int) -> None:
        """Until ``source`` ends or ``stop`` is called."""
        worker = threading.Thread(target=self._work_and_stop, name="calls")
        worker.start()
        try:
            for line in lines(source, self._woken):
                self._receive(line)
                if self.stopping:
                    break
        finally:
            self._jobs.put(None)
            self._wait_for(worker)
            os.close(self.wake)
            os.close(self._woken)

    def _wait_for(self, worker: threading.Thread) -> None:
        select.select([self._woken], [], [])  # until a signal comes, or the worker is done
        worker.join(TOLD_TO_STOP)
        for job in [*self._open.values()]:
            job.hangup.now()
        worker.join()

    def stop(self) -> None:
        """Finish the running call and start no other. May be called from a signal handler, and from any thread."""
        self.stopping = True
        with contextlib.suppress(OSError):
            os.write(self.wake, b"x")

    # -- what comes in ----------------------------------------------------------------------------
    def _receive(self, line: bytes | None) -> None:
        if line is None:
            self._send(_error(None, INVALID_REQUEST, f"a message has at most {LONGEST_LINE} bytes"))
            return
        try:
            message = msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            message = _with_half_characters(line)
            if message is None:
                self._send(_error(None, PARSE_ERROR, "a line that is no JSON"))
                return
        if not isinstance(message, list):
            self._take(message, None)
        elif not message or self._protocol.version != mcp.BATCHES:
            self._send(_error(None, INVALID_REQUEST, f"batches are of the version {mcp.BATCHES} only"))
        else:
            batch = Batch(sum(not _asks_nothing(one) for one in message), self._send)
            for one in message:
                self._take(one, batch)

    def _take(self, message: Any, batch: Batch | None) -> None:
        if _asks_nothing(message):
            self._notice(message)
            return
        answer = self._answer(message, batch)
        if answer is None:
            return
        if batch is not None:
            batch.add(answer)
        else:
            self._send(answer)

    def _answer(self, message: Any, batch: Batch | None) -> Wire | None:
        """The answer, or none yet where the worker gives it."""
        asked = message.get("id") if isinstance(message, dict) else None
        if not _is_request(message):
            return _error(asked if _is_id(asked) else None, INVALID_REQUEST, "this is no request of JSON-RPC 2.0")
        try:
            if batch is not None and message["method"] == "initialize":
                raise Refused(INVALID_REQUEST, "initialize comes alone, not in a batch")
            answer = self._protocol.answer(message["method"], message.get("params") or {})
        except Refused as refused:
            return _error(asked, refused.code, str(refused), refused.data)
        if not isinstance(answer, Call):
            return _result(asked, answer)
        self._introduce()
        job = Job(asked, answer, batch)
        self._open[job.key] = job
        self._jobs.put(job)
        return None

    def _notice(self, message: Wire) -> None:
        """Notifications; and answers, to which we never asked."""
        if message.get("method") == "notifications/initialized":
            self._introduce()
        elif message.get("method") == "notifications/cancelled" and isinstance(message.get("params"), dict):
            asked = message["params"].get("requestId")
            job = self._open.get((type(asked), asked)) if _is_id(asked) else None
            if job is not None:
                job.cancelled = True
                job.hangup.now()

    def _introduce(self) -> None:
        if not self._introduced and self._protocol.client:
            self._introduced = True
            say(f"client: {self._protocol.client} {self._protocol.client_version}")

    # -- what goes out ----------------------------------------------------------------------------
    def _work_and_stop(self) -> None:
        try:
            self._work()
        finally:
            self.stop()  # should it ever fail: better no server than one that answers no call

    def _work(self) -> None:
        session: Session | None = None
        while (job := self._jobs.get()) is not None:
            if self.stopping:
                continue
            session = session or self._enter()
            HANGUP.set(job.hangup)
            answer = None if job.cancelled else _result(job.id, mcp.run(session, job.call))
            if self._open.get(job.key) is job:
                del self._open[job.key]
            if job.cancelled:
                answer = None
            if job.batch is not None:
                job.batch.add(answer)
            elif answer is not None:
                self._send(answer)
        if session is not None:
            session.close()

    def _send(self, message: Wire | list[Wire]) -> None:
        rest = memoryview(_encoded(message) + b"\n")
        with self._writing:
            try:
                while rest:
                    rest = rest[os.write(self._out, rest) :]
            except OSError:  # nobody reads any more
                self.stop()


def lines(source: int, woken: int) -> Iterator[bytes | None]:
    """The lines of ``source``, until it ends or ``woken`` has something to read; None for one that is too long."""
    held, too_long = bytearray(), False
    while True:
        ready, _, _ = select.select([source, woken], [], [])
        if woken in ready:
            return
        chunk = os.read(source, CHUNK)
        if not chunk:
            break
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            line, held = held + part, bytearray()
            if too_long or len(line) > LONGEST_LINE:
                too_long = False
                yield None
            elif line.strip():
                yield bytes(line)
        held += rest
        if len(held) > LONGEST_LINE:
            held, too_long = bytearray(), True
    if held.strip() and not too_long:
        yield bytes(held)


def serve_stdio(enter: Callable[[], "Session"], profile: "Profile") -> None:
    """Serve on this process's stdin and stdout, which nothing else reads or writes from here on."""
    source, out = os.dup(0), os.dup(1)
    os.set_blocking(source, True)
    os.set_blocking(out, True)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2, 1)  # a stray print goes to stderr
    server = Server(enter, Protocol(profile), out)
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: server.stop())
    # A signal that comes just before we begin to wait would be noticed only when the wait ends: let it end the wait.
    signal.set_wakeup_fd(server.wake, warn_on_full_buffer=False)
    say(f"{mcp.NAME} {__version__}")
    server.serve(source)


def say(text: str) -> None:
    """One line on stderr, for people."""
    line = "".join(c for c in text if c.isprintable())[:200]
    with contextlib.suppress(OSError, ValueError, AttributeError):  # stderr may be closed, or not there at all
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


def _is_request(message: Any) -> bool:
    return (
        isinstance(message, dict)
        and message.get("jsonrpc") == "2.0"
        and isinstance(message.get("method"), str)
        and _is_id(message.get("id"))
        and isinstance(message.get("params", {}), dict | None)
    )


def _is_id(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _asks_nothing(message: Any) -> bool:
    return isinstance(message, dict) and (
        ("id" not in message and isinstance(message.get("method"), str))
        or ("method" not in message and ("result" in message or "error" in message))
    )


def _result(asked: Any, result: Wire) -> Wire:
    return {"jsonrpc": "2.0", "id": asked, "result": result}


def _encoded(message: Wire | list[Wire]) -> bytes:
    try:
        return msgspec.json.encode(message)
    except UnicodeEncodeError:  # it repeats half of a character that the client sent
        from cohabit.workspace.answers import sendable

        return msgspec.json.encode(sendable(message))


def _with_half_characters(line: bytes) -> Any:
    """A message with a lone surrogate in a text, as JavaScript writes half of an emoji. It is answered by its id; the
    tool refuses the text. None where the line is no JSON for another reason."""
    import json  # rarely needed

    try:
        return json.loads(line, parse_constant=_refused)
    except (ValueError, RecursionError):
        return None


def _refused(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _error(asked: Any, code: int, message: str, data: Any = None) -> Wire:
    error = {"code": code, "message": message} | ({} if data is None else {"data": data})
    return {"jsonrpc": "2.0", "id": asked, "error": error}
