"""An open house for fuzzing. Its interfaces are called as a server calls them, without a network."""

import asyncio
import itertools
import logging
from collections.abc import Coroutine
from typing import Any, Final

import msgspec

from cohabit.errors import Unauthorized
from cohabit.faces.app import make_app
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.scenario import parse_scenario
from cohabit.testing.clock import FakeClock

SCENARIO: Final = """{"scenario": "x", "world": "nim", "agents": [
    {"id": "ann", "role": "player", "claim": "auto:0"},
    {"id": "bob", "role": "player", "claim": "auto:1", "brain": "random"},
    {"id": "hal", "role": "host", "kind": "human"}]}"""
INPUTS: Final = 2_000
"""The number of inputs for one house. Then a new one is opened, so that earlier inputs do not block later ones."""
LONG_S: Final = 30
LEGACY, MODERN = "2025-11-25", "2026-07-28"


class Faults(logging.Handler):
    """Keeps what the house logs as errors. An internal error is a fault, whatever the client was told."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.found.append(self.format(record))


class Socket:
    """A WebSocket of a member."""

    def __init__(self, den: "Den", who: str) -> None:
        self.frames: asyncio.Queue[Any] = asyncio.Queue()
        self.sent: asyncio.Queue[Any] = asyncio.Queue()
        self.frames.put_nowait({"type": "websocket.connect"})
        scope = den.scope("websocket", "/ws", who, scheme="ws", subprotocols=[])
        self.serving = asyncio.ensure_future(den.app(scope, self.frames.get, self.sent.put))
        self.numbers = itertools.count(1_000_000)
        self.is_open = True

    async def say(self, frame: bytes) -> list[Any]:
        """Send a frame, and then another one that is valid. Both are answered, unless the connection is closed. Returns
        what came."""
        asked = msgspec.json.encode({"id": next(self.numbers), "command": "whoami", "room": "den"})
        for text in (frame, asked):
            self.frames.put_nowait({"type": "websocket.receive", "text": text.decode("utf-8", "replace")})
        came: list[Any] = []
        while self.is_open and sum("push" not in message for message in came) < 2:
            message = await self.sent.get()
            if message["type"] == "websocket.close":
                assert message.get("code", 1000) not in (1011, 4500), message
                self.is_open = False
            elif message["type"] == "websocket.send":
                came.append(msgspec.json.decode(message["text"]))
        return came


class Den:
    """A house in memory with a room, in which ann plays against a built-in player and hal is the host."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.clock = FakeClock()
        self.faults = Faults()
        self.inputs = 0
        self.sockets: dict[str, Socket] = {}
        self.sessions: dict[str, str] = {}
        logging.getLogger("cohabit").addHandler(self.faults)
        self.loop.run_until_complete(self._open())

    async def _open(self) -> None:
        self.opening = House.open(Settings(calls_per_second=100_000), clock=self.clock)  # without it, the house closes
        self.house = await self.opening.__aenter__()
        _, self.tokens = await self.house.create_room(parse_scenario(SCENARIO), "den")
        self.app = make_app(self.house)
        asked: asyncio.Queue[Any] = asyncio.Queue()
        started: asyncio.Queue[Any] = asyncio.Queue()
        asked.put_nowait({"type": "lifespan.startup"})
        scope = {"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}
        self.lifespan = asyncio.ensure_future(self.app(scope, asked.get, started.put))  # as long as MCP is served
        assert (await started.get())["type"] == "lifespan.startup.complete"
        for who in ("ann", "hal"):
            self.sessions[who] = await self._session(who)

    def close(self) -> None:
        self.loop.run_until_complete(self._close())
        self.loop.close()
        logging.getLogger("cohabit").removeHandler(self.faults)

    async def _close(self) -> None:
        await self.opening.__aexit__(None, None, None)
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    # -- asking -----------------------------------------------------------------------------------
    def http(self, method: str, path: str, body: bytes, who: str = "ann") -> tuple[int, bytes]:
        return self._run(self._http(method, path, body, who))

    def frame(self, data: bytes, who: str = "ann") -> list[Any]:
        return self._run(self._frame(data, who))

    def mcp(self, data: bytes, who: str = "ann", *, modern: bool = False) -> tuple[int, bytes]:
        if not modern:
            era = {"mcp-session-id": self.sessions[who], "mcp-protocol-version": LEGACY}
            return self._run(self._http("POST", "/mcp/den", data, who, **era))
        try:
            asked = msgspec.json.decode(data)
            params = asked["params"]
            named = str(params.get("name") or params.get("uri") or params.get("taskId") or "")
            params["_meta"] = META
            data, method = msgspec.json.encode(asked), str(asked["method"])
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, LookupError, TypeError, AttributeError):
            named, method = "view", "tools/call"
        era = {"mcp-protocol-version": MODERN, "mcp-method": method, "mcp-name": named}
        return self._run(self._http("POST", "/mcp/den", data, who, **era))

    def _run(self, asking: Coroutine[Any, Any, Any]) -> Any:
        self.inputs += 1
        found = self.loop.run_until_complete(asyncio.wait_for(self._until_done(asking), LONG_S))
        assert not self.faults.found, self.faults.found[0]
        return found

    async def _until_done(self, asking: Coroutine[Any, Any, Any]) -> Any:
        """Time passes meanwhile: some calls wait, and nobody may call too often in a second."""
        task = asyncio.ensure_future(asking)
        await self.clock.advance(20)
        while not task.done():
            await asyncio.wait([task], timeout=0.001)
            if not task.done():
                await self.clock.advance(1_000)
        return task.result()

    async def _frame(self, data: bytes, who: str) -> list[Any]:
        socket = self.sockets.get(who)
        if socket is None or not socket.is_open:
            socket = self.sockets[who] = Socket(self, who)
        return await socket.say(data)

    async def _session(self, who: str) -> str:
        about = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "fuzz", "version": "1"}}
        body = msgspec.json.encode({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about})
        session: list[str] = []
        status, _ = await self._http("POST", "/mcp/den", body, who, session)
        assert status == 200
        return session[0]

    async def _http(
        self, method: str, path: str, body: bytes, who: str, session: list[str] | None = None, /, **headers: str
    ) -> tuple[int, bytes]:
        """One request: the status and the body of the answer. An answer of 500 is a fault."""
        scope = self.scope("http", path, who, method=method, **headers)
        messages = [{"type": "http.request", "body": body, "more_body": False}]
        gone: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        status, answer = [], b""

        async def receive() -> Any:
            return messages.pop() if messages else await gone

        async def send(message: Any) -> None:
            nonlocal answer
            if message["type"] == "http.response.start":
                status.append(int(message["status"]))
                found = dict(message["headers"])
                if session is not None:
                    session.append(found[b"mcp-session-id"].decode())
                if b"event-stream" in found.get(b"content-type", b"") and method == "GET":
                    gone.set_result({"type": "http.disconnect"})  # such a stream has no end
            else:
                answer += message.get("body", b"")

        await self.app(scope, receive, send)
        assert status, "no answer"
        assert status[0] < 500, f"answered with {status[0]}: {answer[:500]!r}"
        return status[0], answer

    def scope(self, kind: str, path: str, who: str, **more: Any) -> dict[str, Any]:
        target, _, query = path.partition("?")
        given = {name: value for name, value in more.items() if "-" in name}
        headers = {
            "host": "127.0.0.1:8724", "authorization": f"Bearer {self.tokens[who]}", "content-type": "application/json",
            "accept": "application/json, text/event-stream" if path.startswith("/mcp") else "application/json", **given,
        }  # fmt: skip
        return {
            "type": kind, "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "http",
            "path": target, "raw_path": target.encode("utf-8", "replace"),
            "query_string": query.encode("utf-8", "replace"),
            "headers": [(name.encode(), value.encode("latin-1", "replace")) for name, value in headers.items()],
            "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 8724), "root_path": "", "state": {},
            **{name: value for name, value in more.items() if "-" not in name},
        }  # fmt: skip

    @property
    def is_used_up(self) -> bool:
        """True if the next input might be refused because of those before it."""
        runner = self.house.rooms.get("den")
        if self.inputs >= INPUTS or runner is None or runner.failure is not None or runner.room.state.archived:
            return True
        return not all(map(self._is_member, self.sessions))

    def _is_member(self, who: str) -> bool:
        try:
            found = self.house.identify(self.tokens[who])
        except Unauthorized:
            return False
        return self.house.rooms["den"].room.member_of(found.identity) is not None


META: Final = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}},
}


_dens: list[Den] = []


def den() -> Den:
    """An open house in which an input can be tried."""
    if _dens and _dens[0].is_used_up:
        renew()
    if not _dens:
        _dens.append(Den())
    return _dens[0]


def renew() -> None:
    """Begin with a new house at the next input."""
    _dens.pop().close()
