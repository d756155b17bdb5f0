"""Three agents in one game, each over a different protocol: WebSocket, HTTP, and MCP with the official client.

Run it with `python examples/over_the_wire.py`. The house runs in this process on a free port, and stores nothing.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import mcp
import uvicorn
from mcp.client.streamable_http import streamable_http_client

from cohabit import House, connect
from cohabit.faces.app import make_app
from cohabit.faces.serve import Server
from cohabit.scenario import AgentSpec, Scenario

PIG = str(Path(__file__).with_name("pig.py"))
PLAYERS = ("ada", "bob", "cleo")
Call = Callable[[str, Mapping[str, Any]], Any]


@asynccontextmanager
async def listening(house: House) -> AsyncIterator[str]:
    """Serve the house on a free port and yield its address. Any ASGI server works."""
    ready = asyncio.Event()
    server = Server(uvicorn.Config(make_app(house), port=0, log_config=None), ready.set)
    running = asyncio.create_task(server.serve())
    await ready.wait()
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        await running


@asynccontextmanager
async def over_mcp(url: str, token: str) -> AsyncIterator[Call]:
    """Call the tools of one room as an MCP client that wants values, not texts for a model."""
    async with (
        httpx2.AsyncClient(headers={"authorization": f"Bearer {token}"}, timeout=60) as http,
        mcp.Client(streamable_http_client(url, http_client=http)) as client,
    ):

        async def call(tool: str, args: Mapping[str, Any]) -> Any:
            answer = await client.call_tool(tool, dict(args))
            assert not answer.is_error, answer.content
            return answer.structured_content

        yield call


async def play(name: str, call: Call, holds_at: int) -> None:
    """Wait for the turn, observe and act, until the game is over."""
    while True:
        seen = await call("wait_for_turn", {"wait_ms": 10_000})
        if seen.get("over"):
            return
        if seen["your_turn"]:
            pot = seen["observation"]["status"]["pot"]
            result = await call("hold" if pot >= holds_at else "roll", {})
            print(f"  {name:>4}: {result['message']}")


async def main() -> None:
    agents = [AgentSpec(id=name, role="player", claim=f"auto:{i}") for i, name in enumerate(PLAYERS)]
    plan = Scenario(scenario="pig", world=PIG, config={"goal": 30}, agents=agents)
    async with House.open() as house:
        room, tokens = await house.create_room(plan)
        async with (
            listening(house) as url,
            connect(url, tokens["ada"]) as ada,
            connect(url, tokens["bob"], transport="http") as bob,
            over_mcp(f"{url}/mcp/{room}?profile=full", tokens["cleo"]) as cleo,
        ):
            await asyncio.gather(play("ada", ada.call, 8), play("bob", bob.call, 12), play("cleo", cleo, 16))
            standings = (await ada.call("objective_status"))["standings"]
    best = standings[0]
    winner = PLAYERS[int(best["seat"]) - 1]
    print(f"ok: one game over three wires; {winner} wins with {best['score']}")


asyncio.run(main())
