"""A house with real workers. The process of the test is the front."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2

from cohabit.errors import Busy, CohabitError, by_code
from cohabit.faces.serve import bind
from cohabit.faces.workers.peers import CALL
from cohabit.faces.workers.supervisor import Supervisor, open_front
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.house.store.identities import hashed
from cohabit.scenario import parse_scenario

HOSTILE = f"{Path(__file__).parent / 'hostile.py'}:Hostile"
MEMBERS = [{"id": "ann", "role": "player", "claim": "auto:0"}, {"id": "hostess", "role": "host", "kind": "human"}]


class Workers:
    def __init__(self, house: House, supervisor: Supervisor) -> None:
        self.house, self.supervisor = house, supervisor
        self.table = supervisor.cluster.table
        self.tokens: dict[str, dict[str, str]] = {}
        self.url = ""
        self._http: dict[str, httpx2.AsyncClient] = {}  # by room: a connection ends with the worker that has it

    async def create(self, room: str) -> None:
        text = json.dumps({"world": HOSTILE, "agents": MEMBERS})
        self._http[room] = httpx2.AsyncClient(timeout=120)
        _, self.tokens[room] = await self.house.create_room(parse_scenario(text), room)

    async def call(self, room: str, command: str, args: Any = None, *, key: str = "", who: str = "ann") -> Any:
        """Call a command over HTTP. Raises its error; BUSY if the connection is lost."""
        headers = {"authorization": f"Bearer {self.tokens[room][who]}"} | ({"idempotency-key": key} if key else {})
        target = f"{self.url}/api/rooms/{room}/{command}"
        try:
            found = (await self._http[room].post(target, json=args or {}, headers=headers)).json()
        except httpx2.TransportError as gone:
            raise Busy(str(gone)) from gone
        if not found["ok"]:
            raise by_code(found["error"])
        return found["result"]

    async def call_at(self, node: str, token: str, command: str) -> Any:
        """Call a command of the house in one worker, with the token as that worker knows it."""
        transport = httpx2.AsyncHTTPTransport(uds=self.table.socket_of(node))
        asked = f"http://localhost{CALL}?credential={hashed(token).hex()}&command={command}&part=1"
        async with httpx2.AsyncClient(transport=transport, timeout=120) as http:
            found = (await http.post(asked, headers={"x-cohabit-node": self.table.word})).json()
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

    async def dies(self, node: str) -> None:
        """Wait until a worker is dead, and its rooms are open elsewhere."""
        while node in self.supervisor.cluster.links:
            await asyncio.sleep(0.02)
        await self.supervisor.cluster.settled()

    async def close(self) -> None:
        for client in self._http.values():
            await client.aclose()


@asynccontextmanager
async def working(folder: Path, *, mcp: bool = False, **settings: Any) -> AsyncIterator[Workers]:
    chosen = Settings(**{"data": str(folder), "workers": 2, "port": 0, "log_level": "warning", **settings})
    async with open_front(chosen, mcp=mcp) as (house, supervisor):
        workers = Workers(house, supervisor)
        ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        serving = asyncio.ensure_future(supervisor.serve(bind(chosen), ready=ready.set_result))
        await asyncio.wait({ready, serving}, return_when=asyncio.FIRST_COMPLETED)
        workers.url = await ready
        try:
            yield workers
        finally:
            await workers.close()
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)
