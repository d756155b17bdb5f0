"""A real house with a table of Nim, served over HTTP, and clients of the official SDK."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import httpx2
import pytest
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.types import ASGIApp

from cohabit.faces.app import make_app
from cohabit.faces.serve import Server
from cohabit.house.house import House
from cohabit.house.running.runner import RoomRunner
from cohabit.house.settings import Settings
from cohabit.house.store.identities import hashed, make_token, new_identity
from cohabit.model.identity import Credential
from cohabit.scenario import AgentSpec, Scenario

MODES = {"2025-11-25": "legacy", "2026-07-28": "auto"}


class Table:
    """Where the house listens, and the tokens of its members."""

    def __init__(self, house: House, url: str, tokens: dict[str, str]) -> None:
        self.house, self.url, self.tokens = house, url, tokens
        self.room = "nim"

    async def act(self, who: str, command: str, args: dict[str, Any]) -> Any:
        """What another member does meanwhile, over another interface."""
        return await self.house.call(self.house.identify(self.tokens[who]), self.room, command, args)

    async def until(self, true: Callable[[RoomRunner], object]) -> None:
        """Wait for what a client does in its own time."""
        while not true(self.house.rooms[self.room]):
            await asyncio.sleep(0.001)

    def admit(self, who: str, host: bool = False) -> None:
        """An identity with a credential that is not bound to a room."""
        identity, self.tokens[who] = new_identity(who, host=host), make_token()
        self.house.identities.put(identity)
        self.house.identities.put_credential(Credential(hashed(self.tokens[who]), identity.id))

    async def invite(self, who: str, **how: Any) -> None:
        """An invite to the room; its token is the one of ``who``."""
        made = await self.act("hal", "invite", {"id": who, **how})
        self.tokens[who] = made.token

    async def revoke(self, who: str) -> None:
        """A host revokes the tokens of a member."""
        await self.act("hal", "revoke_token", {"member": who})

    def client(
        self, who: str | None, mode: str = "auto", room: str | None = "nim", profile: str | None = "full", **how: Any
    ) -> Any:
        token = self.tokens[who] if who is not None else None
        query = f"?profile={profile}" if profile else ""
        return sdk_client(f"{self.url}/mcp" + (f"/{room}" if room else "") + query, token, mode, **how)


@asynccontextmanager
async def sdk_client(url: str, token: str | None, mode: str, **how: Any) -> AsyncIterator[Client]:
    headers = {"authorization": f"Bearer {token}"} if token else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=120) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode, **how) as client,
    ):
        yield client


def scenario() -> Scenario:
    return Scenario(
        scenario="table",
        world="nim",
        seed=1,
        agents=[
            AgentSpec(id="ann", role="player", claim="auto:0"),
            AgentSpec(id="bob", role="player", claim="auto:1"),
            AgentSpec(id="eve", role="observer"),
            AgentSpec(id="hal", role="host", kind="human"),
        ],
    )


@pytest.fixture(params=list(MODES))
def era(request: pytest.FixtureRequest) -> str:
    """Both eras of the protocol, as the SDK's client calls them."""
    return MODES[request.param]


@pytest.fixture
async def house() -> AsyncIterator[House]:
    async with House.open(Settings()) as house:
        yield house


@asynccontextmanager
async def listening(app: ASGIApp) -> AsyncIterator[str]:
    """The app on a free port; its address."""
    listener = socket.create_server(("127.0.0.1", 0))
    ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    config = uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=3)
    server = Server(config, lambda: ready.set_result(None))
    running = asyncio.create_task(server.serve(sockets=[listener]))
    await asyncio.wait({ready, running}, return_when=asyncio.FIRST_COMPLETED)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await running
        listener.close()


@pytest.fixture
def serving(house: House) -> Callable[[ASGIApp], AbstractAsyncContextManager[Table]]:
    """A table of Nim behind any app."""

    @asynccontextmanager
    async def serve(app: ASGIApp) -> AsyncIterator[Table]:
        _, tokens = await house.create_room(scenario(), "nim")
        async with listening(app) as url:
            yield Table(house, url, tokens)

    return serve


@pytest.fixture
async def table(house: House, serving: Callable[[ASGIApp], AbstractAsyncContextManager[Table]]) -> AsyncIterator[Table]:
    async with serving(make_app(house)) as table:
        yield table
