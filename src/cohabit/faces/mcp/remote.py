"""A house at an address, as a backend: for `cohabit mcp`, which speaks MCP on stdin and stdout for that house.

The house decides and filters; this side only passes on. It connects with the first call, and again after
a connection has ended. A call whose reply was lost is never repeated, because it may have been done.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any, Final

import msgspec

from cohabit.client import Client
from cohabit.errors import CohabitError, Unauthorized, UnknownRoom
from cohabit.faces.mcp.backend import OVER, Stop, Tell
from cohabit.house.calls.command_list import SCHEMAS, CommandInfo
from cohabit.house.reading import introduction
from cohabit.house.reading.introduction import Introduction
from cohabit.house.streams.changes import Changes, Topics

FRESH_S: Final = 1.0
"""The time that a list of commands is cached."""
FIRST_PUSH_S: Final = 1.0
"""The time to wait for the first push of a room. A member who sees nothing of the world gets none."""
Connect = Callable[[], AbstractAsyncContextManager[Client]]


class Remote:
    """One credential in a house elsewhere. Call `begin` first: it finds the room that the credential is bound to."""

    caller = "stdio"

    def __init__(self, connect: Connect, room: str | None = None, *, full: bool = False) -> None:
        self.room = room
        self.full = full
        self.roams = self.lists_house = room is None
        self._connect = connect
        self._client: Client | None = None
        self._stack = AsyncExitStack()
        self._connecting = asyncio.Lock()
        self._commands: dict[str | None, tuple[float, list[CommandInfo]]] = {}
        self._feeds: dict[str, Feed] = {}

    async def begin(self) -> None:
        """Connect, and find out whether the credential is bound to one room."""
        if self.room is None:
            self.room = (await self.introduction(None)).room

    async def close(self) -> None:
        for feed in self._feeds.values():
            feed.close()
        async with self._connecting:
            await self._disconnect()

    async def introduction(self, room: str | None, brief: bool = False) -> Introduction:
        told = await self.call(introduction.INTRODUCTION.name, {"brief": brief}, room)
        return msgspec.convert(told, Introduction)

    async def commands(self, room: str | None) -> Sequence[CommandInfo]:
        now = asyncio.get_running_loop().time()
        made, found = self._commands.get(room, (0.0, []))
        if not found or now - made > FRESH_S:
            reply = await self.call(SCHEMAS.name, {}, room)
            found = msgspec.convert(reply["commands"], list[CommandInfo])
            self._commands[room] = (now, found)
        return found

    async def find_tool(self, tool: str, room: str | None) -> CommandInfo | None:
        commands = await self.commands(room)
        by_name = {info.name: info for info in commands} | {info.tool_name: info for info in commands}
        return by_name.get(tool)

    async def find_resource(self, name: str, room: str) -> CommandInfo | None:
        commands = await self.commands(room)
        return next((info for info in commands if info.resource is not None and info.resource.name == name), None)

    async def call(self, command: str, args: Mapping[str, Any], room: str | None = None, key: str | None = None) -> Any:
        try:
            client = await self._connected()
            return await client.call(command, args, room=room or self.room, key=key)
        except (Unauthorized, UnknownRoom):  # the caller has lost its token or its room, and the commands with it
            self._commands.clear()
            raise

    async def may(self, command: str, room: str) -> bool:
        return any(info.name == command for info in await self.commands(room))

    async def watch(self, room: str, tell: Tell) -> Stop:
        feed = self._feeds.get(room)
        if feed is None or feed.over:
            feed = self._feeds[room] = Feed(await self._connected(), room)
        stop = feed.add(tell)
        await feed.begun()
        return stop

    def until_invalid(self, tell: Callable[[], None]) -> Stop:
        """The house ends what it sends to a credential that is no longer valid, and refuses its calls."""
        return lambda: None

    async def _connected(self) -> Client:
        async with self._connecting:
            if self._client is not None and self._client.ended:
                await self._disconnect()
            if self._client is None:
                self._client = await self._stack.enter_async_context(self._connect())
            return self._client

    async def _disconnect(self) -> None:
        """Under the lock: the stack would also close a connection that was opened in the meantime."""
        self._client = None
        await self._stack.aclose()


class Feed:
    """The pushes of one room, for everybody in this process who wants to be told of them."""

    def __init__(self, client: Client, room: str) -> None:
        self._tells: dict[object, Tell] = {}
        self._first = asyncio.Event()
        self._refusal: CohabitError | None = None
        self._reader = asyncio.create_task(self._read(client, room), name=f"pushes of {room}")

    @property
    def over(self) -> bool:
        return self._reader.done()

    async def begun(self) -> None:
        """Wait until the house has begun to push, or refuses to. The view as it is comes first, if there is one."""
        first = asyncio.ensure_future(self._first.wait())
        await asyncio.wait({first, self._reader}, timeout=FIRST_PUSH_S, return_when=asyncio.FIRST_COMPLETED)
        first.cancel()
        if self._refusal is not None:
            raise self._refusal

    def add(self, tell: Tell) -> Stop:
        token = object()
        self._tells[token] = tell

        def stop() -> None:
            self._tells.pop(token, None)
            if not self._tells:
                self.close()

        return stop

    def close(self) -> None:
        self._reader.cancel()

    async def _read(self, client: Client, room: str) -> None:
        changes, has_view = Changes(self._tell), False
        try:
            async for push in client.subscribe(views=True, room=room):
                frame = msgspec.json.encode(push)
                if has_view or not changes.begin(frame):
                    changes.pushed(frame)
                else:
                    has_view = True
                self._first.set()
        except CohabitError as refusal:
            self._refusal = refusal
        self._tell(OVER)

    def _tell(self, topics: Topics) -> None:
        for tell in list(self._tells.values()):
            tell(topics)
