"""A real house, listening on a port of its own in the loop of the test, on a clock that stands still."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2

from cohabit.faces.serve import serve
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.scenario import parse_scenario
from cohabit.testing.clock import FakeClock

WORLDS = Path(__file__).parent.parent / "room" / "worlds.py"
MEMBERS = [
    {"id": "ann", "role": "player", "claim": "auto:0"},
    {"id": "bob", "role": "player", "claim": "auto:1"},
    {"id": "hostess", "role": "host", "kind": "human"},
]


class Served:
    """Where the house listens, and the tokens of its members."""

    def __init__(self, house: House, clock: FakeClock, url: str, tokens: dict[str, str]) -> None:
        self.house, self.clock, self.url, self.tokens = house, clock, url, tokens
        self.ws = url.replace("http", "ws", 1) + "/ws"

    async def act(self, who: str, command: str, args: Any = None, room: str = "den") -> Any:
        """What somebody does meanwhile, by another face."""
        return await self.house.call(self.house.identify(self.tokens[who]), room, command, args)

    def http(self, who: str | None = None, **more: Any) -> httpx2.AsyncClient:
        headers = {"authorization": f"Bearer {self.tokens[who]}"} if who else {}
        return httpx2.AsyncClient(base_url=self.url, headers=headers, timeout=120, **more)


@asynccontextmanager
async def listening(house: House, listener: socket.socket | None = None, mcp: bool = False) -> AsyncIterator[str]:
    """The house on a free port, without the face that takes long to import; its address."""
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    serving = asyncio.ensure_future(serve(house, ready=ready.set_result, mcp=mcp, listener=listener))
    await asyncio.wait({ready, serving}, return_when=asyncio.FIRST_COMPLETED)
    try:
        yield await ready
    finally:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)


@asynccontextmanager
async def served(
    folder: Path | None = None,
    tokens: dict[str, str] | None = None,
    world: str = f"{WORLDS}:Secrets",
    also: Sequence[dict[str, str]] = (),
    **settings: Any,
) -> AsyncIterator[Served]:
    """A house with the room ``den`` and ann, bob and a host in it; with ``tokens``, one that was there before."""
    clock = FakeClock()
    chosen = Settings(port=0, data=str(folder) if folder is not None else "", **settings)
    async with House.open(chosen, clock=clock) as house:
        if tokens is None:
            has_seats = world != "lounge"
            members = [{key: each[key] for key in each if has_seats or key != "claim"} for each in MEMBERS]
            text = json.dumps({"world": world, "partial_intel": True, "agents": [*members, *also]})
            _, tokens = await house.create_room(parse_scenario(text), "den", seed=7)
        async with listening(house) as url:
            yield Served(house, clock, url, tokens)
