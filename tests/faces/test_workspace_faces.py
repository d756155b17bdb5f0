"""A workspace over every interface: members with a seat work in it, others read the board and change nothing."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client as SdkClient
from mcp.client.streamable_http import streamable_http_client

from cohabit.errors import CohabitError
from cohabit.faces.serve import serve
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.registry import make_world
from cohabit.room.record import GENESIS, read_lines
from cohabit.room.room import Room
from cohabit.scenario import AgentSpec, Scenario
from cohabit.testing.faces import Client
from cohabit.workspace.room import PERSONAL_TOOLS, room_tools
from cohabit.worlds.workspace.world import SELDOM_USED

from .doors import MOSTLY_SOAK, doors

ROOM = "deck"


@asynccontextmanager
async def office(folder: Path) -> AsyncIterator[tuple[House, dict[str, str]]]:
    scenario = Scenario(
        scenario="workspace",
        world="workspace",
        agents=[
            AgentSpec(id="ann", role="player", claim="auto:0"),
            AgentSpec(id="bob", role="player", claim="auto:1"),
            AgentSpec(id="eve", role="agent"),
        ],
    )
    async with House.open(Settings(data=str(folder), port=0)) as house:
        _, tokens = await house.create_room(scenario, ROOM)
        yield house, tokens


async def refused(client: Client, name: str, args: Mapping[str, Any]) -> CohabitError:
    with pytest.raises(CohabitError) as wrong:
        await client.call(name, args)
    return wrong.value


async def conversation(house: House, ann: Client, bob: Client, eve: Client) -> None:
    for who, path in ((ann, "drafts/plan.md"), (bob, "research/facts.md")):
        await who.call("write", {"path": path, "content": f"# {path}\n"})
        await who.call("journal_append", {"summary": f"Wrote {path}", "todos": [{"for": "eve", "text": "read"}]})
        item = await who.call("inbox_add", {"title": f"Read {path}", "for": "eve"})
        assert item["target"] == "@eve"
        await who.call("add", {"paths": [path, "journal.md", "inbox.md"]})
        assert (await who.call("commit", {"message": f"Add {path}"}))["sha"]
    assert (await ann.call("push", {}))["ok"] is True
    assert (await bob.call("push", {}))["ok"] is True  # bob's clone is older than what ann pushed
    runner = house.rooms[ROOM].remote
    assert runner is not None
    await runner.poll()

    seen = await eve.call("board", {})
    assert sorted(entry["summary"] for entry in seen["journal"]) == ["Wrote drafts/plan.md", "Wrote research/facts.md"]
    assert sorted(item["id"] for item in seen["open"]) == ["INB-001", "INB-002"]
    assert (await eve.call("read", {"path": "drafts/plan.md"}))["content"] == "# drafts/plan.md\n"
    assert (await refused(eve, "write", {"path": "drafts/plan.md", "content": "mine"})).code == "PERMISSION_DENIED"
    assert (await refused(eve, "push", {})).code == "PERMISSION_DENIED"
    assert (await refused(ann, "write", {"path": "../x", "content": ""})).code == "BAD_ARGS"
    assert (await refused(ann, "write", {"path": ".git/config", "content": ""})).code == "BAD_ARGS"
    assert (await refused(ann, "journal_append", {"summary": "x", "agent_id": "bob"})).code == "BAD_ARGS"
    for name in PERSONAL_TOOLS:
        assert (await refused(ann, name, {})).code == "UNKNOWN_COMMAND"
    events = (await eve.call("events", {}))["items"]
    assert "ann: journal: Wrote drafts/plan.md" in [event["text"] for event in events]


@pytest.mark.parametrize("face", MOSTLY_SOAK)
async def test_the_board_is_the_same_over_every_interface_and_the_room_replays(face: str, tmp_path: Path) -> None:
    broken: Exception | None = None
    async with office(tmp_path / "house") as (house, tokens), doors(face, house, tmp_path) as door:
        async with AsyncExitStack() as stack:
            clients = [await stack.enter_async_context(door(tokens[who])) for who in ("ann", "bob", "eve")]
            try:
                await conversation(house, *clients)
            except Exception as wrong:  # raised through the SDK's task groups it could not be read
                broken = wrong
        assert broken is None, repr(broken)
        runner = house.rooms[ROOM]
        await runner.drained()
        again = Room.replay(read_lines(list(house.store.lines(ROOM, -1)), -1, GENESIS), make_world)
        assert again.digest() == runner.room.digest()


async def test_on_mcp_the_tools_have_their_own_names_and_a_watcher_is_offered_the_reading_ones(tmp_path: Path) -> None:
    async with office(tmp_path) as (house, tokens):
        ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        serving = asyncio.ensure_future(serve(house, ready=ready.set_result))
        try:
            url = f"{await ready}/mcp/{ROOM}?profile=full"
            ann, eve = [await listed(url, tokens[who]) for who in ("ann", "eve")]
        finally:
            serving.cancel()
        writing = {name for name, tool in room_tools().items() if tool.writes}
        assert {*room_tools(), "board", "board_read"} <= ann
        assert {*room_tools(), "board", "board_read"} - writing <= eve
        assert not writing & eve


def test_what_the_short_list_leaves_out_are_tools_of_a_workspace() -> None:
    assert room_tools().keys() > SELDOM_USED


async def listed(url: str, token: str) -> set[str]:
    headers = {"authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=120) as http,
        SdkClient(streamable_http_client(url, http_client=http)) as sdk,
    ):
        return {tool.name for tool in (await sdk.list_tools()).tools}
