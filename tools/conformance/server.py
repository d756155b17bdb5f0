"""A house for the MCP conformance suite to talk to: one room of Nim, in which the suite is a player.

    python -m conformance.server --port 8801              the server that every house has
    python -m conformance.server --port 8801 --fixtures   the same, with the suite's fixtures added

The suite sends no credential. `SignedIn` gives each request the token of the suite's player, so that the house
authenticates the suite as it authenticates everybody.
"""

from __future__ import annotations

import argparse
import asyncio
from itertools import cycle

from starlette.types import ASGIApp, Receive, Scope, Send

from cohabit.faces.app import make_app
from cohabit.faces.connections import Connections, ServerConfig
from cohabit.faces.mcp.backend import InHouse
from cohabit.faces.mcp.server import McpFace
from cohabit.faces.serve import Server
from cohabit.house.house import House
from cohabit.scenario import AgentSpec, Scenario
from conformance import fixtures
from conformance.fixtures.base import ChangeTools

ROOM = "nim"
PLAYER, HOST = "suite", "host"
SCENARIO = Scenario(
    scenario="conformance",
    world="nim",
    seed=1,
    agents=[
        AgentSpec(id=PLAYER, role="player", claim="auto:0"),
        AgentSpec(id="opponent", role="player", claim="auto:1"),
        AgentSpec(id=HOST, role="host", kind="human"),
    ],
)


class SignedIn:
    """ASGI middleware: a request without a credential gets this token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._header = (b"authorization", f"Bearer {token}".encode())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not any(name == b"authorization" for name, _ in scope["headers"]):
            scope = {**scope, "headers": [*scope["headers"], self._header]}
        await self._app(scope, receive, send)


class FixtureFace(McpFace):
    """The MCP server of a house, with the fixtures added."""

    def __init__(self, house: House, change_tools: ChangeTools) -> None:
        super().__init__(house)
        fixtures.install(self.protocol.server, self.protocol.tasks, change_tools)

    def answers_at_once(self, headers: dict[str, str], caller: InHouse) -> bool:
        """Not for a fixture tool: some of them send notifications before they answer."""
        return headers.get("mcp-name") not in fixtures.FIXTURES and super().answers_at_once(headers, caller)


async def serve(port: int, with_fixtures: bool) -> None:
    """Serve until SIGINT or SIGTERM."""
    async with House.open() as house:
        _, tokens = await house.create_room(SCENARIO, ROOM)
        commands = cycle(("narrow", "widen"))

        async def change_tools() -> None:
            """The room's host takes a capability from the player, and gives it back the next time."""
            host = house.identify(tokens[HOST])
            await house.call(host, ROOM, next(commands), {"member": PLAYER, "may": ["read_roster"]})

        app = make_app(house, mcp=FixtureFace(house, change_tools) if with_fixtures else True)
        connections = Connections(house.settings, house.clock, house.overload)
        config = ServerConfig(SignedIn(app, tokens[PLAYER]), connections, port=port, log_config=None)
        await Server(config, lambda: None, app.stopping).serve()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--fixtures", action="store_true", help="add the tools, resources and prompts the suite calls")
    options = parser.parse_args()
    asyncio.run(serve(options.port, options.fixtures))


if __name__ == "__main__":
    main()
