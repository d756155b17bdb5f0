"""A house in several nodes, as the backend of the MCP server, for a caller whose rooms are in some of them."""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from cohabit.client import WsClient
from cohabit.errors import CohabitError
from cohabit.faces.mcp.backend import InHouse, Stop, Tell
from cohabit.faces.mcp.remote import Feed
from cohabit.faces.workers.peers import Peers, away, gone
from cohabit.house.access.egress_commands import correct_sent
from cohabit.house.calls.command_list import SCHEMAS, CommandInfo, Schemas, commands_in
from cohabit.house.directory import MOVING
from cohabit.house.house import House
from cohabit.house.reading.introduction import INTRODUCTION, Introduction
from cohabit.house.running.egress import error_size
from cohabit.model.egress import SentKind
from cohabit.model.identity import Credential


class Spread(InHouse):
    """One credential. Calls about a room of another node go there."""

    __slots__ = ("_peers", "_tasks", "_token")

    def __init__(
        self, peers: Peers, house: House, credential: Credential, room: str | None, full: bool, token: str | None
    ) -> None:
        super().__init__(house, credential, room, full=full)
        self._peers = peers
        self._token = token
        self._tasks: set[asyncio.Future[Any]] = set()

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
        wanted, node = room or self.room, self._node(room)
        if node is not None:
            asked = {"credential": self.credential.hash.hex(), "room": wanted}
            return msgspec.convert(await self._peers.ask(node, commands_in.__name__, asked), list[CommandInfo])
        if wanted is not None:
            return await super().commands(room)
        return msgspec.convert(await self.call(SCHEMAS.name, {}), Schemas).commands

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
        counted = _CountedElsewhere(self, node, room or self.room or "", command)
        try:
            result = await self._peers.call(node, self.credential, room or self.room, command, args, key)
        except CohabitError as refusal:
            self.shaped.counted(counted, "refusals", error_size(refusal))
            raise
        self.shaped.counted(counted, "other", len(msgspec.json.encode({"ok": True, "result": result})))
        return result

    def correct(self, node: str, room: str, command: str, refused: bool, size: int) -> None:
        """Tell the node that has counted a reply how much larger it is in the form in which it is sent."""
        said = {"room": room, "command": command, "refused": refused, "size": size}
        asked = {"identity": self.credential.identity, **said}
        self._later(self._peers.ask(node, correct_sent.__name__, asked))

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
            self._later(client.close())

        try:
            await feed.begun()
        except BaseException:
            end()
            raise
        return end

    def _later(self, work: Coroutine[Any, Any, Any]) -> None:
        """Nobody waits for it."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: "asyncio.Future[Any]") -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # the other node is gone

    async def _connect(self, node: str) -> WsClient:
        headers = {"authorization": f"Bearer {self._token}"}
        try:
            reached = await self._peers.dialer.socket_to(self._peers.directory.socket_of(node))
            connection = await connect("ws://localhost/ws", sock=reached, additional_headers=headers, max_size=None)
        except (OSError, WebSocketException):
            raise gone() from None
        return WsClient(connection, None)


class _CountedElsewhere:
    """A reply of another node, which has counted it. Implements `Counts` for corrections."""

    def __init__(self, caller: Spread, node: str, room: str, command: str) -> None:
        self._caller, self._said = caller, (node, room, command)

    def add(self, kind: SentKind, size: int, times: int = 1) -> None:
        self._caller.correct(*self._said, kind == "refusals", size)
