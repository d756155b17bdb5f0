"""A real house whose processes were stopped (SIGSTOP) for longer than its lease: what it says when it goes on."""

import asyncio
import json
import signal
from collections.abc import Iterator
from contextlib import AsyncExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from tests.faces.workers.cluster import Houses, calling, running
from tests.postgres import LONG_MS
from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as ws_connect
from websockets.exceptions import ConnectionClosed

from cohabit.errors import Unauthorized
from cohabit.faces.workers.supervisor import EXIT_OUT
from cohabit.house.directory import HOUSE_RECORD
from cohabit.house.store.contract import Write
from cohabit.house.store.identities import hashed
from cohabit.house.store.postgres_cluster import PostgresClusterStore

LEASE_MS = 4_000
SHORT_LEASES = f"import cohabit.house.store.leases as leases\nleases.LEASE_MS = {LEASE_MS}\n"
CONNECTIONS = 8
ASKED = json.dumps({"id": 1, "command": "whoami"})


@pytest.fixture
def short_leases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In every process of a house: Python imports this module first."""
    folder = tmp_path / "python"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(SHORT_LEASES)
    monkeypatch.setenv("PYTHONPATH", str(folder))


@pytest.fixture
def paused(postgres: Any, short_leases: None, tmp_path: Path) -> Iterator[tuple[Houses, PostgresClusterStore]]:
    """A house, and the store of another one."""
    url = postgres.new_schema()
    with running(url, tmp_path, "one") as houses, closing(PostgresClusterStore(url, tmp_path / "other", "")) as other:
        yield houses, other


async def make_den(houses: Houses) -> dict[str, str]:
    async with calling(houses) as caller:
        asked = {"world": "tictactoe", "players": ["ann", "bob"], "room": "den"}
        made = await caller.until_answered("one", houses.host_token, None, "create_room", asked, key="den")
    tokens: dict[str, str] = made["tokens"]
    return tokens


async def stop_beyond_the_lease(houses: Houses, other: PostgresClusterStore) -> None:
    houses["one"].signal(signal.SIGSTOP)
    while await asyncio.to_thread(other.acknowledged_by_others) is not None:
        await asyncio.sleep(0.05)


async def answer(connection: ClientConnection) -> str:
    """`ok`, the code of the refusal, or that with which the connection was closed."""
    try:
        told = json.loads(await connection.recv())
    except ConnectionClosed as closed:
        return str(closed.rcvd.code) if closed.rcvd is not None else "cut off"
    return "ok" if told["ok"] else str(told["error"]["code"])


async def test_what_was_asked_while_a_house_was_stopped_is_not_answered_with_what_it_knew_before(
    paused: tuple[Houses, PostgresClusterStore],
) -> None:
    houses, other = paused
    tokens = await make_den(houses)
    bearer = {"authorization": f"Bearer {tokens['ann']}"}
    async with AsyncExitStack() as stack, calling(houses) as caller:
        connections = [
            await stack.enter_async_context(ws_connect(houses.ws("one"), additional_headers=bearer))
            for _ in range(CONNECTIONS)
        ]
        for connection in connections:
            await connection.send(ASKED)
            assert await answer(connection) == "ok"
        await stop_beyond_the_lease(houses, other)
        for connection in connections:
            await connection.send(ASKED)
        known = next(each for each in other.credentials() if each.hash == hashed(tokens["ann"]))
        other.commit([Write(credentials=[structs.replace(known, revoked=True)])])
        houses["one"].signal(signal.SIGCONT)
        answers = {await answer(connection) for connection in connections}
        assert answers <= {"1012", "UNAUTHORIZED"}, "the token was revoked before this was read"
        assert await caller.until_answered("one", tokens["bob"], "den", "whoami"), "it goes on by itself"
        with pytest.raises(Unauthorized):
            await caller.call("one", tokens["ann"], "den", "whoami")


async def test_a_house_from_which_another_has_taken_the_house_record_ends_when_it_goes_on(
    paused: tuple[Houses, PostgresClusterStore],
) -> None:
    houses, other = paused
    await stop_beyond_the_lease(houses, other)
    other.begin("another front", "front", LONG_MS)
    assert HOUSE_RECORD in other.lease([HOUSE_RECORD], "another front", LONG_MS)
    houses["one"].signal(signal.SIGCONT)
    process = houses["one"].process
    assert process is not None
    assert await asyncio.to_thread(process.wait) == EXIT_OUT
    assert "another house has taken over; start this house again" in houses["one"].log.read_text()
