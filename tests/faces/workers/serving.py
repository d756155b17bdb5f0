"""A house with real workers. The process of the test is the front; calls go to the sockets of the workers."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2

from cohabit.errors import Busy, CohabitError, by_code
from cohabit.faces.workers.supervisor import Supervisor, open_front
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.scenario import parse_scenario

HOSTILE = f"{Path(__file__).parent / 'hostile.py'}:Hostile"
MEMBERS = [{"id": "ann", "role": "player", "claim": "auto:0"}, {"id": "hostess", "role": "host", "kind": "human"}]


class Workers:
    def __init__(self, house: House, supervisor: Supervisor) -> None:
        self.house, self.supervisor = house, supervisor
        self.table = supervisor.cluster.table
        self.tokens: dict[str, dict[str, str]] = {}
        self._clients: dict[str, httpx2.AsyncClient] = {}

    async def create(self, room: str) -> None:
        text = json.dumps({"world": HOSTILE, "agents": MEMBERS})
        _, self.tokens[room] = await self.house.create_room(parse_scenario(text), room)

    async def call(
        self, room: str, command: str, args: Any = None, *, key: str = "", who: str = "ann", at: str = ""
    ) -> Any:
        """Call a command at the worker that has the room, or at another one. Raises its error; BUSY if it is gone."""
        node = at or self.table.holder(room)
        if node is None:
            raise Busy("no worker has this room")
        headers = {"authorization": f"Bearer {self.tokens[room][who]}"} | ({"idempotency-key": key} if key else {})
        try:
            answer = await self._client(node).post(f"/api/rooms/{room}/{command}", json=args or {}, headers=headers)
        except httpx2.TransportError as gone:
            raise Busy(str(gone)) from gone
        found = answer.json()
        if not found["ok"]:
            raise by_code(found["error"])
        return found["result"]

    async def until_answered(self, room: str, command: str, args: Any = None, *, key: str = "") -> Any:
        """Call again until the room answers, as a client does that reconnects."""
        while True:
            try:
                return await self.call(room, command, args, key=key)
            except CohabitError as wrong:
                if wrong.code not in ("BUSY", "DISABLED", "UNKNOWN_ROOM", "OUTCOME_UNKNOWN", "STORAGE_FAILED"):
                    raise
            await asyncio.sleep(0.02)

    def _client(self, node: str) -> httpx2.AsyncClient:
        if node not in self._clients:
            transport = httpx2.AsyncHTTPTransport(uds=str(self.supervisor.folder / f"{node}.sock"))
            self._clients[node] = httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=60)
        return self._clients[node]

    async def dies(self, node: str) -> None:
        """Wait until a worker is dead, and its rooms are open elsewhere."""
        while node in self.supervisor.cluster.links:
            await asyncio.sleep(0.02)
        await self.supervisor.cluster.settled()

    async def close(self) -> None:
        for client in self._clients.values():
            await client.aclose()


@asynccontextmanager
async def working(folder: Path, **settings: Any) -> AsyncIterator[Workers]:
    chosen = Settings(**{"data": str(folder), "workers": 2, "log_level": "warning", **settings})
    async with open_front(chosen, mcp=False) as (house, supervisor):
        workers = Workers(house, supervisor)
        try:
            yield workers
        finally:
            await workers.close()
