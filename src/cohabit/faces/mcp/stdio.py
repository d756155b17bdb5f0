"""MCP on stdin and stdout: one caller, with a house of its own inside or in front of a house at an address."""

from contextlib import AsyncExitStack
from typing import Final

from mcp.server.stdio import stdio_server

from cohabit.client import connect_url
from cohabit.errors import BadArgs, Unauthorized
from cohabit.faces.mcp.backend import DEFAULT, Backend, InHouse, is_full
from cohabit.faces.mcp.protocol import Protocol
from cohabit.faces.mcp.remote import Remote
from cohabit.house.house import House

MAX_STREAMS: Final = 64


async def run_stdio(
    url: str | None, token: str | None, room: str | None = None, house: House | None = None, *, profile: str = DEFAULT
) -> None:
    """Serve until stdin ends. A wrong token or an unknown address fails before anything is sent."""
    if (url is None) == (house is None):
        raise BadArgs("give either the address of a house or a house")
    if not token:
        raise Unauthorized("no credential: set COHABIT_TOKEN")
    async with AsyncExitStack() as stack:
        backend: Backend
        if house is not None:
            backend = InHouse(house, house.identify(token), room, full=is_full(profile))
        else:
            assert url is not None
            backend = remote = Remote(lambda: connect_url(url, token), room, full=is_full(profile))
            stack.push_async_callback(remote.close)
            await remote.begin()
        protocol = Protocol(lambda ctx: backend, streams_each=MAX_STREAMS)
        stack.callback(protocol.close)
        reading, writing = await stack.enter_async_context(stdio_server())
        server = protocol.server
        await server.run(reading, writing, server.create_initialization_options())
