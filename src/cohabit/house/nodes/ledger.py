"""The house record, when the front has it: what a worker writes to it goes over the link."""

import asyncio
from typing import Any

import msgspec
from msgspec import structs

from cohabit.house.nodes.link import Link
from cohabit.house.running.ledger import Ledger
from cohabit.house.running.rooms import Rooms
from cohabit.house.store.contract import Write
from cohabit.house.store.memory import MemoryStore
from cohabit.house.store.writer import Writer
from cohabit.model.identity import Identity


class LedgerElsewhere(Ledger):
    """In a worker. Its own ``runner`` is a room that nobody stores: calls that are not about a room of this worker are
    answered by the front, so only what is refused before that is counted there."""

    def __init__(self, rooms: Rooms, link: Link) -> None:
        super().__init__(rooms)
        self._link = link
        self._own = Writer(MemoryStore(), asyncio.get_running_loop())

    async def open(self, is_stored: bool) -> None:
        rooms = self._rooms
        await self._run(self._made(), structs.replace(rooms.shared, writer=self._own, computing=None))

    async def close(self) -> None:
        await asyncio.to_thread(self._own.close)

    async def admit(self, identity: Identity) -> str:
        member: str = await self._link.ask("admit", identity=identity)
        return member

    async def record(self, do: str, args: dict[str, Any], also: Write) -> None:
        await self._link.ask("record", do=do, entry=args, also=also)


def handlers(ledger: Ledger) -> dict[str, Any]:
    """What the front does for its workers."""

    async def admit(identity: dict[str, Any]) -> str:
        return await ledger.admit(msgspec.convert(identity, Identity))

    async def record(do: str, entry: dict[str, Any], also: dict[str, Any]) -> None:
        await ledger.record(do, entry, msgspec.convert(also, Write))

    return {"admit": admit, "record": record}
