"""Signing in with OAuth to ``cohabit serve`` with real workers: each process verifies, and a revocation holds in all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
from tests import forks
from tests.faces.mcp.signing_in import signing_in
from tests.identity_provider import Provider, listening
from tests.ports import free_port

from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.scenario import AgentSpec, Scenario

ROOMS = ("attic", "cellar")


async def prepared(folder: Path) -> str:
    """Two rooms that are open to guests, in a data folder; the token of a host of the house."""
    async with House.open(Settings(data=str(folder))) as house:
        host = AgentSpec(id="hal", role="host", kind="human")
        for room in ROOMS:
            await house.create_room(Scenario(scenario=room, world="lounge", seed=1, guests=True, agents=[host]), room)
        made = await house.call(
            house.identify(house.operator_token()), None, "issue_credential", {"name": "root", "host": True}
        )
        token: str = made.token
        return token


@asynccontextmanager
async def serving(folder: Path, provider: Provider) -> AsyncIterator[str]:
    """``cohabit serve`` with two workers; its address."""
    port = free_port()
    options = ["--data", folder, "--port", port, "--workers", 2, "--bridge-port", 0, "--nexus-port", 0, "--quiet"]
    words = [*forks.command(), "serve", *options, "--oauth-issuer", provider.issuer]
    front = await asyncio.create_subprocess_exec(*map(str, words), stdout=asyncio.subprocess.PIPE)
    assert front.stdout is not None
    line = b" "
    while not line.startswith(b"The house is open"):
        line = await front.stdout.readline()
        assert line, "the house did not start"
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        front.terminate()
        await front.communicate()


class Caller:
    """Calls over HTTP, on connections of its own: each reaches the process that has its room."""

    def __init__(self, url: str) -> None:
        self.url = url

    async def __call__(self, token: str, path: str, **args: Any) -> tuple[int, Any]:
        async with httpx2.AsyncClient(timeout=120, headers={"authorization": f"Bearer {token}"}) as http:
            answer = await http.post(f"{self.url}/api/{path}", json=args)
        return answer.status_code, answer.json()

    async def in_each_process(self, token: str) -> list[int]:
        """The status of a call in each worker, and in the front."""
        return [(await self(token, path))[0] for path in (*(f"rooms/{room}/roster" for room in ROOMS), "rooms")]


async def test_somebody_who_signs_in_is_one_identity_in_every_process_until_a_host_revokes_it(tmp_path: Path) -> None:
    root = await prepared(tmp_path)
    with listening() as provider:
        async with serving(tmp_path, provider) as url:
            call = Caller(url)
            joins = [call(provider.token(url), "join", room=room) for room in ROOMS for _ in range(5)]
            assert [status for status, _ in await asyncio.gather(*joins)] == [200] * len(joins)
            for room in ROOMS:
                async with signing_in(f"{url}/mcp/{room}", "auto") as client:
                    assert not (await client.call_tool("roster", {})).is_error
            async with signing_in(f"{url}/mcp", "legacy") as client:  # at the front, which asks the workers
                for room in ROOMS:
                    assert not (await client.call_tool("roster", {"room": room})).is_error
            token = provider.token(url)
            assert await call.in_each_process(token) == [200, 200, 200]
            _, listed = await call(root, "list_credentials")
            accounts = [line for line in listed["result"]["credentials"] if line["name"] == "ada"]
            assert {line["label"] for line in accounts} == {f"signs in at {provider.issuer}"}
            assert len({line["identity"] for line in accounts}) == 1
            assert await call.in_each_process(provider.token("https://other.example.org")) == [401, 401, 401]
            assert (await call(root, "revoke_credential", name="ada"))[0] == 200
            assert await call.in_each_process(token) == [401, 401, 401]
            assert await call.in_each_process(provider.token(url)) == [403, 403, 403]
            assert (await call(root, "allow_sign_in", name="ada"))[0] == 200
            assert await call.in_each_process(provider.token(url)) == [200, 200, 200]
            assert await call.in_each_process(token) == [401, 401, 401]
