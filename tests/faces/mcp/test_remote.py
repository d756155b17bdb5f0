"""`cohabit mcp` in front of a house whose connections come and go."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from cohabit.client import ConnectionLost
from cohabit.errors import CohabitError, Disabled, UnknownCommand, Unreachable
from cohabit.faces.mcp.remote import Remote

VIEW = {"name": "view", "tool_name": "box_view", "where": "room", "category": "read", "title": "View"} | {
    "description": "", "schema": {}
}  # fmt: skip


class Connection:
    """A connection; after it broke it stays broken."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.broken: type[CohabitError] | None = None

    async def call(
        self, command: str, args: Mapping[str, Any] | None = None, *, room: str | None = None, key: str | None = None
    ) -> Any:
        self.calls.append(command)
        if self.broken is not None:
            raise self.broken("gone")
        if command == "introduction":
            return {"text": "You are not in any room yet.", "rooms": []}
        if command == "schemas":
            return {"commands": [VIEW]}
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
        connections.append(Connection())
        yield connections[-1]

    return Remote(connect)


@pytest.mark.parametrize("broken", [Unreachable, ConnectionLost, Disabled])
async def test_it_connects_again_and_repeats_nothing(
    remote: Remote, connections: list[Connection], broken: type[CohabitError]
) -> None:
    assert await remote.call("view", {}, "nim") == {"room": "nim"}
    connections[0].broken = broken
    with pytest.raises(broken):
        await remote.call("take", {"n": 1}, "nim")
    assert await remote.call("view", {}, "nim") == {"room": "nim"}
    assert [connection.calls for connection in connections] == [["view", "take"], ["view"]]


async def test_a_refused_call_does_not_end_the_connection(remote: Remote, connections: list[Connection]) -> None:
    with pytest.raises(UnknownCommand):
        await remote.call("take", {"n": 1}, "nim")
    await remote.call("view", {}, "nim")
    assert len(connections) == 1


async def test_a_credential_that_is_bound_to_no_room_roams(remote: Remote) -> None:
    await remote.begin()
    assert (remote.room, remote.roams) == (None, True)


async def test_a_tool_is_found_by_either_name_among_what_the_house_offers(remote: Remote) -> None:
    for name in ("box_view", "view"):
        offered = await remote.find_tool(name, "nim")
        assert offered is not None
        assert offered.name == "view"
    assert await remote.find_tool("grant", "nim") is None
