"""A house in several nodes, as the backend of the MCP server, for a caller whose rooms are in some of them."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec
from websockets.asyncio.client import unix_connect
from websockets.exceptions import WebSocketException

from cohabit.client import WsClient
from cohabit.errors import CohabitError
from cohabit.faces.mcp.backend import InHouse, Stop, Tell
from cohabit.faces.mcp.remote import Feed
from cohabit.faces.workers.peers import Peers, away, gone
from cohabit.house.calls.command_list import SCHEMAS, CommandInfo, Schemas
from cohabit.house.directory import MOVING
from cohabit.house.house import House
from cohabit.house.reading.introduction import INTRODUCTION, Introduction
from cohabit.model.identity import Credential


class Spread(InHouse):
    """One credential. Calls about a room of another node go there."""

    __slots__ = ("_closing", "_peers", "_token")

    def __init__(
        self, peers: Peers, house: House, credential: Credential, room: str | None, full: bool, token: str | None
    ) -> None:
        super().__init__(house, credential, room, full=full)
        self._peers = peers
        self._token = token
        self._closing: set[asyncio.Task[None]] = set()

    def _node(self, room: str | None) -> str | None:
        """The other node that has the room; None if it is here, or nowhere."""
        wanted, directory = room or self.room, self._peers.directory
        node = directory.holder(wanted) if wanted is not None and wanted not in self.house.rooms else None
        if node == MOVING:
            raise away(wanted or "")
        return node if node != directory.here else None

    async def introduction(self, room: str | None, brief: bool = False) -> Introduction:
        return msgspec.convert(await self.call(INTRODUCTION.name, {"brief": brief}, room), Introduction)

    async def commands(self, room: str | None) -> Sequence[CommandInfo]:
        if (room or self.room) is not None and self._node(room) is None:
            return await super().commands(room)
        return msgspec.convert(await self.call(SCHEMAS.name, {}, room), Schemas).commands

    async def find_tool(self, tool: str, room: str | None) -> CommandInfo | None:
        if self._node(room) is None:
            return await super().find_tool(tool, room)
        with suppress(CohabitError):  # the call says why
            commands = await self.commands(room)
            by_name = {info.name: info for info in commands} | {info.tool_name: info for info in commands}
            return by_name.get(tool)
        return None

    async def find_resource(self, name: str, room: str) -> CommandInfo | None:
        if self._node(room) is None:
            return await super().find_resource(name, room)
        commands = await self.commands(room)
        return next((info for info in commands if info.resource is not None and info.resource.name == name), None)

    async def call(self, command: str, args: Mapping[str, Any], room: str | None = None, key: str | None = None) -> Any:
        node = self._node(room)
        if node is None:
            return await super().call(command, args, room, key)
        return await self._peers.call(node, self.credential, room or self.room, command, args, key)

    async def may(self, command: str, room: str) -> bool:
        if self._node(room) is None:
            return await super().may(command, room)
        return any(info.name == command for info in await self.commands(room))

    async def watch(self, room: str, tell: Tell) -> Stop:
        node = self._node(room)
        if node is None:
            return await super().watch(room, tell)
        client = await self._connect(node)
        feed = Feed(client, room)
        stop = feed.add(tell)

        def end() -> None:
            stop()
            closing = asyncio.ensure_future(client.close())
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)

        try:
            await feed.begun()
        except BaseException:
            end()
            raise
        return end

    async def _connect(self, node: str) -> WsClient:
        headers = {"authorization": f"Bearer {self._token}"}
        path = self._peers.directory.socket_of(node)
        try:
            connection = await unix_connect(path, "ws://localhost/ws", additional_headers=headers, max_size=None)
        except (OSError, WebSocketException):
            raise gone() from None
        return WsClient(connection, None)
