"""The Python interface: ``connect`` to a house in this process, or to one at an address. The same client either way.

async with connect("http://127.0.0.1:8724", token) as me:
    print((await me.call("view"))["text"])
    await me.call("take", {"n": 2})
"""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from cohabit.client import Client, Push, connect_url

if TYPE_CHECKING:  # a client of a house at an address imports no house
    from cohabit.house.house import House
    from cohabit.model.identity import Credential


@asynccontextmanager
async def connect(
    target: "House | str", token: str, room: str | None = None, transport: Literal["ws", "http"] = "ws"
) -> AsyncIterator[Client]:
    """A client of a house: the House itself, or its address."""
    if not isinstance(target, str):
        yield HouseClient(target, target.identify(token), room)
        return
    async with connect_url(target, token, room, transport) as client:
        yield client


class HouseClient:
    """A client in the same process. The other interfaces must behave the same."""

    ended = False

    def __init__(self, house: "House", credential: "Credential", room: str | None = None) -> None:
        self.house = house
        self.credential = credential
        self.room = room

    async def call(
        self, command: str, args: Mapping[str, Any] | None = None, *, room: str | None = None, key: str | None = None
    ) -> Any:
        result = await self.house.call(self.credential, room or self.room, command, dict(args or {}), key=key)
        return msgspec.to_builtins(result)

    async def subscribe(
        self, cursor: str | None = None, views: bool = True, *, room: str | None = None
    ) -> AsyncGenerator[Push, None]:
        subscription = await self.house.subscribe(self.credential, room or self.room, cursor, views=views)
        try:
            async for frame in subscription:
                yield msgspec.json.decode(frame)
        finally:
            subscription.close()
