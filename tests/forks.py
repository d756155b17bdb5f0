"""Start ``cohabit`` as a copy of a process that has imported everything: a process of its own, without the second that the
imports take.

A test that starts a program many times, and whose claim is about something else than its start, runs
``[*forks.command(), "up", …]`` in place of ``["cohabit", "up", …]``. A small program connects to the first process, hands
its arguments, environment, folder and the three standard files to it, passes signals on, and ends as the copy ends.
"""

from __future__ import annotations

import atexit
import functools
import gc
import importlib
import io
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import cohabit

SOURCE = str(Path(cohabit.__file__).parents[1])
"""The copies run the code that is tested."""
IMPORTED = (
    "cohabit.client", "cohabit.faces.cli", "cohabit.faces.mcp.server", "cohabit.faces.mcp.stdio", "cohabit.faces.serve",
    "cohabit.house.house", "httpx2", "websockets.asyncio.client",
)  # fmt: skip
START = """
import json, os, signal, socket, sys
server = socket.socket(socket.AF_UNIX)
server.connect(sys.argv[1])
asked = json.dumps([sys.argv[2:], dict(os.environ), os.getcwd()]).encode()
socket.send_fds(server, [len(asked).to_bytes(8, "big")], [0, 1, 2])
server.sendall(asked)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, lambda number, frame: server.send(bytes([number])))
code = int(server.makefile().readline())
if code < 0:
    signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
os._exit(code)
"""
"""The program that is started for each copy. It imports little."""


@functools.cache
def command() -> list[str]:
    """The words that ``cohabit`` is started with in a copy. The first call starts the process that is copied."""
    folder = tempfile.TemporaryDirectory(prefix="cohabit-forks-")
    address = os.path.join(folder.name, "socket")
    environment = {**os.environ, "PYTHONPATH": SOURCE}
    process = subprocess.Popen(
        [sys.executable, __file__, address], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"

    def stop() -> None:
        process.communicate()  # it ends with its input
        folder.cleanup()

    atexit.register(stop)
    return [sys.executable, "-I", "-S", "-c", START, address]


class Copies:
    """The copies that run, each with the connection of the program that waits for it."""

    def __init__(self, listener: socket.socket) -> None:
        self.listener = listener
        self.running: dict[int, socket.socket] = {}

    def serve(self) -> None:
        """Until the standard input ends."""
        woken, wake = os.pipe()
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        while True:
            waiting = {connection: pid for pid, connection in self.running.items()}
            ready, _, _ = select.select([sys.stdin, self.listener, woken, *waiting], [], [])
            for one in ready:
                if one is sys.stdin:
                    return
                if one is self.listener:
                    self.start()
                elif one == woken:
                    os.read(woken, 4096)
                    self.reap()
                elif waiting[one] in self.running:
                    self.pass_on(waiting[one], one)

    def start(self) -> None:
        connection, _ = self.listener.accept()
        size, files, _, _ = socket.recv_fds(connection, 8, 3)
        asked = b""
        while len(asked) < int.from_bytes(size, "big"):
            asked += connection.recv(65_536)
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGCHLD, signal.SIGINT):
                signal.signal(number, signal.SIG_DFL if number == signal.SIGCHLD else signal.default_int_handler)
            for each in (self.listener, connection, *self.running.values()):
                each.close()
            become(files, *json.loads(asked))
        for file in files:
            os.close(file)
        self.running[pid] = connection

    def reap(self) -> None:
        while self.running:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            with self.running.pop(pid) as connection, suppress(OSError):  # the program that waited may be killed
                connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())

    def pass_on(self, pid: int, connection: socket.socket) -> None:
        """Send a signal to a copy. Kill it if the program that stands for it was killed."""
        numbers = connection.recv(64) or bytes([signal.SIGKILL])
        for number in numbers:
            os.kill(pid, number)


def become(files: list[int], words: list[str], environment: dict[str, str], folder: str) -> None:
    """Run ``cohabit`` in this process, with these files, words, variables and folder, and end."""
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = ["cohabit", *words]
    assert isinstance(sys.stdout, io.TextIOWrapper)
    sys.stdout.reconfigure(line_buffering=os.isatty(1) or "PYTHONUNBUFFERED" in environment)
    from cohabit.faces.cli import main

    sys.exit(main())


if __name__ == "__main__":
    for name in IMPORTED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(sys.argv[1])
        listener.listen(64)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        Copies(listener).serve()
