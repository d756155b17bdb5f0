"""Runs the mod: its own Lua files, on tables that stand in for the engine's, with an ``http`` that sends real requests."""

from __future__ import annotations

import asyncio
import json
import threading
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from lupa.lua53 import LuaRuntime

import cohabit.protocols.starbound

MOD = Path(cohabit.protocols.starbound.__file__).parent / "mod"
STAND_IN = Path(__file__).with_name("engine.lua")
TICK = 1 / 60
WORKERS = 4
"""The client of the engine has four threads for requests."""
MAX_TICKS = 2_000
"""More than any action takes."""


class Request:
    """A request of the mod. It is finished when the engine is asked after its answer has come."""

    def __init__(self) -> None:
        self.answer: tuple[int, str] | None = None
        self.problem: str | None = None
        self.arrived = False
        self.seen = False


class Engine:
    """One client of the game with the mod."""

    def __init__(
        self, settings: dict[str, Any], trusted: tuple[str, ...] = ("localhost",), enabled: bool = True
    ) -> None:
        self.settings, self.trusted, self.enabled = settings, trusted, enabled
        self.log: list[str] = []
        self.requests: list[Request] = []
        self.unanswered: set[str] = set()
        self.results: list[dict[str, Any]] = []
        self.changed = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self.lua: Any = LuaRuntime(unpack_returned_tuples=True)
        handed = {
            "quote": json.dumps, "parse": self._parse, "log": self.log.append, "asset": self._asset,
            "configuration": lambda name: self._table(self.settings) if name == "cohabitBridge" else None,
            "http_enabled": lambda: self.enabled, "is_trusted": lambda domain: domain in self.trusted,
            "send": self._send, "finished": self._finished, "succeeded": lambda r: r.answer is not None,
            "result": self._result, "problem": lambda r: r.problem, "load": self._load,
        }  # fmt: skip
        self.lua.execute(STAND_IN.read_text(), self.lua.table_from(handed))
        self._load("/scripts/cohabit/bridge.lua")
        self.game: Any = self.lua.globals().game

    def do(self, lua: str) -> Any:
        """Run Lua in the game, such as ``game.tiles["12,1"] = "dirt"``."""
        return self.lua.execute(lua)

    # -- what the stand-in asks for -----------------------------------------------------------------
    def _load(self, path: str) -> None:
        self.lua.execute((MOD / path.lstrip("/")).read_text())

    def _asset(self, path: str) -> Any:
        return self._table(json.loads((MOD / path.lstrip("/")).read_text()))

    def _parse(self, text: str) -> Any:
        return self._table(json.loads(text))

    def _table(self, value: Any) -> Any:
        if isinstance(value, dict):
            return self.lua.table_from({key: self._table(item) for key, item in value.items()})
        if isinstance(value, list):
            return self.lua.table_from([self._table(item) for item in value])
        return value

    def _send(self, method: str, url: str, body: str | None, names: str, values: str) -> Request:
        request = Request()
        self.requests.append(request)
        assert sum(not r.arrived for r in self.requests) <= WORKERS
        if body is not None and url.endswith("/result"):
            self.results.append(json.loads(body))
            self.unanswered.discard(self.results[-1]["id"])
        if urlsplit(url).hostname in self.trusted:  # else the engine asks the player first
            headers = dict(zip(names.split("\n"), values.split("\n"), strict=True))
            asked = urllib.request.Request(url, body.encode() if body is not None else None, headers, method=method)
            threading.Thread(target=self._work, args=(asked, request), daemon=True).start()
        return request

    def _work(self, asked: urllib.request.Request, request: Request) -> None:
        answer, problem = None, None
        try:
            with urllib.request.urlopen(asked) as response:
                answer = (response.status, response.read().decode())
        except urllib.error.HTTPError as refused:
            with refused:
                answer = (refused.code, refused.read().decode())
        except OSError as failed:
            problem = str(failed)
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._arrived, request, answer, problem)

    def _arrived(self, request: Request, answer: tuple[int, str] | None, problem: str | None) -> None:
        request.answer, request.problem, request.arrived = answer, problem, True
        if answer is not None and isinstance(said := json.loads(answer[1]), dict) and "type" in said:
            self.unanswered.add(said["id"])
        self.changed.set()

    def _finished(self, request: Request) -> bool:
        request.seen = request.arrived
        return request.arrived

    def _result(self, request: Request) -> Any:
        assert request.answer is not None
        return self.lua.table_from({"status": request.answer[0], "body": request.answer[1]})

    # -- running ------------------------------------------------------------------------------------
    def tick(self, times: int = 1) -> None:
        for _ in range(times):
            self.lua.globals().tick(TICK)

    def leave(self) -> None:
        """The player leaves the world: the script ends, and its requests finish without it."""
        self.lua.globals().uninit()

    async def run(self) -> None:
        """Tick for as long as the mod has something to do, then wait for the next answer of the bridge."""
        self.lua.globals().init()
        while True:
            self.changed.clear()
            self.tick(2)
            for _ in range(MAX_TICKS):
                if not self.unanswered and all(r.seen for r in self.requests if r.arrived):
                    break
                self.tick()
            await self.changed.wait()

    @asynccontextmanager
    async def playing(self) -> AsyncIterator[Engine]:
        running = asyncio.ensure_future(self.run())
        try:
            yield self
        finally:
            running.cancel()
            await asyncio.wait({running})
            if not running.cancelled():
                running.result()
