from __future__ import annotations

import pytest
from starlette.types import Message, Receive, Scope, Send

from cohabit.faces.mcp.server import TrimmedHeaders


@pytest.mark.parametrize("sent", [b"take", b"take ", b"take\t ", b" take "])
async def test_white_space_around_a_header_value_does_not_count(sent: bytes) -> None:
    seen: list[bytes] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.extend(value for _, value in scope["headers"])

    async def receive() -> Message:
        raise AssertionError

    async def send(message: Message) -> None:
        raise AssertionError

    await TrimmedHeaders(app)({"type": "http", "headers": [(b"mcp-name", sent), (b"x", b"")]}, receive, send)
    assert seen == [b"take", b""]
