"""The gate over every interface: coming in without a token, waiting, and being sent away."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from websockets.asyncio.client import connect as ws_connect
from websockets.exceptions import ConnectionClosed

from cohabit.errors import CohabitError, PermissionDenied
from cohabit.faces.app import make_app
from cohabit.faces.cli.options import Place as Address
from cohabit.faces.cli.watch import enter_room
from cohabit.house.access.signing import ASSERTION, InviteBody, SigningKey, verify_invite
from cohabit.house.access.strangers import knock
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.scenario import AgentSpec, Scenario
from cohabit.testing.clock import FakeClock

from .doors import MOSTLY_SOAK, doors
from .mcp.conftest import listening

AGENT = SigningKey.generate()
LEGACY = "2025-11-25"


def a_room() -> Scenario:
    return Scenario(
        world="nim",
        seed=1,
        agents=[
            AgentSpec(id="ann", role="player", claim="auto:0"),
            AgentSpec(id="bob", role="player", claim="auto:1"),
            AgentSpec(id="hal", role="host", kind="human"),
        ],
    )


class Place:
    """A house that listens, and a host in it."""

    def __init__(self, house: House, url: str, tokens: dict[str, str]) -> None:
        self.house, self.url, self.tokens = house, url, tokens
        self.http = httpx2.AsyncClient(base_url=url, timeout=120)

    async def host(self, command: str, **args: Any) -> Any:
        return await self.house.call(self.house.identify(self.tokens["hal"]), "nim", command, args)

    async def post(self, path: str, args: Any, token: str | None = None) -> tuple[int, Any]:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        answer = await self.http.post(path, json=args, headers=headers)
        said = answer.json()
        return answer.status_code, said.get("result", said.get("error"))


@asynccontextmanager
async def open_place() -> AsyncIterator[Place]:
    async with House.open(Settings(), clock=FakeClock()) as house:
        _, tokens = await house.create_room(a_room(), "nim")
        async with listening(make_app(house)) as url:
            place = Place(house, url, tokens)
            async with place.http:
                yield place


@pytest.fixture
async def place() -> AsyncIterator[Place]:
    async with open_place() as place:
        yield place


def _properties(operation: Any) -> Any:
    return operation["requestBody"]["content"]["application/json"]["schema"]["properties"]


# -- without a token --------------------------------------------------------------------------------
async def test_somebody_without_a_token_comes_in_over_http(place: Place) -> None:
    assert (await place.post("/api/join", {"room": "nim", "name": "Eve"}))[0] == 404
    await place.host("set_entry", open=True)
    status, joined = await place.post("/api/join", {"room": "nim", "name": "Eve", "backend": "llama"})
    assert (status, joined["status"], joined["member"], joined["role"]) == (200, "joined", "Eve", "human")
    status, me = await place.post("/api/rooms/nim/whoami", {}, joined["token"])
    assert (status, me["handle"], me["grant"]["backend"]) == (200, "Eve", "llama")
    status, again = await place.post("/api/join", {"room": "nim", "wait_ms": 10}, joined["token"])
    assert (status, again["member"], "token" in again) == (200, "Eve", False)
    document = (await place.http.get("/openapi.json")).json()
    assert {"room", "name", "invite", "code", "assertion"} <= _properties(document["paths"]["/api/join"]["post"]).keys()


async def test_an_agent_answers_a_challenge_and_comes_in(place: Place) -> None:
    await place.host("set_entry", agent_keys=[{"key": AGENT.public_jwk, "label": "owl"}])
    said = (await place.http.get("/api/join/challenge", params={"room": "nim"})).json()["result"]
    now = place.house.clock.now() // 1000
    token = AGENT.sign({"k": ASSERTION, "room": "nim", "fp": said["challenge"], "iat": now})
    status, joined = await place.post("/api/join", {"room": "nim", "assertion": token})
    assert (status, joined["member"], joined["role"]) == (200, "owl", "agent")
    status, refused = await place.post("/api/join", {"room": "nim", "assertion": token})
    assert (status, refused["code"], refused["reason"]) == (403, "PERMISSION_DENIED", "not bound to a fresh challenge")
    assert (await place.http.get("/api/join/challenge")).status_code == 400


async def test_an_invite_is_checked_with_the_public_key_that_the_house_serves(place: Place) -> None:
    made = await place.host("invite", id="cy")
    key = (await place.http.get("/.well-known/cohabit-key.json")).json()
    assert isinstance(verify_invite(made.token, key, "nim", place.house.clock.now() / 1000), InviteBody)
    assert "d" not in key
    status, joined = await place.post("/api/join", {"room": "nim", "invite": made.token})
    assert (status, joined["member"]) == (200, "cy")
    status, refused = await place.post("/api/join", {"room": "nim", "invite": made.token + "x"})
    assert (status, refused["reason"]) == (401, "bad signature")


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"[]", 400), (b"{", 400), (b"\xff", 400), (b"{}", 400), (b'{"room": 7}', 400), (b'{"room": "nim", "name": "' + b"x" * 20_000, 413)],
)  # fmt: skip
async def test_a_malformed_or_large_request_to_join_is_refused(place: Place, body: bytes, status: int) -> None:
    await place.host("set_entry", open=True)
    assert (await place.http.post("/api/join", content=body)).status_code == status


async def test_a_request_to_join_from_another_site_is_refused(place: Place) -> None:
    await place.host("set_entry", open=True)
    answer = await place.http.post(
        "/api/join", json={"room": "nim", "name": "Eve"}, headers={"origin": "https://evil.example"}
    )
    assert answer.status_code == 403


# -- waiting ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("face", MOSTLY_SOAK)
async def test_a_waiting_newcomer_can_join_and_nothing_else_over_every_interface(face: str, tmp_path: Path) -> None:
    async with House.open(Settings(port=0)) as house:
        _, tokens = await house.create_room(a_room(), "nim")
        host = house.identify(tokens["hal"])
        await house.call(host, "nim", "set_entry", {"open": True, "lobby": True})
        token = (await knock(house.door, {"room": "nim", "name": "Eve"})).token
        assert token is not None
        async with doors(face, house, tmp_path) as door, door(token) as eve:
            assert (await eve.call("join"))["status"] == "waiting"
            for name in ("view", "roster", "events", "recv_messages", "take", "lobby"):
                with pytest.raises(CohabitError) as refused:
                    await eve.call(name)
                assert refused.value.code == "UNKNOWN_ROOM"
            call = asyncio.create_task(eve.call("join", {"wait_ms": 30_000}))
            (line,) = (await house.call(host, "nim", "lobby")).waiting
            await house.call(host, "nim", "admit", {"knock": line.knock})
            joined = await call
            assert (joined["status"], joined["member"]) == ("joined", "Eve")
            assert (await eve.call("whoami"))["handle"] == "Eve"
            assert (await eve.call("leave"))["left"] == "Eve"
            assert "Eve" not in house.rooms["nim"].room.state.members


@pytest.mark.parametrize("face", MOSTLY_SOAK)
async def test_an_invite_leads_into_a_lobby_over_every_interface(face: str, tmp_path: Path) -> None:
    async with House.open(Settings(port=0)) as house:
        _, tokens = await house.create_room(a_room(), "nim")
        host = house.identify(tokens["hal"])
        await house.call(host, "nim", "set_entry", {"lobby": True})
        made = await house.call(host, "nim", "invite", {"id": "cy"})
        async with doors(face, house, tmp_path) as door, door(made.token) as cy:
            assert (await cy.call("join", {"backend": "llama", "keep_token": True}))["status"] == "waiting"
            (line,) = (await house.call(host, "nim", "lobby")).waiting
            await house.call(host, "nim", "deny", {"knock": line.knock})
            assert (await cy.call("join"))["status"] == "denied"
            await house.call(host, "nim", "admit", {"knock": line.knock})
            assert (await cy.call("join"))["member"] == "cy"
            assert (await cy.call("whoami"))["grant"]["backend"] == "llama"


# -- the end ----------------------------------------------------------------------------------------
async def test_a_revoked_invite_ends_every_stream_of_those_who_came_by_it(place: Place) -> None:
    """A WebSocket, an MCP stream and an HTTP call that waits: all end at once."""
    made = await place.host("invite", id="cy")
    token = (await place.post("/api/join", {"room": "nim", "invite": made.token}))[1]["token"]
    bearer = {"authorization": f"Bearer {token}"}
    async with ws_connect(place.url.replace("http", "ws") + "/ws", additional_headers=bearer) as ws:
        await ws.send(json.dumps({"id": 1, "command": "subscribe"}))
        assert json.loads(await ws.recv())["ok"]
        waits = asyncio.create_task(place.post("/api/rooms/nim/recv_messages", {"wait_ms": 30_000}, token))
        mcp = {**bearer, "accept": "application/json, text/event-stream", "mcp-protocol-version": LEGACY}
        hello = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        opened = await place.http.post(
            "/mcp/nim", json={"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}, headers=mcp
        )
        mcp["mcp-session-id"] = opened.headers["mcp-session-id"]
        ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        await place.http.post("/mcp/nim", json=ready, headers=mcp)
        async with place.http.stream("GET", "/mcp/nim", headers=mcp) as stream:
            assert stream.status_code == 200
            await place.host("revoke_invite", invite=made.invite)
            async for _ in stream.aiter_raw():
                pass
        status, refused = await waits
        assert (status, refused["code"]) == (401, "UNAUTHORIZED")
        with pytest.raises(ConnectionClosed) as closed:
            while True:
                await ws.recv()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 4401
    assert (await place.post("/api/rooms/nim/whoami", {}, token))[0] == 401


# -- on the command line ----------------------------------------------------------------------------
@pytest.mark.parametrize("answer", ["admit", "deny"])
@pytest.mark.parametrize("uses", [1, 3])
async def test_the_command_line_waits_in_the_lobby(
    place: Place, uses: int, answer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    await place.host("set_entry", lobby=True)
    made = await place.host("invite", id="cy", uses=uses)
    entering = asyncio.create_task(enter_room(Address(place.url, made.token, "nim")))
    said = ""
    while "Waiting for a host to let you in …\n" not in said:
        await asyncio.sleep(0.001)
        said += capsys.readouterr().out
    (line,) = (await place.host("lobby")).waiting
    await place.host(answer, knock=line.knock)
    if answer == "deny":
        with pytest.raises(PermissionDenied, match="denied you entry"):
            await entering
        return
    address, me = await entering
    assert me["handle"] == "cy"
    assert address.token != made.token
    assert f"use your own token: {address.token}\n" in said
    assert await enter_room(address) == (address, me)
