"""The ways into a house, one for each face, as clients of one shape: what holds over one must hold over all."""

import asyncio
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
from mcp.shared.exceptions import MCPError
from tests.forks import command as copy

from cohabit.errors import Unauthorized, by_code
from cohabit.faces.python import connect
from cohabit.faces.serve import serve
from cohabit.house.house import House
from cohabit.protocols.worldbox.names import code_from_wire
from cohabit.protocols.worldbox.server import bridge_app
from cohabit.testing.faces import Client

FACES = ["python", "http", "websocket", "mcp 2025-11-25", "mcp 2026-07-28", "mcp stdio"]
SLOW_FACES = ("websocket", "mcp 2025-11-25", "mcp stdio")
MOSTLY_SOAK = [pytest.param(face, marks=pytest.mark.soak) if face in SLOW_FACES else face for face in FACES]
"""For long tests: `make test` runs them over one interface of each kind, `make soak` over all."""
FIRST_TWO = [*FACES[:2], *(pytest.param(face, marks=pytest.mark.soak) for face in FACES[2:])]
"""For the longest ones."""
Door = Callable[[str], AbstractAsyncContextManager[Client]]
"""Given a token, a client."""


class Tools:
    """An MCP client in the shape of the others: a tool call is a call, an error result is raised."""

    def __init__(self, sdk: SdkClient, refused: list[dict[str, Any]] | None = None) -> None:
        self._sdk = sdk
        self._refused = refused if refused is not None else []

    async def call(
        self, command: str, args: Mapping[str, Any] | None = None, *, room: str | None = None, key: str | None = None
    ) -> Any:
        given = {**(args or {}), **({"room": room} if room else {})}
        try:
            result = await self._sdk.call_tool(command, given, meta={"cohabit/key": key} if key else None)
        except MCPError as wrong:
            if self._refused:  # with a status; the SDK's client hides what the server said
                raise by_code(self._refused[-1]) from None
            if isinstance(wrong.error.data, dict) and "code" in wrong.error.data:  # as when it lists the tools first
                raise by_code(wrong.error.data) from None
            raise
        if result.is_error:
            raise by_code((result.structured_content or {})["error"])
        if result.content[0].type == "image":
            return {"format": "png", "base64": result.content[0].data}
        values = result.structured_content or {}
        return values["result"] if values.keys() == {"result"} else values  # MCP carries objects only


@asynccontextmanager
async def mcp_http(url: str, token: str, mode: str) -> AsyncIterator[Client]:
    headers = {"authorization": f"Bearer {token}"} if token else {}
    refused: list[dict[str, Any]] = []

    async def note(response: httpx2.Response) -> None:
        if response.status_code == 401:
            await response.aread()
            refused.append(response.json()["error"]["data"])

    # There is no TLS here, and reading the certificates takes a tenth of a second of CPU.
    hooks = {"response": [note]}
    async with httpx2.AsyncClient(headers=headers, timeout=120, event_hooks=hooks, verify=False) as http:
        answer = await http.post(f"{url}/mcp", json={})
        if answer.status_code == 401:  # the SDK's client hides what the server said
            raise by_code(answer.json()["error"]["data"])
        async with AsyncExitStack() as stack:
            client = SdkClient(streamable_http_client(f"{url}/mcp?profile=full", http_client=http), mode=mode)
            try:
                sdk = await stack.enter_async_context(client)
            except ExceptionGroup as wrong:
                raise by_code(_refusal_in(wrong).error.data) from None
            yield Tools(sdk, refused)


def _refusal_in(wrong: Exception) -> MCPError:
    """What the server said, inside the groups of the SDK's tasks."""
    while isinstance(wrong, ExceptionGroup):
        (wrong,) = wrong.exceptions
    assert isinstance(wrong, MCPError), wrong
    return wrong


@asynccontextmanager
async def mcp_stdio(url: str, token: str, said: Path) -> AsyncIterator[Client]:
    """``cohabit mcp``, in a copy of a process that has imported it; ``mcp/test_stdio`` starts the program itself."""
    command, *words = copy()
    program = StdioServerParameters(
        command=command,
        args=[*words, "mcp", "--url", url, "--profile", "full"],
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


class BridgeClient:
    """The WorldBox wire in the shape of the others."""

    def __init__(self, http: httpx2.AsyncClient) -> None:
        self._http = http

    async def call(
        self, command: str, args: Mapping[str, Any] | None = None, *, room: str | None = None, key: str | None = None
    ) -> Any:
        answer = (await self._http.post("/cmd", json={"name": command, "args": args or {}})).json()
        if not answer["ok"]:
            raise by_code({**answer["error"], "code": code_from_wire(answer["error"]["code"])})
        return answer["result"]


@asynccontextmanager
async def bridge(house: House, token: str) -> AsyncIterator[Client]:
    transport = httpx2.ASGITransport(app=bridge_app(house))
    headers = {"authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8723", headers=headers) as http:
        yield BridgeClient(http)


def door_at(face: str, url: str, tmp: Path) -> Door:
    """The way in over one face of a house at an address."""
    count = iter(range(1000))
    return {
        "http": lambda token: connect(url, token, transport="http"),
        "websocket": lambda token: connect(url, token),
        "mcp 2025-11-25": lambda token: mcp_http(url, token, "legacy"),
        "mcp 2026-07-28": lambda token: mcp_http(url, token, "auto"),
        "mcp stdio": lambda token: mcp_stdio(url, token, tmp / f"stderr-{next(count)}"),
    }[face]


@asynccontextmanager
async def doors(face: str, house: House, tmp: Path) -> AsyncIterator[Door]:
    """The way in over one face."""
    if face == "python":
        yield lambda token: connect(house, token)
        return
    if face == "bridge":
        yield lambda token: bridge(house, token)
        return
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    serving = asyncio.ensure_future(serve(house, ready=ready.set_result))
    try:
        yield door_at(face, await ready, tmp)
    finally:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
