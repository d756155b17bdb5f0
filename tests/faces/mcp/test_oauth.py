"""MCP clients sign in with OAuth: the official client, an identity provider and a house, over HTTP."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from tests.faces.mcp.signing_in import Browser, Storage, signing_in
from tests.faces.serving import listening as serving
from tests.identity_provider import Provider, listening
from tests.ports import free_port
from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as ws_connect
from websockets.exceptions import ConnectionClosed

from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.scenario import AgentSpec, Scenario
from cohabit.testing.clock import FakeClock

METADATA = "/.well-known/oauth-protected-resource"
LEGACY = "2025-11-25"
JSON = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


@pytest.fixture
def provider() -> Iterator[Provider]:
    with listening() as provider:
        yield provider


class Place:
    """A house with the room `den`, which is open to guests, where it listens, and its provider."""

    def __init__(self, house: House, url: str, provider: Provider) -> None:
        self.house, self.url, self.provider = house, url, provider

    def token(self, **claims: Any) -> str:
        return self.provider.token(self.url, **claims)

    async def host(self, command: str, **args: Any) -> Any:
        return await self.house.call(self.house.identify(self.house.operator_token()), None, command, args)

    async def post(self, token: str | None, message: dict[str, Any], path: str = "/mcp", **headers: str) -> Any:
        given = {**JSON, **headers} | ({"authorization": f"Bearer {token}"} if token else {})
        async with httpx2.AsyncClient(timeout=120) as http:
            return await http.post(f"{self.url}{path}", headers=given, json={"jsonrpc": "2.0", "id": 1, **message})


@asynccontextmanager
async def place_of(provider: Provider, clock: FakeClock | None = None, **settings: Any) -> AsyncIterator[Place]:
    chosen = Settings(**{"port": 0, "oauth_issuer": provider.issuer, **settings})
    if clock is not None:
        provider.now = lambda: clock.now() / 1000
    async with House.open(chosen, clock=clock) as house:
        host = AgentSpec(id="hal", role="host", kind="human")
        await house.create_room(Scenario(scenario="den", world="lounge", seed=1, guests=True, agents=[host]), "den")
        async with serving(house, mcp=True) as url:
            yield Place(house, url, provider)


@pytest.fixture
async def place(provider: Provider) -> AsyncIterator[Place]:
    async with place_of(provider) as place:
        yield place


# -- the official client ----------------------------------------------------------------------------
def text_of(result: Any) -> str:
    return " ".join(part.text for part in result.content)


async def test_a_client_finds_the_provider_signs_in_and_joins_a_room(place: Place, era: str) -> None:
    async with signing_in(f"{place.url}/mcp", era) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert "join" in tools
        assert not (joined := await client.call_tool("join", {"room": "den"})).is_error
        assert "joined" in text_of(joined)
    member = place.house.rooms["den"].room.state.with_handle("ada")
    assert member is not None
    assert member.identity.startswith("i-oauth-")
    assert {resource.rstrip("/") for resource in place.provider.resources} == {place.url}


async def test_the_endpoint_of_a_room_is_found_in_the_same_way(place: Place, era: str) -> None:
    async with signing_in(f"{place.url}/mcp/den", era) as client:
        assert not (await client.call_tool("join", {})).is_error
        assert not (await client.call_tool("roster", {})).is_error


async def test_a_client_asks_for_the_scopes_that_the_house_requires(provider: Provider, era: str) -> None:
    async with place_of(provider, oauth_scopes="cohabit:play") as place:
        storage = Storage()
        async with signing_in(f"{place.url}/mcp", era, storage) as client:
            assert (await client.list_tools()).tools
        assert storage.tokens[-1].scope == "cohabit:play"


async def test_a_client_refreshes_its_token_and_goes_on(place: Place, era: str) -> None:
    storage, browser = Storage(), Browser()
    async with signing_in(f"{place.url}/mcp/den", era, storage, browser) as client:
        await client.call_tool("join", {})
        for _ in range(3):
            assert browser.auth is not None
            browser.auth.context.token_expiry_time = 1.0  # long ago
            assert not (await client.call_tool("roster", {})).is_error
    assert browser.visits == 1
    assert len({token.access_token for token in storage.tokens}) == 4
    (me,) = [m for m in place.house.rooms["den"].room.state.members.values() if m.identity.startswith("i-oauth-")]
    assert me.handle == "ada"


# -- what it is told --------------------------------------------------------------------------------
@pytest.mark.parametrize("path", ["/mcp", "/mcp/den"])
async def test_a_request_without_a_token_is_told_where_to_sign_in(place: Place, path: str) -> None:
    answer = await place.post(None, {"method": "tools/list"}, path)
    assert answer.status_code == 401
    where = f"{place.url}{METADATA}{path}"
    assert answer.headers["www-authenticate"] == f'Bearer realm="cohabit", resource_metadata="{where}"'
    async with httpx2.AsyncClient() as http:
        for address in (where, f"{place.url}{METADATA}"):
            said = (await http.get(address)).json()
            assert said["resource"] == place.url
            assert said["authorization_servers"] == [place.provider.issuer]


async def test_a_house_without_a_provider_says_nothing_of_oauth(provider: Provider) -> None:
    async with place_of(provider, oauth_issuer="") as place:
        answer = await place.post(place.token(), {"method": "tools/list"})
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, 'Bearer realm="cohabit"')
        async with httpx2.AsyncClient() as http:
            assert (await http.get(f"{place.url}{METADATA}")).status_code == 404


async def test_a_refused_token_is_answered_with_the_reason(place: Place) -> None:
    token = place.provider.token("https://other.example.org")
    answer = await place.post(token, {"method": "tools/list"})
    assert answer.status_code == 401
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]
    assert "another audience" in answer.json()["error"]["message"]
    assert token not in answer.text


async def test_a_missing_scope_is_named_so_that_the_client_can_ask_for_it(provider: Provider) -> None:
    async with place_of(provider, oauth_scopes="cohabit:play") as place:
        answer = await place.post(place.token(scope="openid"), {"method": "tools/list"})
        assert answer.status_code == 403
        challenge = answer.headers["www-authenticate"]
        assert 'error="insufficient_scope"' in challenge
        assert 'scope="cohabit:play"' in challenge


async def test_the_resource_of_a_house_behind_a_proxy_is_its_public_address(provider: Provider) -> None:
    public, port = "https://house.example.org", free_port()
    async with place_of(provider, public_url=public, port=port), httpx2.AsyncClient() as http:
        said = await http.get(f"http://127.0.0.1:{port}{METADATA}/mcp", headers={"host": "house.example.org"})
        assert said.json()["resource"] == public


# -- other interfaces -------------------------------------------------------------------------------
async def test_an_access_token_is_good_for_http_and_websockets_too(place: Place) -> None:
    token = place.token()
    async with httpx2.AsyncClient(headers={"authorization": f"Bearer {token}"}) as http:
        joined = await http.post(f"{place.url}/api/join", json={"room": "den"})
        assert joined.json()["result"]["status"] == "joined"
        wrong = await http.get(f"{place.url}/api/rooms", headers={"authorization": "Bearer a.b.c"})
        assert wrong.status_code == 401
    async with ws_connect(place.url.replace("http", "ws") + "/ws") as ws:
        await ws.send(json.dumps({"id": 1, "auth": place.token()}))
        assert json.loads(await ws.recv())["ok"]
        await ws.send(json.dumps({"id": 2, "room": "den", "command": "roster"}))
        assert json.loads(await ws.recv())["ok"]


# -- the end of a token -----------------------------------------------------------------------------
async def closes(ws: ClientConnection) -> int:
    """The code with which the house closes a connection. It says why before."""
    with pytest.raises(ConnectionClosed) as closed:
        while True:
            await ws.recv()
    assert closed.value.rcvd is not None
    return closed.value.rcvd.code


async def test_revoking_somebody_ends_its_connections_and_refuses_its_next_token(place: Place) -> None:
    token = place.token()
    async with ws_connect(
        place.url.replace("http", "ws") + "/ws", additional_headers={"authorization": f"Bearer {token}"}
    ) as ws:
        await ws.send(json.dumps({"id": 1, "command": "rooms"}))
        assert json.loads(await ws.recv())["ok"]
        await place.host("revoke_credential", name="ada")
        assert await closes(ws) == 4401
    assert (await place.post(token, {"method": "tools/list"})).status_code == 401
    answer = await place.post(place.token(), {"method": "tools/list"})
    assert answer.status_code == 403
    assert "a host of this house has revoked your access" in answer.json()["error"]["message"]
    assert "www-authenticate" not in answer.headers  # to sign in again would not help


class Session:
    """A session of the older protocol, as it is on the wire."""

    def __init__(self, place: Place) -> None:
        self.place, self.id = place, ""

    async def open(self, token: str) -> None:
        client = {"name": secrets.token_hex(2), "version": "1"}
        params = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": client}
        answer = await self.place.post(token, {"method": "initialize", "params": params})
        assert answer.status_code == 200
        self.id = answer.headers["mcp-session-id"]

    async def lists_tools(self, token: str) -> int:
        headers = {"mcp-session-id": self.id, "mcp-protocol-version": LEGACY}
        answer = await self.place.post(token, {"method": "tools/list"}, **headers)
        status: int = answer.status_code
        return status

    @asynccontextmanager
    async def stream(self, token: str) -> AsyncIterator[AsyncIterator[str]]:
        headers = {**JSON, "authorization": f"Bearer {token}", "mcp-session-id": self.id}
        headers["mcp-protocol-version"] = LEGACY
        async with (
            httpx2.AsyncClient(timeout=120) as http,
            http.stream("GET", f"{self.place.url}/mcp", headers=headers) as answer,
        ):
            assert answer.status_code == 200
            yield answer.aiter_lines()


async def test_a_session_goes_on_with_the_next_token_and_its_stream_ends_with_the_old_one(provider: Provider) -> None:
    clock = FakeClock()
    async with place_of(provider, clock) as place:
        session, first = Session(place), place.token()
        await session.open(first)
        async with session.stream(first) as lines:
            await clock.advance(400_000)
            async with asyncio.timeout(120):
                assert [line async for line in lines if "data: {" in line] == []
        assert await session.lists_tools(first) == 401
        second = place.token()
        assert await session.lists_tools(second) == 200
        assert await session.lists_tools(place.token(sub="somebody-else")) == 404
        await place.host("revoke_credential", name=place.house.identify(second).identity)
        await place.host("allow_sign_in", name=place.house.identities.find(second).identity)  # type: ignore[union-attr]
        assert await session.lists_tools(place.token()) == 404


async def test_all_access_tokens_of_an_identity_share_its_connections(provider: Provider) -> None:
    async with place_of(provider, connections_per_member=2) as place:
        address = place.url.replace("http", "ws") + "/ws"

        def connect(token: str) -> Any:
            return ws_connect(address, additional_headers={"authorization": f"Bearer {token}"})

        async with connect(place.token()) as one, connect(place.token()) as two, connect(place.token()) as three:
            assert await closes(three) == 4408
            for ws in (one, two):
                await ws.send(json.dumps({"id": 1, "command": "rooms"}))
                assert json.loads(await ws.recv())["ok"]
