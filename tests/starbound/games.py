"""A bridge that listens on a real port, and games that poll it: scripts that answer as a test says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import uvicorn
from starlette.types import ASGIApp

from cohabit.faces.serve import GuestServer, listen
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.model.observation import Observation
from cohabit.protocols.starbound.bridge import Bridge
from cohabit.protocols.starbound.connector import LocalLink, StarboundConnector
from cohabit.protocols.starbound.server import BridgeServer
from cohabit.scenario import parse_scenario
from cohabit.testing.clock import FakeClock

TOKEN = "a-secret-of-the-bridge"
VIEW: dict[str, Any] = {
    "health": 80, "max_health": 100, "energy": 50.5, "max_energy": 100, "position": [10.0, 20.0],
    "world_name": "Gaia", "location_description": "on grass", "inventory": {"dirt": 3},
    "nearby_entities": [
        {"type": "monster", "distance": 8, "direction": "right", "name": "Poptop", "state": "hostile"},
        {"type": "object", "distance": 2.5, "direction": "left", "name": "chest", "interactable": True},
    ],
    "nearby_terrain": [{"type": "dirt", "direction": "below", "passable": False}],
    "effects": [{"name": "wet", "duration": 2.2}],
    "quests": [{"id": "q1", "description": "Find the gate", "progress": "0/1"}],
    "time_of_day": "day",
}  # fmt: skip
Answer = Callable[[dict[str, Any]], Any]


class Served:
    """A bridge on a free port, on a fake clock."""

    def __init__(self, bridge: Bridge, clock: FakeClock, port: int, token: str | None) -> None:
        self.bridge, self.clock, self.token = bridge, clock, token
        self.games: list[Game] = []
        clock.between = self.answered
        self.url = f"http://localhost:{port}"

    def waits_for(self, kind: str) -> bool:
        """Whether a command of this kind has no result yet."""
        return any(waiting.command.type == kind for waiting in self.bridge._waiting.values())

    async def answered(self) -> None:
        """Wait until the games that answer have answered. The clock waits for this after every timer."""
        while any(game.has_to_answer() for game in self.games):
            await asyncio.sleep(0)

    @asynccontextmanager
    async def client(self, token: str | None = "") -> AsyncIterator[httpx2.AsyncClient]:
        token = self.token if token == "" else token
        headers = {"authorization": f"Bearer {token}"} if token else {}
        async with httpx2.AsyncClient(base_url=self.url, headers=headers, timeout=120, trust_env=False) as client:
            yield client


@asynccontextmanager
async def a_bridge(token: str | None = TOKEN, clock: FakeClock | None = None) -> AsyncIterator[Served]:
    clock = clock or FakeClock()
    bridge = Bridge(clock)
    server = BridgeServer(bridge, token, listen("127.0.0.1", 0), Settings(), clock)
    server.start()
    try:
        yield Served(bridge, clock, server.port, token)
    finally:
        await server.close()


class Game:
    """The game's side: polls over HTTP and answers each command with what ``answer`` returns."""

    def __init__(self, served: Served, answer: Answer, player: str | None = None, name: str = "") -> None:
        self.served, self.answer, self.player, self.name = served, answer, player, name
        self.seen: list[dict[str, Any]] = []
        self.replies: list[tuple[int, dict[str, Any]]] = []
        self.is_mute = False  # it fetches commands and answers none
        self._running: asyncio.Future[None] | None = None
        served.games.append(self)

    def has_to_answer(self) -> bool:
        if self.is_mute or self._running is None or self._running.done():
            return False
        players = {waiting.command.player_id for waiting in self.served.bridge._waiting.values()}
        return bool(players if self.player is None else players & {self.player})

    async def run(self) -> None:
        async with self.served.client() as client:
            while True:
                command = await self.poll(client)
                if command and not self.is_mute:
                    await self.post(client, {"id": command["id"], "result": self.answer(command)})

    async def poll(self, client: httpx2.AsyncClient, wait: float = 20) -> dict[str, Any]:
        query = {"wait": wait, "name": self.name} | ({"player_id": self.player} if self.player else {})
        command: dict[str, Any] = (await client.get("/poll", params=query)).raise_for_status().json()
        if command:
            self.seen.append(command)
        return command

    async def post(self, client: httpx2.AsyncClient, body: Any) -> tuple[int, dict[str, Any]]:
        response = await client.post("/result", content=body if isinstance(body, bytes) else json.dumps(body).encode())
        self.replies.append((response.status_code, response.json()))
        return self.replies[-1]

    @asynccontextmanager
    async def playing(self) -> AsyncIterator[Game]:
        """The game runs, and is connected before the block begins."""
        self._running = asyncio.ensure_future(self.run())
        while not any(p.connected and p.id == (self.player or "player") for p in self.served.bridge.players()):
            await asyncio.sleep(0)
            assert not self._running.done(), self._running.exception()
        try:
            yield self
        finally:
            await self.stop()

    async def stop(self) -> None:
        """The game is closed: it polls no more."""
        assert self._running is not None
        self._running.cancel()
        await asyncio.wait({self._running})


def obedient(command: dict[str, Any]) -> Any:
    """Answers every command as a game should."""
    if command["type"] == "act":
        return {"success": True, "message": f"did {command['action']}", "reward": 0.5, "events": []}
    return VIEW


class Table:
    """A room around the game."""

    def __init__(self, house: House, tokens: dict[str, str], served: Served) -> None:
        self.house, self.tokens, self.served = house, tokens, served

    async def call(self, who: str, name: str, args: Any = None, **more: Any) -> Any:
        return await self.house.call(self.house.identify(self.tokens[who]), "ship", name, args, **more)

    async def look(self, who: str) -> Observation:
        """What a member sees."""
        seen: Observation = (await self.call(who, "view")).observation
        return seen

    async def events(self, who: str) -> list[str]:
        return [item.text for item in (await self.call(who, "events")).items]

    async def poll(self) -> None:
        """Let the room observe its players now."""
        remote = self.house.rooms["ship"].remote
        assert remote is not None
        await remote.poll()


PLAYERS = [{"id": "ann", "role": "player", "claim": "auto:0"}, {"id": "ben", "role": "player", "claim": "auto:1"},
           {"id": "owl", "role": "agent"}, {"id": "zeus", "role": "god"}]  # fmt: skip


@asynccontextmanager
async def a_room(served: Served, folder: Path | None = None) -> AsyncIterator[Table]:
    async with House.open(Settings(data=str(folder or "")), clock=served.clock) as house:
        text = json.dumps({"world": "starbound", "agents": PLAYERS})
        _, tokens = await house.create_room(parse_scenario(text), "ship")
        await house.connect_room("ship", StarboundConnector(LocalLink(served.bridge)))
        yield Table(house, tokens, served)


@asynccontextmanager
async def serving(app: ASGIApp) -> AsyncIterator[str]:
    """The app on a free port; its address."""
    listener = listen("127.0.0.1", 0)
    server = GuestServer(uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=3))
    running = asyncio.ensure_future(server.serve(sockets=[listener]))
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await running
        listener.close()
