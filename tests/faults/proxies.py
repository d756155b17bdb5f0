"""The proxies of a cluster, in a process of their own: how fast they are does not depend on what the clients do.

``python -m tests.faults.proxies`` reads commands from its standard input, one JSON list in a line: ``["open", HOST, PORT]`` and
``["open", PATH]`` open a proxy, whose port is printed; ``["set", NUMBER, MODE, DELAY]`` is what that proxy does from now on.
"""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from .proxy import Mode, Proxy

ROOT = Path(__file__).parents[2]


class Way:
    """A proxy, from the side of the tests. ``port``: to connect to."""

    def __init__(self, proxies: "Proxies", number: int, port: int) -> None:
        self._proxies, self._number, self.port = proxies, number, port

    def set(self, mode: Mode = "open", delay_s: float = 0.0) -> None:
        """From now on. Without arguments, everything is passed on again."""
        self._proxies.tell("set", self._number, mode, delay_s)


class Proxies:
    """The process, from the side of the tests."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._count = 0

    async def open(self, *address: str | int) -> Way:
        """A proxy before this host and port, or before the socket at this path."""
        assert self._process.stdout is not None
        self.tell("open", *address)
        self._count += 1
        return Way(self, self._count - 1, int(await self._process.stdout.readline()))

    def tell(self, *words: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(words).encode() + b"\n")


@asynccontextmanager
async def running_proxies() -> AsyncIterator[Proxies]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", __name__, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        yield Proxies(process)
    finally:
        assert process.stdin is not None
        process.stdin.close()  # it ends with its input
        await process.wait()


async def serve() -> None:
    """Until the input ends."""
    commands = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    opened: list[Proxy] = []
    while line := await commands.readline():
        match json.loads(line):
            case ["open", *address]:
                dial = asyncio.open_unix_connection if len(address) == 1 else asyncio.open_connection
                opened.append(Proxy(partial(dial, *address)))
                await opened[-1].start()
                sys.stdout.write(f"{opened[-1].port}\n")
                sys.stdout.flush()
            case ["set", number, mode, delay_s]:
                opened[number].set(mode, delay_s)
    os._exit(0)  # whatever connections there are


if __name__ == "__main__":
    asyncio.run(serve())
