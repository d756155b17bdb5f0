"""A bridge to a house that comes and goes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from cohabit.errors import BadArgs, Unreachable
from cohabit.faces.mcp.remote import Remote

VIEW = {"name": "view", "tool_name": "view", "where": "room", "category": "read", "title": "View"} | {
    "description": "", "schema": {}
}  # fmt: skip


class Line:
    """A connection; once it broke it stays broken."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.broken = False

    async def call(
        self, command: str, args: Mapping[str, Any] | None = None, *, room: str | None = None, key: str | None = None
    ) -> Any:
        self.calls.append(command)
        if self.broken:
            raise Unreachable("gone")
        if command == "whoami":
            raise BadArgs("say which room")
        return {"commands": [VIEW]} if command == "capabilities" else {"room": room}

    async def subscribe(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        raise NotImplementedError
        yield


@pytest.fixture
def lines() -> list[Line]:
    return []


@pytest.fixture
def remote(lines: list[Line]) -> Remote:
    @asynccontextmanager
    async def connect() -> AsyncIterator[Line]:
        lines.append(Line())
        yield lines[-1]

    return Remote(connect)


async def test_it_connects_again_and_repeats_nothing(remote: Remote, lines: list[Line]) -> None:
    assert await remote.call("view", {}, "nim") == {"room": "nim"}
    lines[0].broken = True
    with pytest.raises(Unreachable):
        await remote.call("take", {"n": 1}, "nim")
    assert await remote.call("view", {}, "nim") == {"room": "nim"}
    assert [line.calls for line in lines] == [["view", "take"], ["view"]]


async def test_a_credential_that_is_bound_to_no_room_roams(remote: Remote) -> None:
    await remote.begin()
    assert (remote.room, remote.roams) == (None, True)


async def test_a_tool_that_is_not_offered_is_left_to_the_house_to_refuse(remote: Remote) -> None:
    offered, other = await remote.find("view", "nim"), await remote.find("grant", "nim")
    assert offered is not None
    assert offered.title == "View"
    assert other is not None
    assert other.name == "grant"
