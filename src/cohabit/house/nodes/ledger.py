"""The house record, when another process has it: what this one writes to it goes there.

A worker asks its front. In a cluster of houses, one front has the record and leads; the others ask that one, and any of
them can take the record over.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from msgspec import structs

from cohabit.errors import Busy
from cohabit.house.calls.across import Nodes, question
from cohabit.house.calls.context import Services
from cohabit.house.directory import HOUSE_RECORD, MOVING, Directory
from cohabit.house.running.ledger import Ledger
from cohabit.house.running.rooms import Rooms
from cohabit.house.store.contract import Write
from cohabit.house.store.identities import Identities
from cohabit.house.store.memory import MemoryStore
from cohabit.house.store.writer import Writer
from cohabit.model.identity import Identity

AskHolder = Callable[..., Awaitable[Any]]
"""Asks the process that has the record: the name of what it should do, and the arguments by name."""
NO_LEADER = "the house record is being opened in another house; try again in a moment"


class SharedLedger(Ledger):
    """The house record, where it may be in another process. While it is, the own ``runner`` is a room that nobody
    stores: calls that are not about a room of this process are answered where the record is, so only what is refused
    before that is counted here."""

    def __init__(self, rooms: Rooms, identities: Identities, ask: AskHolder) -> None:
        super().__init__(rooms, identities)
        self._ask = ask
        self._unstored: Writer | None = None  # writes the own runner, while the record is elsewhere

    @property
    def is_here(self) -> bool:
        return self._rooms.has_house_record

    async def follow(self) -> None:
        """The record is in another process. If it was here, it is closed, with everything written."""
        if self.is_here:
            await self.runner.save_before_closing()
            self.runner.close()
            await self._rooms.shared.writer.submit(Write(HOUSE_RECORD))  # after all queued writes
            self._rooms.has_house_record = False
        self._unstored = Writer(MemoryStore(), asyncio.get_running_loop())
        await self._run(self._made(), structs.replace(self._rooms.shared, writer=self._unstored, computing=None))

    async def open(self, is_stored: bool) -> None:
        await super().open(is_stored)
        await self.close()

    async def close(self) -> None:
        if self._unstored is not None:
            unstored, self._unstored = self._unstored, None
            await asyncio.to_thread(unstored.close)

    async def admit(self, identity: Identity) -> str:
        if self.is_here:
            return await super().admit(identity)
        member: str = await self._ask("admit", identity=identity)
        return member

    async def record(self, do: str, args: dict[str, Any], also: Write, author: bytes = b"") -> None:
        if self.is_here:
            await super().record(do, args, also, author)
        else:
            await self._ask("record", do=do, entry=args, also=also, author=author.hex())


def handlers(ledger: Ledger, identities: Identities) -> dict[str, Any]:
    """The work of a front for others. It knows what they change as soon as it is stored: if it has the house record, it
    has written that itself, so nobody else tells it."""

    async def admit(identity: dict[str, Any]) -> str:
        admitted = msgspec.convert(identity, Identity)
        member = await ledger.admit(admitted)
        if ledger.is_here:
            identities.apply(Write(identities=[admitted]))
        return member

    async def record(do: str, entry: dict[str, Any], also: dict[str, Any], author: str) -> None:
        change = msgspec.convert(also, Write)
        await ledger.record(do, entry, change, bytes.fromhex(author))
        if ledger.is_here:
            identities.apply(change)

    return {"admit": admit, "record": record}


# -- between houses -------------------------------------------------------------------------------
def asks_leader(directory: Directory, nodes: Callable[[], Nodes | None]) -> AskHolder:
    """Asks the front of the house that leads. ``nodes``: None until this house serves."""

    async def ask(name: str, **args: Any) -> Any:
        leader, others = directory.holder(HOUSE_RECORD) or MOVING, nodes()
        if leader in (MOVING, directory.here) or others is None:
            raise Busy(NO_LEADER, retry_after_s=1)
        return await others.ask(leader, write_house_record.__name__, {"name": name, "given": args}, repeatable=False)

    return ask


@question
async def write_house_record(house: Services, name: str, given: dict[str, Any]) -> Any:
    """Do something with the house record, for a house that follows the one that leads."""
    if not house.ledger.is_here:
        raise Busy(NO_LEADER, retry_after_s=1)
    return await handlers(house.ledger, house.identities)[name](**given)
