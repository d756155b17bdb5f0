"""The context of a house command: the services of the house, and the call."""

import asyncio
from typing import Any, TypeVar

from msgspec import Struct

from cohabit.errors import BadArgs, Unauthorized, UnknownRoom
from cohabit.house.clock import Clock
from cohabit.house.running.calls import Check, SystemCall
from cohabit.house.running.ledger import Ledger
from cohabit.house.running.rooms import Rooms
from cohabit.house.running.runner import RoomRunner
from cohabit.house.settings import Settings
from cohabit.house.store.contract import Store, Write
from cohabit.house.store.identities import Identities
from cohabit.house.store.writer import Writer
from cohabit.model.identity import Credential, Identity
from cohabit.room.commands import Command, CommandTable
from cohabit.room.decide import decide
from cohabit.room.decision import refusal
from cohabit.room.room import Room
from cohabit.room.state import Member

T = TypeVar("T")


class Services(Struct, frozen=True, eq=False):
    """The parts of a house that commands and connectors may use. Made once, by the house."""

    clock: Clock
    settings: Settings
    store: Store
    writer: Writer
    identities: Identities
    rooms: Rooms
    ledger: Ledger
    commands: CommandTable  # of the house
    own: dict[type, Any]  # what belongs to one package each, by its class
    exclusive: asyncio.Lock  # held by calls that change access

    def need(self, kind: type[T]) -> T:
        """The part of the house of this class, which one package keeps for its own commands."""
        found: T = self.own[kind]
        return found


class HouseContext(Struct, eq=False):
    """A resolved call, and the context of a house command: the caller, the command, and the room, if any."""

    house: Services
    credential: Credential
    command: Command
    maybe_runner: RoomRunner | None = None  # of the room; None if the call is not about one
    maybe_member: Member | None = None  # None: the caller is not in the room, or there is no room
    broken_room: str = ""  # the id of a room that could not be opened

    @property
    def runner(self) -> RoomRunner:
        if self.maybe_runner is None:
            raise BadArgs("this command needs a room; pass its id as room")
        return self.maybe_runner

    @property
    def room(self) -> Room:
        return self.runner.room

    @property
    def room_id(self) -> str | None:
        return self.maybe_runner.room.id if self.maybe_runner is not None else None

    @property
    def member(self) -> Member:
        if self.maybe_member is None:
            raise UnknownRoom("you are not a member of this room; call `join` first")
        return self.maybe_member

    @property
    def identity(self) -> Identity | None:
        """The caller; None if the credential is an invite that is not accepted yet."""
        return self.house.identities.get(self.credential.identity)

    @property
    def is_host(self) -> bool:
        """True if the caller is a house host."""
        return self.house.identities.is_host(self.credential)

    async def record(
        self, do: str, args: dict[str, Any], also: Write | None = None, check: Check | None = None
    ) -> None:
        """Write an entry to the room's record on behalf of the caller. The room may be archived or the caller's grant
        changed in the meantime, so the call is decided again, then ``check`` runs, just before the entry is written."""

        def decide_again(room: Room, at: int) -> None:
            before = self.maybe_member
            member = room.state.members.get(before.id) if before is not None else None
            if before is not None and member is None:
                raise Unauthorized("you are no longer a member of this room")
            decision = decide(self.command, member, room, at, credential=self.credential, host=self.is_host)
            if decision.code:
                raise refusal(decision)
            if check is not None:
                check(room, at)

        await self.runner.submit(SystemCall(do, args, also, decide_again))
