"""Houses of a cluster: real `cohabit serve` processes with workers, on one PostgreSQL database."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2
import psycopg
from tests.ports import free_port

from cohabit.errors import CohabitError, by_code

KEY = "the key of the houses in the tests"
OPEN = "The house is open"
AGAIN = ("BUSY", "DISABLED", "STORAGE_FAILED", "OUTCOME_UNKNOWN")
"""Errors after which a client repeats a call that has a key."""


class HouseProcess:
    """One house: its front and its workers. ``url``: where clients reach it. It can be started again."""

    def __init__(self, name: str, store: str, folder: Path, **settings: Any) -> None:
        self.name, self.log = name, folder / f"{name}.log"
        self.url = f"http://127.0.0.1:{(port := free_port())}"
        self.host_token = ""  # shown by the first house
        self.houses_address = f"127.0.0.1:{free_port()}"
        chosen = {
            "store": store, "data": folder / name, "port": port, "houses_address": self.houses_address,
            "houses_key": KEY, "bridge_port": 0, "nexus_port": 0, "log_level": "info", **settings,
        }  # fmt: skip
        self._environment = {f"COHABIT_{key.upper()}": str(value) for key, value in chosen.items()}
        self.process: subprocess.Popen[bytes] | None = None

    def begin(self) -> None:
        """Start it; `await_open` waits for it."""
        self._before = self.log.stat().st_size if self.log.exists() else 0
        with self.log.open("ab") as log:
            words = [sys.executable, "-m", "cohabit", "serve", "--quiet"]
            self.process = subprocess.Popen(words, env={**os.environ, **self._environment}, stdout=log, stderr=log)

    def await_open(self) -> None:
        assert self.process is not None
        while OPEN not in (text := self.log.read_bytes()[self._before :].decode()):
            assert self.process.poll() is None, text
            time.sleep(0.02)
        lines = [line.strip() for line in text.splitlines()]
        if shown := [number for number, line in enumerate(lines) if "shown once" in line]:
            self.host_token = lines[shown[0] + 1]

    def start(self) -> None:
        self.begin()
        self.await_open()

    def signal(self, number: int) -> None:
        """To all processes of the house: the front first, so that it does not replace its workers."""
        assert self.process is not None
        os.kill(self.process.pid, signal.SIGSTOP)
        for pid in (*_children(self.process.pid), self.process.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def kill(self) -> None:
        assert self.process is not None
        if self.process.poll() is None:
            self.signal(signal.SIGKILL)
            self.process.wait()

    async def stop(self) -> int:
        """With SIGTERM; the exit code."""
        assert self.process is not None
        self.process.terminate()
        return await asyncio.to_thread(self.process.wait)


def _children(parent: int) -> list[int]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if int((folder / "stat").read_text().rpartition(")")[2].split()[1]) == parent:
                found.append(int(folder.name))
    return found


class Houses(dict[str, HouseProcess]):
    """By name. The first one that was started has made the host token."""

    def __init__(self, store: str, folder: Path) -> None:
        super().__init__()
        self._store, self._folder = store, folder

    def add(self, name: str, **settings: Any) -> HouseProcess:
        """One more, which is not started yet."""
        self[name] = HouseProcess(name, self._store, self._folder, **settings)
        return self[name]

    @property
    def host_token(self) -> str:
        return next(house.host_token for house in self.values() if house.host_token)

    def holder(self, room: str) -> str:
        """The house that has a room; empty if none has it at the moment."""
        sql = (
            "select address from leases join houses using (house) join places using (place) "
            "where room = %s and until > clock_timestamp()"
        )
        with psycopg.connect(self._store, autocommit=True) as db:
            found = db.execute(sql, (room,)).fetchone()
        return next((name for name in self if found and self[name].houses_address == found[0]), "")

    def other(self, name: str) -> str:
        """Another house than this one."""
        return next(other for other in self if other != name)

    def ws(self, name: str) -> str:
        return self[name].url.replace("http", "ws", 1) + "/ws"


@contextmanager
def running(store: str, folder: Path, *names: str, **settings: Any) -> Iterator[Houses]:
    """Houses of one cluster. The first one leads."""
    made = Houses(store, folder)
    first, *others = [made.add(name, **settings) for name in names]
    try:
        first.start()
        for house in others:
            house.begin()
        for house in others:
            house.await_open()
        yield made
    finally:
        for house in made.values():
            if house.process is not None:
                house.kill()


class Caller:
    """Calls over HTTP, through any house."""

    def __init__(self, houses: Houses, http: httpx2.AsyncClient) -> None:
        self.houses, self.http = houses, http

    async def call(
        self, house: str, token: str, room: str | None, command: str, args: Any = None, *, key: str = ""
    ) -> Any:
        """Raises the error of the call, or httpx2.TransportError."""
        headers = ({"authorization": f"Bearer {token}"} if token else {}) | ({"idempotency-key": key} if key else {})
        path = f"rooms/{room}/{command}" if room is not None else command
        answer = await self.http.post(f"{self.houses[house].url}/api/{path}", json=args or {}, headers=headers)
        found = answer.json()
        if not found["ok"]:
            raise by_code(found["error"])
        return found["result"]

    async def until_answered(
        self, house: str, token: str, room: str | None, command: str, args: Any = None, *, key: str = ""
    ) -> Any:
        """The same, again and again while the house is busy or not there."""
        while True:
            with suppress(httpx2.TransportError):
                try:
                    return await self.call(house, token, room, command, args, key=key)
                except CohabitError as wrong:
                    if wrong.code not in AGAIN:
                        raise
            await asyncio.sleep(0.05)


@asynccontextmanager
async def calling(houses: Houses) -> AsyncIterator[Caller]:
    async with httpx2.AsyncClient(timeout=120) as http:
        yield Caller(houses, http)
