"""One conversation over every face: identity, permission, scope, fog, turn, bus and replay hold on all of them alike."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client as SdkClient
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from cohabit.errors import Internal, Unauthorized, by_code
from cohabit.faces.python import connect
from cohabit.faces.serve import serve
from cohabit.registry import make_world
from cohabit.room.record import GENESIS, read_lines
from cohabit.room.room import Room
from cohabit.testing.faces import Client, Reference, check_face, reference_house

Door = Callable[[str], AbstractAsyncContextManager[Client]]
"""Given a token, a client."""


class Tools:
    """An MCP client in the shape of the others: a tool call is a call, an error result is raised."""

    def __init__(self, sdk: SdkClient) -> None:
        self._sdk = sdk

    async def call(
        self, command: str, args: Mapping[str, Any] | None = None, *, room: str | None = None, key: str | None = None
    ) -> Any:
        given = {**(args or {}), **({"room": room} if room else {})}
        result = await self._sdk.call_tool(command, given, meta={"cohabit/key": key} if key else None)
        if result.is_error:
            raise by_code((result.structured_content or {})["error"])
        if result.content[0].type == "image":
            return {"format": "png", "base64": result.content[0].data}
        values = result.structured_content or {}
        return values["result"] if values.keys() == {"result"} else values  # MCP carries objects only


@asynccontextmanager
async def mcp_http(url: str, token: str, mode: str) -> AsyncIterator[Client]:
    headers = {"authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
        answer = await http.post(f"{url}/mcp", json={})
        if answer.status_code == 401:  # the SDK's client hides what the server said
            raise by_code(answer.json()["error"])
        async with SdkClient(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode) as sdk:
            yield Tools(sdk)


@asynccontextmanager
async def mcp_stdio(url: str, token: str, said: Path) -> AsyncIterator[Client]:
    program = StdioServerParameters(
        command=sys.executable,
        args=["-m", "cohabit", "mcp", "--url", url],
        env={"COHABIT_TOKEN": token, "PATH": "/usr/bin:/bin"},
    )
    with said.open("w") as log:
        try:
            async with SdkClient(stdio_client(program, errlog=log)) as sdk:
                yield Tools(sdk)
        except Exception:
            if "UNAUTHORIZED" in said.read_text():  # it said so and left
                raise Unauthorized(said.read_text()) from None
            raise


@asynccontextmanager
async def doors(face: str, reference: Reference, tmp: Path) -> AsyncIterator[Door]:
    """The way in over one face."""
    if face == "python":
        yield lambda token: connect(reference.house, token)
        return
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    serving = asyncio.ensure_future(serve(reference.house, ready=ready.set_result))
    url = await ready
    count = iter(range(1000))
    try:
        yield {
            "http": lambda token: connect(url, token, transport="http"),
            "websocket": lambda token: connect(url, token),
            "mcp 2025-11-25": lambda token: mcp_http(url, token, "legacy"),
            "mcp 2026-07-28": lambda token: mcp_http(url, token, "auto"),
            "mcp stdio": lambda token: mcp_stdio(url, token, tmp / f"stderr-{next(count)}"),
        }[face]
    finally:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)


async def conversation(reference: Reference, door: Door) -> Exception | None:
    """Hold it; what did not hold. (Raised through the SDK's task groups it could not be read.)"""
    async with AsyncExitStack() as stack:
        clients: dict[str, Client] = {}

        async def join(token: str) -> Client:
            if token not in clients:
                clients[token] = await stack.enter_async_context(door(token))
            return clients[token]

        try:
            await check_face(join, reference)
        except Exception as broken:
            return broken
    return None


@pytest.mark.parametrize("face", ["python", "http", "websocket", "mcp 2025-11-25", "mcp 2026-07-28", "mcp stdio"])
async def test_the_same_claims_hold_over_every_face_and_what_was_done_replays(face: str, tmp_path: Path) -> None:
    async with reference_house(port=0) as reference, doors(face, reference, tmp_path) as door:
        assert await conversation(reference, door) is None

        for name, host in reference.house.rooms.items():
            await host.drained()
            rows = list(reference.house.store.lines(name, -1))
            again = Room.replay(read_lines(rows, -1, GENESIS), make_world)
            assert again.digest() == host.room.digest()
            assert len(rows) > 1


def test_a_refusal_that_no_face_knows_is_internal() -> None:
    assert isinstance(by_code({"code": "NO_SUCH_CODE", "message": "?"}), Internal)
