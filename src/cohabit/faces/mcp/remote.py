"""A house at an address, as a backend: for `cohabit mcp`, which speaks MCP on stdin and stdout in front of it.

The house decides and filters; this side only passes on. It connects when it is first asked, and again after
a connection broke: the call that was lost is never repeated, because it may have been done.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any, Final

import msgspec

from cohabit.errors import BadArgs, CohabitError, UnknownRoom, Unreachable
from cohabit.faces.mcp.backend import OVER, VIEW, Stop, Tell, of_one_room, topics_of
from cohabit.faces.python import Client
from cohabit.house.offers import Offer

FRESH_S: Final = 1.0
"""How long a list of commands is taken to be true."""
Connect = Callable[[], AbstractAsyncContextManager[Client]]


class Remote:
    """One credential in a house elsewhere. Ask `begin` first: it finds the room that the credential is bound to."""

    who = "stdio"

    def __init__(self, connect: Connect, room: str | None = None) -> None:
        self.room = room
        self.roams = room is None
        self._connect = connect
        self._client: Client | None = None
        self._stack = AsyncExitStack()
        self._connecting = asyncio.Lock()
        self._lists: dict[str | None, tuple[float, list[Offer]]] = {}
        self._feeds: dict[str, Feed] = {}

    async def begin(self) -> None:
        """Connect, and find out whether the credential is bound to one room."""
        if self.room is None:
            try:
                self.room = (await self.call("whoami", {}))["room"]
            except (BadArgs, UnknownRoom):  # it is not
                return

    async def close(self) -> None:
        for feed in self._feeds.values():
            feed.close()
        await self._drop()

    async def offers(self) -> Sequence[Offer]:
        try:
            found = await self._offers(self.room)
        except UnknownRoom:
            return [offer for offer in await self._offers(None) if offer.name == "join"]
        return found if self.roams else of_one_room(found)

    async def _offers(self, room: str | None) -> list[Offer]:
        now = asyncio.get_running_loop().time()
        made, found = self._lists.get(room, (0.0, []))
        if not found or now - made > FRESH_S:
            answer = await self.call("capabilities", {}, room)
            found = msgspec.convert(answer["commands"], list[Offer])
            self._lists[room] = (now, found)
        return found

    async def find(self, tool: str, room: str | None) -> Offer | None:
        """A tool that is not offered is passed on all the same: the house says better why not."""
        offered = await self._offers(room)
        for offer in offered:
            if offer.tool_name == tool:
                return offer
        if room is None:
            return None
        prefix = next((o.tool_name.removesuffix(o.name) for o in offered if o.tool_name != o.name), "")
        return Offer(tool.removeprefix(prefix), tool, "room", "meta", tool, "", {})

    async def call(self, command: str, args: Mapping[str, Any], room: str | None = None, key: str | None = None) -> Any:
        client = await self._connected()
        try:
            return await client.call(command, args, room=room or self.room, key=key)
        except Unreachable:
            await self._drop(client)
            raise

    async def may(self, command: str, room: str) -> bool:
        return any(offer.name == command for offer in await self._offers(room))

    async def watch(self, room: str, tell: Tell) -> Stop:
        feed = self._feeds.get(room)
        if feed is None or feed.over:
            feed = self._feeds[room] = Feed(await self._connected(), room)
        return feed.add(tell)

    async def _connected(self) -> Client:
        async with self._connecting:
            if self._client is None:
                self._client = await self._stack.enter_async_context(self._connect())
            return self._client

    async def _drop(self, broken: Client | None = None) -> None:
        if broken is None or broken is self._client:
            self._client = None
            await self._stack.aclose()


class Feed:
    """The pushes of one room, for everybody here who wants to be told of them."""

    def __init__(self, client: Client, room: str) -> None:
        self._tells: dict[object, Tell] = {}
        self._reader = asyncio.create_task(self._read(client, room), name=f"pushes of {room}")

    @property
    def over(self) -> bool:
        return self._reader.done()

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
        first = True  # the view as it is now comes by itself, and is no change
        try:
            async for push in client.subscribe(views=True, room=room):
                if push["push"] == "events":
                    self._tell(topics_of([item.get("kind", "info") for item in push["items"]]))
                elif not first:
                    self._tell(VIEW)
                first = first and push["push"] != "view"
        except CohabitError:
            pass
        self._tell(OVER)

    def _tell(self, topics: frozenset[str]) -> None:
        for tell in list(self._tells.values()):
            tell(topics)
