"""`cohabit mcp` in front of a house whose connections come and go."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from cohabit.client import ConnectionLost, connect_url
from cohabit.errors import Busy, CohabitError, Disabled, UnknownCommand, Unreachable
from cohabit.faces.mcp.remote import Remote

from .conftest import scenario

VIEW = {"name": "view", "tool_name": "box_view", "where": "room", "category": "read", "title": "View"} | {
    "description": "", "schema": {}
}  # fmt: skip


class Connection:
    """A connection; after it has ended it stays so."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.breaks_with: type[CohabitError] | None = None
        self.ended = False
        self.closing = asyncio.Event()
        self.may_close = asyncio.Event()
        self.may_close.set()
        self.closed = False

    async def call(
        self, command: str, args: Mapping[str, Any] | None = None, *, room: str | None = None, key: str | None = None
    ) -> Any:
        self.calls.append(command)
        if self.breaks_with is not None:
            self.ended = True
            raise self.breaks_with("gone")
        if command == "introduction":
            return {"text": "You are not in any room yet.", "rooms": []}
        if command == "schemas":
            return {"commands": [VIEW]}
        if room == "archived":
            raise Disabled("this room is archived and read-only")
        if command != "view":
            raise UnknownCommand("not here")
        return {"room": room}

    async def subscribe(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        raise NotImplementedError
        yield


@pytest.fixture
def connections() -> list[Connection]:
    return []


@pytest.fixture
def remote(connections: list[Connection]) -> Remote:
    @asynccontextmanager
    async def connect() -> AsyncIterator[Connection]:
        connection = Connection()
        connections.append(connection)
        yield connection
        connection.closing.set()
        await connection.may_close.wait()
        connection.closed = True

    return Remote(connect)


@pytest.mark.parametrize("broken", [Unreachable, ConnectionLost, Disabled, Busy])
async def test_it_connects_again_and_repeats_nothing(
    remote: Remote, connections: list[Connection], broken: type[CohabitError]
) -> None:
    assert await remote.call("view", {}, "nim") == {"room": "nim"}
    connections[0].breaks_with = broken
    with pytest.raises(broken):
        await remote.call("take", {"n": 1}, "nim")
    assert await remote.call("view", {}, "nim") == {"room": "nim"}
    assert [connection.calls for connection in connections] == [["view", "take"], ["view"]]
    assert [connection.closed for connection in connections] == [True, False]


async def test_a_connection_that_ended_between_two_calls_fails_neither(
    remote: Remote, connections: list[Connection]
) -> None:
    await remote.call("view", {}, "nim")
    connections[0].ended = True
    assert await remote.call("view", {}, "nim") == {"room": "nim"}
    assert [connection.calls for connection in connections] == [["view"], ["view"]]


@pytest.mark.parametrize(("room", "refusal"), [("nim", UnknownCommand), ("archived", Disabled)])
async def test_a_refused_call_does_not_end_the_connection(
    remote: Remote, connections: list[Connection], room: str, refusal: type[CohabitError]
) -> None:
    with pytest.raises(refusal):
        await remote.call("take", {"n": 1}, room)
    await remote.call("view", {}, "nim")
    assert [connection.closed for connection in connections] == [False]


async def test_a_refusal_of_an_archived_room_leaves_a_call_waiting_in_another_room_alone(table: Any) -> None:
    _, tokens = await table.house.create_room(scenario(), "old")
    table.admit("hera", host=True)
    for room in ("nim", "old"):
        await table.house.call(table.house.identify(table.tokens["hera"]), room, "join", {})
    await table.house.call(table.house.identify(tokens["hal"]), "old", "archive", {})
    remote = Remote(lambda: connect_url(table.url, table.tokens["hera"]))
    cursor = (await remote.call("events", {"last": 1}, "nim"))["cursor"]
    waiting = asyncio.create_task(remote.call("events", {"cursor": cursor, "wait_ms": 30_000}, "nim"))
    await asyncio.sleep(0)  # it is sent before the next call
    with pytest.raises(Disabled):
        await remote.call("send_message", {"to": "hal", "content": "hello"}, "old")
    await table.act("ann", "take", {"n": 1})
    assert [item["by"] for item in (await waiting)["items"]] == ["ann"]
    await remote.close()


async def test_a_connection_that_closes_slowly_does_not_close_the_next_one(
    remote: Remote, connections: list[Connection]
) -> None:
    await remote.call("view", {}, "nim")
    old = connections[0]
    old.may_close.clear()
    old.ended = True
    calls = [asyncio.create_task(remote.call("view", {}, "nim")) for _ in range(2)]
    await old.closing.wait()
    await asyncio.sleep(0)
    old.may_close.set()
    assert await asyncio.gather(*calls) == [{"room": "nim"}] * 2
    assert [connection.closed for connection in connections] == [True, False]


async def test_a_credential_that_is_bound_to_no_room_roams(remote: Remote) -> None:
    await remote.begin()
    assert (remote.room, remote.roams) == (None, True)


async def test_a_tool_is_found_by_either_name_among_what_the_house_offers(remote: Remote) -> None:
    for name in ("box_view", "view"):
        offered = await remote.find_tool(name, "nim")
        assert offered is not None
        assert offered.name == "view"
    assert await remote.find_tool("grant", "nim") is None
