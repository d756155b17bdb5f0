"""The MCP server on stdin and stdout: one message per line.

The main thread reads and answers all requests that need no workspace; calls run in a second thread, one after the
other. So a ping is answered, and a call can be cancelled, while another call runs. A call that waits for the remote
does not hold up those that need no remote: after a moment, a third thread runs them. When stdin ends, pending requests
are still answered, because a script may wait for them. After a signal, the running call finishes and no other starts;
if it waits for the remote, it is cancelled after a few seconds.
"""

import contextlib
import os
import select
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

import msgspec

from cohabit.errors import CohabitError
from cohabit.version import __version__
from cohabit.workspace.clone.cancellation import CANCELLATION, Cancellation
from cohabit.workspace.limits import MAX_WRITE_BYTES
from cohabit.workspace.mcp import protocol as mcp
from cohabit.workspace.mcp.protocol import INVALID_REQUEST, PARSE_ERROR, Call, Protocol, Refused, Wire

if TYPE_CHECKING:
    from cohabit.workspace.session import Session
    from cohabit.workspace.tool import Profile

MAX_MESSAGE_BYTES: Final = 2 * MAX_WRITE_BYTES + 1024 * 1024
"""The largest write, as base64 or as text with escapes, and room for the rest."""
OVERTAKE_SECONDS: Final = 0.5
"""The time that calls stay in order behind one that uses the remote. A remote that answers usually does so earlier."""
STOP_SECONDS: Final = 2.0
"""The time that the running call may use the remote after a signal."""
SWITCH: Final = "workspace_switch"
CHUNK_BYTES: Final = 64 * 1024
Key = tuple[type, Any]


class Job:
    """A request for the worker."""

    def __init__(self, id_: Any, call: Call, batch: "Batch | None") -> None:
        self.id = id_
        self.key: Key = (type(id_), id_)
        self.call = call
        self.batch = batch
        self.cancellation = Cancellation()
        self.cancelled = False
        self.remote_since: float | None = None
        """When the call began to use the remote."""


class Batch:
    """Answers that are sent together when all are complete."""

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


class Jobs:
    """The requests that wait for a worker, in order. The first worker takes one after the other; while it is busy with
    the remote, the second one takes those that need no remote. They never start two calls out of order otherwise."""

    def __init__(self) -> None:
        self._waiting: deque[Job] = deque()
        self._changed = threading.Condition()
        self._running: Job | None = None
        self._overtaking = False
        self._closed = self._ended = False

    def put(self, job: Job) -> None:
        job.cancellation.on_remote = lambda: self._remote_begins(job)
        with self._changed:
            self._waiting.append(job)
            self._changed.notify_all()

    def close(self) -> None:
        """No further job comes."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def end(self) -> None:
        """The first worker has ended."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _remote_begins(self, job: Job) -> None:
        with self._changed:
            if job.remote_since is None:
                job.remote_since = time.monotonic()
                self._changed.notify_all()

    def take(self) -> Job | None:
        """The next job for the first worker; None at the end."""
        with self._changed:
            self._running = None
            while self._overtaking or not self._waiting:
                if self._closed and not self._waiting and not self._overtaking:
                    return None
                self._changed.wait()
            self._running = self._waiting.popleft()
            return self._running

    def overtake(self) -> Job | None:
        """The next job for the second worker; None at the end."""
        with self._changed:
            self._overtaking = False
            self._changed.notify_all()
            while not self._ended:
                left = self._seconds_left()
                local = self._first_local() if left == 0 else None
                if local is not None:
                    self._waiting.remove(local)
                    self._overtaking = True
                    return local
                self._changed.wait(left or None)
            return None

    def _first_local(self) -> Job | None:
        """The first waiting job that needs no remote. A switch to another workspace overtakes no waiting job, and no
        job overtakes it: they would run in the wrong workspace."""
        for at, job in enumerate(self._waiting):
            if at and job.call.name == SWITCH:
                return None
            if not _needs_remote(job.call):
                return job
        return None

    def _seconds_left(self) -> float | None:
        """The time until the running call may be overtaken; None if it does not use the remote."""
        since = self._running.remote_since if self._running else None
        return None if since is None else max(0.0, since + OVERTAKE_SECONDS - time.monotonic())


def _needs_remote(call: Call) -> bool:
    from cohabit.workspace.tools import find

    try:
        return find(call.name).remote
    except CohabitError:  # there is no such tool
        return False


class Server:
    """Serves one client. ``out`` is the file descriptor for answers; ``open_session`` is called with the first call."""

    def __init__(self, open_session: Callable[[], "Session"], protocol: Protocol, out: int) -> None:
        self._open_session = open_session
        self._protocol = protocol
        self._out = out
        self._writing = threading.Lock()
        self._jobs = Jobs()
        self._session: Session | None = None
        self._pending: dict[Key, Job] = {}
        self._client_logged = False
        self._woken, self.wake = os.pipe()
        os.set_blocking(self.wake, False)
        self.stopping = False

    def serve(self, source: int) -> None:
        """Serve until ``source`` ends or ``stop`` is called."""
        worker = threading.Thread(target=self._work_and_stop, name="calls")
        beside = threading.Thread(target=self._work, args=[self._jobs.overtake], name="calls beside")
        worker.start()
        beside.start()
        try:
            for line in lines(source, self._woken):
                self._receive(line)
                if self.stopping:
                    break
        finally:
            self._jobs.close()
            self._wait_for(worker)
            beside.join()
            if self._session is not None:
                self._session.close()
            os.close(self.wake)
            os.close(self._woken)

    def _wait_for(self, worker: threading.Thread) -> None:
        select.select([self._woken], [], [])  # until a signal comes, or the worker is done
        worker.join(STOP_SECONDS)
        for job in [*self._pending.values()]:
            job.cancellation.cancel()
        worker.join()

    def stop(self) -> None:
        """Finish the running call and start no other. May be called from a signal handler and from any thread."""
        self.stopping = True
        with contextlib.suppress(OSError):
            os.write(self.wake, b"x")

    # -- incoming ---------------------------------------------------------------------------------
    def _receive(self, line: bytes | None) -> None:
        if line is None:
            self._send(_error(None, INVALID_REQUEST, f"a message has at most {MAX_MESSAGE_BYTES} bytes"))
            return
        try:
            message = msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            message = _decode_with_surrogates(line)
            if message is None:
                self._send(_error(None, PARSE_ERROR, "this line is not JSON"))
                return
        if not isinstance(message, list):
            self._handle(message, None)
        elif not message or self._protocol.version != mcp.BATCH_VERSION:
            self._send(_error(None, INVALID_REQUEST, f"only version {mcp.BATCH_VERSION} has batches"))
        else:
            batch = Batch(sum(not _needs_no_answer(one) for one in message), self._send)
            for one in message:
                self._handle(one, batch)

    def _handle(self, message: Any, batch: Batch | None) -> None:
        if _needs_no_answer(message):
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
        """The answer, or None if the worker will give it."""
        id_ = message.get("id") if isinstance(message, dict) else None
        if not _is_request(message):
            return _error(id_ if _is_id(id_) else None, INVALID_REQUEST, "this is not a request of JSON-RPC 2.0")
        try:
            if batch is not None and message["method"] == "initialize":
                raise Refused(INVALID_REQUEST, "initialize must not be in a batch")
            answer = self._protocol.answer(message["method"], message.get("params") or {})
        except Refused as refused:
            return _error(id_, refused.code, str(refused), refused.data)
        if not isinstance(answer, Call):
            return _result(id_, answer)
        self._log_client()
        job = Job(id_, answer, batch)
        self._pending[job.key] = job
        self._jobs.put(job)
        return None

    def _notice(self, message: Wire) -> None:
        """Handle a notification; answers are ignored, because this server sends no requests."""
        if message.get("method") == "notifications/initialized":
            self._log_client()
        elif message.get("method") == "notifications/cancelled" and isinstance(message.get("params"), dict):
            id_ = message["params"].get("requestId")
            job = self._pending.get((type(id_), id_)) if _is_id(id_) else None
            if job is not None:
                job.cancelled = True
                job.cancellation.cancel()

    def _log_client(self) -> None:
        if not self._client_logged and self._protocol.client:
            self._client_logged = True
            log(f"client: {self._protocol.client} {self._protocol.client_version}")

    # -- outgoing ---------------------------------------------------------------------------------
    def _work_and_stop(self) -> None:
        try:
            self._work(self._jobs.take)
        finally:
            self._jobs.end()
            self.stop()  # if the worker fails, no server is better than one that answers no call

    def _work(self, take: Callable[[], Job | None]) -> None:
        while (job := take()) is not None:
            if self.stopping:
                continue
            if self._session is None:  # of the first call, which no other overtakes before it runs
                self._session = self._open_session()
            CANCELLATION.set(job.cancellation)
            answer = None if job.cancelled else _result(job.id, mcp.run(self._session, job.call))
            if self._pending.get(job.key) is job:
                del self._pending[job.key]
            if job.cancelled:
                answer = None
            if job.batch is not None:
                job.batch.add(answer)
            elif answer is not None:
                self._send(answer)

    def _send(self, message: Wire | list[Wire]) -> None:
        rest = memoryview(_encoded(message) + b"\n")
        with self._writing:
            try:
                while rest:
                    rest = rest[os.write(self._out, rest) :]
            except OSError:  # the client no longer reads
                self.stop()


def lines(source: int, woken: int) -> Iterator[bytes | None]:
    """The lines of ``source`` until it ends or ``woken`` has data; None for a line that is too long."""
    partial, too_long = bytearray(), False
    while True:
        ready, _, _ = select.select([source, woken], [], [])
        if woken in ready:
            return
        chunk = os.read(source, CHUNK_BYTES)
        if not chunk:
            break
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            line, partial = partial + part, bytearray()
            if too_long or len(line) > MAX_MESSAGE_BYTES:
                too_long = False
                yield None
            elif line.strip():
                yield bytes(line)
        partial += rest
        if len(partial) > MAX_MESSAGE_BYTES:
            partial, too_long = bytearray(), True
    if partial.strip() and not too_long:
        yield bytes(partial)


def serve_stdio(open_session: Callable[[], "Session"], profile: "Profile") -> None:
    """Serve on stdin and stdout of this process, which nothing else may use from now on."""
    source, out = os.dup(0), os.dup(1)
    os.set_blocking(source, True)
    os.set_blocking(out, True)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2, 1)  # an accidental print goes to stderr
    server = Server(open_session, Protocol(profile), out)
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: server.stop())
    # Without this, a signal just before ``select`` would be handled only after it returns.
    signal.set_wakeup_fd(server.wake, warn_on_full_buffer=False)
    log(f"{mcp.NAME} {__version__}")
    server.serve(source)


def log(text: str) -> None:
    """Write one line to stderr."""
    line = "".join(c for c in text if c.isprintable())[:200]
    with contextlib.suppress(OSError, ValueError, AttributeError):  # stderr may be closed or missing
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


def _needs_no_answer(message: Any) -> bool:
    """True if this is a notification or an answer."""
    return isinstance(message, dict) and (
        ("id" not in message and isinstance(message.get("method"), str))
        or ("method" not in message and ("result" in message or "error" in message))
    )


def _result(id_: Any, result: Wire) -> Wire:
    return {"jsonrpc": "2.0", "id": id_, "result": result}


def _encoded(message: Wire | list[Wire]) -> bytes:
    try:
        return msgspec.json.encode(message)
    except UnicodeEncodeError:  # it repeats a lone surrogate of the client
        from cohabit.workspace.answers import sendable

        return msgspec.json.encode(sendable(message))


def _decode_with_surrogates(line: bytes) -> Any:
    """A message with a lone surrogate, which JavaScript writes for half of an emoji. It can be answered by its id; the
    tool refuses the text. None if the line is not JSON."""
    import json  # rarely needed

    try:
        return json.loads(line, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _error(id_: Any, code: int, message: str, data: Any = None) -> Wire:
    error = {"code": code, "message": message} | ({} if data is None else {"data": data})
    return {"jsonrpc": "2.0", "id": id_, "error": error}
